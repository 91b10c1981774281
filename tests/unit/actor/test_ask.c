/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Asking: one call for each ask, whatever happens to either side. */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t asker;
static probe_t server;
static troupe_ref_t asker_ref;
static troupe_ref_t server_ref;

/* What one act asks: `len` asks with contexts from `first` on. */
typedef struct asking {
    troupe_ref_t to;
    uint64_t first;
    uint64_t len;
    uint32_t timeout_ms;
} asking_t;

static troupe_err_t ask_many(troupe_actor_t *self, probe_t *probe, void *argument)
{
    const asking_t *asking = argument;
    (void)probe;
    for (uint64_t i = 0; i < asking->len; i++) {
        uint64_t number = asking->first + i;
        CHECK_OK(troupe_ask(self, asking->to, TROUPE_TYPE_BYTES, &number, sizeof(number),
                            asking->timeout_ms, puppet_reply, (void *)(uintptr_t)number));
    }
    return TROUPE_OK;
}

static void ask(troupe_ref_t to, uint64_t first, uint64_t len, uint32_t timeout_ms)
{
    asking_t asking = {to, first, len, timeout_ms};
    CHECK_OK(stage_do(&stage, asker_ref, ask_many, &asking));
}

static troupe_err_t answer(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)probe;
    return troupe_reply(self, message->type, message->body, message->size);
}

static void begin(uint32_t server_place, probe_message_fn on_message)
{
    asker = (probe_t){0};
    server = (probe_t){.on_message = on_message};
    stage_open(&stage, NULL);
    asker_ref = stage_puppet_at(&stage, &asker, 0);
    server_ref = stage_puppet_at(&stage, &server, server_place);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void each_ask_gets_its_own_answer(void)
{
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(place, answer);
        ask(server_ref, 0, 200, 60000);
        CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 200, STAGE_PATIENCE_MS);
        for (uint32_t i = 0; i < 200; i++) {
            probe_entry_t reply = probe_at(&asker, PROBE_REPLY, i);
            CHECK_OK(reply.error);
            CHECK_EQ_U64(reply.value, i);
            CHECK_EQ_U64(reply.size, 8);
            CHECK_TRUE(troupe_ref_equal(reply.who, server_ref));
        }
        CHECK_EQ_U64(stage_stats(&stage).asks, 0);
        stage_close(&stage);
    }
}

static troupe_err_t answer_twice(troupe_actor_t *self, probe_t *probe,
                                 const troupe_message_t *message)
{
    CHECK_OK(answer(self, probe, message));
    return answer(self, probe, message);
}

static void a_second_answer_is_a_late_reply(void)
{
    begin(1, answer_twice);
    ask(server_ref, 0, 50, 60000);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&asker, PROBE_REPLY), 50);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_LATE_REPLY], 50);
    stage_close(&stage);
}

static troupe_err_t refuse_bad(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    troupe_type_t none = {0};
    char big[TROUPE_BODY_SIZE_MAX + 1] = {0};
    CHECK_ERR(troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, NULL, 0, 0, puppet_reply, NULL),
              TROUPE_EINVAL);
    CHECK_ERR(troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, NULL, 0,
                         TROUPE_ASK_TIMEOUT_MAX_MS + 1, puppet_reply, NULL),
              TROUPE_EINVAL);
    CHECK_ERR(troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, NULL, 0, 1, NULL, NULL),
              TROUPE_EINVAL);
    CHECK_ERR(troupe_ask(self, server_ref, none, NULL, 0, 1, puppet_reply, NULL), TROUPE_ETYPE);
    CHECK_ERR(
        troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, big, sizeof(big), 1, puppet_reply, NULL),
        TROUPE_ETOOBIG);
    return TROUPE_OK;
}

static void an_ask_that_is_refused_leaves_nothing(void)
{
    begin(1, answer);
    CHECK_OK(stage_do(&stage, asker_ref, refuse_bad, NULL));
    CHECK_EQ_U64(stage_stats(&stage).asks, 0);
    stage_close(&stage);
    CHECK_EQ_U64(probe_count(&asker, PROBE_REPLY), 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void a_silent_server_times_out_not_before_the_time(void)
{
    begin(1, NULL);
    uint64_t from = trp_clock_now();
    ask(server_ref, 0, 1, 30);
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 1, STAGE_PATIENCE_MS);
    CHECK_GE_U64(trp_clock_now() - from, 30 * TRP_NS_PER_MS);
    CHECK_ERR(probe_at(&asker, PROBE_REPLY, 0).error, TROUPE_ETIMEOUT);
    stage_close(&stage);
}

/* Time counts from the ask, not from the beginning of the dispatcher's round. */
static troupe_err_t work_then_ask(troupe_actor_t *self, probe_t *probe, void *argument)
{
    uint64_t end = trp_clock_now() + 150 * TRP_NS_PER_MS;
    while (trp_clock_now() < end) {
    }
    return ask_many(self, probe, argument);
}

static void an_ask_after_long_work_has_its_whole_time(void)
{
    begin(1, answer);
    asking_t asking = {server_ref, 0, 10, 100};
    CHECK_OK(stage_do(&stage, asker_ref, work_then_ask, &asking));
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 10, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_OK(probe_at(&asker, PROBE_REPLY, i).error);
    }
    stage_close(&stage);
}

