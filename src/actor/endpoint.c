/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/endpoint.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "actor/body.h"
#include "actor/dispatcher.h"
#include "actor/runtime.h"
#include "actor/system.h"
#include "base/assert.h"
#include "base/memory.h"

#define CLOSE_WAIT_MS 10    /* Of one wait for room. */
#define CLOSE_WAITS_MAX 100 /* Then the rest is left. */

/* ---- waker ----------------------------------------------------------------------------------- */

troupe_err_t trp_waker_init(trp_waker_t *waker)
{
    atomic_init(&waker->is_sleeping, false);
    atomic_init(&waker->wakeups, 0);
    waker->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return waker->fd >= 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

void trp_waker_fini(trp_waker_t *waker)
{
    if (waker->fd >= 0) {
        (void)close(waker->fd);
        waker->fd = -1;
    }
}

void trp_waker_write(trp_waker_t *waker)
{
    uint64_t one = 1;
    /* Relaxed: what the sleeper is to see was ordered by the fence before. */
    if (!atomic_exchange_explicit(&waker->is_sleeping, false, memory_order_relaxed)) {
        return;
    }
    atomic_fetch_add_explicit(&waker->wakeups, 1, memory_order_relaxed);
    /* The only possible failure, a counter at its maximum, is a descriptor that is readable already. */
    ssize_t written = write(waker->fd, &one, sizeof(one));
    (void)written;
}

/* ---- messages -------------------------------------------------------------------------------- */

void trp_message_drop_body(trp_message_t *message)
{
    trp_body_t *body = NULL;
    memcpy(&body, trp_message_payload(message), sizeof(body));
    trp_body_unref(body);
}

static void endpoint_mark_dirty(trp_endpoint_t *endpoint, uint32_t target_index)
{
    trp_channel_t *channel = endpoint->out[target_index];
    if (!channel->is_dirty) {
        channel->is_dirty = true;
        endpoint->dirty[endpoint->dirty_len++] = target_index;
    }
}

static trp_waker_t *endpoint_target(const trp_endpoint_t *endpoint, uint32_t target_index)
{
    return &endpoint->runtime->dispatchers[target_index]->endpoint.waker;
}

static void endpoint_publish(trp_endpoint_t *endpoint, uint32_t target_index)
{
    trp_channel_t *channel = endpoint->out[target_index];
    if (!trp_channel_publish(channel)) {
        return;
    }
    trp_waker_t *waker = endpoint_target(endpoint, target_index);
    if (TRP_UNLIKELY(atomic_load_explicit(&waker->is_sleeping, memory_order_relaxed))) {
        trp_waker_write(waker);
    }
    if (!channel->is_unfenced) {
        channel->is_unfenced = true;
        endpoint->unfenced[endpoint->unfenced_len++] = target_index;
    }
}

void trp_endpoint_settle(trp_endpoint_t *endpoint)
{
    if (endpoint->unfenced_len == 0) {
        return;
    }
    /* Pairs with the fence of the sleeper, as in trp_waker_wake. */
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < endpoint->unfenced_len; i++) {
        trp_waker_t *waker = endpoint_target(endpoint, endpoint->unfenced[i]);
        endpoint->out[endpoint->unfenced[i]]->is_unfenced = false;
        if (atomic_load_explicit(&waker->is_sleeping, memory_order_relaxed)) {
            trp_waker_write(waker);
        }
    }
    endpoint->unfenced_len = 0;
}

bool trp_endpoint_put(trp_endpoint_t *endpoint, uint32_t target_index, trp_message_t *message)
{
    trp_channel_t *channel = endpoint->out[target_index];
    bool is_high = trp_channel_put(channel, message);
    endpoint_mark_dirty(endpoint, target_index);
    if (channel->tail - channel->published >= TRP_CHANNEL_CHAIN) {
        endpoint_publish(endpoint, target_index);
    }
    return is_high;
}

