/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Choosing one of many: members of groups, and actors by path. The publisher's dispatcher chooses the
 * node and dispatcher by the weights of its snapshot; the dispatcher chosen picks the member. */

#include "pubsub/group.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "pubsub/answer.h"
#include "pubsub/expand.h"

/* ---- numbers --------------------------------------------------------------------------------- */

static troupe_routing_t choice_routing(const trp_site_t *site, const trp_choice_t *choice)
{
    troupe_routing_t routing =
        choice->routing != TROUPE_ROUTING_DEFAULT ? choice->routing : site->pubsub->options.routing;
    return routing != TROUPE_ROUTING_DEFAULT ? routing : TROUPE_ROUTING_RANDOM;
}

/* The next number of a rotation; without memory for one it is random. */
static uint32_t choose_next(trp_site_t *site, uint64_t which, uint32_t len)
{
    uint64_t *next = trp_map_find(&site->rotations, which);
    if (next == NULL) {
        uint64_t start = trp_random_below(&site->d->random, len);
        if (trp_map_put(&site->rotations, which, start) != TROUPE_OK) {
            return (uint32_t)start;
        }
        next = trp_map_find(&site->rotations, which);
    }
    uint32_t chosen = (uint32_t)(*next % len);
    *next = (uint64_t)chosen + 1;
    return chosen;
}

uint32_t trp_choose(trp_site_t *site, const trp_choice_t *choice, uint64_t which, uint32_t len)
{
    TRP_ASSERT(len > 0);
    switch (choice_routing(site, choice)) {
    case TROUPE_ROUTING_ROUND_ROBIN:
        return choose_next(site, which, len);
    case TROUPE_ROUTING_HASH:
        return (uint32_t)(trp_hash_u64(choice->key) % len);
    default:
        return (uint32_t)trp_random_below(&site->d->random, len);
    }
}

/* ---- the dispatcher or node ------------------------------------------------------------------- */

static uint32_t member_weight(const trp_target_member_t *members, uint32_t at)
{
    return at == 0 ? members[0].through : members[at].through - members[at - 1].through;
}

/* Rendezvous hashing, one draw for each unit of weight up to a bound: when a member comes or goes, only
 * its own keys move. */
#define GROUP_DRAWS_MAX 64u

static const trp_target_member_t *group_choose_hash(const trp_site_t *site,
                                                    const trp_target_member_t *members,
                                                    uint32_t len, uint64_t key)
{
    const trp_target_member_t *best = &members[0];
    uint64_t best_score = 0;
    for (uint32_t i = 0; i < len; i++) {
        uint64_t node = members[i].node != 0 ? members[i].node : site->d->uid;
        uint64_t who = trp_hash_u64(node) + (members[i].node != 0 ? 0 : members[i].replica);
        uint32_t weight = member_weight(members, i);
        uint32_t draws = weight < GROUP_DRAWS_MAX ? weight : GROUP_DRAWS_MAX;
        for (uint32_t draw = 0; draw < draws; draw++) {
            uint64_t score = trp_hash_u64(key ^ trp_hash_u64(who + ((uint64_t)draw << 32)));
            if (score >= best_score) {
                best_score = score;
                best = &members[i];
            }
        }
    }
    return best;
}

const trp_target_member_t *trp_group_choose(trp_site_t *site, const trp_replica_topic_t *topic,
                                            const trp_target_group_t *group,
                                            const trp_choice_t *choice)
{
    const trp_targets_t *targets = topic->targets;
    if (choice_routing(site, choice) == TROUPE_ROUTING_HASH) {
        return group_choose_hash(site, &targets->members[group->member_first], group->member_len,
                                 choice->key);
    }
    uint64_t which = (uint64_t)topic->name->id << 32 | group->id;
    return trp_targets_member(targets, group, trp_choose(site, choice, which, group->weight));
}

bool trp_group_send(trp_site_t *site, trp_replica_topic_t *topic, const trp_target_member_t *member,
                    const trp_publication_t *what, const trp_routing_words_t *words)
{
    if (member->node != 0) {
        return trp_publish_remote(site, topic, member->node, what, words);
    }
    if (member->replica != site->d->index) {
        return trp_publish_routed(site, topic, member->replica, what, words);
    }
    (void)trp_group_take(site, topic, what, words);
    return true;
}

/* ---- the member ------------------------------------------------------------------------------ */

static bool group_is_active(const trp_subscriber_t *subscriber)
{
    return trp_subscriber_subscription(subscriber)->state == TRP_SUBSCRIPTION_ACTIVE;
}

static const trp_subscriber_t *group_pick_hash(trp_subscribers_t *members, uint64_t key)
{
    const trp_subscriber_t *items = trp_subscribers_items(members);
    const trp_subscriber_t *best = NULL;
    uint64_t best_score = 0;
    for (uint32_t i = 0; i < members->len; i++) {
        uint64_t score = trp_hash_u64(key ^ trp_hash_u64(items[i].actor));
        if (group_is_active(&items[i]) && (best == NULL || score > best_score)) {
            best = &items[i];
            best_score = score;
        }
    }
    return best;
}

/* An active member, in turn or by the key; NULL when there is none. */
static const trp_subscriber_t *group_pick(trp_replica_group_t *group,
                                          const trp_routing_words_t *words)
{
    const trp_subscriber_t *items = trp_subscribers_items(&group->members);
    if ((words->route & TRP_ROUTE_HASHED) != 0) {
        return group_pick_hash(&group->members, (uint32_t)words->token);
    }
    for (uint32_t i = 0; i < group->members.len; i++) {
        uint32_t at = group->next % group->members.len;
        group->next = at + 1;
        if (group_is_active(&items[at])) {
            return &items[at];
        }
    }
    return NULL;
}

