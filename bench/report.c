/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Rows of results, as a table and as JSON. */

#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

void bench_report_init(bench_report_t *report, bool json)
{
    memset(report, 0, sizeof(*report));
    report->json = json;
}

void bench_report_fini(bench_report_t *report)
{
    for (size_t i = 0; i < report->len; i++) {
        free(report->rows[i]);
    }
    report->len = 0;
}

bench_row_t *bench_report_add(bench_report_t *report, const char *bench, const char *name,
                              const char *unit)
{
    bench_row_t *row = NULL;
    if (report->len < BENCH_ROWS_MAX) {
        row = calloc(1, sizeof(*row));
    }
    if (row == NULL) {
        bench_complain("no room for the result of %s %s", bench, name);
        return NULL;
    }
    row->bench = bench;
    row->unit = unit;
    row->x = -1.0;
    (void)snprintf(row->name, sizeof(row->name), "%s", name);
    bench_params_init(&row->params);
    bench_runs_init(&row->runs);
    report->rows[report->len++] = row;
    return row;
}

void bench_report_value(bench_report_t *report, const char *bench, const char *name,
                        const char *unit, const bench_params_t *params, double value)
{
    bench_row_t *row = bench_report_add(report, bench, name, unit);
    bench_sample_t sample = {0};
    if (row == NULL) {
        return;
    }
    if (params != NULL) {
        row->params = *params;
    }
    bench_sample_set(&sample, value);
    bench_runs_add(&row->runs, &sample);
    bench_report_show(report, row);
}

const bench_row_t *bench_report_find(const bench_report_t *report, const char *name)
{
    for (size_t i = report->len; i > 0; i--) {
        if (strcmp(report->rows[i - 1]->name, name) == 0) {
            return report->rows[i - 1];
        }
    }
    return NULL;
}

/* Writes 12345678.9 as "12.35 M" and small numbers with three digits that matter. */
static const char *report_number(double value, char text[24])
{
    if (value >= 1e9) {
        (void)snprintf(text, 24, "%.2f G", value / 1e9);
    } else if (value >= 1e6) {
        (void)snprintf(text, 24, "%.2f M", value / 1e6);
    } else if (value >= 1e4) {
        (void)snprintf(text, 24, "%.1f k", value / 1e3);
    } else if (value >= 100.0) {
        (void)snprintf(text, 24, "%.0f", value);
    } else {
        (void)snprintf(text, 24, "%.3g", value);
    }
    return text;
}

static void report_show_head(const bench_report_t *report)
{
    if (report->len == 0 || report->rows[0]->bench == NULL) {
        return;
    }
    (void)printf("%-34s %-12s %10s %10s %10s %5s %10s %7s %6s %10s  %s\n", "case", "unit", "median",
                 "min", "max", "runs", "baseline", "ratio", "lost", "allocs/msg", "parameters");
}

/* The fields without quotation marks: {"a":1,"b":"c"} reads "a:1 b:c". */
static void report_show_params(const bench_params_t *params)
{
    for (const char *at = params->fields; *at != '\0'; at++) {
        if (*at == ',') {
            (void)putchar(' ');
        } else if (*at != '"') {
            (void)putchar(*at);
        }
    }
}

void bench_report_show(bench_report_t *report, const bench_row_t *row)
{
    const bench_spread_t spread = bench_runs_values(&row->runs);
    char median[24], min[24], max[24], baseline[24] = "-", ratio[24] = "-", allocs[24] = "-";
    if (report->json) {
        return;
    }
    bench_progress_clear();
    if (row == report->rows[0]) {
        report_show_head(report);
    }
    if (row->runs.has_baseline) {
        (void)report_number(bench_runs_baseline(&row->runs), baseline);
        (void)snprintf(ratio, sizeof(ratio), "%.2f", bench_runs_ratio(&row->runs));
    }
    if (row->runs.has_allocs) {
        (void)snprintf(allocs, sizeof(allocs), "%.6f",
                       (double)row->runs.allocs / (double)row->runs.counted);
    }
    (void)printf("%-34s %-12s %10s %10s %10s %5u %10s %7s %6" PRIu64 " %10s  ", row->name,
                 row->unit, report_number(spread.median, median), report_number(spread.min, min),
                 report_number(spread.max, max), row->runs.count, baseline, ratio, row->runs.lost,
                 allocs);
    report_show_params(&row->params);
    (void)putchar('\n');
    (void)fflush(stdout);
}

static void report_finish_row(const bench_row_t *row)
{
    const bench_spread_t spread = bench_runs_values(&row->runs);
    (void)printf("{\"bench\":\"%s\",\"case\":\"%s\",\"params\":{%s},\"unit\":\"%s\"", row->bench,
                 row->name, row->params.fields, row->unit);
    (void)printf(",\"median\":%.9g,\"min\":%.9g,\"max\":%.9g,\"runs\":%u", spread.median,
                 spread.min, spread.max, row->runs.count);
    if (row->runs.has_baseline) {
        (void)printf(",\"baseline\":%.9g,\"ratio\":%.6g", bench_runs_baseline(&row->runs),
                     bench_runs_ratio(&row->runs));
    } else {
        (void)printf(",\"baseline\":null,\"ratio\":null");
    }
    (void)printf(",\"lost\":%" PRIu64, row->runs.lost);
    if (row->runs.has_allocs) {
        (void)printf(",\"allocs_per_msg\":%.9g}",
                     (double)row->runs.allocs / (double)row->runs.counted);
    } else {
        (void)printf(",\"allocs_per_msg\":null}");
    }
}

void bench_report_finish(const bench_report_t *report)
{
    if (!report->json) {
        return;
    }
    (void)printf("[");
    for (size_t i = 0; i < report->len; i++) {
        (void)printf(i == 0 ? "\n  " : ",\n  ");
        report_finish_row(report->rows[i]);
    }
    (void)printf("\n]\n");
}

uint64_t bench_report_lost(const bench_report_t *report)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < report->len; i++) {
        lost += report->rows[i]->runs.lost;
    }
    return lost;
}
