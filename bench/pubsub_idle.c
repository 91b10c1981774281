/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A cluster that is up and has subscriptions, but does nothing: the share of a processor that its
 * busiest node takes. */

#include <string.h>

#include "clock.h"
#include "measure.h"
#include "pubsub_cases.h"
#include "pubsub_stage.h"
#include "settings.h"

#define IDLE_CLIENTS 3
#define IDLE_SETTLE_NS (3 * BENCH_NS_PER_S) /* For gossip to come to rest. */
#define IDLE_RUN_NS (2 * BENCH_NS_PER_S)

static bool idle_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    const bench_stage_t *stage = context;
    uint64_t before[BENCH_STAGE_NODES_MAX];
    const uint64_t start = bench_clock_now();
    double busiest = 0.0;
    (void)messages;
    for (uint32_t i = 0; i < stage->workers_len; i++) {
        before[i] = bench_worker_cpu(&stage->workers[i]);
    }
    bench_clock_sleep_until(start + IDLE_RUN_NS);
    ret_sample->elapsed_ns = bench_clock_now() - start;
    for (uint32_t i = 0; i < stage->workers_len; i++) {
        const double used = (double)(bench_worker_cpu(&stage->workers[i]) - before[i]);
        const double share = used / (double)ret_sample->elapsed_ns * 100.0;
        busiest = share > busiest ? share : busiest;
    }
    bench_sample_set(ret_sample, busiest);
    return true;
}

bool bench_pubsub_idle(bench_context_t *context)
{
    bench_stage_t stage;
    const bench_plan_t plan = {
        .run = idle_run, .context = &stage, .messages_start = 1, .fixed = true};
    bench_row_t *row = bench_report_add(context->report, "pubsub", "idle-cpu", "%");
    bench_place_setup_t setup;
    bool ok;
    if (row == NULL) {
        return false;
    }
    memset(&setup, 0, sizeof(setup));
    setup.clients = IDLE_CLIENTS;
    setup.dispatchers = context->options->dispatchers;
    setup.shape = BENCH_SHAPE_CLUSTER;
    setup.load = BENCH_LOAD_ONEWAY;
    setup.by = BENCH_BY_HANDLE;
    setup.placement = BENCH_PLACEMENT_DEFAULT;
    setup.nodes = (uint32_t)context->options->nodes;
    bench_params_count(&row->params, "nodes", setup.nodes);
    if (!bench_stage_open(&setup, &stage)) {
        return false;
    }
    bench_clock_sleep_until(bench_clock_now() + IDLE_SETTLE_NS);
    ok = bench_measure(context, &plan, row);
    bench_stage_close(&stage);
    return ok;
}
