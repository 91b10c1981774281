/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The log-linear histogram. */

#include "histogram.h"

#include <stddef.h>
#include <string.h>

#define HISTOGRAM_SUB (1u << BENCH_HISTOGRAM_SUB_BITS)

static size_t histogram_index(uint64_t value)
{
    unsigned power;
    size_t index;
    if (value < HISTOGRAM_SUB) {
        return (size_t)value;
    }
    power = 63u - (unsigned)__builtin_clzll(value) - BENCH_HISTOGRAM_SUB_BITS;
    index = ((size_t)power << BENCH_HISTOGRAM_SUB_BITS) + (size_t)(value >> power);
    return index < BENCH_HISTOGRAM_BUCKETS ? index : BENCH_HISTOGRAM_BUCKETS - 1;
}

/* The largest value that falls into the bucket. */
static uint64_t histogram_upper(size_t index)
{
    size_t power;
    uint64_t sub;
    if (index < HISTOGRAM_SUB) {
        return index;
    }
    power = (index >> BENCH_HISTOGRAM_SUB_BITS) - 1;
    sub = (uint64_t)(index & (HISTOGRAM_SUB - 1)) + HISTOGRAM_SUB;
    return ((sub + 1) << power) - 1;
}

void bench_histogram_init(bench_histogram_t *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
}

void bench_histogram_record(bench_histogram_t *histogram, uint64_t value)
{
    histogram->buckets[histogram_index(value)]++;
    histogram->count++;
    if (value > histogram->max) {
        histogram->max = value;
    }
}

void bench_histogram_merge(bench_histogram_t *into, const bench_histogram_t *from)
{
    for (size_t i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
    into->count += from->count;
    if (from->max > into->max) {
        into->max = from->max;
    }
}

uint64_t bench_histogram_quantile(const bench_histogram_t *histogram, double quantile)
{
    const uint64_t wanted = (uint64_t)((double)histogram->count * quantile + 0.5);
    uint64_t seen = 0;
    for (size_t i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= wanted && seen > 0) {
            const uint64_t upper = histogram_upper(i);
            return upper < histogram->max ? upper : histogram->max;
        }
    }
    return histogram->max;
}
