/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A crowd: 100,000 topics, each with one subscriber, held by 100 actors with 1,000 topics each. The
 * crowd can churn: each second a tenth of the topics is left and subscribed to again. */

#ifndef TROUPE_BENCH_PUBSUB_CROWD_H
#define TROUPE_BENCH_PUBSUB_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/pubsub.h>

#include "node.h"

#define BENCH_CROWD_HOLDERS 100u
#define BENCH_CROWD_EACH 1000u /* Topics of a holder: holder h has topics h * 1,000 and on. */
#define BENCH_CROWD_TOPICS (BENCH_CROWD_HOLDERS * BENCH_CROWD_EACH)
#define BENCH_CROWD_PUBLISHERS_MAX 64

/* In bench_message_t.spare: the publisher's last message to this holder in this run. */
#define BENCH_CROWD_LAST 1u

typedef struct bench_crowd {
    bench_node_t *node;
    troupe_topic_t topics[BENCH_CROWD_TOPICS];
    troupe_ref_t holders[BENCH_CROWD_HOLDERS];
} bench_crowd_t;

/* Opens the topics, spawns the holders and waits until all subscriptions are acknowledged. NULL when
 * that was not possible. */
bench_crowd_t *bench_crowd_create(bench_node_t *node);
void bench_crowd_destroy(bench_crowd_t **crowd);

bool bench_crowd_churn(bench_crowd_t *crowd, bool on);

/* Each holder becomes DONE when it has the last message of `publishers` publishers (whose number each
 * message carries as its client). */
bool bench_crowd_arm(bench_crowd_t *crowd, uint64_t publishers);

#endif