/* Whether a member is a place to try when this dispatcher has none. What another node asks to have
 * confirmed stays on this one, for only this one can answer it. */
static bool group_may_try(const trp_site_t *site, const trp_target_member_t *member,
                          const trp_routing_words_t *words)
{
    if (member->node == 0) {
        return member->replica != site->d->index;
    }
    return words->origin == 0;
}

/* Another dispatcher or node of the group, at random; NULL when there is none. */
static const trp_target_member_t *group_other(trp_site_t *site, const trp_replica_topic_t *topic,
                                              const trp_routing_words_t *words)
{
    const trp_target_group_t *group = trp_targets_group(topic->targets, words->group);
    if (group == NULL || words->hops >= TRP_ROUTE_HOPS_MAX) {
        return NULL;
    }
    uint32_t start = (uint32_t)trp_random_below(&site->d->random, group->member_len);
    for (uint32_t i = 0; i < group->member_len; i++) {
        uint32_t at = group->member_first + (start + i) % group->member_len;
        if (group_may_try(site, &topic->targets->members[at], words)) {
            return &topic->targets->members[at];
        }
    }
    return NULL;
}

static uint32_t group_nobody(trp_site_t *site, trp_replica_topic_t *topic,
                             const trp_publication_t *what, const trp_routing_words_t *words)
{
    trp_routing_words_t next = *words;
    if ((words->route & TRP_ROUTE_WAIT) != 0 && trp_expand_is_pending(site, topic, words->group)) {
        trp_answer_hold(site, topic, what, words);
        return 0;
    }
    const trp_target_member_t *other = group_other(site, topic, words);
    next.hops++;
    if (other != NULL && trp_group_send(site, topic, other, what, &next)) {
        return 0;
    }
    if ((words->route & TRP_ROUTE_CONFIRM) != 0) {
        trp_answer(site, words, 0);
    } else {
        trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
    }
    return 0;
}

uint32_t trp_group_take(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                        const trp_routing_words_t *words)
{
    const uint64_t *value =
        trp_map_find(&site->replica.groups, (uint64_t)topic->name->id << 32 | words->group);
    const trp_subscriber_t *member =
        value != NULL ? group_pick((trp_replica_group_t *)(uintptr_t)*value, words) : NULL;
    if (member == NULL) {
        return group_nobody(site, topic, what, words);
    }
    uint32_t taken = trp_expand_one(site, topic, member, what) ? 1 : 0;
    if ((words->route & TRP_ROUTE_CONFIRM) != 0) {
        trp_answer(site, words, taken);
    }
    return taken;
}

/* Members on this node come first among a group's. */
static uint32_t group_local_len(const trp_targets_t *targets, const trp_target_group_t *group)
{
    uint32_t len = 0;
    while (len < group->member_len && targets->members[group->member_first + len].node == 0) {
        len++;
    }
    return len;
}

void trp_group_here(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                    const trp_routing_words_t *words)
{
    const trp_targets_t *targets = topic->targets;
    const trp_target_group_t *group = trp_targets_group(targets, words->group);
    uint32_t len = group != NULL ? group_local_len(targets, group) : 0;
    if (len == 0) {
        (void)group_nobody(site, topic, what, words);
        return;
    }
    const trp_target_member_t *members = &targets->members[group->member_first];
    const trp_target_member_t *member = NULL;
    if ((words->route & TRP_ROUTE_HASHED) != 0) {
        member = group_choose_hash(site, members, len, (uint32_t)words->token);
    } else {
        uint64_t which = (uint64_t)topic->name->id << 32 | group->id;
        member = trp_targets_member(targets, group, choose_next(site, which, group->local_weight));
    }
    (void)trp_group_send(site, topic, member, what, words);
}

/* ---- public ---------------------------------------------------------------------------------- */

troupe_err_t troupe_publish_to_groups(troupe_actor_t *self, troupe_topic_t handle,
                                      troupe_routing_t routing, uint64_t key, troupe_body_t *body)
{
    trp_site_t *site = NULL;
    trp_replica_topic_t *topic = NULL;
    troupe_err_t err = body != NULL && (unsigned)routing <= TROUPE_ROUTING_HASH
                           ? trp_site_get(self, &site)
                           : TROUPE_EINVAL;
    if (err == TROUPE_OK) {
        err = trp_replica_resolve_id(&site->replica, handle.id, handle.generation, &topic);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    trp_publication_t what = {self->id, 0, NULL, body, (uint32_t)body->size, body->type};
    trp_choice_t choice = {routing, key};
    trp_routing_words_t words;
    trp_group_words(site, &choice, &words);
    if (topic->targets->group_len == 0) {
        trp_publish_drop(site, topic->name, &what, TROUPE_DROP_NO_SUBSCRIBER);
    }
    for (uint32_t i = 0; i < topic->targets->group_len; i++) {
        const trp_target_group_t *group = &topic->targets->groups[i];
        words.group = group->id;
        (void)trp_group_send(site, topic, trp_group_choose(site, topic, group, &choice), &what,
                             &words);
    }
    return TROUPE_OK;
}

void trp_group_words(const trp_site_t *site, const trp_choice_t *choice,
                     trp_routing_words_t *ret_words)
{
    memset(ret_words, 0, sizeof(*ret_words));
    ret_words->route = TRP_ROUTE_GROUP;
    if (choice_routing(site, choice) == TROUPE_ROUTING_HASH) {
        ret_words->route |= TRP_ROUTE_HASHED;
        ret_words->token = (uint32_t)trp_hash_u64(choice->key);
    }
}
