/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* 64 MiB messages stream to the peer, two in flight, while small round trips are made at a fixed pace. */

#include "link_bulk.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "link_actors.h"
#include "link_pair.h"
#include "measure.h"

#define BULK_SIZE (64ULL * 1024 * 1024)
#define BULK_WINDOW 2
#define BULK_PROBE_NS (2 * BENCH_NS_PER_MS) /* Pace of the small round trips. */
#define BULK_PROBES_MIN 500                 /* A run's: enough for a 99th percentile. */

typedef struct bulk {
    bench_link_pair_t pair;
    troupe_ref_t streamer, prober;
    bench_histogram_t *histogram;
    bench_row_t *rate; /* Gets the stream's MiB/s of each run. */
} bulk_t;

static bool bulk_spawn(bulk_t *bulk)
{
    bench_streamer_args_t streamer;
    bench_prober_args_t prober;
    memset(&streamer, 0, sizeof(streamer));
    memset(&prober, 0, sizeof(prober));
    streamer.node = prober.node = &bulk->pair.node;
    streamer.to = bulk->pair.bulk_sink;
    streamer.size = BULK_SIZE;
    streamer.window = BULK_WINDOW;
    prober.echo = bulk->pair.echo;
    prober.histogram = bulk->histogram;
    prober.type = bulk->pair.node.message;
    prober.size = sizeof(bench_message_t);
    return bench_node_spawn(&bulk->pair.node, &bench_streamer_behavior, TROUPE_PLACE_DEFAULT,
                            &streamer, sizeof(streamer), &bulk->streamer) &&
           bench_node_spawn(&bulk->pair.node, &bench_prober_behavior, TROUPE_PLACE_DEFAULT, &prober,
                            sizeof(prober), &bulk->prober);
}

static bool bulk_probe(bulk_t *bulk, uint64_t probes)
{
    uint64_t when = bench_clock_now();
    for (uint64_t i = 0; i < probes; i++) {
        when += BULK_PROBE_NS;
        bench_clock_sleep_until(when);
        if (!bench_node_order_op(&bulk->pair.node, bulk->prober, BENCH_OP_GO, 1)) {
            return false;
        }
    }
    return bench_node_order_op(&bulk->pair.node, bulk->prober, BENCH_OP_STOP, 0) &&
           bench_node_collect(&bulk->pair.node, BENCH_OP_DONE, 1, NULL);
}

/* `messages` are the small round trips. */
static bool bulk_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    bulk_t *bulk = context;
    const uint64_t probes = messages < BULK_PROBES_MIN ? BULK_PROBES_MIN : messages;
    const uint64_t start = bench_clock_now();
    bench_sample_t rate = {0};
    bench_tally_t tally;
    bench_histogram_init(bulk->histogram);
    if (!bench_node_order_op(&bulk->pair.node, bulk->streamer, BENCH_OP_GO, 1) ||
        !bulk_probe(bulk, probes) ||
        !bench_node_order_op(&bulk->pair.node, bulk->streamer, BENCH_OP_STOP, 0) ||
        !bench_node_collect(&bulk->pair.node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = probes;
    ret_sample->elapsed_ns = bench_clock_now() - start;
    bench_sample_set(ret_sample, (double)bench_histogram_quantile(bulk->histogram, 0.99) /
                                     (double)BENCH_NS_PER_MS);
    bench_sample_set(&rate, (double)(tally.count * (BULK_SIZE >> 20)) * (double)BENCH_NS_PER_S /
                                (double)(tally.end_ns - start));
    bench_runs_add(&bulk->rate->runs, &rate);
    return true;
}

bool bench_link_bulk(bench_context_t *context)
{
    bulk_t bulk;
    const bench_plan_t plan = {
        .run = bulk_run, .context = &bulk, .messages_start = BULK_PROBES_MIN};
    bench_row_t *row = bench_report_add(context->report, "link", "bulk-roundtrip-p99", "ms");
    bool ok;
    memset(&bulk, 0, sizeof(bulk));
    bulk.rate = bench_report_add(context->report, "link", "bulk", "MiB/s");
    if (row == NULL || bulk.rate == NULL) {
        return false;
    }
    bulk.histogram = calloc(1, sizeof(*bulk.histogram));
    bench_params_count(&row->params, "size", BULK_SIZE);
    bench_params_count(&row->params, "window", BULK_WINDOW);
    bulk.rate->params = row->params;
    ok = bulk.histogram != NULL &&
         bench_link_open(context->options->dispatchers, false, &bulk.pair) && bulk_spawn(&bulk) &&
         bench_measure(context, &plan, row);
    if (ok) {
        bench_report_show(context->report, bulk.rate);
    }
    bench_link_close(&bulk.pair);
    free(bulk.histogram);
    return ok;
}
