/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The cases of `troupe-bench pubsub`, each in the file of its idea. */

#ifndef TROUPE_BENCH_PUBSUB_CASES_H
#define TROUPE_BENCH_PUBSUB_CASES_H

#include <stdbool.h>

#include "command.h"

bool bench_pubsub_clients(bench_context_t *context); /* pubsub_clients.c */
bool bench_pubsub_names(bench_context_t *context);   /* pubsub_names.c */
bool bench_pubsub_fanout(bench_context_t *context);  /* pubsub_fanout.c */
bool bench_pubsub_hot(bench_context_t *context);     /* pubsub_hot.c */
bool bench_pubsub_random(bench_context_t *context);  /* pubsub_random.c */
bool bench_pubsub_idle(bench_context_t *context);    /* pubsub_idle.c */

#endif
