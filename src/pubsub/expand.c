/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Expanding: from one message for a dispatcher to its subscribers' mailboxes. */

#include "pubsub/expand.h"

#include "actor/events.h"
#include "base/assert.h"

/* ---- slow subscribers ------------------------------------------------------------------------ */

static uint64_t expand_topic_word(const trp_replica_topic_t *topic)
{
    return (uint64_t)topic->generation << 32 | topic->id;
}

/* Takes the oldest message of that topic out of a mailbox; NULL when there is none. */
static trp_message_t *expand_take_oldest(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t word)
{
    trp_message_t *before = NULL;
    trp_message_t *at = cell->head;
    while (at != NULL) {
        uint32_t words = trp_message_words(at);
        if ((at->flags & TRP_MESSAGE_PUBLISHED) != 0 &&
            trp_message_extension(at)[words - 1] == word) {
            break;
        }
        before = at;
        at = at->next;
    }
    if (at == NULL) {
        return NULL;
    }
    if (before == NULL) {
        cell->head = at->next;
    } else {
        before->next = at->next;
    }
    if (cell->tail == at) {
        cell->tail = before;
    }
    cell->mail_len--;
    cell->mail_size -= at->size;
    d->backlog--;
    return at;
}

/* Told once an episode, with the subscriber's path; every message is counted. */
static void expand_too_slow(trp_site_t *site, trp_subscription_t *subscription,
                            troupe_actor_t *cell)
{
    trp_dispatcher_t *d = site->d;
    subscription->dropped++;
    d->user.dropped[TROUPE_DROP_SLOW_SUBSCRIBER]++;
    if (subscription->is_slow_told || !trp_events_wanted(d, TROUPE_EVENT_DEAD_LETTER)) {
        return;
    }
    troupe_event_t event;
    subscription->is_slow_told = true;
    trp_event_init(&event, TROUPE_EVENT_DEAD_LETTER, NULL, 0);
    event.reason = TROUPE_DROP_SLOW_SUBSCRIBER;
    event.target = trp_dispatcher_ref(d, cell->id);
    event.count = subscription->dropped;
    trp_event_set_path(&event, cell);
    trp_events_raise(d, &event);
}

/* Makes room by the subscription's policy. False: the newcomer is the one to drop. */
static bool expand_make_room(trp_site_t *site, trp_subscription_t *subscription,
                             troupe_actor_t *cell, uint64_t word)
{
    trp_message_t *victim = NULL;
    if (subscription->slow == TROUPE_SLOW_KEEP_LATEST) {
        victim = expand_take_oldest(site->d, cell, word);
    } else if (cell->mail_len < subscription->queue_len_max) {
        if (cell->mail_len < subscription->queue_len_max / 2) {
            subscription->is_slow_told = false;
        }
        return true;
    } else if (subscription->slow == TROUPE_SLOW_DROP_OLDEST) {
        victim = expand_take_oldest(site->d, cell, word);
    }
    if (victim != NULL) {
        expand_too_slow(site, subscription, cell);
        trp_message_free(&site->d->endpoint.pool, victim);
        return true;
    }
    if (subscription->slow == TROUPE_SLOW_KEEP_LATEST) {
        subscription->is_slow_told = false; /* It has caught up. */
        return true;
    }
    return false;
}

/* ---- one subscriber -------------------------------------------------------------------------- */

/* Pending, with a policy, or wanting to know the topic. */
static TRP_NOINLINE bool expand_special(trp_site_t *site, const trp_replica_topic_t *topic,
                                        const trp_subscriber_t *subscriber,
                                        const trp_publication_t *what)
{
    trp_subscription_t *subscription = trp_subscriber_subscription(subscriber);
    trp_dispatcher_t *d = site->d;
    troupe_actor_t *cell = trp_cell_find(d, subscriber->actor);
    if (subscription->state != TRP_SUBSCRIPTION_ACTIVE || cell == NULL) {
        return false;
    }
    uint64_t word = expand_topic_word(topic);
    if (subscription->slow != TROUPE_SLOW_MAILBOX &&
        !expand_make_room(site, subscription, cell, word)) {
        d->user.made++;
        expand_too_slow(site, subscription, cell);
        return false;
    }
    trp_message_t *message = trp_publish_cell(site, what, 1);
    if (message == NULL) {
        return false;
    }
    d->user.made++;
    message->flags |= TRP_MESSAGE_PUBLISHED;
    trp_message_extension(message)[trp_message_words(message) - 1] = word;
    message->target = subscriber->actor;
    trp_mailbox_append(d, cell, message);
    return true;
}

static inline bool expand_one(trp_site_t *site, const trp_replica_topic_t *topic,
                              const trp_subscriber_t *subscriber, const trp_publication_t *what)
{
    if (TRP_UNLIKELY((subscriber->tagged & TRP_SUBSCRIBER_DIRECT) == 0)) {
        return expand_special(site, topic, subscriber, what);
    }
    trp_message_t *message = trp_publish_cell(site, what, 0);
    if (TRP_UNLIKELY(message == NULL)) {
        return false;
    }
    site->d->user.made++;
    message->target = subscriber->actor;
    trp_deliver(site->d, message);
    return true;
}

bool trp_expand_one(trp_site_t *site, const trp_replica_topic_t *topic,
                    const trp_subscriber_t *subscriber, const trp_publication_t *what)
{
    return expand_one(site, topic, subscriber, what);
}

/* ---- all of a dispatcher --------------------------------------------------------------------- */

static uint32_t expand_list(trp_site_t *site, const trp_replica_topic_t *topic,
                            trp_subscribers_t *list, const trp_publication_t *what)
{
    const trp_subscriber_t *items = trp_subscribers_items(list);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < list->len; i++) {
        taken += expand_one(site, topic, &items[i], what) ? 1 : 0;
    }
    return taken;
}

static TRP_NOINLINE uint32_t expand_patterns(trp_site_t *site, const trp_replica_topic_t *topic,
                                             const trp_publication_t *what)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < topic->targets->pattern_len; i++) {
        const uint64_t *value = trp_map_find(&site->replica.patterns, topic->targets->patterns[i]);
        if (value != NULL) {
            taken += expand_list(site, topic, (trp_subscribers_t *)(uintptr_t)*value, what);
        }
    }
    return taken;
}

uint32_t trp_expand_plain(trp_site_t *site, trp_replica_topic_t *topic,
                          const trp_publication_t *what)
{
    uint32_t taken = expand_list(site, topic, &topic->subscribers, what);
    if (TRP_UNLIKELY((topic->flags & TRP_REPLICA_PATTERNS) != 0)) {
        taken += expand_patterns(site, topic, what);
    }
    return taken;
}

static bool expand_list_is_pending(trp_subscribers_t *list)
{
    const trp_subscriber_t *items = trp_subscribers_items(list);
    for (uint32_t i = 0; i < list->len; i++) {
        if (trp_subscriber_subscription(&items[i])->state == TRP_SUBSCRIPTION_PENDING) {
            return true;
        }
    }
    return false;
}

bool trp_expand_is_pending(trp_site_t *site, trp_replica_topic_t *topic, uint32_t group)
{
    if (group == 0) {
        return expand_list_is_pending(&topic->subscribers);
    }
    const uint64_t *value =
        trp_map_find(&site->replica.groups, (uint64_t)topic->name->id << 32 | group);
    return value != NULL &&
           expand_list_is_pending(&((trp_replica_group_t *)(uintptr_t)*value)->members);
}
