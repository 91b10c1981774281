/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Writing envelopes: messages, system messages and publishes, with the definitions they need. */

#include <string.h>

#include "actor/body.h"
#include "base/assert.h"
#include "base/memory.h"
#include "net/link/credit.h"
#include "net/link/outbox.h"
#include "net/link/system_code.h"

/* System messages may go this many times further than users' before they are dropped too. */
#define SEND_SYSTEM_SHARE 4u

static const trp_remote_verdict_t send_taken = {true, TROUPE_DROP_NO_ACTOR, NULL};

static trp_remote_verdict_t send_refused(troupe_drop_t reason)
{
    return (trp_remote_verdict_t){false, reason, NULL};
}

/* ---- admission ------------------------------------------------------------------------------- */

/* Parks the sender, unless there is room by the time that the link thread can see that somebody is. */
static trp_parking_t *send_park(trp_outbox_t *outbox, trp_out_t *out)
{
    trp_peer_t *peer = out->peer;
    uint32_t index = outbox->d->index;
    atomic_fetch_or(&peer->parked[index / 64u], UINT64_C(1) << (index % 64u));
    /* Sequentially consistent: pairs with trp_credit_unpark. */
    bool has_room = atomic_load(&peer->is_stalled) ||
                    (atomic_load(&peer->outstanding) < outbox->link->park_mark &&
                     atomic_load(&peer->bulk_outstanding) < TRP_LINK_BULK_QUEUE_MARK);
    return has_room ? NULL : &out->parking;
}

/* What to do with a message to a peer that is not simply up with room: false drops it. */
static TRP_NOINLINE bool send_admit_slow(trp_outbox_t *outbox, trp_out_t *out,
                                         const trp_outgoing_t *what, trp_remote_verdict_t *verdict)
{
    trp_peer_t *peer = out->peer;
    if (trp_peer_state(peer) == TRP_LINK_DEAD) {
        *verdict = send_refused((troupe_drop_t)atomic_load(&peer->drop_reason));
        return false;
    }
    uint64_t max = outbox->link->queue_max;
    uint64_t outstanding = atomic_load(&peer->outstanding);
    bool is_bulk_full = what->size > TRP_LINK_ORDINARY_SIZE_MAX &&
                        atomic_load(&peer->bulk_outstanding) >= TRP_LINK_BULK_QUEUE_MAX;
    if (is_bulk_full || outstanding >= (what->is_system ? SEND_SYSTEM_SHARE * max : max)) {
        atomic_fetch_add_explicit(&peer->queue_full, 1, memory_order_relaxed);
        *verdict = send_refused(TROUPE_DROP_LINK_QUEUE_FULL);
        return false;
    }
    *verdict = send_taken;
    if (!what->is_system && trp_credit_is_short(outbox->link, peer)) {
        verdict->parking = send_park(outbox, out);
    }
    return true;
}

