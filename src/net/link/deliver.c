/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Giving frames to dispatchers, and delivering what is in them. */

#include "net/link/deliver.h"

#include <string.h>

#include "actor/activation.h"
#include "actor/deliver.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "net/link/credit.h"
#include "net/link/outbox.h"
#include "net/link/system_code.h"
#include "net/link/walk.h"

/* Bodies up to this size are copied into a cell; larger ones into a shared body. */
#define DELIVER_INLINE_SIZE_MAX (TRP_POOL_BLOCK_MAX - sizeof(trp_message_t) - 2 * sizeof(uint64_t))

/* Messages delivered between two runs of their receivers, and how long these may take a frame. */
#define DELIVER_GROUP 32u
#define DELIVER_SLICE_NS (UINT64_C(100) * TRP_NS_PER_US)

/* ---- one envelope ---------------------------------------------------------------------------- */

/* An envelope on a dispatcher, with what is known of it. */
typedef struct deliver_item {
    uint64_t uid;
    const trp_envelope_t *envelope;
    trp_view_t body;
    trp_body_t *shared; /* Borrowed: holds the bytes; NULL: they lie in `body`. */
    bool is_lost;       /* A bulk body that will not come. */
    bool is_first;
} deliver_item_t;

static troupe_ref_t deliver_sender(const deliver_item_t *item)
{
    const trp_envelope_t *envelope = item->envelope;
    if (envelope->sender == 0) {
        return troupe_ref_none();
    }
    bool is_foreign = (envelope->flags & TRP_ENVELOPE_FOREIGN) != 0;
    return (troupe_ref_t){is_foreign ? envelope->sender_node : item->uid, envelope->sender};
}

static void deliver_drop_user(trp_dispatcher_t *d, const deliver_item_t *item, troupe_drop_t reason)
{
    d->user.received++;
    trp_dispatcher_drop(d, reason, trp_dispatcher_ref(d, item->envelope->target),
                        deliver_sender(item), item->envelope->type, NULL);
}

/* Makes the object that the bytes stand for, as a body. TROUPE_DROP_LEN: it went well. */
static troupe_drop_t deliver_decode(trp_dispatcher_t *d, const trp_type_t *type, trp_view_t bytes,
                                    trp_body_t **ret_body)
{
    if (bytes.size > type->size_max) {
        return TROUPE_DROP_OVERSIZE;
    }
    trp_body_t *body = trp_body_new(&d->endpoint.runtime->depot, 0, false);
    if (body == NULL) {
        return TROUPE_DROP_OVERLOAD;
    }
    if (type->decode(bytes.data, bytes.size, &body->object) != TROUPE_OK) {
        trp_body_unref(body);
        return TROUPE_DROP_BAD_BODY;
    }
    body->is_object = true;
    body->free_object = type->free_object;
    body->type = type->id;
    *ret_body = body;
    return TROUPE_DROP_LEN;
}

static troupe_drop_t deliver_copy(trp_dispatcher_t *d, uint16_t type, trp_view_t bytes,
                                  trp_body_t **ret_body)
{
    trp_body_t *body = trp_body_new(&d->endpoint.runtime->depot, bytes.size, false);
    if (body == NULL) {
        return TROUPE_DROP_OVERLOAD;
    }
    memcpy(body->data, bytes.data, bytes.size);
    body->type = type;
    *ret_body = body;
    return TROUPE_DROP_LEN;
}

/* Checks the body against its type, and makes the shared body that is needed, if any: ret_body gets a
 * reference, or NULL when the bytes go as they are. */
static troupe_drop_t deliver_body(trp_dispatcher_t *d, const deliver_item_t *item,
                                  trp_body_t **ret_body)
{
    *ret_body = NULL;
    uint16_t id = item->envelope->type;
    const trp_type_t *type = id != 0 ? trp_types_at(d->types, id) : NULL;
    if (type == NULL) {
        return TROUPE_DROP_UNKNOWN_TYPE;
    }
    if (item->is_lost) {
        return TROUPE_DROP_LINK_LOST;
    }
    if (type->decode != NULL) {
        return deliver_decode(d, type, item->body, ret_body);
    }
    if (!trp_types_fits(d->types, (troupe_type_t){id}, item->body.size)) {
        return item->body.size > type->size_max ? TROUPE_DROP_OVERSIZE : TROUPE_DROP_BAD_BODY;
    }
    if (item->shared != NULL) {
        *ret_body = trp_body_ref(item->shared);
        return TROUPE_DROP_LEN;
    }
    return item->body.size > DELIVER_INLINE_SIZE_MAX ? deliver_copy(d, id, item->body, ret_body)
                                                     : TROUPE_DROP_LEN;
}

