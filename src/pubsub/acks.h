/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* When is a subscription in effect? A pure state machine.
 *
 * Each change that a dispatcher is told of has a sequence number, and dispatchers answer with the
 * numbers they have applied. A wish that is entered now is fulfilled on this node once no dispatcher
 * owes an answer to a number that was given out before: from then on every publish of this node finds
 * the subscriber. A cluster-wide wish then waits for the members.
 *
 *     wishes:  [a:3] [b:7] [c:7] [d:12]     number given out last when the wish was entered
 *     owed:    dispatcher 0: up to 9 applied, 12 told     ->  a, b, c are fulfilled
 *
 * Thread rule: belongs to its thread. */

#ifndef TROUPE_PUBSUB_ACKS_H
#define TROUPE_PUBSUB_ACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/pubsub.h>

#include "base/list.h"
#include "pubsub/targets.h"

typedef enum trp_ack_kind {
    TRP_ACK_NODE = 1,    /* In effect on this node. */
    TRP_ACK_CLUSTER = 2, /* And on all members that are up and reachable. */
    TRP_ACK_PEER = 3,    /* On this node; for another node's registry. */
} trp_ack_kind_t;

typedef struct trp_ack_wish {
    trp_ack_kind_t kind;
    uint32_t replica;   /* Whom to tell. */
    uint64_t token;     /* The site's; of PEER: the owner's uid. */
    uint64_t version;   /* Of the registry that members must have. */
    uint64_t deadline;  /* Of CLUSTER. */
    troupe_err_t error; /* Not OK: fulfilled at once with that. */
} trp_ack_wish_t;

/* What a wish has come to. */
typedef struct trp_ack {
    trp_ack_wish_t wish; /* error: ETIMEOUT when members are missing at the deadline. */
    uint32_t nodes;      /* Other members that have it. */
    uint32_t missing_len;
    uint64_t missing[TROUPE_PUBSUB_MISSING_MAX];
} trp_ack_t;

typedef struct trp_acks_sink {
    void *context;
    void (*done)(void *context, const trp_ack_t *ack);
    /* As trp_registry_acked. */
    uint32_t (*count)(void *context, uint64_t version, uint64_t *ret_missing, uint32_t capacity,
                      uint32_t *ret_missing_len);
} trp_acks_sink_t;

typedef struct trp_acks {
    trp_acks_sink_t sink;
    uint64_t sequence; /* Given out last. */
    uint64_t told[TRP_REPLICAS_MAX];
    uint64_t owed[TRP_REPLICAS_MAX]; /* The number that it began to owe with. */
    uint64_t applied[TRP_REPLICAS_MAX];
    trp_list_t near;    /* Wait for dispatchers, oldest first. */
    trp_list_t cluster; /* Wait for members. */
    size_t len;
} trp_acks_t;

void trp_acks_init(trp_acks_t *acks, const trp_acks_sink_t *sink);
/* Drops the wishes that are open. */
void trp_acks_fini(trp_acks_t *acks);

/* The number for the next change. */
static inline uint64_t trp_acks_next(trp_acks_t *acks)
{
    return ++acks->sequence;
}

/* The dispatcher was told of the change with that number. */
static inline void trp_acks_told(trp_acks_t *acks, uint32_t replica, uint64_t sequence)
{
    if (acks->applied[replica] >= acks->told[replica]) {
        acks->owed[replica] = sequence;
    }
    acks->told[replica] = sequence;
}

/* The dispatcher has applied all it was told up to that number. */
void trp_acks_applied(trp_acks_t *acks, uint32_t replica, uint64_t sequence);

/* Enters a wish; it may be fulfilled before this returns. Without memory it is answered with
 * TROUPE_ENOMEM (one of a peer is dropped: the peer asks again). */
void trp_acks_add(trp_acks_t *acks, const trp_ack_wish_t *wish);

/* Members or the time have changed. */
void trp_acks_check(trp_acks_t *acks, uint64_t now);

#endif
