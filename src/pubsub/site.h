/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A site: what pub/sub keeps on one dispatcher; and what it keeps once a node.
 *
 * Thread rule: a site belongs to its dispatcher; trp_pubsub_t's own fields are immutable after the
 * start or say otherwise. */

#ifndef TROUPE_PUBSUB_SITE_H
#define TROUPE_PUBSUB_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/deliver.h"
#include "actor/dispatcher.h"
#include "net/link/link.h"
#include "pubsub/pubsub.h"
#include "pubsub/replica.h"
#include "pubsub/subscription.h"

typedef struct trp_mediator trp_mediator_t;
typedef struct trp_confirm trp_confirm_t;
typedef struct trp_site trp_site_t;

struct trp_pubsub {
    trp_pubsub_options_t options;
    trp_runtime_t *runtime;
    trp_link_t *link;
    trp_atoms_t names;
    trp_directory_t directory;
    trp_mediator_t *mediator; /* The system dispatcher's alone. */
    _Atomic bool is_synced;
    pthread_mutex_t stats_lock;
    troupe_pubsub_stats_t stats; /* Under the lock; written once a second. */
};

/* An acknowledgement that is under way to an actor of this site. */
typedef struct trp_op {
    uint64_t token;
    uint64_t actor;
    uint64_t tag;
    troupe_topic_t topic;
    trp_subscription_t *subscription; /* To turn active; NULL: none, or it is gone. */
    uint32_t answer;                  /* troupe_pubsub_answer_t */
    bool is_silent;                   /* The actor wants no message. */
} trp_op_t;

struct trp_site {
    trp_pubsub_t *pubsub;
    trp_dispatcher_t *d;
    trp_replica_t replica;
    trp_map_t ops;        /* Token -> trp_op_t */
    trp_map_t confirms;   /* Token -> trp_confirm_t */
    uint32_t confirm_len; /* Open, waiting ones too. */
    uint64_t next_token;
    uint32_t next_confirm;
    trp_map_t rotations; /* Round robin: topic id << 32 | group id -> next. */
};

/* The site of a dispatcher; NULL when the node runs no pub/sub. */
static inline trp_site_t *trp_site_of(const trp_dispatcher_t *d)
{
    return d->ext[TRP_EXT_PUBSUB];
}

/* Whether the calling actor may use pub/sub, and its site. */
static inline troupe_err_t trp_site_get(const troupe_actor_t *self, trp_site_t **ret_site)
{
    *ret_site = trp_site_of(self->dispatcher);
    return TRP_LIKELY(*ret_site != NULL) ? TROUPE_OK : TROUPE_ENOTREADY;
}

#endif
