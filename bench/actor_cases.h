/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The cases of `troupe-bench actor`, each in the file of its idea. */

#ifndef TROUPE_BENCH_ACTOR_CASES_H
#define TROUPE_BENCH_ACTOR_CASES_H

#include <stdbool.h>

#include "command.h"

/* actor_pingpong.c */
bool bench_actor_pingpong(bench_context_t *context);
bool bench_actor_pingpong_one(bench_context_t *context);
bool bench_actor_pingpong_across(bench_context_t *context);
bool bench_actor_pingpong_across_one(bench_context_t *context);
bool bench_actor_pairs(bench_context_t *context);
/* actor_flood.c */
bool bench_actor_oneway(bench_context_t *context);
bool bench_actor_oneway_across(bench_context_t *context);
bool bench_actor_fanin(bench_context_t *context);
/* actor_ask.c */
bool bench_actor_ask(bench_context_t *context);
bool bench_actor_ask_across(bench_context_t *context);
/* actor_ring.c */
bool bench_actor_ring(bench_context_t *context);
bool bench_actor_ring_across(bench_context_t *context);
/* actor_spawn.c */
bool bench_actor_spawn(bench_context_t *context);
bool bench_actor_spawn_default(bench_context_t *context);
/* actor_tree.c */
bool bench_actor_tree(bench_context_t *context);
bool bench_actor_tree_default(bench_context_t *context);
/* actor_memory.c */
bool bench_actor_memory(bench_context_t *context);
int bench_actor_memory_worker(int fd);

#define BENCH_ACTOR_MEMORY_KIND "actor-memory"

#endif
