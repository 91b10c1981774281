/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Confirmed publishes: the same route as any other, with a token; who expanded it answers how many
 * took it, and the publisher's dispatcher adds up.
 *
 *     publisher's site: confirm {expected from this node, expected from each other node, taken}
 *        |  cell with token                                   ^
 *        v                                                    | answer {token, taken, parts}
 *     each dispatcher with subscribers, here and on other nodes (there: every dispatcher answers,
 *     `parts` is how many they are)
 *
 * With wait_ms one that finds nobody is kept at its topic until the topic has targets; one that finds
 * only pending subscriptions is *held* where they are, until they turn active. */

#include "pubsub/confirm.h"

#include <string.h>

#include "actor/send.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "pubsub/answer.h"
#include "pubsub/arrive.h"
#include "pubsub/group.h"
#include "pubsub/tasks.h"

#define CONFIRM_TIMEOUT_MS 5000u
#define CONFIRMS_MAX 65536u /* Open on one dispatcher. */
#define CONFIRM_PARTS_UNKNOWN UINT32_MAX

/* What another node owes. */
typedef struct confirm_node {
    uint64_t uid;
    uint32_t missing; /* Answers; CONFIRM_PARTS_UNKNOWN before the first. */
    bool has_taken;
} confirm_node_t;

struct trp_confirm {
    trp_site_t *site;
    trp_body_t *body;
    uint64_t actor;
    uint64_t tag;
    uint32_t key; /* High half of its token: dispatcher << 24 | number. */
    uint32_t topic_id;
    uint32_t topic_generation;
    trp_choice_t choice;
    bool to_groups;
    bool is_waiting;      /* In its topic's list. */
    bool is_sending;      /* Answers that come meanwhile don't end it. */
    trp_node_link_t link; /* In the topic's waiting list. */
    trp_alarm_t alarm;
    uint64_t wait_until; /* 0: it doesn't wait. */
    uint64_t timeout_ns;
    uint32_t missing_here;
    uint32_t node_len;
    uint64_t taken;
    bool has_taken_here;
    bool is_lost; /* Some part could not be sent. */
    confirm_node_t *nodes;
};

/* ---- ends ------------------------------------------------------------------------------------- */

static void confirm_leave(trp_confirm_t *confirm)
{
    if (!confirm->is_waiting) {
        return;
    }
    trp_replica_topic_t *topic =
        trp_replica_at(&confirm->site->replica, confirm->topic_id, confirm->topic_generation);
    TRP_ASSERT(topic != NULL && topic->waiting != NULL);
    trp_waiting_t *waiting = topic->waiting;
    trp_list_remove(&confirm->link);
    waiting->len--;
    confirm->is_waiting = false;
    trp_waiting_put(topic);
}

static void confirm_free(trp_confirm_t *confirm)
{
    trp_site_t *site = confirm->site;
    confirm_leave(confirm);
    trp_alarm_cancel(site->d, &confirm->alarm);
    (void)trp_map_remove(&site->confirms, confirm->key, NULL);
    site->confirm_len--;
    trp_body_unref(confirm->body);
    trp_free(confirm->nodes);
    trp_free(confirm);
}

static void confirm_finish(trp_confirm_t *confirm, bool is_late)
{
    trp_dispatcher_t *d = confirm->site->d;
    troupe_published_t published = {.tag = confirm->tag, .subscribers = confirm->taken};
    published.nodes = confirm->has_taken_here ? 1 : 0;
    for (uint32_t i = 0; i < confirm->node_len; i++) {
        published.nodes += confirm->nodes[i].has_taken ? 1 : 0;
    }
    published.error = TROUPE_OK;
    if ((is_late && !confirm->is_waiting) || confirm->is_lost) {
        published.error = TROUPE_ETIMEOUT;
    } else if (confirm->taken == 0) {
        published.error = TROUPE_ENOSUBSCRIBER;
    }
    uint64_t actor = confirm->actor;
    confirm_free(confirm);
    if (trp_cell_find(d, actor) != NULL) {
        trp_letter_spec_t spec = {trp_dispatcher_ref(d, actor), 0, TROUPE_TYPE_PUBLISHED,
                                  &published, sizeof(published)};
        troupe_err_t err = trp_send(d, &spec);
        (void)err; /* At the ceiling it is counted as shed. */
    }
}

static bool confirm_is_complete(const trp_confirm_t *confirm)
{
    if (confirm->missing_here > 0 || confirm->is_sending) {
        return false;
    }
    for (uint32_t i = 0; i < confirm->node_len; i++) {
        if (confirm->nodes[i].missing > 0) {
            return false;
        }
    }
    return true;
}

