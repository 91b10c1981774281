/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Towns and citizens. */

#include "town.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <troupe/events.h>

#include "actor/deliver.h"
#include "base/clock.h"
#include "base/memory.h"

typedef struct run_end {
    _Atomic bool is_done;
    troupe_err_t result;
} run_end_t;

typedef struct run {
    town_act_fn act;
    void *argument;
    run_end_t *end;
} run_t;

/* ---- citizens -------------------------------------------------------------------------------- */

static void citizen_lock(citizen_t *citizen)
{
    while (atomic_exchange_explicit(&citizen->lock, true, memory_order_acquire)) {
        trp_cpu_relax();
    }
}

static void citizen_unlock(citizen_t *citizen)
{
    atomic_store_explicit(&citizen->lock, false, memory_order_release);
}

static void citizen_add(citizen_t *citizen, const got_t *got)
{
    citizen_lock(citizen);
    if (citizen->len < GOT_LEN_MAX) {
        citizen->entries[citizen->len] = *got;
    }
    citizen->len++;
    citizen->counts[got->kind]++;
    citizen_unlock(citizen);
}

uint64_t citizen_count(citizen_t *citizen, got_kind_t kind)
{
    citizen_lock(citizen);
    uint64_t count = citizen->counts[kind];
    citizen_unlock(citizen);
    return count;
}

got_t citizen_entry(citizen_t *citizen, uint32_t n)
{
    got_t got;
    memset(&got, 0, sizeof(got));
    citizen_lock(citizen);
    if (n < citizen->len && n < GOT_LEN_MAX) {
        got = citizen->entries[n];
    }
    citizen_unlock(citizen);
    return got;
}

got_t citizen_last(citizen_t *citizen, got_kind_t kind)
{
    got_t got;
    memset(&got, 0, sizeof(got));
    citizen_lock(citizen);
    for (uint32_t i = 0; i < citizen->len && i < GOT_LEN_MAX; i++) {
        if (citizen->entries[i].kind == kind) {
            got = citizen->entries[i];
        }
    }
    citizen_unlock(citizen);
    return got;
}

void citizen_clear(citizen_t *citizen)
{
    citizen_lock(citizen);
    citizen->len = 0;
    memset(citizen->counts, 0, sizeof(citizen->counts));
    citizen_unlock(citizen);
}

static void citizen_number(citizen_t *citizen, const troupe_message_t *message, got_t *got)
{
    memcpy(&got->value, message->body, sizeof(got->value));
    if (got->value != citizen->next) {
        atomic_fetch_add(&citizen->unordered, 1);
    }
    citizen->next = got->value + 1;
    atomic_fetch_add(&citizen->sum, got->value);
    uint64_t hold_us = atomic_load(&citizen->hold_us);
    if (hold_us > 0) {
        (void)usleep((useconds_t)hold_us);
    }
    got->kind = GOT_NUMBER;
}

static void citizen_event(const troupe_message_t *message, got_t *got)
{
    troupe_event_t event;
    memcpy(&event, message->body, sizeof(event));
    got->kind = GOT_EVENT;
    got->value = event.reason;
    (void)snprintf(got->text, sizeof(got->text), "%.63s", event.text);
}

static troupe_err_t citizen_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    citizen_t *citizen = *(citizen_t **)state;
    got_t got;
    memset(&got, 0, sizeof(got));
    got.sender = message->sender;
    got.size = message->size;
    if (message->type.id == citizen->home->run_type.id) {
        run_t run;
        memcpy(&run, message->body, sizeof(run));
        run.end->result = run.act(self, citizen, run.argument);
        atomic_store_explicit(&run.end->is_done, true, memory_order_release);
        return TROUPE_OK;
    }
    if (message->type.id == TROUPE_TYPE_PUBSUB_ACK.id) {
        memcpy(&got.ack, message->body, sizeof(got.ack));
        got.kind = GOT_ACK;
        got.value = got.ack.tag;
    } else if (message->type.id == TROUPE_TYPE_PUBLISHED.id) {
        memcpy(&got.published, message->body, sizeof(got.published));
        got.kind = GOT_PUBLISHED;
        got.value = got.published.tag;
    } else if (message->type.id == TROUPE_TYPE_EVENT.id) {
        citizen_event(message, &got);
    } else {
        citizen_number(citizen, message, &got);
        troupe_err_t err = troupe_message_topic(self, &got.topic);
        (void)err; /* Most don't know it. */
    }
    citizen_add(citizen, &got);
    return TROUPE_OK;
}

