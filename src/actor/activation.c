/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/activation.h"

#include "actor/answer.h"
#include "actor/extra.h"
#include "actor/life.h"
#include "actor/mailbox.h"
#include "actor/offload.h"
#include "actor/selection.h"
#include "actor/send.h"
#include "actor/stash.h"
#include "actor/supervise.h"
#include "actor/timers.h"
#include "actor/watch.h"
#include "base/assert.h"
#include "base/clock.h"

#define SLICE_CHECK_LEN 16u /* Messages between two looks at the clock. */

/* ---- after a callback ------------------------------------------------------------------------ */

/* Frees, forwards or stashes the message that was handled. */
static void message_finish(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_message_fate_t fate = d->fate;
    d->fate = TRP_FATE_FREE;
    if (fate == TRP_FATE_FORWARD) {
        d->user.taken--; /* It is in flight again. */
        trp_send_on(d, message, d->forward_to);
    } else if (fate == TRP_FATE_STASH) {
        d->user.taken--;
        trp_stash_put(cell, message);
    } else if (fate == TRP_FATE_FREE) {
        trp_message_free(&d->endpoint.pool, message);
    }
}

static void cell_park(trp_dispatcher_t *d, troupe_actor_t *cell, trp_parking_t *parking)
{
    cell->flags |= TRP_CELL_PARKED;
    cell->parking = parking;
    cell->park_next = NULL;
    if (parking->first == NULL) {
        parking->first = cell;
    } else {
        parking->last->park_next = cell;
    }
    parking->last = cell;
    parking->len++;
    d->parked++;
}

/* Acts on what the callback asked for. Parking waits for the end of the activation. */
static void activation_attend(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    d->attention = false;
    if (d->must_stop) {
        d->must_stop = false;
        trp_stop_begin(d, cell, TROUPE_OK);
    }
}

static void activation_failed(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t err)
{
    if (d->must_stop) {
        return; /* It is about to stop anyway. */
    }
    trp_fail(d, cell, err);
}

/* ---- one message ----------------------------------------------------------------------------- */

/* Everything in the mailbox that is not a plain user message. */
static TRP_NOINLINE void activation_take_other(trp_dispatcher_t *d, troupe_actor_t *cell,
                                               trp_message_t *message)
{
    troupe_err_t err = TROUPE_OK;
    if (trp_id_is_ask(message->target)) {
        err = trp_answer_take(d, cell, message);
    } else if ((message->flags & TRP_MESSAGE_TIMER) != 0) {
        err = trp_timer_take(d, cell, message);
    } else {
        err = trp_system_take(d, cell, message);
    }
    d->message = NULL;
    message_finish(d, cell, message);
    if (err != TROUPE_OK) {
        activation_failed(d, cell, err);
    }
}

static TRP_ALWAYS_INLINE void activation_take(trp_dispatcher_t *d, troupe_actor_t *cell,
                                              trp_message_t *message)
{
    if (TRP_UNLIKELY((message->flags & (TRP_MESSAGE_SYSTEM | TRP_MESSAGE_TIMER)) != 0 ||
                     trp_id_is_ask(message->target))) {
        activation_take_other(d, cell, message);
        return;
    }
    troupe_message_t view = trp_message_view(d, message);
    d->message = message;
    d->user.taken++;
    troupe_err_t err = cell->receive(cell, cell->state, &view);
    d->message = NULL;
    if (TRP_LIKELY(d->fate == TRP_FATE_FREE)) {
        trp_message_free(&d->endpoint.pool, message);
    } else {
        message_finish(d, cell, message);
    }
    if (TRP_UNLIKELY(err != TROUPE_OK)) {
        activation_failed(d, cell, err);
    }
}

/* An answer or a signal that overtook the mail of a held actor; it is no business of one that is
 * suspended, restarts or stops. */
static bool urgent_must_wait(const troupe_actor_t *cell, const trp_message_t *message)
{
    const uint32_t waiting = TRP_CELL_SUSPENDED | TRP_CELL_RESTARTING | TRP_CELL_STOPPING;
    if (TRP_LIKELY((cell->flags & waiting) == 0)) {
        return false;
    }
    return trp_id_is_ask(message->target) || message->type == TRP_SYSTEM_TERMINATED ||
           message->type == TRP_SYSTEM_CHILD_ENDED ||
           (message->type == TRP_SYSTEM_OFFLOADED && (cell->flags & TRP_CELL_STOPPING) == 0);
}