static void confirm_dropped(trp_confirm_t *confirm)
{
    trp_replica_topic_t *topic =
        trp_replica_at(&confirm->site->replica, confirm->topic_id, confirm->topic_generation);
    trp_body_t *body = confirm->body;
    trp_publication_t what = {confirm->actor, 0, NULL, body, (uint32_t)body->size, body->type};
    if (topic != NULL) {
        trp_publish_drop(confirm->site, topic->name, &what, TROUPE_DROP_NO_SUBSCRIBER);
    }
}

static void confirm_expired(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    (void)d;
    trp_confirm_t *confirm = TRP_CONTAINER_OF(alarm, trp_confirm_t, alarm);
    if (confirm->is_waiting) {
        confirm_dropped(confirm);
    }
    confirm_finish(confirm, true);
}

/* ---- sending ---------------------------------------------------------------------------------- */

static bool confirm_has_targets(const trp_confirm_t *confirm, const trp_replica_topic_t *topic)
{
    const trp_targets_t *targets = topic->targets;
    return confirm->to_groups ? targets->group_len > 0
                              : targets->replica_len + targets->node_len > 0;
}

static void confirm_words(const trp_confirm_t *confirm, trp_routing_words_t *ret_words)
{
    if (confirm->to_groups) {
        trp_group_words(confirm->site, &confirm->choice, ret_words);
    } else {
        memset(ret_words, 0, sizeof(*ret_words));
    }
    ret_words->route |= TRP_ROUTE_CONFIRM;
    ret_words->route |= confirm->wait_until != 0 ? TRP_ROUTE_WAIT : 0;
    ret_words->token |= (uint64_t)confirm->key << 32;
}

static void confirm_expect_node(trp_confirm_t *confirm, uint64_t uid)
{
    for (uint32_t i = 0; i < confirm->node_len; i++) {
        if (confirm->nodes[i].uid == uid) {
            confirm->nodes[i].missing++;
            return;
        }
    }
    confirm_node_t *node = &confirm->nodes[confirm->node_len++];
    node->uid = uid;
    node->has_taken = false;
    node->missing = confirm->to_groups ? 1 : CONFIRM_PARTS_UNKNOWN;
}

static void confirm_send_plain(trp_confirm_t *confirm, trp_replica_topic_t *topic,
                               const trp_publication_t *what, const trp_routing_words_t *words)
{
    trp_site_t *site = confirm->site;
    const trp_targets_t *targets = topic->targets;
    for (uint32_t i = 0; i < targets->node_len; i++) {
        if (trp_publish_remote(site, topic, targets->nodes[i], what, words)) {
            confirm_expect_node(confirm, targets->nodes[i]);
        } else {
            confirm->is_lost = true;
        }
    }
    for (uint32_t i = 0; i < targets->replica_len; i++) {
        confirm->missing_here++;
        if (targets->replicas[i] == site->d->index) {
            trp_arrive(site, topic, what, words);
        } else if (!trp_publish_routed(site, topic, targets->replicas[i], what, words)) {
            confirm->missing_here--;
            confirm->is_lost = true;
        }
    }
}

static void confirm_send_groups(trp_confirm_t *confirm, trp_replica_topic_t *topic,
                                const trp_publication_t *what, trp_routing_words_t *words)
{
    trp_site_t *site = confirm->site;
    for (uint32_t i = 0; i < topic->targets->group_len; i++) {
        const trp_target_group_t *group = &topic->targets->groups[i];
        const trp_target_member_t *member = trp_group_choose(site, topic, group, &confirm->choice);
        words->group = group->id;
        if (member->node == 0) {
            confirm->missing_here++;
        } else {
            confirm_expect_node(confirm, member->node);
        }
        if (!trp_group_send(site, topic, member, what, words)) {
            confirm->is_lost = true; /* What it owes stays missing: it ends at the deadline. */
        }
    }
}

/* Sends it; TROUPE_ENOMEM when the list of nodes can't be made. */
static troupe_err_t confirm_send(trp_confirm_t *confirm, trp_replica_topic_t *topic)
{
    trp_site_t *site = confirm->site;
    trp_body_t *body = confirm->body;
    uint32_t len = topic->targets->node_len + topic->targets->group_len;
    trp_publication_t what = {confirm->actor, 0, NULL, body, (uint32_t)body->size, body->type};
    trp_routing_words_t words;
    trp_free(confirm->nodes);
    confirm->node_len = 0;
    confirm->nodes = trp_calloc(len, sizeof(*confirm->nodes));
    if (confirm->nodes == NULL) {
        return TROUPE_ENOMEM;
    }
    confirm_words(confirm, &words);
    trp_alarm_set(site->d, &confirm->alarm, trp_clock_add(site->d->now, confirm->timeout_ns));
    confirm->is_sending = true;
    if (confirm->to_groups) {
        confirm_send_groups(confirm, topic, &what, &words);
    } else {
        confirm_send_plain(confirm, topic, &what, &words);
    }
    confirm->is_sending = false;
    return TROUPE_OK;
}

