/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Answers to confirmed publishes, and what waits at a topic for its subscribers.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_ANSWER_H
#define TROUPE_PUBSUB_ANSWER_H

#include "base/list.h"
#include "pubsub/outgoing.h"

/* An answer starts with a byte that no msgpack value starts with:
 *     0      1          5        9        13
 *     | 0xc1 | key u32  | taken  | parts  |            little-endian */
#define TRP_ANSWER_MARK 0xc1u
#define TRP_ANSWER_SIZE 13u

#define TRP_WAITING_MAX 1000u /* Confirmed publishes that wait, or are held, at one topic here. */

/* Tells who published how many took it here. */
void trp_answer(trp_site_t *site, const trp_routing_words_t *words, uint32_t taken);

/* What waits at a topic; made on first use, freed when nothing does. */
typedef struct trp_waiting {
    trp_list_t confirms;
    uint32_t len;
    trp_message_t *held_first;
    trp_message_t *held_last;
    uint32_t held_len;
} trp_waiting_t;

trp_waiting_t *trp_waiting_get(trp_replica_topic_t *topic);
/* Frees it when nothing waits any more. */
void trp_waiting_put(trp_replica_topic_t *topic);

/* Keeps a publication that found pending subscriptions only until one of them turns active. */
void trp_answer_hold(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                     const trp_routing_words_t *words);
/* Drops what a topic holds, as its dispatcher ends. */
void trp_answer_drop_held(trp_site_t *site, trp_replica_topic_t *topic);

#endif
