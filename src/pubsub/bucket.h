/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One node's part of the registry: what it has registered, under one growing version.
 *
 *     map: {name, group} -> entry {weight, version}
 *     log: entries in order of version; only in the owner's own bucket
 *
 *          version  3    7    8    9    12
 *          entry    a    -    c    b    d        ('-': the entry has a newer version)
 *
 * The owner hands out deltas from the log. Its removed entries stay as tombstones until every member
 * has them, or for a time; `floor` is the newest version whose tombstone is gone, and a copy that ends
 * below it must be told everything. Copies need no tombstones: they come from the owner alone and
 * without gaps. Thread rule: a bucket belongs to the registry's thread. */

#ifndef TROUPE_PUBSUB_BUCKET_H
#define TROUPE_PUBSUB_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/list.h"
#include "pubsub/atoms.h"
#include "pubsub/map.h"

typedef struct trp_registry_entry {
    const trp_atom_t *name;  /* Referenced. */
    const trp_atom_t *group; /* Referenced; NULL: plain. */
    uint64_t version;
    uint64_t removed_at;  /* Of a tombstone. */
    trp_node_link_t tomb; /* In the tombstones, oldest first. */
    uint32_t weight;      /* 0: a tombstone. */
    bool is_stale;        /* Of a copy: not yet told again by a full transfer. */
    size_t log_at;
} trp_registry_entry_t;

typedef struct trp_log_item {
    uint64_t version;
    trp_registry_entry_t *entry; /* NULL: has moved on. */
} trp_log_item_t;

typedef struct trp_bucket {
    trp_atoms_t *names; /* Borrowed. */
    trp_map_t map;
    uint64_t version;
    uint64_t floor;
    size_t live_len;
    size_t tomb_len;
    trp_list_t tombs;
    trp_log_item_t *log; /* NULL in a copy. */
    size_t log_len;
    size_t log_capacity;
    size_t log_holes;
} trp_bucket_t;

void trp_bucket_init(trp_bucket_t *bucket, trp_atoms_t *names);
void trp_bucket_fini(trp_bucket_t *bucket);

trp_registry_entry_t *trp_bucket_find(const trp_bucket_t *bucket, const trp_atom_t *name,
                                      const trp_atom_t *group);

/* The owner sets a weight: the entry gets the next version; weight 0 leaves a tombstone. Setting what
 * is there already, or removing what is not, changes nothing. TROUPE_ENOMEM. */
troupe_err_t trp_bucket_write(trp_bucket_t *bucket, const trp_atom_t *name, const trp_atom_t *group,
                              uint32_t weight, uint64_t now);

/* Where in the log the first version above `version` is; log_len when there is none. */
size_t trp_bucket_after(const trp_bucket_t *bucket, uint64_t version);

/* Drops the tombstones that are not newer than `version`, or older than `ttl_ns`, or more than
 * `tomb_max`. */
void trp_bucket_prune(trp_bucket_t *bucket, uint64_t version, uint64_t now, uint64_t ttl_ns,
                      size_t tomb_max);

/* A copy takes one element over; weight 0 takes the entry out. Neither the bucket's version nor a log
 * is touched. TROUPE_ENOMEM. */
troupe_err_t trp_bucket_copy(trp_bucket_t *bucket, const trp_atom_t *name, const trp_atom_t *group,
                             uint32_t weight, uint64_t version);

/* Takes an entry of a copy out and frees it. */
void trp_bucket_drop(trp_bucket_t *bucket, trp_registry_entry_t *entry);

static inline uint64_t trp_bucket_key(const trp_atom_t *name, const trp_atom_t *group)
{
    return (uint64_t)name->id << 32 | (group != NULL ? group->id : 0);
}

static inline trp_registry_entry_t *trp_bucket_entry(const trp_map_entry_t *item)
{
    return (trp_registry_entry_t *)(uintptr_t)item->value;
}

#endif
