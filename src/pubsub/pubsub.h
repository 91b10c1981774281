/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The room's face to the composition root: one per node.
 *
 *     dispatchers: site = replica + subscriptions      (publish: straight to the subscribers' sites)
 *     system dispatcher: mediator = directory + registry + acknowledgements
 *     link thread: masks
 *
 * Thread rule: each function says. */

#ifndef TROUPE_PUBSUB_PUBSUB_H
#define TROUPE_PUBSUB_PUBSUB_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/pubsub.h>

#include "base/log.h"

typedef struct trp_pubsub trp_pubsub_t;
typedef struct trp_runtime trp_runtime_t;
typedef struct trp_link trp_link_t;

typedef struct trp_pubsub_options {
    trp_runtime_t *runtime;      /* Borrowed. */
    trp_link_t *link;            /* Borrowed; NULL: no other nodes. Not yet started. */
    trp_log_t *log;              /* Borrowed; may be NULL. */
    uint32_t names_max;          /* Topics, groups, patterns and paths; 0: 2 Mi. */
    uint64_t gossip_interval_ns; /* 0: 1 s. */
    uint64_t tombstone_ns;       /* Also how long an unused name is kept; 0: 120 s. */
    troupe_routing_t routing;    /* For groups and paths; 0: random. */
    bool no_dead_letters;        /* A publish without subscribers is only counted. */
} trp_pubsub_options_t;

/* Hooks itself into the runtime and the link; before either starts, and before any user type is
 * registered. TROUPE_EINVAL, TROUPE_ENOMEM. */
troupe_err_t trp_pubsub_create(const trp_pubsub_options_t *options, trp_pubsub_t **ret_pubsub);
/* After the dispatchers and the link have ended. NULL is fine. */
void trp_pubsub_destroy(trp_pubsub_t **pubsub_p);

/* ---- members: any thread, after the runtime's start ------------------------------------------- */

/* A member that keeps a mediator. Telling twice is telling once. */
void trp_pubsub_node_up(trp_pubsub_t *pubsub, uint64_t uid);
/* It is gone for good, and what it had registered with it. */
void trp_pubsub_node_gone(trp_pubsub_t *pubsub, uint64_t uid);
void trp_pubsub_node_reachable(trp_pubsub_t *pubsub, uint64_t uid, bool is_reachable);
/* Whether the registries of all reachable members were taken in once: what a node that joins waits
 * for. */
bool trp_pubsub_is_synced(trp_pubsub_t *pubsub);

#endif
