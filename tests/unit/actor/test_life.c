/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The life of actors: spawning, mail before birth, stopping, killing, poisoning, names. */

#include "actor/deliver.h"
#include "actor/unborn.h"

#include <string.h>

#include "support/runtime.h"

static stage_t stage;
static probe_t parent;
static probe_t child;
static probe_t other;

static void begin(const trp_runtime_options_t *options)
{
    parent = (probe_t){0};
    child = (probe_t){0};
    other = (probe_t){0};
    stage_open(&stage, options);
}

/* ---- spawning -------------------------------------------------------------------------------- */

static troupe_ref_t spawned[4];

static troupe_err_t spawn_named(troupe_actor_t *self, probe_t *probe, void *name)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.name = name;
    return puppet_spawn(self, &child, &options, &spawned[0]);
}

static void a_message_after_the_spawn_comes_after_init(void)
{
    begin(NULL);
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        probe_t one = {0};
        troupe_ref_t who = stage_puppet_at(&stage, &one, place);
        CHECK_EQ_U64(trp_id_dispatcher(who.id), place);
        stage_tell(&stage, who, 5);
        CHECK_EVENTUALLY(probe_count(&one, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_entry(&one, 0).kind, PROBE_INIT);
        CHECK_EQ_U64(probe_entry(&one, 1).value, 5);
        troupe_port_kill(stage.port, who);
        CHECK_TRUE(stage_is_gone(&stage, who));
    }
    stage_close(&stage);
}

static troupe_err_t spawn_bad(troupe_actor_t *self, probe_t *probe, void *argument)
{
    static const troupe_behavior_t no_receive = {.size = sizeof(troupe_behavior_t), .name = "x"};
    troupe_behavior_t odd = puppet_behavior;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t ref = troupe_ref_none();
    (void)probe;
    (void)argument;
    odd.size--;
    CHECK_ERR(troupe_spawn(self, NULL, NULL, &ref), TROUPE_EINVAL);
    CHECK_ERR(troupe_spawn(self, &no_receive, NULL, &ref), TROUPE_EINVAL);
    CHECK_ERR(troupe_spawn(self, &odd, NULL, &ref), TROUPE_EINVAL);
    options.size++;
    CHECK_ERR(puppet_spawn(self, &child, &options, &ref), TROUPE_EINVAL);
    options.size--;
    options.name = "";
    CHECK_ERR(puppet_spawn(self, &child, &options, &ref), TROUPE_EINVAL);
    options.name = NULL;
    options.place = TROUPE_PLACE(STAGE_DISPATCHERS);
    CHECK_ERR(puppet_spawn(self, &child, &options, &ref), TROUPE_ENOENT);
    options.place = TROUPE_PLACE_DEFAULT;
    options.group = "nobody";
    CHECK_ERR(puppet_spawn(self, &child, &options, &ref), TROUPE_ENOENT);
    options.group = NULL;
    options.overflow = (troupe_overflow_t)7;
    CHECK_ERR(puppet_spawn(self, &child, &options, &ref), TROUPE_EINVAL);
    options.overflow = TROUPE_OVERFLOW_DROP_NEWEST;
    options.supervision.directive = (troupe_directive_t)9;
    CHECK_ERR(puppet_spawn(self, &child, &options, &ref), TROUPE_EINVAL);
    CHECK_TRUE(troupe_ref_is_none(ref));
    CHECK_EQ_U64(troupe_children_len(self), 0);
    return TROUPE_OK;
}

static void spawns_that_make_no_sense_are_refused_and_leave_nothing(void)
{
    begin(NULL);
    troupe_ref_t who = stage_puppet(&stage, &parent, NULL);
    CHECK_OK(stage_do(&stage, who, spawn_bad, NULL));
    CHECK_EQ_U64(probe_count(&child, PROBE_INIT), 0);
    stage_close(&stage);
}

