/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Two nodes in two processes, joined into a cluster: one here, one in a worker, with a sink and an echo
 * there. */

#ifndef TROUPE_BENCH_LINK_PAIR_H
#define TROUPE_BENCH_LINK_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "node.h"
#include "worker.h"

#define BENCH_LINK_KIND "link-node"
#define BENCH_LINK_UP_TIMEOUT_MS 20000

/* What a process has counted so far. */
typedef struct bench_counts {
    bench_allocs_t allocs;
    uint64_t frames; /* ZeroMQ messages sent. */
} bench_counts_t;

bench_counts_t bench_counts_now(void);

typedef struct bench_link_answer {
    bench_tally_t tally;
    bench_counts_t counts;
} bench_link_answer_t;

typedef struct bench_link_pair {
    bench_node_t node;
    bench_worker_t worker;
    troupe_ref_t sink;      /* In the worker: bench_sink_behavior. */
    troupe_ref_t echo;      /* In the worker: answers each message with itself. */
    troupe_ref_t bulk_sink; /* In the worker: answers each message with a bench_message_t. */
} bench_link_pair_t;

/* False (nothing left behind) when the nodes don't come up. */
bool bench_link_open(uint64_t dispatchers, bool curve, bench_link_pair_t *ret_pair);
void bench_link_close(bench_link_pair_t *pair);

/* Makes the sink expect `count` messages, or waits until it has them. */
bool bench_link_arm(bench_link_pair_t *pair, uint64_t count, bench_link_answer_t *ret_answer);
bool bench_link_wait(bench_link_pair_t *pair, bench_link_answer_t *ret_answer);

/* The worker's main. */
int bench_link_worker(int fd);

#endif
