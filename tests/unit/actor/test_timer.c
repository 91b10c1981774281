/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Timers by key, and the receive timeout. */

#include <string.h>

#include "base/clock.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t timed;
static troupe_ref_t who;

static void begin(void)
{
    timed = (probe_t){0};
    stage_open(&stage, NULL);
    who = stage_puppet_at(&stage, &timed, 0);
}

/* What one act starts. */
typedef struct wish {
    uint64_t key;
    uint64_t time_ms;
    uint64_t number; /* The body. */
    bool is_periodic;
} wish_t;

static troupe_err_t start(troupe_actor_t *self, probe_t *probe, void *argument)
{
    const wish_t *wish = argument;
    (void)probe;
    troupe_err_t err = wish->is_periodic
                           ? troupe_timer_every(self, wish->key, wish->time_ms, TROUPE_TYPE_BYTES,
                                                &wish->number, sizeof(wish->number))
                           : troupe_timer_once(self, wish->key, wish->time_ms, TROUPE_TYPE_BYTES,
                                               &wish->number, sizeof(wish->number));
    CHECK_EQ_U64(troupe_timer_is_active(self, wish->key), err == TROUPE_OK);
    return err;
}

static void busy_ms(uint64_t time_ms)
{
    uint64_t end = trp_clock_now() + time_ms * TRP_NS_PER_MS;
    while (trp_clock_now() < end) {
    }
}

/* ---- once ------------------------------------------------------------------------------------ */

static void a_timer_fires_once_and_not_before_its_time(void)
{
    begin();
    static const uint64_t delays_ms[] = {0, 1, 5, 20, 70};
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(delays_ms); i++) {
        wish_t wish = {7, delays_ms[i], i, false};
        uint64_t from = trp_clock_now();
        CHECK_OK(stage_do(&stage, who, start, &wish));
        CHECK_EVENTUALLY(probe_count(&timed, PROBE_MESSAGE) == i + 1, STAGE_PATIENCE_MS);
        CHECK_GE_U64(trp_clock_now() - from, delays_ms[i] * TRP_NS_PER_MS);
        CHECK_EQ_U64(probe_at(&timed, PROBE_MESSAGE, i).value, i);
        CHECK_TRUE(troupe_ref_equal(probe_at(&timed, PROBE_MESSAGE, i).who, who));
    }
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    stage_close(&stage);
}

static void a_key_started_again_replaces_its_timer(void)
{
    begin();
    wish_t late = {7, 3600000, 1, false};
    wish_t soon = {7, 5, 2, false};
    CHECK_OK(stage_do(&stage, who, start, &late));
    CHECK_OK(stage_do(&stage, who, start, &soon));
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_at(&timed, PROBE_MESSAGE, 0).value, 2);
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    stage_close(&stage);
}

