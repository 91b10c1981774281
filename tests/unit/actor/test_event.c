/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The event stream: dead letters, failures, slow receives. */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t listener;
static probe_t target;
static troupe_ref_t listener_ref;
static troupe_ref_t target_ref;

static troupe_err_t listen(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    return troupe_events_subscribe(self, *(uint32_t *)argument);
}

static void begin(const trp_runtime_options_t *options, uint32_t mask)
{
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    listener = (probe_t){0};
    target = (probe_t){0};
    stage_open(&stage, options);
    listener_ref = stage_puppet_at(&stage, &listener, 0);
    CHECK_OK(stage_do(&stage, listener_ref, listen, &mask));
    spawn.name = "the target";
    spawn.place = TROUPE_PLACE(1);
    target_ref = stage_puppet(&stage, &target, &spawn);
}

/* ---- dead letters ---------------------------------------------------------------------------- */

static void a_dead_letter_names_target_sender_type_and_reason(void)
{
    begin(NULL, TROUPE_EVENT_DEAD_LETTER);
    troupe_port_kill(stage.port, target_ref);
    CHECK_TRUE(stage_is_gone(&stage, target_ref));
    REQUIRE_OK(troupe_port_tell(stage.port, target_ref, listener_ref, TROUPE_TYPE_TEXT, "x", 1, 0));
    CHECK_EVENTUALLY(probe_count(&listener, PROBE_EVENT) == 1, STAGE_PATIENCE_MS);
    probe_entry_t event = probe_at(&listener, PROBE_EVENT, 0);
    CHECK_EQ_U64(event.value, TROUPE_EVENT_DEAD_LETTER);
    CHECK_EQ_U64(event.type, TROUPE_DROP_STALE);
    CHECK_EQ_U64(event.size, 1); /* The count. */
    CHECK_TRUE(troupe_ref_equal(event.who, target_ref));
    stage_close(&stage);
}

static troupe_err_t stop_with_mail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    CHECK_OK(puppet_tell(self, troupe_self(self), 1));
    troupe_stop(self);
    return TROUPE_OK;
}

static void a_dead_letter_of_one_that_stops_has_its_path(void)
{
    begin(NULL, TROUPE_EVENT_DEAD_LETTER);
    CHECK_OK(stage_do(&stage, target_ref, stop_with_mail, NULL));
    CHECK_EVENTUALLY(probe_count(&listener, PROBE_EVENT) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_STR(probe_at(&listener, PROBE_EVENT, 0).text, "/user/the%20target");
    CHECK_EQ_U64(probe_at(&listener, PROBE_EVENT, 0).type, TROUPE_DROP_STOPPED);
    stage_close(&stage);
}

/* The listener can't keep up and dies with notices in its mailbox: they make no further ones. */
static troupe_err_t slow_listener(troupe_actor_t *self, probe_t *probe,
                                  const troupe_message_t *message)
{
    (void)message;
    if (atomic_fetch_add(&probe->number, 1) == 5) {
        troupe_stop(self);
    }
    return TROUPE_OK;
}

static void a_notice_that_can_not_be_delivered_makes_no_notice(void)
{
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    probe_t second = {.on_message = slow_listener};
    uint32_t mask = TROUPE_EVENT_DEAD_LETTER | TROUPE_EVENT_MAILBOX_FULL;
    begin(NULL, mask);
    spawn.mailbox_len_max = 10;
    troupe_ref_t second_ref = stage_puppet(&stage, &second, &spawn);
    CHECK_OK(stage_do(&stage, second_ref, listen, &mask));
    troupe_port_kill(stage.port, target_ref);
    CHECK_TRUE(stage_is_gone(&stage, target_ref));
    for (uint64_t i = 0; i < 1000; i++) {
        stage_tell(&stage, target_ref, i);
    }
    CHECK_TRUE(stage_is_gone(&stage, second_ref));
    STAGE_QUIET(&stage);
    CHECK_EVENTUALLY(probe_count(&listener, PROBE_EVENT) >= 1000, STAGE_PATIENCE_MS);
    CHECK_LE_U64(probe_count(&listener, PROBE_EVENT), 1000 + 10);
    stage_close(&stage);
}

static void who_no_longer_wants_events_gets_none(void)
{
    uint32_t mask = 0;
    begin(NULL, TROUPE_EVENT_DEAD_LETTER);
    CHECK_OK(stage_do(&stage, listener_ref, listen, &mask));
    troupe_port_kill(stage.port, target_ref);
    CHECK_TRUE(stage_is_gone(&stage, target_ref));
    stage_tell(&stage, target_ref, 1);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&listener, PROBE_EVENT), 0);
    stage_close(&stage);
}

static void there_is_a_greatest_number_of_listeners(void)
{
    uint32_t mask = TROUPE_EVENT_LINK;
    begin(NULL, mask);
    for (uint32_t i = 1; i < 256; i++) {
        CHECK_OK(stage_do(&stage, stage_puppet(&stage, &target, NULL), listen, &mask));
    }
    troupe_ref_t last = stage_puppet(&stage, &target, NULL);
    CHECK_ERR(stage_do(&stage, last, listen, &mask), TROUPE_EFULL);
    troupe_port_kill(stage.port, listener_ref);
    CHECK_TRUE(stage_is_gone(&stage, listener_ref));
    CHECK_EVENTUALLY(probe_count(&target, PROBE_STOP) == 1, STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, last, listen, &mask));
    stage_close(&stage);
}

