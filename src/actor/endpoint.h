/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* An endpoint: a thread that has channels of its own to all dispatchers, and a pool. Every dispatcher
 * is one, the link thread is one. Other threads go through a dispatcher's injector (injector.h).
 *
 * Thread rule: the owning thread alone, but for trp_endpoint_wake. */

#ifndef TROUPE_ACTOR_ENDPOINT_H
#define TROUPE_ACTOR_ENDPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/channel.h"
#include "actor/message.h"
#include "actor/pool.h"

typedef struct trp_runtime trp_runtime_t;
typedef struct trp_dispatcher trp_dispatcher_t;

#define TRP_DISPATCHERS_MAX 128u
#define TRP_ENDPOINTS_MAX (TRP_DISPATCHERS_MAX + 4u) /* Dispatchers, the link thread, spare ones. */

typedef void (*trp_task_fn)(trp_dispatcher_t *d, void *payload, size_t size);
#define TRP_TASK_SIZE_MAX 208u

/* A task with an end for what its payload owns, when it can't be run any more because the node ends. */
typedef struct trp_task {
    trp_task_fn fn;
    trp_task_fn abandon; /* On the thread that stops the node; NULL: the payload owns nothing. */
    const void *payload; /* Copied. */
    size_t size;         /* At most TRP_TASK_SIZE_MAX. */
} trp_task_t;

#define TRP_TASK_WORDS 2u /* Of the message's extension: fn and abandon. */

/* How a sleeping thread is woken. */
typedef struct trp_waker {
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic bool is_sleeping;
    int fd; /* eventfd */
    _Atomic uint64_t wakeups;
} trp_waker_t;

typedef struct trp_endpoint {
    trp_runtime_t *runtime;
    uint32_t index;
    uint32_t dirty_len;
    uint32_t unfenced_len;
    uint64_t wakeups; /* Eventfd writes made. */
    trp_pool_t pool;
    trp_waker_t waker;
    trp_channel_t *out[TRP_DISPATCHERS_MAX]; /* By dispatcher; NULL to itself. */
    uint32_t dirty[TRP_DISPATCHERS_MAX];     /* Channels with something unpublished or parked. */
    uint32_t unfenced[TRP_DISPATCHERS_MAX];  /* Channels published without a fence since. */
} trp_endpoint_t;

/* Opens an endpoint of a running or starting node for the calling thread (not a dispatcher). Its
 * waker's fd becomes readable when a dispatcher has made room. */
troupe_err_t trp_endpoint_open(trp_endpoint_t *endpoint, trp_runtime_t *runtime);
void trp_endpoint_close(trp_endpoint_t *endpoint);
/* Makes the channels of an endpoint whose index is set; a dispatcher's own part of being created. */
troupe_err_t trp_endpoint_connect(trp_endpoint_t *endpoint);

troupe_err_t trp_waker_init(trp_waker_t *waker);
void trp_waker_fini(trp_waker_t *waker);

/* Writes the eventfd if the thread sleeps; of several wakers one does. */
void trp_waker_write(trp_waker_t *waker);

/* Wakes the thread if it sleeps. The caller has published what it is to see. Any thread. */
static inline void trp_waker_wake(trp_waker_t *waker)
{
    /* The fence orders the caller's publishing before the look at the flag; it pairs with the fence of
     * the sleeper between setting the flag and its last look at the channels (Dekker's scheme). */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&waker->is_sleeping, memory_order_relaxed)) {
        trp_waker_write(waker);
    }
}

/* A message cell with `words` words of extension and room for `size` bytes; header set, body not. NULL
 * at the ceiling or without memory. `size` with the words must fit TRP_POOL_BLOCK_MAX. */
static inline trp_message_t *trp_message_take(trp_pool_t *pool, uint32_t words, size_t size,
                                              bool is_system)
{
    uint32_t class_index = trp_pool_class(sizeof(trp_message_t) + words * sizeof(uint64_t) + size);
    trp_message_t *message = trp_pool_take(pool, class_index, is_system);
    if (TRP_LIKELY(message != NULL)) {
        message->size = (uint32_t)size;
        message->flags = is_system ? TRP_MESSAGE_SYSTEM : 0;
        message->shape = (uint8_t)(class_index | words << 4);
    }
    return message;
}

/* Gives back a cell and its share of a body. */
void trp_message_drop_body(trp_message_t *message);

static inline void trp_message_free(trp_pool_t *pool, trp_message_t *message)
{
    if (TRP_UNLIKELY((message->flags & TRP_MESSAGE_SHARED) != 0)) {
        trp_message_drop_body(message);
    }
    trp_pool_put(pool, message->shape & 15u, message);
}

/* Puts a message into the channel to its target's dispatcher. True: past the high mark. */
bool trp_endpoint_put(trp_endpoint_t *endpoint, uint32_t target_index, trp_message_t *message);
/* Publishes what was put. Wakes whom it sees asleep; for certainty a trp_endpoint_settle must follow,
 * at the latest before the thread waits for anything. True when something is left in an outbox or an
 * actor is parked. */
bool trp_endpoint_publish(trp_endpoint_t *endpoint);
/* Fences what was published and wakes who fell asleep meanwhile: one fence for many flushes. */
void trp_endpoint_settle(trp_endpoint_t *endpoint);
/* Both. */
static inline bool trp_endpoint_flush(trp_endpoint_t *endpoint)
{
    bool is_waiting = trp_endpoint_publish(endpoint);
    trp_endpoint_settle(endpoint);
    return is_waiting;
}
/* Before sleeping, with the waker's flag set: true when a channel has made room for what waits. */
bool trp_endpoint_wants_room(trp_endpoint_t *endpoint);

/* A message cell that runs `fn` on a dispatcher; NULL without memory. */
trp_message_t *trp_task_new(trp_pool_t *pool, trp_task_fn fn, const void *payload, size_t size);
trp_message_t *trp_task_make(trp_pool_t *pool, const trp_task_t *task);
/* Turns a fresh system cell with TRP_TASK_WORDS words into the task. */
void trp_task_fill(trp_message_t *message, const trp_task_t *task);
/* Ends the payload of a task that is not run. */
void trp_task_abandon(trp_dispatcher_t *d, trp_message_t *message);

/* Runs `fn` with a copy of the payload (at most TRP_TASK_SIZE_MAX) on the dispatcher's thread, in
 * order with this endpoint's other posts and messages to it. Flush afterwards. ENOMEM. */
troupe_err_t trp_endpoint_post(trp_endpoint_t *endpoint, uint32_t target_index, trp_task_fn fn,
                               const void *payload, size_t size);

#endif
