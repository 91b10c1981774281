/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Death watch: told once, told at once of the dead, never after unwatch. */

#include <string.h>

#include "actor/deliver.h"
#include "base/random.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t watcher;
static probe_t watched;
static troupe_ref_t watcher_ref;
static troupe_ref_t watched_ref;

static void begin(uint32_t place)
{
    watcher = (probe_t){0};
    watched = (probe_t){0};
    stage_open(&stage, NULL);
    watcher_ref = stage_puppet_at(&stage, &watcher, 0);
    watched_ref = stage_puppet_at(&stage, &watched, place);
}

static troupe_err_t watch_twice(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    CHECK_OK(troupe_watch(self, *(troupe_ref_t *)argument));
    return troupe_watch(self, *(troupe_ref_t *)argument);
}

static troupe_err_t unwatch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    troupe_unwatch(self, *(troupe_ref_t *)argument);
    return TROUPE_OK;
}

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_EFAILED;
}

static void a_watcher_is_told_once_with_the_reason(void)
{
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(place);
        CHECK_OK(stage_do(&stage, watcher_ref, watch_twice, &watched_ref));
        troupe_port_kill(stage.port, watched_ref);
        CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == 1, STAGE_PATIENCE_MS);
        probe_entry_t signal = probe_at(&watcher, PROBE_SIGNAL, 0);
        CHECK_EQ_U64(signal.value, TROUPE_SIGNAL_TERMINATED);
        CHECK_OK(signal.error);
        CHECK_TRUE(troupe_ref_equal(signal.who, watched_ref));
        STAGE_QUIET(&stage);
        CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 1);
        stage_close(&stage);
    }
}

static void watching_the_dead_tells_at_once(void)
{
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(place);
        troupe_port_kill(stage.port, watched_ref);
        CHECK_TRUE(stage_is_gone(&stage, watched_ref));
        for (uint64_t i = 1; i <= 3; i++) {
            CHECK_OK(stage_do(&stage, watcher_ref, watch_twice, &watched_ref));
            CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == i, STAGE_PATIENCE_MS);
            CHECK_ERR(probe_at(&watcher, PROBE_SIGNAL, 0).error, TROUPE_ENOACTOR);
        }
        stage_close(&stage);
    }
}

/* The notice lies in the mailbox behind the order to unwatch. */
static troupe_err_t watch_dead_and_unwatch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    CHECK_OK(watch_twice(self, probe, argument));
    return unwatch(self, probe, argument);
}

static troupe_err_t unwatch_and_watch_again(troupe_actor_t *self, probe_t *probe, void *argument)
{
    CHECK_OK(watch_dead_and_unwatch(self, probe, argument));
    return watch_twice(self, probe, argument);
}

static void after_unwatch_a_queued_notice_is_not_told(void)
{
    begin(0);
    troupe_port_kill(stage.port, watched_ref);
    CHECK_TRUE(stage_is_gone(&stage, watched_ref));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(stage_do(&stage, watcher_ref, watch_dead_and_unwatch, &watched_ref));
    }
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 0);
    CHECK_OK(stage_do(&stage, watcher_ref, unwatch_and_watch_again, &watched_ref));
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 1);
    stage_close(&stage);
}

static void who_unwatched_in_time_is_not_told(void)
{
    begin(1);
    CHECK_OK(stage_do(&stage, watcher_ref, watch_twice, &watched_ref));
    CHECK_OK(stage_do(&stage, watcher_ref, unwatch, &watched_ref));
    CHECK_OK(stage_do(&stage, watcher_ref, unwatch, &watched_ref));
    troupe_port_kill(stage.port, watched_ref);
    CHECK_TRUE(stage_is_gone(&stage, watched_ref));
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 0);
    stage_close(&stage);
}

static troupe_err_t watch_burst(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    troupe_ref_t *who = argument;
    for (int i = 0; i < 10000; i++) {
        CHECK_OK(troupe_watch(self, *who));
        troupe_unwatch(self, *who);
    }
    return troupe_watch(self, *who);
}

