/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sending frames. */

#include "net/link/pump.h"

#include "base/assert.h"
#include "net/link/bulk_lane.h"
#include "net/link/credit.h"
#include "net/link/handshake.h"
#include "net/link/session.h"
#include "net/link/socket.h"

void trp_pump_add(trp_link_t *link, trp_peer_t *peer)
{
    if (!trp_list_is_linked(&peer->pump)) {
        trp_list_push_back(&link->pump, &peer->pump);
    }
}

void trp_pump_remove(trp_peer_t *peer)
{
    if (trp_list_is_linked(&peer->pump)) {
        trp_list_remove(&peer->pump);
    }
}

trp_socket_t *trp_pump_lane(trp_link_t *link, trp_peer_t *peer, trp_lane_t lane)
{
    trp_conn_t *conn = peer->session.conn;
    trp_socket_t *socket = &conn->lanes[lane];
    if (TRP_LIKELY(socket->dealer != NULL)) {
        return socket;
    }
    troupe_err_t err = trp_socket_open(link, socket, conn->address);
    if (err == TROUPE_OK) {
        err = trp_handshake_welcome(link, conn, socket, peer->session.peer_nonce);
    }
    if (err != TROUPE_OK) {
        trp_session_end(link, peer, err, "a lane can't be opened");
        return NULL;
    }
    return socket;
}

/* Sends one frame of a stream. False: the session has ended. */
static bool pump_send(trp_link_t *link, trp_peer_t *peer, trp_lane_t lane, trp_frame_t *frame)
{
    trp_socket_t *socket = trp_pump_lane(link, peer, lane);
    if (socket == NULL) {
        return false;
    }
    if (!trp_socket_send_frame(socket, frame)) {
        trp_session_end(link, peer, TROUPE_EUNREACHABLE, "the connection was lost");
        return false;
    }
    trp_counter_add(&peer->bytes_out, frame->size);
    trp_counter_add(&peer->frames_out, 1);
    trp_counter_add(&peer->messages_out, trp_frame_len(frame));
    return true;
}

/* What overtakes has a lane without credit: it is rare, small and counted. */
static bool pump_control(trp_link_t *link, trp_peer_t *peer)
{
    trp_frame_t *frame = NULL;
    while ((frame = trp_stream_next(&peer->control)) != NULL) {
        if (!pump_send(link, peer, TRP_LANE_CONTROL, frame)) {
            return false;
        }
    }
    return true;
}

static bool pump_ordinary(trp_link_t *link, trp_peer_t *peer)
{
    trp_session_t *session = &peer->session;
    while (peer->ordinary.unsent != NULL) {
        if (!trp_credit_has(session)) {
            trp_credit_wait(link, peer);
            return true;
        }
        trp_frame_t *frame = trp_stream_next(&peer->ordinary);
        if (session->sent == session->released) {
            session->credit_ns = link->now; /* From here on the peer owes us something. */
        }
        session->sent += frame->size;
        if (!pump_send(link, peer, TRP_LANE_ORDINARY, frame)) {
            return false;
        }
    }
    return true;
}

bool trp_pump_run(trp_link_t *link)
{
    trp_node_link_t *at = trp_list_pop_front(&link->pump);
    bool has_done = at != NULL;
    for (; at != NULL; at = trp_list_pop_front(&link->pump)) {
        trp_peer_t *peer = TRP_CONTAINER_OF(at, trp_peer_t, pump);
        if (peer->session.is_up && pump_control(link, peer) && pump_ordinary(link, peer)) {
            trp_bulk_lane_pump(link, peer);
        }
    }
    return has_done;
}

/* Counts a frame that will not be sent. */
static void pump_drop(trp_link_t *link, trp_peer_t *peer, trp_frame_t *frame, troupe_drop_t reason)
{
    trp_link_count_drop(link, false, reason, frame->user_len);
    trp_link_count_drop(link, true, reason, frame->system_len);
    atomic_fetch_sub(&peer->outstanding, frame->size);
    trp_frame_unref(frame);
}

void trp_pump_frame(trp_link_t *link, trp_frame_t *frame)
{
    trp_peer_t *peer = frame->peer; /* The frame's reference is now ours. */
    frame->peer = NULL;
    TRP_ASSERT(peer != NULL);
    trp_session_prepare(link, peer);
    if (trp_peer_state(peer) == TRP_LINK_DEAD) {
        pump_drop(link, peer, frame, (troupe_drop_t)atomic_load(&peer->drop_reason));
    } else if (frame->epoch != atomic_load_explicit(&peer->epoch, memory_order_relaxed)) {
        pump_drop(link, peer, frame, TROUPE_DROP_LINK_LOST);
    } else {
        trp_stream_push(frame->lane == TRP_LANE_CONTROL ? &peer->control : &peer->ordinary, frame);
        trp_pump_add(link, peer);
    }
    trp_peer_unref(&peer);
}
