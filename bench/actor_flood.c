/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One-way floods: senders that send as fast as they may to one receiver, who counts by sequence. */

#include <stdlib.h>
#include <string.h>

#include "actor_cases.h"
#include "clock.h"
#include "flood.h"
#include "measure.h"
#include "node.h"
#include "say.h"

#define FLOOD_FANIN 16
#define FLOOD_WINDOW 1000 /* Messages in flight of each of several senders. */
#define FLOOD_CREDIT 250

typedef struct flood {
    bench_node_t node;
    troupe_ref_t sink;
    troupe_ref_t senders[BENCH_SINK_SENDERS_MAX];
    uint32_t len;
} flood_t;

static bool flood_spawn(flood_t *flood, uint32_t sink_place, uint32_t sender_place)
{
    bench_sink_args_t sink = {&flood->node, flood->len > 1 ? FLOOD_CREDIT : 0};
    bench_flooder_args_t sender = {
        .node = &flood->node,
        .type = flood->node.message,
        .size = sizeof(bench_message_t),
        .window = flood->len > 1 ? FLOOD_WINDOW : 0,
    };
    bool ok = bench_node_spawn(&flood->node, &bench_sink_behavior, sink_place, &sink, sizeof(sink),
                               &flood->sink);
    if (sender_place == TROUPE_PLACE(1) && flood->node.dispatchers < 2) {
        bench_complain("a flood across dispatchers needs two of them");
        return false;
    }
    sender.to = flood->sink;
    for (uint32_t i = 0; ok && i < flood->len; i++) {
        sender.client = i;
        ok = bench_node_spawn(&flood->node, &bench_flooder_behavior, sender_place, &sender,
                              sizeof(sender), &flood->senders[i]);
    }
    return ok;
}

static bool flood_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    flood_t *flood = context;
    const uint64_t count = messages / flood->len + 1;
    bench_allocs_t allocs;
    bench_tally_t tally;
    uint64_t start;
    if (!bench_node_order_op(&flood->node, flood->sink, BENCH_OP_ARM, count * flood->len) ||
        !bench_node_collect(&flood->node, BENCH_OP_READY, 1, NULL)) {
        return false;
    }
    allocs = bench_alloc_total();
    start = bench_clock_now();
    for (uint32_t i = 0; i < flood->len; i++) {
        if (!bench_node_order_op(&flood->node, flood->senders[i], BENCH_OP_GO, count)) {
            return false;
        }
    }
    if (!bench_node_collect(&flood->node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = tally.count;
    ret_sample->elapsed_ns = tally.end_ns - start;
    ret_sample->lost = tally.lost;
    bench_sample_allocs(ret_sample, &allocs, tally.count);
    return true;
}

static bool flood_measure(bench_context_t *context, const char *name, uint32_t len,
                          uint32_t sink_place, uint32_t sender_place)
{
    flood_t flood = {.len = len};
    const bench_plan_t plan = {.run = flood_run, .context = &flood, .messages_start = 20000};
    bench_row_t *row = bench_report_add(context->report, "actor", name, "msg/s");
    bool ok;
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &flood.node)) {
        return false;
    }
    bench_params_count(&row->params, "senders", len);
    bench_params_count(&row->params, "dispatchers", flood.node.dispatchers);
    ok = flood_spawn(&flood, sink_place, sender_place) && bench_measure(context, &plan, row);
    bench_node_close(&flood.node);
    return ok;
}

bool bench_actor_oneway(bench_context_t *context)
{
    return flood_measure(context, "oneway", 1, TROUPE_PLACE(0), TROUPE_PLACE(0));
}

bool bench_actor_oneway_across(bench_context_t *context)
{
    return flood_measure(context, "oneway-across", 1, TROUPE_PLACE(0), TROUPE_PLACE(1));
}

bool bench_actor_fanin(bench_context_t *context)
{
    return flood_measure(context, "fanin", FLOOD_FANIN, TROUPE_PLACE_DEFAULT, TROUPE_PLACE_DEFAULT);
}
