/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One node of the pub/sub stress: its publishers and subscribers, and the orders they are led by.
 *
 * The same orders are obeyed by a place in this process (the shape `node`) and by places in worker
 * processes (the cluster shapes):
 *
 *     OPEN -> SUBSCRIBE -> PUBLISHERS -> { ARM -> GO -> WAIT | ARM -> PROBE -> WAIT }...
 */

#ifndef TROUPE_BENCH_PUBSUB_PLACE_H
#define TROUPE_BENCH_PUBSUB_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "link_pair.h"
#include "node.h"

#define BENCH_PUBSUB_KIND "pubsub-node"
#define BENCH_PUBSUB_CLIENTS_MAX 10000

typedef enum bench_place_tag {
    BENCH_PLACE_OPEN = 1,
    BENCH_PLACE_SUBSCRIBE,
    BENCH_PLACE_PUBLISHERS,
    BENCH_PLACE_ARM,   /* `count`: messages that each subscriber will get. */
    BENCH_PLACE_GO,    /* `count`: messages that each publisher publishes. */
    BENCH_PLACE_PROBE, /* `count`: messages that each publisher publishes at a pace. */
    BENCH_PLACE_WAIT,  /* For all that this place's actors are to be DONE with. */
} bench_place_tag_t;

typedef struct bench_place_setup {
    uint64_t clients;
    uint64_t dispatchers;
    uint32_t shape, load, by, placement; /* One bit of each of the options' choices. */
    uint32_t nodes;                      /* Of the cluster; 1: no links at all. */
    uint32_t index;                      /* Which of them this is. */
    uint32_t reserved;
} bench_place_setup_t;

typedef struct bench_place_order {
    bench_place_setup_t setup; /* OPEN alone. */
    char seed[TROUPE_NODE_ADDRESS_SIZE];
    uint64_t count;
    uint64_t pace_ns; /* PROBE: between two messages of this place. */
} bench_place_order_t;

typedef struct bench_place_answer {
    char address[TROUPE_NODE_ADDRESS_SIZE];
    bench_tally_t tally;
    bench_counts_t counts;
    uint64_t memory_size; /* Bytes of the process. */
    uint64_t threads;
    bench_histogram_t histogram; /* After WAIT: of the messages that carried a time. */
} bench_place_answer_t;

_Static_assert(sizeof(bench_place_answer_t) <= BENCH_WORKER_RECORD_MAX, "an answer is one record");

typedef struct bench_place bench_place_t;

/* NULL when memory is out. */
bench_place_t *bench_place_create(void);
/* Stops the node. NULL is allowed; nulls the pointer. */
void bench_place_destroy(bench_place_t **place);

/* The node of a place that has obeyed OPEN. */
bench_node_t *bench_place_node(bench_place_t *place);

/* Obeys an order. */
bool bench_place_obey(bench_place_t *place, bench_place_tag_t tag, const bench_place_order_t *order,
                      bench_place_answer_t *ret_answer);

/* The worker's main. */
int bench_place_worker(int fd);

#endif