static troupe_err_t confirm_wait(trp_confirm_t *confirm, trp_replica_topic_t *topic)
{
    trp_waiting_t *waiting = trp_waiting_get(topic);
    if (waiting == NULL) {
        return TROUPE_ENOMEM;
    }
    if (waiting->len >= TRP_WAITING_MAX) {
        return TROUPE_EFULL;
    }
    trp_list_push_back(&waiting->confirms, &confirm->link);
    waiting->len++;
    confirm->is_waiting = true;
    trp_alarm_set(confirm->site->d, &confirm->alarm, confirm->wait_until);
    return TROUPE_OK;
}

/* Everybody has answered: ends it, or has it wait again when nobody took it and there is time left. */
static void confirm_complete(trp_confirm_t *confirm)
{
    trp_site_t *site = confirm->site;
    trp_replica_topic_t *topic =
        trp_replica_at(&site->replica, confirm->topic_id, confirm->topic_generation);
    if (confirm->taken == 0 && topic != NULL && !confirm->is_lost &&
        site->d->now < confirm->wait_until && !confirm_has_targets(confirm, topic) &&
        confirm_wait(confirm, topic) == TROUPE_OK) {
        return;
    }
    if (confirm->taken == 0 && !confirm->is_lost) {
        confirm_dropped(confirm);
    }
    confirm_finish(confirm, false);
}

/* ---- answers ---------------------------------------------------------------------------------- */

static void confirm_add(trp_site_t *site, const trp_confirm_answer_t *answer)
{
    const uint64_t *value = trp_map_find(&site->confirms, answer->key);
    trp_confirm_t *confirm = value != NULL ? (trp_confirm_t *)(uintptr_t)*value : NULL;
    if (confirm == NULL || confirm->is_waiting) {
        return; /* Late. */
    }
    if (answer->node == 0) {
        confirm->missing_here -= confirm->missing_here > 0 ? 1 : 0;
        confirm->has_taken_here = confirm->has_taken_here || answer->taken > 0;
        confirm->taken += answer->taken;
    }
    for (uint32_t i = 0; answer->node != 0 && i < confirm->node_len; i++) {
        confirm_node_t *node = &confirm->nodes[i];
        if (node->uid == answer->node && node->missing > 0) {
            node->missing = node->missing == CONFIRM_PARTS_UNKNOWN ? answer->parts : node->missing;
            node->missing -= node->missing > 0 ? 1 : 0;
            node->has_taken = node->has_taken || answer->taken > 0;
            confirm->taken += answer->taken;
        }
    }
    if (confirm_is_complete(confirm)) {
        confirm_complete(confirm);
    }
}

void trp_confirm_answered(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_confirm_answer_t answer;
    TRP_ASSERT(size == sizeof(answer));
    memcpy(&answer, payload, sizeof(answer));
    trp_site_t *site = trp_site_of(d);
    if (site != NULL) {
        confirm_add(site, &answer);
    }
}

/* ---- holding ---------------------------------------------------------------------------------- */

/* Expands what is held once more; what still finds pending subscriptions only is held again. */
static void confirm_wake_held(trp_site_t *site, trp_replica_topic_t *topic)
{
    trp_waiting_t *waiting = topic->waiting;
    trp_message_t *message = waiting->held_first;
    waiting->held_first = NULL;
    waiting->held_last = NULL;
    waiting->held_len = 0;
    while (message != NULL) {
        trp_message_t *next = message->next;
        trp_publication_t what;
        trp_routing_words_t words;
        trp_publication_of(message, &what, &words);
        trp_arrive(site, topic, &what, &words);
        trp_message_free(&site->d->endpoint.pool, message);
        message = next;
    }
}

static void confirm_wake_waiting(trp_site_t *site, trp_replica_topic_t *topic)
{
    trp_waiting_t *waiting = topic->waiting;
    uint32_t len = waiting->len;
    for (uint32_t i = 0; i < len && waiting->len > 0; i++) {
        trp_confirm_t *confirm =
            TRP_CONTAINER_OF(trp_list_first(&waiting->confirms), trp_confirm_t, link);
        trp_list_remove(&confirm->link);
        waiting->len--;
        if (!confirm_has_targets(confirm, topic)) {
            trp_list_push_back(&waiting->confirms, &confirm->link);
            waiting->len++;
            continue;
        }
        confirm->is_waiting = false;
        if (confirm_send(confirm, topic) != TROUPE_OK) {
            confirm->is_lost = true;
        }
        if (confirm_is_complete(confirm)) {
            confirm_complete(confirm);
        }
    }
    (void)site;
}

