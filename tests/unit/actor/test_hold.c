/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What changes how an actor takes its mail: hold and release, stash and unstash, become and unbecome. */

#include <string.h>

#include "base/clock.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t held;
static probe_t server;
static troupe_ref_t who;
static troupe_ref_t server_ref;

static troupe_err_t answer(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)probe;
    return troupe_reply(self, message->type, message->body, message->size);
}

static void begin(void)
{
    held = (probe_t){0};
    server = (probe_t){.on_message = answer};
    stage_open(&stage, NULL);
    who = stage_puppet_at(&stage, &held, 0);
    server_ref = stage_puppet_at(&stage, &server, 1);
}

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_EFAILED;
}

/* ---- hold ------------------------------------------------------------------------------------ */

/* The continuation: writes down, and lets the actor go on. */
static troupe_err_t release_on_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                     void *context)
{
    troupe_err_t err = puppet_reply(self, state, reply, context);
    troupe_release(self);
    return err;
}

static troupe_err_t ask_and_hold(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    CHECK_OK(
        troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, NULL, 0, 60000, release_on_reply, NULL));
    CHECK_OK(troupe_hold(self, 0));
    CHECK_ERR(troupe_hold(self, 0), TROUPE_EBUSY);
    return TROUPE_OK;
}

static void a_held_actor_takes_the_answer_first_and_its_mail_after(void)
{
    begin();
    for (int i = 0; i < 50; i++) {
        probe_clear(&held);
        CHECK_OK(stage_do(&stage, who, ask_and_hold, NULL));
        CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 5, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_entry(&held, 0).kind, PROBE_REPLY);
        for (uint32_t k = 0; k < 5; k++) {
            CHECK_EQ_U64(probe_entry(&held, k + 1).value, k);
        }
    }
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    stage_close(&stage);
}

/* The answers are in the mailbox, behind other mail, when the hold begins. */
static troupe_err_t hold_late(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    return troupe_hold(self, 0);
}

static troupe_err_t queue_answers(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    puppet_post(self, who, hold_late, NULL);
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    /* Nobody there, on this dispatcher: the failure is queued at once. */
    troupe_ref_t nobody = {who.node, trp_id_make(0, 4000, 9)};
    CHECK_OK(troupe_ask(self, nobody, TROUPE_TYPE_BYTES, NULL, 0, 60000, puppet_reply,
                        (void *)(uintptr_t)1));
    CHECK_OK(troupe_ask(self, nobody, TROUPE_TYPE_BYTES, NULL, 0, 60000, release_on_reply,
                        (void *)(uintptr_t)2));
    return TROUPE_OK;
}

static void answers_that_were_queued_before_the_hold_overtake_the_mail(void)
{
    begin();
    CHECK_OK(stage_do(&stage, who, queue_answers, NULL));
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 5, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_entry(&held, 1).kind, PROBE_REPLY); /* Behind the init. */
    CHECK_EQ_U64(probe_entry(&held, 1).value, 1);
    CHECK_EQ_U64(probe_entry(&held, 2).value, 2);
    CHECK_EQ_U64(probe_entry(&held, 2).kind, PROBE_REPLY);
    CHECK_EQ_U64(probe_entry(&held, 3).value, 0);
    stage_close(&stage);
}

static troupe_err_t hold_for(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    return troupe_hold(self, *(uint32_t *)argument);
}

static void a_hold_ends_at_its_deadline_with_a_signal(void)
{
    uint32_t time_ms = 20;
    begin();
    uint64_t from = trp_clock_now();
    CHECK_OK(stage_do(&stage, who, hold_for, &time_ms));
    stage_tell(&stage, who, 5);
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_GE_U64(trp_clock_now() - from, 20 * TRP_NS_PER_MS);
    CHECK_EQ_U64(probe_entry(&held, 1).kind, PROBE_SIGNAL);
    CHECK_EQ_U64(probe_entry(&held, 1).value, TROUPE_SIGNAL_HOLD_EXPIRED);
    stage_close(&stage);
}

static troupe_err_t hold_and_watch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    CHECK_OK(troupe_watch(self, server_ref));
    CHECK_OK(puppet_tell(self, troupe_self(self), 1));
    troupe_kill(self, server_ref);
    return troupe_hold(self, 3600000);
}

static troupe_err_t release_on_signal(troupe_actor_t *self, probe_t *probe,
                                      const troupe_signal_t *signal)
{
    (void)probe;
    (void)signal;
    troupe_release(self);
    return TROUPE_OK;
}

static void a_held_actor_takes_signals(void)
{
    begin();
    held.on_signal = release_on_signal;
    CHECK_OK(stage_do(&stage, who, hold_and_watch, NULL));
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_entry(&held, 1).kind, PROBE_SIGNAL);
    stage_close(&stage);
}

