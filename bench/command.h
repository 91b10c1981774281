/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The program's commands and their cases. */

#ifndef TROUPE_BENCH_COMMAND_H
#define TROUPE_BENCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "report.h"
#include "settings.h"

/* What every case is given. */
typedef struct bench_context {
    const bench_options_t *options;
    bench_report_t *report;
} bench_context_t;

typedef struct bench_case {
    const char *name;
    const char *summary;
    /* Measures and adds rows to the report. False when that was not possible: then the program
     * fails, after the other cases. */
    bool (*run)(bench_context_t *context);
} bench_case_t;

enum {
    BENCH_COMMAND_PUBSUB = 1,
    BENCH_COMMAND_ACTOR = 2,
    BENCH_COMMAND_LINK = 4,
    BENCH_COMMAND_BOX = 8
};

typedef struct bench_command {
    const char *name;
    const char *summary;
    unsigned bit;
    const bench_case_t *cases; /* Up to the one without a name; NULL: the command has none. */
} bench_command_t;

const bench_command_t *bench_command_find(const char *name);

/* Whether each name of a comma-separated list is a case of the command; complains when not. */
bool bench_command_knows_cases(const char *command, const char *names);

/* Whether the case is among the names; all are when `names` is NULL. */
bool bench_command_is_wanted(const bench_case_t *bench_case, const char *names);

void bench_command_list(void);
void bench_command_list_cases(const bench_command_t *command);

/* The cases of each command, up to one without a name; each table lies beside its benchmarks. */
extern const bench_case_t bench_actor_cases[];
extern const bench_case_t bench_link_cases[];
extern const bench_case_t bench_pubsub_cases[];

#endif
