/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Routers of all five kinds, of groups and pools. */

#include <string.h>

#include "support/runtime.h"

#define ROUTEES 5u

static stage_t stage;
static probe_t owner;
static probe_t routees[ROUTEES];
static troupe_ref_t refs[ROUTEES];
static troupe_ref_t owner_ref;
static troupe_ref_t router_ref;

static uint64_t key_of(const troupe_message_t *message)
{
    uint64_t number = 0;
    memcpy(&number, message->body, sizeof(number));
    return number % 100;
}

static void begin(uint32_t place_of_all)
{
    owner = (probe_t){0};
    memset(routees, 0, sizeof(routees));
    stage_open(&stage, NULL);
    owner_ref = stage_puppet_at(&stage, &owner, 0);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        refs[i] = stage_puppet_at(
            &stage, &routees[i], place_of_all == UINT32_MAX ? i % STAGE_DISPATCHERS : place_of_all);
    }
}

static troupe_err_t spawn_group(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_router_options_t options = TROUPE_ROUTER_OPTIONS_INIT;
    (void)probe;
    options.route = *(troupe_route_t *)argument;
    options.name = "router";
    options.routees = refs;
    options.routees_len = ROUTEES;
    options.hash_key = key_of;
    return troupe_router_spawn(self, &options, &router_ref);
}

static void begin_group(troupe_route_t route)
{
    begin(UINT32_MAX);
    CHECK_OK(stage_do(&stage, owner_ref, spawn_group, &route));
}

static uint64_t routees_count(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < ROUTEES; i++) {
        count += probe_count(&routees[i], PROBE_MESSAGE);
    }
    return count;
}

static void send_numbers(uint64_t len)
{
    for (uint64_t i = 0; i < len; i++) {
        stage_tell(&stage, router_ref, i);
    }
}

/* ---- routes ---------------------------------------------------------------------------------- */

static void a_round_robin_gives_each_its_turn(void)
{
    begin_group(TROUPE_ROUTE_ROUND_ROBIN);
    send_numbers(10 * ROUTEES);
    CHECK_EVENTUALLY(routees_count() == 10 * ROUTEES, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        for (uint32_t k = 0; k < 10; k++) {
            CHECK_EQ_U64(probe_at(&routees[i], PROBE_MESSAGE, k).value, k * ROUTEES + i);
        }
    }
    stage_close(&stage);
}

static void a_random_route_leaves_nobody_out(void)
{
    begin_group(TROUPE_ROUTE_RANDOM);
    send_numbers(500);
    CHECK_EVENTUALLY(routees_count() == 500, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        CHECK_GT_U64(probe_count(&routees[i], PROBE_MESSAGE), 40);
    }
    stage_close(&stage);
}

static void a_broadcast_goes_to_all(void)
{
    begin_group(TROUPE_ROUTE_BROADCAST);
    send_numbers(50);
    CHECK_EVENTUALLY(routees_count() == 50 * ROUTEES, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        for (uint32_t k = 0; k < 50; k++) {
            CHECK_EQ_U64(probe_at(&routees[i], PROBE_MESSAGE, k).value, k);
        }
    }
    stage_close(&stage);
}

/* Whose is the key; ROUTEES when more than one had it. */
static uint32_t owner_of_key(uint64_t key)
{
    uint32_t found = ROUTEES + 1;
    for (uint32_t i = 0; i < ROUTEES; i++) {
        for (uint32_t k = 0; k < probe_count(&routees[i], PROBE_MESSAGE); k++) {
            if (probe_at(&routees[i], PROBE_MESSAGE, k).value % 100 == key) {
                found = found == ROUTEES + 1 || found == i ? i : ROUTEES;
            }
        }
    }
    return found;
}

