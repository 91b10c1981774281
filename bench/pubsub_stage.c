/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Leading the places. */

#include "pubsub_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "host.h"
#include "settings.h"

static void stage_add(bench_place_answer_t *sum, const bench_place_answer_t *answer)
{
    sum->tally.count += answer->tally.count;
    sum->tally.lost += answer->tally.lost;
    if (answer->tally.end_ns > sum->tally.end_ns) {
        sum->tally.end_ns = answer->tally.end_ns;
    }
    sum->counts.allocs.troupe += answer->counts.allocs.troupe;
    sum->counts.allocs.zmq += answer->counts.allocs.zmq;
    sum->counts.allocs.other += answer->counts.allocs.other;
    sum->counts.frames += answer->counts.frames;
    sum->memory_size += answer->memory_size;
    sum->threads += answer->threads;
    bench_histogram_merge(&sum->histogram, &answer->histogram);
}

static bool stage_order_workers(bench_stage_t *stage, bench_place_tag_t tag,
                                const bench_place_order_t *order)
{
    bench_place_answer_t *answer = calloc(1, sizeof(*answer));
    bool ok = answer != NULL;
    for (uint32_t i = 0; ok && i < stage->workers_len; i++) {
        ok = bench_worker_send(stage->workers[i].fd, tag, order, sizeof(*order));
    }
    for (uint32_t i = 0; ok && i < stage->workers_len; i++) {
        ok = bench_worker_await(&stage->workers[i], tag, answer, sizeof(*answer));
        if (ok) {
            stage_add(stage->answer, answer);
        }
    }
    free(answer);
    return ok;
}

bool bench_stage_order(bench_stage_t *stage, bench_place_tag_t tag, uint64_t count,
                       uint64_t pace_ns)
{
    bench_place_order_t order;
    memset(&order, 0, sizeof(order));
    order.count = count;
    order.pace_ns = pace_ns;
    memset(stage->answer, 0, sizeof(*stage->answer));
    if (stage->local != NULL) {
        return bench_place_obey(stage->local, tag, &order, stage->answer);
    }
    return stage_order_workers(stage, tag, &order);
}

static bool stage_open_local(bench_stage_t *stage)
{
    bench_place_order_t order;
    memset(&order, 0, sizeof(order));
    order.setup = stage->setup;
    stage->local = bench_place_create();
    return stage->local != NULL &&
           bench_place_obey(stage->local, BENCH_PLACE_OPEN, &order, stage->answer);
}

/* The first node founds the cluster, the others join it one by one. */
static bool stage_open_workers(bench_stage_t *stage)
{
    bench_place_order_t order;
    memset(&order, 0, sizeof(order));
    order.setup = stage->setup;
    for (uint32_t i = 0; i < stage->setup.nodes; i++) {
        order.setup.index = i;
        if (!bench_worker_start(BENCH_PUBSUB_KIND, &stage->workers[i])) {
            return false;
        }
        stage->workers_len++;
        if (!bench_worker_ask(&stage->workers[i], BENCH_PLACE_OPEN, &order, sizeof(order),
                              stage->answer, sizeof(*stage->answer))) {
            return false;
        }
        if (i == 0) {
            (void)snprintf(order.seed, sizeof(order.seed), "%s", stage->answer->address);
        }
    }
    return true;
}

bool bench_stage_open(const bench_place_setup_t *setup, bench_stage_t *ret_stage)
{
    bench_stage_t *stage = ret_stage;
    bool ok;
    memset(stage, 0, sizeof(*stage));
    stage->setup = *setup;
    stage->answer = calloc(1, sizeof(*stage->answer));
    ok = stage->answer != NULL &&
         (setup->shape == BENCH_SHAPE_NODE ? stage_open_local : stage_open_workers)(stage) &&
         bench_stage_order(stage, BENCH_PLACE_SUBSCRIBE, 0, 0) &&
         bench_stage_order(stage, BENCH_PLACE_PUBLISHERS, 0, 0);
    if (!ok) {
        bench_stage_close(stage);
    }
    return ok;
}

void bench_stage_close(bench_stage_t *stage)
{
    bench_place_destroy(&stage->local);
    /* The founder of the cluster goes last. */
    while (stage->workers_len > 0) {
        bench_worker_stop(&stage->workers[--stage->workers_len]);
    }
    free(stage->answer);
    stage->answer = NULL;
}

bool bench_stage_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    bench_stage_t *stage = context;
    /* In ping-pong the publishers say when all is done. */
    const uint64_t expected = stage->setup.load == BENCH_LOAD_PINGPONG ? UINT64_MAX : messages;
    bench_counts_t before;
    uint64_t start;
    if (!bench_stage_order(stage, BENCH_PLACE_ARM, expected, 0)) {
        return false;
    }
    before = stage->answer->counts;
    stage->threads_start = stage->answer->threads;
    start = bench_clock_now();
    if (!bench_stage_order(stage, BENCH_PLACE_GO, messages, 0) ||
        !bench_stage_order(stage, BENCH_PLACE_WAIT, 0, 0)) {
        return false;
    }
    stage->threads_end = stage->answer->threads;
    stage->memory_size = stage->answer->memory_size;
    ret_sample->messages = stage->answer->tally.count;
    ret_sample->elapsed_ns = stage->answer->tally.end_ns - start;
    ret_sample->lost = stage->answer->tally.lost;
    if (bench_alloc_is_counted()) {
        ret_sample->counted = ret_sample->messages;
        ret_sample->allocs = stage->answer->counts.allocs.troupe - before.allocs.troupe;
        ret_sample->zmq_allocs = stage->answer->counts.allocs.zmq - before.allocs.zmq;
        ret_sample->zmq_frames = stage->answer->counts.frames - before.frames;
    }
    return true;
}

bool bench_stage_probe(bench_stage_t *stage, uint64_t count, uint64_t pace_ns, uint64_t *ret_lost)
{
    if (!bench_stage_order(stage, BENCH_PLACE_ARM, count, 0) ||
        !bench_stage_order(stage, BENCH_PLACE_PROBE, count, pace_ns * stage->setup.nodes) ||
        !bench_stage_order(stage, BENCH_PLACE_WAIT, 0, 0)) {
        return false;
    }
    *ret_lost = stage->answer->tally.lost;
    return true;
}
