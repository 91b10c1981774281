/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* System messages as an actor's activation takes them. */

#include "actor/system.h"

#include <string.h>

#include "actor/children.h"
#include "actor/extra.h"
#include "actor/life.h"
#include "actor/mailbox.h"
#include "actor/offload.h"
#include "actor/selection.h"
#include "actor/supervise.h"
#include "actor/watch.h"
#include "base/assert.h"

static void system_body(trp_message_t *message, void *out, size_t size)
{
    TRP_ASSERT(message->size == size);
    memcpy(out, trp_message_payload(message), size);
}

/* A sibling failed: waits for the supervisor, and says so. */
static void take_suspend(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    uint32_t token = 0;
    system_body(message, &token, sizeof(token));
    cell->flags |= TRP_CELL_SUSPENDED;
    d->attention = true;
    trp_suspended_t suspended = {token, cell->child_index};
    trp_system_send(d, trp_dispatcher_ref(d, cell->parent), TRP_SYSTEM_SUSPENDED, cell->id,
                    &suspended, sizeof(suspended));
}

static void take_suspended(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_suspended_t suspended;
    system_body(message, &suspended, sizeof(suspended));
    trp_supervise_suspended(d, cell, message->sender, &suspended);
}

/* An actor that had escalated resumes the children for which it did so, too. */
static void take_resume(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if ((cell->flags & TRP_CELL_NO_INIT) != 0) { /* There is no state to go on with. */
        trp_restart_begin(d, cell, 0);
        return;
    }
    cell->flags &= ~(uint32_t)TRP_CELL_SUSPENDED;
    trp_extra_t *extra = cell->extra;
    if ((cell->flags & TRP_CELL_HELD) != 0 && cell->head != NULL) {
        trp_mailbox_promote_answers(d, cell); /* They had to wait. */
    }
    if (extra == NULL) {
        return;
    }
    extra->failure = TROUPE_OK;
    if (extra->pending != 0) {
        trp_extra_pend(cell, extra->pending);
    }
    if (extra->is_escalated) {
        extra->is_escalated = false;
        trp_children_tell(d, cell, TRP_SYSTEM_RESUME, NULL, 0);
    }
}

/* One that is stopped for its failure says so. */
static void take_end(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    bool has_failed = (cell->flags & TRP_CELL_SUSPENDED) != 0 && cell->extra != NULL;
    trp_stop_begin(d, cell, has_failed ? (troupe_err_t)cell->extra->failure : TROUPE_OK);
}

static void take_restart(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    uint64_t delay_ns = 0;
    system_body(message, &delay_ns, sizeof(delay_ns));
    trp_restart_begin(d, cell, delay_ns);
}

static void take_child_failed(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_child_failed_t failed;
    system_body(message, &failed, sizeof(failed));
    trp_supervise(d, cell, &failed);
}

static troupe_err_t take_child_ended(trp_dispatcher_t *d, troupe_actor_t *cell,
                                     trp_message_t *message)
{
    trp_child_ended_t ended;
    system_body(message, &ended, sizeof(ended));
    return trp_signal(d, cell, TROUPE_SIGNAL_CHILD_ENDED, trp_dispatcher_ref(d, ended.child),
                      (troupe_err_t)ended.reason);
}

troupe_err_t trp_system_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    d->system.taken++;
    switch ((trp_system_kind_t)message->type) {
    case TRP_SYSTEM_KILL:
    case TRP_SYSTEM_POISON:
        take_end(d, cell);
        return TROUPE_OK;
    case TRP_SYSTEM_SUSPEND:
        take_suspend(d, cell, message);
        return TROUPE_OK;
    case TRP_SYSTEM_SUSPENDED:
        take_suspended(d, cell, message);
        return TROUPE_OK;
    case TRP_SYSTEM_RESUME:
        take_resume(d, cell);
        return TROUPE_OK;
    case TRP_SYSTEM_RESTART:
        take_restart(d, cell, message);
        return TROUPE_OK;
    case TRP_SYSTEM_CHILD_FAILED:
        take_child_failed(d, cell, message);
        return TROUPE_OK;
    case TRP_SYSTEM_CHILD_ENDED:
        return take_child_ended(d, cell, message);
    case TRP_SYSTEM_TERMINATED:
        return trp_watch_terminated(d, cell, message);
    case TRP_SYSTEM_OFFLOADED:
        return trp_offload_take(d, cell, message);
    case TRP_SYSTEM_SELECT:
        trp_selection_take(d, cell, message);
        return TROUPE_OK;
    default:
        TRP_ASSERT(message->type < TRP_SYSTEM_KIND_LEN);
        return TROUPE_OK;
    }
}
