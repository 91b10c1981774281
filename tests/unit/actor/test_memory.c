/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Without memory each call fails alone: it says so, changes nothing, and the rest goes on. */

#include "base/memory.h"

#include <string.h>

#include "actor/cell.h"
#include "actor/dispatcher.h"
#include "support/runtime.h"

#define STEPS_MAX 1000u /* A call that fails for longer never ends. */

static stage_t stage;
static probe_t probe_;
static probe_t child;
static probe_t other;
static troupe_ref_t who;
static troupe_ref_t other_ref;

/* One call that may fail; inside an actor. */
typedef troupe_err_t (*call_fn)(troupe_actor_t *self, uint64_t turn);
/* What must hold after it, whether it failed or not. */
typedef void (*after_fn)(troupe_actor_t *self, troupe_err_t err);

typedef struct calling {
    call_fn call;
    after_fn after;
    uint64_t failed;
    uint64_t passed;
} calling_t;

/* The call with its 1st, 2nd, ... allocation failing, alone and with all behind it, until none does. */
static troupe_err_t call_until_it_passes(troupe_actor_t *self, probe_t *probe, void *argument)
{
    calling_t *calling = argument;
    (void)probe;
    for (int mode = 0; mode < 2; mode++) {
        uint64_t failures = 1;
        for (uint64_t at = 0; failures > 0; at++) {
            if (mode == 0) {
                trp_memory_fail_once(at);
            } else {
                trp_memory_fail_after(at);
            }
            troupe_err_t err = calling->call(self, at);
            failures = trp_memory_fail_off();
            calling->failed += err != TROUPE_OK;
            calling->passed += err == TROUPE_OK;
            if (failures == 0) {
                CHECK_OK(err);
            } else if (err != TROUPE_OK && err != TROUPE_ENOMEM && err != TROUPE_EOVERLOAD &&
                       err != TROUPE_EFULL) {
                CHECK_ERR(err, TROUPE_ENOMEM);
            }
            if (calling->after != NULL) {
                calling->after(self, err);
            }
            REQUIRE(at < STEPS_MAX);
        }
    }
    return TROUPE_OK;
}

static void begin(void)
{
    probe_ = (probe_t){0};
    child = (probe_t){0};
    other = (probe_t){0};
    stage_open(&stage, NULL);
    who = stage_puppet_at(&stage, &probe_, 0);
    other_ref = stage_puppet_at(&stage, &other, 1);
}

static calling_t run_calls(call_fn call, after_fn after)
{
    calling_t calling = {call, after, 0, 0};
    CHECK_OK(stage_do(&stage, who, call_until_it_passes, &calling));
    CHECK_GT_U64(calling.passed, 0);
    return calling;
}

/* ---- spawning -------------------------------------------------------------------------------- */

static uint64_t children_wanted;
static char big_args[5000];

static troupe_err_t call_spawn(troupe_actor_t *self, uint64_t turn)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    puppet_args_t *args = (void *)big_args;
    char name[16] = "x";
    troupe_ref_t ref;
    (void)turn;
    args->probe = &child;
    name[0] = (char)('a' + children_wanted % 26);
    name[1] = (char)('a' + children_wanted / 26 % 26);
    options.name = name;
    options.args = big_args;
    options.args_size = children_wanted % 2 == 0 ? sizeof(*args) : sizeof(big_args);
    options.mailbox_len_max = 10;
    options.place = TROUPE_PLACE(children_wanted % 3 == 0 ? 1 : 0);
    return troupe_spawn(self, &puppet_behavior, &options, &ref);
}

static void after_spawn(troupe_actor_t *self, troupe_err_t err)
{
    children_wanted += err == TROUPE_OK;
    CHECK_EQ_U64(troupe_children_len(self), children_wanted);
}

static void a_spawn_that_fails_leaves_no_child(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        children_wanted = 0;
        calling_t calling = run_calls(call_spawn, after_spawn);
        CHECK_GT_U64(calling.failed, 0);
        troupe_port_kill(stage.port, who);
        CHECK_TRUE(stage_is_gone(&stage, who));
        CHECK_EQ_U64(probe_count(&child, PROBE_INIT), probe_count(&child, PROBE_STOP));
        who = stage_puppet_at(&stage, &probe_, 0);
    }
    stage_close(&stage);
}

/* ---- asking, timing, watching ---------------------------------------------------------------- */

static troupe_err_t call_ask(troupe_actor_t *self, uint64_t turn)
{
    static char body[60000];
    /* Larger each time, so that pools have no block at hand. */
    size_t size = (size_t)1 << (turn % 16);
    return troupe_ask(self, other_ref, TROUPE_TYPE_BYTES, body, size < sizeof(body) ? size : 7, 50,
                      puppet_reply, NULL);
}

