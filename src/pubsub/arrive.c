/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What reaches a dispatcher: plain, for a group, or to be confirmed. */

#include "pubsub/arrive.h"

#include "base/assert.h"
#include "pubsub/answer.h"
#include "pubsub/expand.h"
#include "pubsub/group.h"

void trp_arrive(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                const trp_routing_words_t *words)
{
    if ((words->route & TRP_ROUTE_GROUP) != 0) {
        trp_group_take(site, topic, what, words);
        return;
    }
    uint32_t taken = trp_expand_plain(site, topic, what);
    if (taken == 0 && (words->route & TRP_ROUTE_WAIT) != 0 &&
        trp_expand_is_pending(site, topic, 0)) {
        trp_answer_hold(site, topic, what, words);
        return;
    }
    if ((words->route & TRP_ROUTE_CONFIRM) != 0) {
        trp_answer(site, words, taken);
    } else if (taken == 0) {
        trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
    }
}

/* The topic's line; a dispatcher that has only pattern subscribers may not have resolved it yet. */
static trp_replica_topic_t *arrive_find(trp_site_t *site, uint32_t word)
{
    uint32_t id = word & ((1u << TRP_TOPIC_ID_BITS) - 1);
    trp_replica_topic_t *topic = trp_replica_any(&site->replica, id);
    if (topic == NULL) {
        troupe_err_t err = trp_replica_resolve_any(&site->replica, id, &topic);
        if (err != TROUPE_OK) {
            return NULL;
        }
    }
    return trp_topic_word(topic) == word ? topic : NULL;
}

/* The only subscriber takes the cell itself. */
static inline bool arrive_reuse(trp_site_t *site, trp_replica_topic_t *topic,
                                trp_message_t *message)
{
    uint32_t words = (message->flags & TRP_MESSAGE_FOREIGN) != 0 ? 1 : 0;
    if (topic->subscribers.len != 1 || (topic->flags & TRP_REPLICA_PATTERNS) != 0 ||
        trp_message_words(message) != words) {
        return false;
    }
    const trp_subscriber_t *subscriber = trp_subscribers_items(&topic->subscribers);
    if ((subscriber->tagged & TRP_SUBSCRIBER_DIRECT) == 0) {
        return false;
    }
    message->target = subscriber->actor;
    message->flags &= (uint8_t)~TRP_MESSAGE_TOPIC;
    site->d->user.made++;
    trp_deliver(site->d, message);
    return true;
}

void trp_arrive_topic_fn(void *context, trp_dispatcher_t *d, trp_message_t *message)
{
    (void)context;
    trp_site_t *site = trp_site_of(d);
    TRP_ASSERT(site != NULL);
    trp_replica_topic_t *topic = arrive_find(site, (uint32_t)message->target);
    if (TRP_UNLIKELY(topic == NULL)) {
        d->user.made++;
        message->target = 0;
        message->flags &= (uint8_t)~TRP_MESSAGE_TOPIC;
        trp_drop(d, message, TROUPE_DROP_NO_SUBSCRIBER);
        return;
    }
    if (TRP_LIKELY(arrive_reuse(site, topic, message))) {
        return;
    }
    trp_publication_t what;
    trp_routing_words_t words;
    trp_publication_of(message, &what, &words);
    trp_arrive(site, topic, &what, &words);
    trp_message_free(&d->endpoint.pool, message);
}
