/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Nothing is lost silently: made and received is taken, handed over, dropped or in flight. */

#include <troupe/stats.h>

#include <string.h>

#include "actor/dispatcher.h"
#include "base/random.h"
#include "support/runtime.h"

static stage_t stage;

/* ---- under load ------------------------------------------------------------------------------ */

#define WORKERS 12u

static troupe_ref_t workers[WORKERS];
static probe_t worker_probe;
static trp_random_t randoms[WORKERS];
static _Atomic uint64_t stop_at;

static troupe_err_t worker_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                 void *context)
{
    (void)self;
    (void)state;
    (void)context;
    return reply->error == TROUPE_EFULL ? TROUPE_EFAILED : TROUPE_OK;
}

static troupe_ref_t some_worker(trp_random_t *random)
{
    return workers[trp_random_below(random, WORKERS)];
}

/* All that an actor can do to others and itself, at random. */
static troupe_err_t work_step(troupe_actor_t *self, trp_random_t *random)
{
    uint64_t body[4] = {trp_random_next(random), 0, 0, 0};
    troupe_ref_t to = some_worker(random);
    switch (trp_random_below(random, 16)) {
    case 0:
        return troupe_ask(self, to, TROUPE_TYPE_BYTES, body, sizeof(body), 1, worker_reply, NULL);
    case 1:
        return troupe_watch(self, to);
    case 2:
        troupe_unwatch(self, to);
        return TROUPE_OK;
    case 3:
        return troupe_timer_once(self, body[0] % 8, body[0] % 3, TROUPE_TYPE_BYTES, body, 8);
    case 4: {
        troupe_err_t err = troupe_stash(self);
        return err == TROUPE_EFULL || err == TROUPE_EBUSY ? TROUPE_OK : err;
    }
    case 5:
        troupe_unstash_all(self);
        return TROUPE_OK;
    case 6: {
        troupe_err_t err = troupe_forward(self, to);
        return err == TROUPE_EBUSY ? TROUPE_OK : err;
    }
    case 7:
        return troupe_tell_selection(self, "/user/*/*", TROUPE_TYPE_BYTES, body, sizeof(body));
    case 8: {
        puppet_args_t args = {&worker_probe};
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        troupe_ref_t child;
        options.args = &args;
        options.args_size = sizeof(args);
        troupe_err_t err = troupe_spawn(self, &puppet_behavior, &options, &child);
        if (err == TROUPE_OK) {
            (void)!troupe_tell(self, child, TROUPE_TYPE_BYTES, body, sizeof(body));
            troupe_poison(self, child);
        }
        return err;
    }
    case 9:
        return trp_random_below(random, 20) == 0 ? TROUPE_EFAILED : TROUPE_OK;
    case 10:
        if (trp_random_below(random, 4) == 0) {
            troupe_err_t err = troupe_hold(self, 1);
            return err == TROUPE_EBUSY ? TROUPE_OK : err;
        }
        return TROUPE_OK;
    default:
        return troupe_tell(self, to, TROUPE_TYPE_BYTES, body, sizeof(body));
    }
}

static troupe_err_t worker_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    uint32_t index = *(uint32_t *)state;
    (void)message;
    if (atomic_fetch_add(&worker_probe.number, 1) >= atomic_load(&stop_at)) {
        return TROUPE_OK;
    }
    for (int i = 0; i < 2; i++) {
        troupe_err_t err = work_step(self, &randoms[index]);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t worker_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(state, args, sizeof(uint32_t));
    return TROUPE_OK;
}

static const troupe_behavior_t worker_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.worker",
    .state_size = sizeof(uint32_t),
    .init = worker_init,
    .receive = worker_receive,
};

static void worker_spawn(uint32_t index)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.args = &index;
    options.args_size = sizeof(index);
    options.mailbox_len_max = index % 3 == 0 ? 50 : 0;
    options.overflow = (troupe_overflow_t)(index % 2);
    options.place = TROUPE_PLACE(index % STAGE_DISPATCHERS);
    REQUIRE_OK(troupe_node_spawn(&stage.node, &worker_behavior, &options, &workers[index]));
}

static void under_kills_and_restarts_the_law_holds_at_quiet(void)
{
    worker_probe = (probe_t){0};
    stage_open(&stage, NULL);
    for (uint32_t i = 0; i < WORKERS; i++) {
        trp_random_seed(&randoms[i], check_seed() + i);
        workers[i] = (troupe_ref_t){42, 0};
    }
    for (uint64_t round = 1; round <= check_count(20, 300); round++) {
        for (uint32_t i = 0; i < WORKERS; i++) {
            worker_spawn(i);
        }
        atomic_store(&stop_at, round * 5000);
        for (uint64_t i = 0; i < 300; i++) {
            stage_tell(&stage, workers[i % WORKERS], i);
        }
        for (uint32_t i = 0; i < WORKERS; i += 2) {
            troupe_port_kill(stage.port, workers[i]);
        }
        troupe_stats_t stats = {0};
        CHECK_TRUE(stage_is_quiet(&stage, &stats));
        CHECK_TRUE(stats_balance(&stats));
        for (uint32_t i = 0; i < WORKERS; i++) {
            troupe_port_kill(stage.port, workers[i]);
            CHECK_TRUE(stage_is_gone(&stage, workers[i]));
        }
        CHECK_TRUE(stage_is_quiet(&stage, &stats));
        CHECK_EQ_U64(stats.user.in_flight, 0);
        CHECK_EQ_U64(stats.system.in_flight, 0);
    }
    CHECK_GT_U64(stage_stats(&stage).user.made, 20000);
    stage_close(&stage);
}

