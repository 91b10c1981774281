/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/timers.h"

#include <string.h>

#include <troupe/timer.h>

#include "actor/deliver.h"
#include "actor/life.h"
#include "actor/mailbox.h"
#include "actor/send.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"

#define FIRING_WORDS 2u /* Key and turn, as the extension of a firing. */
#define TIMER_SIZE_MAX (TRP_POOL_BLOCK_MAX - sizeof(trp_message_t) - FIRING_WORDS * 8u)

typedef struct trp_actor_timer {
    trp_table_entry_t entry;
    trp_alarm_t alarm;
    troupe_actor_t *cell;
    uint64_t key;
    uint64_t turn;
    uint64_t period_ns; /* 0: once. */
    uint64_t due_ns;
    bool is_queued; /* A firing lies in the mailbox; the next ones wait for it. */
    troupe_type_t type;
    size_t size;
    unsigned char body[];
} trp_actor_timer_t;

static trp_actor_timer_t *timer_of(trp_table_entry_t *entry)
{
    return entry == NULL ? NULL : TRP_CONTAINER_OF(entry, trp_actor_timer_t, entry);
}

static trp_actor_timer_t *timer_find(const troupe_actor_t *cell, uint64_t key)
{
    if (cell->extra == NULL || !cell->extra->has_timers) {
        return NULL;
    }
    return timer_of(trp_table_find(&cell->extra->timers, &key, sizeof(key)));
}

static void timer_end(trp_dispatcher_t *d, trp_actor_timer_t *timer)
{
    trp_alarm_cancel(d, &timer->alarm);
    trp_table_remove(&timer->cell->extra->timers, &timer->entry);
    trp_free(timer);
}

/* ---- firing ---------------------------------------------------------------------------------- */

static trp_message_t *firing_new(trp_dispatcher_t *d, const trp_actor_timer_t *timer)
{
    trp_message_t *message = trp_message_take(&d->endpoint.pool, FIRING_WORDS, timer->size, false);
    if (message == NULL) {
        return NULL;
    }
    message->flags |= TRP_MESSAGE_TIMER;
    message->target = timer->cell->id;
    message->sender = timer->cell->id;
    message->type = timer->type.id;
    trp_message_extension(message)[0] = timer->key;
    trp_message_extension(message)[1] = timer->turn;
    if (timer->size > 0) {
        memcpy(trp_message_payload(message), timer->body, timer->size);
    }
    return message;
}

/* A periodic timer keeps its phase and skips the periods that it missed. */
static void timer_rearm(trp_dispatcher_t *d, trp_actor_timer_t *timer)
{
    timer->due_ns += timer->period_ns;
    if (timer->due_ns <= d->now) {
        uint64_t missed = (d->now - timer->due_ns) / timer->period_ns + 1;
        timer->due_ns += missed * timer->period_ns;
    }
    trp_alarm_set(d, &timer->alarm, timer->due_ns);
}

static void timer_fired(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_actor_timer_t *timer = TRP_CONTAINER_OF(alarm, trp_actor_timer_t, alarm);
    trp_message_t *message = timer->is_queued ? NULL : firing_new(d, timer);
    if (message != NULL) {
        timer->is_queued = true;
        d->user.made++;
        /* Not by trp_deliver: a full mailbox must not make a timer go silent for good. */
        trp_mailbox_push(d, timer->cell, message);
        trp_mailbox_kick(d, timer->cell);
    } else if (!timer->is_queued && timer->period_ns == 0) {
        trp_alarm_set(d, alarm, d->now + TRP_NS_PER_MS); /* No memory: again a tick later. */
        return;
    }
    if (timer->period_ns != 0) {
        timer_rearm(d, timer);
    }
}

troupe_err_t trp_timer_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_actor_timer_t *timer = timer_find(cell, trp_message_extension(message)[0]);
    if (timer == NULL || timer->turn != trp_message_extension(message)[1]) {
        d->user.dropped[TROUPE_DROP_TIMER_CANCELLED]++;
        return TROUPE_OK;
    }
    timer->is_queued = false;
    if (timer->period_ns == 0) {
        timer_end(d, timer);
    }
    troupe_message_t view = trp_message_view(d, message);
    d->message = message;
    d->user.taken++;
    return cell->receive(cell, cell->state, &view);
}

/* ---- starting and cancelling ----------------------------------------------------------------- */

static troupe_err_t timer_check(troupe_actor_t *self, troupe_type_t type, size_t size)
{
    trp_dispatcher_t *d = self->dispatcher;
    if (!trp_types_fits(d->types, type, size)) {
        return trp_types_check(d->types, type, size);
    }
    if (size > TIMER_SIZE_MAX) {
        return TROUPE_ETOOBIG;
    }
    return (self->flags & TRP_CELL_STOPPING) != 0 || d->is_ending ? TROUPE_ESTOPPED : TROUPE_OK;
}

static troupe_err_t timer_enter(trp_dispatcher_t *d, trp_extra_t *extra, trp_actor_timer_t *timer)
{
    if (!extra->has_timers) {
        trp_table_init(&extra->timers, trp_random_next(&d->random), TRP_TIMERS_MAX);
        extra->has_timers = true;
    }
    return trp_table_add(&extra->timers, &timer->entry, &timer->key, sizeof(timer->key));
}

