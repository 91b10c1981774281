/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Answering the parts of confirmed publishes, and holding those that came too early. */

#include "pubsub/answer.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "pubsub/tasks.h"

/* ---- answers ---------------------------------------------------------------------------------- */

static void answer_remote(trp_pubsub_t *pubsub, uint64_t node, const trp_confirm_answer_t *answer)
{
    uint8_t bytes[TRP_ANSWER_SIZE] = {TRP_ANSWER_MARK};
    trp_store_le32(bytes + 1, answer->key);
    trp_store_le32(bytes + 5, answer->taken);
    trp_store_le32(bytes + 9, answer->parts);
    if (pubsub->link != NULL) {
        troupe_err_t err =
            trp_link_control_send(pubsub->link, node, TRP_SERVICE_PUBSUB, bytes, sizeof(bytes));
        (void)err; /* Unanswered, the publisher is told so at its deadline. */
    }
}

void trp_answer(trp_site_t *site, const trp_routing_words_t *words, uint32_t taken)
{
    trp_confirm_answer_t answer = {.key = (uint32_t)(words->token >> 32), .taken = taken};
    answer.parts = 1;
    if (words->origin != 0) {
        answer.parts = (words->route & TRP_ROUTE_GROUP) != 0 ? 1 : site->pubsub->runtime->len;
        answer_remote(site->pubsub, words->origin, &answer);
        return;
    }
    troupe_err_t err = trp_dispatcher_post(site->d, answer.key >> 24, trp_confirm_answered, &answer,
                                           sizeof(answer));
    (void)err; /* Without memory the publisher is told at its deadline. */
}

/* ---- waiting ---------------------------------------------------------------------------------- */

trp_waiting_t *trp_waiting_get(trp_replica_topic_t *topic)
{
    if (topic->waiting == NULL) {
        trp_waiting_t *waiting = trp_calloc(1, sizeof(*waiting));
        if (waiting == NULL) {
            return NULL;
        }
        trp_list_init(&waiting->confirms);
        topic->waiting = waiting;
    }
    return topic->waiting;
}

void trp_waiting_put(trp_replica_topic_t *topic)
{
    trp_waiting_t *waiting = topic->waiting;
    if (waiting != NULL && waiting->len == 0 && waiting->held_len == 0) {
        trp_free(waiting);
        topic->waiting = NULL;
    }
}

void trp_answer_hold(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                     const trp_routing_words_t *words)
{
    trp_waiting_t *waiting = trp_waiting_get(topic);
    trp_message_t *message = NULL;
    if (waiting != NULL && waiting->held_len < TRP_WAITING_MAX) {
        message = trp_publish_cell(site, what, TRP_ROUTING_WORDS);
    }
    if (message == NULL) {
        trp_waiting_put(topic);
        trp_answer(site, words, 0);
        return;
    }
    uint32_t first = what->sender_node != 0 ? 1 : 0;
    memcpy(trp_message_extension(message) + first, words, sizeof(*words));
    message->next = NULL;
    if (waiting->held_first == NULL) {
        waiting->held_first = message;
    } else {
        waiting->held_last->next = message;
    }
    waiting->held_last = message;
    waiting->held_len++;
}

void trp_answer_drop_held(trp_site_t *site, trp_replica_topic_t *topic)
{
    trp_waiting_t *waiting = topic->waiting;
    trp_message_t *message = waiting != NULL ? waiting->held_first : NULL;
    while (message != NULL) {
        trp_message_t *next = message->next;
        site->d->user.made++;
        trp_drop(site->d, message, TROUPE_DROP_STOPPED);
        message = next;
    }
    trp_free(waiting);
    topic->waiting = NULL;
}
