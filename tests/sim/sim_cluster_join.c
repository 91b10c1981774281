/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Joining in a simulated world: always one cluster, and soon. TROUPE_SIM_SEED repeats a run,
 * TROUPE_SIM_VERBOSE shows what happens, TROUPE_TEST_FULL runs more seeds. */

#include <string.h>

#include "support/check.h"
#include "world.h"

static uint64_t base_seed(void)
{
    return trp_sim_seed_from_env(20250101);
}

static void a_node_without_seeds_is_up_at_once(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 1});
    world_start(&world, 0);
    CHECK(world_settle(&world, 1, 100 * WORLD_MS));
    world_fini(&world);
}

static void a_seed_alone_serves_within_ten_seconds(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 3, .seeds_len = 3});
    world_start(&world, 0);
    CHECK(world_settle(&world, 1, 7 * WORLD_S));
    world_fini(&world);
}

static void a_hundred_nodes_join_by_three_seeds(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 100, .seeds_len = 3});
    world_start_all(&world);
    CHECK(world_settle(&world, 100, 15 * WORLD_S));
    CHECK_EQ_U64(world_clusters(&world), 1);
    CHECK_EQ_U64(world.counts.down, 0);
    CHECK_EQ_U64(world.counts.unreachable, 0);
    world_fini(&world);
}

static void twenty_nodes_at_once_are_all_up(void)
{
    uint64_t runs = check_count(10, 100);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        world_init(&world, &(world_options_t){.seed = base_seed() + i, .len = 20, .seeds_len = 3});
        world_start_all(&world);
        CHECK(world_settle(&world, 20, 10 * WORLD_S));
        CHECK_EQ_U64(world.counts.down, 0);
        world_fini(&world);
    }
}

/* Runs on while never more than one cluster may be there. */
static bool stays_one_cluster(world_t *world, uint64_t duration)
{
    for (uint64_t spent = 0; spent < duration; spent += 50 * WORLD_MS) {
        world_run(world, 50 * WORLD_MS);
        if (!CHECK_LE_U64(world_clusters(world), 1)) {
            CHECK_FAIL("two clusters with seed %" PRIu64, world->options.seed);
            world_print(world);
            return false;
        }
    }
    return true;
}

/* Each process has the three seeds in an order of its own. */
static void give_orders(world_t *world)
{
    for (size_t i = 0; i < world->options.len; i++) {
        size_t order[] = {0, 1, 2};
        trp_random_shuffle(trp_sim_random(world->sim), order, 3, sizeof(order[0]));
        world_set_seeds(world, i, order, 3);
    }
}

static void seeds_started_together_form_one_cluster_in_any_order(void)
{
    uint64_t runs = check_count(200, 2000);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        world_init(&world, &(world_options_t){.seed = base_seed() + i, .len = 5, .seeds_len = 3});
        give_orders(&world);
        /* At least one must be its own first seed, or nobody may form: that is the rule. */
        world_set_seeds(&world, i % 3, (size_t[]){i % 3, (i + 1) % 3, (i + 2) % 3}, 3);
        world_start_all(&world);
        bool one = stays_one_cluster(&world, 5 * WORLD_S);
        if (!one || !CHECK(world_settle(&world, 5, 10 * WORLD_S))) {
            world_fini(&world);
            return;
        }
        world_fini(&world);
    }
}

static void seeds_started_within_a_second_form_one_cluster(void)
{
    uint64_t runs = check_count(100, 1000);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        world_init(&world, &(world_options_t){.seed = base_seed() + i, .len = 3, .seeds_len = 3});
        for (size_t n = 0; n < 3; n++) { /* Each is its own first seed. */
            world_set_seeds(&world, n, (size_t[]){n, (n + 1) % 3, (n + 2) % 3}, 3);
        }
        for (size_t n = 0; n < 3; n++) {
            world_run(&world, trp_random_below(trp_sim_random(world.sim), 500 * WORLD_MS));
            world_start(&world, n);
        }
        bool one = stays_one_cluster(&world, 5 * WORLD_S);
        if (!one || !CHECK(world_settle(&world, 3, 10 * WORLD_S))) {
            world_fini(&world);
            return;
        }
        world_fini(&world);
    }
}

static void seeds_on_a_lossy_network_form_one_cluster(void)
{
    uint64_t runs = check_count(50, 500);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        world_options_t options = {.seed = base_seed() + i, .len = 4, .seeds_len = 3};
        options.network = (trp_sim_network_t){
            .delay_min = WORLD_MS, .delay_max = 80 * WORLD_MS, .loss = 0.2, .duplication = 0.05};
        world_init(&world, &options);
        give_orders(&world);
        world_set_seeds(&world, 0, (size_t[]){0, 1, 2}, 3);
        world_set_seeds(&world, 1, (size_t[]){1, 2, 0}, 3);
        world_start_all(&world);
        bool one = stays_one_cluster(&world, 8 * WORLD_S);
        if (!one || !CHECK(world_settle(&world, 4, 30 * WORLD_S))) {
            world_fini(&world);
            return;
        }
        world_fini(&world);
    }
}

