/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Supervision: resume, restart, stop, escalate; one for one and all for one; back-off and intensity. */

#include <string.h>

#include "base/clock.h"
#include "support/runtime.h"

#define CHILDREN 3u

static stage_t stage;
static probe_t boss;
static probe_t kids[CHILDREN];
static troupe_ref_t refs[CHILDREN];
static troupe_ref_t boss_ref;

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    return argument == NULL ? TROUPE_EFAILED : *(troupe_err_t *)argument;
}

static troupe_err_t nothing(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_OK;
}

/* Spawns the children on both dispatchers. */
static troupe_err_t spawn_kids(troupe_actor_t *self, probe_t *probe)
{
    (void)probe;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        options.place = TROUPE_PLACE(i % STAGE_DISPATCHERS);
        CHECK_OK(puppet_spawn(self, &kids[i], &options, &refs[i]));
    }
    return TROUPE_OK;
}

static uint64_t kids_count(probe_kind_t kind)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        count += probe_count(&kids[i], kind);
    }
    return count;
}

static void begin(const troupe_supervision_t *supervision, probe_supervise_fn decide)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    boss = (probe_t){.on_init = spawn_kids, .on_supervise = decide};
    memset(kids, 0, sizeof(kids));
    if (supervision != NULL) {
        options.supervision = *supervision;
    }
    stage_open(&stage, NULL);
    boss_ref = decide == NULL ? stage_puppet(&stage, &boss, &options)
                              : stage_boss(&stage, &boss, &options);
    REQUIRE(CHECK_WAIT(kids_count(PROBE_INIT) == CHILDREN, STAGE_PATIENCE_MS));
}

static troupe_err_t fill_and_fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    return fail(self, probe, argument);
}

/* ---- one for one ----------------------------------------------------------------------------- */

static void a_failed_child_restarts_and_keeps_its_mail(void)
{
    begin(NULL, NULL);
    CHECK_ERR(stage_do(&stage, refs[0], fill_and_fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_MESSAGE) == 10, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_entry(&kids[0], 0).kind, PROBE_INIT);
    CHECK_EQ_U64(probe_entry(&kids[0], 1).kind, PROBE_STOP);
    CHECK_ERR(probe_entry(&kids[0], 1).error, TROUPE_EFAILED);
    CHECK_EQ_U64(probe_entry(&kids[0], 2).kind, PROBE_INIT);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQ_U64(probe_entry(&kids[0], 3 + i).value, i);
    }
    CHECK_EQ_U64(probe_count(&kids[1], PROBE_INIT), 1);
    CHECK_EQ_U64(stage_stats(&stage).actors, 4 + 1 + CHILDREN); /* With the guardians. */
    stage_close(&stage);
}

static void a_resumed_child_goes_on_with_its_state(void)
{
    begin(&(troupe_supervision_t){.directive = TROUPE_RESUME}, NULL);
    CHECK_ERR(stage_do(&stage, refs[1], fill_and_fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&kids[1], PROBE_MESSAGE) == 10, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&kids[1], PROBE_INIT), 1);
    CHECK_EQ_U64(probe_count(&kids[1], PROBE_STOP), 0);
    stage_close(&stage);
}

static void a_stopped_child_ends_with_its_error_as_the_reason(void)
{
    begin(&(troupe_supervision_t){.directive = TROUPE_STOP}, NULL);
    CHECK_ERR(stage_do(&stage, refs[1], fill_and_fail, NULL), TROUPE_EFAILED);
    CHECK_TRUE(stage_is_gone(&stage, refs[1]));
    CHECK_EVENTUALLY(probe_count(&boss, PROBE_SIGNAL) == 1, STAGE_PATIENCE_MS);
    probe_entry_t signal = probe_at(&boss, PROBE_SIGNAL, 0);
    CHECK_EQ_U64(signal.value, TROUPE_SIGNAL_CHILD_ENDED);
    CHECK_ERR(signal.error, TROUPE_EFAILED);
    CHECK_TRUE(troupe_ref_equal(signal.who, refs[1]));
    CHECK_ERR(probe_at(&kids[1], PROBE_STOP, 0).error, TROUPE_EFAILED);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_STOPPED], 10);
    stage_close(&stage);
}

