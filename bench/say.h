/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the program tells its user beside results: complaints, and a progress line on a terminal.
 * All of it goes to standard error, so that standard output carries results alone. */

#ifndef TROUPE_BENCH_SAY_H
#define TROUPE_BENCH_SAY_H

/* "troupe-bench: <text>" and a new line. */
void bench_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows a line that the next one replaces; nothing at all unless standard error is a terminal. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the progress line away. */
void bench_progress_clear(void);

#endif