static troupe_err_t look_at_oneself(troupe_actor_t *self, probe_t *probe, void *argument)
{
    char path[TROUPE_PATH_SIZE_MAX];
    troupe_ref_t children[4];
    troupe_ref_t found = troupe_ref_none();
    (void)probe;
    (void)argument;
    CHECK_OK(troupe_path(self, path, sizeof(path)));
    CHECK_EQ_STR(path, "/user/a%2Fb");
    CHECK_OK(troupe_lookup(self, path, &found));
    CHECK_TRUE(troupe_ref_equal(found, troupe_self(self)));
    CHECK_ERR(troupe_path(self, path, 5), TROUPE_ETOOBIG);
    CHECK_ERR(troupe_path(self, NULL, 5), TROUPE_EINVAL);
    CHECK_EQ_U64(troupe_children_len(self), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(puppet_spawn(self, &child, NULL, &spawned[i]));
    }
    CHECK_EQ_U64(troupe_children_len(self), 3);
    CHECK_EQ_U64(troupe_children(self, children, 4), 3);
    CHECK_EQ_U64(troupe_children(self, children, 2), 2);
    CHECK_EQ_PTR(troupe_actor_node(self), &stage.node);
    CHECK_TRUE(troupe_ref_is_none(troupe_sender(self)));
    CHECK_GT_U64(troupe_now(self), 0);
    CHECK_OK(troupe_lookup(self, "/user", &found));
    CHECK_TRUE(troupe_ref_equal(found, troupe_parent(self)));
    return TROUPE_OK;
}

static void an_actor_knows_its_path_parent_and_children(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.name = "a/b";
    begin(NULL);
    troupe_ref_t who = stage_puppet(&stage, &parent, &options);
    CHECK_OK(stage_do(&stage, who, look_at_oneself, NULL));
    troupe_ref_t found = troupe_ref_none();
    CHECK_OK(troupe_node_lookup(&stage.node, "/user/a%2Fb", &found));
    CHECK_TRUE(troupe_ref_equal(found, who));
    CHECK_ERR(troupe_node_lookup(&stage.node, "/user/ab", &found), TROUPE_ENOENT);
    stage_close(&stage);
}

static void actors_of_the_default_place_are_spread_evenly(void)
{
    enum { LEN = 100 };
    uint32_t at[STAGE_DISPATCHERS] = {0};
    begin(NULL);
    for (int i = 0; i < LEN; i++) {
        at[trp_id_dispatcher(stage_puppet(&stage, &child, NULL).id)]++;
    }
    for (uint32_t i = 0; i < STAGE_DISPATCHERS; i++) {
        CHECK_EQ_U64(at[i], LEN / STAGE_DISPATCHERS);
    }
    stage_close(&stage);
}

static void actors_go_to_the_group_that_was_asked_for(void)
{
    static const trp_group_options_t groups[] = {{"blocking", 2}};
    trp_runtime_options_t options = {.groups = groups, .groups_len = 1};
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    begin(&options);
    spawn.group = "blocking";
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t index = trp_id_dispatcher(stage_puppet(&stage, &child, &spawn).id);
        CHECK_TRUE(index == STAGE_DISPATCHERS || index == STAGE_DISPATCHERS + 1);
    }
    spawn.place = TROUPE_PLACE(1);
    CHECK_EQ_U64(trp_id_dispatcher(stage_puppet(&stage, &child, &spawn).id), STAGE_DISPATCHERS + 1);
    stage_close(&stage);
}

/* ---- names ----------------------------------------------------------------------------------- */

static troupe_err_t kill_child(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    troupe_kill(self, spawned[0]);
    return TROUPE_OK;
}

static troupe_err_t kill_and_spawn_again(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)kill_child(self, probe, NULL);
    /* The end is not acknowledged yet. */
    CHECK_ERR(spawn_named(self, probe, argument), TROUPE_EEXIST);
    return TROUPE_OK;
}

static troupe_err_t spawn_again(troupe_actor_t *self, probe_t *probe, const troupe_signal_t *signal)
{
    if (signal->kind == TROUPE_SIGNAL_CHILD_ENDED && atomic_fetch_add(&probe->number, 1) == 0) {
        CHECK_OK(spawn_named(self, probe, (void *)(uintptr_t) "twin"));
    }
    return TROUPE_OK;
}