static void a_key_has_one_routee_and_a_death_moves_only_its_keys(void)
{
    uint32_t before[100];
    begin_group(TROUPE_ROUTE_CONSISTENT_HASH);
    send_numbers(200);
    CHECK_EVENTUALLY(routees_count() == 200, STAGE_PATIENCE_MS);
    for (uint64_t key = 0; key < 100; key++) {
        before[key] = owner_of_key(key);
        CHECK_LT_U64(before[key], ROUTEES);
    }
    troupe_port_kill(stage.port, refs[2]);
    CHECK_TRUE(stage_is_gone(&stage, refs[2]));
    STAGE_QUIET(&stage);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        probe_clear(&routees[i]);
    }
    send_numbers(200);
    CHECK_EVENTUALLY(routees_count() == 200, STAGE_PATIENCE_MS);
    for (uint64_t key = 0; key < 100; key++) {
        uint32_t now = owner_of_key(key);
        CHECK_NE_U64(now, 2);
        if (before[key] != 2) {
            CHECK_EQ_U64(now, before[key]);
        }
    }
    stage_close(&stage);
}

static troupe_err_t hold_long(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    return troupe_hold(self, 3600000);
}

static troupe_err_t release_and_answer(troupe_actor_t *self, probe_t *probe,
                                       const troupe_message_t *message)
{
    (void)probe;
    return troupe_reply(self, message->type, message->body, message->size);
}

/* Routee 3 holds and so does not empty its mailbox: once it has one message, the others get the rest. */
static void the_smallest_mailbox_is_chosen(void)
{
    troupe_route_t route = TROUPE_ROUTE_SMALLEST_MAILBOX;
    trp_runtime_options_t one = {.dispatchers = 1}; /* Of others the length is not known. */
    owner = (probe_t){0};
    memset(routees, 0, sizeof(routees));
    stage_open(&stage, &one);
    owner_ref = stage_puppet(&stage, &owner, NULL);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        refs[i] = stage_puppet(&stage, &routees[i], NULL);
    }
    CHECK_OK(stage_do(&stage, owner_ref, spawn_group, &route));
    CHECK_OK(stage_do(&stage, refs[3], hold_long, NULL));
    for (uint64_t i = 0; i < 100; i++) {
        stage_tell(&stage, router_ref, i);
        CHECK_EVENTUALLY(routees_count() >= i, STAGE_PATIENCE_MS);
    }
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(routees_count(), 99);
    stage_close(&stage);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static troupe_err_t spawn_pool(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_router_options_t options = TROUPE_ROUTER_OPTIONS_INIT;
    puppet_args_t args = {&routees[0]};
    (void)probe;
    (void)argument;
    options.route = TROUPE_ROUTE_ROUND_ROBIN;
    options.behavior = &puppet_behavior;
    options.args = &args;
    options.args_size = sizeof(args);
    options.routees_len = 4;
    return troupe_router_spawn(self, &options, &router_ref);
}

static void a_pool_s_router_spawns_its_routees_and_takes_them_along(void)
{
    begin(0);
    probe_clear(&routees[0]);
    CHECK_OK(stage_do(&stage, owner_ref, spawn_pool, NULL));
    send_numbers(40);
    CHECK_EVENTUALLY(routees_count() == 40, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&routees[0], PROBE_INIT), 4);
    troupe_port_kill(stage.port, router_ref);
    CHECK_TRUE(stage_is_gone(&stage, router_ref));
    CHECK_EQ_U64(probe_count(&routees[0], PROBE_STOP), 4);
    stage_close(&stage);
}

/* ---- routees come and go --------------------------------------------------------------------- */

static troupe_err_t change_routee(troupe_actor_t *self, probe_t *probe, void *argument)
{
    uint32_t at = *(uint32_t *)argument;
    (void)probe;
    return at < ROUTEES ? troupe_router_remove(self, router_ref, refs[at])
                        : troupe_router_add(self, router_ref, refs[at - ROUTEES]);
}

static void routees_are_added_and_removed(void)
{
    uint32_t order = 0;
    begin_group(TROUPE_ROUTE_ROUND_ROBIN);
    for (order = 1; order < ROUTEES; order++) {
        CHECK_OK(stage_do(&stage, owner_ref, change_routee, &order));
    }
    STAGE_QUIET(&stage);
    send_numbers(10);
    CHECK_EVENTUALLY(probe_count(&routees[0], PROBE_MESSAGE) == 10, STAGE_PATIENCE_MS);
    order = ROUTEES + 4;
    CHECK_OK(stage_do(&stage, owner_ref, change_routee, &order));
    CHECK_OK(stage_do(&stage, owner_ref, change_routee, &order)); /* Twice is once. */
    STAGE_QUIET(&stage);
    send_numbers(10);
    CHECK_EVENTUALLY(routees_count() == 20, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&routees[4], PROBE_MESSAGE), 5);
    stage_close(&stage);
}

