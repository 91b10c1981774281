/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Failure detection in a simulated world: the dead are found soon, and the living are left in peace,
 * whatever the network and the processor do. */

#include <string.h>

#include "support/check.h"
#include "world.h"

static uint64_t base_seed(void)
{
    return trp_sim_seed_from_env(20250202);
}

/* A world of `len` nodes that are all up. */
static void whole(world_t *world, world_options_t options)
{
    options.seeds_len = options.seeds_len == 0 ? 3 : options.seeds_len;
    world_init(world, &options);
    world_start_all(world);
    REQUIRE(world_settle(world, options.len, 60 * WORLD_S));
    memset(&world->counts, 0, sizeof(world->counts));
}

static void nobody_was_hurt(const world_t *world)
{
    CHECK_EQ_U64(world->counts.down, 0);
    CHECK_EQ_U64(world->counts.removed, 0);
    for (size_t i = 0; i < TRP_ARRAY_LEN(world->counts.stops); i++) {
        CHECK_EQ_U64(world->counts.stops[i], 0);
    }
}

static bool some_see_unreachable(void *user)
{
    const world_t *world = user;
    return world->counts.unreachable >= world_running(world);
}

static void a_killed_node_is_found_within_two_seconds(void)
{
    for (size_t len = 2; len <= 10; len++) {
        world_t world;
        whole(&world, (world_options_t){.seed = base_seed(), .len = len, .seeds_len = 2});
        world_kill(&world, len - 1, false);
        CHECK(trp_sim_run_until(world.sim, 2 * WORLD_S, 10 * WORLD_MS, some_see_unreachable));
        CHECK(world_settle(&world, len - 1, 8 * WORLD_S));
        CHECK_EQ_U64(world.counts.unreachable, len - 1);
        CHECK_EQ_U64(world.counts.false_downs, 0);
        world_fini(&world);
    }
}

static void a_node_that_vanishes_silently_is_removed(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 100});
    world_kill(&world, 42, true);
    CHECK(world_settle(&world, 99, 20 * WORLD_S));
    CHECK_EQ_U64(world.counts.false_downs, 0);
    CHECK_EQ_U64(world.counts.unreachable_mask, UINT64_C(1) << 42);
    world_fini(&world);
}

static void a_quiet_cluster_stays_quiet(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 30});
    world_run(&world, 10 * WORLD_S); /* The news of the joining dies away. */
    uint64_t sent = trp_sim_stats(world.sim)->sent;
    uint64_t bytes = trp_sim_stats(world.sim)->bytes;
    uint64_t syncs = trp_cluster_core_stats(world.processes[7].core)->syncs;
    world_run(&world, 60 * WORLD_S);
    sent = trp_sim_stats(world.sim)->sent - sent;
    bytes = trp_sim_stats(world.sim)->bytes - bytes;
    /* A probe and its answer every half second a node, and nothing else. */
    CHECK_LE_U64(sent, 30 * 60 * 2 * 2 + 60);
    /* Head of the simulated link 17 bytes; what gossip adds to a probe is a digest. */
    CHECK_LE_U64(bytes / sent, 17 + 64);
    CHECK_EQ_U64(trp_cluster_core_stats(world.processes[7].core)->syncs, syncs);
    CHECK_EQ_U64(world.counts.suspected_mask, 0);
    nobody_was_hurt(&world);
    world_fini(&world);
}

static void pauses_of_two_seconds_in_ten_remove_nobody(void)
{
    uint64_t runs = check_count(5, 50);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        whole(&world, (world_options_t){.seed = base_seed() + i, .len = i % 2 == 0 ? 3 : 10});
        for (size_t round = 0; round < 10; round++) {
            size_t victim = i % 3;
            trp_sim_pause(world.sim, victim);
            world_run(&world, 2 * WORLD_S);
            trp_sim_resume(world.sim, victim);
            world_run(&world, 8 * WORLD_S);
        }
        nobody_was_hurt(&world);
        CHECK(world_settle(&world, world.options.len, 2 * WORLD_S));
        CHECK_GE_U64(trp_cluster_core_stats(world.processes[i % 3].core)->starved, 10);
        world_fini(&world);
    }
}

/* All processes get little time: each is stopped and let go at random, as on a machine that is busy
 * with something else. */
