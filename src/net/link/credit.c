/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Acks, credit, pings and stalls. */

#include "net/link/credit.h"

#include "base/assert.h"
#include "base/clock.h"
#include "net/link/events.h"
#include "net/link/outbox.h"
#include "net/link/pump.h"
#include "net/link/session.h"
#include "net/link/socket.h"

/* Of the window: when so much was released, the peer is told at once. */
#define CREDIT_SHARE 4u
/* Of the stall time: how often a peer without credit is looked at. */
#define CREDIT_LOOKS 4u

/* ---- sending --------------------------------------------------------------------------------- */

static void credit_send(trp_peer_t *peer, const void *data, size_t size)
{
    if (peer->session.is_up) {
        (void)trp_socket_send(&peer->session.conn->lanes[TRP_LANE_CONTROL], data, size);
    }
}

static void credit_ack(trp_link_t *link, trp_peer_t *peer)
{
    trp_session_t *session = &peer->session;
    trp_timer_cancel(link, &peer->ack_timer);
    trp_ack_t ack = {peer->next_ordinary, peer->next_control, session->frame_bytes,
                     session->chunk_bytes};
    uint8_t frame[TRP_WIRE_ACK_SIZE];
    trp_wire_put_ack(frame, &ack);
    session->frame_bytes_told = session->frame_bytes;
    session->chunk_bytes_told = session->chunk_bytes;
    credit_send(peer, frame, sizeof(frame));
}

static void credit_on_ack_timer(trp_link_t *link, void *owner)
{
    credit_ack(link, owner);
}

void trp_credit_owe(trp_link_t *link, trp_peer_t *peer)
{
    if (peer->session.is_up && !trp_timer_is_set(&peer->ack_timer)) {
        trp_timer_set(link, &peer->ack_timer, trp_clock_from_ms(TRP_LINK_ACK_MS));
    }
}

void trp_credit_released(trp_link_t *link, trp_peer_t *peer, uint64_t session_id, uint32_t size)
{
    trp_session_t *session = &peer->session;
    if (!session->is_up || session->id != session_id) {
        return;
    }
    session->frame_bytes += size;
    if (session->frame_bytes - session->frame_bytes_told >= link->window / CREDIT_SHARE) {
        credit_ack(link, peer);
    } else {
        trp_credit_owe(link, peer);
    }
}

void trp_credit_chunk_released(trp_link_t *link, trp_peer_t *peer, uint32_t size)
{
    trp_session_t *session = &peer->session;
    session->chunk_bytes += size;
    if (session->chunk_bytes - session->chunk_bytes_told >= TRP_LINK_BULK_WINDOW / CREDIT_SHARE) {
        credit_ack(link, peer);
    } else {
        trp_credit_owe(link, peer);
    }
}

/* ---- pings ----------------------------------------------------------------------------------- */

static void credit_send_mark(trp_peer_t *peer, trp_frame_kind_t kind, uint64_t mark)
{
    uint8_t frame[TRP_WIRE_FRAME_SIZE];
    trp_frame_header_t header = {.kind = (uint8_t)kind, .lane = TRP_LANE_CONTROL, .sequence = mark};
    trp_wire_put_frame(frame, &header);
    credit_send(peer, frame, sizeof(frame));
}

static void credit_on_ping_timer(trp_link_t *link, void *owner)
{
    trp_peer_t *peer = owner;
    if (link->now - peer->session.heard_ns > trp_clock_from_ms(TRP_LINK_SILENT_MS)) {
        trp_session_end(link, peer, TROUPE_ETIMEOUT, "nothing was heard of the peer");
        return;
    }
    peer->ping_ns = link->now;
    peer->ping_service = atomic_load_explicit(&peer->service_sent, memory_order_relaxed);
    credit_send_mark(peer, TRP_FRAME_PING, link->now);
    trp_timer_set(link, &peer->ping_timer, trp_clock_from_ms(TRP_LINK_PING_MS));
}

void trp_credit_on_ping(trp_link_t *link, trp_peer_t *peer, uint64_t mark)
{
    (void)link;
    credit_send_mark(peer, TRP_FRAME_PONG, mark);
}

void trp_credit_on_pong(trp_link_t *link, trp_peer_t *peer, uint64_t mark)
{
    if (mark != peer->ping_ns || mark == 0) {
        return;
    }
    atomic_store_explicit(&peer->rtt_ns, trp_clock_now() - mark, memory_order_relaxed);
    atomic_store_explicit(&peer->service_seen, peer->ping_service, memory_order_relaxed);
    (void)link;
}

/* ---- stalls ---------------------------------------------------------------------------------- */

static void credit_on_stall_timer(trp_link_t *link, void *owner)
{
    trp_peer_t *peer = owner;
    trp_session_t *session = &peer->session;
    if (!session->is_up) {
        /* Nobody waits longer for a session than for credit. */
        atomic_store(&peer->is_stalled, true);
        trp_credit_unpark(link, peer);
        return;
    }
    if (peer->ordinary.waiting_size == 0 || trp_credit_has(session)) {
        return;
    }
    if (link->now - session->credit_ns >= link->stall_ns) {
        atomic_store(&peer->is_stalled, true);
        trp_events_peer(link, TRP_LINK_EVENT_STALLED, peer, TROUPE_EFULL,
                        "it has taken nothing for a while");
        trp_credit_unpark(link, peer);
        return;
    }
    trp_timer_set(link, &peer->stall_timer, link->stall_ns / CREDIT_LOOKS);
}

