/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Subscriptions of a dispatcher's own actors.
 *
 *     actor -> subscription -> subscription -> ...            (all of one actor)
 *     topic, group or pattern -> [subscriber, subscriber, ...] (what a publish walks)
 *
 * A subscription is *pending* until the mediator has told every dispatcher; then it turns active, its
 * acknowledgement enters the mailbox, and only messages after that reach it.
 *
 * Thread rule: the dispatcher's own. */

#ifndef TROUPE_PUBSUB_SUBSCRIPTION_H
#define TROUPE_PUBSUB_SUBSCRIPTION_H

#include "pubsub/replica.h"

#define TRP_SUBSCRIBERS_MAX (1u << 24) /* Of one topic on one dispatcher. */

typedef enum trp_subscription_state {
    TRP_SUBSCRIPTION_PENDING = 1,
    TRP_SUBSCRIPTION_ACTIVE = 2,
} trp_subscription_state_t;

struct trp_subscription {
    uint64_t actor;
    const trp_atom_t *name;  /* A topic, path or pattern; referenced. */
    const trp_atom_t *group; /* NULL: plain; referenced. */
    trp_subscription_t *actor_next;
    trp_subscription_t *actor_prev;
    void *op;               /* For the driver: what will acknowledge it. */
    uint32_t at;            /* In its list of subscribers. */
    uint32_t queue_len_max; /* With a slow policy. */
    uint64_t dropped;       /* Messages it was too slow for. */
    uint8_t state;          /* trp_subscription_state_t */
    uint8_t slow;           /* troupe_slow_t */
    bool with_topic;
    bool is_slow_told; /* In an episode of being too slow. */
};

/* The members of one group of a topic here. */
typedef struct trp_replica_group {
    trp_subscribers_t members;
    uint32_t next; /* Round robin. */
} trp_replica_group_t;

typedef struct trp_subscribing {
    uint64_t actor;
    const trp_atom_t *name;
    const trp_atom_t *group; /* NULL: plain. */
    uint8_t slow;
    bool with_topic;
    uint32_t queue_len_max;
} trp_subscribing_t;

/* Enters a pending subscription. A topic or path must be resolved. TROUPE_EEXIST: ret_subscription is
 * the one that is there; TROUPE_EFULL; TROUPE_ENOMEM. */
troupe_err_t trp_subscription_add(trp_replica_t *replica, const trp_subscribing_t *subscribing,
                                  trp_subscription_t **ret_subscription);

trp_subscription_t *trp_subscription_find(const trp_replica_t *replica, uint64_t actor,
                                          const trp_atom_t *name, const trp_atom_t *group);

/* The first of an actor's; follow actor_next. NULL: it has none. */
trp_subscription_t *trp_subscription_first(const trp_replica_t *replica, uint64_t actor);

/* From now on it takes messages. */
void trp_subscription_activate(trp_replica_t *replica, trp_subscription_t *subscription);

/* Takes it out and frees it. */
void trp_subscription_remove(trp_replica_t *replica, trp_subscription_t *subscription);

/* Takes all out, before the replica ends. */
void trp_subscriptions_fini(trp_replica_t *replica);

/* The list that a subscription is in, or would be: of its topic, group or pattern. NULL: none yet. */
trp_subscribers_t *trp_subscription_list(const trp_replica_t *replica, const trp_atom_t *name,
                                         const trp_atom_t *group);

/* Subscribers on this dispatcher, pending ones too. */
uint32_t trp_subscription_count(const trp_replica_t *replica, const trp_atom_t *name,
                                const trp_atom_t *group);

#endif