static troupe_err_t start_bad(troupe_actor_t *self, probe_t *probe, void *argument)
{
    static char big[TROUPE_BODY_SIZE_MAX + 1];
    (void)probe;
    (void)argument;
    CHECK_ERR(troupe_timer_every(self, 1, 0, TROUPE_TYPE_BYTES, NULL, 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_timer_once(self, 1, 1, (troupe_type_t){0}, NULL, 0), TROUPE_ETYPE);
    CHECK_ERR(troupe_timer_once(self, 1, 1, TROUPE_TYPE_EVENT, NULL, 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_timer_once(self, 1, 1, TROUPE_TYPE_BYTES, big, sizeof(big)), TROUPE_ETOOBIG);
    CHECK_FALSE(troupe_timer_is_active(self, 1));
    CHECK_FALSE(troupe_timer_cancel(self, 1));
    CHECK_OK(troupe_timer_once(self, 2, UINT64_MAX, TROUPE_TYPE_BYTES, NULL, 0));
    CHECK_OK(troupe_timer_every(self, 3, UINT64_MAX, TROUPE_TYPE_BYTES, NULL, 0));
    CHECK_OK(troupe_timer_once(self, 4, UINT64_MAX / 1000000, TROUPE_TYPE_BYTES, NULL, 0));
    return TROUPE_OK;
}

static void timers_that_make_no_sense_are_refused(void)
{
    begin();
    CHECK_OK(stage_do(&stage, who, start_bad, NULL));
    CHECK_EQ_U64(stage_stats(&stage).timers, 4);
    stage_close(&stage);
    CHECK_EQ_U64(probe_count(&timed, PROBE_MESSAGE), 0);
}

/* ---- cancelled ------------------------------------------------------------------------------- */

/* The actor holds until the firing lies in its mailbox; what ends the hold cancels or replaces it. */
static troupe_err_t start_and_hold(troupe_actor_t *self, probe_t *probe, void *argument)
{
    CHECK_OK(start(self, probe, argument));
    return troupe_hold(self, 8);
}

static troupe_err_t cancel_on_signal(troupe_actor_t *self, probe_t *probe,
                                     const troupe_signal_t *signal)
{
    const wish_t *wish = probe->context;
    CHECK_EQ_U64(signal->kind, TROUPE_SIGNAL_HOLD_EXPIRED);
    CHECK_TRUE(troupe_timer_is_active(self, wish->key));
    if (wish->number % 2 == 0) {
        CHECK_TRUE(troupe_timer_cancel(self, wish->key));
        CHECK_FALSE(troupe_timer_is_active(self, wish->key));
        CHECK_FALSE(troupe_timer_cancel(self, wish->key));
    } else {
        CHECK_OK(troupe_timer_once(self, wish->key, 3600000, TROUPE_TYPE_BYTES, NULL, 0));
    }
    atomic_fetch_add(&probe->number, 1); /* The test may change the wish again. */
    return TROUPE_OK;
}

static void a_cancelled_or_replaced_timer_never_fires_even_when_its_firing_is_queued(void)
{
    wish_t wish = {0};
    begin();
    timed.context = &wish;
    timed.on_signal = cancel_on_signal;
    for (uint64_t i = 0; i < 20; i++) {
        wish = (wish_t){i, 1, i, i % 4 < 2};
        CHECK_OK(stage_do(&stage, who, start_and_hold, &wish));
        CHECK_EVENTUALLY(atomic_load(&timed.number) == i + 1, STAGE_PATIENCE_MS);
    }
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&timed, PROBE_MESSAGE), 0);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_TIMER_CANCELLED], 20);
    stage_close(&stage);
}

static troupe_err_t fail_on_signal(troupe_actor_t *self, probe_t *probe,
                                   const troupe_signal_t *signal)
{
    (void)self;
    (void)probe;
    (void)signal;
    return TROUPE_EFAILED;
}

static void a_firing_that_is_queued_does_not_reach_the_next_life(void)
{
    wish_t wish = {1, 1, 1, true};
    begin();
    timed.on_signal = fail_on_signal;
    CHECK_OK(stage_do(&stage, who, start_and_hold, &wish));
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&timed, PROBE_MESSAGE), 0);
    CHECK_EQ_U64(stage_stats(&stage).user.dropped[TROUPE_DROP_TIMER_CANCELLED], 1);
    stage_close(&stage);
}

static troupe_err_t cancel_all(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    for (uint64_t key = 0; key < 100; key++) {
        CHECK_OK(troupe_timer_every(self, key, 1 + key % 3, TROUPE_TYPE_BYTES, NULL, 0));
    }
    busy_ms(5);
    troupe_timer_cancel_all(self);
    CHECK_FALSE(troupe_timer_is_active(self, 5));
    return TROUPE_OK;
}

static void all_can_be_cancelled_at_once(void)
{
    begin();
    CHECK_OK(stage_do(&stage, who, cancel_all, NULL));
    STAGE_QUIET(&stage);
    CHECK_EQ_U64(probe_count(&timed, PROBE_MESSAGE), 0);
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    stage_close(&stage);
}

/* ---- periodic -------------------------------------------------------------------------------- */

#define PERIOD_MS 50u

static _Atomic uint64_t period_begin_ns;

static troupe_err_t begin_period(troupe_actor_t *self, probe_t *probe)
{
    (void)probe;
    atomic_store(&period_begin_ns, trp_clock_now());
    return troupe_timer_every(self, 1, PERIOD_MS, TROUPE_TYPE_BYTES, NULL, 0);
}