static void a_name_is_taken_until_the_end_is_acknowledged(void)
{
    begin(NULL);
    parent.on_signal = spawn_again;
    troupe_ref_t who = stage_puppet(&stage, &parent, NULL);
    CHECK_OK(stage_do(&stage, who, spawn_named, (void *)(uintptr_t) "twin"));
    CHECK_ERR(stage_do(&stage, who, kill_and_spawn_again, (void *)(uintptr_t) "twin"), TROUPE_OK);
    CHECK_EVENTUALLY(probe_count(&child, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count_value(&parent, PROBE_SIGNAL, TROUPE_SIGNAL_CHILD_ENDED), 1);
    stage_close(&stage);
}

/* ---- birth ----------------------------------------------------------------------------------- */

static troupe_err_t refuse(troupe_actor_t *self, probe_t *probe)
{
    (void)self;
    (void)probe;
    return TROUPE_EFAILED;
}

static troupe_err_t spawn_and_tell(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.place = TROUPE_PLACE(*(uint32_t *)argument);
    CHECK_OK(puppet_spawn(self, &child, &options, &spawned[0]));
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(puppet_tell(self, spawned[0], i));
    }
    return TROUPE_OK;
}

static void mail_of_an_actor_whose_init_fails_is_dropped_and_the_parent_told(void)
{
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(NULL);
        child.on_init = refuse;
        troupe_ref_t who = stage_puppet_at(&stage, &parent, 0);
        CHECK_OK(stage_do(&stage, who, spawn_and_tell, &place));
        CHECK_EVENTUALLY(probe_count(&parent, PROBE_SIGNAL) == 1, STAGE_PATIENCE_MS);
        probe_entry_t signal = probe_at(&parent, PROBE_SIGNAL, 0);
        CHECK_EQ_U64(signal.value, TROUPE_SIGNAL_CHILD_ENDED);
        CHECK_ERR(signal.error, TROUPE_EFAILED);
        CHECK_TRUE(troupe_ref_equal(signal.who, spawned[0]));
        CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_INIT_FAILED], 10);
        CHECK_EQ_U64(probe_count(&child, PROBE_STOP), 0); /* There was nothing to stop. */
        CHECK_EQ_U64(probe_count(&child, PROBE_MESSAGE), 0);
        stage_close(&stage);
    }
}

static void a_plain_thread_gets_the_error_of_init(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    puppet_args_t args = {&child};
    troupe_ref_t ref = troupe_ref_none();
    begin(NULL);
    child.on_init = refuse;
    options.args = &args;
    options.args_size = sizeof(args);
    CHECK_ERR(troupe_node_spawn(&stage.node, &puppet_behavior, &options, &ref), TROUPE_EFAILED);
    CHECK_TRUE(troupe_ref_is_none(ref));
    CHECK_ERR(troupe_node_spawn(NULL, &puppet_behavior, &options, &ref), TROUPE_EINVAL);
    options.name = "$x";
    CHECK_ERR(troupe_node_spawn(&stage.node, &puppet_behavior, &options, &ref), TROUPE_EINVAL);
    stage_close(&stage);
}

/* A spawn is on its way from 0 to 1 while a message overtakes it by way of 2. */
typedef struct race {
    troupe_ref_t third;
    uint64_t rounds;
} race_t;

static troupe_err_t race_tell(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    troupe_ref_t *to = argument;
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_OK(puppet_tell(self, *to, 100 + i));
    }
    return TROUPE_OK;
}

static troupe_err_t race_spawn(troupe_actor_t *self, probe_t *probe, void *argument)
{
    race_t *race = argument;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    options.place = TROUPE_PLACE(1);
    CHECK_OK(puppet_spawn(self, &child, &options, &spawned[0]));
    puppet_post(self, race->third, race_tell, &spawned[0]);
    CHECK_OK(puppet_tell(self, spawned[0], 1));
    return TROUPE_OK;
}

static void mail_that_comes_before_the_spawn_waits_for_it(void)
{
    trp_runtime_options_t options = {.dispatchers = 3};
    begin(&options);
    race_t race = {stage_puppet_at(&stage, &other, 2), 0};
    troupe_ref_t who = stage_puppet_at(&stage, &parent, 0);
    uint64_t rounds = check_count(300, 10000);
    for (uint64_t i = 0; i < rounds; i++) {
        probe_clear(&child);
        CHECK_OK(stage_do(&stage, who, race_spawn, &race));
        CHECK_EVENTUALLY(probe_count(&child, PROBE_MESSAGE) == 4, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_entry(&child, 0).kind, PROBE_INIT);
        CHECK_OK(stage_do(&stage, who, kill_child, NULL));
        REQUIRE(stage_is_gone(&stage, spawned[0]));
    }
    stage_close(&stage);
}