static void starved_nodes_keep_each_other(void)
{
    uint64_t runs = check_count(5, 50);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        whole(&world, (world_options_t){.seed = base_seed() + i, .len = 8});
        for (size_t round = 0; round < 200; round++) {
            size_t victim = trp_random_below(trp_sim_random(world.sim), 8);
            trp_sim_pause(world.sim, victim);
            world_run(&world, trp_random_below(trp_sim_random(world.sim), 700) * WORLD_MS);
            trp_sim_resume(world.sim, victim);
        }
        nobody_was_hurt(&world);
        world_fini(&world);
    }
}

static void a_step_that_comes_late_worsens_health_and_blames_nobody(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 5});
    world.counts.suspected_mask = 0;
    trp_sim_pause(world.sim, 2);
    world_run(&world, 1500 * WORLD_MS);
    trp_sim_resume(world.sim, 2);
    world_run(&world, 50 * WORLD_MS);
    CHECK_GE_U64(trp_cluster_core_health(world.processes[2].core), 1);
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ_U64(world_member(&world, 2, i)->reach, TRP_REACHABLE);
    }
    CHECK_EQ_U64(world.counts.suspected_mask & ~(UINT64_C(1) << 2), 0);
    world_run(&world, 20 * WORLD_S);
    CHECK_EQ_U64(trp_cluster_core_health(world.processes[2].core), 0);
    nobody_was_hurt(&world);
    world_fini(&world);
}

static void thirty_percent_loss_downs_nobody(void)
{
    uint64_t runs = check_count(5, 50);
    for (uint64_t i = 0; i < runs; i++) {
        world_t world;
        whole(&world, (world_options_t){.seed = base_seed() + i, .len = 20});
        trp_sim_network_t network = {
            .delay_min = WORLD_MS, .delay_max = 30 * WORLD_MS, .loss = 0.3, .duplication = 0.05};
        trp_sim_set_network(world.sim, &network);
        world_run(&world, 120 * WORLD_S);
        nobody_was_hurt(&world);
        trp_sim_set_network(world.sim, &world.options.network);
        CHECK(world_settle(&world, 20, 20 * WORLD_S));
        world_fini(&world);
    }
}

static void a_slow_network_downs_nobody(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 10});
    trp_sim_network_t network = {.delay_min = 60 * WORLD_MS, .delay_max = 250 * WORLD_MS};
    trp_sim_set_network(world.sim, &network);
    world_run(&world, 120 * WORLD_S);
    nobody_was_hurt(&world);
    world_fini(&world);
}

static void a_one_way_cut_between_two_disturbs_nobody(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 5});
    trp_sim_cut(world.sim, 1, 3, true);
    world_run(&world, 60 * WORLD_S);
    nobody_was_hurt(&world);
    CHECK_EQ_U64(world.counts.unreachable, 0);
    CHECK_GE_U64(world.counts.notes[TRP_NOTE_INDIRECT_ONLY], 1);
    CHECK(world_settle(&world, 5, 5 * WORLD_S));
    world_fini(&world);
}

static void a_cut_between_two_of_five_is_stable_and_lets_others_join(void)
{
    for (size_t cut = 0; cut < 2; cut++) { /* Also when it is the leader who is cut off from one. */
        world_t world;
        world_init(&world, &(world_options_t){.seed = base_seed() + cut, .len = 7, .seeds_len = 3});
        for (size_t i = 0; i < 5; i++) {
            world_start(&world, i);
        }
        REQUIRE(world_settle(&world, 5, 10 * WORLD_S));
        size_t a = cut;
        trp_sim_cut(world.sim, a, 3, true);
        trp_sim_cut(world.sim, 3, a, true);
        world_run(&world, 30 * WORLD_S);
        nobody_was_hurt(&world);
        CHECK_EQ_U64(world.counts.unreachable, 0);
        world_start(&world, 5);
        CHECK(world_settle(&world, 6, 15 * WORLD_S));
        world_start(&world, 6);
        CHECK(world_settle(&world, 7, 15 * WORLD_S));
        CHECK_EQ_U64(world.counts.false_downs, 0);
        world_fini(&world);
    }
}