/* Nothing of the user's runs between the failure and the decision. */
static troupe_directive_t decide_late(troupe_actor_t *self, probe_t *probe,
                                      const troupe_failure_t *failure)
{
    (void)self;
    CHECK_ERR(failure->error, TROUPE_EBODY);
    probe_note(probe, failure->restart_count);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        if (troupe_ref_equal(failure->child, refs[i])) {
            CHECK_EQ_U64(probe_count(&kids[i], PROBE_MESSAGE), 0);
        }
    }
    return TROUPE_RESTART;
}

static void the_supervisor_is_asked_and_told_of_the_restarts_so_far(void)
{
    troupe_err_t err = TROUPE_EBODY;
    begin(NULL, decide_late);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_ERR(stage_do(&stage, refs[0], fail, &err), err);
        CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == i + 2, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_at(&boss, PROBE_NOTE, (uint32_t)i).value, i);
    }
    stage_close(&stage);
}

static void too_many_restarts_within_the_window_stop_the_child(void)
{
    begin(&(troupe_supervision_t){.restarts_max = 3, .window_ms = 60000}, NULL);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
        CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_STOP) == i + 1, STAGE_PATIENCE_MS);
    }
    CHECK_TRUE(stage_is_gone(&stage, refs[0]));
    CHECK_EQ_U64(probe_count(&kids[0], PROBE_INIT), 4);
    CHECK_EQ_U64(probe_count(&kids[1], PROBE_STOP), 0);
    stage_close(&stage);
}

static void restarts_outside_the_window_do_not_count(void)
{
    begin(&(troupe_supervision_t){.restarts_max = 1, .window_ms = 1}, NULL);
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
        CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == i + 2, STAGE_PATIENCE_MS);
        uint64_t end = trp_clock_now() + 5 * TRP_NS_PER_MS;
        while (trp_clock_now() < end) {
            check_rest();
        }
    }
    stage_close(&stage);
}

static void the_back_off_grows_up_to_its_maximum(void)
{
    begin(&(troupe_supervision_t){.backoff_min_ms = 10, .backoff_max_ms = 30}, NULL);
    static const uint64_t waits_ms[] = {10, 20, 30, 30};
    for (uint64_t i = 0; i < TRP_ARRAY_LEN(waits_ms); i++) {
        uint64_t from = trp_clock_now();
        CHECK_ERR(stage_do(&stage, refs[0], fill_and_fail, NULL), TROUPE_EFAILED);
        CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == i + 2, STAGE_PATIENCE_MS);
        CHECK_GE_U64(trp_clock_now() - from + 2 * TRP_NS_PER_MS, waits_ms[i] * TRP_NS_PER_MS);
        CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_MESSAGE) == 10 * (i + 1), STAGE_PATIENCE_MS);
    }
    stage_close(&stage);
}

static void a_child_killed_in_its_back_off_is_stopped_once(void)
{
    begin(&(troupe_supervision_t){.backoff_min_ms = 60000}, NULL);
    CHECK_ERR(stage_do(&stage, refs[0], fill_and_fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_STOP) == 1, STAGE_PATIENCE_MS);
    troupe_port_kill(stage.port, refs[0]);
    CHECK_TRUE(stage_is_gone(&stage, refs[0]));
    CHECK_EQ_U64(probe_count(&kids[0], PROBE_STOP), 1);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_STOPPED], 10);
    stage_close(&stage);
}

/* ---- restarting ------------------------------------------------------------------------------ */

static troupe_err_t fail_again(troupe_actor_t *self, probe_t *probe)
{
    (void)self;
    uint64_t turn = atomic_fetch_add(&probe->number, 1);
    return turn == 1 || turn == 2 ? TROUPE_EFAILED : TROUPE_OK;
}

static void an_init_that_fails_at_a_restart_counts_as_a_failure(void)
{
    begin(NULL, NULL);
    kids[2].on_init = fail_again;
    atomic_store(&kids[2].number, 1);
    CHECK_ERR(stage_do(&stage, refs[2], fill_and_fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&kids[2], PROBE_MESSAGE) == 10, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&kids[2], PROBE_INIT), 4);
    CHECK_EQ_U64(probe_count(&kids[2], PROBE_STOP), 1); /* No state, nothing to stop. */
    stage_close(&stage);
}

