/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the command line can say, as data. */

#ifndef TROUPE_BENCH_SETTINGS_H
#define TROUPE_BENCH_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_LIST_MAX 32 /* Entries of a list such as --clients 1,5,10. */

#define BENCH_EXIT_OK 0
#define BENCH_EXIT_FAILED 1 /* A measurement could not be made, or messages were lost. */
#define BENCH_EXIT_USAGE 2

/* Choices are bits, so that one option can name several. 0 means: what the benchmark shows when it
 * is not told. */
enum { BENCH_PLACEMENT_DEFAULT = 1, BENCH_PLACEMENT_TOGETHER = 2, BENCH_PLACEMENT_CROSS = 4 };
enum { BENCH_SHAPE_NODE = 1, BENCH_SHAPE_CLUSTER = 2, BENCH_SHAPE_BROADCAST = 4 };
enum { BENCH_LOAD_ONEWAY = 1, BENCH_LOAD_PINGPONG = 2 };
enum { BENCH_BY_HANDLE = 1, BENCH_BY_NAME = 2, BENCH_BY_PATH = 4 };
enum { BENCH_CURVE_OFF = 1, BENCH_CURVE_ON = 2 };

typedef struct bench_list {
    uint64_t values[BENCH_LIST_MAX];
    size_t len;
} bench_list_t;

typedef struct bench_options {
    const char *command;
    const char *cases; /* Comma-separated; NULL: all. */
    const char *plot;  /* File of the chart; NULL: none. */
    bool json;
    bool published; /* The published counts as they are. */
    bool help;
    uint64_t runs;
    uint64_t messages; /* A client or a run; 0: as many as `seconds` take. */
    double seconds;    /* At least this long a run. */
    uint64_t nodes;
    uint64_t dispatchers; /* 0: one a processor. */
    bench_list_t clients; /* Empty: 1, 5, 10, 15, 20, 25, 30. */
    bench_list_t sizes;   /* Bytes; empty: the link benchmark's own. */
    unsigned placement, shape, load, by, curve;
} bench_options_t;

#endif
