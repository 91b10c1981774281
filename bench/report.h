/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The results of a program run: rows, printed as a table for people or as a JSON array for programs.
 *
 * A row is one measurement: {bench, case, params, unit, median, min, max, runs, baseline, ratio,
 * lost, allocs_per_msg}; the last four are null where they don't apply. */

#ifndef TROUPE_BENCH_REPORT_H
#define TROUPE_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "params.h"
#include "sample.h"

#define BENCH_ROWS_MAX 1024
#define BENCH_NAME_SIZE_MAX 48

typedef struct bench_row {
    const char *bench; /* Static text, like every unit. */
    const char *unit;
    char name[BENCH_NAME_SIZE_MAX];
    bench_params_t params;
    bench_runs_t runs;
    double x; /* Where the row lies in a chart (clients, bytes); negative: not on a line. */
    char series[BENCH_NAME_SIZE_MAX]; /* The chart's line it belongs to. */
} bench_row_t;

typedef struct bench_report {
    bench_row_t *rows[BENCH_ROWS_MAX];
    size_t len;
    bool json;
} bench_report_t;

void bench_report_init(bench_report_t *report, bool json);
void bench_report_fini(bench_report_t *report);

/* A new row at the end, empty but for its names; NULL when there are too many or memory is out. */
bench_row_t *bench_report_add(bench_report_t *report, const char *bench, const char *name,
                              const char *unit);

/* A new row with one value. */
void bench_report_value(bench_report_t *report, const char *bench, const char *name,
                        const char *unit, const bench_params_t *params, double value);

/* The last row of that name, or NULL. */
const bench_row_t *bench_report_find(const bench_report_t *report, const char *name);

/* Prints a row of the table, with the table's head before the first; nothing in JSON mode. */
void bench_report_show(bench_report_t *report, const bench_row_t *row);

/* Prints the JSON array; nothing in table mode. */
void bench_report_finish(const bench_report_t *report);

/* Messages lost in all rows: anything but 0 fails the program. */
uint64_t bench_report_lost(const bench_report_t *report);

#endif
