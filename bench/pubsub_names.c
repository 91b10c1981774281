/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publishing by name and by a path that is joined anew, against publishing by handle: the difference
 * in time a message. One publisher and one subscriber on one dispatcher, so that the publish itself is
 * what takes the time; each run measures both ways one after the other. */

#include <string.h>

#include "clock.h"
#include "measure.h"
#include "pubsub_cases.h"
#include "pubsub_stage.h"
#include "settings.h"

typedef struct names {
    bench_stage_t handle;
    bench_stage_t other;
} names_t;

static double names_cost(const bench_sample_t *sample)
{
    return (double)sample->elapsed_ns / (double)sample->messages;
}

static bool names_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    names_t *names = context;
    bench_sample_t handle = {0}, other = {0};
    if (!bench_stage_run(&names->handle, messages, &handle) ||
        !bench_stage_run(&names->other, messages, &other)) {
        return false;
    }
    *ret_sample = other;
    ret_sample->lost += handle.lost;
    bench_sample_set(ret_sample, names_cost(&other) - names_cost(&handle));
    return true;
}

static bool names_measure(bench_context_t *context, const char *name, uint32_t by)
{
    names_t names;
    const bench_plan_t plan = {.run = names_run, .context = &names, .messages_start = 20000};
    bench_row_t *row = bench_report_add(context->report, "pubsub", name, "ns/msg");
    bench_place_setup_t setup;
    bool ok;
    memset(&names, 0, sizeof(names));
    memset(&setup, 0, sizeof(setup));
    setup.clients = 1;
    setup.dispatchers = context->options->dispatchers;
    setup.shape = BENCH_SHAPE_NODE;
    setup.load = BENCH_LOAD_ONEWAY;
    setup.placement = BENCH_PLACEMENT_TOGETHER;
    setup.nodes = 1;
    setup.by = BENCH_BY_HANDLE;
    ok = row != NULL && bench_stage_open(&setup, &names.handle);
    setup.by = by;
    ok = ok && bench_stage_open(&setup, &names.other) && bench_measure(context, &plan, row);
    bench_stage_close(&names.other);
    bench_stage_close(&names.handle);
    return ok;
}

bool bench_pubsub_names(bench_context_t *context)
{
    const bool name = names_measure(context, "name-minus-handle", BENCH_BY_NAME);
    return names_measure(context, "path-minus-handle", BENCH_BY_PATH) && name;
}
