/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The runtime as a whole: making it, two in one process, tasks, endpoints of other threads, its end. */

#include "actor/runtime.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "actor/dispatcher.h"
#include "base/clock.h"
#include "base/memory.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t probe_;

/* ---- making ---------------------------------------------------------------------------------- */

static void options_that_make_no_sense_are_refused(void)
{
    static const trp_group_options_t none[] = {{"", 1}};
    static const trp_group_options_t empty[] = {{"a", 0}};
    static const trp_group_options_t twice[] = {{"a", 1}, {"a", 1}};
    static const trp_group_options_t known[] = {{"default", 1}};
    static const trp_group_options_t system[] = {{"system", 1}};
    static const trp_group_options_t many[] = {{"a", TRP_DISPATCHERS_MAX}};
    static const struct {
        const trp_group_options_t *groups;
        size_t len;
        troupe_err_t err;
    } bad[] = {
        {none, 1, TROUPE_EINVAL},  {empty, 1, TROUPE_EINVAL},  {twice, 2, TROUPE_EEXIST},
        {known, 1, TROUPE_EEXIST}, {system, 1, TROUPE_EEXIST}, {many, 1, TROUPE_EFULL},
    };
    trp_runtime_t *runtime = NULL;
    CHECK_ERR(trp_runtime_create(&(trp_runtime_options_t){0}, &runtime), TROUPE_EINVAL);
    for (size_t i = 0; i < TRP_ARRAY_LEN(bad); i++) {
        trp_runtime_options_t options = {
            .uid = 1, .dispatchers = 1, .groups = bad[i].groups, .groups_len = bad[i].len};
        CHECK_ERR(trp_runtime_create(&options, &runtime), bad[i].err);
    }
    CHECK_NULL(runtime);
    trp_runtime_destroy(&runtime); /* NULL does nothing. */
}

/* A pool may do without a single allocation that failed: then there is a runtime all the same. */
static uint64_t create_failing(void (*set_up)(uint64_t), uint64_t at, bool may_pass)
{
    trp_runtime_options_t options = {.uid = 1, .dispatchers = 2};
    trp_runtime_t *runtime = NULL;
    int64_t live = trp_memory_live();
    set_up(at);
    troupe_err_t err = trp_runtime_create(&options, &runtime);
    uint64_t failed = trp_memory_fail_off();
    CHECK_EQ_U64(runtime != NULL, err == TROUPE_OK);
    CHECK_TRUE(err == (failed > 0 ? TROUPE_ENOMEM : TROUPE_OK) || (may_pass && err == TROUPE_OK));
    trp_runtime_destroy(&runtime);
    CHECK_EQ_I64(trp_memory_live(), live);
    return failed;
}

static void without_memory_there_is_no_runtime_and_nothing_leaks(void)
{
    for (uint64_t at = 0; create_failing(trp_memory_fail_once, at, true) > 0; at++) {
    }
    for (uint64_t at = 0; create_failing(trp_memory_fail_after, at, false) > 0; at++) {
    }
}

typedef struct hooked {
    _Atomic uint32_t attached;
    _Atomic uint32_t detached;
    uint32_t fail_at; /* The dispatcher that can't be attached to. */
} hooked_t;

static troupe_err_t hook_attach(void *context, trp_dispatcher_t *d)
{
    hooked_t *hooked = context;
    if (d->index == hooked->fail_at) {
        return TROUPE_EFAILED;
    }
    atomic_fetch_add(&hooked->attached, 1);
    return TROUPE_OK;
}

static void hook_detach(void *context, trp_dispatcher_t *d)
{
    hooked_t *hooked = context;
    CHECK_EQ_U64(d->actors, 0); /* The actors have ended. */
    atomic_fetch_add(&hooked->detached, 1);
}