/* Each life's ticks, by the time it had: never more than its periods, and the last is not long ago. */
static troupe_err_t end_period(troupe_actor_t *self, probe_t *probe)
{
    (void)self;
    uint64_t lived_ns = trp_clock_now() - atomic_load(&period_begin_ns);
    uint64_t ticks = atomic_exchange(&probe->number, 0);
    uint64_t periods = lived_ns / (PERIOD_MS * TRP_NS_PER_MS);
    CHECK_LE_U64(ticks, periods);
    atomic_fetch_add(&probe->sum, ticks);
    probe_note(probe, periods);
    return TROUPE_OK;
}

static troupe_err_t count_tick(troupe_actor_t *self, probe_t *probe,
                               const troupe_message_t *message)
{
    (void)self;
    (void)message;
    atomic_fetch_add(&probe->number, 1);
    return TROUPE_OK;
}

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_EFAILED;
}

/* The rate must not double with a restart, nor may a tick of an earlier life reach the next. */
static void a_periodic_timer_keeps_its_rate_over_ten_restarts(void)
{
    timed = (probe_t){.on_init = begin_period, .on_stop = end_period, .on_message = count_tick};
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    stage_open(&stage, NULL);
    options.place = TROUPE_PLACE(0);
    who = stage_puppet(&stage, &timed, &options);
    uint64_t ticks_per_life = check_count(3, 10);
    for (uint64_t life = 0; life < 10; life++) {
        CHECK_EVENTUALLY(atomic_load(&timed.number) >= ticks_per_life, STAGE_PATIENCE_MS);
        CHECK_ERR(stage_do(&stage, who, fail, NULL), TROUPE_EFAILED);
        CHECK_EVENTUALLY(probe_count(&timed, PROBE_INIT) == life + 2, STAGE_PATIENCE_MS);
    }
    uint64_t periods = 0;
    for (uint32_t i = 0; i < 10; i++) {
        periods += probe_at(&timed, PROBE_NOTE, i).value;
    }
    /* A tick may be late on a busy machine, but only that of the period that is on can be missing. */
    CHECK_GE_U64(atomic_load(&timed.sum), 10 * ticks_per_life);
    CHECK_GE_U64(atomic_load(&timed.sum) * 2, periods);
    CHECK_EQ_U64(stage_stats(&stage).timers, 2);
    stage_close(&stage);
}

static troupe_err_t be_late(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)self;
    (void)message;
    if (atomic_fetch_add(&probe->number, 1) == 0) {
        busy_ms(60);
    }
    return TROUPE_OK;
}

static void what_a_late_actor_missed_is_skipped_and_the_phase_kept(void)
{
    timed = (probe_t){.on_message = be_late};
    stage_open(&stage, NULL);
    who = stage_puppet_at(&stage, &timed, 0);
    wish_t wish = {1, 10, 1, true};
    uint64_t from = trp_clock_now();
    CHECK_OK(stage_do(&stage, who, start, &wish));
    CHECK_EVENTUALLY(atomic_load(&timed.number) >= 3, STAGE_PATIENCE_MS);
    uint64_t periods = (trp_clock_now() - from) / (10 * TRP_NS_PER_MS);
    CHECK_GE_U64(periods, 7);
    CHECK_LE_U64(atomic_load(&timed.number) + 5, periods + 1);
    stage_close(&stage);
}

static void a_dead_actors_timers_are_gone(void)
{
    begin();
    for (int i = 0; i < 100; i++) {
        wish_t wish = {1, 1, 1, true};
        CHECK_OK(stage_do(&stage, who, start, &wish));
        troupe_port_kill(stage.port, who);
        CHECK_TRUE(stage_is_gone(&stage, who));
        CHECK_EQ_U64(stage_stats(&stage).timers, 1);
        who = stage_puppet_at(&stage, &timed, 0);
    }
    stage_close(&stage);
}

/* ---- receive timeout ------------------------------------------------------------------------- */

static troupe_err_t set_idle(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    return troupe_receive_timeout(self, *(uint64_t *)argument);
}