static void nodes_join_soon_after_an_absent_seed_appears(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 3, .seeds_len = 1});
    world_start(&world, 1);
    world_start(&world, 2);
    world_run(&world, 60 * WORLD_S);
    CHECK_EQ_U64(world_clusters(&world), 0);
    CHECK_NE_U64(world.counts.notes[TRP_NOTE_WAITING_SEED], 0);
    world_start(&world, 0);
    CHECK(world_settle(&world, 3, 5 * WORLD_S));
    world_fini(&world);
}

static void a_restarted_first_seed_joins_what_is_there(void)
{
    uint64_t runs = check_count(100, 1000);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        world_init(&world, &(world_options_t){.seed = base_seed() + i, .len = 3, .seeds_len = 3});
        world_start_all(&world);
        /* Killed at any moment: before it has formed, while others join, later. */
        world_run(&world, trp_random_below(trp_sim_random(world.sim), 4 * WORLD_S));
        world_kill(&world, 0, i % 2 == 0);
        world_run(&world, trp_random_below(trp_sim_random(world.sim), 2 * WORLD_S));
        world_start(&world, 0);
        bool one = stays_one_cluster(&world, 8 * WORLD_S);
        if (!one || !CHECK(world_settle(&world, 3, 15 * WORLD_S))) {
            world_fini(&world);
            return;
        }
        world_fini(&world);
    }
}

static void restart_all_seeds_while_workers_live(bool keep_peers, uint64_t seed)
{
    world_t world;
    world_init(&world, &(world_options_t){
                           .seed = seed, .len = 8, .seeds_len = 3, .keep_peers = keep_peers});
    world_start_all(&world);
    REQUIRE(world_settle(&world, 8, 10 * WORLD_S));
    uint64_t cluster = trp_cluster_core_cluster(world.processes[5].core);
    for (size_t n = 0; n < 3; n++) {
        world_kill(&world, n, false);
    }
    world_run(&world, trp_random_below(trp_sim_random(world.sim), 20 * WORLD_S));
    for (size_t n = 0; n < 3; n++) {
        world_start(&world, n);
    }
    (void)stays_one_cluster(&world, 10 * WORLD_S);
    CHECK(world_settle(&world, 8, 15 * WORLD_S));
    CHECK_EQ_U64(trp_cluster_core_cluster(world.processes[0].core), cluster);
    world_fini(&world);
}

static void seeds_that_all_restart_find_the_living_workers(void)
{
    uint64_t runs = check_count(20, 200);
    for (uint64_t i = 0; i < runs; i++) {
        restart_all_seeds_while_workers_live(i % 2 == 0, base_seed() + i);
    }
}

static void a_node_that_is_restarted_at_once_is_back_within_ten_seconds(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 3, .seeds_len = 3});
    world_start_all(&world);
    REQUIRE(world_settle(&world, 3, 10 * WORLD_S));
    for (size_t i = 0; i < 50; i++) {
        size_t victim = i % 3;
        world_kill(&world, victim, i % 2 == 0);
        world_run(&world, trp_random_below(trp_sim_random(world.sim), 100 * WORLD_MS));
        world_start(&world, victim);
        if (!CHECK(world_settle(&world, 3, 5 * WORLD_S))) {
            break;
        }
        CHECK_EQ_U64(world_clusters(&world), 1);
    }
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_SPLIT], 0);
    world_fini(&world);
}

static void rolling_restarts_keep_one_cluster(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 12, .seeds_len = 3});
    world_start_all(&world);
    REQUIRE(world_settle(&world, 12, 10 * WORLD_S));
    for (size_t i = 0; i < 12; i++) {
        world_leave(&world, i);
        CHECK(world_settle(&world, 11, 5 * WORLD_S));
        world_start(&world, i);
        CHECK(world_settle(&world, 12, 8 * WORLD_S));
        CHECK_EQ_U64(world_clusters(&world), 1);
    }
    CHECK_EQ_U64(world.counts.down, 0);
    world_fini(&world);
}

static void a_leaving_leader_is_succeeded(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 5, .seeds_len = 3});
    world_start_all(&world);
    REQUIRE(world_settle(&world, 5, 10 * WORLD_S));
    CHECK_EQ_U64(trp_cluster_core_leader(world.processes[4].core), world.processes[0].uid);
    world_leave(&world, 0);
    CHECK(world_settle(&world, 4, 5 * WORLD_S));
    CHECK_EQ_U64(trp_cluster_core_leader(world.processes[4].core), world.processes[1].uid);
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_LEFT], 1);
    CHECK_EQ_U64(world.counts.down, 0);
    world_fini(&world);
}

static void all_may_leave_at_once(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 5, .seeds_len = 3});
    world_start_all(&world);
    REQUIRE(world_settle(&world, 5, 10 * WORLD_S));
    for (size_t i = 0; i < 5; i++) {
        world_leave(&world, i);
    }
    world_run(&world, 5 * WORLD_S);
    CHECK_EQ_U64(world_running(&world), 0);
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_LEFT], 5);
    CHECK_EQ_U64(world.counts.down, 0);
    world_fini(&world);
}

