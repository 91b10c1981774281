/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The pump: from the streams of peers to their sockets, as far as credit goes.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_PUMP_H
#define TROUPE_LINK_PUMP_H

#include "net/link/state.h"

/* The peer has something to send, or may send again. */
void trp_pump_add(trp_link_t *link, trp_peer_t *peer);
void trp_pump_remove(trp_peer_t *peer);

/* Sends what can be sent. False when there was nothing to do. */
bool trp_pump_run(trp_link_t *link);

/* Takes over a batch of a dispatcher. */
void trp_pump_frame(trp_link_t *link, trp_frame_t *frame);

/* The socket of a lane of the session that stands, opened on first use; NULL when that fails (the
 * session has then ended). */
trp_socket_t *trp_pump_lane(trp_link_t *link, trp_peer_t *peer, trp_lane_t lane);

#endif
