/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A simulated world: a virtual clock, a seeded scheduler and a network between numbered nodes that
 * carries opaque bytes late, twice, in another order or never. Everything that happens follows from the
 * seed, so a run that failed can be had again exactly.
 *
 *     trp_sim_options_t options = {.seed = 7, .nodes_len = 100, .user = &world,
 *                                  .on_message = ..., .on_wake = ...};
 *     trp_sim_create(&options, &sim);
 *     trp_sim_wake(sim, node, 0);                  each node gets one wake-up at a time
 *     trp_sim_send(sim, from, to, bytes, size);    from inside the callbacks
 *     trp_sim_run(sim, 10 * TRP_NS_PER_S);
 *
 * Thread rule: a world belongs to its thread. */

#ifndef TROUPE_SIM_SIM_H
#define TROUPE_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/random.h"

#define TRP_SIM_NODES_MAX 100000

typedef struct trp_sim trp_sim_t;

/* `now` is the node's own clock: the world's time and the node's skew. */
typedef void (*trp_sim_message_fn)(void *user, size_t node, uint64_t now, size_t from,
                                   const void *data, size_t size);
typedef void (*trp_sim_wake_fn)(void *user, size_t node, uint64_t now);
typedef void (*trp_sim_call_fn)(void *user, uint64_t arg);

/* What the network does to messages. */
typedef struct trp_sim_network {
    uint64_t delay_min; /* Nanoseconds. */
    uint64_t delay_max; /* A message may overtake another by as much as lies between the two, */
    bool in_order;      /* unless each pair's messages keep their order. */
    double loss;        /* Chances, 0 to 1. */
    double duplication;
} trp_sim_network_t;

typedef struct trp_sim_options {
    uint64_t seed;
    size_t nodes_len;
    trp_sim_network_t network;
    void *user; /* Given to the callbacks. */
    trp_sim_message_fn on_message;
    trp_sim_wake_fn on_wake;
} trp_sim_options_t;

typedef struct trp_sim_stats {
    uint64_t events;
    uint64_t sent;
    uint64_t delivered;
    uint64_t lost; /* By chance, by a cut, or because the receiver was dead. */
    uint64_t duplicated;
    uint64_t bytes;
} trp_sim_stats_t;

/* EINVAL: no nodes or too many; ENOMEM. */
troupe_err_t trp_sim_create(const trp_sim_options_t *options, trp_sim_t **ret_sim);
void trp_sim_destroy(trp_sim_t **sim_p);

/* ---- time and the scheduler ------------------------------------------------------------------- */

/* The world's time, which begins at an hour so that "an hour ago" is a time too. */
uint64_t trp_sim_now(const trp_sim_t *sim);
/* The same by a node's own clock. */
uint64_t trp_sim_node_now(const trp_sim_t *sim, size_t node);
/* For choices of the test itself. */
trp_random_t *trp_sim_random(trp_sim_t *sim);

/* Runs all events of the next `duration` nanoseconds. ENOMEM when the world ran out of memory. */
troupe_err_t trp_sim_run(trp_sim_t *sim, uint64_t duration);
/* Runs until `is_done` says so, looked at every `step`; false when `limit` passed before. */
bool trp_sim_run_until(trp_sim_t *sim, uint64_t limit, uint64_t step, bool (*is_done)(void *user));

/* The node's next wake-up by its own clock; replaces the one before. TRP_CLOCK_NEVER: none. */
troupe_err_t trp_sim_wake(trp_sim_t *sim, size_t node, uint64_t at);

/* Calls `fn` after `delay`, whatever the nodes do. */
troupe_err_t trp_sim_call(trp_sim_t *sim, uint64_t delay, trp_sim_call_fn fn, uint64_t arg);

/* ---- the network ------------------------------------------------------------------------------ */

/* Hands a message to the network; what the network loses is no error. ENOMEM. */
troupe_err_t trp_sim_send(trp_sim_t *sim, size_t from, size_t to, const void *data, size_t size);

void trp_sim_set_network(trp_sim_t *sim, const trp_sim_network_t *network);

/* Cuts or mends the way from one node to another; the way back is another matter. Messages under way
 * are lost too. */
void trp_sim_cut(trp_sim_t *sim, size_t from, size_t to, bool is_cut);

/* Nodes of different groups can't reach each other. NULL: all are of one group. */
void trp_sim_partition(trp_sim_t *sim, const uint32_t *groups);

/* Mends all cuts and partitions. */
void trp_sim_heal(trp_sim_t *sim);

/* Whether a message from one to the other would now pass, but for chance. */
bool trp_sim_can_reach(const trp_sim_t *sim, size_t from, size_t to);

/* A time that a message might take now. */
uint64_t trp_sim_delay(trp_sim_t *sim);

/* ---- nodes ------------------------------------------------------------------------------------ */

/* A dead node gets nothing, and what was on its way to it is lost. All nodes begin dead. */
void trp_sim_start(trp_sim_t *sim, size_t node);
void trp_sim_kill(trp_sim_t *sim, size_t node);
bool trp_sim_is_alive(const trp_sim_t *sim, size_t node);

/* A paused node gets everything when it is resumed, as a stopped process does. */
void trp_sim_pause(trp_sim_t *sim, size_t node);
void trp_sim_resume(trp_sim_t *sim, size_t node);

/* Moves a node's clock against the world's. */
void trp_sim_skew(trp_sim_t *sim, size_t node, int64_t by);

/* ---- what happened ---------------------------------------------------------------------------- */

const trp_sim_stats_t *trp_sim_stats(const trp_sim_t *sim);
/* A hash of everything that has happened: equal for equal runs. */
uint64_t trp_sim_trace(const trp_sim_t *sim);
/* The seed of the environment variable TROUPE_SIM_SEED, or `fallback`. */
uint64_t trp_sim_seed_from_env(uint64_t fallback);

#endif
