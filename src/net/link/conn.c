/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Connections that this node makes. */

#include "net/link/conn.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "net/link/events.h"
#include "net/link/handshake.h"
#include "net/link/receive.h"
#include "net/link/session.h"
#include "net/link/socket.h"

#define CONN_LAST_BUDGET 256u /* Messages taken before a broken session is ended. */

/* ---- life ------------------------------------------------------------------------------------ */

static void conn_on_deadline(trp_link_t *link, void *owner)
{
    trp_conn_fail(link, owner, TROUPE_ETIMEOUT, "no answer to the handshake");
}

static trp_conn_t *conn_new(trp_link_t *link, const trp_conn_plan_t *plan)
{
    trp_conn_t *conn = trp_calloc(1, sizeof(*conn));
    if (conn == NULL) {
        return NULL;
    }
    for (uint8_t lane = 0; lane < TRP_LANE_LEN; lane++) {
        conn->lanes[lane].conn = conn;
        conn->lanes[lane].lane = lane;
    }
    (void)trp_text_copy(conn->address, sizeof(conn->address), plan->address);
    do {
        conn->nonce = trp_random_next(&link->random);
    } while (conn->nonce == 0);
    conn->expect = plan->expect;
    conn->dial = plan->dial;
    conn->peer = plan->peer != NULL ? trp_peer_ref(plan->peer) : NULL;
    conn->answered = plan->echo;
    if (plan->server_key != NULL) {
        (void)trp_text_copy(conn->server_key.text, sizeof(conn->server_key.text), plan->server_key);
    }
    trp_timer_init(&conn->deadline, conn_on_deadline, conn);
    trp_list_push_back(&link->conns, &conn->link);
    return conn;
}

