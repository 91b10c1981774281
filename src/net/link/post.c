/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The link thread's side of delivery: giving frames to dispatchers and taking them back. */

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "net/link/credit.h"
#include "net/link/deliver.h"
#include "net/link/walk.h"

/* Of the window: so many released bytes are worth waking the link thread. */
#define POST_WAKE_SHARE 4u

/* ---- received frames ------------------------------------------------------------------------- */

/* A dispatcher is done with a frame. Any thread. */
void trp_received_unref(trp_received_t *received)
{
    /* Acquire and release: whoever is last sees that all others are done with it. */
    if (atomic_fetch_sub_explicit(&received->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    trp_link_t *link = received->link;
    uint64_t mark = link->window / POST_WAKE_SHARE;
    uint64_t size = received->size;
    uint64_t before = atomic_fetch_add_explicit(&received->peer->due, size, memory_order_relaxed);
    if (before + size >= mark) {
        trp_handover_push(&link->handover, &received->item);
    } else {
        trp_handover_put(&link->handover, &received->item);
    }
}

static trp_received_t *received_take(trp_link_t *link)
{
    trp_received_t *received = link->received_free;
    if (received != NULL) {
        link->received_free = received->next_free;
        return received;
    }
    return trp_alloc_aligned(TRP_CACHE_LINE, sizeof(*received));
}

static void received_put(trp_link_t *link, trp_received_t *received)
{
    received->next_free = link->received_free;
    link->received_free = received;
}

void trp_deliver_returned(trp_link_t *link, trp_received_t *received)
{
    trp_peer_t *peer = received->peer;
    atomic_fetch_sub_explicit(&peer->due, received->size, memory_order_relaxed);
    trp_credit_released(link, peer, received->session_id, received->size);
    (void)zmq_msg_close(&received->message);
    trp_peer_unref(&received->peer);
    TRP_ASSERT(link->received_out > 0);
    link->received_out--;
    received_put(link, received);
}

void trp_deliver_fini(trp_link_t *link)
{
    TRP_ASSERT(link->received_out == 0);
    while (link->received_free != NULL) {
        trp_received_t *received = link->received_free;
        link->received_free = received->next_free;
        trp_free(received);
    }
}

/* ---- giving --------------------------------------------------------------------------------- */

static uint32_t mask_len(const uint64_t mask[TRP_LINK_MASK_WORDS])
{
    uint32_t len = 0;
    for (uint32_t word = 0; word < TRP_LINK_MASK_WORDS; word++) {
        len += (uint32_t)__builtin_popcountll(mask[word]);
    }
    return len;
}

static void post_free(trp_link_t *link, trp_message_t *first)
{
    while (first != NULL) {
        trp_message_t *next = first->next;
        trp_message_free(&link->endpoint.pool, first);
        first = next;
    }
}

/* Makes the tasks for all dispatchers in the mask before any is sent: all or none. */
static trp_message_t *post_make(trp_link_t *link, const uint64_t mask[TRP_LINK_MASK_WORDS],
                                trp_task_fn fn, const void *payload, size_t size)
{
    trp_message_t *first = NULL;
    for (uint32_t left = mask_len(mask); left > 0; left--) {
        trp_message_t *message = trp_task_new(&link->endpoint.pool, fn, payload, size);
        if (message == NULL) {
            post_free(link, first);
            return NULL;
        }
        message->next = first;
        first = message;
    }
    return first;
}

static void post_put(trp_link_t *link, const uint64_t mask[TRP_LINK_MASK_WORDS],
                     trp_message_t *first)
{
    for (uint32_t word = 0; word < TRP_LINK_MASK_WORDS; word++) {
        for (uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
            trp_message_t *message = first;
            first = message->next;
            uint32_t index = word * 64u + (uint32_t)__builtin_ctzll(bits);
            message->target = trp_id_make(index, TRP_SLOT_DISPATCHER, 0);
            (void)trp_endpoint_put(&link->endpoint, index, message);
        }
    }
    TRP_ASSERT(first == NULL);
}

troupe_err_t trp_deliver_post_frame(trp_link_t *link, trp_peer_t *peer, zmq_msg_t *message,
                                    const uint64_t mask[TRP_LINK_MASK_WORDS])
{
    TRP_ASSERT(mask_len(mask) > 0);
    trp_received_t *received = received_take(link);
    if (received == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_message_t *tasks = post_make(link, mask, trp_deliver_on_frame, &received, sizeof(received));
    if (tasks == NULL) {
        received_put(link, received);
        return TROUPE_ENOMEM;
    }
    received->item = (trp_item_t){NULL, TRP_ITEM_RECEIVED};
    atomic_store_explicit(&received->refs, mask_len(mask), memory_order_relaxed);
    received->link = link;
    received->peer = trp_peer_ref(peer);
    received->session_id = peer->session.id;
    received->first = trp_walk_first(mask);
    (void)zmq_msg_init(&received->message);
    (void)zmq_msg_move(&received->message, message);
    received->size = (uint32_t)zmq_msg_size(&received->message);
    received->data = zmq_msg_data(&received->message);
    link->received_out++;
    post_put(link, mask, tasks);
    return TROUPE_OK;
}

void trp_deliver_post_bulk(trp_link_t *link, trp_peer_t *peer, uint64_t bulk_id, trp_body_t *body,
                           const uint64_t mask[TRP_LINK_MASK_WORDS])
{
    trp_deliver_bulk_t bulk = {peer->uid, bulk_id, body};
    if (mask_len(mask) == 0) {
        return;
    }
    trp_message_t *tasks = post_make(link, mask, trp_deliver_on_bulk, &bulk, sizeof(bulk));
    if (tasks == NULL) {
        TRP_LOG_LIMITED(link->log, &link->log_limit, link->now, TROUPE_LOG_LINK, TROUPE_LOG_ERROR,
                        "link.bulk.lost", "bulk=%llu", (unsigned long long)bulk_id);
        return;
    }
    for (uint32_t i = mask_len(mask); body != NULL && i > 0; i--) {
        (void)trp_body_ref(body);
    }
    post_put(link, mask, tasks);
}