static void hooks_are_attached_and_detached_on_each_dispatcher(void)
{
    hooked_t hooked = {.fail_at = UINT32_MAX};
    trp_runtime_hook_t hook = {&hooked, hook_attach, hook_detach};
    stage_create(&stage, NULL);
    CHECK_OK(trp_runtime_add_hook(stage.node.runtime, &hook));
    CHECK_OK(trp_runtime_add_hook(stage.node.runtime, &hook));
    stage_start(&stage);
    CHECK_EQ_U64(atomic_load(&hooked.attached), 2 * (STAGE_DISPATCHERS + 1));
    stage_close(&stage);
    CHECK_EQ_U64(atomic_load(&hooked.detached), 2 * (STAGE_DISPATCHERS + 1));
}

static void a_hook_that_fails_ends_the_start(void)
{
    for (uint32_t at = 0; at <= STAGE_DISPATCHERS; at++) {
        hooked_t hooked = {.fail_at = at};
        trp_runtime_hook_t hook = {&hooked, hook_attach, hook_detach};
        stage_create(&stage, NULL);
        CHECK_OK(trp_runtime_add_hook(stage.node.runtime, &hook));
        CHECK_ERR(trp_runtime_start(stage.node.runtime), TROUPE_EFAILED);
        CHECK_EQ_U64(atomic_load(&hooked.attached), STAGE_DISPATCHERS);
        CHECK_EQ_U64(atomic_load(&hooked.detached), STAGE_DISPATCHERS);
        trp_runtime_destroy(&stage.node.runtime);
        CHECK_EQ_I64(trp_memory_live(), stage.memory_before);
    }
}

static void there_is_a_greatest_number_of_hooks(void)
{
    hooked_t hooked = {.fail_at = UINT32_MAX};
    trp_runtime_hook_t hook = {&hooked, hook_attach, hook_detach};
    stage_create(&stage, NULL);
    for (uint32_t i = 0; i < TRP_HOOKS_MAX; i++) {
        CHECK_OK(trp_runtime_add_hook(stage.node.runtime, &hook));
    }
    CHECK_ERR(trp_runtime_add_hook(stage.node.runtime, &hook), TROUPE_EFULL);
    trp_runtime_destroy(&stage.node.runtime);
}

/* ---- two in one process ---------------------------------------------------------------------- */

static void two_runtimes_live_in_one_process_and_know_nothing_of_each_other(void)
{
    stage_t stages[2];
    probe_t probes[2] = {{0}, {0}};
    troupe_ref_t refs[2];
    int64_t before = trp_memory_live();
    for (size_t i = 0; i < 2; i++) {
        stage_open(&stages[i], &(trp_runtime_options_t){.uid = 100 + i});
        refs[i] = stage_puppet(&stages[i], &probes[i], NULL);
    }
    for (uint64_t i = 0; i < 1000; i++) {
        stage_tell(&stages[0], refs[0], i);
        stage_tell(&stages[1], refs[1], i);
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_EVENTUALLY(probe_count(&probes[i], PROBE_MESSAGE) == 1000, STAGE_PATIENCE_MS);
    }
    stage_tell(&stages[0], refs[1], 1); /* Another node, for all this one knows. */
    CHECK_EVENTUALLY(stage_stats(&stages[0]).user.dropped[TROUPE_DROP_UNKNOWN_NODE] == 1,
                     STAGE_PATIENCE_MS);
    for (size_t i = 0; i < 2; i++) {
        stages[i].memory_before = trp_memory_live(); /* They end one after the other. */
        CHECK_OK(trp_runtime_stop_users(stages[i].node.runtime, UINT64_MAX / 2));
        STAGE_QUIET(&stages[i]);
        troupe_port_close(&stages[i].port);
        trp_runtime_destroy(&stages[i].node.runtime);
    }
    CHECK_EQ_I64(trp_memory_live(), before);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

typedef struct counter {
    _Atomic uint64_t runs;
    uint64_t len;
    bool is_inside;
} counter_t;

static void repost_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    counter_t *counter = NULL;
    memcpy(&counter, payload, sizeof(counter));
    CHECK_FALSE(counter->is_inside); /* Never nested. */
    counter->is_inside = true;
    if (atomic_fetch_add(&counter->runs, 1) + 1 < counter->len) {
        CHECK_OK(trp_dispatcher_post(d, d->index, repost_task, payload, size));
    }
    counter->is_inside = false;
}