static void a_held_actor_can_be_killed_and_poison_waits(void)
{
    uint32_t time_ms = 3600000;
    begin();
    CHECK_OK(stage_do(&stage, who, hold_for, &time_ms));
    troupe_port_poison(stage.port, who);
    stage_tell(&stage, who, 1);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&held, PROBE_STOP), 0);
    troupe_port_kill(stage.port, who);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    stage_close(&stage);
}

/* Fails in the first of two answers: the second is not for the failed state, nor for the next life. */
static troupe_err_t fail_on_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                  void *context)
{
    (void)!puppet_reply(self, state, reply, context);
    return TROUPE_EFAILED;
}

static troupe_err_t ask_twice_and_hold(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_ref_t nobody = {who.node, trp_id_make(0, 4000, 9)};
    (void)probe;
    (void)argument;
    CHECK_OK(puppet_tell(self, troupe_self(self), 7));
    for (uintptr_t i = 0; i < 3; i++) {
        CHECK_OK(troupe_ask(self, nobody, TROUPE_TYPE_BYTES, NULL, 0, 60000,
                            i == 0 ? fail_on_reply : puppet_reply, (void *)i));
    }
    return troupe_hold(self, 3600000);
}

static void answers_behind_a_failure_wait_for_the_supervisor(void)
{
    begin();
    CHECK_OK(stage_do(&stage, who, ask_twice_and_hold, NULL));
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&held, PROBE_REPLY), 1);
    CHECK_EQ_U64(probe_count(&held, PROBE_INIT), 2);
    stage_close(&stage);
}

/* Resumed, it is held still, and takes the answers that had to wait. */
static troupe_ref_t resumed_ref;

static troupe_err_t spawn_resumed(troupe_actor_t *self, probe_t *probe)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.place = TROUPE_PLACE(0);
    return puppet_spawn(self, &held, &options, &resumed_ref);
}

static void answers_behind_a_failure_come_after_a_resume(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    held = (probe_t){0};
    server = (probe_t){.on_init = spawn_resumed};
    stage_open(&stage, NULL);
    options.supervision.directive = TROUPE_RESUME;
    who = stage_puppet(&stage, &server, &options);
    CHECK_OK(stage_do(&stage, resumed_ref, ask_twice_and_hold, NULL));
    CHECK_EVENTUALLY(probe_count(&held, PROBE_REPLY) == 3, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ_U64(probe_at(&held, PROBE_REPLY, i).value, i);
    }
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&held, PROBE_MESSAGE), 0); /* Held. */
    CHECK_EQ_U64(probe_count(&held, PROBE_INIT), 1);
    stage_close(&stage);
}

/* ---- stash ----------------------------------------------------------------------------------- */

/* Puts everything aside until a text comes. */
static troupe_err_t stash_all(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    if (message->type.id == TROUPE_TYPE_TEXT.id) {
        probe->on_message = NULL;
        troupe_unstash_all(self);
        return TROUPE_OK;
    }
    troupe_err_t err = troupe_stash(self);
    atomic_fetch_add(&probe->number, err == TROUPE_EFULL);
    CHECK_ERR(troupe_forward(self, server_ref), err == TROUPE_OK ? TROUPE_EBUSY : TROUPE_OK);
    return TROUPE_OK;
}

static void tell_text(void)
{
    REQUIRE_OK(troupe_port_tell(stage.port, who, troupe_ref_none(), TROUPE_TYPE_TEXT, "go", 2, 0));
}

static void stashed_mail_comes_back_in_order_before_the_rest(void)
{
    begin();
    held.on_message = stash_all;
    for (uint64_t i = 0; i < 20; i++) {
        stage_tell(&stage, who, i);
    }
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 20, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(stage_stats(&stage).user.in_flight, 20);
    probe_clear(&held);
    tell_text();
    stage_tell(&stage, who, 20);
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 22, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < 21; i++) {
        CHECK_EQ_U64(probe_at(&held, PROBE_MESSAGE, i + 1).value, i);
    }
    stage_close(&stage);
}

static void the_stash_has_the_mailbox_s_limit(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.mailbox_len_max = 10;
    held = (probe_t){.on_message = stash_all};
    server = (probe_t){0};
    stage_open(&stage, NULL);
    server_ref = stage_puppet_at(&stage, &server, 1);
    who = stage_puppet(&stage, &held, &options);
    for (uint64_t i = 0; i < 10; i++) {
        stage_tell(&stage, who, i);
        CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == i + 1, STAGE_PATIENCE_MS);
    }
    stage_tell(&stage, who, 10); /* Stash and mailbox share the bound. */
    CHECK_EVENTUALLY(stage_stats(&stage).user.dropped[TROUPE_DROP_MAILBOX_FULL] == 1,
                     STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&held, PROBE_MESSAGE), 10);
    stage_close(&stage);
}

static void a_restart_puts_the_stash_back_in_front(void)
{
    begin();
    held.on_message = stash_all;
    for (uint64_t i = 0; i < 5; i++) {
        stage_tell(&stage, who, i);
    }
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 5, STAGE_PATIENCE_MS);
    probe_clear(&held);
    held.on_message = NULL;
    CHECK_ERR(stage_do(&stage, who, fail, NULL), TROUPE_EFAILED);
    stage_tell(&stage, who, 5);
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 6, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_EQ_U64(probe_at(&held, PROBE_MESSAGE, i).value, i);
    }
    stage_close(&stage);
}