/* ---- a wrong counter shows ------------------------------------------------------------------- */

typedef struct forgery {
    size_t offset; /* Of a counter in the dispatcher. */
    uint64_t add;
    _Atomic bool *is_done;
} forgery_t;

static void forge_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    forgery_t forgery;
    uint64_t counter = 0;
    (void)size;
    memcpy(&forgery, payload, sizeof(forgery));
    char *at = (char *)d + forgery.offset;
    memcpy(&counter, at, sizeof(counter));
    counter += forgery.add;
    memcpy(at, &counter, sizeof(counter));
    atomic_store(forgery.is_done, true);
}

static void forge(size_t offset, uint64_t add)
{
    _Atomic bool is_done = false;
    forgery_t forgery = {offset, add, &is_done};
    REQUIRE_OK(trp_runtime_post(stage.node.runtime, 0, forge_task, &forgery, sizeof(forgery)));
    REQUIRE(CHECK_WAIT(atomic_load(&is_done), STAGE_PATIENCE_MS));
}

static void a_falsified_counter_breaks_the_law(void)
{
    static const size_t offsets[] = {
        offsetof(trp_dispatcher_t, user.made),
        offsetof(trp_dispatcher_t, user.received),
        offsetof(trp_dispatcher_t, user.taken),
        offsetof(trp_dispatcher_t, user.dropped),
        offsetof(trp_dispatcher_t, system.made),
        offsetof(trp_dispatcher_t, system.received),
        offsetof(trp_dispatcher_t, system.taken),
        offsetof(trp_dispatcher_t, system.dropped),
        offsetof(trp_dispatcher_t, user.dropped[TROUPE_DROP_PROTOCOL]),
    };
    probe_t probe = {0};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet(&stage, &probe, NULL);
    for (uint64_t i = 0; i < 100; i++) {
        stage_tell(&stage, who, i);
    }
    STAGE_QUIET(&stage);
    for (size_t i = 0; i < TRP_ARRAY_LEN(offsets); i++) {
        forge(offsets[i], 1);
        troupe_stats_t stats = stage_stats(&stage);
        CHECK_FALSE(stats_balance(&stats));
        forge(offsets[i], UINT64_MAX);
        stats = stage_stats(&stage);
        CHECK_TRUE(stats_balance(&stats));
    }
    stage_close(&stage);
}

/* ---- in flight is counted -------------------------------------------------------------------- */

static _Atomic bool may_go_on;

static troupe_err_t keep_busy(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)argument;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load(&may_go_on), STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static troupe_err_t hold_long(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    return troupe_hold(self, 3600000);
}

static void mail_of_a_held_actor_is_in_flight(void)
{
    probe_t probe = {0};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet(&stage, &probe, NULL);
    CHECK_OK(stage_do(&stage, who, hold_long, NULL));
    for (uint64_t i = 0; i < 77; i++) {
        stage_tell(&stage, who, i);
    }
    troupe_port_poison(stage.port, who);
    troupe_stats_t stats = {0};
    CHECK_TRUE(stage_is_quiet(&stage, &stats));
    CHECK_EQ_U64(stats.user.in_flight, 77);
    CHECK_EQ_U64(stats.system.in_flight, 1);
    stage_close(&stage);
}

static void a_dispatcher_that_is_stuck_is_a_time_out(void)
{
    probe_t probe = {0};
    troupe_stats_t stats = {.size = sizeof(stats)};
    atomic_store(&may_go_on, false);
    stage_open(&stage, NULL);
    stage_post(&stage, stage_puppet(&stage, &probe, NULL), keep_busy, NULL);
    CHECK_EVENTUALLY(probe_count(&probe, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
    CHECK_ERR(troupe_node_stats(&stage.node, 20, &stats), TROUPE_ETIMEOUT);
    atomic_store(&may_go_on, true);
    CHECK_OK(troupe_node_stats(&stage.node, STAGE_PATIENCE_MS, &stats));
    stats.size--;
    CHECK_ERR(troupe_node_stats(&stage.node, 20, &stats), TROUPE_EINVAL);
    CHECK_ERR(troupe_node_stats(NULL, 20, &stats), TROUPE_EINVAL);
    CHECK_ERR(troupe_node_stats(&stage.node, 20, NULL), TROUPE_EINVAL);
    stage_close(&stage);
}

static void steady_messages_allocate_nothing_and_take_no_more_memory(void)
{
    probe_t probe = {0};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet_at(&stage, &probe, 1);
    size_t bytes = 0;
    for (uint64_t i = 0; i < check_count(100000, 3000000); i++) {
        stage_tell(&stage, who, i);
        if (i == 20000) {
            STAGE_QUIET(&stage);
            bytes = stage.node.runtime->depot.slab_bytes;
        }
    }
    STAGE_QUIET(&stage);
    CHECK_LE_U64(stage.node.runtime->depot.slab_bytes, bytes + (size_t)1024 * 1024);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(under_kills_and_restarts_the_law_holds_at_quiet),
    CHECK_CASE(a_falsified_counter_breaks_the_law),
    CHECK_CASE(mail_of_a_held_actor_is_in_flight),
    CHECK_CASE(a_dispatcher_that_is_stuck_is_a_time_out),
    CHECK_CASE(steady_messages_allocate_nothing_and_take_no_more_memory),
};

CHECK_MAIN("actor.stats", cases)
