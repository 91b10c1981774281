/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What a registry consists of. For the registry's own files; others use registry.h.
 *
 * Thread rule: a registry belongs to its thread. */

#ifndef TROUPE_PUBSUB_REGISTRY_STATE_H
#define TROUPE_PUBSUB_REGISTRY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/buf.h"
#include "base/random.h"
#include "base/view.h"
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

/* The copy of a member's bucket; NULL when it is no member. */
static inline trp_registry_peer_t *trp_registry_peer(const trp_registry_t *registry, uint64_t uid)
{
    const uint64_t *value = uid != 0 ? trp_map_find(&registry->peer_map, uid) : NULL;
    return value != NULL ? (trp_registry_peer_t *)(uintptr_t)*value : NULL;
}

/* Sends what was encoded to the scratch buffer. */
static inline void trp_registry_send(trp_registry_t *registry, const trp_registry_peer_t *peer)
{
    registry->counts.bytes_sent += registry->out.size;
    registry->sink.send(registry->sink.context, peer->uid, trp_buf_view(&registry->out));
}

#endif
