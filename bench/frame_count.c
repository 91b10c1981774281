/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The interposed sends. */

#include "frame_count.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <zmq.h>

#define FRAME_EXPORT __attribute__((visibility("default"), noinline))

typedef int (*frame_msg_send_fn)(zmq_msg_t *message, void *socket, int flags);
typedef int (*frame_send_fn)(void *socket, const void *body, size_t size, int flags);

static _Atomic uint64_t frame_count;
static _Atomic(frame_msg_send_fn) frame_msg_send;
static _Atomic(frame_send_fn) frame_send;

uint64_t bench_frame_total(void)
{
    return atomic_load_explicit(&frame_count, memory_order_relaxed);
}

static void *frame_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

FRAME_EXPORT int zmq_msg_send(zmq_msg_t *message, void *socket, int flags)
{
    frame_msg_send_fn next = atomic_load_explicit(&frame_msg_send, memory_order_relaxed);
    int sent;
    if (next == NULL) {
        void *symbol = frame_next("zmq_msg_send");
        memcpy(&next, &symbol, sizeof(next)); /* ISO C has no cast between the two. */
        atomic_store_explicit(&frame_msg_send, next, memory_order_relaxed);
    }
    sent = next(message, socket, flags);
    if (sent >= 0) {
        atomic_fetch_add_explicit(&frame_count, 1, memory_order_relaxed);
    }
    return sent;
}

FRAME_EXPORT int zmq_send(void *socket, const void *body, size_t size, int flags)
{
    frame_send_fn next = atomic_load_explicit(&frame_send, memory_order_relaxed);
    int sent;
    if (next == NULL) {
        void *symbol = frame_next("zmq_send");
        memcpy(&next, &symbol, sizeof(next));
        atomic_store_explicit(&frame_send, next, memory_order_relaxed);
    }
    sent = next(socket, body, size, flags);
    if (sent >= 0) {
        atomic_fetch_add_explicit(&frame_count, 1, memory_order_relaxed);
    }
    return sent;
}
