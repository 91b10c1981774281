/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Monotonic time in nanoseconds, and the waits the benchmarks need. */

#ifndef TROUPE_BENCH_CLOCK_H
#define TROUPE_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#define BENCH_NS_PER_S 1000000000ULL
#define BENCH_NS_PER_MS 1000000ULL
#define BENCH_NS_PER_US 1000ULL

static inline uint64_t bench_clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * BENCH_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Nanoseconds of processor time that this process has used. */
static inline uint64_t bench_clock_cpu(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * BENCH_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Sleeps until the moment `when` of bench_clock_now. */
static inline void bench_clock_sleep_until(uint64_t when)
{
    struct timespec until = {(time_t)(when / BENCH_NS_PER_S), (long)(when % BENCH_NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

#endif
