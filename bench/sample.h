/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Runs of one measurement: what a single run yields, and the statistics over several. */

#ifndef TROUPE_BENCH_SAMPLE_H
#define TROUPE_BENCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_RUNS_MAX 31

/* What one run yields. A zeroed sample says: nothing lost, nothing counted, no baseline. */
typedef struct bench_sample {
    uint64_t messages;   /* Deliveries (or operations) that the run consisted of. */
    uint64_t elapsed_ns; /* How long they took; messages over time is the value unless... */
    bool has_value;      /* ...this says that... */
    double value;        /* ...this is the value, in the measurement's own unit. */
    double baseline;     /* The bare twin's value in the same run; 0: there is none. */
    uint64_t lost;       /* Messages that were sent and never arrived, or arrived out of order. */
    uint64_t counted;    /* Messages that the allocations below belong to; 0: not counted. */
    uint64_t allocs;     /* Calls of malloc and its kin from Troupe's own code. */
    uint64_t zmq_allocs; /* The same from libzmq. */
    uint64_t zmq_frames; /* ZeroMQ messages sent meanwhile; 0: not known. */
} bench_sample_t;

typedef struct bench_runs {
    unsigned count;
    double values[BENCH_RUNS_MAX];
    double baselines[BENCH_RUNS_MAX];
    double ratios[BENCH_RUNS_MAX]; /* Value over baseline, run by run: drift cancels out. */
    bool has_baseline;
    bool has_allocs;
    uint64_t messages;                                /* Of the last run. */
    uint64_t elapsed_ns;                              /* Of the last run. */
    uint64_t lost;                                    /* Over all runs. */
    uint64_t counted, allocs, zmq_allocs, zmq_frames; /* Over all runs. */
} bench_runs_t;

typedef struct bench_spread {
    double median, min, max;
} bench_spread_t;

void bench_runs_init(bench_runs_t *runs);
/* Runs beyond BENCH_RUNS_MAX are left out. */
void bench_runs_add(bench_runs_t *runs, const bench_sample_t *sample);
bench_spread_t bench_runs_values(const bench_runs_t *runs);
double bench_runs_baseline(const bench_runs_t *runs); /* Median. */
double bench_runs_ratio(const bench_runs_t *runs);    /* Median. */

/* Gives the sample a value of its own. */
static inline void bench_sample_set(bench_sample_t *sample, double value)
{
    sample->has_value = true;
    sample->value = value;
}

/* Messages a second, or the sample's own value. */
double bench_sample_value(const bench_sample_t *sample);

#endif