static troupe_err_t timer_start(troupe_actor_t *self, trp_actor_timer_t wish, const void *body)
{
    trp_dispatcher_t *d = self->dispatcher;
    troupe_err_t err = timer_check(self, wish.type, wish.size);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_extra_t *extra = trp_extra_get(self);
    trp_actor_timer_t *timer = trp_alloc(sizeof(*timer) + wish.size);
    if (extra == NULL || timer == NULL) {
        trp_free(timer);
        return TROUPE_ENOMEM;
    }
    (void)troupe_timer_cancel(self, wish.key);
    *timer = wish;
    timer->cell = self;
    timer->turn = ++extra->timer_turn;
    timer->alarm.fn = timer_fired;
    if (wish.size > 0) {
        memcpy(timer->body, body, wish.size);
    }
    err = timer_enter(d, extra, timer);
    if (err != TROUPE_OK) {
        trp_free(timer);
        return err;
    }
    trp_alarm_set(d, &timer->alarm, timer->due_ns);
    return TROUPE_OK;
}

troupe_err_t troupe_timer_once(troupe_actor_t *self, uint64_t key, uint64_t delay_ms,
                               troupe_type_t type, const void *body, size_t size)
{
    uint64_t now = trp_dispatcher_now(self->dispatcher);
    uint64_t due_ns = trp_clock_add(now, trp_clock_from_ms(delay_ms));
    trp_actor_timer_t wish = {.key = key, .due_ns = due_ns, .type = type, .size = size};
    return timer_start(self, wish, body);
}

troupe_err_t troupe_timer_every(troupe_actor_t *self, uint64_t key, uint64_t period_ms,
                                troupe_type_t type, const void *body, size_t size)
{
    if (period_ms == 0) {
        return TROUPE_EINVAL;
    }
    uint64_t period_ns = trp_clock_from_ms(period_ms);
    trp_actor_timer_t wish = {.key = key,
                              .period_ns = period_ns,
                              .due_ns =
                                  trp_clock_add(trp_dispatcher_now(self->dispatcher), period_ns),
                              .type = type,
                              .size = size};
    return timer_start(self, wish, body);
}

bool troupe_timer_cancel(troupe_actor_t *self, uint64_t key)
{
    trp_actor_timer_t *timer = timer_find(self, key);
    if (timer == NULL) {
        return false;
    }
    timer_end(self->dispatcher, timer);
    return true;
}

bool troupe_timer_is_active(const troupe_actor_t *self, uint64_t key)
{
    return timer_find(self, key) != NULL;
}

static void keyed_cancel_all(trp_dispatcher_t *d, trp_extra_t *extra)
{
    if (!extra->has_timers) {
        return;
    }
    TRP_TABLE_FOREACH (entry, &extra->timers) {
        timer_end(d, timer_of(entry));
    }
    trp_table_fini(&extra->timers);
    extra->has_timers = false;
}

void troupe_timer_cancel_all(troupe_actor_t *self)
{
    if (self->extra != NULL) {
        keyed_cancel_all(self->dispatcher, self->extra);
    }
}

void trp_timers_cancel_all(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_extra_t *extra = cell->extra;
    if (extra == NULL) {
        return;
    }
    keyed_cancel_all(d, extra);
    trp_alarm_cancel(d, &extra->idle);
    extra->pending &= ~(uint32_t)TRP_PENDING_IDLE;
    cell->flags &= ~(uint32_t)TRP_CELL_IDLE_TIMER;
}

/* ---- receive timeout ------------------------------------------------------------------------- */

static void idle_fired(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_extra_t *extra = TRP_CONTAINER_OF(alarm, trp_extra_t, idle);
    if (extra->cell->head != NULL) { /* Mail waits: the actor is busy or held, not idle. */
        trp_alarm_set(d, alarm, trp_clock_add(d->now, extra->idle_timeout_ns));
        return;
    }
    trp_extra_pend(extra->cell, TRP_PENDING_IDLE);
}

void trp_idle_touch(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_extra_t *extra = cell->extra;
    extra->pending &= ~(uint32_t)TRP_PENDING_IDLE;
    trp_alarm_set(d, &extra->idle, trp_clock_add(trp_dispatcher_now(d), extra->idle_timeout_ns));
}

void trp_idle_expired(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if ((cell->flags & TRP_CELL_IDLE_TIMER) == 0) {
        return;
    }
    trp_idle_touch(d, cell);
    troupe_err_t err =
        trp_signal(d, cell, TROUPE_SIGNAL_RECEIVE_TIMEOUT, troupe_ref_none(), TROUPE_OK);
    if (err != TROUPE_OK) {
        trp_fail(d, cell, err);
    }
}

troupe_err_t troupe_receive_timeout(troupe_actor_t *self, uint64_t timeout_ms)
{
    trp_dispatcher_t *d = self->dispatcher;
    trp_extra_t *extra = trp_extra_get(self);
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_alarm_cancel(d, &extra->idle);
    extra->pending &= ~(uint32_t)TRP_PENDING_IDLE;
    self->flags &= ~(uint32_t)TRP_CELL_IDLE_TIMER;
    if (timeout_ms == 0) {
        return TROUPE_OK;
    }
    if ((self->flags & TRP_CELL_STOPPING) != 0 || d->is_ending) {
        return TROUPE_ESTOPPED;
    }
    self->flags |= TRP_CELL_IDLE_TIMER;
    extra->idle_timeout_ns = trp_clock_from_ms(timeout_ms);
    extra->idle.fn = idle_fired;
    trp_idle_touch(d, self);
    return TROUPE_OK;
}
