/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The parameters of a measurement: a JSON object that is built field by field in fixed memory. */

#ifndef TROUPE_BENCH_PARAMS_H
#define TROUPE_BENCH_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_PARAMS_SIZE_MAX 512 /* Bytes of text; a field that doesn't fit is left out. */

typedef struct bench_params {
    size_t size;
    char fields[BENCH_PARAMS_SIZE_MAX]; /* "key":value,... without the braces. */
} bench_params_t;

void bench_params_init(bench_params_t *params);

/* Keys and texts are the program's own words: nothing in them needs an escape. */
void bench_params_text(bench_params_t *params, const char *key, const char *value);
void bench_params_count(bench_params_t *params, const char *key, uint64_t value);
void bench_params_number(bench_params_t *params, const char *key, double value);

#endif