void trp_confirm_wake(trp_site_t *site, trp_replica_topic_t *topic)
{
    trp_waiting_t *waiting = topic->waiting;
    if (TRP_LIKELY(waiting == NULL)) {
        return;
    }
    /* Kept from being freed while it is walked. */
    waiting->len++;
    if (waiting->held_len > 0) {
        confirm_wake_held(site, topic);
    }
    waiting->len--;
    if (waiting->len > 0) {
        waiting->held_len++;
        confirm_wake_waiting(site, topic);
        waiting->held_len--;
    }
    trp_waiting_put(topic);
}

void trp_confirm_fini(trp_site_t *site)
{
    trp_map_t confirms = site->confirms;
    trp_map_init(&site->confirms);
    TRP_MAP_FOREACH(entry, &confirms)
    {
        confirm_free((trp_confirm_t *)(uintptr_t)entry->value);
    }
    trp_map_fini(&confirms);
}

/* ---- public ----------------------------------------------------------------------------------- */

/* A number that no open confirm of this dispatcher has. */
static uint32_t confirm_key(trp_site_t *site)
{
    uint32_t key = 0;
    do {
        site->next_confirm = (site->next_confirm + 1) & 0xffffffu;
        key = site->d->index << 24 | site->next_confirm;
    } while (site->next_confirm == 0 || trp_map_find(&site->confirms, key) != NULL);
    return key;
}

static troupe_err_t confirm_create(trp_site_t *site, const troupe_actor_t *self,
                                   const troupe_confirm_options_t *options,
                                   trp_confirm_t **ret_confirm)
{
    if (site->confirm_len >= CONFIRMS_MAX) {
        return TROUPE_EFULL;
    }
    trp_confirm_t *confirm = trp_calloc(1, sizeof(*confirm));
    if (confirm == NULL) {
        return TROUPE_ENOMEM;
    }
    uint32_t timeout_ms = options->timeout_ms != 0 ? options->timeout_ms : CONFIRM_TIMEOUT_MS;
    confirm->key = confirm_key(site);
    if (trp_map_put(&site->confirms, confirm->key, (uint64_t)(uintptr_t)confirm) != TROUPE_OK) {
        trp_free(confirm);
        return TROUPE_ENOMEM;
    }
    site->confirm_len++;
    confirm->site = site;
    confirm->actor = self->id;
    confirm->tag = options->tag;
    confirm->to_groups = options->to_groups;
    confirm->choice.routing = options->routing;
    confirm->choice.key = options->key;
    confirm->alarm.fn = confirm_expired;
    confirm->timeout_ns = trp_clock_from_ms(timeout_ms);
    if (options->wait_ms != 0) {
        confirm->wait_until = trp_clock_add(site->d->now, trp_clock_from_ms(options->wait_ms));
    }
    *ret_confirm = confirm;
    return TROUPE_OK;
}

/* In order behind those that wait already. */
static troupe_err_t confirm_begin(trp_confirm_t *confirm, trp_replica_topic_t *topic)
{
    bool has_targets = confirm_has_targets(confirm, topic);
    if (!has_targets && confirm->wait_until != 0) {
        return confirm_wait(confirm, topic);
    }
    troupe_err_t err = has_targets ? confirm_send(confirm, topic) : TROUPE_OK;
    if (err == TROUPE_OK && confirm_is_complete(confirm)) {
        confirm_complete(confirm);
    }
    return err;
}

troupe_err_t troupe_publish_confirmed(troupe_actor_t *self, troupe_topic_t handle,
                                      const troupe_confirm_options_t *options, troupe_body_t *body)
{
    troupe_confirm_options_t defaults = TROUPE_CONFIRM_OPTIONS_INIT;
    const troupe_confirm_options_t *used = options != NULL ? options : &defaults;
    trp_site_t *site = NULL;
    trp_replica_topic_t *topic = NULL;
    trp_confirm_t *confirm = NULL;
    if (body == NULL || used->size != sizeof(*used) ||
        (unsigned)used->routing > TROUPE_ROUTING_HASH) {
        return TROUPE_EINVAL;
    }
    troupe_err_t err = trp_site_get(self, &site);
    if (err == TROUPE_OK) {
        err = trp_replica_resolve_id(&site->replica, handle.id, handle.generation, &topic);
    }
    if (err == TROUPE_OK) {
        err = confirm_create(site, self, used, &confirm);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    confirm->body = trp_body_ref(body);
    confirm->topic_id = handle.id;
    confirm->topic_generation = handle.generation;
    err = confirm_begin(confirm, topic);
    if (err != TROUPE_OK) {
        confirm_free(confirm);
    }
    return err;
}
