/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/hold.h"

#include "actor/deliver.h"
#include "actor/life.h"
#include "actor/mailbox.h"
#include "base/clock.h"

static void hold_fired(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    (void)d;
    trp_extra_t *extra = TRP_CONTAINER_OF(alarm, trp_extra_t, hold);
    trp_extra_pend(extra->cell, TRP_PENDING_HOLD_EXPIRED);
}

troupe_err_t troupe_hold(troupe_actor_t *self, uint32_t timeout_ms)
{
    trp_dispatcher_t *d = self->dispatcher;
    trp_extra_t *extra = trp_extra_get(self);
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    if ((self->flags & TRP_CELL_HELD) != 0) {
        return TROUPE_EBUSY;
    }
    if ((self->flags & TRP_CELL_STOPPING) != 0 || d->is_ending) {
        return TROUPE_ESTOPPED;
    }
    uint64_t hold_ms = timeout_ms == 0 ? TRP_HOLD_MS_DEFAULT : timeout_ms;
    self->flags |= TRP_CELL_HELD;
    d->attention = true;
    extra->hold.fn = hold_fired;
    trp_alarm_set(d, &extra->hold, trp_dispatcher_now(d) + hold_ms * TRP_NS_PER_MS);
    /* What the continuation may wait for must not be stuck behind user mail. */
    if (self->head != NULL) {
        trp_mailbox_promote_answers(d, self);
    }
    return TROUPE_OK;
}

void trp_hold_cancel(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if ((cell->flags & TRP_CELL_HELD) == 0) {
        return;
    }
    cell->flags &= ~(uint32_t)TRP_CELL_HELD;
    trp_alarm_cancel(d, &cell->extra->hold);
    cell->extra->pending &= ~(uint32_t)TRP_PENDING_HOLD_EXPIRED;
    trp_mailbox_kick(d, cell);
}

void troupe_release(troupe_actor_t *self)
{
    trp_hold_cancel(self->dispatcher, self);
}

void trp_hold_expired(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if ((cell->flags & TRP_CELL_HELD) == 0) {
        return;
    }
    trp_hold_cancel(d, cell);
    troupe_err_t err =
        trp_signal(d, cell, TROUPE_SIGNAL_HOLD_EXPIRED, troupe_ref_none(), TROUPE_ETIMEOUT);
    if (err != TROUPE_OK) {
        trp_fail(d, cell, err);
    }
}
