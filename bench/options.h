/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The command line: which benchmark, and how. */

#ifndef TROUPE_BENCH_OPTIONS_H
#define TROUPE_BENCH_OPTIONS_H

#include <stdbool.h>

#include "settings.h"

/* Reads the command line. On anything wrong complains, says how to get help, and returns false. */
bool bench_options_parse(int argc, char **argv, bench_options_t *ret_options);

/* Prints the usage of one command, or of the program when `command` is NULL, on standard output. */
void bench_options_help(const char *command);

/* The first of the choices that the bits name, as the option spells it. */
const char *bench_placement_name(unsigned placement);
const char *bench_shape_name(unsigned shape);
const char *bench_load_name(unsigned load);
const char *bench_by_name(unsigned by);

#endif
