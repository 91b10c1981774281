/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A peer: one incarnation of another node. The upper part is shared with the dispatchers that send to
 * it; the lower part is the link thread's own.
 *
 *     dispatcher's out --reference--> peer <--reference-- registry (while it may still be alive)
 *                                      ^-----reference--- frames, received frames, connections
 *
 * Thread rule: fields say so; functions may be called on any thread unless they say otherwise. */

#ifndef TROUPE_LINK_PEER_H
#define TROUPE_LINK_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "actor/endpoint.h"
#include "base/backoff.h"
#include "base/list.h"
#include "base/table.h"
#include "base/wheel.h"
#include "net/link/bulk.h"
#include "net/link/link.h"
#include "net/link/numbers.h"
#include "net/link/stream.h"

typedef struct trp_conn trp_conn_t;
typedef struct trp_out trp_out_t;

/* A timer of the link thread. */
typedef struct trp_timer {
    trp_wheel_timer_t timer;
    void (*fire)(trp_link_t *link, void *owner);
    void *owner;
} trp_timer_t;

/* The wish for a session with an address. */
typedef struct trp_dial {
    trp_node_link_t link; /* In the link's list; not when it is a peer's own. */
    char address[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    uint64_t expect;  /* The incarnation looked for; 0: any. */
    trp_peer_t *peer; /* Whom it led to; the peer dials for itself then. Reference. */
    trp_conn_t *conn; /* The attempt that is on. */
    trp_backoff_t backoff;
    trp_timer_t retry;
    uint32_t key_turn; /* Which key of the allow-list to try next. */
    bool is_wanted;
    bool has_failed; /* Told once an episode. */
} trp_dial_t;

/* The session that stands. */
typedef struct trp_session {
    bool is_up;
    bool is_closing; /* The peer said good-bye. */
    uint64_t id;
    uint64_t generation;
    uint64_t peer_nonce;
    trp_conn_t *conn;
    uint64_t window; /* What the peer grants. */
    uint64_t sent;   /* Bytes of frames sent on it, and of these released by the peer. */
    uint64_t released;
    uint64_t bulk_sent;
    uint64_t bulk_released;
    uint64_t heard_ns;
    uint64_t credit_ns; /* When the peer last released something, or owed nothing. */
    /* What we owe the peer. */
    uint64_t frame_bytes; /* Released by our dispatchers. */
    uint64_t chunk_bytes;
    uint64_t frame_bytes_told; /* Of these, what the last ack said. */
    uint64_t chunk_bytes_told;
} trp_session_t;

struct trp_peer {
    /* ---- shared ---- */
    uint64_t uid;
    trp_link_t *link;
    _Atomic uint32_t refs;
    _Atomic uint32_t state;       /* trp_link_state_t; the link thread writes. */
    _Atomic uint32_t drop_reason; /* troupe_drop_t of what is sent to the dead. */
    _Atomic uint32_t epoch;       /* Definitions made under another one are void. */
    _Atomic uint64_t bulk_next;   /* Id for the next bulk body. */
    _Atomic(trp_out_t *) outs[TRP_DISPATCHERS_MAX]; /* Each dispatcher's; for counting only. */
    /* Bytes accepted from dispatchers and not yet released by the peer or dropped. */
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic uint64_t outstanding;
    _Atomic uint64_t bulk_outstanding;
    _Atomic bool is_stalled;                      /* Nobody is parked for it any more. */
    _Atomic uint64_t parked[TRP_LINK_MASK_WORDS]; /* Dispatchers with actors parked on it. */
    /* Frames that dispatchers have let go since the last ack, in bytes. */
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic uint64_t due;
    /* ---- for showing; the link thread writes, relaxed ---- */
    TRP_ALIGNED(TRP_CACHE_LINE) _Atomic uint64_t bytes_out;
    _Atomic uint64_t frames_out, messages_out;
    _Atomic uint64_t bytes_in, frames_in, messages_in;
    _Atomic uint64_t rtt_ns, sessions, unknown_types, protocol_errors, credit;
    _Atomic uint64_t queue_full; /* Dispatchers write too. */
    /* Bytes of service messages: given to the link, and known to have reached the peer. */
    _Atomic uint64_t service_sent;
    _Atomic uint64_t service_seen;
    /* ---- under the registry's mutex ---- */
    trp_table_entry_t entry;
    char name[TRP_LINK_NAME_SIZE_MAX + 1];
    char address[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    /* ---- the link thread's own ---- */
    trp_dial_t dial;
    trp_session_t session;
    char user_id[TRP_LINK_KEY_SIZE + 1]; /* With CURVE: the key of its first session, and of all. */
    uint64_t generation;                 /* For the next session. */
    uint64_t tables;                     /* Names our `numbers`, for the peer to know them again. */
    uint64_t tables_theirs;              /* The same of the peer's; 0: not yet known. */
    trp_stream_t ordinary;
    trp_stream_t control;
    uint64_t next_ordinary; /* First sequences not taken yet. */
    uint64_t next_control;
    trp_numbers_t numbers; /* What the peer's type and topic numbers mean here. */
    trp_bulk_queue_t bulk_out;
    trp_bulk_set_t bulk_in;
    uint64_t ping_ns;      /* When the last ping left, which is its mark. */
    uint64_t ping_service; /* service_sent at that time. */
    trp_node_link_t pump;  /* In the link's list of peers with something to send. */
    trp_timer_t ack_timer;
    trp_timer_t ping_timer;
    trp_timer_t stall_timer;
};

/* ---- references ------------------------------------------------------------------------------ */

static inline trp_peer_t *trp_peer_ref(trp_peer_t *peer)
{
    /* Relaxed: a new reference is made from one that is held. */
    atomic_fetch_add_explicit(&peer->refs, 1, memory_order_relaxed);
    return peer;
}

/* Drops one and nulls the pointer. NULL is allowed. */
void trp_peer_unref(trp_peer_t **peer_p);

static inline trp_link_state_t trp_peer_state(trp_peer_t *peer)
{
    /* Acquire: pairs with the release in trp_peer_set_state; who sees DEAD sees the reason. */
    return (trp_link_state_t)atomic_load_explicit(&peer->state, memory_order_acquire);
}

static inline void trp_peer_set_state(trp_peer_t *peer, trp_link_state_t state)
{
    atomic_store_explicit(&peer->state, (uint32_t)state, memory_order_release);
}

static inline void trp_counter_add(_Atomic uint64_t *counter, uint64_t n)
{
    /* One writer: no need for an atomic addition. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* ---- the registry ---------------------------------------------------------------------------- */

typedef struct trp_peers {
    pthread_mutex_t mutex;
    trp_table_t peers;                /* By uid. */
    uint64_t dead[TRP_LINK_DEAD_MAX]; /* Ring of uids that are gone for good. */
    uint32_t dead_len;
    uint32_t dead_at;
} trp_peers_t;

troupe_err_t trp_peers_init(trp_peers_t *registry, uint64_t seed);
/* All peers must have been removed. */
void trp_peers_fini(trp_peers_t *registry);

/* A reference to the peer of that uid, or NULL. */
trp_peer_t *trp_peers_find(trp_peers_t *registry, uint64_t uid);

/* The same, made when there is none. ESTOPPED: it is gone for good; EFULL; ENOMEM. */
troupe_err_t trp_peers_get(trp_peers_t *registry, trp_link_t *link, uint64_t uid,
                           trp_peer_t **ret_peer);

bool trp_peers_is_dead(trp_peers_t *registry, uint64_t uid);

/* Takes the peer out, remembers that it is gone for good, and drops the registry's reference. */
void trp_peers_bury(trp_peers_t *registry, trp_peer_t *peer);

/* Remembers a uid as gone for good that is not in the registry. */
void trp_peers_ban(trp_peers_t *registry, uint64_t uid);

/* Calls fn with each peer and the mutex held; fn must not call back. */
void trp_peers_visit(trp_peers_t *registry, void (*fn)(trp_peer_t *peer, void *context),
                     void *context);

/* Sets what is shown of it. */
void trp_peers_describe(trp_peers_t *registry, trp_peer_t *peer, trp_view_t name,
                        trp_view_t address);

#endif