static inline bool send_admit(trp_outbox_t *outbox, trp_out_t *out, const trp_outgoing_t *what,
                              trp_remote_verdict_t *verdict)
{
    *verdict = send_taken;
    if (TRP_LIKELY(trp_peer_state(out->peer) == TRP_LINK_UP &&
                   !trp_credit_is_short(outbox->link, out->peer))) {
        return true;
    }
    return send_admit_slow(outbox, out, what, verdict);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static inline bool send_knows_type(const trp_out_t *out, uint16_t type)
{
    return (out->types[type / 64u % TRP_ARRAY_LEN(out->types)] >> (type % 64u) & 1u) != 0;
}

/* Writes a definition envelope and returns its size. `head_size` bytes of head, then the name. */
static size_t send_definition(uint8_t *at, const trp_envelope_t *envelope, const uint8_t *head,
                              size_t head_size, trp_view_t name)
{
    uint8_t *body = trp_wire_put_envelope(at, envelope);
    memcpy(body, head, head_size);
    memcpy(body + head_size, name.data, name.size);
    return trp_wire_envelope_size(0, head_size + name.size);
}

static TRP_NOINLINE size_t send_define_type(trp_outbox_t *outbox, trp_out_t *out, uint8_t *at,
                                            uint16_t id)
{
    const trp_type_t *type = trp_types_at(outbox->d->types, id);
    if (type == NULL || id >= TRP_LINK_TYPES_MAX) {
        return 0; /* The peer will not know it: counted there. */
    }
    out->types[id / 64u] |= UINT64_C(1) << (id % 64u);
    trp_view_t name = trp_view_from_string(type->name);
    uint8_t head[TRP_WIRE_TYPE_DEFINITION_SIZE];
    trp_store_le64(head, type->version);
    trp_envelope_t envelope = {
        .kind = TRP_ENVELOPE_TYPE, .type = id, .size = (uint32_t)(sizeof(head) + name.size)};
    return send_definition(at, &envelope, head, sizeof(head), name);
}

/* The generation that the peer knows under the id; NULL without memory or out of bounds. */
static uint32_t *send_known_name(trp_out_t *out, uint32_t id)
{
    if (id >= TRP_LINK_NAMES_MAX) {
        return NULL;
    }
    uint32_t **page = &out->names[id / TRP_OUTBOX_NAME_PAGE];
    if (TRP_UNLIKELY(*page == NULL)) {
        *page = trp_calloc(TRP_OUTBOX_NAME_PAGE, sizeof(**page));
    }
    return *page != NULL ? &(*page)[id % TRP_OUTBOX_NAME_PAGE] : NULL;
}

/* Whether a name can be defined, if it must be. */
static bool send_can_define(trp_out_t *out, const trp_link_name_t *name)
{
    return name->id == 0 || (send_known_name(out, name->id) != NULL &&
                             name->bytes.size <= TRP_LINK_TOPIC_NAME_SIZE_MAX);
}

/* Defines a name if the peer doesn't know it; it can be. */
static void send_define_name(trp_out_t *out, uint8_t **at_p, const trp_link_name_t *name)
{
    uint32_t *known = name->id != 0 ? send_known_name(out, name->id) : NULL;
    if (TRP_LIKELY(known == NULL || *known == name->generation)) {
        return;
    }
    *known = name->generation;
    uint8_t head[TRP_WIRE_NAME_DEFINITION_SIZE];
    trp_store_le32(head, name->generation);
    head[4] = name->space;
    trp_envelope_t envelope = {.kind = TRP_ENVELOPE_NAME,
                               .target = name->id,
                               .size = (uint32_t)(sizeof(head) + name->bytes.size)};
    *at_p += send_definition(*at_p, &envelope, head, sizeof(head), name->bytes);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The bytes to send: the caller's, a shared body's, or an object's encoding as a new body. */
typedef struct send_bytes {
    trp_view_t view;
    trp_body_t *body; /* Reference to what holds them; NULL: the caller does. */
} send_bytes_t;

/* Encodes an object into a body of its own. */
static troupe_drop_t send_encode_body(trp_outbox_t *outbox, const trp_type_t *type,
                                      const trp_body_t *object, size_t size, send_bytes_t *bytes)
{
    trp_depot_t *depot = &outbox->link->runtime->depot;
    bytes->body = trp_body_new(depot, size, false);
    if (bytes->body == NULL) {
        return TROUPE_DROP_OVERLOAD;
    }
    size_t written = 0;
    if (type->encode(object->object, bytes->body->data, size, &written) != TROUPE_OK ||
        written > size) {
        trp_body_unref(bytes->body);
        bytes->body = NULL;
        return TROUPE_DROP_BAD_BODY;
    }
    bytes->view = trp_view_make(bytes->body->data, written);
    return TROUPE_DROP_LEN;
}

/* Finds how large an object's encoding is. TROUPE_DROP_LEN: it went well. */
static troupe_drop_t send_encode(trp_outbox_t *outbox, const trp_body_t *object,
                                 send_bytes_t *bytes)
{
    const trp_type_t *type = trp_types_at(outbox->d->types, object->type);
    if (type == NULL || type->encode == NULL) {
        return TROUPE_DROP_UNKNOWN_TYPE;
    }
    uint8_t probe[256];
    size_t size = 0;
    if (type->encode(object->object, probe, sizeof(probe), &size) != TROUPE_OK) {
        return TROUPE_DROP_BAD_BODY;
    }
    if (size > type->size_max || size > TROUPE_BULK_SIZE_MAX) {
        return TROUPE_DROP_OVERSIZE;
    }
    return send_encode_body(outbox, type, object, size, bytes);
}

static troupe_drop_t send_gather(trp_outbox_t *outbox, const trp_outgoing_t *what,
                                 send_bytes_t *bytes)
{
    *bytes = (send_bytes_t){trp_view_make(what->data, what->size), NULL};
    if (what->shared != NULL) {
        if (what->shared->is_object) {
            return send_encode(outbox, what->shared, bytes);
        }
        bytes->body = trp_body_ref(what->shared);
        bytes->view = trp_view_make(trp_body_bytes(what->shared), what->shared->size);
    }
    return bytes->view.size > TROUPE_BULK_SIZE_MAX ? TROUPE_DROP_OVERSIZE : TROUPE_DROP_LEN;
}

/* ---- bulk ------------------------------------------------------------------------------------ */

static trp_body_t *send_bulk_body(trp_outbox_t *outbox, const send_bytes_t *bytes)
{
    if (bytes->body != NULL) {
        return trp_body_ref(bytes->body);
    }
    trp_body_t *body = trp_body_new(&outbox->link->runtime->depot, bytes->view.size, false);
    if (body != NULL) {
        memcpy(body->data, bytes->view.data, bytes->view.size);
    }
    return body;
}

/* Gives a large body to the link thread and writes its stand-in's body. */
static troupe_drop_t send_bulk(trp_outbox_t *outbox, trp_out_t *out, const send_bytes_t *bytes,
                               uint8_t standin[TRP_WIRE_STANDIN_SIZE])
{
    trp_body_t *body = send_bulk_body(outbox, bytes);
    trp_bulk_out_t *bulk = trp_alloc(sizeof(*bulk));
    if (bulk == NULL || body == NULL) {
        if (body != NULL) {
            trp_body_unref(body);
        }
        trp_free(bulk);
        return TROUPE_DROP_OVERLOAD;
    }
    uint64_t id = atomic_fetch_add_explicit(&out->peer->bulk_next, 1, memory_order_relaxed);
    *bulk = (trp_bulk_out_t){{NULL, TRP_ITEM_BULK}, NULL, trp_peer_ref(out->peer), body, id, 0};
    trp_standin_t what = {id, body->size};
    trp_wire_put_standin(standin, &what);
    atomic_fetch_add_explicit(&out->peer->bulk_outstanding, body->size, memory_order_relaxed);
    trp_handover_push(&outbox->link->handover, &bulk->item);
    return TROUPE_DROP_LEN;
}

/* ---- envelopes ------------------------------------------------------------------------------- */

/* Copies a body and zeroes its padding: what was in the frame before is nobody's business. */
static inline void send_copy(uint8_t *to, trp_view_t from)
{
    if (TRP_LIKELY(from.size == 32)) {
        memcpy(to, from.data, 32); /* The common case without a call. */
        return;
    }
    if (from.size > 0) {
        trp_store_le64(to + (trp_wire_pad(from.size) - TRP_WIRE_ALIGN), 0);
        memcpy(to, from.data, from.size);
    }
}

/* Writes the envelope behind `at`, which is in the open frame, and counts it. */
static void send_finish(trp_outbox_t *outbox, trp_out_t *out, uint8_t *at, trp_envelope_t *envelope,
                        trp_view_t body)
{
    envelope->size = (uint32_t)body.size;
    uint8_t *to = trp_wire_put_envelope(at, envelope);
    send_copy(to, body);
    uint8_t *end = at + trp_wire_envelope_size(envelope->flags, body.size);
    trp_outbox_wrote(outbox, out, (size_t)(end - (out->frame->data + out->frame->size)),
                     envelope->kind == TRP_ENVELOPE_SYSTEM);
}

static void send_set_sender(const trp_outbox_t *outbox, trp_envelope_t *envelope,
                            troupe_ref_t sender)
{
    envelope->sender = sender.id;
    if (sender.node != outbox->d->uid && sender.node != 0) {
        envelope->flags |= TRP_ENVELOPE_FOREIGN;
        envelope->sender_node = sender.node;
    }
}

/* Writes definitions and the envelope into the open frame. Nothing can fail any more. */
static void send_write(trp_outbox_t *outbox, trp_out_t *out, const trp_link_publish_t *publish,
                       trp_envelope_t *envelope, trp_view_t body)
{
    uint8_t *at = out->frame->data + out->frame->size;
    if (publish != NULL) {
        send_define_name(out, &at, &publish->topic);
        send_define_name(out, &at, &publish->group);
    }
    if (envelope->kind != TRP_ENVELOPE_SYSTEM && !send_knows_type(out, envelope->type)) {
        at += send_define_type(outbox, out, at, envelope->type);
    }
    send_finish(outbox, out, at, envelope, body);
}

/* The long way of an envelope: any body, any sender, a publish's names. */
static TRP_NOINLINE troupe_drop_t send_any(trp_outbox_t *outbox, trp_out_t *out,
                                           const trp_outgoing_t *what,
                                           const trp_link_publish_t *publish,
                                           trp_envelope_t *envelope)
{
    if (trp_outbox_open(outbox, out) == NULL) {
        return TROUPE_DROP_NO_MEMORY;
    }
    if (publish != NULL &&
        (!send_can_define(out, &publish->topic) || !send_can_define(out, &publish->group))) {
        return TROUPE_DROP_OVERSIZE;
    }
    send_bytes_t bytes;
    troupe_drop_t err = send_gather(outbox, what, &bytes);
    if (err != TROUPE_DROP_LEN) {
        return err;
    }
    uint8_t standin[TRP_WIRE_STANDIN_SIZE];
    trp_view_t body = bytes.view;
    if (bytes.view.size > TRP_LINK_ORDINARY_SIZE_MAX) {
        envelope->flags |= TRP_ENVELOPE_STANDIN;
        body = trp_view_make(standin, sizeof(standin));
        err = send_bulk(outbox, out, &bytes, standin);
    }
    if (err == TROUPE_DROP_LEN) {
        send_write(outbox, out, publish, envelope, body);
    }
    if (bytes.body != NULL) {
        trp_body_unref(bytes.body);
    }
    return err;
}

/* ---- the port -------------------------------------------------------------------------------- */

/* A system message that overtakes: in a frame of its own for the control lane. */
static TRP_NOINLINE troupe_drop_t send_urgent(trp_outbox_t *outbox, trp_out_t *out,
                                              const trp_envelope_t *envelope, trp_view_t body)
{
    trp_frame_t *frame = trp_frame_take(&outbox->link->frames);
    if (frame == NULL) {
        return TROUPE_DROP_NO_MEMORY;
    }
    frame->lane = TRP_LANE_CONTROL;
    frame->epoch = atomic_load_explicit(&out->peer->epoch, memory_order_relaxed);
    send_copy(trp_wire_put_envelope(frame->data + frame->size, envelope), body);
    frame->size += (uint32_t)trp_wire_envelope_size(envelope->flags, body.size);
    frame->system_len = 1;
    trp_outbox_hand_over(outbox, out, frame);
    return TROUPE_DROP_LEN;
}

static TRP_NOINLINE troupe_drop_t send_slow(trp_outbox_t *outbox, trp_out_t *out,
                                            const trp_outgoing_t *what)
{
    trp_envelope_t envelope = {
        .kind = what->is_system ? TRP_ENVELOPE_SYSTEM : TRP_ENVELOPE_USER,
        .type = what->is_system ? trp_system_code_of(what->type) : what->type,
        .target = what->to.id,
    };
    send_set_sender(outbox, &envelope, what->sender);
    if (what->is_urgent && what->shared == NULL) {
        envelope.size = (uint32_t)what->size;
        return send_urgent(outbox, out, &envelope, trp_view_make(what->data, what->size));
    }
    return send_any(outbox, out, what, NULL, &envelope);
}

/* A small message of bytes, of a type that the peer knows, from an actor of this node. */
static inline bool send_is_plain(const trp_outbox_t *outbox, const trp_out_t *out,
                                 const trp_outgoing_t *what)
{
    return what->shared == NULL && !what->is_system && what->size <= TRP_LINK_ORDINARY_SIZE_MAX &&
           out->frame != NULL && what->sender.node == outbox->d->uid &&
           send_knows_type(out, what->type);
}

trp_remote_verdict_t trp_outbox_send(void *context, trp_dispatcher_t *d, const trp_outgoing_t *what)
{
    (void)context;
    trp_outbox_t *outbox = trp_outbox_of(d);
    if (TRP_UNLIKELY(outbox == NULL)) {
        return send_refused(TROUPE_DROP_NODE_UNREACHABLE);
    }
    trp_out_t *out = outbox->last;
    if (TRP_UNLIKELY(out == NULL || out->uid != what->to.node)) {
        troupe_drop_t reason = TROUPE_DROP_UNKNOWN_NODE;
        out = trp_outbox_find_slow(outbox, what->to.node, &reason);
        if (out == NULL) {
            return send_refused(reason);
        }
    }
    trp_remote_verdict_t verdict;
    if (!send_admit(outbox, out, what, &verdict)) {
        return verdict;
    }
    if (TRP_LIKELY(send_is_plain(outbox, out, what))) {
        uint8_t *at = out->frame->data + out->frame->size;
        trp_wire_put_fixed(at, (uint32_t)what->size,
                           trp_wire_kind_word(TRP_ENVELOPE_USER, 0, what->type), what->to.id,
                           what->sender.id);
        send_copy(at + TRP_WIRE_ENVELOPE_SIZE, trp_view_make(what->data, what->size));
        trp_outbox_wrote(outbox, out, trp_wire_envelope_size(0, what->size), false);
        return verdict;
    }
    troupe_drop_t reason = send_slow(outbox, out, what);
    return reason == TROUPE_DROP_LEN ? verdict : send_refused(reason);
}

/* ---- publishes ------------------------------------------------------------------------------- */

/* Whether the peer knows a name already. */
static inline bool send_knows_name(const trp_out_t *out, const trp_link_name_t *name)
{
    if (name->id == 0) {
        return true;
    }
    const uint32_t *page =
        name->id < TRP_LINK_NAMES_MAX ? out->names[name->id / TRP_OUTBOX_NAME_PAGE] : NULL;
    return page != NULL && page[name->id % TRP_OUTBOX_NAME_PAGE] == name->generation;
}

/* A publish of few bytes of which nothing has to be defined. */
static inline bool send_is_plain_publish(const trp_out_t *out, const trp_link_publish_t *publish,
                                         trp_view_t *ret_bytes)
{
    const trp_outgoing_t *body = &publish->body;
    *ret_bytes = trp_view_make(body->data, body->size);
    if (body->shared != NULL) {
        *ret_bytes = trp_view_make(trp_body_bytes(body->shared), body->shared->size);
    }
    return out->frame != NULL && ret_bytes->size <= TRP_LINK_ORDINARY_SIZE_MAX &&
           (body->shared == NULL || !body->shared->is_object) &&
           send_knows_name(out, &publish->topic) && send_knows_name(out, &publish->group) &&
           send_knows_type(out, body->type);
}

trp_remote_verdict_t trp_link_publish(trp_link_t *link, trp_dispatcher_t *d, uint64_t uid,
                                      const trp_link_publish_t *publish)
{
    TRP_ASSERT(publish->route < TRP_LINK_ROUTES);
    (void)link;
    trp_outbox_t *outbox = trp_outbox_of(d);
    if (outbox == NULL) {
        return send_refused(TROUPE_DROP_NODE_UNREACHABLE);
    }
    trp_out_t *out = outbox->last;
    if (out == NULL || out->uid != uid) {
        troupe_drop_t reason = TROUPE_DROP_UNKNOWN_NODE;
        out = trp_outbox_find_slow(outbox, uid, &reason);
        if (out == NULL) {
            return send_refused(reason);
        }
    }
    trp_remote_verdict_t verdict;
    if (!send_admit(outbox, out, &publish->body, &verdict)) {
        return verdict;
    }
    trp_envelope_t envelope = {
        .kind = TRP_ENVELOPE_TOPIC,
        .flags = (uint8_t)(publish->route << TRP_ENVELOPE_ROUTE_SHIFT |
                           (publish->has_token ? TRP_ENVELOPE_TOKEN : 0)),
        .type = publish->body.type,
        .target = publish->topic.id | (uint64_t)publish->group.id << 32,
        .token = publish->token,
    };
    send_set_sender(outbox, &envelope, publish->body.sender);
    trp_view_t bytes;
    if (TRP_LIKELY(send_is_plain_publish(out, publish, &bytes))) {
        send_finish(outbox, out, out->frame->data + out->frame->size, &envelope, bytes);
        return verdict;
    }
    troupe_drop_t reason = send_any(outbox, out, &publish->body, publish, &envelope);
    return reason == TROUPE_DROP_LEN ? verdict : send_refused(reason);
}
