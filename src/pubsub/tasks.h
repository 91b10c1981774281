/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the room's parts post to each other's dispatchers, and the tasks that take it.
 *
 *     site --place--> mediator --changed--> sites that use the topic --applied--> mediator
 *     site <--acked-- mediator            site --answered--> site of the publisher
 *
 * Thread rule: a task runs on the dispatcher that it is posted to; the mediator's on the system's. */

#ifndef TROUPE_PUBSUB_TASKS_H
#define TROUPE_PUBSUB_TASKS_H

#include "pubsub/site.h"

/* ---- to the mediator (mediator.c) ------------------------------------------------------------- */

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

void trp_mediator_place(trp_dispatcher_t *d, void *payload, size_t size);
void trp_mediator_applied(trp_dispatcher_t *d, void *payload, size_t size);
void trp_mediator_node(trp_dispatcher_t *d, void *payload, size_t size);

/* ---- to sites (subscribe.c, confirm.c) --------------------------------------------------------- */

/* The answer to a part of a confirmed publish. */
typedef struct trp_confirm_answer {
    uint64_t node;  /* Who answers; 0: this node. */
    uint32_t key;   /* Of the confirm: dispatcher << 24 | number. */
    uint32_t taken; /* Subscribers that took it. */
    uint32_t parts; /* Answers that this node gives in all. */
    uint32_t reserved;
} trp_confirm_answer_t;

void trp_site_changed(trp_dispatcher_t *d, void *payload, size_t size);
void trp_site_acked(trp_dispatcher_t *d, void *payload, size_t size);
void trp_confirm_answered(trp_dispatcher_t *d, void *payload, size_t size);

#endif