static void only_a_node_that_hears_nothing_is_suspected(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 60, .no_restart = true});
    for (size_t i = 0; i < 60; i++) {
        trp_sim_cut(world.sim, i, 13, true); /* It can still send. */
    }
    world.counts.suspected_mask = 0;
    world.counts.unreachable_mask = 0;
    uint64_t others = 0;
    for (size_t step = 0; step < 400; step++) {
        world_run(&world, 50 * WORLD_MS);
        for (size_t viewer = 0; viewer < 60; viewer++) {
            for (size_t about = 0; viewer != 13 && about < 60; about++) {
                const trp_member_t *member = world_member(&world, viewer, about);
                others += about != 13 && member != NULL && member->reach != TRP_REACHABLE ? 1 : 0;
            }
        }
    }
    CHECK_EQ_U64(others, 0);
    CHECK(world_settle(&world, 59, 10 * WORLD_S));
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_SPLIT] + world.counts.stops[TRP_STOP_DOWNED], 1);
    world_fini(&world);
}

static void clocks_that_jump_disturb_nobody(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 6});
    for (size_t i = 0; i < 20; i++) {
        size_t victim = trp_random_below(trp_sim_random(world.sim), 6);
        int64_t by = (int64_t)trp_random_below(trp_sim_random(world.sim), 600) - 100;
        trp_sim_skew(world.sim, victim, by * (int64_t)WORLD_S / 10);
        world_run(&world, 3 * WORLD_S);
    }
    nobody_was_hurt(&world);
    CHECK_EQ_U64(world.counts.unreachable, 0);
    world_fini(&world);
}

static void a_downed_node_that_wakes_up_rejoins_with_a_new_uid(void)
{
    for (size_t victim = 0; victim < 5; victim += 4) {
        world_t world;
        whole(&world, (world_options_t){.seed = base_seed(), .len = 5});
        uint64_t uid = world.processes[victim].uid;
        trp_sim_pause(world.sim, victim);
        world_run(&world, 15 * WORLD_S);
        CHECK_EQ_U64(world.counts.removed, 4);
        trp_sim_resume(world.sim, victim);
        CHECK(world_settle(&world, 5, 10 * WORLD_S));
        CHECK_NE_U64(world.processes[victim].uid, uid);
        CHECK_EQ_U64(world.counts.stops[TRP_STOP_DOWNED] + world.counts.stops[TRP_STOP_SPLIT], 1);
        CHECK_EQ_U64(world_clusters(&world), 1);
        world_fini(&world);
    }
}

static void an_operator_can_down_a_member(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 4, .no_restart = true});
    CHECK_ERR(trp_cluster_core_down(world.processes[1].core, trp_sim_node_now(world.sim, 1), 5),
              TROUPE_ENOENT);
    CHECK_ERR(trp_cluster_core_down(world.processes[1].core, trp_sim_node_now(world.sim, 1),
                                    world.processes[1].uid),
              TROUPE_EPERM);
    CHECK_OK(trp_cluster_core_down(world.processes[1].core, trp_sim_node_now(world.sim, 1),
                                   world.processes[2].uid));
    REQUIRE_OK(trp_sim_wake(world.sim, 1, trp_cluster_core_wakeup(world.processes[1].core)));
    CHECK(world_settle(&world, 3, 5 * WORLD_S));
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_DOWNED], 1);
    world_fini(&world);
}

static void a_node_joins_while_another_is_unreachable(void)
{
    world_t world;
    world_init(&world, &(world_options_t){.seed = base_seed(), .len = 4, .seeds_len = 3});
    for (size_t i = 0; i < 3; i++) {
        world_start(&world, i);
    }
    REQUIRE(world_settle(&world, 3, 10 * WORLD_S));
    world_kill(&world, 1, false);
    world_kill(&world, 2, false);
    world_run(&world, 2500 * WORLD_MS);
    CHECK_EQ_U64(world_member(&world, 0, 2)->reach, TRP_UNREACHABLE);
    world_start(&world, 1);
    world_run(&world, 1000 * WORLD_MS);
    /* One of the three has gone for certain, so two count, and the lower address wins. */
    const trp_member_t *member = world_member(&world, 0, 1);
    CHECK(member != NULL &&
          (member->state == TROUPE_MEMBER_WEAKLY_UP || member->state == TROUPE_MEMBER_UP));
    CHECK(world_settle(&world, 2, 10 * WORLD_S));
    CHECK_EQ_U64(world.counts.stops[TRP_STOP_SPLIT], 0);
    world_fini(&world);
}

