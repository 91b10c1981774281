/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* All places of the pub/sub stress: one in this process, or several in processes of their own. */

#ifndef TROUPE_BENCH_PUBSUB_STAGE_H
#define TROUPE_BENCH_PUBSUB_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "pubsub_place.h"
#include "sample.h"
#include "worker.h"

#define BENCH_STAGE_NODES_MAX 16

typedef struct bench_stage {
    bench_place_setup_t setup;
    bench_place_t *local; /* The shape `node`. */
    bench_worker_t workers[BENCH_STAGE_NODES_MAX];
    uint32_t workers_len;
    bench_place_answer_t *answer;        /* What the places' last answers add up to. */
    uint64_t threads_start, threads_end; /* Of the last run, all processes. */
    uint64_t memory_size;
} bench_stage_t;

/* Starts the nodes with their subscribers and publishers; the cluster is up and every subscription
 * acknowledged when it returns. On failure nothing is left behind. */
bool bench_stage_open(const bench_place_setup_t *setup, bench_stage_t *ret_stage);
void bench_stage_close(bench_stage_t *stage);

/* Sends an order to all places and adds up their answers in stage->answer. */
bool bench_stage_order(bench_stage_t *stage, bench_place_tag_t tag, uint64_t count,
                       uint64_t pace_ns);

/* A run of bench_measure; the context is a bench_stage_t, `messages` what each client publishes. */
bool bench_stage_run(void *stage, uint64_t messages, bench_sample_t *ret_sample);

/* Publishes `count` messages a client, one every pace_ns, and leaves the publish-to-receive times in
 * stage->answer->histogram. */
bool bench_stage_probe(bench_stage_t *stage, uint64_t count, uint64_t pace_ns, uint64_t *ret_lost);

#endif