static void an_ask_that_fails_is_not_answered(void)
{
    begin();
    calling_t calling = run_calls(call_ask, NULL);
    CHECK_GT_U64(calling.failed, 0);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_REPLY) == calling.passed, STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&probe_, PROBE_REPLY), calling.passed);
    stage_close(&stage);
}

static uint64_t timer_key;

static troupe_err_t call_timer(troupe_actor_t *self, uint64_t turn)
{
    (void)turn;
    return troupe_timer_once(self, timer_key, 1, TROUPE_TYPE_BYTES, &timer_key, sizeof(timer_key));
}

static void after_timer(troupe_actor_t *self, troupe_err_t err)
{
    CHECK_EQ_U64(troupe_timer_is_active(self, timer_key), err == TROUPE_OK);
    timer_key++;
}

static void a_timer_that_fails_does_not_fire(void)
{
    begin();
    timer_key = 0;
    calling_t calling = run_calls(call_timer, after_timer);
    CHECK_GT_U64(calling.failed, 0);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_MESSAGE) == calling.passed, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_ref_t watched[64];
static uint32_t watched_len;

static troupe_err_t call_watch(troupe_actor_t *self, uint64_t turn)
{
    return troupe_watch(self, watched[turn % watched_len]);
}

static void a_watch_that_fails_tells_nothing(void)
{
    begin();
    for (watched_len = 0; watched_len < 8; watched_len++) {
        watched[watched_len] = stage_puppet(&stage, &child, NULL);
    }
    calling_t calling = run_calls(call_watch, NULL);
    CHECK_GT_U64(calling.failed, 0);
    for (uint32_t i = 0; i < watched_len; i++) {
        troupe_port_kill(stage.port, watched[i]);
        CHECK_TRUE(stage_is_gone(&stage, watched[i]));
    }
    STAGE_QUIET(&stage);
    CHECK_LE_U64(probe_count(&probe_, PROBE_SIGNAL), calling.passed);
    CHECK_GE_U64(probe_count(&probe_, PROBE_SIGNAL), 1);
    stage_close(&stage);
}

/* ---- sending --------------------------------------------------------------------------------- */

static uint64_t told;

static troupe_err_t call_tell(troupe_actor_t *self, uint64_t turn)
{
    static char body[60000];
    size_t size = (size_t)8 << (turn % 13);
    troupe_ref_t to = turn % 2 == 0 ? other_ref : troupe_self(self);
    return troupe_tell(self, to, TROUPE_TYPE_BYTES, body, size < sizeof(body) ? size : 8);
}

static void after_tell(troupe_actor_t *self, troupe_err_t err)
{
    (void)self;
    told += err == TROUPE_OK;
}