static void deliver_user(trp_dispatcher_t *d, const deliver_item_t *item)
{
    trp_body_t *body = NULL;
    troupe_drop_t reason = deliver_body(d, item, &body);
    if (reason != TROUPE_DROP_LEN) {
        deliver_drop_user(d, item, reason);
        return;
    }
    trp_incoming_t in = {
        .target = item->envelope->target,
        .sender = deliver_sender(item),
        .data = item->body.data,
        .size = item->body.size,
        .shared = body,
        .type = item->envelope->type,
        .origin = TRP_ORIGIN_RECEIVED,
    };
    trp_deliver_user(d, &in);
    if (body != NULL) {
        trp_body_unref(body);
    }
}

static void deliver_topic(trp_outbox_t *outbox, const deliver_item_t *item)
{
    const trp_envelope_t *envelope = item->envelope;
    trp_body_t *body = NULL;
    troupe_drop_t reason = deliver_body(outbox->d, item, &body);
    trp_link_topic_in_t in = {
        .uid = item->uid,
        .topic = (uint32_t)envelope->target,
        .group = (uint32_t)(envelope->target >> 32),
        .route = (uint8_t)(envelope->flags >> TRP_ENVELOPE_ROUTE_SHIFT),
        .is_first = item->is_first,
        .has_token = (envelope->flags & TRP_ENVELOPE_TOKEN) != 0,
        .token = envelope->token,
        .sender = deliver_sender(item),
        .type = envelope->type,
        .is_dropped = reason != TROUPE_DROP_LEN,
        .reason = reason,
        .body = item->body,
        .shared = body,
    };
    outbox->link->topics.deliver(outbox->link->topics.context, outbox->d, &in);
    if (body != NULL) {
        trp_body_unref(body);
    }
}

static void deliver_system(trp_dispatcher_t *d, const deliver_item_t *item)
{
    trp_incoming_t in = {
        .target = item->envelope->target,
        .sender = deliver_sender(item),
        .data = item->body.data,
        .size = item->body.size,
        .type = item->envelope->type,
        .origin = TRP_ORIGIN_RECEIVED,
    };
    trp_deliver_system(d, &in, trp_system_kind_of(item->envelope->type));
}

static void deliver_item(trp_outbox_t *outbox, const deliver_item_t *item)
{
    trp_dispatcher_t *d = outbox->d;
    switch (item->envelope->kind) {
    case TRP_ENVELOPE_USER:
        deliver_user(d, item);
        break;
    case TRP_ENVELOPE_SYSTEM:
        deliver_system(d, item);
        break;
    case TRP_ENVELOPE_TOPIC:
        deliver_topic(outbox, item);
        break;
    default:
        break;
    }
}

/* ---- holding back ---------------------------------------------------------------------------- */

/* Counts a message that could not be put aside. */
static void deliver_drop(trp_outbox_t *outbox, const deliver_item_t *item, troupe_drop_t reason)
{
    if (item->envelope->kind == TRP_ENVELOPE_SYSTEM) {
        outbox->d->system.received++;
        trp_dispatcher_drop_system(outbox->d, reason);
    } else if (item->envelope->kind == TRP_ENVELOPE_USER || item->is_first) {
        deliver_drop_user(outbox->d, item, reason);
    }
}

/* A stand-in: its body may have come already, else a hold begins. */
static void deliver_standin(trp_outbox_t *outbox, const deliver_item_t *item)
{
    trp_standin_t standin = trp_wire_get_standin(item->body.data);
    trp_body_t *body = NULL;
    if (!trp_holds_take(&outbox->holds, item->uid, standin.bulk_id, &body)) {
        if (trp_holds_begin(&outbox->holds, item->uid, item->envelope, standin.bulk_id,
                            item->is_first) != TROUPE_OK) {
            deliver_drop(outbox, item, TROUPE_DROP_NO_MEMORY);
        }
        return;
    }
    deliver_item_t whole = *item;
    whole.shared = body;
    whole.is_lost = body == NULL;
    whole.body =
        body != NULL ? trp_view_make(trp_body_bytes(body), body->size) : trp_view_make(NULL, 0);
    deliver_item(outbox, &whole);
    if (body != NULL) {
        trp_body_unref(body);
    }
}