bool trp_endpoint_publish(trp_endpoint_t *endpoint)
{
    bool is_waiting = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < endpoint->dirty_len; i++) {
        uint32_t target_index = endpoint->dirty[i];
        trp_channel_t *channel = endpoint->out[target_index];
        if (channel->outbox_len > 0) {
            (void)trp_channel_outbox_move(channel);
        }
        endpoint_publish(endpoint, target_index);
        channel->is_dirty = channel->outbox_len > 0 || channel->parking.len > 0;
        if (channel->is_dirty) {
            endpoint->dirty[kept++] = target_index;
            is_waiting = true;
        }
    }
    endpoint->dirty_len = kept;
    return is_waiting;
}

bool trp_endpoint_wants_room(trp_endpoint_t *endpoint)
{
    bool has_room = false;
    for (uint32_t i = 0; i < endpoint->dirty_len; i++) {
        trp_channel_t *channel = endpoint->out[endpoint->dirty[i]];
        atomic_store_explicit(&channel->wants_room, true, memory_order_relaxed);
    }
    /* Pairs with the fence in channel_drain: either it sees the wish, or we see the room. */
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < endpoint->dirty_len; i++) {
        trp_channel_t *channel = endpoint->out[endpoint->dirty[i]];
        uint32_t head = atomic_load_explicit(&channel->head_shared, memory_order_acquire);
        has_room = has_room || channel->tail - head <= TRP_CHANNEL_LOW;
    }
    return has_room;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

void trp_task_fill(trp_message_t *message, const trp_task_t *task)
{
    TRP_ASSERT(trp_message_words(message) == TRP_TASK_WORDS && message->size == task->size);
    uint64_t *words = trp_message_extension(message);
    message->type = TRP_SYSTEM_TASK;
    message->sender = 0;
    memcpy(&words[0], &task->fn, sizeof(task->fn));
    memcpy(&words[1], &task->abandon, sizeof(task->abandon));
    if (task->size > 0) {
        memcpy(trp_message_payload(message), task->payload, task->size);
    }
}

trp_message_t *trp_task_make(trp_pool_t *pool, const trp_task_t *task)
{
    TRP_ASSERT(task->size <= TRP_TASK_SIZE_MAX);
    trp_message_t *message = trp_message_take(pool, TRP_TASK_WORDS, task->size, true);
    if (message != NULL) {
        trp_task_fill(message, task);
    }
    return message;
}

trp_message_t *trp_task_new(trp_pool_t *pool, trp_task_fn fn, const void *payload, size_t size)
{
    trp_task_t task = {fn, NULL, payload, size};
    return trp_task_make(pool, &task);
}

void trp_task_abandon(trp_dispatcher_t *d, trp_message_t *message)
{
    trp_task_fn abandon = NULL;
    memcpy(&abandon, &trp_message_extension(message)[1], sizeof(abandon));
    if (abandon != NULL) {
        abandon(d, trp_message_payload(message), message->size);
    }
}

troupe_err_t trp_endpoint_post(trp_endpoint_t *endpoint, uint32_t target_index, trp_task_fn fn,
                               const void *payload, size_t size)
{
    trp_message_t *message = trp_task_new(&endpoint->pool, fn, payload, size);
    if (message == NULL) {
        return TROUPE_ENOMEM;
    }
    message->target = trp_id_make(target_index, TRP_SLOT_DISPATCHER, 0);
    (void)trp_endpoint_put(endpoint, target_index, message);
    return TROUPE_OK;
}

/* ---- endpoints of other threads -------------------------------------------------------------- */

static trp_channel_t *channel_new(void)
{
    trp_channel_t *channel = trp_alloc_aligned(TRP_CACHE_LINE, sizeof(*channel));
    if (channel != NULL) {
        memset(channel, 0, sizeof(*channel));
    }
    return channel;
}