static void a_task_that_posts_itself_again_neither_nests_nor_starves_others(void)
{
    counter_t counter = {.len = check_count(100000, 2000000)};
    counter_t *pointer = &counter;
    probe_ = (probe_t){0};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet_at(&stage, &probe_, 0);
    CHECK_OK(trp_runtime_post(stage.node.runtime, 0, repost_task, &pointer, sizeof(pointer)));
    stage_tell(&stage, who, 1);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EVENTUALLY(atomic_load(&counter.runs) == counter.len, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

/* Each payload byte arrives, up to the largest. */
typedef struct bulk {
    uint8_t bytes[TRP_TASK_SIZE_MAX];
} bulk_t;

static _Atomic uint64_t bulk_sum;

static void bulk_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    uint64_t sum = 0;
    (void)d;
    for (size_t i = 0; i < size; i++) {
        sum += ((const uint8_t *)payload)[i];
    }
    atomic_fetch_add(&bulk_sum, sum + (size << 32));
}

static void a_task_s_payload_arrives_whole(void)
{
    bulk_t bulk;
    uint64_t sum = 0;
    uint64_t sizes = 0;
    stage_open(&stage, NULL);
    atomic_store(&bulk_sum, 0);
    for (size_t i = 0; i < sizeof(bulk); i++) {
        bulk.bytes[i] = (uint8_t)(i * 7);
    }
    for (size_t size = 0; size <= sizeof(bulk); size++) {
        for (size_t i = 0; i < size; i++) {
            sum += bulk.bytes[i];
        }
        sizes += size;
        CHECK_OK(trp_runtime_post(stage.node.runtime, size % 2, bulk_task, &bulk, size));
    }
    CHECK_EVENTUALLY(atomic_load(&bulk_sum) == sum + (sizes << 32), STAGE_PATIENCE_MS);
    stage_close(&stage);
}

/* ---- endpoints of other threads -------------------------------------------------------------- */

typedef struct order_check {
    _Atomic uint64_t *next;
    uint64_t number;
} order_check_t;

static void number_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    order_check_t check;
    (void)d;
    (void)size;
    memcpy(&check, payload, sizeof(check));
    uint64_t expected = atomic_load_explicit(check.next, memory_order_relaxed);
    CHECK_EQ_U64(check.number, expected);
    atomic_store_explicit(check.next, expected + 1, memory_order_release);
}

static void sleep_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    _Atomic bool *may_go_on = NULL;
    (void)d;
    (void)size;
    memcpy(&may_go_on, payload, sizeof(may_go_on));
    CHECK_TRUE(CHECK_WAIT(atomic_load(may_go_on), STAGE_PATIENCE_MS));
}

static void posts_of_a_thread_keep_their_order_through_closing_and_reopening(void)
{
    _Atomic uint64_t next[2] = {0, 0};
    uint64_t sent[2] = {0, 0};
    stage_open(&stage, NULL);
    for (int round = 0; round < 20; round++) {
        trp_endpoint_t endpoint;
        REQUIRE_OK(trp_endpoint_open(&endpoint, stage.node.runtime));
        CHECK_EQ_U64(endpoint.index, STAGE_DISPATCHERS + 1);
        for (int i = 0; i < 3000; i++) {
            uint32_t to = (uint32_t)i % 2;
            order_check_t check = {&next[to], sent[to]++};
            CHECK_OK(trp_endpoint_post(&endpoint, to, number_task, &check, sizeof(check)));
        }
        trp_endpoint_close(&endpoint);
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_EVENTUALLY(atomic_load(&next[i]) == sent[i], STAGE_PATIENCE_MS);
    }
    stage_close(&stage);
}

