/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Receiving. */

#include "net/link/receive.h"

#include "base/assert.h"
#include "base/clock.h"
#include "net/link/bulk_lane.h"
#include "net/link/credit.h"
#include "net/link/deliver.h"
#include "net/link/handshake.h"
#include "net/link/ins.h"
#include "net/link/session.h"
#include "net/link/stream.h"
#include "net/link/walk.h"

/* A whole ZeroMQ message: routing id, frame and, of a chunk, its bytes. */
typedef struct receive_parts {
    zmq_msg_t routing_id;
    zmq_msg_t frame;
    zmq_msg_t bytes;
    bool has_bytes;
} receive_parts_t;

static trp_view_t receive_view(zmq_msg_t *part)
{
    return trp_view_make(zmq_msg_data(part), zmq_msg_size(part));
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Tells the bulk lane of the stand-ins in a frame that was given to the dispatchers. */
static troupe_err_t receive_standins(trp_link_t *link, trp_peer_t *peer, const trp_walk_t *walk,
                                     trp_view_t envelopes)
{
    troupe_err_t err = TROUPE_OK;
    while (err == TROUPE_OK && envelopes.size > 0) {
        trp_envelope_t envelope;
        trp_view_t body;
        err = trp_wire_take_envelope(&envelopes, &envelope, &body);
        if (err == TROUPE_OK && (envelope.flags & TRP_ENVELOPE_STANDIN) != 0) {
            uint64_t mask[TRP_LINK_MASK_WORDS] = {0}; /* Nobody waits for what is void. */
            if (envelope.kind != TRP_ENVELOPE_VOID) {
                trp_walk_mask(walk, &envelope, mask);
            }
            trp_standin_t standin = trp_wire_get_standin(body.data);
            err = trp_bulk_lane_on_standin(link, peer, &standin, envelope.type, mask);
        }
    }
    return err;
}

/* A frame that is next in its lane. */
static troupe_err_t receive_new(trp_link_t *link, trp_peer_t *peer, zmq_msg_t *message,
                                const trp_frame_header_t *header, uint64_t *next)
{
    uint8_t *data = (uint8_t *)zmq_msg_data(message) + TRP_WIRE_FRAME_SIZE;
    size_t size = zmq_msg_size(message) - TRP_WIRE_FRAME_SIZE;
    trp_walk_t walk = {.numbers = &peer->numbers,
                       .dispatchers = link->runtime != NULL ? link->runtime->len : 0};
    troupe_err_t err = trp_walk_frame(&walk, data, size);
    if (err != TROUPE_OK || walk.numbered != header->count || walk.numbered == 0) {
        return err != TROUPE_OK ? err : TROUPE_EPROTOCOL;
    }
    /* The stand-ins are read before the message is given away: no dispatcher can be done with the
     * frame before this thread publishes its task, but the copy of the view would be. */
    zmq_msg_t kept;
    (void)zmq_msg_init(&kept);
    if (walk.has_standins) {
        (void)zmq_msg_copy(&kept, message);
    }
    err = trp_deliver_post_frame(link, peer, message, walk.mask);
    if (err == TROUPE_OK) {
        *next += header->count;
        trp_counter_add(&peer->messages_in, header->count);
        trp_counter_add(&peer->unknown_types, walk.unknown_types);
        trp_credit_owe(link, peer);
    }
    if (err == TROUPE_OK && walk.has_standins) {
        trp_view_t whole = receive_view(&kept);
        err = receive_standins(
            link, peer, &walk,
            trp_view_make(whole.data + TRP_WIRE_FRAME_SIZE, whole.size - TRP_WIRE_FRAME_SIZE));
    }
    (void)zmq_msg_close(&kept);
    return err;
}

static troupe_err_t receive_data(trp_link_t *link, trp_in_t *in, zmq_msg_t *message,
                                 const trp_frame_header_t *header)
{
    trp_peer_t *peer = in->peer;
    if (header->lane != in->lane || in->lane == TRP_LANE_BULK) {
        return TROUPE_EPROTOCOL;
    }
    uint64_t *next = in->lane == TRP_LANE_CONTROL ? &peer->next_control : &peer->next_ordinary;
    uint32_t size = (uint32_t)zmq_msg_size(message);
    trp_counter_add(&peer->frames_in, 1);
    trp_counter_add(&peer->bytes_in, size);
    switch (trp_stream_judge(*next, header->sequence, header->count)) {
    case TRP_TAKE_NEW:
        return receive_new(link, peer, message, header, next);
    case TRP_TAKE_DUPLICATE:
        if (in->lane == TRP_LANE_ORDINARY) {
            trp_credit_released(link, peer, in->session, size);
        }
        return TROUPE_OK;
    default:
        return TROUPE_EPROTOCOL;
    }
}

/* ---- the other kinds ------------------------------------------------------------------------- */

static troupe_err_t receive_ack(trp_link_t *link, trp_peer_t *peer, trp_view_t frame)
{
    trp_ack_t ack;
    troupe_err_t err = trp_wire_get_ack(frame, &ack);
    return err == TROUPE_OK ? trp_credit_on_ack(link, peer, &ack) : err;
}

static troupe_err_t receive_control(trp_link_t *link, trp_peer_t *peer, trp_view_t frame,
                                    const trp_frame_header_t *header)
{
    switch ((trp_frame_kind_t)header->kind) {
    case TRP_FRAME_ACK:
        return receive_ack(link, peer, frame);
    case TRP_FRAME_PING:
        trp_credit_on_ping(link, peer, header->sequence);
        return TROUPE_OK;
    case TRP_FRAME_PONG:
        trp_credit_on_pong(link, peer, header->sequence);
        return TROUPE_OK;
    case TRP_FRAME_BULK_END:
        trp_bulk_lane_on_end(link, peer, header->sequence);
        return TROUPE_OK;
    case TRP_FRAME_SERVICE:
        trp_service_dispatch(
            link, peer, header->sequence,
            trp_view_make(frame.data + TRP_WIRE_FRAME_SIZE, frame.size - TRP_WIRE_FRAME_SIZE));
        return TROUPE_OK;
    case TRP_FRAME_BYE:
        peer->session.is_closing = true;
        trp_session_end(link, peer, TROUPE_ESTOPPED, "the peer stops");
        return TROUPE_OK;
    default:
        return TROUPE_EPROTOCOL;
    }
}

/* A frame of a session that stands. */
static troupe_err_t receive_frame(trp_link_t *link, trp_in_t *in, receive_parts_t *parts,
                                  const trp_frame_header_t *header)
{
    in->peer->session.heard_ns = link->now;
    if (header->kind == TRP_FRAME_DATA) {
        return receive_data(link, in, &parts->frame, header);
    }
    if (header->kind == TRP_FRAME_CHUNK && in->lane == TRP_LANE_BULK && parts->has_bytes) {
        return trp_bulk_lane_on_chunk(link, in->peer, receive_view(&parts->frame),
                                      receive_view(&parts->bytes));
    }
    if (in->lane != TRP_LANE_CONTROL) {
        return TROUPE_EPROTOCOL;
    }
    return receive_control(link, in->peer, receive_view(&parts->frame), header);
}

static void receive_bound(trp_link_t *link, trp_in_t *in, receive_parts_t *parts,
                          const trp_frame_header_t *header)
{
    trp_peer_t *peer = trp_peer_ref(in->peer);
    if (peer->session.is_up && in->session == peer->session.id) {
        troupe_err_t err = receive_frame(link, in, parts, header);
        if (err != TROUPE_OK) {
            trp_counter_add(&peer->protocol_errors, 1);
            trp_session_end(link, peer, err, "what the peer sent can't be taken");
        }
    }
    trp_peer_unref(&peer);
}

static void receive_message(trp_link_t *link, receive_parts_t *parts)
{
    trp_frame_header_t header;
    trp_view_t frame = receive_view(&parts->frame);
    trp_sender_t sender = {receive_view(&parts->routing_id), NULL};
    troupe_err_t err = trp_wire_get_frame(frame, &header);
    if (err == TROUPE_EVERSION) {
        trp_handshake_on_version(link, &sender);
    }
    if (err != TROUPE_OK) {
        return;
    }
    if (header.kind == TRP_FRAME_HELLO || header.kind == TRP_FRAME_WELCOME) {
        trp_view_t body =
            trp_view_make(frame.data + TRP_WIRE_FRAME_SIZE, frame.size - TRP_WIRE_FRAME_SIZE);
        sender.user_id = link->has_curve ? zmq_msg_gets(&parts->frame, "User-Id") : NULL;
        if (header.kind == TRP_FRAME_HELLO) {
            trp_handshake_on_hello(link, &sender, body);
        } else {
            trp_handshake_on_welcome(link, &sender, header.lane, body);
        }
        return;
    }
    trp_in_t *in = trp_in_find(link, sender.routing_id);
    if (in != NULL) {
        receive_bound(link, in, parts, &header);
    } else if (header.kind == TRP_FRAME_PING) {
        /* Somebody believes in a session that isn't. */
        trp_handshake_dismiss(link, sender.routing_id, TROUPE_EUNREACHABLE);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Takes the parts of one message; those beyond what we know are dropped. */
static bool receive_parts(trp_link_t *link, receive_parts_t *parts)
{
    if (zmq_msg_recv(&parts->routing_id, link->router, ZMQ_DONTWAIT) < 0) {
        return false;
    }
    /* The parts of a message are there all at once. */
    bool has_more = zmq_msg_more(&parts->routing_id) != 0 &&
                    zmq_msg_recv(&parts->frame, link->router, ZMQ_DONTWAIT) >= 0 &&
                    zmq_msg_more(&parts->frame) != 0;
    parts->has_bytes = has_more && zmq_msg_recv(&parts->bytes, link->router, ZMQ_DONTWAIT) >= 0;
    has_more = parts->has_bytes && zmq_msg_more(&parts->bytes) != 0;
    while (has_more) {
        zmq_msg_t extra;
        (void)zmq_msg_init(&extra);
        has_more =
            zmq_msg_recv(&extra, link->router, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&extra) != 0;
        (void)zmq_msg_close(&extra);
    }
    return true;
}

bool trp_receive_run(trp_link_t *link, uint32_t budget)
{
    for (uint32_t i = 0; i < budget; i++) {
        receive_parts_t parts;
        parts.has_bytes = false;
        (void)zmq_msg_init(&parts.routing_id);
        (void)zmq_msg_init(&parts.frame);
        (void)zmq_msg_init(&parts.bytes);
        bool is_there = receive_parts(link, &parts);
        if (is_there) {
            receive_message(link, &parts);
        }
        (void)zmq_msg_close(&parts.routing_id);
        (void)zmq_msg_close(&parts.frame);
        (void)zmq_msg_close(&parts.bytes);
        if (!is_there) {
            return false;
        }
    }
    return true;
}