static void leaving_nodes_that_die_hold_nobody_up(void)
{
    world_t world;
    world_options_t options = {.seed = base_seed(), .len = 120, .seeds_len = 3};
    world_init(&world, &options);
    for (size_t i = 0; i < 115; i++) {
        world_start(&world, i);
    }
    REQUIRE(world_settle(&world, 115, 30 * WORLD_S));
    for (size_t i = 50; i < 62; i++) {
        world_leave(&world, i);
        world_kill(&world, i, i % 2 == 0);
    }
    for (size_t i = 115; i < 120; i++) {
        world_start(&world, i);
    }
    CHECK(world_settle(&world, 108, 40 * WORLD_S));
    world_fini(&world);
}

static void a_killed_leader_is_succeeded(void)
{
    world_t world;
    whole(&world, (world_options_t){.seed = base_seed(), .len = 5});
    world_kill(&world, 0, false);
    CHECK(world_settle(&world, 4, 10 * WORLD_S));
    CHECK_EQ_U64(trp_cluster_core_leader(world.processes[3].core), world.processes[1].uid);
    world_fini(&world);
}

/* Anything may happen for a while; then all is quiet, and all views must be equal again. */
static void chaos(uint64_t seed, size_t len)
{
    world_t world;
    world_options_t options = {.seed = seed, .len = len, .seeds_len = 3, .keep_peers = true};
    world_init(&world, &options);
    trp_random_t *random = trp_sim_random(world.sim);
    world_start_all(&world);
    for (size_t step = 0; step < 60; step++) {
        size_t node = trp_random_below(random, len);
        bool runs = world.processes[node].core != NULL;
        switch (trp_random_below(random, 9)) {
        case 0:
            world_kill(&world, node, false);
            break;
        case 1:
            if (runs) {
                trp_sim_pause(world.sim, node);
            }
            break;
        case 2:
            trp_sim_resume(world.sim, node);
            break;
        case 3:
            if (runs) {
                world_leave(&world, node);
            }
            break;
        case 4:
            trp_sim_cut(world.sim, node, trp_random_below(random, len), true);
            break;
        case 5:
            trp_sim_heal(world.sim);
            break;
        default:
            if (!runs) {
                world_start(&world, node);
            }
            break;
        }
        world_run(&world, trp_random_below(random, 2000) * WORLD_MS);
    }
    trp_sim_heal(world.sim);
    for (size_t i = 0; i < len; i++) {
        trp_sim_resume(world.sim, i);
    }
    world_run(&world, 12 * WORLD_S);
    for (size_t i = 0; i < len; i++) {
        if (world.processes[i].core == NULL) {
            world_start(&world, i);
        }
    }
    if (!CHECK(world_settle(&world, len, 60 * WORLD_S)) ||
        !CHECK_EQ_U64(world_clusters(&world), 1)) {
        CHECK_FAIL("chaos with seed %" PRIu64 " and %zu nodes", seed, len);
    }
    world_fini(&world);
}

static void after_chaos_and_quiet_all_views_are_equal(void)
{
    uint64_t runs = check_count(40, 400);
    for (uint64_t i = 0; i < runs; i++) {
        chaos(base_seed() + i, 4 + i % 8);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(a_killed_node_is_found_within_two_seconds),
    CHECK_CASE(a_node_that_vanishes_silently_is_removed),
    CHECK_CASE(a_quiet_cluster_stays_quiet),
    CHECK_CASE(pauses_of_two_seconds_in_ten_remove_nobody),
    CHECK_CASE(starved_nodes_keep_each_other),
    CHECK_CASE(a_step_that_comes_late_worsens_health_and_blames_nobody),
    CHECK_CASE(thirty_percent_loss_downs_nobody),
    CHECK_CASE(a_slow_network_downs_nobody),
    CHECK_CASE(a_one_way_cut_between_two_disturbs_nobody),
    CHECK_CASE(a_cut_between_two_of_five_is_stable_and_lets_others_join),
    CHECK_CASE(only_a_node_that_hears_nothing_is_suspected),
    CHECK_CASE(clocks_that_jump_disturb_nobody),
    CHECK_CASE(a_downed_node_that_wakes_up_rejoins_with_a_new_uid),
    CHECK_CASE(an_operator_can_down_a_member),
    CHECK_CASE(a_node_joins_while_another_is_unreachable),
    CHECK_CASE(leaving_nodes_that_die_hold_nobody_up),
    CHECK_CASE(a_killed_leader_is_succeeded),
    CHECK_CASE(after_chaos_and_quiet_all_views_are_equal),
};

CHECK_MAIN("sim.cluster_faults", cases)
