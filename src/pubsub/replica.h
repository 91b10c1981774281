/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A dispatcher's replica: where each topic that it uses goes, and its own subscribers.
 *
 *     chunks[id / 1024][id % 1024] -> one cache line a topic:
 *         name, snapshot | first subscriber or list | other dispatchers | flags
 *
 * A publish reads the topic's line, and then the line of each subscriber. Nothing here is shared with
 * other threads but the immutable snapshots and names. A topic is *resolved* through the directory on
 * its first use; from then on the mediator sends each change of it, until it is forgotten.
 *
 * Thread rule: the dispatcher's own. */

#ifndef TROUPE_PUBSUB_REPLICA_H
#define TROUPE_PUBSUB_REPLICA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/pubsub.h>

#include "base/attr.h"
#include "base/view.h"
#include "pubsub/atoms.h"
#include "pubsub/directory.h"
#include "pubsub/map.h"
#include "pubsub/targets.h"

typedef struct trp_subscription trp_subscription_t;

/* One subscriber in a list. Bit 0 of `tagged` says that messages go straight into its mailbox; without
 * it the subscription has to be looked at (pending, with a slow policy, wanting the topic). */
typedef struct trp_subscriber {
    uint64_t actor;
    uintptr_t tagged;
} trp_subscriber_t;

#define TRP_SUBSCRIBER_DIRECT ((uintptr_t)1)

static inline trp_subscription_t *trp_subscriber_subscription(const trp_subscriber_t *subscriber)
{
    return (trp_subscription_t *)(subscriber->tagged & ~TRP_SUBSCRIBER_DIRECT);
}

/* A list that holds its only element in place. */
typedef struct trp_subscribers {
    union {
        trp_subscriber_t one; /* capacity 0 */
        trp_subscriber_t *many;
    } u;
    uint32_t len;
    uint32_t capacity;
} trp_subscribers_t;

static inline trp_subscriber_t *trp_subscribers_items(trp_subscribers_t *list)
{
    return list->capacity == 0 ? &list->u.one : list->u.many;
}

#define TRP_REPLICA_NEAR_MAX 6u

enum {
    TRP_REPLICA_HERE = 1 << 0,     /* The snapshot has this dispatcher among the plain targets. */
    TRP_REPLICA_NODES = 1 << 1,    /* Other nodes. */
    TRP_REPLICA_PATTERNS = 1 << 2, /* Patterns with subscribers on this node. */
    TRP_REPLICA_MANY = 1 << 3,     /* More other dispatchers than fit into the line. */
};

/* One topic. The first line of a list of waiting confirmed publishes hangs on `waiting`. */
typedef struct trp_replica_topic {
    TRP_ALIGNED(TRP_CACHE_LINE) const trp_atom_t *name; /* Referenced; NULL: the place is free. */
    trp_targets_t *targets;                             /* Referenced. */
    trp_subscribers_t subscribers;                      /* Plain ones here, pending ones too. */
    uint32_t id;
    uint32_t generation;
    uint8_t flags;
    uint8_t near_len; /* Other dispatchers of this node with plain subscribers. */
    uint8_t near[TRP_REPLICA_NEAR_MAX];
    void *waiting; /* For the room's driver. */
} trp_replica_topic_t;

_Static_assert(sizeof(trp_replica_topic_t) == TRP_CACHE_LINE, "a topic is one cache line");

#define TRP_REPLICA_CHUNK_BITS 10u
#define TRP_REPLICA_CHUNK_LEN (1u << TRP_REPLICA_CHUNK_BITS)

typedef struct trp_replica_index {
    uint32_t hash; /* High half of the name's. */
    uint32_t id;   /* 0: empty. */
} trp_replica_index_t;

typedef struct trp_replica {
    trp_directory_t *directory; /* Borrowed. */
    trp_replica_topic_t **chunks;
    uint32_t chunk_len;
    uint32_t len;               /* Topics resolved. */
    trp_replica_index_t *index; /* By name; open addressing. */
    uint32_t index_mask;
    uint8_t number;
    trp_map_t patterns; /* Pattern id -> trp_subscribers_t, its subscribers here. */
    trp_map_t groups;   /* Topic id << 32 | group id -> trp_replica_group_t */
    trp_map_t actors;   /* Actor id -> first trp_subscription_t of its chain. */
    uint64_t subscription_len;
} trp_replica_t;

troupe_err_t trp_replica_init(trp_replica_t *replica, trp_directory_t *directory, uint8_t number);
/* Drops all topics; there must be no subscription left. */
void trp_replica_fini(trp_replica_t *replica);

/* ---- topics ---------------------------------------------------------------------------------- */

/* The topic's line; NULL when it was not resolved, or another generation is meant. */
static inline trp_replica_topic_t *trp_replica_at(const trp_replica_t *replica, uint32_t id,
                                                  uint32_t generation)
{
    uint32_t chunk = id >> TRP_REPLICA_CHUNK_BITS;
    if (TRP_UNLIKELY(chunk >= replica->chunk_len || replica->chunks[chunk] == NULL)) {
        return NULL;
    }
    trp_replica_topic_t *topic = &replica->chunks[chunk][id & (TRP_REPLICA_CHUNK_LEN - 1)];
    return TRP_LIKELY(topic->generation == generation && generation != 0) ? topic : NULL;
}

/* Whatever topic has that id now. */
trp_replica_topic_t *trp_replica_any(const trp_replica_t *replica, uint32_t id);

/* The line of that name; NULL when it was not resolved. */
trp_replica_topic_t *trp_replica_find(const trp_replica_t *replica, trp_space_t space,
                                      trp_view_t bytes);

/* Asks the directory. Takes its lock. Errors of trp_directory_resolve, and TROUPE_ENOMEM. */
troupe_err_t trp_replica_resolve(trp_replica_t *replica, trp_space_t space, trp_view_t bytes,
                                 trp_replica_topic_t **ret_topic);
troupe_err_t trp_replica_resolve_id(trp_replica_t *replica, uint32_t id, uint32_t generation,
                                    trp_replica_topic_t **ret_topic);

/* The topic that has the id now, whatever its generation. */
troupe_err_t trp_replica_resolve_any(trp_replica_t *replica, uint32_t id,
                                     trp_replica_topic_t **ret_topic);

/* Takes over a newer snapshot (one reference, dropped when it is not newer). Returns the topic, NULL
 * when it is not known here. */
trp_replica_topic_t *trp_replica_apply(trp_replica_t *replica, uint32_t id, uint32_t generation,
                                       trp_targets_t *targets);

/* Drops a topic that has no subscribers here and nothing waiting; returns whether it did. */
bool trp_replica_forget(trp_replica_t *replica, uint32_t id, uint32_t generation);

static inline troupe_topic_t trp_replica_handle(const trp_atom_t *name)
{
    troupe_topic_t handle = {name->id, name->generation, name->hash};
    return handle;
}

#endif