/* ---- failures -------------------------------------------------------------------------------- */

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_EBODY;
}

static void a_failure_is_told_with_path_and_error(void)
{
    begin(NULL, TROUPE_EVENT_FAILURE);
    CHECK_ERR(stage_do(&stage, target_ref, fail, NULL), TROUPE_EBODY);
    CHECK_EVENTUALLY(probe_count(&listener, PROBE_EVENT) == 1, STAGE_PATIENCE_MS);
    probe_entry_t event = probe_at(&listener, PROBE_EVENT, 0);
    CHECK_EQ_U64(event.value, TROUPE_EVENT_FAILURE);
    CHECK_ERR(event.error, TROUPE_EBODY);
    CHECK_EQ_STR(event.text, "/user/the%20target");
    stage_close(&stage);
}

/* ---- slow receives --------------------------------------------------------------------------- */

static _Atomic bool may_go_on;

static troupe_err_t hog(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)argument;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load(&may_go_on), 2 * STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static troupe_err_t spawn_unnamed(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.place = TROUPE_PLACE_SAME;
    return puppet_spawn(self, &target, &options, argument);
}

static void the_watchdog_names_who_holds_its_dispatcher_and_the_others_go_on(void)
{
    trp_runtime_options_t options = {.slow_receive_ns = 50 * TRP_NS_PER_MS};
    begin(&options, TROUPE_EVENT_SLOW_RECEIVE);
    for (uint32_t round = 0; round < 3; round++) {
        atomic_store(&may_go_on, false);
        stage_post(&stage, target_ref, hog, NULL);
        CHECK_EVENTUALLY(probe_count(&listener, PROBE_EVENT) == round + 1, STAGE_PATIENCE_MS);
        probe_entry_t event = probe_at(&listener, PROBE_EVENT, round);
        CHECK_EQ_U64(event.value, TROUPE_EVENT_SLOW_RECEIVE);
        CHECK_TRUE(troupe_ref_equal(event.who, target_ref));
        CHECK_GE_U64(event.size, 50 * TRP_NS_PER_MS);
        CHECK_EQ_STR(event.text, "/user/the%20target");
        atomic_store(&may_go_on, true);
        CHECK_OK(stage_do(&stage, target_ref, hog, NULL)); /* Behind the slow one. */
    }
    stage_close(&stage);
}

static void the_watchdog_names_unnamed_actors_by_their_id(void)
{
    trp_runtime_options_t options = {.slow_receive_ns = 50 * TRP_NS_PER_MS};
    troupe_ref_t child = troupe_ref_none();
    char expected[64];
    begin(&options, TROUPE_EVENT_SLOW_RECEIVE);
    atomic_store(&may_go_on, false);
    CHECK_OK(stage_do(&stage, target_ref, spawn_unnamed, &child));
    stage_post(&stage, child, hog, NULL);
    CHECK_EVENTUALLY(probe_count(&listener, PROBE_EVENT) == 1, STAGE_PATIENCE_MS);
    (void)snprintf(expected, sizeof(expected), "/user/the%%20target/$%" PRIx64, child.id);
    CHECK_EQ_STR(probe_at(&listener, PROBE_EVENT, 0).text, expected);
    atomic_store(&may_go_on, true);
    stage_close(&stage);
}

/* Names come and go under the eyes of the watchdog. */
static troupe_err_t churn(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)message;
    for (int i = 0; i < 10; i++) {
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        troupe_ref_t ref;
        char name[32];
        (void)snprintf(name, sizeof(name), "c%" PRIu64, atomic_fetch_add(&probe->number, 1));
        options.name = name;
        CHECK_OK(puppet_spawn(self, &target, &options, &ref));
        troupe_poison(self, ref);
    }
    return TROUPE_OK;
}

static void the_watchdog_may_look_at_names_that_come_and_go(void)
{
    trp_runtime_options_t options = {.slow_receive_ns = 2 * TRP_NS_PER_MS};
    begin(&options, TROUPE_EVENT_SLOW_RECEIVE);
    probe_t churner = {.on_message = churn};
    troupe_ref_t who = stage_puppet_at(&stage, &churner, 0);
    uint64_t rounds = check_count(300, 10000);
    for (uint64_t i = 0; i < rounds; i++) {
        stage_tell(&stage, who, i);
    }
    CHECK_EVENTUALLY(probe_count(&target, PROBE_INIT) == 1 + 10 * rounds, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_dead_letter_names_target_sender_type_and_reason),
    CHECK_CASE(a_dead_letter_of_one_that_stops_has_its_path),
    CHECK_CASE(a_notice_that_can_not_be_delivered_makes_no_notice),
    CHECK_CASE(who_no_longer_wants_events_gets_none),
    CHECK_CASE(there_is_a_greatest_number_of_listeners),
    CHECK_CASE(a_failure_is_told_with_path_and_error),
    CHECK_CASE(the_watchdog_names_who_holds_its_dispatcher_and_the_others_go_on),
    CHECK_CASE(the_watchdog_names_unnamed_actors_by_their_id),
    CHECK_CASE(the_watchdog_may_look_at_names_that_come_and_go),
};

CHECK_MAIN("actor.event", cases)