static troupe_err_t citizen_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(state, args, sizeof(citizen_t *));
    return TROUPE_OK;
}

static const troupe_behavior_t citizen_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "citizen",
    .state_size = sizeof(citizen_t *),
    .init = citizen_init,
    .receive = citizen_receive,
};

citizen_t *town_citizen(town_t *town, uint32_t node, uint32_t place)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    REQUIRE(town->citizen_len < TOWN_CITIZENS_MAX);
    citizen_t *citizen = calloc(1, sizeof(*citizen));
    REQUIRE_NOT_NULL(citizen);
    town->citizens[town->citizen_len++] = citizen;
    citizen->home = &town->nodes[node];
    options.args = &citizen;
    options.args_size = sizeof(citizen_t *);
    options.place = TROUPE_PLACE(place);
    REQUIRE_OK(troupe_node_spawn(&citizen->home->node, &citizen_behavior, &options, &citizen->ref));
    return citizen;
}

troupe_err_t town_do(citizen_t *citizen, town_act_fn act, void *argument)
{
    run_end_t end = {.result = TROUPE_OK};
    run_t run = {act, argument, &end};
    REQUIRE_OK(troupe_port_tell(citizen->home->port, citizen->ref, troupe_ref_none(),
                                citizen->home->run_type, &run, sizeof(run), TOWN_PATIENCE_MS));
    REQUIRE(CHECK_EVENTUALLY(atomic_load_explicit(&end.is_done, memory_order_acquire),
                             TOWN_PATIENCE_MS));
    return end.result;
}

void town_end(town_t *town, citizen_t *citizen)
{
    troupe_stats_t before = {.size = sizeof(before)};
    (void)town;
    REQUIRE_OK(troupe_node_stats(&citizen->home->node, TOWN_PATIENCE_MS, &before));
    troupe_port_kill(citizen->home->port, citizen->ref);
    for (uint32_t i = 0; i < TOWN_PATIENCE_MS; i++) {
        troupe_stats_t after = {.size = sizeof(after)};
        REQUIRE_OK(troupe_node_stats(&citizen->home->node, TOWN_PATIENCE_MS, &after));
        if (after.actors < before.actors) {
            return;
        }
        check_rest();
    }
    CHECK_FAIL("a citizen did not end");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static troupe_type_t town_type(town_node_t *node, const char *name, size_t fixed, size_t max)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    troupe_type_t type = {0};
    options.name = name;
    options.fixed_size = fixed;
    options.size_max = max;
    REQUIRE_OK(troupe_type_register(&node->node, &options, &type));
    return type;
}

static void town_start_link(town_node_t *node)
{
    trp_link_options_t options = TRP_LINK_OPTIONS_INIT;
    options.runtime = node->node.runtime;
    options.uid = node->uid;
    options.cluster = "town";
    options.name = "node";
    options.listen = "127.0.0.1:0";
    REQUIRE_OK(trp_link_create(&options, &node->link));
}

static void town_start_node(town_t *town, uint32_t index, const town_options_t *options)
{
    town_node_t *node = &town->nodes[index];
    trp_runtime_options_t runtime = {.dispatchers = options->dispatchers};
    trp_pubsub_options_t pubsub = options->pubsub;
    memset(node, 0, sizeof(*node));
    REQUIRE_OK(trp_random_system(&node->uid, sizeof(node->uid)));
    runtime.uid = node->uid;
    REQUIRE_OK(trp_runtime_create(&runtime, &node->node.runtime));
    node->node.runtime->node = &node->node;
    if (options->nodes > 1) {
        town_start_link(node);
    }
    pubsub.runtime = node->node.runtime;
    pubsub.link = node->link;
    REQUIRE_OK(trp_pubsub_create(&pubsub, &node->pubsub));
    REQUIRE_OK(trp_runtime_start(node->node.runtime));
    if (node->link != NULL) {
        REQUIRE_OK(trp_link_start(node->link));
    }
    REQUIRE_OK(troupe_port_open(&node->node, &node->port));
    node->run_type = town_type(node, "town.run", sizeof(run_t), 0);
    node->number_type = town_type(node, "town.number", sizeof(uint64_t), 0);
    node->blob_type = town_type(node, "town.blob", 0, 100000);
}

