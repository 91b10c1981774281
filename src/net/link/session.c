/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Beginning and ending sessions. */

#include "net/link/session.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "net/link/bulk_lane.h"
#include "net/link/conn.h"
#include "net/link/credit.h"
#include "net/link/events.h"
#include "net/link/handshake.h"
#include "net/link/ins.h"
#include "net/link/pump.h"
#include "net/link/socket.h"

#define SESSION_WINDOW_MIN                                                                         \
    (64u * 1024u) /* A peer that grants less is served as if it granted this. */

/* ---- preparing ------------------------------------------------------------------------------- */

void trp_session_prepare(trp_link_t *link, trp_peer_t *peer)
{
    if (peer->tables != 0) {
        return;
    }
    do {
        peer->tables = trp_random_next(&link->random);
    } while (peer->tables == 0);
    trp_types_t *types = link->runtime != NULL ? &link->runtime->types : NULL;
    trp_numbers_init(&peer->numbers, peer->uid, types, &link->topics);
    trp_dial_init(link, &peer->dial, "", peer->uid);
    trp_credit_prepare(peer);
    trp_list_link_init(&peer->pump);
}

void trp_session_set_address(trp_link_t *link, trp_peer_t *peer, trp_view_t address)
{
    (void)link;
    if (peer->session.is_up || address.size > TRP_LINK_ADDRESS_SIZE_MAX) {
        return;
    }
    memcpy(peer->dial.address, address.data, address.size);
    peer->dial.address[address.size] = '\0';
}

/* ---- beginning ------------------------------------------------------------------------------- */

bool trp_session_is_better(uint64_t generation, uint64_t id, uint64_t other_generation,
                           uint64_t other_id)
{
    return generation != other_generation ? generation > other_generation : id > other_id;
}

static void session_count(trp_link_t *link, const trp_stream_tally_t *tally, troupe_drop_t reason)
{
    trp_link_count_drop(link, false, reason, tally->user);
    trp_link_count_drop(link, true, reason, tally->system);
}

/* Lets everything go that waits for the peer. */
static void session_clear(trp_link_t *link, trp_peer_t *peer, troupe_drop_t reason)
{
    trp_stream_tally_t sent = {0, 0, 0};
    trp_stream_tally_t unsent = {0, 0, 0};
    trp_stream_clear(&peer->ordinary, &sent, &unsent);
    trp_stream_clear(&peer->control, &sent, &unsent);
    session_count(link, &sent, TROUPE_DROP_LINK_LOST);
    session_count(link, &unsent, reason);
    atomic_fetch_sub(&peer->outstanding, sent.size + unsent.size);
    trp_bulk_lane_clear(link, peer);
}

/* The peer does not know what was defined for it: all that was encoded so far can't be read. */
static void session_reset(trp_link_t *link, trp_peer_t *peer, const trp_hello_pair_t *theirs)
{
    session_clear(link, peer, TROUPE_DROP_LINK_LOST);
    peer->ordinary.next_sequence = theirs->next_ordinary;
    peer->ordinary.acked = theirs->next_ordinary;
    peer->control.next_sequence = theirs->next_control;
    peer->control.acked = theirs->next_control;
    atomic_fetch_add(&peer->epoch, 1);
}

/* Goes on where the peer says it is. */
static void session_resume(trp_link_t *link, trp_peer_t *peer, const trp_hello_pair_t *theirs)
{
    bool is_known = peer->tables_theirs == 0 || peer->tables_theirs == theirs->tables;
    peer->tables_theirs = theirs->tables;
    uint64_t before = peer->ordinary.waiting_size;
    if (!is_known ||
        trp_credit_take(link, peer, theirs->next_ordinary, theirs->next_control) != TROUPE_OK) {
        session_reset(link, peer, theirs);
        return;
    }
    /* Nobody will give credit for what the old session had brought over. */
    atomic_fetch_sub(&peer->outstanding, before - peer->ordinary.waiting_size);
}

static void session_stand(trp_link_t *link, trp_peer_t *peer, const trp_session_t *session)
{
    peer->session = *session;
    peer->generation = session->generation;
    trp_conn_t *conn = session->conn;
    conn->is_session = true;
    trp_timer_cancel(link, &conn->deadline);
    if (conn->dial != NULL) {
        trp_dial_settle(link, conn->dial, peer);
        conn->dial->conn = NULL;
        conn->dial = NULL;
    }
    trp_dial_settle(link, &peer->dial, peer);
    trp_counter_add(&peer->sessions, 1);
}

static void session_begin(trp_link_t *link, trp_peer_t *peer, const trp_session_t *session,
                          const trp_hello_pair_t *theirs)
{
    bool was_up = trp_peer_state(peer) == TRP_LINK_UP;
    session_stand(link, peer, session);
    session_resume(link, peer, theirs);
    atomic_store(&peer->is_stalled, false);
    trp_peer_set_state(peer, TRP_LINK_UP);
    trp_credit_begin(link, peer);
    if (!was_up) {
        trp_events_peer(link, TRP_LINK_EVENT_UP, peer, TROUPE_OK, NULL);
    }
    trp_credit_unpark(link, peer);
    trp_pump_add(link, peer);
}

/* ---- another incarnation --------------------------------------------------------------------- */

typedef struct session_rivals {
    const trp_peer_t *peer;
    trp_peer_t *rival; /* Reference. */
} session_rivals_t;

static void session_is_rival(trp_peer_t *peer, void *context)
{
    session_rivals_t *rivals = context;
    if (peer != rivals->peer && rivals->rival == NULL && peer->tables != 0 &&
        strcmp(rivals->peer->dial.address, peer->dial.address) == 0) {
        rivals->rival = trp_peer_ref(peer);
    }
}

