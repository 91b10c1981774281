/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A node with what every benchmark needs around it: message types, an inbox for the main thread, and
 * calls that end the program with a message when the library refuses what it must not refuse. */

#ifndef TROUPE_BENCH_NODE_H
#define TROUPE_BENCH_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>
#include <troupe/error.h>
#include <troupe/inbox.h>
#include <troupe/node.h>
#include <troupe/ref.h>
#include <troupe/type.h>

#include "alloc_count.h"
#include "histogram.h"
#include "sample.h"

/* Messages a flooding actor sends before it lets others run: what an activation handles by default. A
 * receiver on the same dispatcher then keeps up; nothing else holds a sender there back. */
#define BENCH_BATCH 64
#define BENCH_COLLECT_TIMEOUT_MS 60000
#define BENCH_STOP_TIMEOUT_MS 10000

/* The message that is measured: 32 bytes. */
typedef struct bench_message {
    uint64_t sequence; /* Counts up for each sender and receiver. */
    uint64_t stamp_ns; /* When it was sent, where latency is measured. */
    uint64_t client;
    uint64_t spare;
} bench_message_t;
TROUPE_TYPE_ASSERT_FIXED(bench_message_t, 32);

/* What the main thread tells actors, and they answer. */
typedef enum bench_op {
    BENCH_OP_READY = 1, /* Answer: subscribed, or set up. */
    BENCH_OP_ARM,       /* Expect `count` messages; then be DONE. */
    BENCH_OP_GO,        /* Send `count` messages. */
    BENCH_OP_MORE,      /* To oneself: go on sending. */
    BENCH_OP_CREDIT,    /* `count` messages have been taken. */
    BENCH_OP_DONE,      /* Answer: all sent, or all received. */
    BENCH_OP_PEER,      /* `peer` is who to talk to. */
    BENCH_OP_PROBE,     /* Send one message with its time. */
    BENCH_OP_STOP,      /* End what GO began. */
} bench_op_t;

typedef struct bench_order {
    uint32_t op;
    uint32_t index; /* Of the client or actor. */
    uint64_t count;
    uint64_t lost;
    uint64_t time_ns; /* When the last message was there. */
    troupe_ref_t peer;
} bench_order_t;
TROUPE_TYPE_ASSERT_FIXED(bench_order_t, 48);

typedef struct bench_node {
    troupe_node_t *node;
    troupe_inbox_t *inbox;
    troupe_type_t message; /* bench_message_t */
    troupe_type_t order;   /* bench_order_t */
    troupe_type_t bytes;   /* Any bytes up to TROUPE_BULK_SIZE_MAX. */
    uint32_t dispatchers;
} bench_node_t;

/* What the answers of several actors add up to. */
typedef struct bench_tally {
    uint64_t count;
    uint64_t lost;
    uint64_t end_ns; /* The latest. */
} bench_tally_t;

/* Creates and starts a node. `options` may be NULL; 0 dispatchers mean one a processor. */
bool bench_node_open(const troupe_node_options_t *options, uint64_t dispatchers,
                     bench_node_t *ret_node);
/* Stops and frees. Fine on a zeroed node. */
void bench_node_close(bench_node_t *node);

/* Spawns under /user, with a copy of `args`. */
bool bench_node_spawn(bench_node_t *node, const troupe_behavior_t *behavior, uint32_t place,
                      const void *args, size_t args_size, troupe_ref_t *ret_ref);

/* Sends an order with the inbox as its sender. */
bool bench_node_order(bench_node_t *node, troupe_ref_t to, const bench_order_t *order);
bool bench_node_order_op(bench_node_t *node, troupe_ref_t to, bench_op_t op, uint64_t count);

/* Waits for `answers` orders of that kind and adds them up. `ret_tally` may be NULL. */
bool bench_node_collect(bench_node_t *node, bench_op_t op, uint64_t answers,
                        bench_tally_t *ret_tally);

/* For actors: a benchmark can't go on when a send is refused, so it ends the process and says why. */
void bench_must(troupe_err_t err, const char *what);
void bench_send_order(troupe_actor_t *self, const bench_node_t *node, troupe_ref_t to,
                      const bench_order_t *order);

/* Puts the allocations since `before` into the sample, for `messages` messages, if they are counted. */
void bench_sample_allocs(bench_sample_t *sample, const bench_allocs_t *before, uint64_t messages);

#endif
