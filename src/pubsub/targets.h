/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Where a topic's messages go: an immutable snapshot, shared by all dispatchers of a node.
 *
 *     +--------+---------+--------------------+------------------+----------------+-----------+
 *     | header | nodes[] | members[]          | groups[]         | patterns[]     | places[]  |
 *     +--------+---------+--------------------+------------------+----------------+-----------+
 *
 * The directory builds a new one when the topic changes and sends it to the dispatchers that use the
 * topic; each holds a reference. Reference counts are touched at changes only, never by a publish.
 *
 * Thread rule: immutable after build; references may be dropped on any thread. */

#ifndef TROUPE_PUBSUB_TARGETS_H
#define TROUPE_PUBSUB_TARGETS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/attr.h"

/* A dispatcher (or another thread with a replica) of this node, by number. */
#define TRP_REPLICAS_MAX 128u
#define TRP_REPLICA_WORDS (TRP_REPLICAS_MAX / 64)

/* One choice of a group: a dispatcher of this node, or another node. */
typedef struct trp_target_member {
    uint64_t node;    /* 0: this node. */
    uint32_t through; /* Sum of the weights up to and with this one. */
    uint8_t replica;  /* On this node. */
} trp_target_member_t;

typedef struct trp_target_group {
    uint32_t id;           /* Of the group's name. */
    uint32_t member_first; /* In members. */
    uint32_t member_len;
    uint32_t local_weight; /* Subscribers on this node; local members come first. */
    uint32_t weight;       /* All. */
} trp_target_group_t;

typedef struct trp_targets {
    _Atomic uint32_t refs;
    uint32_t node_len;
    uint64_t version; /* Grows with every change of the topic. */
    const uint64_t *nodes;
    const trp_target_member_t *members;
    const trp_target_group_t *groups;
    const uint32_t *patterns; /* Ids of the patterns that match and have subscribers here. */
    const uint8_t *replicas;  /* With plain or pattern subscribers. */
    uint32_t member_len;
    uint32_t group_len;
    uint32_t pattern_len;
    uint32_t replica_len;
    uint32_t reachable_len; /* The nodes that are reachable come first. */
    uint8_t slow_node;      /* troupe_slow_node_t */
} trp_targets_t;

/* What a snapshot is built from; arrays are borrowed and copied. */
typedef struct trp_targets_parts {
    uint64_t version;
    const uint64_t *nodes;
    const trp_target_member_t *members;
    const trp_target_group_t *groups;
    const uint32_t *patterns;
    const uint8_t *replicas;
    uint32_t node_len, member_len, group_len, pattern_len, replica_len, reachable_len;
    uint8_t slow_node;
} trp_targets_parts_t;

/* A snapshot with one reference. TROUPE_ENOMEM. */
troupe_err_t trp_targets_create(const trp_targets_parts_t *parts, trp_targets_t **ret_targets);

static inline trp_targets_t *trp_targets_ref(trp_targets_t *targets)
{
    /* Relaxed: a new reference is made from one that is held. */
    atomic_fetch_add_explicit(&targets->refs, 1, memory_order_relaxed);
    return targets;
}

/* Drops one reference and nulls the pointer. NULL is allowed. */
void trp_targets_unref(trp_targets_t **targets_p);

/* The group of that name's id, or NULL. */
const trp_target_group_t *trp_targets_group(const trp_targets_t *targets, uint32_t group_id);

/* The member of the group that the number `at`, below the group's weight, falls on. */
const trp_target_member_t *trp_targets_member(const trp_targets_t *targets,
                                              const trp_target_group_t *group, uint32_t at);

#endif
