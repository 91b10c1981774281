/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The connections that peers have made to this node, by the routing id that ZeroMQ gave them: what comes
 * on one belongs to the peer that was bound to it, whatever it says.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_INS_H
#define TROUPE_LINK_INS_H

#include "net/link/handshake.h"

/* Enters one. EFULL, ENOMEM. */
troupe_err_t trp_in_add(trp_link_t *link, const trp_sender_t *sender, uint8_t lane,
                        trp_peer_t *peer, uint64_t nonce, trp_in_t **ret_in);

trp_in_t *trp_in_find(trp_link_t *link, trp_view_t routing_id);
/* The control connection with that nonce. */
trp_in_t *trp_in_find_nonce(trp_link_t *link, uint64_t nonce);

/* Whether the sender has the key of the connection's owner. */
bool trp_in_is_same_user(const trp_in_t *in, const trp_sender_t *sender);

void trp_in_drop(trp_link_t *link, trp_in_t *in);
/* Drops all of a peer, or (peer NULL) of everyone. */
void trp_in_drop_peer(trp_link_t *link, const trp_peer_t *peer);
/* Drops those of a session. */
void trp_in_drop_session(trp_link_t *link, uint64_t session_id);

#endif
