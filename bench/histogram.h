/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A histogram of latencies with a relative error below 1.6 %, in fixed memory.
 *
 * Log-linear: every power of two is cut into 64 equal buckets,
 *
 *     0 .. 63 | 64 .. 127 by 1 | 128 .. 255 by 2 | 256 .. 511 by 4 | ...
 *
 * so the cost of recording is a shift and an increment, whatever the value. One thread records; merge
 * adds the histograms of several. */

#ifndef TROUPE_BENCH_HISTOGRAM_H
#define TROUPE_BENCH_HISTOGRAM_H

#include <stdint.h>

#define BENCH_HISTOGRAM_SUB_BITS 6
#define BENCH_HISTOGRAM_POWERS 40 /* Up to 2^46 ns: 19 hours. */
#define BENCH_HISTOGRAM_BUCKETS ((BENCH_HISTOGRAM_POWERS + 1) << BENCH_HISTOGRAM_SUB_BITS)

typedef struct bench_histogram {
    uint64_t count;
    uint64_t max;
    uint64_t buckets[BENCH_HISTOGRAM_BUCKETS];
} bench_histogram_t;

void bench_histogram_init(bench_histogram_t *histogram);
void bench_histogram_record(bench_histogram_t *histogram, uint64_t value);
void bench_histogram_merge(bench_histogram_t *into, const bench_histogram_t *from);

/* The value that a share `quantile` (0..1) of all values does not exceed; 0 when there are none. */
uint64_t bench_histogram_quantile(const bench_histogram_t *histogram, double quantile);

#endif
