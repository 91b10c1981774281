/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Credit and acknowledgements of a session: what the peer has taken and released, what we have, who is
 * parked meanwhile, and whether the peer is still there.
 *
 * Thread rule: the link thread, unless a function says otherwise. */

#ifndef TROUPE_LINK_CREDIT_H
#define TROUPE_LINK_CREDIT_H

#include "net/link/state.h"

void trp_credit_prepare(trp_peer_t *peer);
void trp_credit_begin(trp_link_t *link, trp_peer_t *peer);
/* Parked senders wait for another session, as long as they would for credit. */
void trp_credit_end(trp_link_t *link, trp_peer_t *peer);
/* The peer is gone for good: nobody waits. */
void trp_credit_bury(trp_link_t *link, trp_peer_t *peer);

/* ---- what the peer says ---------------------------------------------------------------------- */

/* The peer has taken all below these sequences: hands over what they cover. EPROTOCOL when it can't be. */
troupe_err_t trp_credit_take(trp_link_t *link, trp_peer_t *peer, uint64_t ordinary,
                             uint64_t control);
troupe_err_t trp_credit_on_ack(trp_link_t *link, trp_peer_t *peer, const trp_ack_t *ack);
void trp_credit_on_ping(trp_link_t *link, trp_peer_t *peer, uint64_t mark);
void trp_credit_on_pong(trp_link_t *link, trp_peer_t *peer, uint64_t mark);

/* Bytes of frames that may still be sent. */
static inline bool trp_credit_has(const trp_session_t *session)
{
    return session->sent - session->released < session->window;
}

/* There is something to send and no credit: looks after a while whether the peer has stalled. */
void trp_credit_wait(trp_link_t *link, trp_peer_t *peer);

/* ---- what we say ----------------------------------------------------------------------------- */

/* Frames or chunks have been let go; `size` bytes of them. */
void trp_credit_released(trp_link_t *link, trp_peer_t *peer, uint64_t session_id, uint32_t size);
void trp_credit_chunk_released(trp_link_t *link, trp_peer_t *peer, uint32_t size);
/* Something was taken: acknowledges it within TRP_LINK_ACK_MS. */
void trp_credit_owe(trp_link_t *link, trp_peer_t *peer);

/* ---- parked senders -------------------------------------------------------------------------- */

/* Whether a dispatcher must park who sends to the peer. Any thread. */
static inline bool trp_credit_is_short(const trp_link_t *link, trp_peer_t *peer)
{
    return atomic_load_explicit(&peer->outstanding, memory_order_relaxed) >= link->park_mark ||
           atomic_load_explicit(&peer->bulk_outstanding, memory_order_relaxed) >=
               TRP_LINK_BULK_QUEUE_MARK;
}

/* Lets the parked go on when there is room again, or nothing to wait for. */
void trp_credit_unpark(trp_link_t *link, trp_peer_t *peer);

#endif
