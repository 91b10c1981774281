/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The box: what the bare machine costs at this moment.
 *
 * A shared machine drifts by up to two times between minutes. Each program run measures three costs
 * that everything else is made of, so that its figures can be read against them: a malloc+free pair,
 * the hop of a cache line between two cores, and the wake-up of a thread that sleeps in the kernel.
 * The scale is how much of the reference machine's speed was there: the geometric mean of reference
 * over measured cost (none counted better than 1), at least 0.5. Bounds that are absolute numbers are multiplied by it. */

#ifndef TROUPE_BENCH_BOX_H
#define TROUPE_BENCH_BOX_H

#include <stdbool.h>

#include "report.h"

typedef struct bench_box {
    double malloc_ns; /* A block made and another freed, thousands of mixed sizes being alive. */
    double hop_ns;    /* A cache line from one core to the other. */
    double wake_ns;   /* An eventfd write until the sleeping reader runs. */
    double scale;
} bench_box_t;

/* Takes about 0.6 s. False when threads or descriptors can't be had. */
bool bench_box_measure(bench_box_t *ret_box);

/* Measures and adds four rows to the report. */
bool bench_box_report(bench_report_t *report);

#endif
