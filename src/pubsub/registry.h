/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry: who has subscribers for what, on every member of the cluster. A pure state machine:
 * time, randomness and messages come in as arguments, everything it does goes out through the sink.
 *
 * Only a node itself tells of its bucket. Data of a bucket is taken from its owner's own link and from
 * nobody else, so no peer can add to, change or wipe what another one has registered. What other
 * members tell is only *how far* an owner's bucket has come (its version); a false hint costs one
 * question to the owner.
 *
 * How a change spreads:
 *   push    the owner sends what is new to every member at once (delta from..to);
 *   ack     a member answers when the change is in effect on its dispatchers;
 *   probe   the owner asks members that have not answered for a while (an empty delta);
 *   want    a member whose copy ends before `from` asks for what is missing: nothing is merged over
 *           a gap; the answer comes in chunks, each asked for;
 *   full    when the owner no longer has the tombstones in between, it tells everything, and what it
 *           did not tell again is swept at the end;
 *   digest  once an interval to one member: a hash of the version vector; only when it differs do the
 *           two exchange the vector (by hashed ranges when there are many members).
 *
 * Thread rule: a registry belongs to its thread. */

#ifndef TROUPE_PUBSUB_REGISTRY_H
#define TROUPE_PUBSUB_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/view.h"
#include "pubsub/atoms.h"
#include "pubsub/bucket.h"

#define TRP_REGISTRY_NODES_MAX 8192u
#define TRP_REGISTRY_GONE_MAX 256u /* Uids of removed nodes that are remembered. */

typedef struct trp_registry_options {
    uint64_t self; /* Uid of this node. */
    uint64_t seed;
    uint64_t gossip_interval_ns; /* 0: 1 s. */
    uint64_t tombstone_ns;       /* 0: 120 s. */
    uint32_t delta_len_max;      /* 0: 3,000 elements. */
    uint32_t delta_size_max;     /* 0: 56 KiB. */
    uint32_t tombstones_max;     /* 0: 200,000. */
    uint32_t entries_max;        /* Of all other nodes together; 0: 4 Mi. */
} trp_registry_options_t;

typedef struct trp_registry_sink {
    void *context;
    /* Sends a message to the mediator of a member, on the control lane. Borrowed for the call. */
    void (*send)(void *context, uint64_t peer, trp_view_t bytes);
    /* An entry of another node has a new weight; 0: it is gone. */
    void (*entry)(void *context, uint64_t owner, const trp_atom_t *name, const trp_atom_t *group,
                  uint32_t weight);
    /* All of the owner's changes up to `version` were told through `entry`. When they are in effect,
     * call trp_registry_ack. */
    void (*received)(void *context, uint64_t owner, uint64_t version);
    /* Some member has acknowledged a newer version, or the set of members has changed. */
    void (*acked)(void *context);
} trp_registry_sink_t;

typedef struct trp_registry_peer {
    uint64_t uid;
    trp_bucket_t bucket; /* Our copy of its bucket. */
    uint64_t head;       /* The newest version that we have heard of. */
    uint64_t acked;      /* Of ours, in effect there. */
    uint64_t probe_at;   /* When to ask for an acknowledgement that is missing. */
    uint64_t want_until; /* An answer to our want is awaited until then; 0: none is. */
    uint32_t want_nonce;
    bool is_reachable;
    bool is_sweeping; /* A full transfer is running: stale entries go at its end. */
    bool is_synced;   /* Has been told everything once. */
} trp_registry_peer_t;

typedef struct trp_registry_counts {
    uint64_t digests_sent;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    uint64_t elements_received;
    uint64_t refused_malformed; /* Not decodable. */
    uint64_t refused_forged;    /* A bucket that is not the sender's. */
    uint64_t refused_stranger;  /* From no member, or from a removed one. */
    uint64_t refused_full;      /* Elements that found no room. */
} trp_registry_counts_t;

typedef struct trp_registry {
    trp_registry_options_t options;
    trp_registry_sink_t sink;
    trp_atoms_t *names; /* Borrowed. */
    trp_random_t random;
    trp_bucket_t own;
    uint64_t pushed; /* Version that the last push ended at. */
    uint64_t gossip_at;
    trp_registry_peer_t **peers;
    uint32_t peer_len;
    uint32_t peer_capacity;
    trp_map_t peer_map; /* uid -> trp_registry_peer_t */
    uint32_t next_nonce;
    size_t entry_len; /* Of all copies. */
    trp_buf_t out;    /* Scratch for encoding. */
    uint64_t gone[TRP_REGISTRY_GONE_MAX];
    uint32_t gone_at;
    trp_registry_counts_t counts;
} trp_registry_t;

troupe_err_t trp_registry_init(trp_registry_t *registry, const trp_registry_options_t *options,
                               const trp_registry_sink_t *sink, trp_atoms_t *names, uint64_t now);
void trp_registry_fini(trp_registry_t *registry);

/* ---- this node's own entries ----------------------------------------------------------------- */

/* Sets the weight of an entry of this node; spread by the next flush. TROUPE_ENOMEM. */
troupe_err_t trp_registry_set(trp_registry_t *registry, const trp_atom_t *name,
                              const trp_atom_t *group, uint32_t weight, uint64_t now);
/* Pushes what is new to every reachable member. */
void trp_registry_flush(trp_registry_t *registry, uint64_t now);
/* The version that the changes made so far have. */
static inline uint64_t trp_registry_version(const trp_registry_t *registry)
{
    return registry->own.version;
}
/* Counts the reachable members that have acknowledged `version`; the uids of up to `capacity` others
 * go to ret_missing and their count to ret_missing_len. */
uint32_t trp_registry_acked(const trp_registry_t *registry, uint64_t version, uint64_t *ret_missing,
                            uint32_t capacity, uint32_t *ret_missing_len);

/* ---- members --------------------------------------------------------------------------------- */

/* TROUPE_EEXIST; TROUPE_EREFUSED for a uid that was removed; TROUPE_EFULL; TROUPE_ENOMEM. */
troupe_err_t trp_registry_add_node(trp_registry_t *registry, uint64_t uid, uint64_t now);
/* The node is gone for good, and its bucket with it. */
void trp_registry_remove_node(trp_registry_t *registry, uint64_t uid);
void trp_registry_set_reachable(trp_registry_t *registry, uint64_t uid, bool is_reachable,
                                uint64_t now);
/* Whether every reachable member's bucket has been taken in once. */
bool trp_registry_is_synced(const trp_registry_t *registry);
/* The copy of a member's bucket; NULL when it is no member. */
trp_registry_peer_t *trp_registry_peer(const trp_registry_t *registry, uint64_t uid);

/* ---- messages and time ----------------------------------------------------------------------- */

/* Takes in a message of the member that the link says it is from. Errors are counted, and only told
 * for the log: TROUPE_EPROTOCOL, TROUPE_EREFUSED (forged, or a stranger), TROUPE_EFULL, ... */
troupe_err_t trp_registry_receive(trp_registry_t *registry, uint64_t peer, trp_view_t bytes,
                                  uint64_t now);
/* Says that the peer's changes up to `version` are in effect here. */
void trp_registry_ack(trp_registry_t *registry, uint64_t peer, uint64_t version);
/* Gossips, probes, prunes. Returns when it wants to be called again. */
uint64_t trp_registry_tick(trp_registry_t *registry, uint64_t now);

#endif