troupe_err_t trp_endpoint_connect(trp_endpoint_t *endpoint)
{
    trp_runtime_t *runtime = endpoint->runtime;
    for (uint32_t to = 0; to < runtime->len; to++) {
        if (to == endpoint->index) {
            continue;
        }
        /* A channel stays when its producer goes: what is in it is still delivered. */
        if (runtime->channels[endpoint->index][to] == NULL) {
            trp_channel_t *channel = channel_new();
            if (channel == NULL) {
                return TROUPE_ENOMEM;
            }
            /* Release: pairs with the acquire in the dispatcher's drain. */
            __atomic_store_n(&runtime->channels[endpoint->index][to], channel, __ATOMIC_RELEASE);
        }
        endpoint->out[to] = runtime->channels[endpoint->index][to];
        endpoint->out[to]->is_dirty = false;
        if (endpoint->out[to]->outbox_len > 0) { /* Left by the one before. */
            endpoint_mark_dirty(endpoint, to);
        }
    }
    return TROUPE_OK;
}

static troupe_err_t endpoint_register(trp_endpoint_t *endpoint)
{
    trp_runtime_t *runtime = endpoint->runtime;
    troupe_err_t err = TROUPE_EFULL;
    pthread_mutex_lock(&runtime->endpoints_mutex);
    for (uint32_t i = runtime->len; i < TRP_ENDPOINTS_MAX && err == TROUPE_EFULL; i++) {
        if (runtime->endpoints[i] == NULL) {
            runtime->endpoints[i] = endpoint;
            endpoint->index = i;
            err = trp_endpoint_connect(endpoint);
            uint32_t seen = atomic_load_explicit(&runtime->endpoints_len, memory_order_relaxed);
            if (i >= seen) {
                /* Release: pairs with the acquire in the dispatcher's drain. */
                atomic_store_explicit(&runtime->endpoints_len, i + 1, memory_order_release);
            }
        }
    }
    pthread_mutex_unlock(&runtime->endpoints_mutex);
    return err;
}

troupe_err_t trp_endpoint_open(trp_endpoint_t *endpoint, trp_runtime_t *runtime)
{
    memset(endpoint, 0, sizeof(*endpoint));
    endpoint->runtime = runtime;
    troupe_err_t err = trp_waker_init(&endpoint->waker);
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_pool_open(&endpoint->pool, &runtime->depot);
    if (err != TROUPE_OK) {
        trp_waker_fini(&endpoint->waker);
        return err;
    }
    err = endpoint_register(endpoint);
    if (err != TROUPE_OK) {
        trp_pool_close(&endpoint->pool);
        trp_waker_fini(&endpoint->waker);
    }
    return err;
}

static void endpoint_wait_for_room(trp_endpoint_t *endpoint)
{
    uint64_t count = 0;
    struct pollfd poll_fd = {.fd = endpoint->waker.fd, .events = POLLIN};
    atomic_store_explicit(&endpoint->waker.is_sleeping, true, memory_order_relaxed);
    if (!trp_endpoint_wants_room(endpoint)) {
        (void)poll(&poll_fd, 1, CLOSE_WAIT_MS);
    }
    atomic_store_explicit(&endpoint->waker.is_sleeping, false, memory_order_relaxed);
    ssize_t got = read(endpoint->waker.fd, &count, sizeof(count));
    (void)got; /* Nothing to read is as good. */
}

/* What finds no room in time stays in the outbox: the next endpoint of the same index sends it, or the
 * end of the node frees it. */
void trp_endpoint_close(trp_endpoint_t *endpoint)
{
    trp_runtime_t *runtime = endpoint->runtime;
    for (uint32_t i = 0; trp_endpoint_flush(endpoint) && i < CLOSE_WAITS_MAX &&
                         atomic_load_explicit(&runtime->is_running, memory_order_acquire);
         i++) {
        endpoint_wait_for_room(endpoint);
    }
    pthread_mutex_lock(&runtime->endpoints_mutex);
    runtime->endpoints[endpoint->index] = NULL;
    pthread_mutex_unlock(&runtime->endpoints_mutex);
    trp_pool_close(&endpoint->pool);
    trp_waker_fini(&endpoint->waker);
}
