/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One-way and round trips between two processes, beside raw ZeroMQ doing the same. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "flood.h"
#include "link_actors.h"
#include "link_bulk.h"
#include "link_pair.h"
#include "measure.h"
#include "raw_zmq.h"

static const bench_list_t link_sizes_default = {{32, 256, 4096, 65536, 1048576}, 5};
static const bench_list_t link_roundtrip_sizes = {{32}, 1};

typedef struct link_run {
    bench_link_pair_t pair;
    bench_raw_t raw;
    troupe_ref_t actor; /* The flooder or prober here. */
    bench_histogram_t *histogram;
    bench_row_t *frames; /* Gets libzmq's allocations a frame; NULL: not wanted. */
} link_run_t;

/* The types for bodies of that size: small ones go as fixed messages like everywhere else. */
static troupe_type_t link_type(const bench_node_t *node, uint64_t size)
{
    return size == sizeof(bench_message_t) ? node->message : node->bytes;
}

static void link_count(bench_sample_t *sample, const bench_counts_t *here,
                       const bench_counts_t *there, const bench_counts_t *there_after)
{
    const bench_counts_t now = bench_counts_now();
    if (!bench_alloc_is_counted()) {
        return;
    }
    sample->counted = sample->messages;
    sample->allocs =
        now.allocs.troupe - here->allocs.troupe + there_after->allocs.troupe - there->allocs.troupe;
    sample->zmq_allocs =
        now.allocs.zmq - here->allocs.zmq + there_after->allocs.zmq - there->allocs.zmq;
    sample->zmq_frames = now.frames - here->frames + there_after->frames - there->frames;
}

static bool link_run_oneway(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    link_run_t *run = context;
    bench_link_answer_t before, after;
    bench_counts_t counts;
    uint64_t start;
    if (!bench_link_arm(&run->pair, messages, &before)) {
        return false;
    }
    counts = bench_counts_now();
    start = bench_clock_now();
    if (!bench_node_order_op(&run->pair.node, run->actor, BENCH_OP_GO, messages) ||
        !bench_link_wait(&run->pair, &after)) {
        return false;
    }
    ret_sample->messages = after.tally.count;
    ret_sample->elapsed_ns = after.tally.end_ns - start;
    ret_sample->lost = after.tally.lost;
    link_count(ret_sample, &counts, &before.counts, &after.counts);
    return true;
}