/* Delivers, or puts aside behind a hold of the same pair. */
static void deliver_or_hold(trp_outbox_t *outbox, const deliver_item_t *item)
{
    if (TRP_UNLIKELY(outbox->holds.len > 0)) {
        trp_hold_t *hold = trp_holds_match(&outbox->holds, item->uid, item->envelope);
        if (hold != NULL) {
            if (trp_holds_add(outbox->link, hold, item->envelope, item->body, item->is_first) !=
                TROUPE_OK) {
                deliver_drop(outbox, item, TROUPE_DROP_OVERLOAD);
            }
            return;
        }
    }
    if (TRP_UNLIKELY((item->envelope->flags & TRP_ENVELOPE_STANDIN) != 0)) {
        deliver_standin(outbox, item);
        return;
    }
    deliver_item(outbox, item);
}

/* The body that a hold has waited for is here, or will not come. */
static void deliver_end_hold(trp_outbox_t *outbox, trp_hold_t *hold, trp_body_t *body)
{
    deliver_item_t item = {
        .uid = hold->uid,
        .envelope = &hold->envelope,
        .shared = body,
        .is_lost = body == NULL,
        .is_first = hold->is_first,
    };
    if (body != NULL) {
        item.body = trp_view_make(trp_body_bytes(body), body->size);
    }
    deliver_item(outbox, &item);
    trp_held_t *held = NULL;
    while ((held = trp_hold_next(hold)) != NULL) {
        deliver_item_t next = {
            .uid = hold->uid,
            .envelope = &held->envelope,
            .body = trp_view_make(held->body, held->size),
            .is_first = held->is_first,
        };
        deliver_or_hold(outbox, &next);
        trp_held_free(outbox->link, held);
    }
    trp_free(hold);
}

/* ---- frames on a dispatcher ------------------------------------------------------------------ */

/* An envelope that is not a plain message to an actor of this dispatcher. */
static TRP_NOINLINE void deliver_other(trp_outbox_t *outbox, const trp_received_t *received,
                                       trp_view_t bytes)
{
    trp_envelope_t envelope;
    trp_view_t body;
    if (trp_wire_take_envelope(&bytes, &envelope, &body) != TROUPE_OK) {
        return; /* The link thread has checked it: this can't be. */
    }
    trp_dispatcher_t *d = outbox->d;
    bool is_first = received->first == d->index;
    deliver_item_t item = {
        .uid = received->peer->uid, .envelope = &envelope, .body = body, .is_first = is_first};
    if (envelope.kind == TRP_ENVELOPE_TOPIC ||
        ((envelope.kind == TRP_ENVELOPE_USER || envelope.kind == TRP_ENVELOPE_SYSTEM) &&
         trp_id_dispatcher(envelope.target) == d->index)) {
        deliver_or_hold(outbox, &item);
    } else if (envelope.kind == TRP_ENVELOPE_VOID && is_first) {
        d->user.received++;
        trp_dispatcher_drop(d, (troupe_drop_t)envelope.type, troupe_ref_none(),
                            deliver_sender(&item), 0, NULL);
    }
}

/* A cell for a message of another node, as trp_deliver_user makes it, without its choices: most of a
 * link's messages go this way. NULL without memory. */
static inline trp_message_t *deliver_cell(trp_dispatcher_t *d, uint64_t uid, const uint8_t *at,
                                          size_t size)
{
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 1, size, false);
    if (TRP_UNLIKELY(message == NULL)) {
        return NULL;
    }
    message->flags = TRP_MESSAGE_FOREIGN;
    message->type = trp_load_le16(at + 6);
    message->target = trp_load_le64(at + 8);
    message->sender = trp_load_le64(at + 16);
    trp_message_extension(message)[0] = uid;
    if (size == 32) {
        memcpy(trp_message_extension(message) + 1, at + TRP_WIRE_ENVELOPE_SIZE, 32);
    } else if (size > 0) {
        memcpy(trp_message_extension(message) + 1, at + TRP_WIRE_ENVELOPE_SIZE, size);
    }
    return message;
}

