/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A world of simulated processes, each with a cluster core, for the cluster's scenarios: the driver and
 * the links in miniature. Whatever a core asks for is done over the simulated network. */

#ifndef TROUPE_TESTS_SIM_WORLD_H
#define TROUPE_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "cluster/core.h"
#include "sim/sim.h"

#define WORLD_MS TRP_NS_PER_MS
#define WORLD_S TRP_NS_PER_S
#define WORLD_SEEDS_MAX 8
#define WORLD_PEERS_MAX 32

typedef struct world_process {
    char address[32];
    uint64_t uid; /* Of the present incarnation; 0: not running. */
    uint64_t last_uid;
    trp_cluster_core_t *core; /* NULL: not running. */
    const char *seeds[WORLD_SEEDS_MAX];
    size_t seeds_len;
    char peers[WORLD_PEERS_MAX][32]; /* Known from the incarnation before, if peers are kept. */
    size_t peers_len;
    bool has_left;  /* Stopped of its own will: isn't started anew. */
    bool is_hosted; /* The world's network counts it as alive. */
    uint64_t started_at;
    uint64_t up_at;    /* When this incarnation saw itself up; 0: not yet. */
    uint64_t restarts; /* Times it was told to start anew. */
} world_process_t;

typedef struct world_counts {
    uint64_t joined;
    uint64_t up;
    uint64_t unreachable; /* Events of all processes. */
    uint64_t reachable;
    uint64_t down;
    uint64_t removed;
    uint64_t downed;         /* Decisions. */
    uint64_t false_downs;    /* Members told down whose process was running. */
    uint64_t stops[8];       /* By trp_stop_reason_t. */
    uint64_t notes[16];      /* By trp_note_t. */
    uint64_t suspected_mask; /* Bit i: process i (of the first 64) was suspected by somebody. */
    uint64_t unreachable_mask;
} world_counts_t;

typedef struct world_options {
    uint64_t seed;
    size_t len;
    size_t seeds_len; /* The first so many processes are everybody's seeds, in that order. */
    trp_sim_network_t network;
    trp_quorum_strategy_t strategy;
    uint32_t quorum_len;
    uint32_t members_min;
    bool keep_peers;
    bool no_restart; /* A process that is to start anew stays off instead. */
    trp_cluster_timings_t timings;
} world_options_t;

typedef struct world {
    world_options_t options;
    trp_sim_t *sim;
    world_process_t *processes;
    uint64_t *sessions; /* from * len + to: the uid that `from` has a session with. */
    world_counts_t counts;
    size_t expected; /* For world_is_whole. */
    bool verbose;    /* TROUPE_SIM_VERBOSE: prints every event. */
} world_t;

/* Aborts the case when there is no memory. A world prints its seed when a check fails in it. */
void world_init(world_t *world, const world_options_t *options);
void world_fini(world_t *world);

/* Other seeds for one process, as indexes. */
void world_set_seeds(world_t *world, size_t index, const size_t *seeds, size_t len);

void world_start(world_t *world, size_t index);
void world_start_all(world_t *world);
/* Kills the process; its peers' systems notice the broken connection, unless it is `silent`. */
void world_kill(world_t *world, size_t index, bool silent);
void world_leave(world_t *world, size_t index);
void world_run(world_t *world, uint64_t duration);

/* Every running process is a member of one cluster, up, and sees the same view of exactly
 * `world->expected` members, nobody suspected. */
bool world_is_whole(void *world);
/* Runs until the world is whole with that many members. */
bool world_settle(world_t *world, size_t expected, uint64_t limit);

size_t world_running(const world_t *world);
/* Different clusters among the running members. */
size_t world_clusters(const world_t *world);
/* Members of state up on the running processes of a range, as they see themselves. */
size_t world_up_in(const world_t *world, size_t first, size_t len);
const trp_member_t *world_member(const world_t *world, size_t viewer, size_t about);
void world_print(const world_t *world);

#endif
