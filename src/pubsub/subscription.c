/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Subscriptions and the lists they are in. */

#include "pubsub/subscription.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define SUBSCRIBERS_CAPACITY_MIN 4u

/* ---- lists ----------------------------------------------------------------------------------- */

static troupe_err_t subscribers_reserve(trp_subscribers_t *list)
{
    if (list->len == 0 || list->len < list->capacity) {
        return TROUPE_OK;
    }
    if (list->len >= TRP_SUBSCRIBERS_MAX) {
        return TROUPE_EFULL;
    }
    uint32_t capacity = list->capacity == 0 ? SUBSCRIBERS_CAPACITY_MIN : list->capacity * 2;
    trp_subscriber_t *old = list->capacity == 0 ? NULL : list->u.many;
    trp_subscriber_t *many = trp_realloc(old, capacity * sizeof(*many));
    if (many == NULL) {
        return TROUPE_ENOMEM;
    }
    if (list->capacity == 0) {
        many[0] = list->u.one;
    }
    list->u.many = many;
    list->capacity = capacity;
    return TROUPE_OK;
}

/* There is room. */
static uint32_t subscribers_push(trp_subscribers_t *list, trp_subscriber_t subscriber)
{
    trp_subscribers_items(list)[list->len] = subscriber;
    return list->len++;
}

/* Keeps the order of the others out of it: the last takes the empty place. */
static void subscribers_remove(trp_subscribers_t *list, uint32_t at)
{
    trp_subscriber_t *items = trp_subscribers_items(list);
    TRP_ASSERT(at < list->len);
    list->len--;
    if (at != list->len) {
        items[at] = items[list->len];
        trp_subscriber_subscription(&items[at])->at = at;
    }
    if (list->len == 0 && list->capacity > 0) {
        trp_free(list->u.many);
        memset(list, 0, sizeof(*list));
    }
}

static uint64_t subscription_group_key(const trp_atom_t *name, const trp_atom_t *group)
{
    return (uint64_t)name->id << 32 | group->id;
}

trp_subscribers_t *trp_subscription_list(const trp_replica_t *replica, const trp_atom_t *name,
                                         const trp_atom_t *group)
{
    const uint64_t *value = NULL;
    if (group != NULL) {
        value = trp_map_find(&replica->groups, subscription_group_key(name, group));
        return value != NULL ? &((trp_replica_group_t *)(uintptr_t)*value)->members : NULL;
    }
    if (name->space == TRP_SPACE_PATTERN) {
        value = trp_map_find(&replica->patterns, name->id);
        return value != NULL ? (trp_subscribers_t *)(uintptr_t)*value : NULL;
    }
    trp_replica_topic_t *topic = trp_replica_at(replica, name->id, name->generation);
    return topic != NULL ? &topic->subscribers : NULL;
}

uint32_t trp_subscription_count(const trp_replica_t *replica, const trp_atom_t *name,
                                const trp_atom_t *group)
{
    const trp_subscribers_t *list = trp_subscription_list(replica, name, group);
    return list != NULL ? list->len : 0;
}