/* The plain case: bytes that go into a cell as they are, from somebody. */
static inline void deliver_plain(trp_dispatcher_t *d, uint64_t uid, const uint8_t *at, size_t size)
{
    trp_message_t *message = NULL;
    if (TRP_LIKELY(trp_load_le64(at + 16) != 0)) {
        message = deliver_cell(d, uid, at, size);
    }
    if (TRP_LIKELY(message != NULL)) {
        d->user.received++;
        trp_deliver(d, message);
        return;
    }
    uint64_t sender = trp_load_le64(at + 16);
    trp_incoming_t in = {
        .target = trp_load_le64(at + 8),
        .sender = {sender != 0 ? uid : 0, sender},
        .data = at + TRP_WIRE_ENVELOPE_SIZE,
        .size = size,
        .type = trp_load_le16(at + 6),
        .origin = TRP_ORIGIN_RECEIVED,
    };
    trp_deliver_user(d, &in);
}

/* Lets the receivers of the last few messages run before the next few are delivered, so that their
 * cells are used again while they are in the nearest cache. Not for longer than a slice a frame: timers
 * and other channels wait meanwhile. False when the slice is over. */
static bool deliver_run(trp_dispatcher_t *d, uint64_t *end_ns)
{
    if (*end_ns == 0) {
        *end_ns = trp_clock_now() + DELIVER_SLICE_NS;
    }
    for (uint32_t ran = 0; d->run_first != NULL && ran < DELIVER_GROUP; ran++) {
        trp_activation_run(d);
    }
    return trp_clock_now() < *end_ns;
}

static void deliver_frame(trp_outbox_t *outbox, const trp_received_t *received)
{
    trp_dispatcher_t *d = outbox->d;
    uint32_t group = 0;
    uint64_t end_ns = 0;
    bool may_run = true;
    const uint8_t *at = received->data + TRP_WIRE_FRAME_SIZE;
    const uint8_t *end = received->data + received->size;
    const uint32_t plain = trp_wire_kind_word(TRP_ENVELOPE_USER, 0, 0);
    const uint64_t uid = received->peer->uid;
    while (at < end) {
        uint32_t size = trp_load_le32(at);
        uint32_t word = trp_load_le32(at + 4);
        bool is_plain = (word & 0xffffu) == plain;
        if (TRP_LIKELY(is_plain && trp_id_dispatcher(trp_load_le64(at + 8)) != d->index)) {
            at += trp_wire_envelope_size(0, size);
            continue;
        }
        size_t whole = trp_wire_envelope_size((uint8_t)(word >> 8), size);
        if (TRP_LIKELY(is_plain && outbox->holds.len == 0 && size <= DELIVER_INLINE_SIZE_MAX &&
                       trp_types_fits(d->types, (troupe_type_t){(uint16_t)(word >> 16)}, size))) {
            deliver_plain(d, uid, at, size);
            if (++group % DELIVER_GROUP == 0 && may_run) {
                may_run = deliver_run(d, &end_ns);
            }
        } else {
            deliver_other(outbox, received, trp_view_make(at, whole));
        }
        at += whole;
    }
}

void trp_deliver_on_frame(trp_dispatcher_t *d, void *payload, size_t size)
{
    (void)size;
    trp_received_t *received = NULL;
    memcpy(&received, payload, sizeof(received));
    trp_outbox_t *outbox = trp_outbox_of(d);
    if (TRP_LIKELY(outbox != NULL)) {
        deliver_frame(outbox, received);
    }
    trp_received_unref(received);
}

/* ---- bulk bodies on a dispatcher ------------------------------------------------------------- */

void trp_deliver_on_bulk(trp_dispatcher_t *d, void *payload, size_t size)
{
    (void)size;
    trp_deliver_bulk_t bulk;
    memcpy(&bulk, payload, sizeof(bulk));
    trp_outbox_t *outbox = trp_outbox_of(d);
    if (outbox != NULL) {
        trp_hold_t *hold = trp_holds_end(&outbox->holds, bulk.uid, bulk.bulk_id);
        if (hold != NULL) {
            deliver_end_hold(outbox, hold, bulk.body);
        } else {
            /* Without memory the stand-in will wait in vain, and is counted at the end. */
            (void)trp_holds_keep(&outbox->holds, bulk.uid, bulk.bulk_id, bulk.body);
        }
    }
    if (bulk.body != NULL) {
        trp_body_unref(bulk.body);
    }
}
