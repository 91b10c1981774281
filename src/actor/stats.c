/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Statistics: each dispatcher reports its own counters and walks what is in flight on it; the caller
 * adds up. Nothing in flight is computed from a difference. */

#include <troupe/stats.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "actor/deliver.h"
#include "actor/extra.h"
#include "actor/outside.h"
#include "actor/unborn.h"
#include "base/clock.h"
#include "base/memory.h"

/* Shared by the caller and the dispatchers; the last one frees it, since a dispatcher may answer after
 * the caller has given up. */
typedef struct census {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    uint32_t waiting;
    uint32_t refs;
    bool is_abandoned; /* The node ended meanwhile. */
    troupe_stats_t sum;
} census_t;

/* ---- walking --------------------------------------------------------------------------------- */

static void count_message(troupe_stats_t *stats, const trp_message_t *message)
{
    bool is_system = (message->flags & TRP_MESSAGE_SYSTEM) != 0;
    if (is_system && message->type == TRP_SYSTEM_TASK) {
        return;
    }
    if ((message->flags & TRP_MESSAGE_TOPIC) != 0) {
        return; /* Makes its messages where it is expanded. */
    }
    (is_system ? &stats->system : &stats->user)->in_flight++;
}

static void count_list(troupe_stats_t *stats, const trp_message_t *message)
{
    for (; message != NULL; message = message->next) {
        count_message(stats, message);
    }
}

static void count_ring(troupe_stats_t *stats, const trp_message_t *last)
{
    if (last == NULL) {
        return;
    }
    const trp_message_t *message = last;
    do {
        message = message->next;
        count_message(stats, message);
    } while (message != last);
}

static void count_cell(troupe_stats_t *stats, const troupe_actor_t *cell)
{
    count_list(stats, cell->head);
    count_ring(stats, cell->urgent);
    if (cell->extra != NULL) {
        count_list(stats, cell->extra->stash_head);
    }
    stats->actors++;
}

static void count_cells(troupe_stats_t *stats, trp_dispatcher_t *d)
{
    trp_slot_t *entry = NULL;
    for (uint32_t slot = 1; (entry = trp_slots_entry(&d->slots, slot)) != NULL; slot++) {
        if (entry->actor != NULL) {
            count_cell(stats, entry->actor);
        }
    }
}

/* What lies in the channels towards this dispatcher, and in its own outboxes. */
static void count_channels(troupe_stats_t *stats, trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    uint32_t len = atomic_load_explicit(&runtime->endpoints_len, memory_order_acquire);
    for (uint32_t from = 0; from < len; from++) {
        trp_channel_t *channel =
            __atomic_load_n(&runtime->channels[from][d->index], __ATOMIC_ACQUIRE);
        uint32_t ready = channel == NULL ? 0 : trp_channel_poll(channel);
        for (uint32_t i = 0; i < ready; i++) {
            count_message(stats, trp_channel_peek(channel, i));
        }
    }
    for (uint32_t to = 0; to < runtime->len; to++) {
        if (d->endpoint.out[to] != NULL) {
            count_list(stats, d->endpoint.out[to]->outbox_head);
        }
    }
}

static void add_flow(troupe_flow_t *sum, const trp_flow_t *flow)
{
    sum->made += flow->made;
    sum->received += flow->received;
    sum->taken += flow->taken;
    for (uint32_t i = 0; i < TROUPE_DROP_LEN; i++) {
        sum->dropped[i] += flow->dropped[i];
    }
}

static void count_dispatcher(troupe_stats_t *stats, trp_dispatcher_t *d)
{
    add_flow(&stats->user, &d->user);
    add_flow(&stats->system, &d->system);
    count_cells(stats, d);
    count_channels(stats, d);
    trp_unborn_count(d, &stats->user.in_flight, &stats->system.in_flight);
    stats->spawned += d->spawned;
    stats->asks += d->asks.len;
    stats->timers += trp_wheel_len(&d->wheel);
    stats->parked += d->parked;
    stats->wakeups += atomic_load_explicit(&d->endpoint.waker.wakeups, memory_order_relaxed);
}

/* ---- asking the dispatchers ------------------------------------------------------------------ */