static void ten_thousand_watches_and_unwatches_leave_one(void)
{
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(place);
        CHECK_OK(stage_do(&stage, watcher_ref, watch_burst, &watched_ref));
        troupe_port_kill(stage.port, watched_ref);
        CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == 1, STAGE_PATIENCE_MS);
        STAGE_QUIET(&stage);
        CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 1);
        stage_close(&stage);
    }
}

static troupe_err_t watch_on_init(troupe_actor_t *self, probe_t *probe)
{
    (void)probe;
    return troupe_watch(self, watched_ref);
}

static void each_of_many_watchers_is_told(void)
{
    enum { LEN = 1000 };
    begin(1);
    watcher.on_init = watch_on_init;
    for (int i = 0; i < LEN; i++) {
        (void)stage_puppet(&stage, &watcher, NULL);
    }
    STAGE_QUIET(&stage);
    troupe_port_kill(stage.port, watched_ref);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == LEN, STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), LEN);
    stage_close(&stage);
}

static void watches_are_kept_over_a_restart_on_either_side(void)
{
    begin(1);
    CHECK_OK(stage_do(&stage, watcher_ref, watch_twice, &watched_ref));
    CHECK_ERR(stage_do(&stage, watcher_ref, fail, NULL), TROUPE_EFAILED);
    CHECK_ERR(stage_do(&stage, watched_ref, fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&watched, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 0);
    troupe_port_kill(stage.port, watched_ref);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == 1, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_err_t watch_self_and_stop(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    CHECK_OK(troupe_watch(self, troupe_self(self)));
    troupe_stop(self);
    return TROUPE_OK;
}

static void an_actor_that_watches_itself_is_told_nothing(void)
{
    begin(1);
    CHECK_OK(stage_do(&stage, watcher_ref, watch_self_and_stop, NULL));
    CHECK_TRUE(stage_is_gone(&stage, watcher_ref));
    CHECK_EQ_U64(probe_count(&watcher, PROBE_SIGNAL), 0);
    stage_close(&stage);
}

/* ---- other nodes ----------------------------------------------------------------------------- */

/* A remote port that takes everything and delivers nothing. */
static trp_remote_verdict_t swallow(void *context, trp_dispatcher_t *d, const trp_outgoing_t *out)
{
    (void)d;
    atomic_fetch_add((_Atomic uint64_t *)context, out->is_system ? UINT64_C(1) << 32 : 1);
    return (trp_remote_verdict_t){.is_sent = true};
}

static void swallow_account(void *context, troupe_flow_t *user, troupe_flow_t *system)
{
    uint64_t sent = atomic_load((_Atomic uint64_t *)context);
    user->handed_over += (uint32_t)sent;
    system->handed_over += sent >> 32;
}

static troupe_err_t deal_with_far(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_ref_t far = *(troupe_ref_t *)argument;
    (void)probe;
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_OK(troupe_watch(self, (troupe_ref_t){far.node, far.id + i}));
        CHECK_OK(troupe_ask(self, far, TROUPE_TYPE_BYTES, NULL, 0, 3600000, puppet_reply, NULL));
    }
    return puppet_tell(self, far, 1);
}

static void when_a_node_goes_its_watchers_are_told_and_asks_to_it_fail(void)
{
    static _Atomic uint64_t sent;
    trp_remote_port_t port = {&sent, swallow, NULL, swallow_account};
    troupe_ref_t far = {4711, trp_id_make(0, 5, 1)};
    atomic_store(&sent, 0);
    watcher = (probe_t){0};
    stage_create(&stage, NULL);
    trp_runtime_set_remote(stage.node.runtime, &port);
    stage_start(&stage);
    watcher_ref = stage_puppet_at(&stage, &watcher, 1);
    CHECK_OK(stage_do(&stage, watcher_ref, deal_with_far, &far));
    trp_runtime_node_down(stage.node.runtime, far.node + 1, TROUPE_EUNREACHABLE);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_REPLY) + probe_count(&watcher, PROBE_SIGNAL), 0);
    trp_runtime_node_down(stage.node.runtime, far.node, TROUPE_EUNREACHABLE);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_REPLY) == 3, STAGE_PATIENCE_MS);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == 3, STAGE_PATIENCE_MS);
    CHECK_ERR(probe_at(&watcher, PROBE_REPLY, 0).error, TROUPE_EUNREACHABLE);
    CHECK_ERR(probe_at(&watcher, PROBE_SIGNAL, 0).error, TROUPE_EUNREACHABLE);
    stage_close(&stage);
}