static bool town_is_linked(town_node_t *a, town_node_t *b)
{
    trp_link_peer_info_t info;
    return trp_link_peer(a->link, b->uid, &info) == TROUPE_OK && info.state == TRP_LINK_UP;
}

void town_open(town_t *town, const town_options_t *options)
{
    memset(town, 0, sizeof(*town));
    town->memory_before = trp_memory_live();
    town->len = options->nodes;
    for (uint32_t i = 0; i < town->len; i++) {
        town_start_node(town, i, options);
    }
    for (uint32_t i = 0; i < town->len; i++) {
        for (uint32_t j = 0; j < town->len; j++) {
            if (i != j) {
                REQUIRE_OK(trp_link_dial(town->nodes[i].link, trp_link_address(town->nodes[j].link),
                                         town->nodes[j].uid));
            }
        }
    }
    for (uint32_t i = 0; i < town->len; i++) {
        for (uint32_t j = 0; j < town->len; j++) {
            if (i != j) {
                REQUIRE(CHECK_EVENTUALLY(town_is_linked(&town->nodes[i], &town->nodes[j]),
                                         TOWN_PATIENCE_MS));
                trp_pubsub_node_up(town->nodes[i].pubsub, town->nodes[j].uid);
            }
        }
    }
    for (uint32_t i = 0; i < town->len; i++) {
        CHECK_EVENTUALLY(trp_pubsub_is_synced(town->nodes[i].pubsub), TOWN_PATIENCE_MS);
    }
}

static bool flow_balances(const troupe_flow_t *flow)
{
    uint64_t out = flow->taken + flow->handed_over + flow->in_flight;
    for (uint32_t i = 0; i < TROUPE_DROP_LEN; i++) {
        out += flow->dropped[i];
    }
    return out == flow->made + flow->received;
}

static bool town_balances(town_node_t *node, troupe_stats_t *stats)
{
    stats->size = sizeof(*stats);
    if (troupe_node_stats(&node->node, TOWN_PATIENCE_MS, stats) != TROUPE_OK) {
        return false;
    }
    return stats->user.in_flight == 0 && flow_balances(&stats->user);
}

static void town_stop_node(town_node_t *node, bool is_hard)
{
    troupe_stats_t stats;
    if (!is_hard) {
        CHECK_OK(trp_runtime_stop_users(node->node.runtime, trp_clock_now() + 10 * TRP_NS_PER_S));
        if (!CHECK_EVENTUALLY(town_balances(node, &stats), TOWN_PATIENCE_MS)) {
            (void)fprintf(
                stderr, "  made %llu received %llu taken %llu over %llu flight %llu\n",
                (unsigned long long)stats.user.made, (unsigned long long)stats.user.received,
                (unsigned long long)stats.user.taken, (unsigned long long)stats.user.handed_over,
                (unsigned long long)stats.user.in_flight);
        }
    }
}

static void town_free_node(town_node_t *node)
{
    troupe_port_close(&node->port);
    if (node->link != NULL) {
        trp_link_stop(node->link);
    }
    CHECK_OK(trp_runtime_stop_system(node->node.runtime, trp_clock_now() + 10 * TRP_NS_PER_S));
    trp_runtime_stop(node->node.runtime);
    trp_link_destroy(&node->link);
    trp_pubsub_destroy(&node->pubsub);
    trp_runtime_destroy(&node->node.runtime);
}

