/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The injector: the way into a dispatcher for threads without channels (ports, offload workers). A
 * lock-free queue of many producers and one consumer (Vyukov's intrusive MPSC queue); bounded by a
 * count that ports respect, while results that must not be lost may go beyond it.
 *
 * Thread rule: push from any thread, pop by the owner. */

#ifndef TROUPE_ACTOR_INJECTOR_H
#define TROUPE_ACTOR_INJECTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "actor/message.h"
#include "base/attr.h"

#define TRP_INJECTOR_HIGH 4096u /* Messages at which ports have to wait. */
#define TRP_INJECTOR_LOW 1024u  /* Messages at which they are told to go on. */

typedef struct trp_injector {
    TRP_ALIGNED(TRP_CACHE_LINE)
    trp_message_t *_Atomic tail; /* Producers swap themselves in here. */
    _Atomic uint32_t len;
    _Atomic uint32_t waiting;                        /* Threads in trp_injector_wait. */
    TRP_ALIGNED(TRP_CACHE_LINE) trp_message_t *head; /* Owner's. */
    trp_message_t stub;
    pthread_mutex_t mutex; /* For waiting threads only. */
    pthread_cond_t room;
} trp_injector_t;

troupe_err_t trp_injector_init(trp_injector_t *injector);
void trp_injector_fini(trp_injector_t *injector);

/* Any thread. The caller wakes the dispatcher. */
void trp_injector_push(trp_injector_t *injector, trp_message_t *message);
/* Waits until there is room below the high mark; ETIMEOUT. Any thread but the owner. */
troupe_err_t trp_injector_wait(trp_injector_t *injector, uint64_t deadline_ns);

/* The oldest message, or NULL when there is none (or one is just being pushed). Owner. */
trp_message_t *trp_injector_pop(trp_injector_t *injector);

static inline bool trp_injector_is_empty(trp_injector_t *injector)
{
    /* Acquire: pairs with the release in trp_injector_push. */
    return atomic_load_explicit(&injector->len, memory_order_acquire) == 0;
}

static inline bool trp_injector_has_room(trp_injector_t *injector)
{
    return atomic_load_explicit(&injector->len, memory_order_relaxed) < TRP_INJECTOR_HIGH;
}

#endif
