/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Counters: the law of conservation, and what the tools show.
 *
 *   made + received = taken + handed_over + dropped (by reason) + in flight
 *
 * for user messages and for system messages apart. `in_flight` is counted by walking mailboxes,
 * stashes, outboxes, channels and link queues, never computed. While messages move the parts are read
 * at slightly different moments; on a quiet node the law holds exactly. Since 0.1. */

#ifndef TROUPE_STATS_H
#define TROUPE_STATS_H

#include <troupe/actor.h>
#include <troupe/events.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_flow {
    uint64_t made;        /* One for each receiver. */
    uint64_t received;    /* Taken in from links. */
    uint64_t taken;       /* Handled by a receive (or as a reply), successfully or not. */
    uint64_t handed_over; /* Acknowledged by the peer node. */
    uint64_t in_flight;   /* Counted by walking. */
    uint64_t dropped[TROUPE_DROP_LEN];
} troupe_flow_t;

typedef struct troupe_stats {
    size_t size; /* sizeof(troupe_stats_t), set by the caller */
    troupe_flow_t user;
    troupe_flow_t system;
    uint64_t actors;     /* Alive now. */
    uint64_t spawned;    /* Ever. */
    uint64_t asks;       /* Waiting for a reply. */
    uint64_t timers;     /* Running. */
    uint64_t parked;     /* Actors waiting for room. */
    uint64_t pool_bytes; /* Message memory taken, of the ceiling. */
    uint64_t wakeups;    /* Eventfd writes. */
    uint32_t dispatchers;
} troupe_stats_t;

/* Reads the counters and walks what is in flight, on every dispatcher in turn. Waits for their answers
 * up to `timeout_ms`; TROUPE_ETIMEOUT when one is stuck. Any thread but a dispatcher's. */
TROUPE_API troupe_err_t troupe_node_stats(troupe_node_t *node, uint32_t timeout_ms,
                                          troupe_stats_t *ret_stats);

TROUPE_END_DECLS

#endif
