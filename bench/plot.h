/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Charts of a report, drawn by gnuplot. */

#ifndef TROUPE_BENCH_PLOT_H
#define TROUPE_BENCH_PLOT_H

#include <stdbool.h>

#include "report.h"

/* Draws the rates of the report into `file`: lines over clients or sizes where rows have an x, bars
 * otherwise. The file's name ends in .svg or .png. False with a complaint when gnuplot is not
 * installed, the name ends otherwise, or there is nothing to draw. */
bool bench_plot(const bench_report_t *report, const char *file);

#endif