static void a_node_may_leave_while_it_joins(void)
{
    uint64_t runs = check_count(60, 600);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        world_init(&world, &(world_options_t){.seed = base_seed() + i, .len = 4, .seeds_len = 1});
        for (size_t n = 0; n < 3; n++) {
            world_start(&world, n);
        }
        REQUIRE(world_settle(&world, 3, 10 * WORLD_S));
        world_start(&world, 3);
        world_run(&world, trp_random_below(trp_sim_random(world.sim), 60) * 5 * WORLD_MS);
        world_leave(&world, 3);
        if (!CHECK(world_settle(&world, 3, 10 * WORLD_S)) || !CHECK(world.processes[3].has_left)) {
            CHECK_FAIL("seed %" PRIu64, world.options.seed);
            i = runs;
        }
        world_fini(&world);
    }
}

static void nobody_is_up_before_enough_have_joined(void)
{
    world_t world;
    world_init(&world,
               &(world_options_t){.seed = base_seed(), .len = 4, .seeds_len = 1, .members_min = 3});
    world_start(&world, 0);
    world_start(&world, 1);
    world_run(&world, 10 * WORLD_S);
    CHECK_EQ_U64(world.counts.up, 0);
    CHECK_EQ_U64(world_clusters(&world), 1);
    world_start(&world, 2);
    CHECK(world_settle(&world, 3, 5 * WORLD_S));
    world_start(&world, 3);
    CHECK(world_settle(&world, 4, 5 * WORLD_S));
    world_fini(&world);
}

static void a_held_member_waits_until_it_is_ready(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 2, .seeds_len = 1});
    world_start(&world, 0);
    REQUIRE(world_settle(&world, 1, 10 * WORLD_S));
    trp_cluster_core_t *core = NULL;
    world_process_t *process = &world.processes[1];
    process->uid = 77;
    trp_cluster_options_t options = {.uid = 77,
                                     .random_seed = 5,
                                     .address = process->address,
                                     .seeds = process->seeds,
                                     .seeds_len = process->seeds_len,
                                     .hold_ready = true};
    trp_sim_start(world.sim, 1);
    REQUIRE_OK(trp_cluster_core_create(&options, trp_sim_node_now(world.sim, 1), &core));
    process->core = core;
    REQUIRE_OK(trp_sim_wake(world.sim, 1, trp_cluster_core_wakeup(core)));
    world_run(&world, 5 * WORLD_S);
    CHECK_EQ_U64(world_member(&world, 0, 1)->state, TROUPE_MEMBER_JOINING);
    trp_cluster_core_ready(core, trp_sim_node_now(world.sim, 1));
    REQUIRE_OK(trp_sim_wake(world.sim, 1, trp_cluster_core_wakeup(core)));
    CHECK(world_settle(&world, 2, 3 * WORLD_S));
    world_fini(&world);
}

static uint64_t trace_of(uint64_t seed)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = seed, .len = 10, .seeds_len = 3});
    world_start_all(&world);
    (void)world_settle(&world, 10, 10 * WORLD_S);
    world_kill(&world, 4, false);
    world_run(&world, 10 * WORLD_S);
    uint64_t trace = trp_sim_trace(world.sim);
    world_fini(&world);
    return trace;
}

static void a_seed_repeats_a_run_exactly(void)
{
    CHECK_EQ_U64(trace_of(base_seed()), trace_of(base_seed()));
    CHECK_NE_U64(trace_of(base_seed()), trace_of(base_seed() + 1));
}

static const check_case_t cases[] = {
    CHECK_CASE(a_node_without_seeds_is_up_at_once),
    CHECK_CASE(a_seed_alone_serves_within_ten_seconds),
    CHECK_CASE(a_hundred_nodes_join_by_three_seeds),
    CHECK_CASE(twenty_nodes_at_once_are_all_up),
    CHECK_CASE(seeds_started_together_form_one_cluster_in_any_order),
    CHECK_CASE(seeds_started_within_a_second_form_one_cluster),
    CHECK_CASE(seeds_on_a_lossy_network_form_one_cluster),
    CHECK_CASE(nodes_join_soon_after_an_absent_seed_appears),
    CHECK_CASE(a_restarted_first_seed_joins_what_is_there),
    CHECK_CASE(seeds_that_all_restart_find_the_living_workers),
    CHECK_CASE(a_node_that_is_restarted_at_once_is_back_within_ten_seconds),
    CHECK_CASE(rolling_restarts_keep_one_cluster),
    CHECK_CASE(a_leaving_leader_is_succeeded),
    CHECK_CASE(all_may_leave_at_once),
    CHECK_CASE(a_node_may_leave_while_it_joins),
    CHECK_CASE(nobody_is_up_before_enough_have_joined),
    CHECK_CASE(a_held_member_waits_until_it_is_ready),
    CHECK_CASE(a_seed_repeats_a_run_exactly),
};

CHECK_MAIN("sim.cluster_join", cases)
