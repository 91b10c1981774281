/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The bulk lane of a peer: chunks out and in, and who is told when a body is whole.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_BULK_LANE_H
#define TROUPE_LINK_BULK_LANE_H

#include "net/link/state.h"

/* ---- sending --------------------------------------------------------------------------------- */

/* Takes over a body from a dispatcher. */
void trp_bulk_lane_push(trp_link_t *link, trp_bulk_out_t *out);
void trp_bulk_lane_pump(trp_link_t *link, trp_peer_t *peer);
/* The receiver is done with a body. */
void trp_bulk_lane_on_end(trp_link_t *link, trp_peer_t *peer, uint64_t bulk_id);
/* Lets all go that waits. */
void trp_bulk_lane_clear(trp_link_t *link, trp_peer_t *peer);

/* ---- receiving ------------------------------------------------------------------------------- */

/* EPROTOCOL: the session is to end. */
troupe_err_t trp_bulk_lane_on_chunk(trp_link_t *link, trp_peer_t *peer, trp_view_t frame,
                                    trp_view_t bytes);
/* A stand-in was seen in a frame that has been given to the dispatchers in the mask. */
troupe_err_t trp_bulk_lane_on_standin(trp_link_t *link, trp_peer_t *peer,
                                      const trp_standin_t *standin, uint16_t type,
                                      const uint64_t mask[TRP_LINK_MASK_WORDS]);
/* The peer is gone: whoever waits for a body of it is told that it will not come. */
void trp_bulk_lane_abandon(trp_link_t *link, trp_peer_t *peer);

#endif
