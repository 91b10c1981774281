/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A channel: the one way by which one thread hands messages to one dispatcher.
 *
 *     producer's outbox (list, only when the ring is full)
 *        |
 *        v          tail (published at the end of an activation, or every few messages)
 *     [ .. | m | m | m | m | .. ]   ring of TRP_CHANNEL_LEN cells
 *            ^ head
 *
 * Single producer, single consumer. A ring of pointers and not a chain of cells: the consumer knows the
 * addresses of the next cells and warms them, where a chain costs one cache miss after the other. About
 * a thousand messages a pair stay in the cache, so the ring is that long and its being full is the
 * high-water mark: senders are parked, what they send until then waits in the outbox.
 *
 * Thread rule: functions say producer or consumer; each side's fields lie on lines of their own. */

#ifndef TROUPE_ACTOR_CHANNEL_H
#define TROUPE_ACTOR_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/message.h"
#include "actor/parking.h"
#include "base/attr.h"

#define TRP_CHANNEL_LEN 1024u /* Power of two. */
#define TRP_CHANNEL_HIGH 768u /* Messages in the ring that park the sender. */
#define TRP_CHANNEL_LOW 256u  /* Messages in the ring at which parked senders go on. */
#define TRP_CHANNEL_CHAIN 16u /* Messages after which a long activation publishes. */

typedef struct trp_channel {
    /* Producer's own. */
    uint32_t tail;      /* Where the next message goes. */
    uint32_t published; /* Last value stored to tail_shared. */
    uint32_t head_seen; /* Last value read from head_shared. */
    uint32_t outbox_len;
    trp_message_t *outbox_head;
    trp_message_t *outbox_tail;
    trp_parking_t parking; /* Actors that wait for room. */
    bool is_dirty;         /* In its endpoint's list of channels to flush. */
    bool is_unfenced;      /* Published since the endpoint's last fence. */
    /* Written by the producer, read by the consumer. */
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic uint32_t tail_shared;
    /* The producer sleeps with parked senders or a full outbox and wants to be woken at the low mark. */
    _Atomic bool wants_room;
    /* Written by the consumer, read by the producer. */
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic uint32_t head_shared;
    /* Consumer's own. */
    TRP_ALIGNED(TRP_CACHE_LINE) uint32_t head;
    TRP_ALIGNED(TRP_CACHE_LINE) trp_message_t *ring[TRP_CHANNEL_LEN];
} trp_channel_t;

/* ---- producer -------------------------------------------------------------------------------- */

/* Messages in the ring as far as the producer knows; asks the consumer's line when it seems full. */
static inline uint32_t trp_channel_len(trp_channel_t *channel)
{
    uint32_t len = channel->tail - channel->head_seen;
    if (len >= TRP_CHANNEL_HIGH) {
        /* Acquire: pairs with the release in trp_channel_release; the cells are free to reuse. */
        channel->head_seen = atomic_load_explicit(&channel->head_shared, memory_order_acquire);
        len = channel->tail - channel->head_seen;
    }
    return len;
}

/* Makes all that was put so far visible to the consumer. True when there was something new. */
static inline bool trp_channel_publish(trp_channel_t *channel)
{
    if (channel->published == channel->tail) {
        return false;
    }
    channel->published = channel->tail;
    /* Release: pairs with the acquire in trp_channel_poll; the cells' contents come before. */
    atomic_store_explicit(&channel->tail_shared, channel->tail, memory_order_release);
    return true;
}

void trp_channel_outbox_add(trp_channel_t *channel, trp_message_t *message);
/* Moves from the outbox to the ring what finds room. True when the outbox is empty. */
bool trp_channel_outbox_move(trp_channel_t *channel);

/* Puts a message; never fails. True when the channel is past its high mark. */
static inline bool trp_channel_put(trp_channel_t *channel, trp_message_t *message)
{
    uint32_t len = trp_channel_len(channel);
    if (TRP_UNLIKELY(len >= TRP_CHANNEL_LEN || channel->outbox_len > 0)) {
        trp_channel_outbox_add(channel, message);
        return true;
    }
    channel->ring[channel->tail & (TRP_CHANNEL_LEN - 1)] = message;
    channel->tail++;
    return len >= TRP_CHANNEL_HIGH;
}

/* True when parked senders may go on. */
static inline bool trp_channel_has_room(trp_channel_t *channel)
{
    channel->head_seen = atomic_load_explicit(&channel->head_shared, memory_order_acquire);
    return channel->outbox_len == 0 && channel->tail - channel->head_seen <= TRP_CHANNEL_LOW;
}

/* ---- consumer -------------------------------------------------------------------------------- */

/* Messages ready to be taken. */
static inline uint32_t trp_channel_poll(trp_channel_t *channel)
{
    return atomic_load_explicit(&channel->tail_shared, memory_order_acquire) - channel->head;
}

static inline trp_message_t *trp_channel_peek(trp_channel_t *channel, uint32_t ahead)
{
    return channel->ring[(channel->head + ahead) & (TRP_CHANNEL_LEN - 1)];
}

/* Gives the first `len` places back to the producer. */
static inline void trp_channel_release(trp_channel_t *channel, uint32_t len)
{
    channel->head += len;
    atomic_store_explicit(&channel->head_shared, channel->head, memory_order_release);
}

#endif
