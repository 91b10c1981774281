/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/injector.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

/* `next` of a message is written by its successor's producer while the owner reads it. */
static void next_store(trp_message_t *message, trp_message_t *next)
{
    __atomic_store_n(&message->next, next, __ATOMIC_RELEASE);
}

static trp_message_t *next_load(trp_message_t *message)
{
    return __atomic_load_n(&message->next, __ATOMIC_ACQUIRE);
}

troupe_err_t trp_injector_init(trp_injector_t *injector)
{
    pthread_condattr_t attributes;
    injector->stub.next = NULL;
    injector->head = &injector->stub;
    atomic_init(&injector->tail, &injector->stub);
    atomic_init(&injector->len, 0);
    atomic_init(&injector->waiting, 0);
    if (pthread_mutex_init(&injector->mutex, NULL) != 0) {
        return TROUPE_ESYSTEM;
    }
    if (pthread_condattr_init(&attributes) != 0) {
        (void)pthread_mutex_destroy(&injector->mutex);
        return TROUPE_ESYSTEM;
    }
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&injector->room, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (failed != 0) {
        (void)pthread_mutex_destroy(&injector->mutex);
        return TROUPE_ESYSTEM;
    }
    return TROUPE_OK;
}

void trp_injector_fini(trp_injector_t *injector)
{
    (void)pthread_cond_destroy(&injector->room);
    (void)pthread_mutex_destroy(&injector->mutex);
}

static void injector_link(trp_injector_t *injector, trp_message_t *message)
{
    next_store(message, NULL);
    /* Acquire and release: the predecessor's contents are there before its `next` is set. */
    trp_message_t *before =
        atomic_exchange_explicit(&injector->tail, message, memory_order_acq_rel);
    next_store(before, message);
}

void trp_injector_push(trp_injector_t *injector, trp_message_t *message)
{
    /* Counted first, so that the owner's subtraction can't come before. An owner that sees the count
     * and not yet the message looks again. */
    atomic_fetch_add_explicit(&injector->len, 1, memory_order_release);
    injector_link(injector, message);
}

static void injector_taken(trp_injector_t *injector)
{
    uint32_t before = atomic_fetch_sub_explicit(&injector->len, 1, memory_order_seq_cst);
    if (before == TRP_INJECTOR_LOW + 1 &&
        atomic_load_explicit(&injector->waiting, memory_order_seq_cst) > 0) {
        pthread_mutex_lock(&injector->mutex);
        pthread_cond_broadcast(&injector->room);
        pthread_mutex_unlock(&injector->mutex);
    }
}

trp_message_t *trp_injector_pop(trp_injector_t *injector)
{
    trp_message_t *head = injector->head;
    trp_message_t *next = next_load(head);
    if (head == &injector->stub) {
        if (next == NULL) {
            return NULL;
        }
        injector->head = next;
        head = next;
        next = next_load(head);
    }
    if (next == NULL) {
        if (head != atomic_load_explicit(&injector->tail, memory_order_acquire)) {
            return NULL; /* A producer is between its exchange and its link. */
        }
        injector_link(injector, &injector->stub);
        next = next_load(head);
        if (next == NULL) {
            return NULL;
        }
    }
    injector->head = next;
    injector_taken(injector);
    return head;
}

troupe_err_t trp_injector_wait(trp_injector_t *injector, uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / TRP_NS_PER_S),
                                (long)(deadline_ns % TRP_NS_PER_S)};
    int result = 0;
    bool has_room = false;
    pthread_mutex_lock(&injector->mutex);
    atomic_fetch_add_explicit(&injector->waiting, 1, memory_order_seq_cst);
    for (;;) {
        has_room = atomic_load_explicit(&injector->len, memory_order_seq_cst) < TRP_INJECTOR_HIGH;
        if (has_room || result == ETIMEDOUT) {
            break;
        }
        result = pthread_cond_timedwait(&injector->room, &injector->mutex, &deadline);
    }
    atomic_fetch_sub_explicit(&injector->waiting, 1, memory_order_seq_cst);
    pthread_mutex_unlock(&injector->mutex);
    return has_room ? TROUPE_OK : TROUPE_ETIMEOUT;
}