void trp_credit_wait(trp_link_t *link, trp_peer_t *peer)
{
    if (!trp_timer_is_set(&peer->stall_timer) &&
        !atomic_load_explicit(&peer->is_stalled, memory_order_relaxed)) {
        trp_timer_set(link, &peer->stall_timer, link->stall_ns / CREDIT_LOOKS);
    }
}

/* ---- acks ------------------------------------------------------------------------------------ */

troupe_err_t trp_credit_take(trp_link_t *link, trp_peer_t *peer, uint64_t ordinary,
                             uint64_t control)
{
    trp_stream_tally_t tally = {0, 0, 0};
    troupe_err_t err = trp_stream_ack(&peer->ordinary, ordinary, &tally);
    trp_stream_tally_t urgent = {0, 0, 0};
    troupe_err_t urgent_err = trp_stream_ack(&peer->control, control, &urgent);
    trp_counter_add(&link->handed_over[false], tally.user + urgent.user);
    trp_counter_add(&link->handed_over[true], tally.system + urgent.system);
    atomic_fetch_sub(&peer->outstanding, urgent.size); /* Nobody gives credit for them. */
    return err != TROUPE_OK ? err : urgent_err;
}

static void credit_grant(trp_link_t *link, trp_peer_t *peer, uint64_t released)
{
    trp_session_t *session = &peer->session;
    uint64_t size = released - session->released;
    session->released = released;
    session->credit_ns = link->now;
    atomic_fetch_sub(&peer->outstanding, size);
    atomic_store_explicit(&peer->credit, session->window - (session->sent - released),
                          memory_order_relaxed);
    if (atomic_load_explicit(&peer->is_stalled, memory_order_relaxed)) {
        atomic_store(&peer->is_stalled, false);
        trp_events_peer(link, TRP_LINK_EVENT_RESUMED, peer, TROUPE_OK, NULL);
    }
}

troupe_err_t trp_credit_on_ack(trp_link_t *link, trp_peer_t *peer, const trp_ack_t *ack)
{
    trp_session_t *session = &peer->session;
    if (ack->released > session->sent || ack->released < session->released ||
        ack->bulk_released > session->bulk_sent || ack->bulk_released < session->bulk_released) {
        return TROUPE_EPROTOCOL;
    }
    troupe_err_t err = trp_credit_take(link, peer, ack->taken_ordinary, ack->taken_control);
    if (err != TROUPE_OK) {
        return err;
    }
    session->bulk_released = ack->bulk_released;
    if (ack->released > session->released) {
        credit_grant(link, peer, ack->released);
    }
    trp_credit_unpark(link, peer);
    trp_pump_add(link, peer);
    return TROUPE_OK;
}

/* ---- parked senders -------------------------------------------------------------------------- */

void trp_credit_unpark(trp_link_t *link, trp_peer_t *peer)
{
    /* Sequentially consistent, as are the changes of what is looked at: either the dispatcher that has
     * just set its bit sees the room, or we see the bit (see outbox_park). */
    bool has_room = atomic_load(&peer->is_stalled) ||
                    (atomic_load(&peer->outstanding) <= link->park_low &&
                     atomic_load(&peer->bulk_outstanding) < TRP_LINK_BULK_QUEUE_MARK);
    if (!has_room || !link->has_endpoint) {
        return;
    }
    for (uint32_t word = 0; word < TRP_LINK_MASK_WORDS; word++) {
        if (atomic_load(&peer->parked[word]) == 0) {
            continue;
        }
        uint64_t bits = atomic_exchange(&peer->parked[word], 0);
        for (; bits != 0; bits &= bits - 1) {
            uint32_t index = word * 64u + (uint32_t)__builtin_ctzll(bits);
            trp_outbox_post_release(link, peer, index);
        }
    }
}

void trp_credit_bury(trp_link_t *link, trp_peer_t *peer)
{
    trp_timer_cancel(link, &peer->stall_timer);
    atomic_store(&peer->is_stalled, true);
    trp_credit_unpark(link, peer);
}

/* ---- life ------------------------------------------------------------------------------------ */

void trp_credit_prepare(trp_peer_t *peer)
{
    trp_timer_init(&peer->ack_timer, credit_on_ack_timer, peer);
    trp_timer_init(&peer->ping_timer, credit_on_ping_timer, peer);
    trp_timer_init(&peer->stall_timer, credit_on_stall_timer, peer);
}

void trp_credit_begin(trp_link_t *link, trp_peer_t *peer)
{
    TRP_ASSERT(peer->session.is_up);
    trp_timer_cancel(link, &peer->stall_timer);
    atomic_store_explicit(&peer->credit, peer->session.window, memory_order_relaxed);
    /* What was under way on the session before is gone. */
    atomic_store_explicit(&peer->service_seen,
                          atomic_load_explicit(&peer->service_sent, memory_order_relaxed),
                          memory_order_relaxed);
    credit_on_ping_timer(link, peer);
}

void trp_credit_end(trp_link_t *link, trp_peer_t *peer)
{
    trp_timer_cancel(link, &peer->ack_timer);
    trp_timer_cancel(link, &peer->ping_timer);
    trp_timer_set(link, &peer->stall_timer, link->stall_ns);
    atomic_store_explicit(&peer->credit, 0, memory_order_relaxed);
}
