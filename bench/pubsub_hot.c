/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Ten hot topics on a node that knows no others, and on one where 100,000 exist, a tenth of which
 * churns each second: the ratio of the two rates. */

#include <string.h>

#include "measure.h"
#include "pubsub_cases.h"
#include "pubsub_crowd.h"
#include "pubsub_stage.h"
#include "settings.h"

#define HOT_CLIENTS 10

typedef struct hot {
    bench_stage_t alone;
    bench_stage_t crowded;
    bench_crowd_t *crowd;
} hot_t;

static bool hot_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    hot_t *hot = context;
    bool ok;
    if (!bench_crowd_churn(hot->crowd, true)) {
        return false;
    }
    ok = bench_stage_run(&hot->crowded, messages, ret_sample);
    return bench_crowd_churn(hot->crowd, false) && ok;
}

static bool hot_open(const bench_context_t *context, hot_t *hot)
{
    bench_place_setup_t setup;
    memset(&setup, 0, sizeof(setup));
    setup.clients = HOT_CLIENTS;
    setup.dispatchers = context->options->dispatchers;
    setup.shape = BENCH_SHAPE_NODE;
    setup.load = BENCH_LOAD_ONEWAY;
    setup.by = BENCH_BY_HANDLE;
    setup.placement = BENCH_PLACEMENT_DEFAULT;
    setup.nodes = 1;
    if (!bench_stage_open(&setup, &hot->alone)) {
        return false;
    }
    if (!bench_stage_open(&setup, &hot->crowded)) {
        return false;
    }
    hot->crowd = bench_crowd_create(bench_place_node(hot->crowded.local));
    return hot->crowd != NULL;
}

bool bench_pubsub_hot(bench_context_t *context)
{
    hot_t hot;
    const bench_plan_t plan = {
        .run = hot_run,
        .context = &hot,
        .baseline = bench_stage_run,
        .baseline_context = &hot.alone,
        .messages_start = 20000,
    };
    bench_row_t *row = bench_report_add(context->report, "pubsub", "hot-topics", "msg/s");
    bool ok;
    memset(&hot, 0, sizeof(hot));
    if (row == NULL) {
        return false;
    }
    bench_params_count(&row->params, "hot", HOT_CLIENTS);
    bench_params_count(&row->params, "topics", BENCH_CROWD_TOPICS);
    bench_params_text(&row->params, "churn", "10 % a second");
    ok = hot_open(context, &hot) && bench_measure(context, &plan, row);
    bench_stage_close(&hot.crowded);
    bench_stage_close(&hot.alone);
    bench_crowd_destroy(&hot.crowd);
    return ok;
}
