/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The simulated world itself. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "sim/sim.h"
#include "support/check.h"

#define NODES 4
#define MS TRP_NS_PER_MS

/* What happened in the world under test. */
static struct {
    trp_sim_t *sim;
    size_t messages[NODES];
    size_t wakes[NODES];
    uint64_t last_now[NODES];
    uint8_t order[256];
    size_t order_len;
    size_t calls;
    bool sends_back;
} world;

static void on_message(void *user, size_t node, uint64_t now, size_t from, const void *data,
                       size_t size)
{
    (void)user;
    world.messages[node]++;
    world.last_now[node] = now;
    if (world.order_len < sizeof(world.order)) {
        world.order[world.order_len] = ((const uint8_t *)data)[0];
        world.order_len++;
    }
    if (world.sends_back) {
        REQUIRE_OK(trp_sim_send(world.sim, node, from, data, size));
    }
}

static void on_wake(void *user, size_t node, uint64_t now)
{
    (void)user;
    world.wakes[node]++;
    world.last_now[node] = now;
}

static void on_call(void *user, uint64_t arg)
{
    (void)user;
    world.calls += arg;
}

static void begin(const trp_sim_network_t *network, uint64_t seed)
{
    memset(&world, 0, sizeof(world));
    trp_sim_options_t options = {.seed = seed,
                                 .nodes_len = NODES,
                                 .network = *network,
                                 .on_message = on_message,
                                 .on_wake = on_wake};
    REQUIRE_OK(trp_sim_create(&options, &world.sim));
    for (size_t i = 0; i < NODES; i++) {
        trp_sim_start(world.sim, i);
    }
}

static void end(void)
{
    trp_sim_destroy(&world.sim);
    CHECK_NULL(world.sim);
    trp_sim_destroy(&world.sim);
}

static const trp_sim_network_t calm = {.delay_min = MS, .delay_max = MS};

static void send(size_t from, size_t to, uint8_t byte)
{
    REQUIRE_OK(trp_sim_send(world.sim, from, to, &byte, 1));
}

static void options_are_checked(void)
{
    trp_sim_t *sim = NULL;
    trp_sim_options_t options = {.nodes_len = 0};
    CHECK_ERR(trp_sim_create(&options, &sim), TROUPE_EINVAL);
    options.nodes_len = 1;
    options.network.delay_min = 2;
    options.network.delay_max = 1;
    CHECK_ERR(trp_sim_create(&options, &sim), TROUPE_EINVAL);
}

static void messages_arrive_after_their_delay(void)
{
    begin(&calm, 1);
    send(0, 1, 7);
    CHECK_OK(trp_sim_run(world.sim, MS - 1));
    CHECK_EQ_U64(world.messages[1], 0);
    CHECK_OK(trp_sim_run(world.sim, 1));
    CHECK_EQ_U64(world.messages[1], 1);
    CHECK_EQ_U64(trp_sim_stats(world.sim)->delivered, 1);
    CHECK_EQ_U64(trp_sim_stats(world.sim)->bytes, 1);
    end();
}

static void order_is_kept_when_asked_for(void)
{
    for (size_t ordered = 0; ordered < 2; ordered++) {
        trp_sim_network_t network = {.delay_max = 50 * MS, .in_order = ordered == 1};
        begin(&network, 3);
        for (uint8_t i = 0; i < 100; i++) {
            send(0, 1, i);
        }
        CHECK_OK(trp_sim_run(world.sim, TRP_NS_PER_S));
        CHECK_EQ_U64(world.messages[1], 100);
        size_t inversions = 0;
        for (size_t i = 1; i < 100; i++) {
            inversions += world.order[i] < world.order[i - 1] ? 1 : 0;
        }
        if (ordered == 1) {
            CHECK_EQ_U64(inversions, 0);
        } else {
            CHECK_GT_U64(inversions, 0);
        }
        end();
    }
}

static void some_are_lost_and_some_doubled(void)
{
    trp_sim_network_t network = {.delay_max = MS, .loss = 0.3, .duplication = 0.2};
    begin(&network, 4);
    for (size_t i = 0; i < 10000; i++) {
        send(0, 1, 1);
    }
    CHECK_OK(trp_sim_run(world.sim, TRP_NS_PER_S));
    const trp_sim_stats_t *stats = trp_sim_stats(world.sim);
    CHECK_NEAR((double)stats->lost, 3000.0, 200.0);
    CHECK_NEAR((double)stats->duplicated, 1400.0, 200.0);
    CHECK_EQ_U64(stats->delivered, stats->sent - stats->lost + stats->duplicated);
    end();
}

