/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The timing wheel: single properties, and long random runs beside a model that looks at every timer. */

#include "base/wheel.h"

#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "support/check.h"

#define TICK (UINT64_C(1) << TRP_WHEEL_TICK_BITS)
#define TIMERS 200

/* A timer and what the model knows of it. */
typedef struct model_timer {
    trp_wheel_timer_t timer;
    bool armed;
    uint64_t deadline;
    uint64_t fired; /* How often. */
} model_timer_t;

typedef struct model {
    trp_wheel_t wheel;
    trp_random_t random;
    uint64_t now;
    uint64_t last_fired_tick;
    model_timer_t timers[TIMERS];
} model_t;

static void model_init(model_t *model, uint64_t seed, uint64_t now)
{
    memset(model, 0, sizeof(*model));
    trp_random_seed(&model->random, seed);
    model->now = now;
    trp_wheel_init(&model->wheel, now);
}

static void model_add(model_t *model, model_timer_t *timer, uint64_t deadline)
{
    timer->armed = true;
    timer->deadline = deadline;
    trp_wheel_add(&model->wheel, &timer->timer, deadline);
}

static void model_cancel(model_t *model, model_timer_t *timer)
{
    timer->armed = false;
    trp_wheel_cancel(&model->wheel, &timer->timer);
}

/* A deadline near or far, now and then in the past. */
static uint64_t model_deadline(model_t *model)
{
    uint64_t span = UINT64_C(1) << trp_random_below(&model->random, 60);
    uint64_t offset = trp_random_below(&model->random, span) + 1;
    if (trp_random_below(&model->random, 20) == 0) {
        return offset > model->now ? 0 : model->now - offset;
    }
    return trp_clock_add(model->now, offset);
}

static void model_change_one(model_t *model)
{
    model_timer_t *timer = &model->timers[trp_random_below(&model->random, TIMERS)];
    if (timer->armed) {
        model_cancel(model, timer);
    } else {
        model_add(model, timer, model_deadline(model));
    }
}

static void model_fire(trp_wheel_t *wheel, trp_wheel_timer_t *fired, void *user)
{
    model_t *model = user;
    model_timer_t *timer = TRP_CONTAINER_OF(fired, model_timer_t, timer);
    CHECK(wheel == &model->wheel);
    CHECK(timer->armed);
    CHECK(!trp_wheel_is_armed(fired));
    CHECK_LE_U64(timer->deadline, model->now);
    timer->armed = false;
    timer->fired++;
    /* Now and then a callback changes other timers, or arms its own again. */
    if (trp_random_below(&model->random, 4) == 0) {
        model_change_one(model);
    }
    if (!timer->armed && trp_random_below(&model->random, 8) == 0) {
        model_add(model, timer, model_deadline(model));
    }
}

/* Which timers must be gone after an advance: all that were due by a whole tick. Timers that a
 * callback armed in the past are in the next advance. */
static void model_check_rest(model_t *model)
{
    size_t armed = 0;
    uint64_t earliest = UINT64_MAX;
    for (size_t i = 0; i < TIMERS; i++) {
        const model_timer_t *timer = &model->timers[i];
        CHECK(timer->armed == trp_wheel_is_armed(&timer->timer));
        if (timer->armed) {
            armed++;
            earliest = timer->deadline < earliest ? timer->deadline : earliest;
        }
    }
    CHECK_EQ_U64(trp_wheel_len(&model->wheel), armed);
    uint64_t next = trp_wheel_next(&model->wheel);
    if (armed == 0) {
        CHECK_EQ_U64(next, TRP_CLOCK_NEVER);
    } else {
        uint64_t latest = trp_clock_add(earliest, TICK - 1);
        CHECK_LE_U64(next, latest > model->now ? latest : model->now);
    }
}

static void model_check_due(model_t *model)
{
    for (size_t i = 0; i < TIMERS; i++) {
        const model_timer_t *timer = &model->timers[i];
        if (timer->armed) {
            CHECK_GT_U64(trp_clock_add(timer->deadline, TICK - 1), model->now & ~(TICK - 1));
        }
    }
}

/* Some time further: a little, a lot, or to just where the wheel says something is to be done. */
static void model_move(model_t *model)
{
    uint64_t next = trp_wheel_next(&model->wheel);
    uint64_t kind = trp_random_below(&model->random, 4);
    if (kind == 0 && next != TRP_CLOCK_NEVER && next > model->now) {
        model->now = next;
    } else if (kind == 1) {
        model->now += trp_random_below(&model->random, TICK * 3);
    } else if (kind == 2) {
        model->now += trp_random_below(&model->random, TICK * 5000);
    } else {
        uint64_t span = UINT64_C(1) << trp_random_below(&model->random, 46);
        model->now += trp_random_below(&model->random, span);
    }
}