static void census_unref(census_t *census)
{
    pthread_mutex_lock(&census->mutex);
    bool is_last = --census->refs == 0;
    pthread_mutex_unlock(&census->mutex);
    if (is_last) {
        (void)pthread_cond_destroy(&census->answered);
        (void)pthread_mutex_destroy(&census->mutex);
        trp_free(census);
    }
}

static void census_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    census_t *census = NULL;
    (void)size;
    memcpy(&census, payload, sizeof(census));
    pthread_mutex_lock(&census->mutex);
    count_dispatcher(&census->sum, d);
    census->waiting--;
    pthread_cond_signal(&census->answered);
    pthread_mutex_unlock(&census->mutex);
    census_unref(census);
}

static void census_abandon(trp_dispatcher_t *d, void *payload, size_t size)
{
    census_t *census = NULL;
    (void)d;
    (void)size;
    memcpy(&census, payload, sizeof(census));
    pthread_mutex_lock(&census->mutex);
    census->is_abandoned = true;
    pthread_cond_signal(&census->answered);
    pthread_mutex_unlock(&census->mutex);
    census_unref(census);
}

static census_t *census_new(void)
{
    census_t *census = trp_calloc(1, sizeof(*census));
    pthread_condattr_t attributes;
    if (census == NULL) {
        return NULL;
    }
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&census->mutex, NULL);
    (void)pthread_cond_init(&census->answered, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    census->refs = 1;
    return census;
}

static troupe_err_t census_post(trp_runtime_t *runtime, census_t *census)
{
    for (uint32_t i = 0; i < runtime->len; i++) {
        pthread_mutex_lock(&census->mutex);
        census->refs++;
        census->waiting++;
        pthread_mutex_unlock(&census->mutex);
        trp_task_t task = {census_task, census_abandon, &census, sizeof(census)};
        troupe_err_t err = trp_runtime_post_task(runtime, i, &task);
        if (err != TROUPE_OK) {
            pthread_mutex_lock(&census->mutex);
            census->refs--;
            census->waiting--;
            pthread_mutex_unlock(&census->mutex);
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t census_wait(census_t *census, uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / TRP_NS_PER_S),
                                (long)(deadline_ns % TRP_NS_PER_S)};
    int result = 0;
    pthread_mutex_lock(&census->mutex);
    while (census->waiting > 0 && !census->is_abandoned && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&census->answered, &census->mutex, &deadline);
    }
    troupe_err_t err = census->waiting > 0 ? TROUPE_ETIMEOUT : TROUPE_OK;
    err = census->is_abandoned ? TROUPE_ESTOPPED : err;
    pthread_mutex_unlock(&census->mutex);
    return err;
}

/* What belongs to no dispatcher. */
static void add_outside(trp_runtime_t *runtime, troupe_stats_t *stats)
{
    uint64_t refused = atomic_load_explicit(&runtime->outside_refused, memory_order_relaxed);
    stats->user.made += refused;
    stats->user.dropped[TROUPE_DROP_OVERLOAD] += refused;
    stats->user.made += atomic_load_explicit(&runtime->outside_made, memory_order_relaxed);
    stats->system.made += atomic_load_explicit(&runtime->outside_made_system, memory_order_relaxed);
    stats->pool_bytes = atomic_load_explicit(&runtime->depot.used, memory_order_relaxed);
    stats->dispatchers = runtime->len;
    if (runtime->remote.account != NULL) {
        runtime->remote.account(runtime->remote.context, &stats->user, &stats->system);
    }
}

troupe_err_t troupe_node_stats(troupe_node_t *node, uint32_t timeout_ms, troupe_stats_t *ret_stats)
{
    if (node == NULL || ret_stats == NULL || ret_stats->size != sizeof(*ret_stats)) {
        return TROUPE_EINVAL;
    }
    trp_runtime_t *runtime = trp_node_runtime(node);
    if (trp_outside_is_inside(runtime)) {
        return TROUPE_ETHREAD;
    }
    census_t *census = census_new();
    if (census == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = census_post(runtime, census);
    if (err == TROUPE_OK) {
        err = census_wait(census, trp_clock_now() + timeout_ms * TRP_NS_PER_MS);
    }
    if (err == TROUPE_OK) {
        pthread_mutex_lock(&census->mutex);
        *ret_stats = census->sum;
        pthread_mutex_unlock(&census->mutex);
        ret_stats->size = sizeof(*ret_stats);
        add_outside(runtime, ret_stats);
    }
    census_unref(census);
    return err;
}
