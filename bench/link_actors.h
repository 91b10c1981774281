/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The actors of the link benchmarks. */

#ifndef TROUPE_BENCH_LINK_ACTORS_H
#define TROUPE_BENCH_LINK_ACTORS_H

#include <stdint.h>

#include "histogram.h"
#include "node.h"

/* Answers each message with its own type and body. No arguments. */
extern const troupe_behavior_t bench_echo_behavior;

/* Answers each message, however large, with its leading bench_message_t. Arguments: bench_sink_args_t. */
extern const troupe_behavior_t bench_bulk_sink_behavior;

typedef struct bench_prober_args {
    const bench_node_t *node;
    troupe_ref_t echo;
    bench_histogram_t *histogram; /* Of round trips in nanoseconds; read it after DONE. */
    troupe_type_t type;
    uint32_t size;   /* Bytes a message, at least a bench_message_t. */
    bool one_by_one; /* GO(count): one in flight, `count` times. Otherwise GO sends one at once. */
} bench_prober_args_t;

/* Measures round trips. DONE when all answers of a GO are there (one by one), or, after STOP, as soon
 * as no answer is missing. */
extern const troupe_behavior_t bench_prober_behavior;

typedef struct bench_streamer_args {
    const bench_node_t *node;
    troupe_ref_t to; /* A bulk sink. */
    uint64_t size;   /* Bytes of each message. */
    uint32_t window; /* Messages in flight. */
} bench_streamer_args_t;

/* GO: streams messages until STOP; then DONE with the count of answered ones when all are. */
extern const troupe_behavior_t bench_streamer_behavior;

#endif