static void asks_to_nobody_fail_at_once(void)
{
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(place, answer);
        troupe_port_kill(stage.port, server_ref);
        CHECK_TRUE(stage_is_gone(&stage, server_ref));
        ask(server_ref, 0, 1, 3600000);
        ask(troupe_ref_none(), 1, 1, 3600000);
        ask((troupe_ref_t){4711, server_ref.id}, 2, 1, 3600000);
        CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 3, STAGE_PATIENCE_MS);
        for (uint32_t i = 0; i < 3; i++) {
            probe_entry_t reply = probe_at(&asker, PROBE_REPLY, i);
            CHECK_ERR(reply.error, reply.value == 2 ? TROUPE_ENODE : TROUPE_ENOACTOR);
        }
        stage_close(&stage);
    }
}

static troupe_err_t die(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)probe;
    (void)message;
    troupe_stop(self);
    return TROUPE_OK;
}

/* The first is taken and never answered; those behind it die with the server. */
static void asks_that_wait_in_the_mailbox_of_one_that_dies_fail(void)
{
    begin(1, die);
    ask(server_ref, 0, 20, 200);
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 20, STAGE_PATIENCE_MS);
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < 20; i++) {
        probe_entry_t reply = probe_at(&asker, PROBE_REPLY, i);
        stopped += reply.error == TROUPE_ESTOPPED;
        CHECK_NE_U64(reply.error, TROUPE_OK);
        CHECK_EQ_U64(reply.error == TROUPE_ETIMEOUT, reply.value == 0);
    }
    CHECK_GE_U64(stopped, 1);
    stage_close(&stage);
}

static troupe_err_t nothing(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_OK;
}

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_EFAILED;
}

static void an_asker_that_restarts_gets_no_more_calls(void)
{
    begin(1, answer);
    for (int i = 0; i < 50; i++) {
        asking_t asking = {server_ref, 0, 20, 60000};
        stage_post(&stage, asker_ref, ask_many, &asking);
        CHECK_ERR(stage_do(&stage, asker_ref, fail, NULL), TROUPE_EFAILED);
        CHECK_EVENTUALLY(probe_count(&asker, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
        uint64_t calls = probe_count(&asker, PROBE_REPLY);
        STAGE_QUIET(&stage);
        CHECK_EQ_U64(probe_count(&asker, PROBE_REPLY), calls);
        CHECK_EQ_U64(stage_stats(&stage).asks, 0);
        /* A fresh asker: the old one's restarts are counted. */
        troupe_port_kill(stage.port, asker_ref);
        CHECK_TRUE(stage_is_gone(&stage, asker_ref));
        probe_clear(&asker);
        asker_ref = stage_puppet_at(&stage, &asker, 0);
    }
    stage_close(&stage);
}

static void asks_of_one_that_is_killed_end_with_it(void)
{
    begin(1, answer);
    for (int i = 0; i < 100; i++) {
        asking_t asking = {server_ref, 0, 100, 60000};
        stage_post(&stage, asker_ref, ask_many, &asking);
        troupe_port_kill(stage.port, asker_ref);
        CHECK_TRUE(stage_is_gone(&stage, asker_ref));
        asker_ref = stage_puppet_at(&stage, &asker, (uint32_t)i % STAGE_DISPATCHERS);
        CHECK_OK(stage_do(&stage, asker_ref, nothing, NULL));
    }
    stage_close(&stage);
}

static troupe_err_t fail_in_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                  void *context)
{
    (void)!puppet_reply(self, state, reply, context);
    return TROUPE_EFAILED;
}

static troupe_err_t ask_to_fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    return troupe_ask(self, server_ref, TROUPE_TYPE_BYTES, NULL, 0, 60000, fail_in_reply, NULL);
}

