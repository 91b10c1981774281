/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sessions: what begins when a pair of connections is proved, and ends when one of them breaks.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_SESSION_H
#define TROUPE_LINK_SESSION_H

#include "net/link/state.h"

/* Makes the link thread's part of a peer ready; does nothing when it is. */
void trp_session_prepare(trp_link_t *link, trp_peer_t *peer);
/* Where the peer is dialled from now on. */
void trp_session_set_address(trp_link_t *link, trp_peer_t *peer, trp_view_t address);

/* The pair is proved. `theirs` is what the peer said with its echo. Begins the session, unless a better
 * pair stands; then this one is closed. */
void trp_session_prove(trp_link_t *link, trp_conn_t *conn, trp_in_t *in,
                       const trp_hello_pair_t *theirs);

/* Which of two pairs stands: by generation, then by id. */
bool trp_session_is_better(uint64_t generation, uint64_t id, uint64_t other_generation,
                           uint64_t other_id);

/* Ends the session, if one stands, and dials again. */
void trp_session_end(trp_link_t *link, trp_peer_t *peer, troupe_err_t reason, const char *text);

/* Ends the peer for good. What waits for it is dropped for that reason; what was sent and not
 * acknowledged is lost. */
void trp_session_bury(trp_link_t *link, trp_peer_t *peer, troupe_drop_t reason);

#endif
