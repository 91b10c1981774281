/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The dispatcher's thread: its round of work, its sleep, its alarms and descriptors. */

#include "actor/dispatcher.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "actor/activation.h"
#include "actor/deliver.h"
#include "base/assert.h"
#include "base/clock.h"

#define ROUND_ACTIVATIONS 64u /* Activations between two looks at channels, timers, sockets. */
#define DRAIN_LEN 256u        /* Messages taken from one channel in a round. */
#define DRAIN_AHEAD 8u        /* Cells warmed ahead of the one that is delivered. */
#define BACKLOG_HIGH 4096u    /* Messages in mailboxes at which little is drained. */
#define DRAIN_LEN_BUSY 16u    /* That little: less than the activations of a round handle. */
#define POLL_PERIOD_NS UINT64_C(50000) /* Between two looks at sockets while there is work. */
#define SPIN_NS UINT64_C(20000)        /* Waited awake, when there was work just now. */
#define SLEEP_MS_MAX 60000
#define EVENTS_LEN 64

/* ---- alarms ---------------------------------------------------------------------------------- */

void trp_alarm_set(trp_dispatcher_t *d, trp_alarm_t *alarm, uint64_t deadline_ns)
{
    TRP_ASSERT_DEBUG(alarm->fn != NULL);
    trp_wheel_cancel(&d->wheel, &alarm->timer);
    trp_wheel_add(&d->wheel, &alarm->timer, deadline_ns);
    if (deadline_ns < d->wheel_next) {
        d->wheel_next = deadline_ns;
    }
}

void trp_alarm_cancel(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_wheel_cancel(&d->wheel, &alarm->timer);
}

static void alarm_fire(trp_wheel_t *wheel, trp_wheel_timer_t *timer, void *user)
{
    (void)wheel;
    trp_alarm_t *alarm = TRP_CONTAINER_OF(timer, trp_alarm_t, timer);
    alarm->fn(user, alarm);
}

