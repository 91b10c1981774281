/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A node: what it is made of.
 *
 *     settings -> log -> runtime -> link -> pubsub -> cluster -> admin
 *
 * They are made from left to right and end from right to left. Thread rule: the pointers are set by
 * create and start, and cleared by destroy; the state is behind the mutex. */

#ifndef TROUPE_NODE_NODE_PRIVATE_H
#define TROUPE_NODE_NODE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <troupe/node.h>

#include "actor/runtime.h"
#include "base/log.h"
#include "net/link/link.h"
#include "node/settings.h"
#include "pubsub/pubsub.h"

typedef struct trp_admin trp_admin_t;
typedef struct trp_node_cluster trp_node_cluster_t;

typedef struct trp_node {
    struct troupe_node base; /* First: what the public pointer points to. */
    trp_settings_t settings;
    trp_log_t log;
    uint64_t uid;
    uint64_t started_ms;         /* Wall clock. */
    trp_link_t *link;            /* NULL: no links. */
    trp_pubsub_t *pubsub;        /* NULL: this node takes no part in topics. */
    trp_node_cluster_t *cluster; /* NULL: no links. */
    trp_admin_t *admin;          /* NULL: no admin socket. */
    troupe_ref_t lookup;         /* The actor that looks up actors of other members. */
    troupe_type_t lookup_type;
    /* The kernel's numbers of the dispatchers' threads, by dispatcher. Unlike a pthread_t such a number
     * doesn't come back as soon as its thread has ended. In the settings' store. */
    pid_t *threads;
    bool has_runtime_started;
    bool has_link_started;
    pthread_mutex_t mutex;
    pthread_mutex_t telling; /* Held while the program is told of a change. */
    pthread_cond_t changed;  /* The state, or is_stop_done. On the monotonic clock. */
    _Atomic uint32_t state;  /* troupe_node_state_t; written under the mutex. */
    troupe_err_t reason;     /* Of the state. Under the mutex. */
    bool is_stop_begun;
    bool is_stop_done;
    troupe_err_t stop_error;
} trp_node_t;

static inline trp_node_t *trp_node_of(troupe_node_t *node)
{
    return (trp_node_t *)node;
}

static inline const trp_node_t *trp_node_of_const(const troupe_node_t *node)
{
    return (const trp_node_t *)node;
}

/* Changes the state unless the node is past it (what stops doesn't come up again), wakes those who
 * wait and tells the program. Any thread. */
void trp_node_set_state(trp_node_t *node, troupe_node_state_t state, troupe_err_t reason);

/* Waits until the state is one of those in `mask` (bits by state). ETIMEOUT. Not on a dispatcher. */
troupe_err_t trp_node_wait_state(trp_node_t *node, uint32_t mask, uint64_t deadline_ns,
                                 troupe_node_state_t *ret_state, troupe_err_t *ret_reason);

/* The member at that address, this node itself included. ENODE. Any thread. */
troupe_err_t trp_node_find_member(trp_node_t *node, const trp_node_address_t *address,
                                  uint64_t *ret_uid);

#define TRP_NODE_STATE_BIT(state) (1u << (uint32_t)(state))

#endif
