/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Splits in a simulated world: never two surviving sides, and after the network is mended one cluster. */

#include <string.h>

#include "support/check.h"
#include "world.h"

static uint64_t base_seed(void)
{
    return trp_sim_seed_from_env(20250303);
}

static void whole(world_t *world, world_options_t options)
{
    options.seeds_len = options.seeds_len == 0 ? 3 : options.seeds_len;
    world_init(world, &options);
    world_start_all(world);
    REQUIRE(world_settle(world, options.len, 60 * WORLD_S));
    memset(&world->counts, 0, sizeof(world->counts));
}

/* The first `len` nodes on one side, the others on the other. */
static void split_at(world_t *world, size_t len)
{
    uint32_t groups[256] = {0};
    for (size_t i = len; i < world->options.len; i++) {
        groups[i] = 1;
    }
    trp_sim_partition(world->sim, groups);
}

typedef struct split_case {
    trp_quorum_strategy_t strategy;
    uint32_t quorum_len;
    size_t len;
    size_t first_len; /* Nodes of the first side. */
    size_t survivors_first;
    size_t survivors_second;
} split_case_t;

static void judge(const split_case_t *split, uint64_t seed)
{
    world_t world;
    whole(&world, (world_options_t){.seed = seed,
                                    .len = split->len,
                                    .strategy = split->strategy,
                                    .quorum_len = split->quorum_len,
                                    .no_restart = true});
    split_at(&world, split->first_len);
    world_run(&world, 40 * WORLD_S);
    size_t first = world_up_in(&world, 0, split->first_len);
    size_t second = world_up_in(&world, split->first_len, split->len - split->first_len);
    bool good = CHECK_EQ_U64(first, split->survivors_first);
    good = CHECK_EQ_U64(second, split->survivors_second) && good;
    if (good && first + second > 0) {
        good = CHECK(world_settle(&world, first + second, 10 * WORLD_S));
    }
    if (!good) {
        CHECK_FAIL("strategy %d, %zu nodes, %zu on the first side, seed %" PRIu64,
                   (int)split->strategy, split->len, split->first_len, seed);
        world_print(&world);
    }
    world_fini(&world);
}

static void each_strategy_keeps_the_side_that_it_promises(void)
{
    static const split_case_t splits[] = {
        {TRP_QUORUM_MAJORITY, 0, 2, 1, 1, 0},    {TRP_QUORUM_MAJORITY, 0, 3, 1, 0, 2},
        {TRP_QUORUM_MAJORITY, 0, 4, 2, 2, 0},    {TRP_QUORUM_MAJORITY, 0, 5, 2, 0, 3},
        {TRP_QUORUM_MAJORITY, 0, 20, 10, 10, 0}, {TRP_QUORUM_MAJORITY, 0, 20, 9, 0, 11},
        {TRP_QUORUM_STATIC, 3, 5, 3, 3, 0},      {TRP_QUORUM_STATIC, 4, 5, 3, 0, 0},
        {TRP_QUORUM_STATIC, 2, 5, 2, 0, 3},      {TRP_QUORUM_OLDEST, 0, 2, 1, 1, 0},
        {TRP_QUORUM_OLDEST, 0, 3, 1, 0, 2},      {TRP_QUORUM_OLDEST, 0, 7, 2, 2, 0},
        {TRP_QUORUM_DOWN_ALL, 0, 6, 3, 0, 0},
    };
    for (size_t i = 0; i < TRP_ARRAY_LEN(splits); i++) {
        judge(&splits[i], base_seed() + i);
    }
}

static void a_hundred_nodes_split_in_halves_leave_one_half(void)
{
    uint64_t runs = check_count(3, 30);
    for (uint64_t i = 0; i < runs; i++) {
        split_case_t split = {TRP_QUORUM_MAJORITY, 0, 100, 50, 50, 0};
        judge(&split, base_seed() + i);
    }
}

static void three_sides_leave_one_at_most(void)
{
    uint64_t runs = check_count(10, 100);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        trp_quorum_strategy_t strategy = (trp_quorum_strategy_t)(1 + i % 4);
        whole(&world, (world_options_t){.seed = base_seed() + i,
                                        .len = 9,
                                        .strategy = strategy,
                                        .quorum_len = 5,
                                        .no_restart = true});
        uint32_t groups[9];
        size_t survivors[3] = {0};
        for (size_t n = 0; n < 9; n++) {
            groups[n] = (uint32_t)trp_random_below(trp_sim_random(world.sim), 3);
        }
        trp_sim_partition(world.sim, groups);
        world_run(&world, 40 * WORLD_S);
        for (size_t n = 0; n < 9; n++) {
            survivors[groups[n]] += world_up_in(&world, n, 1);
        }
        size_t sides = (survivors[0] > 0 ? 1u : 0u) + (survivors[1] > 0 ? 1u : 0u) +
                       (survivors[2] > 0 ? 1u : 0u);
        if (!CHECK_LE_U64(sides, 1)) {
            CHECK_FAIL("seed %" PRIu64, world.options.seed);
        }
        world_fini(&world);
    }
}

/* Sides of a network that falls apart while members come and go. */
static size_t surviving_sides(const world_t *world, const uint32_t *groups)
{
    size_t survivors[2] = {0};
    for (size_t n = 0; n < world->options.len; n++) {
        survivors[groups[n]] += world_up_in(world, n, 1);
    }
    return (survivors[0] > 0 ? 1u : 0u) + (survivors[1] > 0 ? 1u : 0u);
}