static void activation_take_urgent(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_message_t *message = NULL;
    if ((cell->flags & TRP_CELL_PENDING) != 0) {
        trp_life_pending(d, cell);
        activation_attend(d, cell);
    }
    while ((message = trp_mailbox_pop_urgent(d, cell)) != NULL) {
        if (TRP_UNLIKELY(urgent_must_wait(cell, message))) {
            trp_mailbox_push(d, cell, message);
            continue;
        }
        activation_take_other(d, cell, message);
        if (d->attention) {
            activation_attend(d, cell);
        }
    }
}

/* True when the time slice of a long activation is over; looks at the clock now and then. */
static bool slice_is_over(const trp_dispatcher_t *d, uint32_t taken, uint64_t *slice_end)
{
    if (taken == SLICE_CHECK_LEN) {
        *slice_end = trp_clock_now() + d->slice_ns;
        return false;
    }
    return trp_clock_now() >= *slice_end;
}

/* Messages are taken until the budget is used, the slice is over, or something asks for attention:
 * whatever blocks the actor or overtakes its mail during its own receive says so. */
static void activation_take_mail(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    uint32_t budget = cell->mail_len < d->throughput ? cell->mail_len : d->throughput;
    uint64_t slice_end = 0;
    for (uint32_t taken = 1; taken <= budget; taken++) {
        trp_message_t *message = trp_mailbox_pop(d, cell);
        if (TRP_UNLIKELY(message == NULL)) {
            return; /* A newcomer pushed the rest out. */
        }
        activation_take(d, cell, message);
        if (TRP_UNLIKELY(d->attention)) {
            activation_attend(d, cell);
            if ((cell->flags & TRP_CELL_BLOCKED) != 0 || cell->urgent != NULL ||
                d->park_on != NULL) {
                return;
            }
        }
        if (TRP_UNLIKELY(taken % SLICE_CHECK_LEN == 0) && slice_is_over(d, taken, &slice_end)) {
            return;
        }
    }
}

/* ---- the activation -------------------------------------------------------------------------- */

/* What the watchdog on another thread sees; owner-written, relaxed. */
static inline void activation_mark(trp_dispatcher_t *d, troupe_actor_t *cell, bool is_begin)
{
    uint64_t turn = atomic_load_explicit(&d->activations, memory_order_relaxed);
    if (is_begin) {
        atomic_store_explicit(&d->active_id, cell->id, memory_order_relaxed);
        atomic_store_explicit(&d->active_name, cell->name, memory_order_relaxed);
    }
    atomic_store_explicit(&d->activations, turn + 1, memory_order_release);
}

static void activation_end(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_parking_t *parking = d->park_on;
    d->park_on = NULL;
    cell->flags &= ~(uint32_t)TRP_CELL_RUNNING;
    if (TRP_UNLIKELY((cell->flags & TRP_CELL_STOPPING) != 0) && trp_stop_try_finish(d, cell)) {
        return;
    }
    if (TRP_UNLIKELY(parking != NULL) && (cell->flags & TRP_CELL_PARKED) == 0) {
        if (cell->urgent == NULL && (cell->flags & TRP_CELL_STOPPING) == 0) {
            cell_park(d, cell, parking);
            return;
        }
    }
    if (trp_cell_is_runnable(cell)) {
        trp_schedule(d, cell);
    }
}

void trp_activation_run(trp_dispatcher_t *d)
{
    troupe_actor_t *cell = d->run_first;
    d->run_first = cell->run_next;
    cell->flags &= ~(uint32_t)TRP_CELL_SCHEDULED;
    if (!trp_cell_is_runnable(cell)) {
        return;
    }
    cell->flags |= TRP_CELL_RUNNING;
    d->current = cell;
    activation_mark(d, cell, true);
    if (TRP_UNLIKELY(cell->urgent != NULL || (cell->flags & TRP_CELL_PENDING) != 0)) {
        activation_take_urgent(d, cell);
    }
    if (TRP_UNLIKELY((cell->flags & TRP_CELL_NEWBORN) != 0) &&
        (cell->flags & TRP_CELL_BLOCKED) == 0) {
        trp_birth(d, cell);
        if (d->attention) {
            activation_attend(d, cell);
        }
    }
    if (cell->head != NULL && (cell->flags & TRP_CELL_BLOCKED) == 0) {
        activation_take_mail(d, cell);
        if (TRP_UNLIKELY((cell->flags & TRP_CELL_IDLE_TIMER) != 0)) {
            trp_idle_touch(d, cell);
        }
    }
    activation_mark(d, cell, false);
    d->current = NULL;
    activation_end(d, cell);
    if (TRP_UNLIKELY(d->task_first != NULL)) {
        trp_dispatcher_run_tasks(d);
    }
}
