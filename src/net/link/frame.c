/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The pool of outgoing frames. A lock a frame, which is one in hundreds of messages. */

#include "net/link/frame.h"

#include "base/assert.h"
#include "base/memory.h"

troupe_err_t trp_frame_pool_init(trp_frame_pool_t *pool)
{
    pool->cached = NULL;
    pool->cached_len = 0;
    pool->out_len = 0;
    return pthread_mutex_init(&pool->mutex, NULL) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

void trp_frame_pool_fini(trp_frame_pool_t *pool)
{
    TRP_ASSERT(pool->out_len == 0);
    while (pool->cached != NULL) {
        trp_frame_t *frame = pool->cached;
        pool->cached = frame->next;
        trp_free(frame);
    }
    (void)pthread_mutex_destroy(&pool->mutex);
}

trp_frame_t *trp_frame_take(trp_frame_pool_t *pool)
{
    (void)pthread_mutex_lock(&pool->mutex);
    trp_frame_t *frame = pool->cached;
    if (frame != NULL) {
        pool->cached = frame->next;
        pool->cached_len--;
    }
    pool->out_len++;
    (void)pthread_mutex_unlock(&pool->mutex);
    if (frame == NULL) {
        frame = trp_alloc_aligned(TRP_CACHE_LINE, sizeof(trp_frame_t));
    }
    if (frame == NULL) {
        (void)pthread_mutex_lock(&pool->mutex);
        pool->out_len--;
        (void)pthread_mutex_unlock(&pool->mutex);
        return NULL;
    }
    atomic_store_explicit(&frame->refs, 1, memory_order_relaxed);
    frame->item = (trp_item_t){NULL, TRP_ITEM_FRAME};
    frame->pool = pool;
    frame->next = NULL;
    frame->peer = NULL;
    frame->sequence = 0;
    frame->size = TRP_WIRE_FRAME_SIZE;
    frame->user_len = 0;
    frame->system_len = 0;
    frame->epoch = 0;
    frame->lane = TRP_LANE_ORDINARY;
    frame->has_sequence = false;
    return frame;
}

static void frame_give_back(trp_frame_t *frame)
{
    trp_frame_pool_t *pool = frame->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    TRP_ASSERT(pool->out_len > 0);
    pool->out_len--;
    bool is_kept = pool->cached_len < TRP_FRAME_CACHED_MAX;
    if (is_kept) {
        frame->next = pool->cached;
        pool->cached = frame;
        pool->cached_len++;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    if (!is_kept) {
        trp_free(frame);
    }
}

void trp_frame_unref(trp_frame_t *frame)
{
    /* Acquire and release: whoever is last sees what all others did with the frame. */
    if (atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel) == 1) {
        frame_give_back(frame);
    }
}
