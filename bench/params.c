/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Building the parameters' JSON object. */

#include "params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PARAMS_FIELD_SIZE_MAX 160

void bench_params_init(bench_params_t *params)
{
    params->size = 0;
    params->fields[0] = '\0';
}

static void params_append(bench_params_t *params, const char *field)
{
    const char *separator = params->size == 0 ? "" : ",";
    const size_t needed = strlen(field) + strlen(separator);
    if (params->size + needed + 1 > sizeof(params->fields)) {
        return;
    }
    (void)snprintf(params->fields + params->size, sizeof(params->fields) - params->size, "%s%s",
                   separator, field);
    params->size += needed;
}

void bench_params_text(bench_params_t *params, const char *key, const char *value)
{
    char field[PARAMS_FIELD_SIZE_MAX];
    (void)snprintf(field, sizeof(field), "\"%s\":\"%s\"", key, value);
    params_append(params, field);
}

void bench_params_count(bench_params_t *params, const char *key, uint64_t value)
{
    char field[PARAMS_FIELD_SIZE_MAX];
    (void)snprintf(field, sizeof(field), "\"%s\":%" PRIu64, key, value);
    params_append(params, field);
}

void bench_params_number(bench_params_t *params, const char *key, double value)
{
    char field[PARAMS_FIELD_SIZE_MAX];
    (void)snprintf(field, sizeof(field), "\"%s\":%.6g", key, value);
    params_append(params, field);
}
