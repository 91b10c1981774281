/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Measuring a case: a warm-up that also finds out how many messages make a run long enough, then the
 * runs, each after a run of its baseline if there is one, so that drift of the machine meets both. */

#ifndef TROUPE_BENCH_MEASURE_H
#define TROUPE_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "report.h"
#include "sample.h"

/* Makes one run of `messages` messages (what that means is the case's own). */
typedef bool (*bench_run_fn)(void *context, uint64_t messages, bench_sample_t *ret_sample);

typedef struct bench_plan {
    bench_run_fn run;
    void *context;
    bench_run_fn baseline; /* NULL: none. */
    void *baseline_context;
    uint64_t messages_start; /* Size of the first warm-up run. */
    uint64_t messages_max;   /* 0: no limit. */
    bool quiet;              /* The row is not shown: the case has a table of its own. */
    bool fixed;              /* Runs have messages_start messages, however long that takes. */
} bench_plan_t;

/* Runs the plan and fills row->runs. --messages makes any plan a fixed one. The row is shown. */
bool bench_measure(const bench_context_t *context, const bench_plan_t *plan, bench_row_t *row);

#endif
