/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The mediator: the part of pub/sub that a node has once, on its system dispatcher. It keeps the
 * directory and the registry, tells the dispatchers of changes, and acknowledges subscriptions once
 * every dispatcher (and, if asked, every member) knows of them. No publish passes through it.
 *
 *     site --place--> mediator --changed--> sites that use the topic --applied--> mediator --acked--> site
 *                        \--delta--> other mediators --ack--/
 *
 * Thread rule: the system dispatcher, but for what says otherwise. */

#ifndef TROUPE_PUBSUB_MEDIATOR_H
#define TROUPE_PUBSUB_MEDIATOR_H

#include "pubsub/site.h"

/* A site's subscribers of one name and group have become `weight`. Name and group are references that
 * the mediator takes over. */
typedef struct trp_place_message {
    const trp_atom_t *name;
    const trp_atom_t *group;
    uint64_t token; /* Not 0: to be acknowledged to the site. */
    uint32_t weight;
    uint32_t timeout_ms; /* Of a cluster-wide acknowledgement. */
    uint32_t replica;
    bool is_cluster;
} trp_place_message_t;

/* A topic that the site uses has changed; it looks the change up in the directory. */
typedef struct trp_changed_message {
    uint64_t sequence;
    uint32_t id;
    uint32_t generation;
    bool must_forget;
} trp_changed_message_t;

typedef struct trp_applied_message {
    uint64_t sequence;
    uint32_t replica;
} trp_applied_message_t;

/* An acknowledgement for the site's op. */
typedef struct trp_acked_message {
    uint64_t token;
    uint32_t error;
    uint32_t nodes;
    uint32_t missing_len;
    uint64_t missing[TROUPE_PUBSUB_MISSING_MAX];
} trp_acked_message_t;

_Static_assert(sizeof(trp_acked_message_t) <= TRP_TASK_SIZE_MAX, "fits a task");

/* Made before the start; begins to work when the system dispatcher's hook attaches. */
troupe_err_t trp_mediator_create(trp_pubsub_t *pubsub, trp_mediator_t **ret_mediator);
void trp_mediator_destroy(trp_mediator_t **mediator_p);
void trp_mediator_attach(trp_mediator_t *mediator, trp_dispatcher_t *d);
void trp_mediator_detach(trp_mediator_t *mediator);

/* Tasks on the system dispatcher. */
void trp_mediator_place(trp_dispatcher_t *d, void *payload, size_t size);
void trp_mediator_applied(trp_dispatcher_t *d, void *payload, size_t size);

typedef struct trp_node_message {
    uint64_t uid;
    uint8_t what; /* trp_node_change_t */
} trp_node_message_t;

typedef enum trp_node_change {
    TRP_NODE_UP = 1,
    TRP_NODE_GONE = 2,
    TRP_NODE_REACHABLE = 3,
    TRP_NODE_UNREACHABLE = 4,
} trp_node_change_t;

void trp_mediator_node(trp_dispatcher_t *d, void *payload, size_t size);

/* A control message of another node's mediator. */
void trp_mediator_receive(trp_mediator_t *mediator, uint64_t uid, trp_view_t bytes);

#endif
