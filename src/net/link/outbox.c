/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Life of outboxes, and the way of frames from them to the link thread. */

#include "net/link/outbox.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/memory.h"

#define OUTBOX_CAPACITY_MIN 16u

_Static_assert(TRP_WIRE_FRAME_SIZE + TRP_LINK_BATCH_SIZE + TRP_LINK_ORDINARY_SIZE_MAX +
                       TRP_WIRE_ENVELOPE_EXTRA_MAX + 2u * (TRP_LINK_TOPIC_NAME_SIZE_MAX + 40u) +
                       TROUPE_TYPE_NAME_SIZE_MAX + 64u <=
                   TRP_LINK_FRAME_SIZE_MAX,
               "an open frame always has room for the largest envelope and its definitions");
_Static_assert(TRP_DISPATCHERS_MAX <= 64u * TRP_LINK_MASK_WORDS, "a bit for each dispatcher");

/* ---- finding --------------------------------------------------------------------------------- */

static trp_outbox_slot_t *outbox_slot(const trp_outbox_t *outbox, uint64_t uid)
{
    uint32_t at = (uint32_t)trp_hash_u64(uid) & (outbox->capacity - 1);
    while (outbox->slots[at].uid != 0 && outbox->slots[at].uid != uid) {
        at = (at + 1) & (outbox->capacity - 1);
    }
    return &outbox->slots[at];
}

static troupe_err_t outbox_grow(trp_outbox_t *outbox)
{
    uint32_t capacity = outbox->capacity == 0 ? OUTBOX_CAPACITY_MIN : outbox->capacity * 2;
    trp_outbox_slot_t *slots = trp_calloc(capacity, sizeof(*slots));
    if (slots == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_outbox_slot_t *old = outbox->slots;
    uint32_t old_capacity = outbox->capacity;
    outbox->slots = slots;
    outbox->capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].uid != 0) {
            *outbox_slot(outbox, old[i].uid) = old[i];
        }
    }
    trp_free(old);
    return TROUPE_OK;
}

static trp_out_t *outbox_add(trp_outbox_t *outbox, trp_peer_t *peer)
{
    if (outbox->len * 2 >= outbox->capacity && outbox_grow(outbox) != TROUPE_OK) {
        return NULL;
    }
    trp_out_t *out = trp_calloc(1, sizeof(*out));
    if (out == NULL) {
        return NULL;
    }
    out->uid = peer->uid;
    out->peer = trp_peer_ref(peer);
    out->epoch = atomic_load(&peer->epoch);
    trp_parking_init(&out->parking);
    *outbox_slot(outbox, out->uid) = (trp_outbox_slot_t){out->uid, out};
    outbox->len++;
    /* Release: pairs with the acquire in count.c. */
    atomic_store_explicit(&peer->outs[outbox->d->index], out, memory_order_release);
    return out;
}

trp_out_t *trp_outbox_find_slow(trp_outbox_t *outbox, uint64_t uid, troupe_drop_t *ret_reason)
{
    trp_out_t *out = outbox->capacity > 0 ? outbox_slot(outbox, uid)->out : NULL;
    if (out == NULL) {
        trp_peers_t *registry = &outbox->link->registry;
        trp_peer_t *peer = uid != 0 ? trp_peers_find(registry, uid) : NULL;
        if (peer == NULL) {
            *ret_reason = trp_peers_is_dead(registry, uid) ? TROUPE_DROP_NODE_UNREACHABLE
                                                           : TROUPE_DROP_UNKNOWN_NODE;
            return NULL;
        }
        out = outbox_add(outbox, peer);
        trp_peer_unref(&peer);
        if (out == NULL) {
            *ret_reason = TROUPE_DROP_NO_MEMORY;
            return NULL;
        }
    }
    outbox->last = out;
    return out;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Another epoch: the peer doesn't know what was defined for it any more. */
static void outbox_renew(trp_out_t *out, uint32_t epoch)
{
    out->epoch = epoch;
    memset(out->types, 0, sizeof(out->types));
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(out->names); i++) {
        trp_free(out->names[i]);
        out->names[i] = NULL;
    }
}

trp_frame_t *trp_outbox_open(trp_outbox_t *outbox, trp_out_t *out)
{
    if (TRP_LIKELY(out->frame != NULL)) {
        return out->frame;
    }
    trp_frame_t *frame = trp_frame_take(&outbox->link->frames);
    if (frame == NULL) {
        return NULL;
    }
    uint32_t epoch = atomic_load_explicit(&out->peer->epoch, memory_order_relaxed);
    if (TRP_UNLIKELY(epoch != out->epoch)) {
        outbox_renew(out, epoch);
    }
    frame->epoch = epoch;
    out->frame = frame;
    out->size_flushed = 0;
    return frame;
}

void trp_outbox_hand_over(trp_outbox_t *outbox, trp_out_t *out, trp_frame_t *frame)
{
    frame->peer = trp_peer_ref(out->peer);
    atomic_fetch_add_explicit(&out->peer->outstanding, frame->size, memory_order_relaxed);
    trp_handover_push(&outbox->link->handover, &frame->item);
}