static void a_restart_stops_the_children_first_and_makes_new_ones(void)
{
    begin(NULL, NULL);
    CHECK_ERR(stage_do(&stage, boss_ref, fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(kids_count(PROBE_INIT) == 2 * CHILDREN, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(kids_count(PROBE_STOP), CHILDREN);
    CHECK_EQ_U64(probe_count(&boss, PROBE_STOP), 1);
    CHECK_EQ_U64(probe_count(&boss, PROBE_INIT), 2);
    CHECK_EQ_U64(probe_count(&boss, PROBE_SIGNAL), 0);
    CHECK_EVENTUALLY(stage_stats(&stage).actors == 4 + 1 + CHILDREN, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_err_t spawn_on_stop(troupe_actor_t *self, probe_t *probe)
{
    troupe_ref_t ref;
    CHECK_ERR(puppet_spawn(self, probe, NULL, &ref), TROUPE_ESTOPPED);
    CHECK_ERR(troupe_timer_every(self, 1, 1, TROUPE_TYPE_BYTES, NULL, 0), TROUPE_ESTOPPED);
    CHECK_OK(troupe_become(self, puppet_behavior.receive));
    (void)!troupe_ask(self, troupe_self(self), TROUPE_TYPE_BYTES, NULL, 0, 1, puppet_reply, NULL);
    return TROUPE_OK;
}

static void the_stop_of_a_restart_can_not_begin_anything(void)
{
    begin(NULL, NULL);
    kids[0].on_stop = spawn_on_stop;
    CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, refs[0], nothing, NULL));
    CHECK_EQ_U64(probe_count(&kids[0], PROBE_REPLY), 0);
    stage_close(&stage);
}

/* ---- escalation ------------------------------------------------------------------------------ */

static void an_escalated_failure_restarts_the_supervisor(void)
{
    begin(&(troupe_supervision_t){.directive = TROUPE_ESCALATE}, NULL);
    CHECK_ERR(stage_do(&stage, refs[1], fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(kids_count(PROBE_INIT) == 2 * CHILDREN, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&boss, PROBE_STOP), 1);
    CHECK_ERR(probe_at(&boss, PROBE_STOP, 0).error, TROUPE_EFAILED);
    stage_close(&stage);
}

static troupe_err_t fail_all(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        puppet_post(self, refs[i], fail, NULL);
    }
    return TROUPE_OK;
}

static void children_that_escalate_together_restart_the_supervisor_once(void)
{
    begin(&(troupe_supervision_t){.directive = TROUPE_ESCALATE}, NULL);
    probe_t other = {0};
    troupe_ref_t teller = stage_puppet(&stage, &other, NULL);
    for (uint64_t i = 1; i <= 5; i++) {
        CHECK_OK(stage_do(&stage, teller, fail_all, NULL));
        CHECK_EVENTUALLY(kids_count(PROBE_INIT) >= (i + 1) * CHILDREN, STAGE_PATIENCE_MS);
        STAGE_QUIET(&stage);
        CHECK_EQ_U64(probe_count(&boss, PROBE_STOP), i);
    }
    stage_close(&stage);
}

/* A boss below a boss that resumes: the children for whom it escalated go on as well. */
static probe_t top;

static troupe_err_t spawn_boss(troupe_actor_t *self, probe_t *probe)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.supervision.directive = TROUPE_ESCALATE;
    return puppet_spawn(self, &boss, &options, &boss_ref);
}

static void a_resumed_supervisor_resumes_those_it_escalated_for(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    boss = (probe_t){.on_init = spawn_kids};
    top = (probe_t){.on_init = spawn_boss};
    memset(kids, 0, sizeof(kids));
    options.supervision.directive = TROUPE_RESUME;
    stage_open(&stage, NULL);
    (void)stage_puppet(&stage, &top, &options);
    CHECK_EVENTUALLY(kids_count(PROBE_INIT) == CHILDREN, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        CHECK_ERR(stage_do(&stage, refs[i], fill_and_fail, NULL), TROUPE_EFAILED);
    }
    for (uint32_t i = 0; i < CHILDREN; i++) {
        CHECK_EVENTUALLY(probe_count(&kids[i], PROBE_MESSAGE) == 10, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_count(&kids[i], PROBE_INIT), 1);
    }
    CHECK_OK(stage_do(&stage, boss_ref, nothing, NULL));
    CHECK_EQ_U64(probe_count(&boss, PROBE_STOP), 0);
    stage_close(&stage);
}

static void the_guardian_restarts_what_escalates_up_to_it(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    boss = (probe_t){.on_init = spawn_kids};
    top = (probe_t){.on_init = spawn_boss};
    memset(kids, 0, sizeof(kids));
    options.supervision.directive = TROUPE_ESCALATE;
    stage_open(&stage, NULL);
    (void)stage_puppet(&stage, &top, &options);
    CHECK_EVENTUALLY(kids_count(PROBE_INIT) == CHILDREN, STAGE_PATIENCE_MS);
    CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(kids_count(PROBE_INIT) == 2 * CHILDREN, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&top, PROBE_INIT), 2);
    CHECK_EQ_U64(probe_count(&boss, PROBE_INIT), 2);
    stage_close(&stage);
}

/* ---- all for one ----------------------------------------------------------------------------- */

static void all_are_restarted_when_one_fails(void)
{
    begin(&(troupe_supervision_t){.all_for_one = true}, NULL);
    CHECK_ERR(stage_do(&stage, refs[1], fill_and_fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(kids_count(PROBE_INIT) == 2 * CHILDREN, STAGE_PATIENCE_MS);
    CHECK_EVENTUALLY(probe_count(&kids[1], PROBE_MESSAGE) == 10, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(kids_count(PROBE_STOP), CHILDREN);
    CHECK_ERR(probe_at(&kids[0], PROBE_STOP, 0).error, TROUPE_OK);
    CHECK_ERR(probe_at(&kids[1], PROBE_STOP, 0).error, TROUPE_EFAILED);
    stage_close(&stage);
}

static void all_are_stopped_when_one_fails(void)
{
    begin(&(troupe_supervision_t){.all_for_one = true, .directive = TROUPE_STOP}, NULL);
    CHECK_ERR(stage_do(&stage, refs[2], fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&boss, PROBE_SIGNAL) == CHILDREN, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(kids_count(PROBE_STOP), CHILDREN);
    CHECK_EQ_U64(kids_count(PROBE_INIT), CHILDREN);
    stage_close(&stage);
}

static void all_go_on_when_the_failed_one_is_resumed(void)
{
    begin(&(troupe_supervision_t){.all_for_one = true, .directive = TROUPE_RESUME}, NULL);
    CHECK_ERR(stage_do(&stage, refs[2], fail, NULL), TROUPE_EFAILED);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        CHECK_OK(stage_do(&stage, refs[i], nothing, NULL));
    }
    CHECK_EQ_U64(kids_count(PROBE_STOP), 0);
    stage_close(&stage);
}

static void siblings_that_fail_together_are_restarted_together(void)
{
    begin(&(troupe_supervision_t){.all_for_one = true, .restarts_max = 1000}, NULL);
    probe_t other = {0};
    troupe_ref_t teller = stage_puppet(&stage, &other, NULL);
    for (int i = 0; i < 50; i++) {
        uint64_t inits = kids_count(PROBE_INIT);
        CHECK_OK(stage_do(&stage, teller, fail_all, NULL));
        CHECK_EVENTUALLY(kids_count(PROBE_INIT) >= inits + CHILDREN, STAGE_PATIENCE_MS);
        STAGE_QUIET(&stage);
        for (uint32_t k = 0; k < CHILDREN; k++) {
            CHECK_OK(stage_do(&stage, refs[k], nothing, NULL));
        }
    }
    CHECK_EQ_U64(kids_count(PROBE_INIT), kids_count(PROBE_STOP) + CHILDREN);
    stage_close(&stage);
}

/* One sibling is killed just as another fails. */
static troupe_err_t fail_and_kill(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    puppet_post(self, refs[0], fail, NULL);
    troupe_kill(self, refs[1]);
    return TROUPE_OK;
}

static void a_sibling_that_dies_meanwhile_does_not_hold_up_the_decision(void)
{
    for (int i = 0; i < 30; i++) {
        begin(&(troupe_supervision_t){.all_for_one = true}, NULL);
        probe_t other = {0};
        troupe_ref_t teller = stage_puppet_at(&stage, &other, (uint32_t)i % STAGE_DISPATCHERS);
        CHECK_OK(stage_do(&stage, teller, fail_and_kill, NULL));
        CHECK_TRUE(stage_is_gone(&stage, refs[1]));
        CHECK_EVENTUALLY(probe_count(&kids[2], PROBE_INIT) == 2, STAGE_PATIENCE_MS);
        CHECK_OK(stage_do(&stage, refs[0], nothing, NULL));
        CHECK_OK(stage_do(&stage, refs[2], nothing, NULL));
        stage_close(&stage);
    }
}

/* A sibling in its back-off is suspended and restarted: it must wake all the same. */
static void a_sibling_in_its_back_off_comes_back(void)
{
    begin(&(troupe_supervision_t){.all_for_one = true, .backoff_min_ms = 50, .backoff_max_ms = 50},
          NULL);
    CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(kids_count(PROBE_STOP) == CHILDREN, STAGE_PATIENCE_MS);
    CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == 3, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        CHECK_OK(stage_do(&stage, refs[i], nothing, NULL));
    }
    stage_close(&stage);
}

/* A sibling whose init has not run when another fails is born once, after the decision: its dispatcher is
 * kept busy until both the spawn and the order to suspend have come. */
static _Atomic bool may_go_on;

static troupe_err_t keep_busy(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)argument;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load(&may_go_on), STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static troupe_err_t spawn_one(troupe_actor_t *self, probe_t *probe, void *argument)
{
    uint32_t place = *(uint32_t *)argument;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.place = TROUPE_PLACE(place);
    return puppet_spawn(self, &kids[place], &options, &refs[place]);
}

static void a_sibling_that_is_not_born_yet_is_born_once(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    probe_t other = {0};
    uint32_t places[] = {0, 1};
    boss = (probe_t){0};
    memset(kids, 0, sizeof(kids));
    atomic_store(&may_go_on, false);
    options.place = TROUPE_PLACE(0);
    options.supervision.all_for_one = true;
    stage_open(&stage, NULL);
    boss_ref = stage_boss(&stage, &boss, &options);
    CHECK_OK(stage_do(&stage, boss_ref, spawn_one, &places[0]));
    stage_post(&stage, stage_puppet_at(&stage, &other, 1), keep_busy, NULL);
    CHECK_EVENTUALLY(probe_count(&other, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, boss_ref, spawn_one, &places[1]));
    CHECK_ERR(stage_do(&stage, refs[0], fail, NULL), TROUPE_EFAILED);
    CHECK_OK(stage_do(&stage, boss_ref, nothing, NULL));
    CHECK_OK(stage_do(&stage, boss_ref, nothing, NULL));
    atomic_store(&may_go_on, true);
    CHECK_EVENTUALLY(probe_count(&kids[0], PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, refs[1], nothing, NULL));
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&kids[1], PROBE_INIT), 1);
    CHECK_EQ_U64(probe_count(&kids[1], PROBE_STOP), 0);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_failed_child_restarts_and_keeps_its_mail),
    CHECK_CASE(a_resumed_child_goes_on_with_its_state),
    CHECK_CASE(a_stopped_child_ends_with_its_error_as_the_reason),
    CHECK_CASE(the_supervisor_is_asked_and_told_of_the_restarts_so_far),
    CHECK_CASE(too_many_restarts_within_the_window_stop_the_child),
    CHECK_CASE(restarts_outside_the_window_do_not_count),
    CHECK_CASE(the_back_off_grows_up_to_its_maximum),
    CHECK_CASE(a_child_killed_in_its_back_off_is_stopped_once),
    CHECK_CASE(an_init_that_fails_at_a_restart_counts_as_a_failure),
    CHECK_CASE(a_restart_stops_the_children_first_and_makes_new_ones),
    CHECK_CASE(the_stop_of_a_restart_can_not_begin_anything),
    CHECK_CASE(an_escalated_failure_restarts_the_supervisor),
    CHECK_CASE(children_that_escalate_together_restart_the_supervisor_once),
    CHECK_CASE(a_resumed_supervisor_resumes_those_it_escalated_for),
    CHECK_CASE(the_guardian_restarts_what_escalates_up_to_it),
    CHECK_CASE(all_are_restarted_when_one_fails),
    CHECK_CASE(all_are_stopped_when_one_fails),
    CHECK_CASE(all_go_on_when_the_failed_one_is_resumed),
    CHECK_CASE(siblings_that_fail_together_are_restarted_together),
    CHECK_CASE(a_sibling_that_dies_meanwhile_does_not_hold_up_the_decision),
    CHECK_CASE(a_sibling_in_its_back_off_comes_back),
    CHECK_CASE(a_sibling_that_is_not_born_yet_is_born_once),
};

CHECK_MAIN("actor.supervision", cases)