static bool link_run_roundtrip(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    link_run_t *run = context;
    const uint64_t start = bench_clock_now();
    bench_tally_t tally;
    bench_histogram_init(run->histogram);
    if (!bench_node_order_op(&run->pair.node, run->actor, BENCH_OP_GO, messages) ||
        !bench_node_collect(&run->pair.node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = messages;
    ret_sample->elapsed_ns = tally.end_ns - start;
    bench_sample_set(ret_sample, (double)bench_histogram_quantile(run->histogram, 0.5));
    return true;
}

static bool link_open_oneway(const bench_context_t *context, link_run_t *run, uint64_t size,
                             bool curve)
{
    bench_flooder_args_t args;
    memset(&args, 0, sizeof(args));
    if (!bench_raw_open(curve, (size_t)size, &run->raw) ||
        !bench_link_open(context->options->dispatchers, curve, &run->pair)) {
        return false;
    }
    args.node = &run->pair.node;
    args.to = run->pair.sink;
    args.type = link_type(&run->pair.node, size);
    args.size = (uint32_t)size;
    return bench_node_spawn(&run->pair.node, &bench_flooder_behavior, TROUPE_PLACE_DEFAULT, &args,
                            sizeof(args), &run->actor);
}

static bool link_open_roundtrip(const bench_context_t *context, link_run_t *run, uint64_t size,
                                bool curve)
{
    bench_prober_args_t args;
    memset(&args, 0, sizeof(args));
    run->histogram = calloc(1, sizeof(*run->histogram));
    if (run->histogram == NULL || !bench_raw_open(curve, (size_t)size, &run->raw) ||
        !bench_link_open(context->options->dispatchers, curve, &run->pair)) {
        return false;
    }
    args.node = &run->pair.node;
    args.echo = run->pair.echo;
    args.histogram = run->histogram;
    args.type = link_type(&run->pair.node, size);
    args.size = (uint32_t)size;
    args.one_by_one = true;
    return bench_node_spawn(&run->pair.node, &bench_prober_behavior, TROUPE_PLACE_DEFAULT, &args,
                            sizeof(args), &run->actor);
}

static bench_row_t *link_row(const bench_context_t *context, const char *name, const char *unit,
                             uint64_t size, bool curve)
{
    bench_row_t *row = bench_report_add(context->report, "link", name, unit);
    if (row == NULL) {
        return NULL;
    }
    bench_params_count(&row->params, "size", size);
    bench_params_text(&row->params, "curve", curve ? "on" : "off");
    row->x = (double)size;
    (void)snprintf(row->series, sizeof(row->series), "%s%s", name, curve ? ", CURVE" : "");
    return row;
}

/* libzmq's own allocations, of both processes, a ZeroMQ message. */
static void link_report_frames(const bench_context_t *context, const bench_row_t *row)
{
    if (!row->runs.has_allocs || row->runs.zmq_frames == 0) {
        return;
    }
    bench_report_value(context->report, "link", "zmq-allocs-per-frame", "mallocs", &row->params,
                       (double)row->runs.zmq_allocs / (double)row->runs.zmq_frames);
    bench_report_value(context->report, "link", "messages-per-frame", "msg", &row->params,
                       (double)row->runs.counted / (double)row->runs.zmq_frames);
}

static bool link_measure(const bench_context_t *context, bool roundtrip, uint64_t size, bool curve)
{
    link_run_t run;
    const bench_plan_t plan = {
        .run = roundtrip ? link_run_roundtrip : link_run_oneway,
        .context = &run,
        .baseline = roundtrip ? bench_raw_run_roundtrip : bench_raw_run_oneway,
        .baseline_context = &run.raw,
        .messages_start = size > BENCH_LINK_LARGE ? 50 : 2000,
    };
    bench_row_t *row = link_row(context, roundtrip ? "roundtrip-p50" : "oneway",
                                roundtrip ? "ns" : "msg/s", size, curve);
    bool ok;
    memset(&run, 0, sizeof(run));
    ok = row != NULL &&
         (roundtrip ? link_open_roundtrip : link_open_oneway)(context, &run, size, curve) &&
         bench_measure(context, &plan, row);
    if (ok && !roundtrip) {
        link_report_frames(context, row);
    }
    bench_link_close(&run.pair);
    bench_raw_close(&run.raw);
    free(run.histogram);
    return ok;
}

static bool link_measure_all(bench_context_t *context, bool roundtrip)
{
    const bench_list_t *sizes = roundtrip ? &link_roundtrip_sizes : &link_sizes_default;
    const unsigned curve = context->options->curve;
    bool ok = true;
    if (context->options->sizes.len > 0) {
        sizes = &context->options->sizes;
    }
    for (size_t i = 0; i < sizes->len; i++) {
        const uint64_t size =
            sizes->values[i] < sizeof(bench_message_t) ? sizeof(bench_message_t) : sizes->values[i];
        if (curve == 0 || (curve & BENCH_CURVE_OFF) != 0) {
            ok = link_measure(context, roundtrip, size, false) && ok;
        }
        if (curve == 0 || (curve & BENCH_CURVE_ON) != 0) {
            ok = link_measure(context, roundtrip, size, true) && ok;
        }
    }
    return ok;
}

static bool link_oneway(bench_context_t *context)
{
    return link_measure_all(context, false);
}

static bool link_roundtrip(bench_context_t *context)
{
    return link_measure_all(context, true);
}

const bench_case_t bench_link_cases[] = {
    {"oneway", "one sender to one receiver, 32 B to 1 MiB", link_oneway},
    {"roundtrip", "median round trip between two actors, one in flight", link_roundtrip},
    {"bulk", "64 MiB messages streaming, and round trips of small ones meanwhile", bench_link_bulk},
    {NULL, NULL, NULL},
};
