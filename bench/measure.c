/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Warm-up, calibration and runs. */

#include "measure.h"

#include "clock.h"
#include "say.h"

#define MEASURE_CALIBRATIONS_MAX 16
#define MEASURE_LONG_ENOUGH 0.5 /* Share of the wanted time from which a run can be extrapolated. */
#define MEASURE_GROWTH_MIN 2.0
#define MEASURE_GROWTH_MAX 20.0
#define MEASURE_MARGIN 1.05 /* Runs are a little longer than asked for rather than shorter. */

typedef struct measure_side {
    bench_run_fn run;
    void *context;
    uint64_t messages;
    uint64_t messages_max;
} measure_side_t;

static bool measure_once(const measure_side_t *side, bench_sample_t *ret_sample)
{
    const bench_sample_t empty = {0};
    *ret_sample = empty;
    return side->run(side->context, side->messages, ret_sample);
}

static void measure_grow(measure_side_t *side, double factor)
{
    const double wanted = (double)side->messages * factor;
    side->messages = (uint64_t)wanted + 1;
    if (side->messages_max > 0 && side->messages > side->messages_max) {
        side->messages = side->messages_max;
    }
}

/* Runs with more and more messages until a run is long enough to tell the right number. */
static bool measure_calibrate(measure_side_t *side, double seconds)
{
    for (unsigned i = 0; i < MEASURE_CALIBRATIONS_MAX; i++) {
        bench_sample_t sample;
        double factor;
        if (!measure_once(side, &sample)) {
            return false;
        }
        factor = seconds * (double)BENCH_NS_PER_S / ((double)sample.elapsed_ns + 1.0);
        if (1.0 / factor >= MEASURE_LONG_ENOUGH) {
            measure_grow(side, factor * MEASURE_MARGIN);
            return true;
        }
        if (side->messages == side->messages_max) {
            return true;
        }
        factor = factor < MEASURE_GROWTH_MIN ? MEASURE_GROWTH_MIN : factor;
        measure_grow(side, factor > MEASURE_GROWTH_MAX ? MEASURE_GROWTH_MAX : factor);
    }
    return true;
}

static bool measure_warm_up(const bench_context_t *context, bool fixed, measure_side_t *side)
{
    bench_sample_t ignored;
    if (side->run == NULL) {
        return true;
    }
    return fixed ? measure_once(side, &ignored)
                 : measure_calibrate(side, context->options->seconds);
}

static bool measure_run(const measure_side_t *side, const measure_side_t *baseline,
                        bench_row_t *row)
{
    bench_sample_t sample, bare = {0};
    if (baseline->run != NULL && !measure_once(baseline, &bare)) {
        return false;
    }
    if (!measure_once(side, &sample)) {
        return false;
    }
    if (baseline->run != NULL) {
        sample.baseline = bench_sample_value(&bare);
    }
    bench_runs_add(&row->runs, &sample);
    return true;
}

bool bench_measure(const bench_context_t *context, const bench_plan_t *plan, bench_row_t *row)
{
    const uint64_t asked = context->options->messages;
    const bool fixed = plan->fixed || asked > 0;
    const uint64_t start = asked > 0 ? asked : plan->messages_start;
    measure_side_t side = {plan->run, plan->context, start, plan->messages_max};
    measure_side_t baseline = {plan->baseline, plan->baseline_context, start, plan->messages_max};
    bool ok;
    bench_progress("%s %s: warm-up", row->bench, row->name);
    ok = measure_warm_up(context, fixed, &baseline) && measure_warm_up(context, fixed, &side);
    for (uint64_t i = 0; ok && i < context->options->runs; i++) {
        bench_progress("%s %s: run %u of %u", row->bench, row->name, (unsigned)i + 1,
                       (unsigned)context->options->runs);
        ok = measure_run(&side, &baseline, row);
    }
    if (!ok) {
        bench_complain("%s %s could not be measured", row->bench, row->name);
        return false;
    }
    if (!plan->quiet) {
        bench_report_show(context->report, row);
    }
    return true;
}
