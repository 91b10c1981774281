/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The bounds of mailboxes, and the node's ceiling for message memory. */

#include <string.h>

#include "support/runtime.h"

#define MIB ((size_t)1024 * 1024)

static stage_t stage;
static probe_t sink;
static probe_t source;
static probe_t watcher;
static troupe_ref_t sink_ref;
static troupe_ref_t source_ref;

static _Atomic bool may_go_on;

static troupe_err_t keep_busy(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)argument;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load(&may_go_on), STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static troupe_err_t listen(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    return troupe_events_subscribe(self, *(uint32_t *)argument);
}

/* A sink of one dispatcher that is kept busy, a source on the other, a watcher of events on the first. */
static void begin(const trp_runtime_options_t *options, const troupe_spawn_options_t *sink_options,
                  uint32_t events)
{
    troupe_spawn_options_t spawn = *sink_options;
    sink = (probe_t){0};
    source = (probe_t){0};
    watcher = (probe_t){0};
    atomic_store(&may_go_on, false);
    stage_open(&stage, options);
    spawn.place = TROUPE_PLACE(1);
    sink_ref = stage_puppet(&stage, &sink, &spawn);
    source_ref = stage_puppet_at(&stage, &source, 0);
    CHECK_OK(stage_do(&stage, stage_puppet_at(&stage, &watcher, 0), listen, &events));
    stage_post(&stage, sink_ref, keep_busy, NULL);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
}

static void let_go(void)
{
    atomic_store(&may_go_on, true);
}

typedef struct batch {
    uint64_t first;
    uint64_t len;
    size_t size; /* Of each body; at least a number. */
} batch_t;

static troupe_err_t send_batch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    static char body[65536];
    const batch_t *batch = argument;
    (void)probe;
    for (uint64_t i = 0; i < batch->len; i++) {
        uint64_t number = batch->first + i;
        memcpy(body, &number, sizeof(number));
        CHECK_OK(troupe_tell(self, sink_ref, TROUPE_TYPE_BYTES, body, batch->size));
    }
    return TROUPE_OK;
}

static void send_numbers(uint64_t first, uint64_t len, size_t size)
{
    batch_t batch = {first, len, size};
    CHECK_OK(stage_do(&stage, source_ref, send_batch, &batch));
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Lets the sink handle what it has, so that the overflow is seen; its probe then has `len` numbers from
 * `first` on. */
static void check_sink_has(uint64_t first, uint64_t len)
{
    let_go();
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_MESSAGE) >= len, STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&sink, PROBE_MESSAGE), len);
    for (uint32_t i = 0; i < len && i < 400; i++) {
        CHECK_EQ_U64(probe_at(&sink, PROBE_MESSAGE, i).value, first + i);
    }
}

static void a_full_mailbox_drops_the_newest(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.mailbox_len_max = 100;
    begin(NULL, &options, TROUPE_EVENT_MAILBOX_FULL | TROUPE_EVENT_DEAD_LETTER);
    send_numbers(0, 150, 8);
    check_sink_has(0, 100);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_MAILBOX_FULL], 50);
    CHECK_EQ_U64(probe_count_value(&watcher, PROBE_EVENT, TROUPE_EVENT_MAILBOX_FULL), 1);
    CHECK_EQ_U64(probe_count_value(&watcher, PROBE_EVENT, TROUPE_EVENT_DEAD_LETTER), 50);
    stage_close(&stage);
}

static void a_full_mailbox_may_drop_the_oldest(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.mailbox_len_max = 100;
    options.overflow = TROUPE_OVERFLOW_DROP_OLDEST;
    begin(NULL, &options, TROUPE_EVENT_MAILBOX_FULL);
    send_numbers(0, 150, 8);
    check_sink_has(50, 100);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_MAILBOX_FULL], 50);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_EVENT) == 1, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static void bytes_bound_a_mailbox_too(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.mailbox_size_max = 100000;
    begin(NULL, &options, TROUPE_EVENT_MAILBOX_FULL);
    send_numbers(0, 150, 1000);
    check_sink_has(0, 100);
    stage_close(&stage);
}