/* What found no room as the endpoint closed is sent by the next one of its index. */
static void what_an_endpoint_left_behind_is_sent_by_the_next(void)
{
    _Atomic bool may_go_on = false;
    _Atomic bool *pointer = &may_go_on;
    _Atomic uint64_t next = 0;
    trp_endpoint_t endpoint;
    stage_open(&stage, NULL);
    REQUIRE_OK(trp_endpoint_open(&endpoint, stage.node.runtime));
    CHECK_OK(trp_endpoint_post(&endpoint, 0, sleep_task, &pointer, sizeof(pointer)));
    for (uint64_t i = 0; i < 2000; i++) {
        order_check_t check = {&next, i};
        CHECK_OK(trp_endpoint_post(&endpoint, 0, number_task, &check, sizeof(check)));
    }
    trp_endpoint_close(&endpoint); /* Gives up after a while. */
    REQUIRE_OK(trp_endpoint_open(&endpoint, stage.node.runtime));
    atomic_store(&may_go_on, true);
    for (uint64_t i = 2000; i < 2003; i++) {
        order_check_t check = {&next, i};
        CHECK_OK(trp_endpoint_post(&endpoint, 0, number_task, &check, sizeof(check)));
    }
    CHECK_EVENTUALLY((trp_endpoint_flush(&endpoint), atomic_load(&next) == 2003),
                     STAGE_PATIENCE_MS);
    trp_endpoint_close(&endpoint);
    stage_close(&stage);
}

static void an_endpoint_that_waits_for_room_is_woken(void)
{
    _Atomic uint64_t next = 0;
    trp_endpoint_t endpoint;
    stage_open(&stage, NULL);
    REQUIRE_OK(trp_endpoint_open(&endpoint, stage.node.runtime));
    uint64_t len = check_count(50000, 1000000);
    for (uint64_t i = 0; i < len; i++) {
        order_check_t check = {&next, i};
        REQUIRE_OK(trp_endpoint_post(&endpoint, 1, number_task, &check, sizeof(check)));
        while (trp_endpoint_flush(&endpoint)) {
            struct pollfd poll_fd = {.fd = endpoint.waker.fd, .events = POLLIN};
            atomic_store(&endpoint.waker.is_sleeping, true);
            if (!trp_endpoint_wants_room(&endpoint)) {
                REQUIRE(poll(&poll_fd, 1, 20000) == 1);
            }
            atomic_store(&endpoint.waker.is_sleeping, false);
            uint64_t count = 0;
            (void)!read(endpoint.waker.fd, &count, sizeof(count));
        }
    }
    CHECK_EVENTUALLY(atomic_load(&next) == len, STAGE_PATIENCE_MS);
    trp_endpoint_close(&endpoint);
    stage_close(&stage);
}

static void there_is_a_greatest_number_of_endpoints(void)
{
    static trp_endpoint_t endpoints[TRP_ENDPOINTS_MAX];
    uint32_t len = 0;
    trp_endpoint_t one_more;
    trp_runtime_options_t options = {.dispatchers = 125};
    stage_open(&stage, &options);
    while (len < 6) {
        REQUIRE_OK(trp_endpoint_open(&endpoints[len++], stage.node.runtime));
    }
    CHECK_ERR(trp_endpoint_open(&one_more, stage.node.runtime), TROUPE_EFULL);
    while (len > 0) {
        trp_endpoint_close(&endpoints[--len]);
    }
    stage_close(&stage);
}

/* ---- the end --------------------------------------------------------------------------------- */

