/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Statistics over the runs of a measurement. */

#include "sample.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

void bench_runs_init(bench_runs_t *runs)
{
    memset(runs, 0, sizeof(*runs));
}

double bench_sample_value(const bench_sample_t *sample)
{
    if (sample->has_value) {
        return sample->value;
    }
    if (sample->elapsed_ns == 0) {
        return 0.0;
    }
    return (double)sample->messages * (double)BENCH_NS_PER_S / (double)sample->elapsed_ns;
}

void bench_runs_add(bench_runs_t *runs, const bench_sample_t *sample)
{
    if (runs->count == BENCH_RUNS_MAX) {
        return;
    }
    runs->values[runs->count] = bench_sample_value(sample);
    runs->baselines[runs->count] = sample->baseline;
    if (sample->baseline > 0.0) {
        runs->ratios[runs->count] = runs->values[runs->count] / sample->baseline;
        runs->has_baseline = true;
    }
    runs->has_allocs = runs->has_allocs || sample->counted > 0;
    runs->count++;
    runs->messages = sample->messages;
    runs->elapsed_ns = sample->elapsed_ns;
    runs->lost += sample->lost;
    runs->counted += sample->counted;
    runs->allocs += sample->allocs;
    runs->zmq_allocs += sample->zmq_allocs;
    runs->zmq_frames += sample->zmq_frames;
}

static int sample_compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

static bench_spread_t sample_spread(const double *values, unsigned count)
{
    double sorted[BENCH_RUNS_MAX];
    bench_spread_t spread = {0.0, 0.0, 0.0};
    if (count == 0) {
        return spread;
    }
    memcpy(sorted, values, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), sample_compare);
    spread.min = sorted[0];
    spread.max = sorted[count - 1];
    spread.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
    return spread;
}

bench_spread_t bench_runs_values(const bench_runs_t *runs)
{
    return sample_spread(runs->values, runs->count);
}

double bench_runs_baseline(const bench_runs_t *runs)
{
    return sample_spread(runs->baselines, runs->count).median;
}

double bench_runs_ratio(const bench_runs_t *runs)
{
    return sample_spread(runs->ratios, runs->count).median;
}