/* Whoever was reached at the address before is gone: it was proved that another runs there now. */
static void session_replace(trp_link_t *link, const trp_peer_t *peer)
{
    session_rivals_t rivals = {peer, NULL};
    trp_peers_visit(&link->registry, session_is_rival, &rivals);
    if (rivals.rival != NULL) {
        trp_events_peer(link, TRP_LINK_EVENT_REPLACED, rivals.rival, TROUPE_ESTOPPED,
                        "another incarnation runs at its address");
        trp_session_bury(link, rivals.rival, TROUPE_DROP_STALE);
        trp_peer_unref(&rivals.rival);
    }
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Tells the peer, who may not have noticed anything. */
static void session_dismiss(trp_link_t *link, trp_peer_t *peer, troupe_err_t reason)
{
    const trp_in_t *in = trp_in_find_nonce(link, peer->session.peer_nonce);
    if (in != NULL) {
        trp_handshake_dismiss(link, trp_view_make(in->routing_id, in->routing_id_size), reason);
    }
}

/* Takes the session down and makes all that was not acknowledged wait again. */
static void session_close(trp_link_t *link, trp_peer_t *peer)
{
    trp_session_t *session = &peer->session;
    trp_conn_t *conn = session->conn;
    uint64_t unreleased = session->sent - session->released;
    uint64_t again = trp_stream_rewind(&peer->ordinary);
    (void)trp_stream_rewind(&peer->control);
    TRP_ASSERT(unreleased >= again);
    atomic_fetch_sub(&peer->outstanding, unreleased - again);
    trp_bulk_queue_rewind(&peer->bulk_out);
    peer->generation = session->generation + 1;
    trp_in_drop_session(link, session->id);
    session->is_up = false;
    session->conn = NULL;
    conn->is_session = false;
    trp_conn_close(link, conn);
    trp_credit_end(link, peer);
}

void trp_session_end(trp_link_t *link, trp_peer_t *peer, troupe_err_t reason, const char *text)
{
    if (!peer->session.is_up) {
        return;
    }
    bool has_said_bye = peer->session.is_closing;
    session_dismiss(link, peer, TROUPE_EUNREACHABLE);
    session_close(link, peer);
    trp_peer_set_state(peer, TRP_LINK_LOST);
    trp_credit_unpark(link, peer);
    trp_events_peer(link, has_said_bye ? TRP_LINK_EVENT_BYE : TRP_LINK_EVENT_LOST, peer, reason,
                    text);
    trp_dial_later(link, &peer->dial);
}

void trp_session_bury(trp_link_t *link, trp_peer_t *peer, troupe_drop_t reason)
{
    if (trp_peer_state(peer) == TRP_LINK_DEAD) {
        return;
    }
    trp_session_prepare(link, peer);
    if (peer->session.is_up) {
        session_dismiss(link, peer, TROUPE_ESTOPPED);
        session_close(link, peer);
    }
    atomic_store(&peer->drop_reason, (uint32_t)reason);
    trp_peer_set_state(peer, TRP_LINK_DEAD);
    session_clear(link, peer, reason);
    trp_bulk_lane_abandon(link, peer);
    trp_numbers_fini(&peer->numbers);
    trp_pump_remove(peer);
    trp_dial_stop(link, &peer->dial);
    trp_in_drop_peer(link, peer);
    trp_conn_close_peer(link, peer);
    trp_credit_bury(link, peer);
    (void)trp_peer_ref(peer); /* The caller's pointer stays good until the end of this. */
    trp_peers_bury(&link->registry, peer);
    trp_dials_release(link, peer);
    trp_peer_unref(&peer);
}

/* ---- a pair is proved ------------------------------------------------------------------------ */

void trp_session_prove(trp_link_t *link, trp_conn_t *conn, trp_in_t *in,
                       const trp_hello_pair_t *theirs)
{
    trp_peer_t *peer = conn->peer;
    TRP_ASSERT(peer != NULL && peer == in->peer);
    trp_session_t session = {
        .is_up = true,
        .id = conn->nonce ^ in->nonce,
        .generation = conn->generation > theirs->generation ? conn->generation : theirs->generation,
        .peer_nonce = in->nonce,
        .conn = conn,
        .window = theirs->window > SESSION_WINDOW_MIN ? theirs->window : SESSION_WINDOW_MIN,
        .heard_ns = link->now,
        .credit_ns = link->now,
    };
    in->session = session.id;
    const trp_session_t *present = &peer->session;
    if (present->is_up &&
        !trp_session_is_better(session.generation, session.id, present->generation, present->id)) {
        if (conn->dial != NULL) {
            trp_dial_settle(link, conn->dial, peer);
        }
        if (!conn->is_session) {
            trp_conn_close(link, conn);
        }
        return;
    }
    (void)trp_peer_ref(peer);
    if (conn->is_session) {
        /* Our half of the pair stands in another session, whose other half the peer has given up: both
         * begin anew. */
        trp_handshake_dismiss(link, trp_view_make(in->routing_id, in->routing_id_size),
                              TROUPE_EUNREACHABLE);
        trp_session_end(link, peer, TROUPE_EUNREACHABLE, "the peer has begun anew");
        trp_peer_unref(&peer);
        return;
    }
    if (present->is_up) {
        session_close(link, peer);
    }
    (void)trp_text_copy(peer->user_id, sizeof(peer->user_id), in->user_id);
    session_replace(link, peer);
    session_begin(link, peer, &session, theirs);
    trp_peer_unref(&peer);
}