static troupe_err_t grow(troupe_actor_t *self, probe_t *probe)
{
    uint64_t number = atomic_fetch_add(&probe->number, 1);
    for (uint32_t i = 0; i < 3 && number < 2000; i++) {
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        troupe_ref_t ref;
        char name[32];
        (void)snprintf(name, sizeof(name), "n%" PRIu64 "-%u", number, i);
        options.name = i == 0 ? name : NULL;
        options.place = TROUPE_PLACE(i % STAGE_DISPATCHERS);
        CHECK_OK(puppet_spawn(self, probe, &options, &ref));
        CHECK_OK(troupe_watch(self, ref));
        CHECK_OK(puppet_tell(self, ref, 1));
        CHECK_OK(troupe_ask(self, ref, TROUPE_TYPE_BYTES, NULL, 0, 3600000, puppet_reply, NULL));
        CHECK_OK(troupe_timer_every(self, i, 1, TROUPE_TYPE_BYTES, NULL, 0));
        CHECK_OK(troupe_tell_selection(self, "/user/*/*", TROUPE_TYPE_BYTES, NULL, 0));
    }
    return TROUPE_OK;
}

/* The runtime ends while a tree grows: nothing leaks, nothing crashes. */
static void a_hard_stop_in_the_midst_of_work_leaks_nothing(void)
{
    for (uint64_t round = 0; round < check_count(20, 500); round++) {
        probe_ = (probe_t){.on_init = grow};
        stage_open(&stage, NULL);
        (void)stage_puppet(&stage, &probe_, NULL);
        uint64_t wanted = round * 40;
        (void)CHECK_WAIT(atomic_load(&probe_.number) > wanted, 1000);
        stage_close_hard(&stage);
        CHECK_EQ_U64(probe_count(&probe_, PROBE_INIT), probe_count(&probe_, PROBE_STOP));
    }
}

typedef struct caller {
    stage_t *stage;
    uint32_t kind;
    _Atomic uint64_t *calls;
    troupe_inbox_t *inbox;
    troupe_ref_t who;
} caller_t;

/* Calls until it is told that the node has stopped. */
static void *caller_run(void *argument)
{
    caller_t *caller = argument;
    troupe_err_t err = TROUPE_OK;
    while (err != TROUPE_ESTOPPED) {
        puppet_args_t args = {&probe_};
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        troupe_stats_t stats = {.size = sizeof(stats)};
        troupe_letter_t *letter = NULL;
        options.args = &args;
        options.args_size = sizeof(args);
        switch (caller->kind % 4) {
        case 0:
            err = troupe_node_spawn(&caller->stage->node, &puppet_behavior, &options, NULL);
            break;
        case 1:
            err = troupe_inbox_ask(caller->inbox, caller->who, TROUPE_TYPE_BYTES, NULL, 0, 60000,
                                   &letter);
            troupe_letter_free(&letter);
            break;
        case 2:
            err = troupe_node_stats(&caller->stage->node, 60000, &stats);
            break;
        default:
            err = troupe_inbox_receive(caller->inbox, 60000, &letter);
            troupe_letter_free(&letter);
        }
        if (err != TROUPE_OK && err != TROUPE_ESTOPPED) {
            CHECK_ERR(err, TROUPE_OK);
            break;
        }
        atomic_fetch_add(caller->calls, 1);
    }
    return NULL;
}

static troupe_err_t answer(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)probe;
    return troupe_reply(self, message->type, message->body, message->size);
}

static void threads_that_wait_as_the_node_stops_are_told(void)
{
    enum { CALLERS = 8 };
    for (uint64_t round = 0; round < check_count(20, 500); round++) {
        pthread_t threads[CALLERS];
        caller_t callers[CALLERS];
        _Atomic uint64_t calls = 0;
        troupe_inbox_t *inbox = NULL;
        probe_t server = {.on_message = answer};
        probe_ = (probe_t){0};
        stage_open(&stage, NULL);
        REQUIRE_OK(troupe_inbox_open(&stage.node, NULL, &inbox));
        troupe_ref_t who = stage_puppet(&stage, &server, NULL);
        for (uint32_t i = 0; i < CALLERS; i++) {
            callers[i] = (caller_t){&stage, i, &calls, inbox, who};
            REQUIRE(pthread_create(&threads[i], NULL, caller_run, &callers[i]) == 0);
        }
        CHECK_EVENTUALLY(atomic_load(&calls) > 20 * round, STAGE_PATIENCE_MS);
        trp_runtime_stop(stage.node.runtime);
        for (uint32_t i = 0; i < CALLERS; i++) {
            (void)pthread_join(threads[i], NULL);
        }
        troupe_inbox_close(&inbox);
        stage_close_hard(&stage);
    }
}

