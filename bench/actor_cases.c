/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of actor benchmarks. */

#include "actor_cases.h"

#include <stddef.h>

const bench_case_t bench_actor_cases[] = {
    {"pingpong", "one pair on one dispatcher, 1,000 messages in flight", bench_actor_pingpong},
    {"pingpong-one", "the same with 1 in flight", bench_actor_pingpong_one},
    {"pingpong-across", "one pair across two dispatchers, 1,000 in flight",
     bench_actor_pingpong_across},
    {"pingpong-across-one", "the same with 1 in flight", bench_actor_pingpong_across_one},
    {"pairs", "348 pairs across dispatchers, 1,000 in flight each", bench_actor_pairs},
    {"oneway", "one-way flood on one dispatcher", bench_actor_oneway},
    {"oneway-across", "one-way flood across two dispatchers", bench_actor_oneway_across},
    {"fanin", "16 senders, default placement, to one receiver", bench_actor_fanin},
    {"ask", "32 targets, 1,024 askers each, on one dispatcher", bench_actor_ask},
    {"ask-across", "the same across two dispatchers", bench_actor_ask_across},
    {"ring", "a token through a ring of 503 actors on one dispatcher", bench_actor_ring},
    {"ring-across", "the same, neighbours on different dispatchers", bench_actor_ring_across},
    {"spawn", "spawn and stop on one dispatcher", bench_actor_spawn},
    {"spawn-default", "spawn and stop with default placement", bench_actor_spawn_default},
    {"tree", "a tree of 1 M leaves summed, subtrees on their dispatcher", bench_actor_tree},
    {"tree-default", "the same, every actor with default placement", bench_actor_tree_default},
    {"memory", "bytes an idle actor with 64 B of state, at 1 M actors", bench_actor_memory},
    {NULL, NULL, NULL},
};