/* Makes the list of a group or pattern that has no subscribers here yet. */
static troupe_err_t subscription_make_list(trp_replica_t *replica, const trp_atom_t *name,
                                           const trp_atom_t *group, trp_subscribers_t **ret_list)
{
    trp_map_t *map = group != NULL ? &replica->groups : &replica->patterns;
    uint64_t key = group != NULL ? subscription_group_key(name, group) : name->id;
    trp_replica_group_t *made = trp_calloc(1, sizeof(*made));
    if (made == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = trp_map_put(map, key, (uint64_t)(uintptr_t)made);
    if (err != TROUPE_OK) {
        trp_free(made);
        return err;
    }
    *ret_list =
        &made->members; /* The first member: a pattern's list is freed through it as well. */
    return TROUPE_OK;
}

_Static_assert(offsetof(trp_replica_group_t, members) == 0, "lists are freed by their address");

static void subscription_drop_list(trp_replica_t *replica, const trp_atom_t *name,
                                   const trp_atom_t *group, trp_subscribers_t *list)
{
    bool is_own = group != NULL || name->space == TRP_SPACE_PATTERN;
    if (!is_own || list->len > 0) {
        return;
    }
    if (group != NULL) {
        (void)trp_map_remove(&replica->groups, subscription_group_key(name, group), NULL);
    } else {
        (void)trp_map_remove(&replica->patterns, name->id, NULL);
    }
    trp_free(list);
}

/* ---- an actor's chain ------------------------------------------------------------------------ */

trp_subscription_t *trp_subscription_first(const trp_replica_t *replica, uint64_t actor)
{
    const uint64_t *value = trp_map_find(&replica->actors, actor);
    return value != NULL ? (trp_subscription_t *)(uintptr_t)*value : NULL;
}

static troupe_err_t subscription_chain(trp_replica_t *replica, trp_subscription_t *subscription)
{
    trp_subscription_t *first = trp_subscription_first(replica, subscription->actor);
    troupe_err_t err =
        trp_map_put(&replica->actors, subscription->actor, (uint64_t)(uintptr_t)subscription);
    if (err == TROUPE_OK) {
        subscription->actor_next = first;
        if (first != NULL) {
            first->actor_prev = subscription;
        }
    }
    return err;
}

static void subscription_unchain(trp_replica_t *replica, trp_subscription_t *subscription)
{
    if (subscription->actor_next != NULL) {
        subscription->actor_next->actor_prev = subscription->actor_prev;
    }
    if (subscription->actor_prev != NULL) {
        subscription->actor_prev->actor_next = subscription->actor_next;
    } else if (subscription->actor_next != NULL) {
        *trp_map_find(&replica->actors, subscription->actor) =
            (uint64_t)(uintptr_t)subscription->actor_next;
    } else {
        (void)trp_map_remove(&replica->actors, subscription->actor, NULL);
    }
}

/* Walks the topic's list and the actor's chain in step, so that the shorter of them bounds the cost. */
trp_subscription_t *trp_subscription_find(const trp_replica_t *replica, uint64_t actor,
                                          const trp_atom_t *name, const trp_atom_t *group)
{
    trp_subscribers_t *list = trp_subscription_list(replica, name, group);
    trp_subscription_t *own = trp_subscription_first(replica, actor);
    for (uint32_t i = 0; list != NULL && i < list->len && own != NULL; i++) {
        const trp_subscriber_t *subscriber = &trp_subscribers_items(list)[i];
        if (subscriber->actor == actor) {
            return trp_subscriber_subscription(subscriber);
        }
        if (own->name == name && own->group == group) {
            return own;
        }
        own = own->actor_next;
    }
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static troupe_err_t subscription_enter(trp_replica_t *replica, trp_subscribers_t *list,
                                       trp_subscription_t *subscription)
{
    trp_subscriber_t subscriber = {subscription->actor, (uintptr_t)subscription};
    troupe_err_t err = subscribers_reserve(list);
    if (err == TROUPE_OK) {
        err = subscription_chain(replica, subscription);
    }
    if (err == TROUPE_OK) {
        subscription->at = subscribers_push(list, subscriber);
        replica->subscription_len++;
    }
    return err;
}

static trp_subscription_t *subscription_new(trp_atoms_t *names,
                                            const trp_subscribing_t *subscribing)
{
    trp_subscription_t *subscription = trp_calloc(1, sizeof(*subscription));
    if (subscription != NULL) {
        subscription->actor = subscribing->actor;
        subscription->name = trp_atoms_ref(names, subscribing->name);
        subscription->group =
            subscribing->group != NULL ? trp_atoms_ref(names, subscribing->group) : NULL;
        subscription->state = TRP_SUBSCRIPTION_PENDING;
        subscription->slow = subscribing->slow;
        subscription->with_topic = subscribing->with_topic;
        subscription->queue_len_max = subscribing->queue_len_max;
    }
    return subscription;
}

static void subscription_free(trp_atoms_t *names, trp_subscription_t *subscription)
{
    trp_atoms_unref(names, &subscription->name);
    trp_atoms_unref(names, &subscription->group);
    trp_free(subscription);
}

troupe_err_t trp_subscription_add(trp_replica_t *replica, const trp_subscribing_t *subscribing,
                                  trp_subscription_t **ret_subscription)
{
    trp_atoms_t *names = replica->directory->names;
    const trp_atom_t *name = subscribing->name;
    trp_subscribers_t *list = trp_subscription_list(replica, name, subscribing->group);
    trp_subscription_t *found =
        trp_subscription_find(replica, subscribing->actor, name, subscribing->group);
    if (found != NULL) {
        *ret_subscription = found;
        return TROUPE_EEXIST;
    }
    if (list == NULL) {
        TRP_ASSERT(subscribing->group != NULL || name->space == TRP_SPACE_PATTERN);
        troupe_err_t err = subscription_make_list(replica, name, subscribing->group, &list);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    trp_subscription_t *subscription = subscription_new(names, subscribing);
    troupe_err_t err =
        subscription != NULL ? subscription_enter(replica, list, subscription) : TROUPE_ENOMEM;
    if (err != TROUPE_OK) {
        subscription_drop_list(replica, name, subscribing->group, list);
        if (subscription != NULL) {
            subscription_free(names, subscription);
        }
        return err;
    }
    *ret_subscription = subscription;
    return TROUPE_OK;
}

void trp_subscription_activate(trp_replica_t *replica, trp_subscription_t *subscription)
{
    trp_subscribers_t *list =
        trp_subscription_list(replica, subscription->name, subscription->group);
    TRP_ASSERT(list != NULL);
    trp_subscriber_t *subscriber = &trp_subscribers_items(list)[subscription->at];
    TRP_ASSERT(trp_subscriber_subscription(subscriber) == subscription);
    subscription->state = TRP_SUBSCRIPTION_ACTIVE;
    if (subscription->slow == TROUPE_SLOW_MAILBOX && !subscription->with_topic) {
        subscriber->tagged |= TRP_SUBSCRIBER_DIRECT;
    }
}

void trp_subscription_remove(trp_replica_t *replica, trp_subscription_t *subscription)
{
    trp_subscribers_t *list =
        trp_subscription_list(replica, subscription->name, subscription->group);
    TRP_ASSERT(list != NULL);
    subscribers_remove(list, subscription->at);
    subscription_drop_list(replica, subscription->name, subscription->group, list);
    subscription_unchain(replica, subscription);
    replica->subscription_len--;
    subscription_free(replica->directory->names, subscription);
}

/* Removing an actor's subscriptions changes the map, so each turn looks for the first anew. */
static trp_subscription_t *subscription_any(const trp_replica_t *replica)
{
    TRP_MAP_FOREACH(entry, &replica->actors)
    {
        return (trp_subscription_t *)(uintptr_t)entry->value;
    }
    return NULL;
}

void trp_subscriptions_fini(trp_replica_t *replica)
{
    while (replica->subscription_len > 0) {
        trp_subscription_t *first = subscription_any(replica);
        while (first != NULL) {
            trp_subscription_t *next = first->actor_next;
            trp_subscription_remove(replica, first);
            first = next;
        }
    }
}