void town_kill(town_t *town, uint32_t index)
{
    town_node_t *node = &town->nodes[index];
    uint64_t uid = node->uid;
    town_stop_node(node, true);
    town_free_node(node);
    for (uint32_t i = 0; i < town->len; i++) {
        if (i != index && town->nodes[i].node.runtime != NULL) {
            trp_pubsub_node_reachable(town->nodes[i].pubsub, uid, false);
            trp_link_forget(town->nodes[i].link, uid);
            trp_pubsub_node_gone(town->nodes[i].pubsub, uid);
        }
    }
}

void town_close(town_t *town)
{
    for (uint32_t i = 0; i < town->len; i++) {
        if (town->nodes[i].node.runtime != NULL) {
            town_stop_node(&town->nodes[i], false);
        }
    }
    for (uint32_t i = 0; i < town->len; i++) {
        if (town->nodes[i].node.runtime != NULL) {
            town_free_node(&town->nodes[i]);
        }
    }
    for (uint32_t i = 0; i < town->citizen_len; i++) {
        free(town->citizens[i]);
    }
    CHECK_EQ_I64(trp_memory_live(), town->memory_before);
}

/* ---- acts ------------------------------------------------------------------------------------ */

static size_t call_size(const town_call_t *call)
{
    return call->name_size != 0 ? call->name_size : strlen(call->name);
}

static void call_options(const town_call_t *call, troupe_subscribe_options_t *options)
{
    *options = (troupe_subscribe_options_t)TROUPE_SUBSCRIBE_OPTIONS_INIT;
    options->group = call->group;
    options->group_size = call->group != NULL ? strlen(call->group) : 0;
    options->tag = call->tag;
    options->cluster = call->cluster;
    options->timeout_ms = call->timeout_ms;
    options->with_topic = call->with_topic;
    options->slow = call->slow;
    options->queue_len_max = call->queue_len_max;
}

typedef troupe_err_t (*topic_fn)(troupe_actor_t *, troupe_topic_t,
                                 const troupe_subscribe_options_t *);

static troupe_err_t act_on_topic(troupe_actor_t *self, const town_call_t *call, topic_fn fn)
{
    troupe_topic_t topic;
    troupe_subscribe_options_t options;
    call_options(call, &options);
    troupe_node_t *node = troupe_actor_node(self);
    troupe_err_t err = troupe_topic_open(node, call->name, call_size(call), NULL, &topic);
    if (err == TROUPE_OK) {
        err = fn(self, topic, &options);
        troupe_topic_close(node, &topic);
    }
    return err;
}

troupe_err_t act_subscribe(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    (void)citizen;
    return act_on_topic(self, call, troupe_subscribe);
}

troupe_err_t act_unsubscribe(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    (void)citizen;
    return act_on_topic(self, call, troupe_unsubscribe);
}

troupe_err_t act_subscribe_pattern(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    troupe_subscribe_options_t options;
    const town_call_t *c = call;
    (void)citizen;
    call_options(c, &options);
    return troupe_subscribe_pattern(self, c->name, call_size(c), &options);
}

troupe_err_t act_unsubscribe_pattern(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    troupe_subscribe_options_t options;
    const town_call_t *c = call;
    (void)citizen;
    call_options(c, &options);
    return troupe_unsubscribe_pattern(self, c->name, call_size(c), &options);
}

troupe_err_t act_publish(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    const town_call_t *c = call;
    return troupe_publish_name(self, c->name, call_size(c), citizen->home->number_type, &c->value,
                               sizeof(c->value));
}

typedef struct body_call {
    troupe_topic_t topic;
    troupe_body_t *body;
} body_call_t;

static troupe_err_t body_open(troupe_actor_t *self, const citizen_t *citizen,
                              const town_call_t *call, body_call_t *ret)
{
    troupe_err_t err =
        troupe_topic_open(troupe_actor_node(self), call->name, call_size(call), NULL, &ret->topic);
    if (err == TROUPE_OK) {
        err = troupe_body_create(self, citizen->home->number_type, &call->value,
                                 sizeof(call->value), &ret->body);
    }
    return err;
}

static void body_close(troupe_actor_t *self, body_call_t *call)
{
    troupe_topic_close(troupe_actor_node(self), &call->topic);
    troupe_body_unref(&call->body);
}

