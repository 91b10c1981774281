/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The handshake. Each side sends on connections of its own and receives on the other's:
 *
 *     A: conn --HELLO(nonce a)------------------> in :B
 *     A: in   <-HELLO(nonce b, echo a)----------- conn :B     A has proof: b answers for a
 *     A: conn --WELCOME(echo b)-----------------> in :B       B has proof: a answers for b
 *
 * When both dial at once, each answers the other's HELLO with a WELCOME on the connection it has made
 * already. A proved pair of connections is a session, named by both nonces; of two pairs with one peer
 * the one with the higher generation stands, then the one with the higher id, on both sides the same.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_HANDSHAKE_H
#define TROUPE_LINK_HANDSHAKE_H

#include "net/link/state.h"

/* ---- sending --------------------------------------------------------------------------------- */

/* Says HELLO on a connection. */
troupe_err_t trp_handshake_greet(trp_link_t *link, trp_conn_t *conn);
/* Echoes the peer's nonce on a lane of a connection. */
troupe_err_t trp_handshake_welcome(trp_link_t *link, trp_conn_t *conn, trp_socket_t *socket,
                                   uint64_t echo);
/* Tells the peer that it can't be dialled back on `conn`. */
void trp_handshake_unreachable(trp_link_t *link, const trp_conn_t *conn);

/* Tells a peer, on its own connection, that its session doesn't stand here any more. */
void trp_handshake_dismiss(trp_link_t *link, trp_view_t routing_id, troupe_err_t reason);

/* ---- receiving ------------------------------------------------------------------------------- */

/* Who sent a frame, as far as ZeroMQ knows. */
typedef struct trp_sender {
    trp_view_t routing_id;
    const char *user_id; /* NULL: none. */
} trp_sender_t;

void trp_handshake_on_hello(trp_link_t *link, const trp_sender_t *sender, trp_view_t body);
void trp_handshake_on_welcome(trp_link_t *link, const trp_sender_t *sender, uint8_t lane,
                              trp_view_t body);
/* A frame of another layout has come: only a REFUSE is sure to be read. */
void trp_handshake_on_version(trp_link_t *link, const trp_sender_t *sender);
/* A refusal has come on a connection of ours. */
void trp_handshake_refused(trp_link_t *link, trp_conn_t *conn, trp_view_t frame);

#endif
