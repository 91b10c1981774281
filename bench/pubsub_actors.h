/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The publishers and subscribers of the pub/sub benchmarks. */

#ifndef TROUPE_BENCH_PUBSUB_ACTORS_H
#define TROUPE_BENCH_PUBSUB_ACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/pubsub.h>

#include "histogram.h"
#include "node.h"

#define BENCH_TOPIC_SIZE_MAX 64
#define BENCH_PUBSUB_WINDOW 50 /* Of the published ping-pong. */
/* What a program without topic keys joins for each message; the topic is opened under that name. */
#define BENCH_TOPIC_PREFIX "/system/pubsub/bench"

typedef struct bench_subscriber_args {
    const bench_node_t *node;
    bench_histogram_t *histogram; /* Of publish-to-receive times; NULL: none. This one's alone. */
    troupe_ref_t boss;            /* Told READY once the subscription is acknowledged. */
    troupe_topic_t topic;
    bool cluster; /* The acknowledgement waits for all members. */
    bool answers; /* Ping-pong: answers messages without a stamp to their publisher. */
} bench_subscriber_args_t;

/* ARM(count): READY, then DONE after `count` messages. */
extern const troupe_behavior_t bench_subscriber_behavior;

typedef struct bench_publisher_args {
    const bench_node_t *node;
    troupe_topic_t topic;
    uint32_t by;    /* One BENCH_BY_*. */
    uint32_t batch; /* One-way: publishes a turn. */
    bool pingpong;
    char name[BENCH_TOPIC_SIZE_MAX]; /* By name: the whole name; by path: what the prefix is joined
                                        with. */
} bench_publisher_args_t;

/* ARM: READY, the sequence begins anew. GO(count): publishes `count` messages; in ping-pong answers
 * DONE when all have been answered. PROBE: publishes one message with its time. */
extern const troupe_behavior_t bench_publisher_behavior;

/* Writes the name that a publisher's topic must be opened under; returns its size. */
size_t bench_topic_name(uint32_t by, const char *name, char ret_name[BENCH_TOPIC_SIZE_MAX * 2]);

#endif