static void outbox_seal(trp_outbox_t *outbox, trp_out_t *out)
{
    trp_frame_t *frame = out->frame;
    out->frame = NULL;
    TRP_ASSERT(trp_frame_len(frame) > 0);
    atomic_store_explicit(&out->open_user, 0, memory_order_relaxed);
    atomic_store_explicit(&out->open_system, 0, memory_order_relaxed);
    trp_outbox_hand_over(outbox, out, frame);
}

void trp_outbox_wrote(trp_outbox_t *outbox, trp_out_t *out, size_t size, bool is_system)
{
    trp_frame_t *frame = out->frame;
    frame->size += (uint32_t)size;
    if (TRP_UNLIKELY(!out->is_dirty)) {
        out->is_dirty = true;
        out->next_dirty = outbox->dirty;
        outbox->dirty = out;
    }
    TRP_ASSERT_DEBUG(frame->size <= TRP_LINK_FRAME_SIZE_MAX);
    if (TRP_UNLIKELY(is_system)) {
        frame->system_len++;
        atomic_store_explicit(&out->open_system, frame->system_len, memory_order_relaxed);
    } else {
        frame->user_len++;
        atomic_store_explicit(&out->open_user, frame->user_len, memory_order_relaxed);
    }
    if (frame->size >= TRP_LINK_BATCH_SIZE) {
        outbox_seal(outbox, out);
    }
}

/* Whether the open frame may wait for another round: there will be one, as something was written in
 * this one; and a link thread that still has work to take would not send it sooner. */
static bool outbox_may_wait(const trp_outbox_t *outbox, trp_out_t *out)
{
    uint32_t size = out->frame->size;
    bool may_wait = size < TRP_LINK_BATCH_SMALL && size != out->size_flushed &&
                    !trp_handover_is_empty(&outbox->link->handover);
    out->size_flushed = size;
    return may_wait;
}

void trp_outbox_flush(void *context, trp_dispatcher_t *d)
{
    (void)context;
    trp_outbox_t *outbox = trp_outbox_of(d);
    if (TRP_LIKELY(outbox == NULL || outbox->dirty == NULL)) {
        return;
    }
    trp_out_t *out = outbox->dirty;
    outbox->dirty = NULL;
    while (out != NULL) {
        trp_out_t *next = out->next_dirty;
        out->is_dirty = false;
        if (out->frame != NULL && outbox_may_wait(outbox, out)) {
            out->is_dirty = true;
            out->next_dirty = outbox->dirty;
            outbox->dirty = out;
        } else if (out->frame != NULL) {
            outbox_seal(outbox, out);
        }
        out = next;
    }
}

/* ---- parked senders -------------------------------------------------------------------------- */

static void outbox_on_release(trp_dispatcher_t *d, void *payload, size_t size)
{
    (void)size;
    uint64_t uid = 0;
    memcpy(&uid, payload, sizeof(uid));
    trp_outbox_t *outbox = trp_outbox_of(d);
    if (outbox != NULL && outbox->capacity > 0) {
        trp_out_t *out = outbox_slot(outbox, uid)->out;
        if (out != NULL) {
            trp_parking_release(d, &out->parking);
        }
    }
}

void trp_outbox_post_release(trp_link_t *link, trp_peer_t *peer, uint32_t index)
{
    if (trp_endpoint_post(&link->endpoint, index, outbox_on_release, &peer->uid,
                          sizeof(peer->uid)) != TROUPE_OK) {
        /* Without memory now: the bit stays set, and the next ack or timer tries again. */
        atomic_fetch_or(&peer->parked[index / 64u], UINT64_C(1) << (index % 64u));
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

troupe_err_t trp_outbox_attach(void *context, trp_dispatcher_t *d)
{
    trp_outbox_t *outbox = trp_calloc(1, sizeof(*outbox));
    if (outbox == NULL) {
        return TROUPE_ENOMEM;
    }
    outbox->link = context;
    outbox->d = d;
    trp_holds_init(&outbox->holds);
    d->ext[TRP_EXT_LINK] = outbox;
    return TROUPE_OK;
}

static void outbox_drop_out(trp_outbox_t *outbox, trp_out_t *out)
{
    trp_peers_t *registry = &outbox->link->registry;
    trp_parking_release(outbox->d, &out->parking);
    outbox_renew(out, 0);
    if (out->frame != NULL && trp_frame_len(out->frame) > 0) {
        outbox_seal(outbox, out);
    } else if (out->frame != NULL) {
        trp_frame_unref(out->frame);
    }
    /* Under the mutex, as somebody may be counting. */
    (void)pthread_mutex_lock(&registry->mutex);
    atomic_store(&out->peer->outs[outbox->d->index], NULL);
    (void)pthread_mutex_unlock(&registry->mutex);
    trp_peer_unref(&out->peer);
    trp_free(out);
}

void trp_outbox_detach(void *context, trp_dispatcher_t *d)
{
    trp_outbox_t *outbox = trp_outbox_of(d);
    (void)context;
    trp_holds_fini(&outbox->holds, d, outbox->link);
    d->ext[TRP_EXT_LINK] = NULL;
    for (uint32_t i = 0; i < outbox->capacity; i++) {
        if (outbox->slots[i].uid != 0) {
            outbox_drop_out(outbox, outbox->slots[i].out);
        }
    }
    trp_free(outbox->slots);
    trp_free(outbox);
}