/* Large newcomers push out as many small ones as they need. */
static void the_bound_of_bytes_holds_when_the_oldest_are_dropped(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.mailbox_size_max = 10000;
    options.overflow = TROUPE_OVERFLOW_DROP_OLDEST;
    begin(NULL, &options, TROUPE_EVENT_MAILBOX_FULL);
    send_numbers(0, 100, 100);
    send_numbers(100, 50, 5000);
    let_go();
    STAGE_QUIET(&stage);
    CHECK_LE_U64(probe_count(&sink, PROBE_MESSAGE), 3); /* One may go beyond. */
    CHECK_GE_U64(probe_count(&sink, PROBE_MESSAGE), 2);
    CHECK_EQ_U64(
        probe_at(&sink, PROBE_MESSAGE, (uint32_t)probe_count(&sink, PROBE_MESSAGE) - 1).value, 149);
    stage_close(&stage);
}

static troupe_err_t wait_again(troupe_actor_t *self, probe_t *probe, void *argument)
{
    atomic_store(&may_go_on, false);
    return keep_busy(self, probe, argument);
}

static void being_full_is_told_once_an_episode(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.name = "slow one";
    options.mailbox_len_max = 100;
    begin(NULL, &options, TROUPE_EVENT_MAILBOX_FULL);
    for (uint64_t round = 1; round <= 3; round++) {
        send_numbers(0, 200, 8);
        let_go();
        STAGE_QUIET(&stage);
        stage_post(&stage, sink_ref, wait_again, NULL);
        CHECK_EVENTUALLY(probe_count(&sink, PROBE_NOTE) == 1 + round, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_count(&watcher, PROBE_EVENT), round);
        CHECK_EQ_STR(probe_at(&watcher, PROBE_EVENT, 0).text, "/user/slow%20one");
        CHECK_TRUE(troupe_ref_equal(probe_at(&watcher, PROBE_EVENT, 0).who, sink_ref));
    }
    let_go();
    stage_close(&stage);
}

static troupe_err_t ask_sink(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    return troupe_ask(self, sink_ref, TROUPE_TYPE_BYTES, NULL, 0, 60000, puppet_reply, NULL);
}

static void an_ask_that_a_full_mailbox_refuses_fails_at_once(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.mailbox_len_max = 10;
    begin(NULL, &options, TROUPE_EVENT_MAILBOX_FULL);
    send_numbers(0, 10, 8);
    let_go();
    STAGE_QUIET(&stage);
    stage_post(&stage, sink_ref, wait_again, NULL);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_NOTE) == 2, STAGE_PATIENCE_MS);
    send_numbers(0, 10, 8);
    CHECK_OK(stage_do(&stage, source_ref, ask_sink, NULL));
    let_go();
    CHECK_EVENTUALLY(probe_count(&source, PROBE_REPLY) == 1, STAGE_PATIENCE_MS);
    CHECK_ERR(probe_at(&source, PROBE_REPLY, 0).error, TROUPE_EFULL);
    stage_close(&stage);
}

static troupe_err_t flood_oneself(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (uint64_t i = 0; i < 20; i++) {
        CHECK_OK(puppet_tell(self, troupe_self(self), i));
    }
    return TROUPE_OK;
}

static troupe_err_t start_timer_and_fill(troupe_actor_t *self, probe_t *probe, void *argument)
{
    CHECK_OK(troupe_timer_every(self, 1, 1, TROUPE_TYPE_TEXT, NULL, 0));
    uint64_t end = check_now_ms() + 5;
    while (check_now_ms() < end) {
    }
    return flood_oneself(self, probe, argument);
}

static troupe_err_t count_text(troupe_actor_t *self, probe_t *probe,
                               const troupe_message_t *message)
{
    atomic_fetch_add(&probe->number, message->type.id == TROUPE_TYPE_TEXT.id);
    /* The firing is in the mailbox while newcomers push the oldest out. */
    return message->type.id == TROUPE_TYPE_TEXT.id ? flood_oneself(self, probe, NULL) : TROUPE_OK;
}

static void a_timer_goes_on_though_its_firing_was_the_oldest_of_a_full_mailbox(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    probe_t timed = {.on_message = count_text};
    options.mailbox_len_max = 4;
    options.overflow = TROUPE_OVERFLOW_DROP_OLDEST;
    options.place = TROUPE_PLACE(0);
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet(&stage, &timed, &options);
    CHECK_OK(stage_do(&stage, who, start_timer_and_fill, NULL));
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t before = atomic_load(&timed.number);
        for (int k = 0; k < 50; k++) {
            stage_post(&stage, who, flood_oneself, NULL);
        }
        CHECK_EVENTUALLY(atomic_load(&timed.number) > before, STAGE_PATIENCE_MS);
    }
    stage_close(&stage);
}

