/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Bulk bodies on their way. */

#include "net/link/bulk_lane.h"

#include "base/assert.h"
#include "base/memory.h"
#include "net/link/credit.h"
#include "net/link/deliver.h"
#include "net/link/pump.h"
#include "net/link/session.h"
#include "net/link/socket.h"

/* Chunks sent in one go, so that other peers and lanes have their turn. */
#define BULK_LANE_TURNS 16u

/* ---- sending --------------------------------------------------------------------------------- */

static void bulk_lane_free(trp_peer_t *peer, trp_bulk_out_t *out)
{
    atomic_fetch_sub(&peer->bulk_outstanding, out->body->size);
    trp_body_unref(out->body);
    trp_peer_unref(&out->peer);
    trp_free(out);
}

void trp_bulk_lane_push(trp_link_t *link, trp_bulk_out_t *out)
{
    trp_peer_t *peer = out->peer;
    if (trp_peer_state(peer) == TRP_LINK_DEAD) {
        (void)trp_peer_ref(peer);
        bulk_lane_free(peer, out); /* Its stand-in is counted. */
        trp_peer_unref(&peer);
        return;
    }
    trp_bulk_queue_push(&peer->bulk_out, out);
    trp_pump_add(link, peer);
}

static bool bulk_lane_has_credit(const trp_session_t *session)
{
    return session->bulk_sent - session->bulk_released < TRP_LINK_BULK_WINDOW;
}

void trp_bulk_lane_pump(trp_link_t *link, trp_peer_t *peer)
{
    trp_session_t *session = &peer->session;
    for (uint32_t turns = 0; bulk_lane_has_credit(session); turns++) {
        if (turns == BULK_LANE_TURNS) {
            trp_pump_add(link, peer);
            return;
        }
        trp_bulk_out_t *out = NULL;
        trp_chunk_t chunk;
        uint32_t size = 0;
        if (!trp_bulk_queue_next(&peer->bulk_out, &out, &chunk, &size)) {
            return;
        }
        trp_socket_t *socket = trp_pump_lane(link, peer, TRP_LANE_BULK);
        if (socket == NULL) {
            return;
        }
        session->bulk_sent += size;
        if (!trp_socket_send_chunk(socket, &chunk, out->body, size)) {
            trp_session_end(link, peer, TROUPE_EUNREACHABLE, "the bulk connection was lost");
            return;
        }
        trp_counter_add(&peer->bytes_out, size);
    }
}

void trp_bulk_lane_on_end(trp_link_t *link, trp_peer_t *peer, uint64_t bulk_id)
{
    trp_bulk_out_t *out = trp_bulk_queue_end(&peer->bulk_out, bulk_id);
    if (out != NULL) {
        bulk_lane_free(peer, out);
        trp_credit_unpark(link, peer);
        trp_pump_add(link, peer);
    }
}

void trp_bulk_lane_clear(trp_link_t *link, trp_peer_t *peer)
{
    (void)link;
    trp_bulk_out_t *out = NULL;
    while ((out = trp_bulk_queue_pop(&peer->bulk_out)) != NULL) {
        bulk_lane_free(peer, out);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void bulk_lane_send_end(trp_peer_t *peer, const trp_bulk_in_t *bulk)
{
    uint8_t frame[TRP_WIRE_FRAME_SIZE];
    trp_frame_header_t header = {
        .kind = TRP_FRAME_BULK_END, .lane = TRP_LANE_CONTROL, .sequence = bulk->id};
    trp_wire_put_frame(frame, &header);
    if (peer->session.is_up) {
        (void)trp_socket_send(&peer->session.conn->lanes[TRP_LANE_CONTROL], frame, sizeof(frame));
    }
}

/* Gives a body that is whole, or the news that it is not to come, to who waits for it. */
static void bulk_lane_finish(trp_link_t *link, trp_peer_t *peer, trp_bulk_in_t *bulk)
{
    if (!bulk->has_standin) {
        return;
    }
    trp_body_t *body = trp_bulk_set_take(&peer->bulk_in, &link->budget, bulk);
    trp_deliver_post_bulk(link, peer, bulk->id, body, bulk->mask);
    if (body != NULL) {
        trp_body_unref(body);
    }
}

troupe_err_t trp_bulk_lane_on_chunk(trp_link_t *link, trp_peer_t *peer, trp_view_t frame,
                                    trp_view_t bytes)
{
    trp_chunk_t chunk;
    troupe_err_t err = trp_wire_get_chunk(frame, &chunk);
    if (err != TROUPE_OK || link->budget.depot == NULL) {
        return TROUPE_EPROTOCOL;
    }
    trp_bulk_in_t *bulk = NULL;
    err = trp_bulk_set_chunk(&peer->bulk_in, &link->budget, &chunk, bytes, &bulk);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_counter_add(&peer->bytes_in, bytes.size);
    trp_credit_chunk_released(link, peer, (uint32_t)bytes.size);
    if (bulk == NULL) {
        return TROUPE_OK;
    }
    /* Said when it is whole, and again when the sender, who has not heard it, begins anew. */
    bool is_first = bulk->state != TRP_BULK_DONE && chunk.offset + bytes.size == chunk.size;
    if (is_first || chunk.offset == 0) {
        bulk_lane_send_end(peer, bulk);
    }
    if (bulk->state != TRP_BULK_DONE) {
        bulk_lane_finish(link, peer, bulk);
    }
    return TROUPE_OK;
}

troupe_err_t trp_bulk_lane_on_standin(trp_link_t *link, trp_peer_t *peer,
                                      const trp_standin_t *standin, uint16_t type,
                                      const uint64_t mask[TRP_LINK_MASK_WORDS])
{
    trp_bulk_in_t *bulk = NULL;
    troupe_err_t err = trp_bulk_set_standin(&peer->bulk_in, standin, type, mask, &bulk);
    if (err == TROUPE_OK && bulk != NULL) {
        bulk_lane_finish(link, peer, bulk);
    }
    return err;
}

void trp_bulk_lane_abandon(trp_link_t *link, trp_peer_t *peer)
{
    for (trp_bulk_in_t *bulk = peer->bulk_in.first; bulk != NULL; bulk = bulk->next) {
        if (bulk->has_standin && bulk->state != TRP_BULK_DONE) {
            bulk->state = bulk->state == TRP_BULK_WHOLE ? TRP_BULK_WHOLE : TRP_BULK_FAILED;
            bulk_lane_finish(link, peer, bulk);
        }
    }
    trp_bulk_set_fini(&peer->bulk_in, &link->budget);
}
