/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/life.h"

#include <string.h>

#include "actor/answer.h"
#include "actor/children.h"
#include "actor/events.h"
#include "actor/extra.h"
#include "actor/hold.h"
#include "actor/mailbox.h"
#include "actor/offload.h"
#include "actor/spawn.h"
#include "actor/stash.h"
#include "actor/supervise.h"
#include "actor/timers.h"
#include "actor/watch.h"
#include "base/assert.h"
#include "base/memory.h"

/* ---- the extra part -------------------------------------------------------------------------- */

trp_extra_t *trp_extra_get(troupe_actor_t *cell)
{
    if (cell->extra == NULL) {
        trp_extra_t *extra = trp_cells_take(&cell->dispatcher->cells, sizeof(*extra));
        if (extra == NULL) {
            return NULL;
        }
        memset(extra, 0, sizeof(*extra));
        extra->cell = cell;
        trp_list_init(&extra->asks);
        cell->extra = extra;
    }
    return cell->extra;
}

void trp_extra_pend(troupe_actor_t *cell, uint32_t pending)
{
    cell->extra->pending |= pending;
    cell->flags |= TRP_CELL_PENDING;
    trp_schedule(cell->dispatcher, cell);
}

void trp_extra_end(troupe_actor_t *cell)
{
    trp_extra_t *extra = cell->extra;
    if (extra == NULL) {
        return;
    }
    trp_dispatcher_t *d = cell->dispatcher;
    trp_alarm_cancel(d, &extra->backoff);
    trp_children_fini(&extra->children);
    trp_supervise_fini(extra);
    trp_free(extra->watchers.refs);
    trp_free(extra->becomes);
    trp_cells_put(&d->cells, extra, sizeof(*extra));
    cell->extra = NULL;
}

/* ---- birth ----------------------------------------------------------------------------------- */

void trp_birth(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    cell->flags &= ~(uint32_t)TRP_CELL_NEWBORN;
    troupe_err_t err = TROUPE_OK;
    if (cell->behavior->init != NULL) {
        err = cell->behavior->init(cell, cell->state, trp_cell_args(cell));
    }
    if (cell->extra != NULL && cell->extra->waiter != NULL) {
        trp_spawn_waiter_done(cell->extra->waiter, err);
        cell->extra->waiter = NULL;
    }
    if (err != TROUPE_OK) {
        cell->flags |= TRP_CELL_NO_INIT;
        trp_events_failure(d, cell, err);
        trp_stop_begin(d, cell, err);
    }
}

/* ---- failure --------------------------------------------------------------------------------- */

void trp_fail(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t error)
{
    if ((cell->flags & (TRP_CELL_STOPPING | TRP_CELL_SUSPENDED)) != 0) {
        return; /* It is being ended, or waits for its supervisor already. */
    }
    trp_events_failure(d, cell, error);
    trp_extra_t *extra = trp_extra_get(cell);
    if (extra == NULL) {
        trp_stop_begin(d, cell, error);
        return;
    }
    extra->failure = (uint32_t)error;
    cell->flags |= TRP_CELL_SUSPENDED;
    d->attention = true;
    if (cell->parent == 0) { /* A guardian has nobody above: it starts anew. */
        trp_restart_begin(d, cell, 0);
        return;
    }
    trp_child_failed_t failed = {cell->id, cell->child_index, (uint32_t)error};
    trp_system_send(d, trp_dispatcher_ref(d, cell->parent), TRP_SYSTEM_CHILD_FAILED, cell->id,
                    &failed, sizeof(failed));
}

/* ---- the end --------------------------------------------------------------------------------- */

void trp_life_cancel(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_timers_cancel_all(d, cell);
    trp_asks_cancel(d, cell);
    trp_hold_cancel(d, cell);
}

void trp_stop_begin(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t reason)
{
    if ((cell->flags & TRP_CELL_STOPPING) != 0) {
        return;
    }
    cell->flags |= TRP_CELL_STOPPING;
    d->attention = true;
    trp_life_cancel(d, cell);
    if (reason != TROUPE_OK && trp_extra_get(cell) != NULL) {
        cell->extra->failure = (uint32_t)reason;
    } else if (cell->extra != NULL) {
        cell->extra->failure = TROUPE_OK;
    }
    trp_children_tell(d, cell, TRP_SYSTEM_KILL, NULL, 0);
}

static void end_drop_mail(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    uint32_t unborn = cell->flags & (TRP_CELL_NO_INIT | TRP_CELL_RESTARTING);
    troupe_drop_t reason =
        unborn == TRP_CELL_NO_INIT ? TROUPE_DROP_INIT_FAILED : TROUPE_DROP_STOPPED;
    trp_message_t *message = NULL;
    while ((message = trp_mailbox_pop_urgent(d, cell)) != NULL ||
           (message = trp_mailbox_pop(d, cell)) != NULL ||
           (message = trp_stash_pop(cell)) != NULL) {
        trp_drop(d, message, reason);
    }
}

/* What a `stop` callback may have asked for means nothing any more. */
static void end_run_stop(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t reason)
{
    if (cell->behavior->stop == NULL ||
        (cell->flags & (TRP_CELL_NEWBORN | TRP_CELL_NO_INIT)) != 0) {
        return;
    }
    d->current = cell;
    d->is_ending = true;
    cell->behavior->stop(cell, cell->state, reason);
    d->is_ending = false;
    d->current = NULL;
    d->must_stop = false;
    d->attention = false;
    d->park_on = NULL;
    trp_life_cancel(d, cell);
}