/* Advances until nothing is left for the next advance at the same time. */
static void model_advance(model_t *model)
{
    do {
        (void)trp_wheel_advance(&model->wheel, model->now, model_fire, model);
        model_check_rest(model);
    } while (trp_wheel_next(&model->wheel) <= (model->now & ~(TICK - 1)));
    model_check_due(model);
}

static void a_wheel_does_what_the_naive_model_does(void)
{
    static model_t model;
    uint64_t runs = check_count(30, 1000);
    for (uint64_t run = 0; run < runs; run++) {
        model_init(&model, check_seed() + run, run * 12345678901);
        for (int step = 0; step < 300; step++) {
            for (uint64_t n = trp_random_below(&model.random, 10); n > 0; n--) {
                model_change_one(&model);
            }
            model_move(&model);
            model_advance(&model);
        }
    }
}

/* ---- Single properties ---- */

typedef struct record {
    size_t len;
    trp_wheel_timer_t *fired[16];
} record_t;

static void record_fire(trp_wheel_t *wheel, trp_wheel_timer_t *timer, void *user)
{
    (void)wheel;
    record_t *record = user;
    if (record->len < TRP_ARRAY_LEN(record->fired)) {
        record->fired[record->len++] = timer;
    }
}

static void an_empty_wheel_waits_for_ever(void)
{
    trp_wheel_t wheel;
    record_t record = {0};
    trp_wheel_init(&wheel, 12345);
    CHECK_EQ_U64(trp_wheel_next(&wheel), TRP_CLOCK_NEVER);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, UINT64_MAX / 2, record_fire, &record), 0);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 0, record_fire, &record), 0);
}

static void a_timer_never_fires_early(void)
{
    static const uint64_t delays[] = {1,           TICK - 1,      TICK,          TICK + 1,
                                      63 * TICK,   64 * TICK,     65 * TICK,     4095 * TICK,
                                      4096 * TICK, 4097 * TICK,   262144 * TICK, UINT64_C(1) << 50,
                                      1000000000,  60000000000ull};
    for (size_t i = 0; i < TRP_ARRAY_LEN(delays); i++) {
        trp_wheel_t wheel;
        trp_wheel_timer_t timer = {0};
        record_t record = {0};
        uint64_t start = 987654321;
        trp_wheel_init(&wheel, start);
        trp_wheel_add(&wheel, &timer, start + delays[i]);
        CHECK_EQ_U64(trp_wheel_advance(&wheel, start + delays[i] - 1, record_fire, &record), 0);
        CHECK_EQ_U64(trp_wheel_advance(&wheel, start + delays[i] + TICK, record_fire, &record), 1);
        CHECK_EQ_PTR(record.fired[0], &timer);
    }
}

static void following_next_fires_within_a_tick(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timer = {0};
    record_t record = {0};
    trp_wheel_init(&wheel, 5);
    uint64_t deadline = 90061001002003;
    trp_wheel_add(&wheel, &timer, deadline);
    uint64_t now = 5;
    unsigned wakes = 0;
    while (record.len == 0 && wakes < 100) {
        now = trp_wheel_next(&wheel);
        (void)trp_wheel_advance(&wheel, now, record_fire, &record);
        wakes++;
    }
    CHECK_GE_U64(now, deadline);
    CHECK_LT_U64(now, deadline + TICK);
    CHECK_LE_U64(wakes, TRP_WHEEL_LEVELS);
}

static void a_deadline_in_the_past_fires_with_the_next_advance(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timer = {0};
    record_t record = {0};
    trp_wheel_init(&wheel, 100 * TICK);
    trp_wheel_add(&wheel, &timer, 3);
    CHECK_LE_U64(trp_wheel_next(&wheel), 100 * TICK);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 100 * TICK, record_fire, &record), 1);
}

static void timers_fire_in_the_order_of_ticks(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timers[4] = {0};
    record_t record = {0};
    trp_wheel_init(&wheel, 0);
    trp_wheel_add(&wheel, &timers[0], 5000 * TICK);
    trp_wheel_add(&wheel, &timers[1], 3 * TICK);
    trp_wheel_add(&wheel, &timers[2], 70 * TICK);
    trp_wheel_add(&wheel, &timers[3], 70 * TICK);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 6000 * TICK, record_fire, &record), 4);
    CHECK_EQ_PTR(record.fired[0], &timers[1]);
    CHECK_EQ_PTR(record.fired[1], &timers[2]);
    CHECK_EQ_PTR(record.fired[2], &timers[3]);
    CHECK_EQ_PTR(record.fired[3], &timers[0]);
}