static void split_amid_changes(uint64_t seed, trp_quorum_strategy_t strategy)
{
    world_t world;
    uint32_t groups[12];
    world_options_t options = {.seed = seed,
                               .len = 12,
                               .seeds_len = 2,
                               .strategy = strategy,
                               .quorum_len = 5,
                               .no_restart = true};
    world_init(&world, &options);
    trp_random_t *random = trp_sim_random(world.sim);
    for (size_t i = 0; i < 8; i++) {
        world_start(&world, i);
    }
    REQUIRE(world_settle(&world, 8, 20 * WORLD_S));
    /* Some join, some leave, some die, and at any moment of it the network breaks. */
    for (size_t i = 8; i < 12; i++) {
        world_start(&world, i);
    }
    world_leave(&world, 2 + trp_random_below(random, 3));
    if (trp_random_below(random, 2) == 0) {
        world_kill(&world, 5 + trp_random_below(random, 3), false);
    }
    world_run(&world, trp_random_below(random, 800) * WORLD_MS);
    for (size_t n = 0; n < 12; n++) {
        groups[n] = (uint32_t)trp_random_below(random, 2);
    }
    trp_sim_partition(world.sim, groups);
    world_run(&world, 60 * WORLD_S);
    if (!CHECK_LE_U64(surviving_sides(&world, groups), 1)) {
        CHECK_FAIL("two sides survive with seed %" PRIu64 ", strategy %d", seed, (int)strategy);
        world_print(&world);
    }
    world_fini(&world);
}

static void a_split_amid_changes_leaves_one_side_at_most(void)
{
    uint64_t runs = check_count(60, 1000);
    for (uint64_t i = 0; i < runs; i++) {
        split_amid_changes(base_seed() + i, (trp_quorum_strategy_t)(1 + i % 3));
    }
}

static void a_mended_split_becomes_one_cluster(void)
{
    uint64_t runs = check_count(10, 100);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        whole(&world, (world_options_t){.seed = base_seed() + i, .len = 9, .keep_peers = true});
        split_at(&world, 1 + i % 8);
        world_run(&world, trp_random_below(trp_sim_random(world.sim), 40) * WORLD_S);
        trp_sim_heal(world.sim);
        CHECK(world_settle(&world, 9, 40 * WORLD_S));
        CHECK_EQ_U64(world_clusters(&world), 1);
        world_fini(&world);
    }
}

static void a_short_split_is_forgiven(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 8});
    for (size_t i = 0; i < 5; i++) {
        split_at(&world, 4);
        world_run(&world, 2500 * WORLD_MS);
        trp_sim_heal(world.sim);
        world_run(&world, 10 * WORLD_S);
    }
    CHECK_EQ_U64(world.counts.down, 0);
    CHECK(world_settle(&world, 8, 5 * WORLD_S));
    world_fini(&world);
}

static void newcomers_fall_with_the_side_that_they_joined(void)
{
    world_t world;
    world_options_t options = {.seed = base_seed(), .len = 7, .seeds_len = 5, .no_restart = true};
    uint32_t groups[7] = {0, 0, 0, 1, 1, 1, 1};
    world_init(&world, &options);
    for (size_t i = 0; i < 5; i++) {
        world_start(&world, i);
    }
    REQUIRE(world_settle(&world, 5, 20 * WORLD_S));
    trp_sim_partition(world.sim, groups);
    world_run(&world, 1500 * WORLD_MS);
    world_start(&world, 5); /* They make the smaller side the larger one, but don't count. */
    world_start(&world, 6);
    world_run(&world, 40 * WORLD_S);
    CHECK_EQ_U64(world_up_in(&world, 0, 3), 3);
    CHECK_EQ_U64(world_up_in(&world, 3, 4), 0);
    world_fini(&world);
}

static void two_clusters_that_meet_become_one(void)
{
    world_t world;
    world_options_t options = {.seed = base_seed(), .len = 6, .seeds_len = 2};
    uint32_t groups[6] = {0, 1, 0, 1, 1, 1};
    world_init(&world, &options);
    for (size_t i = 0; i < 6; i++) { /* Two first seeds that can't see each other. */
        size_t mine = groups[i];
        world_set_seeds(&world, i, (size_t[]){mine, 1 - mine}, 2);
    }
    trp_sim_partition(world.sim, groups);
    world_start_all(&world);
    world_run(&world, 15 * WORLD_S);
    CHECK_EQ_U64(world_clusters(&world), 2);
    uint64_t stronger = trp_cluster_core_cluster(world.processes[1].core);
    trp_sim_heal(world.sim);
    CHECK(world_settle(&world, 6, 20 * WORLD_S));
    CHECK_EQ_U64(trp_cluster_core_cluster(world.processes[0].core), stronger);
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_YIELDED], 2);
    world_fini(&world);
}

static const check_case_t cases[] = {
    CHECK_CASE(each_strategy_keeps_the_side_that_it_promises),
    CHECK_CASE(a_hundred_nodes_split_in_halves_leave_one_half),
    CHECK_CASE(three_sides_leave_one_at_most),
    CHECK_CASE(a_split_amid_changes_leaves_one_side_at_most),
    CHECK_CASE(a_mended_split_becomes_one_cluster),
    CHECK_CASE(a_short_split_is_forgiven),
    CHECK_CASE(newcomers_fall_with_the_side_that_they_joined),
    CHECK_CASE(two_clusters_that_meet_become_one),
};

CHECK_MAIN("sim.cluster_split", cases)