/* The same, made to happen: a leased id gets its mail, in order, only when its actor is born. */
typedef struct unborn_test {
    uint64_t id;
    _Atomic int step;
    uint64_t in_flight;
} unborn_test_t;

static void unborn_mail_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    unborn_test_t *test = NULL;
    uint64_t system = 0;
    (void)size;
    memcpy(&test, payload, sizeof(test));
    trp_lease_t *lease = &d->leases[d->index];
    if (lease->len == 0) {
        CHECK_OK(trp_slots_lease(&d->slots, lease));
    }
    test->id = lease->ids[lease->len - 1]; /* The next that is spawned from here. */
    for (uint64_t i = 0; i < 5; i++) {
        trp_deliver_user(d, &(trp_incoming_t){.target = test->id,
                                              .data = &i,
                                              .size = sizeof(i),
                                              .type = TROUPE_TYPE_BYTES.id});
    }
    trp_unborn_count(d, &test->in_flight, &system);
    atomic_store(&test->step, 1);
}

static troupe_err_t spawn_same(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    (void)probe;
    (void)argument;
    options.place = TROUPE_PLACE_SAME;
    return puppet_spawn(self, &child, &options, &spawned[0]);
}

static void waiting_mail_is_counted_as_in_flight_and_keeps_its_order(void)
{
    begin(NULL);
    troupe_ref_t who = stage_puppet_at(&stage, &parent, 0);
    unborn_test_t test = {0};
    unborn_test_t *pointer = &test;
    REQUIRE_OK(
        trp_runtime_post(stage.node.runtime, 0, unborn_mail_task, &pointer, sizeof(pointer)));
    CHECK_EVENTUALLY(atomic_load(&test.step) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(test.in_flight, 5);
    CHECK_EQ_U64(stage_stats(&stage).user.in_flight, 5);
    CHECK_OK(stage_do(&stage, who, spawn_same, NULL));
    CHECK_EQ_U64(spawned[0].id, test.id);
    CHECK_EVENTUALLY(probe_count(&child, PROBE_MESSAGE) == 5, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_EQ_U64(probe_at(&child, PROBE_MESSAGE, i).value, i);
    }
    stage_close(&stage);
}

/* ---- the end --------------------------------------------------------------------------------- */

static troupe_err_t stop_self(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    troupe_stop(self);
    return TROUPE_OK;
}

static troupe_err_t fill_and_stop(troupe_actor_t *self, probe_t *probe, void *argument)
{
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    return stop_self(self, probe, argument);
}

static void a_stopping_actor_takes_nothing_more(void)
{
    begin(NULL);
    troupe_ref_t who = stage_puppet(&stage, &child, NULL);
    CHECK_OK(stage_do(&stage, who, fill_and_stop, NULL));
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(probe_count(&child, PROBE_MESSAGE), 0);
    CHECK_EQ_U64(probe_count(&child, PROBE_STOP), 1);
    CHECK_ERR(probe_at(&child, PROBE_STOP, 0).error, TROUPE_OK);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_STOPPED], 10);
    stage_tell(&stage, who, 1);
    CHECK_EVENTUALLY(stage_stats(&stage).user.dropped[TROUPE_DROP_STALE] == 1, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_err_t fill_and_end(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    bool is_kill = argument != NULL;
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    if (is_kill) {
        troupe_kill(self, troupe_self(self));
    } else {
        troupe_poison(self, troupe_self(self));
    }
    for (uint64_t i = 5; i < 10; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    return TROUPE_OK;
}

static void poison_waits_its_turn(void)
{
    begin(NULL);
    troupe_ref_t who = stage_puppet(&stage, &child, NULL);
    CHECK_OK(stage_do(&stage, who, fill_and_end, NULL));
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(probe_count(&child, PROBE_MESSAGE), 5);
    CHECK_EQ_U64(probe_at(&child, PROBE_MESSAGE, 4).value, 4);
    stage_close(&stage);
}

static void kill_overtakes_the_mail(void)
{
    begin(NULL);
    troupe_ref_t who = stage_puppet(&stage, &child, NULL);
    CHECK_OK(stage_do(&stage, who, fill_and_end, &who));
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(probe_count(&child, PROBE_MESSAGE), 0);
    CHECK_EQ_U64(probe_count(&child, PROBE_STOP), 1);
    stage_close(&stage);
}

/* A family of three generations over both dispatchers; all of them write into one probe. */
static troupe_err_t found_family(troupe_actor_t *self, probe_t *probe)
{
    uint64_t generation = atomic_fetch_add(&probe->number, 1);
    if (generation < 7) { /* Each of the first has children. */
        for (uint32_t i = 0; i < 3; i++) {
            troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
            troupe_ref_t ref;
            options.place = TROUPE_PLACE(i % STAGE_DISPATCHERS);
            CHECK_OK(puppet_spawn(self, probe, &options, &ref));
        }
    }
    return TROUPE_OK;
}

static troupe_err_t note_children(troupe_actor_t *self, probe_t *probe)
{
    troupe_ref_t ref;
    CHECK_EQ_U64(troupe_children_len(self), 0);
    CHECK_ERR(puppet_spawn(self, probe, NULL, &ref), TROUPE_ESTOPPED);
    return TROUPE_OK;
}

static void children_stop_first_and_a_stopping_actor_can_not_spawn(void)
{
    begin(NULL);
    parent.on_init = found_family;
    parent.on_stop = note_children;
    troupe_ref_t who = stage_puppet(&stage, &parent, NULL);
    CHECK_EVENTUALLY(probe_count(&parent, PROBE_INIT) == 22, STAGE_PATIENCE_MS);
    troupe_port_kill(stage.port, who);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(probe_count(&parent, PROBE_STOP), 22);
    CHECK_TRUE(troupe_ref_equal(probe_at(&parent, PROBE_STOP, 21).who, who));
    stage_close(&stage);
}

static troupe_err_t stop_in_init(troupe_actor_t *self, probe_t *probe)
{
    (void)probe;
    troupe_stop(self);
    return TROUPE_OK;
}

static void an_actor_may_stop_in_its_init(void)
{
    begin(NULL);
    child.on_init = stop_in_init;
    troupe_ref_t who = stage_puppet(&stage, &child, NULL);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(probe_count(&child, PROBE_STOP), 1);
    stage_close(&stage);
}

static troupe_err_t tell_on_stop(troupe_actor_t *self, probe_t *probe)
{
    CHECK_OK(puppet_tell(self, troupe_self(self), 1)); /* A dead letter. */
    CHECK_OK(puppet_tell(self, *(troupe_ref_t *)probe->context, 9));
    troupe_kill(self, troupe_self(self));
    troupe_stop(self);
    CHECK_OK(troupe_watch(self, troupe_self(self)));
    CHECK_ERR(troupe_timer_once(self, 1, 1, TROUPE_TYPE_BYTES, NULL, 0), TROUPE_ESTOPPED);
    CHECK_ERR(troupe_hold(self, 1), TROUPE_ESTOPPED);
    CHECK_ERR(troupe_receive_timeout(self, 1), TROUPE_ESTOPPED);
    CHECK_ERR(
        troupe_ask(self, troupe_self(self), TROUPE_TYPE_BYTES, NULL, 0, 5, puppet_reply, NULL),
        TROUPE_ESTOPPED);
    return TROUPE_OK;
}

static void a_stop_callback_may_send_and_what_else_it_asks_for_means_nothing(void)
{
    begin(NULL);
    troupe_ref_t sink = stage_puppet(&stage, &other, NULL);
    child.on_stop = tell_on_stop;
    child.context = &sink;
    troupe_ref_t who = stage_puppet(&stage, &child, NULL);
    troupe_port_kill(stage.port, who);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EVENTUALLY(probe_count(&other, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&child, PROBE_STOP), 1);
    stage_close(&stage);
}

/* References may come from anywhere; none of them does harm. */
static troupe_err_t tell_nonsense(troupe_actor_t *self, probe_t *probe, void *argument)
{
    uint64_t uid = troupe_self(self).node;
    uint32_t dispatcher = *(uint32_t *)argument;
    const uint64_t ids[] = {
        trp_id_make(dispatcher, TRP_SLOT_DISPATCHER, 1),
        trp_id_make(dispatcher, TRP_SLOT_DISPATCHER, 2),
        trp_id_make(dispatcher, 5000, 0),
        trp_id_make(dispatcher, TRP_SLOT_ASK, 0),
        trp_id_make(dispatcher, TRP_SLOT_ASK | 77, 1),
        trp_id_make(dispatcher, (1u << TRP_SLOT_BITS) - 1, UINT32_MAX),
        trp_id_make(200, 1, 1),
    };
    (void)probe;
    for (size_t i = 0; i < TRP_ARRAY_LEN(ids); i++) {
        troupe_ref_t to = {uid, ids[i]};
        CHECK_OK(puppet_tell(self, to, 1));
        CHECK_OK(troupe_watch(self, to));
        troupe_kill(self, to);
        troupe_poison(self, to);
        CHECK_OK(troupe_ask(self, to, TROUPE_TYPE_BYTES, NULL, 0, 60000, puppet_reply, NULL));
        troupe_unwatch(self, to);
        CHECK_OK(troupe_watch(self, to));
    }
    CHECK_OK(puppet_tell(self, troupe_ref_none(), 1));
    CHECK_OK(puppet_tell(self, (troupe_ref_t){uid, 0}, 1));
    CHECK_ERR(troupe_watch(self, troupe_ref_none()), TROUPE_EINVAL);
    CHECK_ERR(troupe_watch(self, (troupe_ref_t){uid, 0}), TROUPE_EINVAL);
    CHECK_OK(puppet_tell(self, (troupe_ref_t){uid + 1, 77}, 1));
    return TROUPE_OK;
}

static void references_to_nobody_are_dead_letters_and_do_no_harm(void)
{
    for (uint32_t dispatcher = 0; dispatcher < STAGE_DISPATCHERS; dispatcher++) {
        begin(NULL);
        troupe_ref_t who = stage_puppet_at(&stage, &child, 0);
        CHECK_OK(stage_do(&stage, who, tell_nonsense, &dispatcher));
        CHECK_EVENTUALLY(probe_count(&child, PROBE_REPLY) == 7, STAGE_PATIENCE_MS);
        CHECK_EVENTUALLY(probe_count(&child, PROBE_SIGNAL) == 7, STAGE_PATIENCE_MS);
        for (uint32_t i = 0; i < 7; i++) {
            CHECK_ERR(probe_at(&child, PROBE_REPLY, i).error, TROUPE_ENOACTOR);
            CHECK_ERR(probe_at(&child, PROBE_SIGNAL, i).error, TROUPE_ENOACTOR);
        }
        CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_UNKNOWN_NODE], 1);
        stage_close(&stage);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(a_message_after_the_spawn_comes_after_init),
    CHECK_CASE(spawns_that_make_no_sense_are_refused_and_leave_nothing),
    CHECK_CASE(an_actor_knows_its_path_parent_and_children),
    CHECK_CASE(actors_of_the_default_place_are_spread_evenly),
    CHECK_CASE(actors_go_to_the_group_that_was_asked_for),
    CHECK_CASE(a_name_is_taken_until_the_end_is_acknowledged),
    CHECK_CASE(mail_of_an_actor_whose_init_fails_is_dropped_and_the_parent_told),
    CHECK_CASE(a_plain_thread_gets_the_error_of_init),
    CHECK_CASE(mail_that_comes_before_the_spawn_waits_for_it),
    CHECK_CASE(waiting_mail_is_counted_as_in_flight_and_keeps_its_order),
    CHECK_CASE(a_stopping_actor_takes_nothing_more),
    CHECK_CASE(poison_waits_its_turn),
    CHECK_CASE(kill_overtakes_the_mail),
    CHECK_CASE(children_stop_first_and_a_stopping_actor_can_not_spawn),
    CHECK_CASE(an_actor_may_stop_in_its_init),
    CHECK_CASE(a_stop_callback_may_send_and_what_else_it_asks_for_means_nothing),
    CHECK_CASE(references_to_nobody_are_dead_letters_and_do_no_harm),
};

CHECK_MAIN("actor.life", cases)