static bool round_timers(trp_dispatcher_t *d)
{
    if (TRP_LIKELY(d->now < d->wheel_next)) {
        return false;
    }
    size_t fired = trp_wheel_advance(&d->wheel, d->now, alarm_fire, d);
    d->wheel_next = trp_wheel_next(&d->wheel);
    return fired > 0;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static troupe_err_t poll_control(trp_dispatcher_t *d, trp_poll_t *poll, uint32_t events,
                                 int operation)
{
    struct epoll_event event = {.events = events, .data = {.ptr = poll}};
    return epoll_ctl(d->epoll_fd, operation, poll->fd, &event) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

troupe_err_t trp_dispatcher_poll_add(trp_dispatcher_t *d, trp_poll_t *poll, uint32_t events)
{
    troupe_err_t err = poll_control(d, poll, events, EPOLL_CTL_ADD);
    d->polls += err == TROUPE_OK ? 1 : 0;
    return err;
}

troupe_err_t trp_dispatcher_poll_set(trp_dispatcher_t *d, trp_poll_t *poll, uint32_t events)
{
    return poll_control(d, poll, events, EPOLL_CTL_MOD);
}

void trp_dispatcher_poll_remove(trp_dispatcher_t *d, trp_poll_t *poll)
{
    (void)!poll_control(d, poll, 0, EPOLL_CTL_DEL);
    d->polls--;
}

static void waker_clear(trp_dispatcher_t *d)
{
    uint64_t count = 0;
    ssize_t got = read(d->endpoint.waker.fd, &count, sizeof(count));
    (void)got; /* Nothing to read is as good. */
}

static bool dispatcher_poll(trp_dispatcher_t *d, int timeout_ms)
{
    struct epoll_event events[EVENTS_LEN];
    int len = epoll_wait(d->epoll_fd, events, EVENTS_LEN, timeout_ms);
    if (timeout_ms != 0) {
        atomic_store_explicit(&d->endpoint.waker.is_sleeping, false, memory_order_relaxed);
    }
    for (int i = 0; i < len; i++) {
        trp_poll_t *poll = events[i].data.ptr;
        if (poll == NULL) {
            waker_clear(d);
        } else {
            poll->fn(d, poll, events[i].events);
        }
    }
    return len > 0;
}

static bool round_sockets(trp_dispatcher_t *d)
{
    if (d->polls == 0 || d->now < d->poll_next) {
        return false;
    }
    d->poll_next = d->now + POLL_PERIOD_NS;
    return dispatcher_poll(d, 0);
}

/* ---- channels -------------------------------------------------------------------------------- */

/* True while the mailboxes hold so much that what comes in has to wait; never when nothing is left to
 * run, so that two dispatchers that flood each other go on. */
static bool dispatcher_is_behind(const trp_dispatcher_t *d)
{
    return TRP_UNLIKELY(d->backlog >= BACKLOG_HIGH) && d->run_first != NULL;
}

/* A dispatcher stays as long as the runtime; the endpoint of another thread may close meanwhile. */
static void producer_wake(trp_runtime_t *runtime, uint32_t from)
{
    if (from < runtime->len) {
        trp_waker_wake(&runtime->endpoints[from]->waker);
        return;
    }
    pthread_mutex_lock(&runtime->endpoints_mutex);
    if (runtime->endpoints[from] != NULL) {
        trp_waker_wake(&runtime->endpoints[from]->waker);
    }
    pthread_mutex_unlock(&runtime->endpoints_mutex);
}

static bool channel_drain(trp_dispatcher_t *d, trp_channel_t *channel, uint32_t from,
                          uint32_t len_max)
{
    uint32_t ready = trp_channel_poll(channel);
    if (TRP_LIKELY(ready == 0)) {
        return false;
    }
    uint32_t len = ready < len_max ? ready : len_max;
    /* One publish fills the mailboxes of all its subscribers: such a message counts for what it makes. */
    size_t backlog_max = d->backlog + len_max > BACKLOG_HIGH ? d->backlog + len_max : BACKLOG_HIGH;
    for (uint32_t i = 0; i < len && i < DRAIN_AHEAD; i++) {
        __builtin_prefetch(trp_channel_peek(channel, i), 0, 3);
    }
    for (uint32_t i = 0; i < len; i++) {
        trp_message_t *message = trp_channel_peek(channel, i);
        if (i + DRAIN_AHEAD < len) {
            __builtin_prefetch(trp_channel_peek(channel, i + DRAIN_AHEAD), 0, 3);
        }
        trp_deliver(d, message);
        if (TRP_UNLIKELY(d->backlog >= backlog_max)) {
            len = i + 1;
        }
    }
    trp_channel_release(channel, len);
    /* Pairs with the fence in trp_endpoint_wants_room: either the producer sees the room, or we see
     * that it wants to be told of it. */
    atomic_thread_fence(memory_order_seq_cst);
    if (TRP_UNLIKELY(atomic_load_explicit(&channel->wants_room, memory_order_relaxed)) &&
        trp_channel_poll(channel) <= TRP_CHANNEL_LOW) {
        atomic_store_explicit(&channel->wants_room, false, memory_order_relaxed);
        producer_wake(d->endpoint.runtime, from);
    }
    return true;
}

/* A little from one channel, in turn: a dispatcher whose actors keep it behind by themselves must still
 * hear the others, and be stopped. */
static bool round_channels_behind(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    uint32_t len = atomic_load_explicit(&runtime->endpoints_len, memory_order_acquire);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t from = d->drain_next++ % len;
        trp_channel_t *channel =
            __atomic_load_n(&runtime->channels[from][d->index], __ATOMIC_ACQUIRE);
        if (channel != NULL && channel_drain(d, channel, from, DRAIN_LEN_BUSY)) {
            return true;
        }
    }
    return false;
}

static bool round_channels(trp_dispatcher_t *d)
{
    if (dispatcher_is_behind(d)) {
        return round_channels_behind(d);
    }
    trp_runtime_t *runtime = d->endpoint.runtime;
    uint32_t len = atomic_load_explicit(&runtime->endpoints_len, memory_order_acquire);
    bool worked = false;
    for (uint32_t from = 0; from < len; from++) {
        trp_channel_t *channel =
            __atomic_load_n(&runtime->channels[from][d->index], __ATOMIC_ACQUIRE);
        if (channel != NULL) {
            worked = channel_drain(d, channel, from, DRAIN_LEN) || worked;
        }
    }
    return worked;
}

static bool round_injector(trp_dispatcher_t *d)
{
    if (trp_injector_is_empty(&d->injector)) {
        return false;
    }
    uint32_t len_max = dispatcher_is_behind(d) ? DRAIN_LEN_BUSY : DRAIN_LEN;
    for (uint32_t i = 0; i < len_max; i++) {
        trp_message_t *message = trp_injector_pop(&d->injector);
        if (message == NULL) {
            break;
        }
        trp_route(d,
                  message); /* What is sent in an actor's name may go on to another dispatcher. */
    }
    return true;
}

/* ---- parking --------------------------------------------------------------------------------- */

void trp_parking_release(trp_dispatcher_t *d, trp_parking_t *parking)
{
    troupe_actor_t *cell = parking->first;
    d->parked -= parking->len;
    trp_parking_init(parking);
    while (cell != NULL) {
        troupe_actor_t *next = cell->park_next;
        cell->flags &= ~(uint32_t)TRP_CELL_PARKED;
        cell->parking = NULL;
        if (trp_cell_is_runnable(cell)) {
            trp_schedule(d, cell);
        }
        cell = next;
    }
}

/* Publishes what was put, and lets go the actors whose channel has room again. */
static void dispatcher_publish(trp_dispatcher_t *d)
{
    trp_endpoint_t *endpoint = &d->endpoint;
    if (endpoint->dirty_len == 0 || !trp_endpoint_publish(endpoint)) {
        return;
    }
    for (uint32_t i = 0; i < endpoint->dirty_len; i++) {
        trp_channel_t *channel = endpoint->out[endpoint->dirty[i]];
        if (channel->parking.len > 0 && trp_channel_has_room(channel)) {
            trp_parking_release(d, &channel->parking);
        }
    }
}

/* ---- the round ------------------------------------------------------------------------------- */

static bool round_activations(trp_dispatcher_t *d)
{
    uint32_t ran = 0;
    while (d->run_first != NULL && ran < ROUND_ACTIVATIONS) {
        trp_activation_run(d);
        dispatcher_publish(d);
        ran++;
    }
    return ran > 0;
}

/* What tasks have posted to their own dispatcher. */
static bool round_tasks(trp_dispatcher_t *d)
{
    if (TRP_LIKELY(d->task_first == NULL)) {
        return false;
    }
    trp_dispatcher_run_tasks(d);
    return true;
}

static bool dispatcher_round(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    d->now = trp_clock_now();
    if (TRP_UNLIKELY(d->reserve_len < TRP_SYSTEM_RESERVE)) {
        trp_dispatcher_fill_reserve(d);
    }
    bool worked = round_channels(d);
    worked = round_injector(d) || worked;
    worked = round_timers(d) || worked;
    worked = round_tasks(d) || worked;
    worked = round_activations(d) || worked;
    dispatcher_publish(d);
    trp_endpoint_settle(&d->endpoint);
    if (runtime->remote.flush != NULL) {
        runtime->remote.flush(runtime->remote.context, d);
    }
    return round_sockets(d) || worked;
}

/* ---- sleep ----------------------------------------------------------------------------------- */

/* Anything that a round would find, looked at without taking it. */
static bool dispatcher_has_work(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    if (d->run_first != NULL || d->task_first != NULL || !trp_injector_is_empty(&d->injector) ||
        atomic_load_explicit(&d->must_end, memory_order_acquire)) {
        return true;
    }
    uint32_t len = atomic_load_explicit(&runtime->endpoints_len, memory_order_acquire);
    for (uint32_t from = 0; from < len; from++) {
        trp_channel_t *channel =
            __atomic_load_n(&runtime->channels[from][d->index], __ATOMIC_ACQUIRE);
        if (channel != NULL && trp_channel_poll(channel) > 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < d->endpoint.dirty_len; i++) {
        if (trp_channel_has_room(d->endpoint.out[d->endpoint.dirty[i]])) {
            return true;
        }
    }
    return false;
}

/* True when work came while it was waited for. */
static bool dispatcher_spin(trp_dispatcher_t *d)
{
    uint64_t end = trp_clock_now() + SPIN_NS;
    do {
        for (uint32_t i = 0; i < 8; i++) {
            if (dispatcher_has_work(d)) {
                return true;
            }
            trp_cpu_relax();
        }
    } while (trp_clock_now() < end);
    return false;
}

static int sleep_timeout_ms(trp_dispatcher_t *d)
{
    if (d->wheel_next == TRP_CLOCK_NEVER) {
        return -1;
    }
    uint64_t now = trp_clock_now();
    if (d->wheel_next <= now) {
        return 0;
    }
    uint64_t wait_ms = (d->wheel_next - now + TRP_NS_PER_MS - 1) / TRP_NS_PER_MS;
    return wait_ms > SLEEP_MS_MAX ? SLEEP_MS_MAX : (int)wait_ms;
}

static void dispatcher_sleep(trp_dispatcher_t *d)
{
    atomic_store_explicit(&d->endpoint.waker.is_sleeping, true, memory_order_relaxed);
    /* Pairs with the fence in trp_waker_is_asleep: either the sender sees the flag, or the look below
     * sees what it published. */
    atomic_thread_fence(memory_order_seq_cst);
    if (dispatcher_has_work(d) || trp_endpoint_wants_room(&d->endpoint)) {
        atomic_store_explicit(&d->endpoint.waker.is_sleeping, false, memory_order_relaxed);
        return;
    }
    (void)dispatcher_poll(d, sleep_timeout_ms(d));
}

void trp_dispatcher_run(trp_dispatcher_t *d)
{
    bool is_warm = false;
    while (!atomic_load_explicit(&d->must_end, memory_order_acquire)) {
        if (dispatcher_round(d)) {
            is_warm = true;
            continue;
        }
        if (is_warm && dispatcher_spin(d)) {
            continue;
        }
        is_warm = false;
        dispatcher_sleep(d);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

troupe_err_t trp_dispatcher_post(trp_dispatcher_t *d, uint32_t target_index, trp_task_fn fn,
                                 const void *payload, size_t size)
{
    trp_task_t task = {fn, NULL, payload, size};
    return trp_dispatcher_post_task(d, target_index, &task);
}

troupe_err_t trp_dispatcher_post_task(trp_dispatcher_t *d, uint32_t target_index,
                                      const trp_task_t *task)
{
    TRP_ASSERT(target_index < d->endpoint.runtime->len);
    trp_message_t *message = trp_task_make(&d->endpoint.pool, task);
    if (message == NULL) {
        return TROUPE_ENOMEM;
    }
    message->target = trp_id_make(target_index, TRP_SLOT_DISPATCHER, 0);
    trp_route(d, message);
    return TROUPE_OK;
}
