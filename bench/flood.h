/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Two actors that several benchmarks share: a flooder that sends as fast as it may, and a sink that
 * counts what comes, by sequence number. */

#ifndef TROUPE_BENCH_FLOOD_H
#define TROUPE_BENCH_FLOOD_H

#include <stddef.h>
#include <stdint.h>

#include "node.h"

#define BENCH_SINK_SENDERS_MAX 64

typedef struct bench_sink_args {
    const bench_node_t *node;
    uint32_t
        credit; /* Tells each sender when it has taken that many more of its messages; 0: never. */
} bench_sink_args_t;

/* ARM(count): answers READY to its sender, who is told DONE after `count` messages. Their bodies begin
 * with a bench_message_t, whose client is below BENCH_SINK_SENDERS_MAX. */
extern const troupe_behavior_t bench_sink_behavior;

typedef struct bench_flooder_args {
    const bench_node_t *node;
    troupe_ref_t to;
    troupe_type_t type;
    uint32_t size; /* Bytes a message, at least a bench_message_t. */
    uint32_t client;
    uint32_t window; /* Messages that the sink's credit may be behind; 0: it gives none. */
} bench_flooder_args_t;

/* GO(count): sends `count` messages, in batches of BENCH_BATCH, or fewer of large ones. Several
 * flooders of one sink need credit: a dispatcher shares itself out among actors, so that together
 * they would outrun the sink for good. */
extern const troupe_behavior_t bench_flooder_behavior;

#endif