static void a_cancelled_timer_never_fires(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timer = {0};
    record_t record = {0};
    trp_wheel_init(&wheel, 0);
    trp_wheel_add(&wheel, &timer, 10 * TICK);
    trp_wheel_cancel(&wheel, &timer);
    trp_wheel_cancel(&wheel, &timer);
    CHECK_EQ_U64(trp_wheel_len(&wheel), 0);
    CHECK_EQ_U64(trp_wheel_next(&wheel), TRP_CLOCK_NEVER);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 20 * TICK, record_fire, &record), 0);
}

/* Two timers of one tick, of which the first to fire cancels the other. */
typedef struct rivals {
    trp_wheel_timer_t timers[2];
    unsigned fired;
} rivals_t;

static void rivals_fire(trp_wheel_t *wheel, trp_wheel_timer_t *timer, void *user)
{
    rivals_t *rivals = user;
    rivals->fired++;
    trp_wheel_cancel(wheel, timer == &rivals->timers[0] ? &rivals->timers[1] : &rivals->timers[0]);
}

static void a_timer_cancelled_while_it_is_due_never_fires(void)
{
    trp_wheel_t wheel;
    rivals_t rivals = {0};
    trp_wheel_init(&wheel, 0);
    trp_wheel_add(&wheel, &rivals.timers[0], 10 * TICK);
    trp_wheel_add(&wheel, &rivals.timers[1], 10 * TICK);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 20 * TICK, rivals_fire, &rivals), 1);
    CHECK_EQ_U64(rivals.fired, 1);
    CHECK_EQ_U64(trp_wheel_len(&wheel), 0);
}

static void again_fire(trp_wheel_t *wheel, trp_wheel_timer_t *timer, void *user)
{
    unsigned *fired = user;
    (*fired)++;
    trp_wheel_add(wheel, timer, timer->deadline_ns);
}

static void a_timer_that_arms_itself_in_the_past_does_not_hang_the_advance(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timer = {0};
    unsigned fired = 0;
    trp_wheel_init(&wheel, 0);
    trp_wheel_add(&wheel, &timer, 10 * TICK);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 10 * TICK, again_fire, &fired), 1);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, 10 * TICK, again_fire, &fired), 1);
    CHECK_EQ_U64(fired, 2);
    trp_wheel_cancel(&wheel, &timer);
}

static void the_end_of_time_never_comes(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timer = {0};
    record_t record = {0};
    trp_wheel_init(&wheel, 7);
    trp_wheel_add(&wheel, &timer, TRP_CLOCK_NEVER);
    CHECK_EQ_U64(trp_wheel_advance(&wheel, TRP_CLOCK_NEVER, record_fire, &record), 0);
    CHECK(trp_wheel_is_armed(&timer));
    trp_wheel_cancel(&wheel, &timer);
    CHECK_EQ_U64(trp_wheel_len(&wheel), 0);
}

static void nested_fire(trp_wheel_t *wheel, trp_wheel_timer_t *timer, void *user)
{
    (void)timer;
    (void)trp_wheel_advance(wheel, 100 * TICK, nested_fire, user);
}

static void misuse_is_noticed(void)
{
    trp_wheel_t wheel;
    trp_wheel_timer_t timer = {0};
    trp_wheel_init(&wheel, 0);
    trp_wheel_add(&wheel, &timer, 5 * TICK);
    CHECK_ABORTS(trp_wheel_add(&wheel, &timer, 6 * TICK));
    CHECK_ABORTS((void)trp_wheel_advance(&wheel, 10 * TICK, nested_fire, NULL));
    CHECK_ABORTS((void)trp_wheel_advance(&wheel, 10 * TICK, NULL, NULL));
}

static const check_case_t cases[] = {
    CHECK_CASE(an_empty_wheel_waits_for_ever),
    CHECK_CASE(a_timer_never_fires_early),
    CHECK_CASE(following_next_fires_within_a_tick),
    CHECK_CASE(a_deadline_in_the_past_fires_with_the_next_advance),
    CHECK_CASE(timers_fire_in_the_order_of_ticks),
    CHECK_CASE(a_cancelled_timer_never_fires),
    CHECK_CASE(a_timer_cancelled_while_it_is_due_never_fires),
    CHECK_CASE(a_timer_that_arms_itself_in_the_past_does_not_hang_the_advance),
    CHECK_CASE(the_end_of_time_never_comes),
    CHECK_CASE(a_wheel_does_what_the_naive_model_does),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.wheel", cases)