static void the_receive_timeout_comes_each_time_nothing_came_for_so_long(void)
{
    uint64_t timeout_ms = 20;
    begin();
    uint64_t from = trp_clock_now();
    CHECK_OK(stage_do(&stage, who, set_idle, &timeout_ms));
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_SIGNAL) >= 3, STAGE_PATIENCE_MS);
    uint64_t periods = (trp_clock_now() - from) / (timeout_ms * TRP_NS_PER_MS);
    CHECK_LE_U64(probe_count(&timed, PROBE_SIGNAL), periods + 1);
    CHECK_EQ_U64(probe_at(&timed, PROBE_SIGNAL, 0).value, TROUPE_SIGNAL_RECEIVE_TIMEOUT);
    timeout_ms = 0;
    CHECK_OK(stage_do(&stage, who, set_idle, &timeout_ms));
    uint64_t signals = probe_count(&timed, PROBE_SIGNAL);
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    CHECK_EQ_U64(probe_count(&timed, PROBE_SIGNAL), signals);
    stage_close(&stage);
}

static void messages_put_the_receive_timeout_off(void)
{
    uint64_t timeout_ms = 100 * check_slowness();
    begin();
    CHECK_OK(stage_do(&stage, who, set_idle, &timeout_ms));
    uint64_t end = trp_clock_now() + 3 * timeout_ms * TRP_NS_PER_MS;
    uint64_t longest = 0;
    uint64_t last = trp_clock_now();
    while (trp_clock_now() < end) {
        stage_tell(&stage, who, 1);
        uint64_t now = trp_clock_now();
        longest = now - last > longest ? now - last : longest;
        last = now;
        check_rest();
    }
    if (longest < timeout_ms * TRP_NS_PER_MS / 2) { /* This thread was not held up itself. */
        CHECK_EQ_U64(probe_count(&timed, PROBE_SIGNAL), 0);
    }
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_SIGNAL) >= 1, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_err_t work_long(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    busy_ms(120);
    return TROUPE_OK;
}

/* The time that the actor itself was busy is not time in which nothing came. */
static void the_receive_timeout_counts_from_the_end_of_the_last_receive(void)
{
    uint64_t timeout_ms = 100 * check_slowness();
    begin();
    CHECK_OK(stage_do(&stage, who, set_idle, &timeout_ms));
    CHECK_OK(stage_do(&stage, who, work_long, NULL));
    uint64_t from = trp_clock_now();
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_SIGNAL) == 1, STAGE_PATIENCE_MS);
    CHECK_GE_U64(trp_clock_now() - from + 10 * TRP_NS_PER_MS, timeout_ms * TRP_NS_PER_MS);
    stage_close(&stage);
}

static void a_restart_ends_the_receive_timeout(void)
{
    uint64_t timeout_ms = 1;
    begin();
    CHECK_OK(stage_do(&stage, who, set_idle, &timeout_ms));
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_SIGNAL) >= 1, STAGE_PATIENCE_MS);
    CHECK_ERR(stage_do(&stage, who, fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(stage_stats(&stage).timers, 1);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_timer_fires_once_and_not_before_its_time),
    CHECK_CASE(a_key_started_again_replaces_its_timer),
    CHECK_CASE(timers_that_make_no_sense_are_refused),
    CHECK_CASE(a_cancelled_or_replaced_timer_never_fires_even_when_its_firing_is_queued),
    CHECK_CASE(a_firing_that_is_queued_does_not_reach_the_next_life),
    CHECK_CASE(all_can_be_cancelled_at_once),
    CHECK_CASE(a_periodic_timer_keeps_its_rate_over_ten_restarts),
    CHECK_CASE(what_a_late_actor_missed_is_skipped_and_the_phase_kept),
    CHECK_CASE(a_dead_actors_timers_are_gone),
    CHECK_CASE(the_receive_timeout_comes_each_time_nothing_came_for_so_long),
    CHECK_CASE(messages_put_the_receive_timeout_off),
    CHECK_CASE(the_receive_timeout_counts_from_the_end_of_the_last_receive),
    CHECK_CASE(a_restart_ends_the_receive_timeout),
};

CHECK_MAIN("actor.timer", cases)