troupe_err_t trp_conn_open(trp_link_t *link, const trp_conn_plan_t *plan, trp_conn_t **ret_conn)
{
    trp_conn_t *conn = conn_new(link, plan);
    if (conn == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = trp_socket_open(link, &conn->lanes[TRP_LANE_CONTROL], conn->address);
    if (err == TROUPE_OK) {
        err = trp_handshake_greet(link, conn);
    }
    if (err != TROUPE_OK) {
        trp_conn_close(link, conn);
        return err;
    }
    trp_timer_set(link, &conn->deadline, trp_clock_from_ms(TRP_LINK_HANDSHAKE_MS));
    *ret_conn = conn;
    return TROUPE_OK;
}

void trp_conn_close(trp_link_t *link, trp_conn_t *conn)
{
    if (conn->is_closed) {
        return;
    }
    conn->is_closed = true;
    trp_timer_cancel(link, &conn->deadline);
    for (uint32_t lane = 0; lane < TRP_LANE_LEN; lane++) {
        trp_socket_close(link, &conn->lanes[lane]);
    }
    if (conn->dial != NULL && conn->dial->conn == conn) {
        conn->dial->conn = NULL;
    }
    conn->dial = NULL;
    trp_peer_unref(&conn->peer);
    trp_list_remove(&conn->link);
    trp_list_push_back(&link->graveyard, &conn->link);
}

void trp_conn_close_peer(trp_link_t *link, const trp_peer_t *peer)
{
    TRP_LIST_FOREACH_SAFE (at, &link->conns) {
        trp_conn_t *conn = TRP_CONTAINER_OF(at, trp_conn_t, link);
        trp_dial_t *dial = conn->dial;
        if (peer != NULL && conn->peer != peer) {
            continue;
        }
        trp_conn_close(link, conn);
        if (dial != NULL) {
            trp_dial_later(link, dial);
        }
    }
}

void trp_conn_bury(trp_link_t *link)
{
    trp_node_link_t *at = NULL;
    while ((at = trp_list_pop_front(&link->graveyard)) != NULL) {
        trp_free(TRP_CONTAINER_OF(at, trp_conn_t, link));
    }
}

/* ---- failing --------------------------------------------------------------------------------- */

void trp_conn_fail(trp_link_t *link, trp_conn_t *conn, troupe_err_t reason, const char *text)
{
    if (conn->is_closed) {
        return;
    }
    if (conn->is_session) {
        trp_session_end(link, conn->peer, reason, text);
        return;
    }
    trp_dial_t *dial = conn->dial;
    if (dial != NULL && !dial->has_failed) {
        dial->has_failed = true;
        trp_events_dial(link, TRP_LINK_EVENT_FAILED, conn->address, reason,
                        trp_view_from_string(text));
    }
    if (dial == NULL && conn->peer != NULL) {
        trp_handshake_unreachable(link, conn);
    }
    trp_conn_close(link, conn);
    if (dial != NULL) {
        trp_dial_later(link, dial);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

trp_conn_t *trp_conn_find(trp_link_t *link, uint64_t nonce)
{
    TRP_LIST_FOREACH (at, &link->conns) {
        trp_conn_t *conn = TRP_CONTAINER_OF(at, trp_conn_t, link);
        if (conn->nonce == nonce) {
            return conn;
        }
    }
    return NULL;
}

trp_conn_t *trp_conn_find_waiting(trp_link_t *link, const char *address, const trp_peer_t *peer)
{
    TRP_LIST_FOREACH (at, &link->conns) {
        trp_conn_t *conn = TRP_CONTAINER_OF(at, trp_conn_t, link);
        if (!conn->is_session && strcmp(conn->address, address) == 0 &&
            (conn->peer == NULL || conn->peer == peer)) {
            return conn;
        }
    }
    return NULL;
}

/* ---- what sockets tell ----------------------------------------------------------------------- */

/* What an event means for the connection: OK when it goes on. */
static troupe_err_t conn_judge(const trp_link_t *link, uint16_t event, const char **ret_text)
{
    switch (event) {
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        *ret_text = "the peer does not allow this node's key";
        return TROUPE_EAUTH;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        *ret_text = "the peer does not use the same kind of security, or is no Troupe node";
        return TROUPE_EAUTH;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        *ret_text = link->has_curve
                        ? "the peer ended the key handshake: it may have another key than expected"
                        : "the peer ended the connection before its handshake";
        return link->has_curve ? TROUPE_EAUTH : TROUPE_EUNREACHABLE;
    case ZMQ_EVENT_DISCONNECTED:
        *ret_text = "the connection was closed";
        return TROUPE_EUNREACHABLE;
    case ZMQ_EVENT_CLOSED:
    case ZMQ_EVENT_CONNECT_RETRIED:
        *ret_text = "the address can't be reached";
        return TROUPE_EUNREACHABLE;
    default:
        return TROUPE_OK;
    }
}

void trp_conn_on_monitor(trp_link_t *link, trp_socket_t *socket)
{
    trp_conn_t *conn = socket->conn;
    trp_monitor_event_t event;
    while (!conn->is_closed && trp_monitor_next(socket->monitor, &event)) {
        const char *text = "";
        troupe_err_t reason = conn_judge(link, event.event, &text);
        if (reason != TROUPE_OK && conn->is_session) {
            /* What the peer sent before, perhaps a good-bye, is still to be taken. */
            (void)trp_receive_run(link, CONN_LAST_BUDGET);
        }
        if (reason != TROUPE_OK) {
            trp_conn_fail(link, conn, reason, text);
        }
    }
}

void trp_conn_on_reply(trp_link_t *link, trp_socket_t *socket)
{
    trp_conn_t *conn = socket->conn;
    while (!conn->is_closed) {
        zmq_msg_t message;
        (void)zmq_msg_init(&message);
        bool is_there = zmq_msg_recv(&message, socket->dealer, ZMQ_DONTWAIT) >= 0;
        if (is_there) {
            trp_handshake_refused(link, conn,
                                  trp_view_make(zmq_msg_data(&message), zmq_msg_size(&message)));
        }
        (void)zmq_msg_close(&message);
        if (!is_there) {
            return;
        }
    }
}
