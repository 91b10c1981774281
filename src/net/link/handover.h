/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The hand-over: how other threads give work to the link thread.
 *
 *     producers --push (one compare-and-swap)--> [c] -> [b] -> [a]    newest first
 *     link thread --take (one exchange)--------> a, b, c              turned round
 *
 * Items are embedded in what they carry, so nothing is allocated. What one producer pushes is taken in
 * its order. A batch is 32 KiB, so producers meet here about once in 20 us.
 *
 * Thread rule: push on any thread, take on the link thread. */

#ifndef TROUPE_LINK_HANDOVER_H
#define TROUPE_LINK_HANDOVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/endpoint.h"
#include "base/attr.h"

typedef enum trp_item_kind {
    TRP_ITEM_FRAME = 1, /* trp_frame_t: a batch of a dispatcher. */
    TRP_ITEM_BULK,      /* trp_bulk_out_t: a bulk body. */
    TRP_ITEM_SERVICE,   /* trp_service_out_t: a message of a control service. */
    TRP_ITEM_RECEIVED,  /* trp_received_t: a frame that all dispatchers have dropped. */
    TRP_ITEM_COMMAND,   /* trp_command_t: a call of another thread. */
} trp_item_kind_t;

typedef struct trp_item {
    struct trp_item *next;
    trp_item_kind_t kind;
} trp_item_t;

typedef struct trp_handover {
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic(trp_item_t *) head;
    TRP_ALIGNED(TRP_CACHE_LINE) trp_waker_t *waker; /* The link thread's; borrowed. */
} trp_handover_t;

static inline void trp_handover_init(trp_handover_t *handover, trp_waker_t *waker)
{
    atomic_store_explicit(&handover->head, NULL, memory_order_relaxed);
    handover->waker = waker;
}

/* Gives an item without waking: for what can wait until the link thread has something to do. */
static inline void trp_handover_put(trp_handover_t *handover, trp_item_t *item)
{
    trp_item_t *head = atomic_load_explicit(&handover->head, memory_order_relaxed);
    do {
        item->next = head;
        /* Release: pairs with the acquire in trp_handover_take; the item's contents come before. */
    } while (!atomic_compare_exchange_weak_explicit(&handover->head, &head, item,
                                                    memory_order_release, memory_order_relaxed));
}

/* Gives an item and wakes the link thread when it sleeps. */
static inline void trp_handover_push(trp_handover_t *handover, trp_item_t *item)
{
    trp_handover_put(handover, item);
    trp_waker_wake(handover->waker);
}

static inline bool trp_handover_is_empty(trp_handover_t *handover)
{
    return atomic_load_explicit(&handover->head, memory_order_relaxed) == NULL;
}

/* Takes all items, oldest first, linked by `next`; NULL when there are none. */
static inline trp_item_t *trp_handover_take(trp_handover_t *handover)
{
    if (trp_handover_is_empty(handover)) {
        return NULL;
    }
    /* Acquire: pairs with the release in trp_handover_put. */
    trp_item_t *item = atomic_exchange_explicit(&handover->head, NULL, memory_order_acquire);
    trp_item_t *oldest = NULL;
    while (item != NULL) {
        trp_item_t *next = item->next;
        item->next = oldest;
        oldest = item;
        item = next;
    }
    return oldest;
}

#endif