static void a_cut_works_one_way(void)
{
    begin(&calm, 1);
    trp_sim_cut(world.sim, 0, 1, true);
    send(0, 1, 1);
    send(1, 0, 1);
    CHECK_OK(trp_sim_run(world.sim, 10 * MS));
    CHECK_EQ_U64(world.messages[1], 0);
    CHECK_EQ_U64(world.messages[0], 1);
    trp_sim_cut(world.sim, 0, 1, false);
    send(0, 1, 1);
    CHECK_OK(trp_sim_run(world.sim, 10 * MS));
    CHECK_EQ_U64(world.messages[1], 1);
    end();
}

static void a_partition_separates_groups(void)
{
    static const uint32_t groups[NODES] = {0, 0, 1, 1};
    begin(&calm, 1);
    send(0, 2, 1); /* Under way when the network breaks: lost too. */
    trp_sim_partition(world.sim, groups);
    send(0, 1, 1);
    send(2, 3, 1);
    send(1, 3, 1);
    CHECK_OK(trp_sim_run(world.sim, 10 * MS));
    CHECK_EQ_U64(world.messages[1] + world.messages[3], 2);
    CHECK_EQ_U64(world.messages[2], 0);
    trp_sim_heal(world.sim);
    CHECK(trp_sim_can_reach(world.sim, 0, 2));
    end();
}

static void only_the_last_wake_up_counts(void)
{
    begin(&calm, 1);
    uint64_t now = trp_sim_node_now(world.sim, 0);
    REQUIRE_OK(trp_sim_wake(world.sim, 0, now + 5 * MS));
    REQUIRE_OK(trp_sim_wake(world.sim, 0, now + 9 * MS));
    REQUIRE_OK(trp_sim_wake(world.sim, 1, now + 5 * MS));
    REQUIRE_OK(trp_sim_wake(world.sim, 1, TRP_CLOCK_NEVER));
    CHECK_OK(trp_sim_run(world.sim, 20 * MS));
    CHECK_EQ_U64(world.wakes[0], 1);
    CHECK_EQ_U64(world.last_now[0], now + 9 * MS);
    CHECK_EQ_U64(world.wakes[1], 0);
    end();
}

static void a_paused_node_gets_all_when_it_resumes(void)
{
    begin(&calm, 1);
    trp_sim_pause(world.sim, 1);
    send(0, 1, 1);
    send(0, 1, 2);
    REQUIRE_OK(trp_sim_wake(world.sim, 1, trp_sim_now(world.sim) + MS));
    CHECK_OK(trp_sim_run(world.sim, 100 * MS));
    CHECK_EQ_U64(world.messages[1] + world.wakes[1], 0);
    trp_sim_resume(world.sim, 1);
    CHECK_OK(trp_sim_run(world.sim, MS));
    CHECK_EQ_U64(world.messages[1], 2);
    CHECK_EQ_U64(world.wakes[1], 1);
    CHECK_EQ_U64(world.order[0], 1);
    end();
}

static void the_dead_get_nothing(void)
{
    begin(&calm, 1);
    send(0, 1, 1);
    REQUIRE_OK(trp_sim_wake(world.sim, 1, trp_sim_now(world.sim) + MS));
    trp_sim_kill(world.sim, 1);
    trp_sim_start(world.sim, 1); /* A later life doesn't get the earlier one's mail. */
    CHECK_OK(trp_sim_run(world.sim, 10 * MS));
    CHECK_EQ_U64(world.messages[1] + world.wakes[1], 0);
    CHECK(trp_sim_is_alive(world.sim, 1));
    end();
}

static void clocks_may_differ(void)
{
    begin(&calm, 1);
    uint64_t now = trp_sim_now(world.sim);
    REQUIRE_OK(trp_sim_wake(world.sim, 0, now + 100 * MS));
    trp_sim_skew(world.sim, 0, (int64_t)(60 * MS));
    CHECK_EQ_U64(trp_sim_node_now(world.sim, 0), now + 60 * MS);
    CHECK_OK(trp_sim_run(world.sim, 41 * MS));
    CHECK_EQ_U64(world.wakes[0], 1);
    end();
}