static void a_tell_that_fails_is_counted_and_nothing_else_is_lost(void)
{
    begin();
    told = 0;
    for (int i = 0; i < 30; i++) {
        (void)run_calls(call_tell, after_tell);
    }
    CHECK_EVENTUALLY(probe_count(&other, PROBE_MESSAGE) + probe_count(&probe_, PROBE_MESSAGE) ==
                         told,
                     STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_err_t call_selection(troupe_actor_t *self, uint64_t turn)
{
    (void)turn;
    return troupe_tell_selection(self, "/user/*", TROUPE_TYPE_BYTES, "x", 1);
}

static troupe_err_t call_become(troupe_actor_t *self, uint64_t turn)
{
    (void)turn;
    troupe_err_t err = troupe_become(self, puppet_behavior.receive);
    return err == TROUPE_EFULL ? TROUPE_OK : err;
}

static troupe_err_t call_events(troupe_actor_t *self, uint64_t turn)
{
    (void)turn;
    return troupe_events_subscribe(self, TROUPE_EVENT_FAILURE);
}

static troupe_err_t call_idle(troupe_actor_t *self, uint64_t turn)
{
    (void)turn;
    return troupe_receive_timeout(self, 3600000);
}

static troupe_err_t work(void *context)
{
    (void)context;
    return TROUPE_OK;
}

static troupe_err_t work_done(troupe_actor_t *self, void *state, troupe_err_t result, void *context)
{
    (void)self;
    (void)state;
    (void)result;
    atomic_fetch_add((_Atomic uint64_t *)context, 1);
    return TROUPE_OK;
}

static _Atomic uint64_t works_done;

static troupe_err_t call_offload(troupe_actor_t *self, uint64_t turn)
{
    (void)turn;
    return troupe_offload(self, work, work_done, &works_done);
}

static troupe_err_t call_router(troupe_actor_t *self, uint64_t turn)
{
    troupe_router_options_t options = TROUPE_ROUTER_OPTIONS_INIT;
    troupe_ref_t ref;
    (void)turn;
    options.route = TROUPE_ROUTE_RANDOM;
    options.routees = &other_ref;
    options.routees_len = 1;
    return troupe_router_spawn(self, &options, &ref);
}

static troupe_err_t call_body(troupe_actor_t *self, uint64_t turn)
{
    static char data[60000];
    troupe_body_t *body = NULL;
    size_t size = (size_t)8 << (turn % 13);
    troupe_err_t err = troupe_body_create(self, TROUPE_TYPE_BYTES, data, size, &body);
    if (err == TROUPE_OK) {
        err = troupe_tell_shared(self, other_ref, body);
    }
    troupe_body_unref(&body);
    return err;
}

static void the_other_calls_fail_alone_too(void)
{
    static const call_fn calls[] = {call_selection, call_become, call_events, call_idle,
                                    call_offload,   call_router, call_body};
    uint64_t passed = 0;
    begin();
    atomic_store(&works_done, 0);
    for (size_t i = 0; i < TRP_ARRAY_LEN(calls); i++) {
        calling_t calling = run_calls(calls[i], NULL);
        passed += calls[i] == call_offload ? calling.passed : 0;
        troupe_port_kill(stage.port, who); /* Next, one that has nothing yet. */
        CHECK_TRUE(stage_is_gone(&stage, who));
        who = stage_puppet_at(&stage, &probe_, 0);
    }
    CHECK_EVENTUALLY(atomic_load(&works_done) == passed, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

/* ---- in callbacks of others ------------------------------------------------------------------ */

/* Everything that the dispatcher does for this actor's failure and restart happens without memory. */
static troupe_err_t fail_without_memory(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    trp_memory_fail_after(*(uint64_t *)argument);
    return TROUPE_EFAILED;
}

static troupe_err_t memory_is_back(troupe_actor_t *self, probe_t *probe)
{
    (void)self;
    (void)probe;
    (void)trp_memory_fail_off();
    return TROUPE_OK;
}

static void a_failure_without_memory_ends_in_a_restart_or_a_stop(void)
{
    begin();
    for (uint64_t at = 0; at < 20; at++) {
        probe_t frail = {.on_init = memory_is_back, .on_stop = memory_is_back};
        troupe_ref_t ref = stage_puppet_at(&stage, &frail, (uint32_t)at % STAGE_DISPATCHERS);
        CHECK_ERR(stage_do(&stage, ref, fail_without_memory, &at), TROUPE_EFAILED);
        CHECK_EVENTUALLY(probe_count(&frail, PROBE_STOP) == 1, STAGE_PATIENCE_MS);
        troupe_port_kill(stage.port, ref);
        CHECK_TRUE(stage_is_gone(&stage, ref));
    }
    stage_close(&stage);
}

/* A burst of kills while the dispatcher has no memory and no block at hand: the reserve carries them. */
static troupe_err_t kill_without_memory(troupe_actor_t *self, probe_t *probe, void *argument)
{
    enum { LEN = 100000 };
    static void *blocks[LEN];
    uint32_t len = 0;
    trp_pool_t *pool = &self->dispatcher->endpoint.pool;
    (void)probe;
    (void)argument;
    trp_memory_fail_after(0);
    while (len < LEN && (blocks[len] = trp_pool_take(pool, 0, true)) != NULL) {
        len++;
    }
    for (uint32_t i = 0; i < watched_len; i++) {
        troupe_kill(self, watched[i]);
    }
    (void)trp_memory_fail_off();
    while (len > 0) {
        trp_pool_put(pool, 0, blocks[--len]);
    }
    return TROUPE_OK;
}

static troupe_err_t watch_them(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (uint32_t i = 0; i < watched_len; i++) {
        CHECK_OK(troupe_watch(self, watched[i]));
    }
    return TROUPE_OK;
}

static void system_messages_pass_without_memory(void)
{
    for (int round = 0; round < 5; round++) {
        begin();
        for (watched_len = 0; watched_len < TRP_ARRAY_LEN(watched); watched_len++) {
            watched[watched_len] = stage_puppet(&stage, &child, NULL);
        }
        CHECK_OK(stage_do(&stage, who, watch_them, NULL));
        CHECK_OK(stage_do(&stage, who, kill_without_memory, NULL));
        CHECK_EVENTUALLY(probe_count(&probe_, PROBE_SIGNAL) == watched_len, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(stage_stats(&stage).system.dropped[TROUPE_DROP_NO_MEMORY], 0);
        stage_close(&stage);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(a_spawn_that_fails_leaves_no_child),
    CHECK_CASE(an_ask_that_fails_is_not_answered),
    CHECK_CASE(a_timer_that_fails_does_not_fire),
    CHECK_CASE(a_watch_that_fails_tells_nothing),
    CHECK_CASE(a_tell_that_fails_is_counted_and_nothing_else_is_lost),
    CHECK_CASE(the_other_calls_fail_alone_too),
    CHECK_CASE(a_failure_without_memory_ends_in_a_restart_or_a_stop),
    CHECK_CASE(system_messages_pass_without_memory),
};

CHECK_MAIN("actor.memory", cases)