static void end_tell(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t reason)
{
    trp_watch_end(d, cell, reason);
    trp_name_t *own = (cell->flags & TRP_CELL_NAMED) != 0 ? cell->name : NULL;
    if (cell->parent == 0) {
        trp_names_remove(&d->endpoint.runtime->names, &own);
        trp_guardian_ended(d->endpoint.runtime, cell->id);
        return;
    }
    trp_child_ended_t ended = {cell->id, cell->child_index, (uint32_t)reason, own};
    trp_system_send(d, trp_dispatcher_ref(d, cell->parent), TRP_SYSTEM_CHILD_ENDED, cell->id,
                    &ended, sizeof(ended));
}

static void cell_unpark(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_parking_t *parking = cell->parking;
    troupe_actor_t *before = NULL;
    for (troupe_actor_t *at = parking->first; at != cell; at = at->park_next) {
        TRP_ASSERT(at != NULL);
        before = at;
    }
    if (before == NULL) {
        parking->first = cell->park_next;
    } else {
        before->park_next = cell->park_next;
    }
    if (parking->last == cell) {
        parking->last = before;
    }
    parking->len--;
    d->parked--;
    cell->flags &= ~(uint32_t)TRP_CELL_PARKED;
}

static void run_queue_remove(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    troupe_actor_t *before = NULL;
    for (troupe_actor_t *at = d->run_first; at != cell; at = at->run_next) {
        TRP_ASSERT(at != NULL);
        before = at;
    }
    if (before == NULL) {
        d->run_first = cell->run_next;
    } else {
        before->run_next = cell->run_next;
    }
    if (d->run_last == cell) {
        d->run_last = before;
    }
}

bool trp_stop_try_finish(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if (cell->extra != NULL && cell->extra->children.alive > 0) {
        return false;
    }
    troupe_err_t reason = cell->extra == NULL ? TROUPE_OK : (troupe_err_t)cell->extra->failure;
    if ((cell->flags & TRP_CELL_PARKED) != 0) {
        cell_unpark(d, cell);
    }
    end_run_stop(d, cell, reason);
    if ((cell->flags & TRP_CELL_SCHEDULED) != 0) { /* Its stop callback told itself something. */
        run_queue_remove(d, cell);
    }
    end_drop_mail(d, cell);
    trp_events_forget(d, cell);
    if (d->endpoint.runtime->ended_fn != NULL) {
        d->endpoint.runtime->ended_fn(d->endpoint.runtime->topic_context, d, cell->id);
    }
    if (cell->extra != NULL && cell->extra->waiter != NULL) {
        trp_spawn_waiter_done(cell->extra->waiter, TROUPE_ESTOPPED);
    }
    end_tell(d, cell, reason);
    trp_extra_end(cell);
    trp_slots_free(&d->slots, trp_id_slot(cell->id));
    d->actors--;
    trp_cells_put(&d->cells, cell, cell->cell_size);
    return true;
}

static void run_queue_clear(trp_dispatcher_t *d)
{
    while (d->run_first != NULL) {
        d->run_first->flags &= ~(uint32_t)TRP_CELL_SCHEDULED;
        d->run_first = d->run_first->run_next;
    }
}

void trp_life_end_all(trp_dispatcher_t *d)
{
    trp_slot_t *entry = NULL;
    run_queue_clear(d);
    for (uint32_t slot = 1; (entry = trp_slots_entry(&d->slots, slot)) != NULL; slot++) {
        troupe_actor_t *cell = entry->actor;
        if (cell == NULL) {
            continue;
        }
        if (cell->extra != NULL) {
            cell->extra->children.alive = 0;
            cell->extra->children.len = 0;
        }
        trp_stop_begin(d, cell, TROUPE_ESTOPPED);
        cell->parent = 0; /* Nobody is left to be told. */
        bool is_ended = trp_stop_try_finish(d, cell);
        TRP_ASSERT(is_ended);
    }
}

/* ---- pending steps --------------------------------------------------------------------------- */

void trp_life_pending(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    cell->flags &= ~(uint32_t)TRP_CELL_PENDING;
    trp_extra_t *extra = cell->extra;
    TRP_ASSERT(extra != NULL);
    uint32_t pending = extra->pending;
    extra->pending = 0;
    if ((cell->flags & TRP_CELL_STOPPING) != 0) {
        return; /* The end of the activation sees whether children are left. */
    }
    if ((cell->flags & TRP_CELL_SUSPENDED) != 0) { /* What calls the user's code waits. */
        extra->pending = pending & (TRP_PENDING_HOLD_EXPIRED | TRP_PENDING_IDLE);
        pending &= ~extra->pending;
    }
    if ((pending & TRP_PENDING_CHILDREN_ENDED) != 0) {
        trp_restart_children_ended(d, cell);
    }
    if ((pending & TRP_PENDING_BACKOFF_OVER) != 0) {
        trp_restart_finish(d, cell);
    }
    if ((pending & TRP_PENDING_HOLD_EXPIRED) != 0) {
        trp_hold_expired(d, cell);
    }
    if ((pending & TRP_PENDING_IDLE) != 0) {
        trp_idle_expired(d, cell);
    }
}

troupe_err_t trp_signal(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_signal_kind_t kind,
                        troupe_ref_t who, troupe_err_t reason)
{
    TRP_ASSERT(d->current == cell);
    if (cell->behavior->signal == NULL) {
        return TROUPE_OK;
    }
    troupe_signal_t signal = {kind, reason, who};
    return cell->behavior->signal(cell, cell->state, &signal);
}