static void after_the_stop_everything_says_stopped(void)
{
    troupe_stats_t stats = {.size = sizeof(stats)};
    troupe_ref_t ref = troupe_ref_none();
    troupe_inbox_t *inbox = NULL;
    uint64_t number = 0;
    probe_ = (probe_t){0};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet(&stage, &probe_, NULL);
    trp_runtime_stop(stage.node.runtime);
    CHECK_ERR(troupe_node_spawn(&stage.node, &puppet_behavior, NULL, &ref), TROUPE_ESTOPPED);
    CHECK_ERR(troupe_inbox_open(&stage.node, NULL, &inbox), TROUPE_ESTOPPED);
    CHECK_ERR(troupe_node_stats(&stage.node, 1000, &stats), TROUPE_ESTOPPED);
    CHECK_ERR(troupe_port_tell(stage.port, who, troupe_ref_none(), TROUPE_TYPE_BYTES, &number,
                               sizeof(number), 1000),
              TROUPE_ESTOPPED);
    troupe_port_kill(stage.port, who);
    CHECK_EQ_U64(probe_count(&probe_, PROBE_STOP), 1);
    CHECK_ERR(probe_at(&probe_, PROBE_STOP, 0).error, TROUPE_ESTOPPED);
    stage_close_hard(&stage);
}

static troupe_err_t never_ends(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load((_Atomic bool *)argument), STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static void stopping_the_users_gives_up_at_its_deadline(void)
{
    _Atomic bool may_go_on = false;
    probe_ = (probe_t){0};
    stage_open(&stage, NULL);
    stage_post(&stage, stage_puppet(&stage, &probe_, NULL), never_ends, &may_go_on);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
    CHECK_ERR(trp_runtime_stop_users(stage.node.runtime, trp_clock_now() + 30 * TRP_NS_PER_MS),
              TROUPE_ETIMEOUT);
    atomic_store(&may_go_on, true);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(options_that_make_no_sense_are_refused),
    CHECK_CASE(without_memory_there_is_no_runtime_and_nothing_leaks),
    CHECK_CASE(hooks_are_attached_and_detached_on_each_dispatcher),
    CHECK_CASE(a_hook_that_fails_ends_the_start),
    CHECK_CASE(there_is_a_greatest_number_of_hooks),
    CHECK_CASE(two_runtimes_live_in_one_process_and_know_nothing_of_each_other),
    CHECK_CASE(a_task_that_posts_itself_again_neither_nests_nor_starves_others),
    CHECK_CASE(a_task_s_payload_arrives_whole),
    CHECK_CASE(posts_of_a_thread_keep_their_order_through_closing_and_reopening),
    CHECK_CASE(what_an_endpoint_left_behind_is_sent_by_the_next),
    CHECK_CASE(an_endpoint_that_waits_for_room_is_woken),
    CHECK_CASE(there_is_a_greatest_number_of_endpoints),
    CHECK_CASE(a_hard_stop_in_the_midst_of_work_leaks_nothing),
    CHECK_CASE(threads_that_wait_as_the_node_stops_are_told),
    CHECK_CASE(after_the_stop_everything_says_stopped),
    CHECK_CASE(stopping_the_users_gives_up_at_its_deadline),
};

CHECK_MAIN("actor.runtime", cases)