/* ---- the ceiling ----------------------------------------------------------------------------- */

typedef struct flood_end {
    uint64_t sent;
    troupe_err_t err;
} flood_end_t;

/* To itself: nothing parks it, nothing is taken meanwhile. */
static troupe_err_t flood_until_refused(troupe_actor_t *self, probe_t *probe, void *argument)
{
    static char body[4000];
    flood_end_t *end = argument;
    (void)probe;
    while (end->sent < 1000000 &&
           (end->err = troupe_tell(self, troupe_self(self), TROUPE_TYPE_BYTES, body,
                                   sizeof(body))) == TROUPE_OK) {
        end->sent++;
    }
    return TROUPE_OK;
}

static void at_the_ceiling_sends_are_refused_counted_and_told_once(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    trp_runtime_options_t runtime = {.ceiling = 32 * MIB};
    flood_end_t end = {0, TROUPE_OK};
    begin(&runtime, &options, TROUPE_EVENT_OVERLOAD);
    let_go();
    for (uint64_t round = 1; round <= 3; round++) {
        end.sent = 0;
        CHECK_OK(stage_do(&stage, source_ref, flood_until_refused, &end));
        CHECK_ERR(end.err, TROUPE_EOVERLOAD);
        CHECK_GT_U64(end.sent, 32 * MIB / 4096 / 2);
        CHECK_LE_U64(end.sent, 32 * MIB / 4096);
        CHECK_EVENTUALLY(stage_stats(&stage).user.in_flight == 0, STAGE_PATIENCE_MS);
        /* Reached, and left again. */
        CHECK_EVENTUALLY(probe_count(&watcher, PROBE_EVENT) == 2 * round, STAGE_PATIENCE_MS);
        probe_entry_t begun = probe_at(&watcher, PROBE_EVENT, (uint32_t)(2 * round - 2));
        probe_entry_t ended = probe_at(&watcher, PROBE_EVENT, (uint32_t)(2 * round - 1));
        CHECK_EQ_U64(begun.value, TROUPE_EVENT_OVERLOAD);
        CHECK_GT_U64(begun.size, 0);
        CHECK_TRUE(troupe_ref_equal(begun.who, source_ref));
        CHECK_EQ_U64(ended.value, TROUPE_EVENT_OVERLOAD);
        CHECK_EQ_U64(ended.size, 0);
        CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_OVERLOAD], round);
    }
    stage_close(&stage);
}

static troupe_err_t flood_and_watch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_ref_t ref;
    CHECK_OK(puppet_spawn(self, &sink, NULL, &ref));
    CHECK_OK(flood_until_refused(self, probe, argument));
    /* System messages still pass: a watch, a kill, an end. */
    CHECK_OK(troupe_watch(self, ref));
    troupe_kill(self, ref);
    return TROUPE_OK;
}

static void at_the_ceiling_system_messages_still_pass(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    trp_runtime_options_t runtime = {.ceiling = 32 * MIB};
    flood_end_t end = {0, TROUPE_OK};
    begin(&runtime, &options, 0);
    let_go();
    CHECK_OK(stage_do(&stage, source_ref, flood_and_watch, &end));
    CHECK_ERR(end.err, TROUPE_EOVERLOAD);
    /* The end of a child, and of a watched one. */
    CHECK_EVENTUALLY(probe_count(&source, PROBE_SIGNAL) == 2, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_full_mailbox_drops_the_newest),
    CHECK_CASE(a_full_mailbox_may_drop_the_oldest),
    CHECK_CASE(bytes_bound_a_mailbox_too),
    CHECK_CASE(the_bound_of_bytes_holds_when_the_oldest_are_dropped),
    CHECK_CASE(being_full_is_told_once_an_episode),
    CHECK_CASE(an_ask_that_a_full_mailbox_refuses_fails_at_once),
    CHECK_CASE(a_timer_goes_on_though_its_firing_was_the_oldest_of_a_full_mailbox),
    CHECK_CASE(at_the_ceiling_sends_are_refused_counted_and_told_once),
    CHECK_CASE(at_the_ceiling_system_messages_still_pass),
};

CHECK_MAIN("actor.mailbox", cases)
