/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The simulated world. */

#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "sim/queue.h"

#define SIM_START (UINT64_C(3600) * TRP_NS_PER_S)

/* One node: is it there, does it run, and what does its clock show. */
typedef struct sim_node {
    bool is_alive;
    bool is_paused;
    uint32_t life;
    uint32_t group;
    int64_t skew;
    uint64_t wake_at;      /* By the node's clock. */
    uint64_t wake_token;   /* Only the last wake-up asked for counts. */
    trp_sim_event_t *held; /* What came while it was paused. */
    size_t held_len;
    size_t held_capacity;
} sim_node_t;

struct trp_sim {
    trp_sim_options_t options;
    trp_random_t random;
    uint64_t now;
    trp_sim_queue_t queue;
    sim_node_t *nodes;
    uint8_t *cuts;        /* One byte a pair, from * nodes_len + to; NULL until the first cut. */
    uint64_t *last_times; /* When the last message of each pair arrives; NULL unless in order. */
    bool is_out_of_memory;
    trp_sim_stats_t stats;
    uint64_t trace;
};

/* ---- life ------------------------------------------------------------------------------------- */

troupe_err_t trp_sim_create(const trp_sim_options_t *options, trp_sim_t **ret_sim)
{
    if (options->nodes_len == 0 || options->nodes_len > TRP_SIM_NODES_MAX ||
        options->network.delay_min > options->network.delay_max) {
        return TROUPE_EINVAL;
    }
    trp_sim_t *sim = trp_calloc(1, sizeof(*sim));
    if (sim == NULL) {
        return TROUPE_ENOMEM;
    }
    sim->options = *options;
    sim->now = SIM_START;
    trp_random_seed(&sim->random, options->seed);
    sim->nodes = trp_calloc(options->nodes_len, sizeof(*sim->nodes));
    if (sim->nodes == NULL) {
        trp_sim_destroy(&sim);
        return TROUPE_ENOMEM;
    }
    *ret_sim = sim;
    return TROUPE_OK;
}

static void sim_drop_held(sim_node_t *node)
{
    for (size_t i = 0; i < node->held_len; i++) {
        trp_free(node->held[i].data);
    }
    node->held_len = 0;
}

void trp_sim_destroy(trp_sim_t **sim_p)
{
    trp_sim_t *sim = *sim_p;
    *sim_p = NULL;
    if (sim == NULL) {
        return;
    }
    for (size_t i = 0; sim->nodes != NULL && i < sim->options.nodes_len; i++) {
        sim_drop_held(&sim->nodes[i]);
        trp_free(sim->nodes[i].held);
    }
    trp_sim_queue_fini(&sim->queue);
    trp_free(sim->nodes);
    trp_free(sim->cuts);
    trp_free(sim->last_times);
    trp_free(sim);
}

/* ---- time ------------------------------------------------------------------------------------- */

static sim_node_t *sim_node(const trp_sim_t *sim, size_t node)
{
    TRP_ASSERT(node < sim->options.nodes_len);
    return &sim->nodes[node];
}

uint64_t trp_sim_now(const trp_sim_t *sim)
{
    return sim->now;
}

uint64_t trp_sim_node_now(const trp_sim_t *sim, size_t node)
{
    return (uint64_t)((int64_t)sim->now + sim_node(sim, node)->skew);
}

trp_random_t *trp_sim_random(trp_sim_t *sim)
{
    return &sim->random;
}

static void sim_trace(trp_sim_t *sim, uint64_t value)
{
    sim->trace = (sim->trace ^ value) * UINT64_C(0x100000001b3);
    sim->trace ^= sim->trace >> 29;
}

static troupe_err_t sim_push(trp_sim_t *sim, const trp_sim_event_t *event)
{
    troupe_err_t err = trp_sim_queue_push(&sim->queue, event);
    if (err != TROUPE_OK) {
        sim->is_out_of_memory = true;
    }
    return err;
}

troupe_err_t trp_sim_wake(trp_sim_t *sim, size_t index, uint64_t at)
{
    sim_node_t *node = sim_node(sim, index);
    if (node->wake_at == at && node->wake_token != 0 && at != TRP_CLOCK_NEVER) {
        return TROUPE_OK; /* Asked for already. */
    }
    node->wake_token++;
    node->wake_at = at;
    if (at == TRP_CLOCK_NEVER) {
        return TROUPE_OK;
    }
    int64_t world = (int64_t)at - node->skew;
    trp_sim_event_t event = {.kind = TRP_SIM_WAKE,
                             .at = world < (int64_t)sim->now ? sim->now : (uint64_t)world,
                             .node = (uint32_t)index,
                             .life = node->life,
                             .token = node->wake_token};
    return sim_push(sim, &event);
}

