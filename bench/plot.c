/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Writing gnuplot's script: data in here-documents, one a line of the chart, then the plot. */

#include "plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#define PLOT_SERIES_MAX 32

typedef struct plot_series {
    const char *names[PLOT_SERIES_MAX];
    size_t len;
} plot_series_t;

/* Only rates are drawn: latencies and bytes have other axes. */
static bool plot_is_rate(const bench_row_t *row)
{
    const size_t size = strlen(row->unit);
    return size > 2 && strcmp(row->unit + size - 2, "/s") == 0;
}

static bool plot_is_point(const bench_row_t *row)
{
    return plot_is_rate(row) && row->x >= 0.0;
}

static void plot_collect(const bench_report_t *report, plot_series_t *series)
{
    series->len = 0;
    for (size_t i = 0; i < report->len; i++) {
        const bench_row_t *row = report->rows[i];
        bool known = !plot_is_point(row);
        for (size_t j = 0; !known && j < series->len; j++) {
            known = strcmp(series->names[j], row->series) == 0;
        }
        if (!known && series->len < PLOT_SERIES_MAX) {
            series->names[series->len++] = row->series;
        }
    }
}

static void plot_write_lines(FILE *script, const bench_report_t *report,
                             const plot_series_t *series)
{
    for (size_t i = 0; i < series->len; i++) {
        (void)fprintf(script, "$line%zu << END\n", i);
        for (size_t j = 0; j < report->len; j++) {
            const bench_row_t *row = report->rows[j];
            if (plot_is_point(row) && strcmp(row->series, series->names[i]) == 0) {
                const bench_spread_t spread = bench_runs_values(&row->runs);
                (void)fprintf(script, "%g %g %g %g\n", row->x, spread.median / 1e6,
                              spread.min / 1e6, spread.max / 1e6);
            }
        }
        (void)fprintf(script, "END\n");
    }
    (void)fprintf(script, "set xlabel 'clients or bytes a message'\nplot");
    for (size_t i = 0; i < series->len; i++) {
        (void)fprintf(script, "%s $line%zu using 1:2:3:4 with yerrorlines title '%s'",
                      i == 0 ? "" : ",", i, series->names[i]);
    }
    (void)fprintf(script, "\n");
}

static size_t plot_write_bars(FILE *script, const bench_report_t *report)
{
    size_t bars = 0;
    (void)fprintf(script, "$bars << END\n");
    for (size_t i = 0; i < report->len; i++) {
        if (plot_is_rate(report->rows[i])) {
            (void)fprintf(script, "\"%s\" %g\n", report->rows[i]->name,
                          bench_runs_values(&report->rows[i]->runs).median / 1e6);
            bars++;
        }
    }
    (void)fprintf(script,
                  "END\nset style fill solid 0.6\nset boxwidth 0.7\nset xtics rotate by -40\n"
                  "plot $bars using 0:2:xtic(1) with boxes notitle\n");
    return bars;
}

static bool plot_has_program(void)
{
    const char *path = getenv("PATH");
    char file[1024];
    while (path != NULL && *path != '\0') {
        const size_t size = strcspn(path, ":");
        (void)snprintf(file, sizeof(file), "%.*s/gnuplot", (int)size, path);
        if (access(file, X_OK) == 0) {
            return true;
        }
        path += path[size] == ':' ? size + 1 : size;
    }
    return false;
}

static const char *plot_terminal(const char *file)
{
    const char *dot = strrchr(file, '.');
    if (dot != NULL && strcmp(dot, ".svg") == 0) {
        return "svg size 900,540 dynamic background 'white'";
    }
    if (dot != NULL && strcmp(dot, ".png") == 0) {
        return "pngcairo size 900,540";
    }
    return NULL;
}

static void plot_write_head(FILE *script, const bench_report_t *report, const char *terminal,
                            const char *file)
{
    (void)fprintf(script, "set terminal %s\nset output '%s'\n", terminal, file);
    (void)fprintf(script, "set title 'troupe-bench %s'\nset ylabel 'million a second'\n",
                  report->rows[report->len - 1]->bench);
    (void)fprintf(script, "set yrange [0:*]\nset grid y\nset key below\n");
}

bool bench_plot(const bench_report_t *report, const char *file)
{
    const char *terminal = plot_terminal(file);
    plot_series_t series;
    size_t drawn;
    FILE *script;
    if (terminal == NULL || strchr(file, '\'') != NULL) {
        bench_complain("--plot wants a file that ends in .svg or .png (and has no quote in it)");
        return false;
    }
    if (!plot_has_program()) {
        bench_complain("--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
        return false;
    }
    script = report->len > 0 ? popen("gnuplot", "we") : NULL;
    if (script == NULL) {
        bench_complain("no chart: %s", report->len > 0 ? strerror(errno) : "nothing was measured");
        return false;
    }
    plot_write_head(script, report, terminal, file);
    plot_collect(report, &series);
    drawn = series.len;
    if (drawn > 0) {
        plot_write_lines(script, report, &series);
    } else {
        drawn = plot_write_bars(script, report);
    }
    if (pclose(script) != 0 || drawn == 0) {
        bench_complain("gnuplot drew no chart");
        return false;
    }
    return true;
}
