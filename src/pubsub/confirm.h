/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The answer to a part of a confirmed publish, on its way to the publisher's dispatcher.
 *
 * Thread rule: functions belong to the site's dispatcher. */

#ifndef TROUPE_PUBSUB_CONFIRM_H
#define TROUPE_PUBSUB_CONFIRM_H

#include <stdint.h>

#include "pubsub/site.h"

typedef struct trp_confirm_answer {
    uint64_t node;  /* Who answers; 0: this node. */
    uint32_t key;   /* Of the confirm: dispatcher << 24 | number. */
    uint32_t taken; /* Subscribers that took it. */
    uint32_t parts; /* Answers that this node gives in all. */
    uint32_t reserved;
} trp_confirm_answer_t;

/* remote.c: sends an answer to the node that asked. */
void trp_remote_answer(trp_pubsub_t *pubsub, uint64_t node, const trp_confirm_answer_t *answer);

/* Drops what a topic holds, as its dispatcher ends. */
void trp_confirm_drop_topic(trp_site_t *site, trp_replica_topic_t *topic);

#endif
