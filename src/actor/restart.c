/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Restarting: children first, then the old state's stop, then (after the back-off) the new one's init.
 * The mailbox, the watches and the reference stay. */

#include <string.h>

#include "actor/children.h"
#include "actor/extra.h"
#include "actor/life.h"
#include "actor/mailbox.h"
#include "actor/stash.h"
#include "base/assert.h"
#include "base/memory.h"

void trp_restart_begin(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t delay_ns)
{
    /* One that restarts already, or is not even born, begins anew in any case. */
    uint32_t beginning = TRP_CELL_RESTARTING | TRP_CELL_NEWBORN;
    if ((cell->flags & TRP_CELL_STOPPING) != 0 || (cell->flags & beginning) != 0) {
        cell->flags &= ~(uint32_t)TRP_CELL_SUSPENDED;
        return;
    }
    trp_extra_t *extra = trp_extra_get(cell);
    if (extra == NULL) {
        trp_stop_begin(d, cell, TROUPE_ENOMEM);
        return;
    }
    cell->flags |= TRP_CELL_RESTARTING;
    d->attention = true;
    cell->flags &= ~(uint32_t)TRP_CELL_SUSPENDED;
    extra->restart_delay_ns = delay_ns;
    extra->incarnation++;
    trp_life_cancel(d, cell);
    if (extra->children.alive > 0) {
        trp_children_tell(d, cell, TRP_SYSTEM_KILL, NULL, 0);
        return;
    }
    trp_restart_children_ended(d, cell);
}

static void backoff_over(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    (void)d;
    trp_extra_t *extra = TRP_CONTAINER_OF(alarm, trp_extra_t, backoff);
    trp_extra_pend(extra->cell, TRP_PENDING_BACKOFF_OVER);
}

void trp_restart_children_ended(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_extra_t *extra = cell->extra;
    if ((cell->flags & TRP_CELL_RESTARTING) == 0 || extra->children.alive > 0) {
        return;
    }
    if (cell->behavior->stop != NULL && (cell->flags & TRP_CELL_NO_INIT) == 0) {
        d->is_ending = true;
        cell->behavior->stop(cell, cell->state, (troupe_err_t)extra->failure);
        d->is_ending = false;
    }
    cell->flags |= TRP_CELL_NO_INIT;
    trp_life_cancel(d, cell); /* Also what `stop` may have begun. */
    trp_stash_unstash(d, cell);
    cell->receive = cell->behavior->receive;
    if (extra->becomes != NULL) {
        extra->becomes->len = 0;
    }
    if (extra->restart_delay_ns > 0) {
        extra->backoff.fn = backoff_over;
        trp_alarm_set(d, &extra->backoff, trp_dispatcher_now(d) + extra->restart_delay_ns);
        return;
    }
    trp_restart_finish(d, cell);
}

void trp_restart_finish(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if ((cell->flags & TRP_CELL_RESTARTING) == 0) {
        return;
    }
    cell->flags &= ~(uint32_t)(TRP_CELL_RESTARTING | TRP_CELL_NO_INIT);
    memset(cell->state, 0, cell->behavior->state_size);
    trp_extra_t *extra = cell->extra;
    extra->failure = TROUPE_OK;
    extra->is_escalated = false;
    troupe_err_t err = TROUPE_OK;
    if (cell->behavior->init != NULL) {
        err = cell->behavior->init(cell, cell->state, trp_cell_args(cell));
    }
    if (err != TROUPE_OK) {
        cell->flags |= TRP_CELL_NO_INIT;
        trp_fail(d, cell, err);
    }
}
