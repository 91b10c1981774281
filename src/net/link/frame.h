/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Outgoing frames: buffers that dispatchers write envelopes into and the link thread sends. A frame is
 * kept until the peer has acknowledged it, so that a new session can send it again; ZeroMQ holds it too
 * while it writes it. The last to let go gives it back to its pool.
 *
 *     dispatcher: take, write, seal --handover--> link thread: number, send, keep --ack--> unref
 *
 * Thread rule: a frame belongs to who holds it; once sealed its bytes are only read, but for the header,
 * which the link thread fills before it sends the frame for the first time. */

#ifndef TROUPE_LINK_FRAME_H
#define TROUPE_LINK_FRAME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "net/link/handover.h"
#include "net/link/limits.h"
#include "net/link/wire.h"

typedef struct trp_peer trp_peer_t;
typedef struct trp_frame trp_frame_t;

#define TRP_FRAME_CACHED_MAX 64u /* Frames that a pool keeps; the others are freed. */

typedef struct trp_frame_pool {
    pthread_mutex_t mutex;
    trp_frame_t *cached; /* Last given back first: it is still warm. */
    uint32_t cached_len;
    uint32_t out_len; /* Taken and not yet given back. */
} trp_frame_pool_t;

struct trp_frame {
    trp_item_t item; /* On the way to the link thread. */
    _Atomic uint32_t refs;
    trp_frame_pool_t *pool;
    trp_frame_t *next; /* In a stream or in the pool. */
    trp_peer_t *peer;  /* Whom it is for; the frame holds a reference until it is queued. */
    uint64_t sequence; /* Of its first envelope. */
    uint32_t size;     /* Bytes written, with the header. */
    uint32_t user_len; /* Numbered envelopes by kind. */
    uint32_t system_len;
    uint32_t epoch; /* Of the definitions that it builds on. */
    uint8_t lane;
    bool has_sequence;
    TRP_ALIGNED(TRP_CACHE_LINE) uint8_t data[TRP_LINK_FRAME_SIZE_MAX];
};

troupe_err_t trp_frame_pool_init(trp_frame_pool_t *pool);
/* Frees what is cached. All frames must be back. */
void trp_frame_pool_fini(trp_frame_pool_t *pool);

/* An empty frame with one reference and room left for the header. NULL without memory. Any thread. */
trp_frame_t *trp_frame_take(trp_frame_pool_t *pool);

static inline void trp_frame_ref(trp_frame_t *frame)
{
    /* Relaxed: a new reference is made from one that is held. */
    atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
}

/* Any thread. */
void trp_frame_unref(trp_frame_t *frame);

/* Numbered envelopes in it. */
static inline uint32_t trp_frame_len(const trp_frame_t *frame)
{
    return frame->user_len + frame->system_len;
}

/* Bytes that still go in. */
static inline size_t trp_frame_room(const trp_frame_t *frame)
{
    return TRP_LINK_FRAME_SIZE_MAX - frame->size;
}

#endif