static void a_stash_is_dead_letters_when_its_actor_stops(void)
{
    begin();
    held.on_message = stash_all;
    for (uint64_t i = 0; i < 5; i++) {
        stage_tell(&stage, who, i);
    }
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 5, STAGE_PATIENCE_MS);
    troupe_port_kill(stage.port, who);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_STOPPED], 5);
    stage_close(&stage);
}

/* An answer and a firing that are stashed come back as plain messages. */
static troupe_err_t stash_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                void *context)
{
    (void)state;
    (void)context;
    CHECK_OK(reply->error);
    CHECK_OK(troupe_stash(self));
    return TROUPE_OK;
}

static troupe_err_t ask_to_stash(troupe_actor_t *self, probe_t *probe, void *argument)
{
    uint64_t number = 9;
    (void)probe;
    (void)argument;
    return troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, &number, sizeof(number), 60000,
                      stash_reply, NULL);
}

static void a_stashed_answer_comes_back_as_a_message(void)
{
    begin();
    CHECK_OK(stage_do(&stage, who, ask_to_stash, NULL));
    CHECK_EVENTUALLY(stage_stats(&stage).user.in_flight == 1, STAGE_PATIENCE_MS);
    held.on_message = stash_all;
    tell_text();
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 2, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_at(&held, PROBE_MESSAGE, 1).value, 9);
    CHECK_TRUE(troupe_ref_equal(probe_at(&held, PROBE_MESSAGE, 1).who, server_ref));
    stage_close(&stage);
}

/* ---- become ---------------------------------------------------------------------------------- */

static troupe_err_t other_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    probe_t *probe = ((puppet_args_t *)state)->probe;
    (void)message;
    probe_note(probe, 1);
    if (message->type.id == TROUPE_TYPE_TEXT.id) {
        CHECK_OK(troupe_unbecome(self));
    }
    return TROUPE_OK;
}

static troupe_err_t become_deep(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    CHECK_ERR(troupe_unbecome(self), TROUPE_EAGAIN);
    CHECK_ERR(troupe_become(self, NULL), TROUPE_EINVAL);
    for (int i = 0; i < TROUPE_BECOME_DEPTH_MAX; i++) {
        CHECK_OK(troupe_become(self, other_receive));
    }
    CHECK_ERR(troupe_become(self, other_receive), TROUPE_EFULL);
    for (int i = 1; i < TROUPE_BECOME_DEPTH_MAX; i++) {
        CHECK_OK(troupe_unbecome(self));
    }
    return TROUPE_OK;
}

static void become_holds_from_the_next_message_until_unbecome(void)
{
    begin();
    CHECK_OK(stage_do(&stage, who, become_deep, NULL));
    stage_tell(&stage, who, 1);
    stage_tell(&stage, who, 2);
    CHECK_EVENTUALLY(probe_count(&held, PROBE_NOTE) == 2, STAGE_PATIENCE_MS);
    tell_text();
    stage_tell(&stage, who, 3);
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_at(&held, PROBE_MESSAGE, 0).value, 3);
    stage_close(&stage);
}

static troupe_err_t become_and_fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    CHECK_OK(troupe_become(self, other_receive));
    return fail(self, probe, argument);
}

static void a_restart_goes_back_to_the_behavior_s_own(void)
{
    begin();
    CHECK_ERR(stage_do(&stage, who, become_and_fail, NULL), TROUPE_EFAILED);
    stage_tell(&stage, who, 3);
    CHECK_EVENTUALLY(probe_count(&held, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&held, PROBE_NOTE), 0);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_held_actor_takes_the_answer_first_and_its_mail_after),
    CHECK_CASE(answers_that_were_queued_before_the_hold_overtake_the_mail),
    CHECK_CASE(a_hold_ends_at_its_deadline_with_a_signal),
    CHECK_CASE(a_held_actor_takes_signals),
    CHECK_CASE(a_held_actor_can_be_killed_and_poison_waits),
    CHECK_CASE(answers_behind_a_failure_wait_for_the_supervisor),
    CHECK_CASE(answers_behind_a_failure_come_after_a_resume),
    CHECK_CASE(stashed_mail_comes_back_in_order_before_the_rest),
    CHECK_CASE(the_stash_has_the_mailbox_s_limit),
    CHECK_CASE(a_restart_puts_the_stash_back_in_front),
    CHECK_CASE(a_stash_is_dead_letters_when_its_actor_stops),
    CHECK_CASE(a_stashed_answer_comes_back_as_a_message),
    CHECK_CASE(become_holds_from_the_next_message_until_unbecome),
    CHECK_CASE(a_restart_goes_back_to_the_behavior_s_own),
};

CHECK_MAIN("actor.hold", cases)