/* ---- at random ------------------------------------------------------------------------------- */

/* Actors watch and unwatch each other and die at random: whoever watched at the end is told, and nobody
 * twice. The model is kept by the one watcher itself. */
#define MARKS 40u

static troupe_ref_t marks[MARKS];
static bool is_watching[MARKS];
static uint32_t told[MARKS];
static trp_random_t random_source;

static troupe_err_t random_watch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (int i = 0; i < 50; i++) {
        uint32_t at = (uint32_t)trp_random_below(&random_source, MARKS);
        switch (trp_random_below(&random_source, 5)) {
        case 0:
        case 1:
            if (told[at] == 0) {
                CHECK_OK(troupe_watch(self, marks[at]));
                is_watching[at] = true;
            }
            break;
        case 2:
        case 3:
            troupe_unwatch(self, marks[at]);
            is_watching[at] = false;
            break;
        default:
            if (trp_random_below(&random_source, 10) == 0) {
                troupe_kill(self, marks[at]);
            }
        }
    }
    return TROUPE_OK;
}

static troupe_err_t count_told(troupe_actor_t *self, probe_t *probe, const troupe_signal_t *signal)
{
    (void)self;
    (void)probe;
    for (uint32_t i = 0; i < MARKS; i++) {
        if (troupe_ref_equal(signal->who, marks[i])) {
            CHECK_TRUE(is_watching[i]);
            told[i]++;
            is_watching[i] = false;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t kill_marks(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (uint32_t i = 0; i < MARKS; i++) {
        troupe_kill(self, marks[i]);
    }
    return TROUPE_OK;
}

static void whoever_watches_at_the_end_is_told_and_nobody_twice(void)
{
    trp_random_seed(&random_source, check_seed());
    for (uint64_t round = 0; round < check_count(20, 1000); round++) {
        memset(is_watching, 0, sizeof(is_watching));
        memset(told, 0, sizeof(told));
        begin(0);
        watcher.on_signal = count_told;
        for (uint32_t i = 0; i < MARKS; i++) {
            marks[i] = stage_puppet(&stage, &watched, NULL);
        }
        for (int i = 0; i < 20; i++) {
            stage_post(&stage, watcher_ref, random_watch, NULL);
        }
        CHECK_OK(stage_do(&stage, watcher_ref, random_watch, NULL));
        CHECK_OK(stage_do(&stage, watcher_ref, kill_marks, NULL));
        STAGE_QUIET(&stage);
        for (uint32_t i = 0; i < MARKS; i++) {
            CHECK_LE_U64(told[i], 1);
            CHECK_FALSE(is_watching[i]); /* Else it was not told. */
        }
        stage_close(&stage);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(a_watcher_is_told_once_with_the_reason),
    CHECK_CASE(watching_the_dead_tells_at_once),
    CHECK_CASE(after_unwatch_a_queued_notice_is_not_told),
    CHECK_CASE(who_unwatched_in_time_is_not_told),
    CHECK_CASE(ten_thousand_watches_and_unwatches_leave_one),
    CHECK_CASE(each_of_many_watchers_is_told),
    CHECK_CASE(watches_are_kept_over_a_restart_on_either_side),
    CHECK_CASE(an_actor_that_watches_itself_is_told_nothing),
    CHECK_CASE(when_a_node_goes_its_watchers_are_told_and_asks_to_it_fail),
    CHECK_CASE(whoever_watches_at_the_end_is_told_and_nobody_twice),
};

CHECK_MAIN("actor.watch", cases)