static void calls_happen_at_their_time(void)
{
    begin(&calm, 1);
    REQUIRE_OK(trp_sim_call(world.sim, 5 * MS, on_call, 3));
    CHECK_OK(trp_sim_run(world.sim, 4 * MS));
    CHECK_EQ_U64(world.calls, 0);
    CHECK_OK(trp_sim_run(world.sim, MS));
    CHECK_EQ_U64(world.calls, 3);
    end();
}

static uint64_t trace_of(uint64_t seed)
{
    trp_sim_network_t network = {.delay_max = 20 * MS, .loss = 0.1, .duplication = 0.1};
    begin(&network, seed);
    world.sends_back = true;
    for (uint8_t i = 0; i < 20; i++) {
        send(i % NODES, (i + 1u) % NODES, i);
    }
    CHECK_OK(trp_sim_run(world.sim, TRP_NS_PER_S));
    uint64_t trace = trp_sim_trace(world.sim);
    end();
    return trace;
}

static void a_seed_repeats_everything(void)
{
    CHECK_EQ_U64(trace_of(5), trace_of(5));
    CHECK_NE_U64(trace_of(5), trace_of(6));
}

static bool has_five(void *user)
{
    (void)user;
    return world.messages[1] >= 5;
}

static void a_run_ends_when_its_condition_holds(void)
{
    begin(&calm, 1);
    for (uint8_t i = 0; i < 5; i++) {
        send(0, 1, i);
    }
    CHECK(trp_sim_run_until(world.sim, 100 * MS, MS, has_five));
    CHECK_FALSE(trp_sim_now(world.sim) > UINT64_C(3600) * TRP_NS_PER_S + 3 * MS);
    world.messages[1] = 0;
    CHECK_FALSE(trp_sim_run_until(world.sim, 10 * MS, MS, has_five));
    end();
}

static void the_seed_can_come_from_outside(void)
{
    CHECK_EQ_I64(setenv("TROUPE_SIM_SEED", "0x10", 1), 0);
    CHECK_EQ_U64(trp_sim_seed_from_env(3), 16);
    CHECK_EQ_I64(unsetenv("TROUPE_SIM_SEED"), 0);
    CHECK_EQ_U64(trp_sim_seed_from_env(3), 3);
}

static troupe_err_t want_step(void *user)
{
    trp_sim_options_t options = {.seed = 1,
                                 .nodes_len = NODES,
                                 .network = calm,
                                 .on_message = on_message,
                                 .on_wake = on_wake};
    (void)user;
    memset(&world, 0, sizeof(world));
    troupe_err_t err = trp_sim_create(&options, &world.sim);
    for (size_t i = 0; err == TROUPE_OK && i < 40; i++) {
        if (i < NODES) {
            trp_sim_start(world.sim, i);
        }
        err = trp_sim_send(world.sim, 0, 1, "x", 1);
    }
    if (err == TROUPE_OK) {
        err = trp_sim_run(world.sim, 10 * MS);
    }
    trp_sim_destroy(&world.sim);
    return err;
}

static void want_of_memory_is_told(void)
{
    CHECK_ALLOCATIONS(want_step, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(options_are_checked),
    CHECK_CASE(messages_arrive_after_their_delay),
    CHECK_CASE(order_is_kept_when_asked_for),
    CHECK_CASE(some_are_lost_and_some_doubled),
    CHECK_CASE(a_cut_works_one_way),
    CHECK_CASE(a_partition_separates_groups),
    CHECK_CASE(only_the_last_wake_up_counts),
    CHECK_CASE(a_paused_node_gets_all_when_it_resumes),
    CHECK_CASE(the_dead_get_nothing),
    CHECK_CASE(clocks_may_differ),
    CHECK_CASE(calls_happen_at_their_time),
    CHECK_CASE(a_seed_repeats_everything),
    CHECK_CASE(a_run_ends_when_its_condition_holds),
    CHECK_CASE(the_seed_can_come_from_outside),
    CHECK_CASE(want_of_memory_is_told),
};

CHECK_MAIN("sim.sim", cases)