troupe_err_t act_publish_to_groups(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    const town_call_t *c = call;
    body_call_t b = {{0, 0, 0}, NULL};
    troupe_err_t err = body_open(self, citizen, c, &b);
    if (err == TROUPE_OK) {
        err = troupe_publish_to_groups(self, b.topic, c->routing, c->key, b.body);
    }
    body_close(self, &b);
    return err;
}

troupe_err_t act_publish_confirmed(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    const town_call_t *c = call;
    troupe_confirm_options_t options = TROUPE_CONFIRM_OPTIONS_INIT;
    body_call_t b = {{0, 0, 0}, NULL};
    options.tag = c->tag;
    options.wait_ms = c->wait_ms;
    options.timeout_ms = c->timeout_ms;
    options.to_groups = c->flag;
    options.routing = c->routing;
    options.key = c->key;
    troupe_err_t err = body_open(self, citizen, c, &b);
    if (err == TROUPE_OK) {
        err = troupe_publish_confirmed(self, b.topic, &options, b.body);
    }
    body_close(self, &b);
    return err;
}

troupe_err_t act_publish_blob(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    const town_call_t *c = call;
    uint8_t *blob = calloc(1, c->body_size);
    if (blob == NULL) {
        return TROUPE_ENOMEM;
    }
    memcpy(blob, &c->value, sizeof(c->value));
    troupe_err_t err = troupe_publish_name(self, c->name, call_size(c), citizen->home->blob_type,
                                           blob, c->body_size);
    free(blob);
    return err;
}

troupe_err_t act_put(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    troupe_subscribe_options_t options;
    (void)citizen;
    call_options(call, &options);
    return troupe_put(self, &options);
}

troupe_err_t act_remove(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    troupe_subscribe_options_t options;
    (void)citizen;
    call_options(call, &options);
    return troupe_remove(self, &options);
}

troupe_err_t act_send(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    const town_call_t *c = call;
    troupe_send_options_t options = TROUPE_SEND_OPTIONS_INIT;
    options.local_affinity = c->flag;
    options.routing = c->routing;
    options.key = c->key;
    return troupe_send(self, c->name, &options, citizen->home->number_type, &c->value,
                       sizeof(c->value));
}

troupe_err_t act_send_all(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    const town_call_t *c = call;
    return troupe_send_all(self, c->name, c->flag, citizen->home->number_type, &c->value,
                           sizeof(c->value));
}

troupe_err_t act_watch_dead_letters(troupe_actor_t *self, citizen_t *citizen, void *call)
{
    (void)citizen;
    (void)call;
    return troupe_events_subscribe(self, TROUPE_EVENT_DEAD_LETTER);
}

void town_subscribe(citizen_t *citizen, const town_call_t *call)
{
    uint64_t acks = citizen_count(citizen, GOT_ACK);
    town_call_t copy = *call;
    REQUIRE_OK(town_do(citizen, act_subscribe, &copy));
    REQUIRE(CHECK_EVENTUALLY(citizen_count(citizen, GOT_ACK) > acks, TOWN_PATIENCE_MS));
}

void town_publish(citizen_t *citizen, const char *name, uint64_t value)
{
    town_call_t call = {.name = name, .value = value};
    CHECK_OK(town_do(citizen, act_publish, &call));
}

static troupe_topic_info_t town_info(town_t *town, uint32_t node, const char *name)
{
    troupe_topic_t topic;
    troupe_topic_info_t info;
    memset(&info, 0, sizeof(info));
    troupe_node_t *of = &town->nodes[node].node;
    REQUIRE_OK(troupe_topic_open(of, name, strlen(name), NULL, &topic));
    CHECK_OK(troupe_topic_count(of, topic, &info));
    troupe_topic_close(of, &topic);
    return info;
}

uint64_t town_count_here(town_t *town, uint32_t node, const char *name)
{
    return town_info(town, node, name).subscribers_here;
}

uint64_t town_count_all(town_t *town, uint32_t node, const char *name)
{
    troupe_topic_info_t info = town_info(town, node, name);
    return info.subscribers_here + info.subscribers_others;
}