static troupe_err_t ask_router(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    uint64_t number = 1;
    return troupe_ask(self, router_ref, TROUPE_TYPE_BYTES, &number, sizeof(number), 3600000,
                      puppet_reply, NULL);
}

static void without_routees_messages_are_dead_letters_and_asks_fail(void)
{
    begin_group(TROUPE_ROUTE_BROADCAST);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        troupe_port_kill(stage.port, refs[i]);
        CHECK_TRUE(stage_is_gone(&stage, refs[i]));
    }
    STAGE_QUIET(&stage);
    send_numbers(10);
    CHECK_EVENTUALLY(stage_stats(&stage).user.dropped[TROUPE_DROP_NO_ACTOR] == 10,
                     STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, owner_ref, ask_router, NULL));
    CHECK_EVENTUALLY(probe_count(&owner, PROBE_REPLY) == 1, STAGE_PATIENCE_MS);
    CHECK_ERR(probe_at(&owner, PROBE_REPLY, 0).error, TROUPE_ENOACTOR);
    stage_close(&stage);
}

static void an_ask_through_a_router_is_answered_by_a_routee(void)
{
    begin_group(TROUPE_ROUTE_ROUND_ROBIN);
    for (uint32_t i = 0; i < ROUTEES; i++) {
        routees[i].on_message = release_and_answer;
    }
    for (uint64_t i = 0; i < ROUTEES; i++) {
        CHECK_OK(stage_do(&stage, owner_ref, ask_router, NULL));
        CHECK_EVENTUALLY(probe_count(&owner, PROBE_REPLY) == i + 1, STAGE_PATIENCE_MS);
        CHECK_OK(probe_at(&owner, PROBE_REPLY, (uint32_t)i).error);
        CHECK_TRUE(troupe_ref_equal(probe_at(&owner, PROBE_REPLY, (uint32_t)i).who, refs[i]));
    }
    stage_close(&stage);
}

static troupe_err_t spawn_bad(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_router_options_t options = TROUPE_ROUTER_OPTIONS_INIT;
    troupe_ref_t ref;
    (void)probe;
    (void)argument;
    CHECK_ERR(troupe_router_spawn(self, NULL, &ref), TROUPE_EINVAL);
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL); /* No route. */
    options.route = (troupe_route_t)99;
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL);
    options.route = TROUPE_ROUTE_CONSISTENT_HASH;
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL); /* No key. */
    options.route = TROUPE_ROUTE_RANDOM;
    options.routees_len = 2;
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL);
    options.routees = refs;
    options.behavior = &puppet_behavior;
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL);
    options.behavior = NULL;
    options.routees_len = TROUPE_ROUTEES_MAX + 1;
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL);
    options.size--;
    options.routees_len = 2;
    CHECK_ERR(troupe_router_spawn(self, &options, &ref), TROUPE_EINVAL);
    return TROUPE_OK;
}

static void routers_that_make_no_sense_are_refused(void)
{
    begin(0);
    CHECK_OK(stage_do(&stage, owner_ref, spawn_bad, NULL));
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_round_robin_gives_each_its_turn),
    CHECK_CASE(a_random_route_leaves_nobody_out),
    CHECK_CASE(a_broadcast_goes_to_all),
    CHECK_CASE(a_key_has_one_routee_and_a_death_moves_only_its_keys),
    CHECK_CASE(the_smallest_mailbox_is_chosen),
    CHECK_CASE(a_pool_s_router_spawns_its_routees_and_takes_them_along),
    CHECK_CASE(routees_are_added_and_removed),
    CHECK_CASE(without_routees_messages_are_dead_letters_and_asks_fail),
    CHECK_CASE(an_ask_through_a_router_is_answered_by_a_routee),
    CHECK_CASE(routers_that_make_no_sense_are_refused),
};

CHECK_MAIN("actor.router", cases)