static void an_error_in_the_answer_is_a_failure(void)
{
    begin(1, answer);
    CHECK_OK(stage_do(&stage, asker_ref, ask_to_fail, NULL));
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_count(&asker, PROBE_REPLY), 1);
    stage_close(&stage);
}

/* An ask passed on is answered by whoever gets it in the end. */
static troupe_err_t forward_on(troupe_actor_t *self, probe_t *probe,
                               const troupe_message_t *message)
{
    (void)message;
    CHECK_OK(troupe_forward(self, *(troupe_ref_t *)probe->context));
    CHECK_ERR(troupe_forward(self, *(troupe_ref_t *)probe->context), TROUPE_EBUSY);
    CHECK_ERR(troupe_stash(self), TROUPE_EBUSY);
    return TROUPE_OK;
}

static void forwarding_keeps_the_sender(void)
{
    probe_t relay = {.on_message = forward_on, .context = &server_ref};
    for (uint32_t place = 0; place < STAGE_DISPATCHERS; place++) {
        begin(place, answer);
        probe_clear(&relay);
        troupe_ref_t relay_ref = stage_puppet_at(&stage, &relay, 1);
        ask(relay_ref, 0, 50, 60000);
        CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 50, STAGE_PATIENCE_MS);
        CHECK_TRUE(troupe_ref_equal(probe_at(&asker, PROBE_REPLY, 0).who, server_ref));
        CHECK_OK(probe_at(&asker, PROBE_REPLY, 0).error);
        stage_close(&stage);
    }
}

static troupe_err_t forward_outside(troupe_actor_t *self, probe_t *probe)
{
    (void)probe;
    CHECK_ERR(troupe_forward(self, server_ref), TROUPE_EAGAIN);
    CHECK_ERR(troupe_stash(self), TROUPE_EAGAIN);
    CHECK_ERR(troupe_reply(self, TROUPE_TYPE_BYTES, NULL, 0), TROUPE_ENOENT);
    return TROUPE_OK;
}

static void outside_receive_nothing_can_be_forwarded_or_answered(void)
{
    begin(1, answer);
    probe_t other = {.on_init = forward_outside};
    (void)stage_puppet(&stage, &other, NULL);
    CHECK_EQ_U64(probe_count(&other, PROBE_INIT), 1);
    stage_close(&stage);
}

/* ---- many ------------------------------------------------------------------------------------ */

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    unsigned long long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        (void)!fscanf(file, "%llu %llu", &pages, &resident);
        (void)fclose(file);
    }
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A million asks to one that never answers, with a time-out of 10 ms, leave nothing behind. */
static void asks_without_answers_leave_nothing(void)
{
    uint64_t total = check_count(100000, 1000000);
    begin(1, NULL);
    uint64_t resident = 0;
    uint64_t pool = 0;
    for (uint64_t asked = 0; asked < total; asked += 1000) {
        ask(server_ref, asked, 1000, 10);
        if (asked == total / 2) {
            CHECK_EVENTUALLY(stage_stats(&stage).asks == 0, STAGE_PATIENCE_MS);
            resident = resident_bytes();
            pool = stage_stats(&stage).pool_bytes;
        }
    }
    CHECK_EVENTUALLY(stage_stats(&stage).asks == 0, STAGE_PATIENCE_MS);
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == total, STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    troupe_stats_t stats = stage_stats(&stage);
    CHECK_EQ_U64(stats.timers, 1);
    CHECK_LE_U64(stats.pool_bytes, pool + (size_t)2 * 1024 * 1024);
    CHECK_LE_U64(resident_bytes(), resident + (uint64_t)64 * 1024 * 1024);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(each_ask_gets_its_own_answer),
    CHECK_CASE(a_second_answer_is_a_late_reply),
    CHECK_CASE(an_ask_that_is_refused_leaves_nothing),
    CHECK_CASE(a_silent_server_times_out_not_before_the_time),
    CHECK_CASE(an_ask_after_long_work_has_its_whole_time),
    CHECK_CASE(asks_to_nobody_fail_at_once),
    CHECK_CASE(asks_that_wait_in_the_mailbox_of_one_that_dies_fail),
    CHECK_CASE(an_asker_that_restarts_gets_no_more_calls),
    CHECK_CASE(asks_of_one_that_is_killed_end_with_it),
    CHECK_CASE(an_error_in_the_answer_is_a_failure),
    CHECK_CASE(forwarding_keeps_the_sender),
    CHECK_CASE(outside_receive_nothing_can_be_forwarded_or_answered),
    CHECK_CASE(asks_without_answers_leave_nothing),
};

CHECK_MAIN("actor.ask", cases)