troupe_err_t trp_sim_call(trp_sim_t *sim, uint64_t delay, trp_sim_call_fn fn, uint64_t arg)
{
    trp_sim_event_t event = {
        .kind = TRP_SIM_CALL, .at = trp_clock_add(sim->now, delay), .call = fn, .token = arg};
    return sim_push(sim, &event);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Keeps an event of a paused node for later. */
static void sim_hold(trp_sim_t *sim, sim_node_t *node, trp_sim_event_t *event)
{
    if (node->held_len == node->held_capacity) {
        size_t capacity = node->held_capacity == 0 ? 16 : node->held_capacity * 2;
        trp_sim_event_t *held = trp_realloc(node->held, capacity * sizeof(*held));
        if (held == NULL) {
            sim->is_out_of_memory = true;
            trp_free(event->data);
            return;
        }
        node->held = held;
        node->held_capacity = capacity;
    }
    node->held[node->held_len] = *event;
    node->held_len++;
}

static void sim_deliver(trp_sim_t *sim, const trp_sim_event_t *event)
{
    if (!trp_sim_can_reach(sim, event->from, event->node)) {
        sim->stats.lost++;
        return;
    }
    sim->stats.delivered++;
    sim_trace(sim, event->size);
    sim->options.on_message(sim->options.user, event->node, trp_sim_node_now(sim, event->node),
                            event->from, event->data, event->size);
}

static void sim_wake(trp_sim_t *sim, const trp_sim_event_t *event)
{
    sim_node_t *node = sim_node(sim, event->node);
    if (event->token != node->wake_token) {
        return;
    }
    node->wake_at = TRP_CLOCK_NEVER;
    sim->options.on_wake(sim->options.user, event->node, trp_sim_node_now(sim, event->node));
}

/* Lets one event of a node happen, or not; ends the event. */
static void sim_happen(trp_sim_t *sim, trp_sim_event_t *event)
{
    sim_node_t *node = sim_node(sim, event->node);
    if (!node->is_alive || node->life != event->life) {
        sim->stats.lost += event->kind == TRP_SIM_MESSAGE ? 1 : 0;
        trp_free(event->data);
        return;
    }
    if (node->is_paused) {
        sim_hold(sim, node, event);
        return;
    }
    sim_trace(sim, sim->now ^ (uint64_t)event->node << 32 ^ (uint64_t)event->kind);
    if (event->kind == TRP_SIM_MESSAGE) {
        sim_deliver(sim, event);
    } else {
        sim_wake(sim, event);
    }
    trp_free(event->data);
}

troupe_err_t trp_sim_run(trp_sim_t *sim, uint64_t duration)
{
    uint64_t until = trp_clock_add(sim->now, duration);
    trp_sim_event_t event;
    while (!sim->is_out_of_memory && trp_sim_queue_pop(&sim->queue, until, &event)) {
        TRP_ASSERT(event.at >= sim->now);
        sim->now = event.at;
        sim->stats.events++;
        if (event.kind == TRP_SIM_CALL) {
            event.call(sim->options.user, event.token);
        } else {
            sim_happen(sim, &event);
        }
    }
    sim->now = until;
    return sim->is_out_of_memory ? TROUPE_ENOMEM : TROUPE_OK;
}

bool trp_sim_run_until(trp_sim_t *sim, uint64_t limit, uint64_t step, bool (*is_done)(void *user))
{
    TRP_ASSERT(step > 0);
    for (uint64_t spent = 0; spent < limit; spent += step) {
        if (is_done(sim->options.user)) {
            return true;
        }
        if (trp_sim_run(sim, step) != TROUPE_OK) {
            return false;
        }
    }
    return is_done(sim->options.user);
}

/* ---- the network ------------------------------------------------------------------------------ */

uint64_t trp_sim_delay(trp_sim_t *sim)
{
    const trp_sim_network_t *network = &sim->options.network;
    uint64_t spread = network->delay_max - network->delay_min;
    return network->delay_min + (spread == 0 ? 0 : trp_random_below(&sim->random, spread + 1));
}

/* When a message of this pair arrives; not before those sent before it if order is kept. */
static uint64_t sim_arrival(trp_sim_t *sim, size_t from, size_t to)
{
    uint64_t at = sim->now + trp_sim_delay(sim);
    size_t len = sim->options.nodes_len;
    if (!sim->options.network.in_order) {
        return at;
    }
    if (sim->last_times == NULL) {
        sim->last_times = trp_calloc(len * len, sizeof(*sim->last_times));
        if (sim->last_times == NULL) {
            sim->is_out_of_memory = true;
            return at;
        }
    }
    uint64_t *last = &sim->last_times[from * len + to];
    *last = at > *last ? at : *last;
    return *last;
}

static troupe_err_t sim_send_copy(trp_sim_t *sim, size_t from, size_t to, const void *data,
                                  size_t size)
{
    trp_sim_event_t event = {.kind = TRP_SIM_MESSAGE,
                             .at = sim_arrival(sim, from, to),
                             .node = (uint32_t)to,
                             .from = (uint32_t)from,
                             .life = sim_node(sim, to)->life,
                             .size = size};
    event.data = trp_memdup(data, size);
    if (event.data == NULL) {
        sim->is_out_of_memory = true;
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = sim_push(sim, &event);
    if (err != TROUPE_OK) {
        trp_free(event.data);
    }
    return err;
}

troupe_err_t trp_sim_send(trp_sim_t *sim, size_t from, size_t to, const void *data, size_t size)
{
    const trp_sim_network_t *network = &sim->options.network;
    sim->stats.sent++;
    sim->stats.bytes += size;
    bool is_lost = network->loss > 0 && trp_random_unit(&sim->random) < network->loss;
    if (is_lost || !trp_sim_can_reach(sim, from, to)) {
        sim->stats.lost++;
        return TROUPE_OK;
    }
    if (network->duplication > 0 && trp_random_unit(&sim->random) < network->duplication) {
        sim->stats.duplicated++;
        troupe_err_t err = sim_send_copy(sim, from, to, data, size);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return sim_send_copy(sim, from, to, data, size);
}

void trp_sim_set_network(trp_sim_t *sim, const trp_sim_network_t *network)
{
    TRP_ASSERT(network->delay_min <= network->delay_max);
    sim->options.network = *network;
}

void trp_sim_cut(trp_sim_t *sim, size_t from, size_t to, bool is_cut)
{
    size_t len = sim->options.nodes_len;
    TRP_ASSERT(from < len);
    TRP_ASSERT(to < len);
    if (sim->cuts == NULL && is_cut) {
        sim->cuts = trp_calloc(len * len, 1);
        if (sim->cuts == NULL) {
            sim->is_out_of_memory = true;
        }
    }
    if (sim->cuts != NULL) {
        sim->cuts[from * len + to] = is_cut ? 1 : 0;
    }
}

void trp_sim_partition(trp_sim_t *sim, const uint32_t *groups)
{
    for (size_t i = 0; i < sim->options.nodes_len; i++) {
        sim->nodes[i].group = groups == NULL ? 0 : groups[i];
    }
}

void trp_sim_heal(trp_sim_t *sim)
{
    trp_sim_partition(sim, NULL);
    trp_free(sim->cuts);
    sim->cuts = NULL;
}

bool trp_sim_can_reach(const trp_sim_t *sim, size_t from, size_t to)
{
    if (sim_node(sim, from)->group != sim_node(sim, to)->group) {
        return false;
    }
    return sim->cuts == NULL || sim->cuts[from * sim->options.nodes_len + to] == 0;
}

/* ---- nodes ------------------------------------------------------------------------------------ */

void trp_sim_start(trp_sim_t *sim, size_t index)
{
    sim_node_t *node = sim_node(sim, index);
    TRP_ASSERT(!node->is_alive);
    node->is_alive = true;
    node->is_paused = false;
    node->wake_at = TRP_CLOCK_NEVER;
}

void trp_sim_kill(trp_sim_t *sim, size_t index)
{
    sim_node_t *node = sim_node(sim, index);
    node->is_alive = false;
    node->is_paused = false;
    node->life++;
    node->wake_token++;
    sim_drop_held(node);
}

bool trp_sim_is_alive(const trp_sim_t *sim, size_t index)
{
    return sim_node(sim, index)->is_alive;
}

void trp_sim_pause(trp_sim_t *sim, size_t index)
{
    sim_node(sim, index)->is_paused = true;
}

void trp_sim_resume(trp_sim_t *sim, size_t index)
{
    sim_node_t *node = sim_node(sim, index);
    if (!node->is_paused) {
        return;
    }
    node->is_paused = false;
    size_t len = node->held_len;
    node->held_len = 0;
    for (size_t i = 0; i < len; i++) {
        /* Back into the queue at this moment, in the order in which they came. */
        trp_sim_event_t event = node->held[i];
        event.at = sim->now;
        if (sim_push(sim, &event) != TROUPE_OK) {
            trp_free(event.data);
        }
    }
}

void trp_sim_skew(trp_sim_t *sim, size_t index, int64_t by)
{
    sim_node_t *node = sim_node(sim, index);
    uint64_t at = node->wake_at;
    node->skew += by;
    if (at != TRP_CLOCK_NEVER) { /* The wake-up is by the node's clock. */
        node->wake_at = TRP_CLOCK_NEVER;
        (void)trp_sim_wake(sim, index, at);
    }
}

/* ---- what happened ---------------------------------------------------------------------------- */

const trp_sim_stats_t *trp_sim_stats(const trp_sim_t *sim)
{
    return &sim->stats;
}

uint64_t trp_sim_trace(const trp_sim_t *sim)
{
    return sim->trace;
}

uint64_t trp_sim_seed_from_env(uint64_t fallback)
{
    const char *text = getenv("TROUPE_SIM_SEED");
    return text == NULL || text[0] == '\0' ? fallback : strtoull(text, NULL, 0);
}
