/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The benchmark program as a function. */

#ifndef TROUPE_BENCH_MAIN_H
#define TROUPE_BENCH_MAIN_H

/* Runs `troupe-bench` with its arguments and returns its exit status. Once a process. */
int troupe_bench_main(int argc, char **argv);

#endif
