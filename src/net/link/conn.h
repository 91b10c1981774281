/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Connections that this node makes: attempts by address, their deadlines, and trying again.
 *
 *     dial --attempt--> conn --session--> peer (dials for itself when the session is lost)
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_CONN_H
#define TROUPE_LINK_CONN_H

#include "net/link/state.h"

/* ---- connections ----------------------------------------------------------------------------- */

/* Connects to an address and says HELLO. `dial` may be NULL; `peer` (of which a reference is taken) is
 * whom it answers, with its nonce in `echo`, or NULL. */
typedef struct trp_conn_plan {
    const char *address;
    trp_dial_t *dial;
    trp_peer_t *peer;
    uint64_t expect;
    uint64_t echo;
    const char *server_key; /* NULL: by address. */
} trp_conn_plan_t;

troupe_err_t trp_conn_open(trp_link_t *link, const trp_conn_plan_t *plan, trp_conn_t **ret_conn);

/* Closes its sockets; it is freed at the end of the round. Its dial, if any, is not told. */
void trp_conn_close(trp_link_t *link, trp_conn_t *conn);
void trp_conn_close_peer(trp_link_t *link, const trp_peer_t *peer);
/* Frees those that were closed. */
void trp_conn_bury(trp_link_t *link);

/* It has failed: ends the session that stands on it, or tries again later. */
void trp_conn_fail(trp_link_t *link, trp_conn_t *conn, troupe_err_t reason, const char *text);

/* The open connection with that nonce, or the first to that address that waits for an answer. */
trp_conn_t *trp_conn_find(trp_link_t *link, uint64_t nonce);
trp_conn_t *trp_conn_find_waiting(trp_link_t *link, const char *address, const trp_peer_t *peer);

/* Something has happened on a socket's monitor, or a refusal may have come on a DEALER. */
void trp_conn_on_monitor(trp_link_t *link, trp_socket_t *socket);
void trp_conn_on_reply(trp_link_t *link, trp_socket_t *socket);

/* ---- dialling -------------------------------------------------------------------------------- */

void trp_dial_init(trp_link_t *link, trp_dial_t *dial, const char *address, uint64_t expect);

/* Begins, now or after a while; does nothing while an attempt is on. */
void trp_dial_start(trp_link_t *link, trp_dial_t *dial);
void trp_dial_later(trp_link_t *link, trp_dial_t *dial);
/* Gives up the attempt that is on, and makes no more. */
void trp_dial_stop(trp_link_t *link, trp_dial_t *dial);

/* The address led to that peer, with which a session stands: rests until the peer is gone. */
void trp_dial_settle(trp_link_t *link, trp_dial_t *dial, trp_peer_t *peer);

/* The peer is gone for good: addresses that led to it are dialled again. */
void trp_dials_release(trp_link_t *link, trp_peer_t *peer);

/* Commands. */
void trp_dials_add(trp_link_t *link, const char *address, uint64_t uid);
void trp_dials_remove(trp_link_t *link, const char *address);
void trp_dials_close(trp_link_t *link);

#endif
