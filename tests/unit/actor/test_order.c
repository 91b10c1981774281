/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Order and loss under load: first in first out per sender, parking, floods, fairness, lost wake-ups. */

#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "support/runtime.h"

#define ACTORS 8u

static stage_t stage;

/* ---- a crowd that sends at random ------------------------------------------------------------ */

/* Each member numbers what it sends to each other, and checks what it gets from each. A sender counts
 * as done when it has sent its share; the receivers must then have all of it. */
typedef struct parcel {
    uint64_t from;
    uint64_t number;
} parcel_t;

typedef struct member_args {
    uint64_t index;
    uint64_t share; /* Messages it sends. */
} member_args_t;

typedef struct member {
    member_args_t args;
    uint64_t left;
    trp_random_t random;
    uint64_t sent[ACTORS];
    uint64_t got[ACTORS];
} member_t;

static troupe_ref_t crowd[ACTORS];
static _Atomic uint64_t crowd_got;
static _Atomic uint64_t crowd_faults;

static troupe_err_t member_init(troupe_actor_t *self, void *state, const void *args)
{
    member_t *member = state;
    (void)self;
    memcpy(&member->args, args, sizeof(member->args));
    member->left = member->args.share;
    trp_random_seed(&member->random, check_seed() + member->args.index);
    return TROUPE_OK;
}

/* Sends a burst, now and then one that overruns the channels, and lets itself go on by a message. */
static troupe_err_t member_go(troupe_actor_t *self, member_t *member)
{
    uint64_t burst = trp_random_below(&member->random, 100) == 0
                         ? 3000
                         : 1 + trp_random_below(&member->random, 60);
    for (; burst > 0 && member->left > 0; burst--) {
        uint64_t to = trp_random_below(&member->random, ACTORS);
        parcel_t parcel = {member->args.index, member->sent[to]++};
        member->left--;
        CHECK_OK(troupe_tell(self, crowd[to], TROUPE_TYPE_BYTES, &parcel, sizeof(parcel)));
    }
    if (member->left > 0) {
        return troupe_tell(self, troupe_self(self), TROUPE_TYPE_TEXT, "", 0);
    }
    return TROUPE_OK;
}

static troupe_err_t member_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    member_t *member = state;
    if (message->type.id == TROUPE_TYPE_TEXT.id) {
        return member_go(self, member);
    }
    parcel_t parcel;
    memcpy(&parcel, message->body, sizeof(parcel));
    bool is_right = troupe_ref_equal(message->sender, crowd[parcel.from]) &&
                    parcel.number == member->got[parcel.from];
    member->got[parcel.from]++;
    atomic_fetch_add_explicit(&crowd_faults, !is_right, memory_order_relaxed);
    atomic_fetch_add_explicit(&crowd_got, 1, memory_order_relaxed);
    return TROUPE_OK;
}

static const troupe_behavior_t member_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.member",
    .state_size = sizeof(member_t),
    .init = member_init,
    .receive = member_receive,
};

static void crowd_run(uint32_t dispatchers, uint32_t throughput, uint64_t share)
{
    trp_runtime_options_t options = {.dispatchers = dispatchers, .throughput = throughput};
    atomic_store(&crowd_got, 0);
    atomic_store(&crowd_faults, 0);
    stage_open(&stage, &options);
    for (uint64_t i = 0; i < ACTORS; i++) {
        member_args_t args = {i, share};
        troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
        spawn.args = &args;
        spawn.args_size = sizeof(args);
        REQUIRE_OK(troupe_node_spawn(&stage.node, &member_behavior, &spawn, &crowd[i]));
    }
    for (uint64_t i = 0; i < ACTORS; i++) {
        REQUIRE_OK(troupe_port_tell(stage.port, crowd[i], troupe_ref_none(), TROUPE_TYPE_TEXT, "",
                                    0, STAGE_PATIENCE_MS));
    }
    CHECK_EVENTUALLY(atomic_load(&crowd_got) == ACTORS * share, 6 * STAGE_PATIENCE_MS);
    CHECK_EQ_U64(atomic_load(&crowd_got), ACTORS * share);
    CHECK_EQ_U64(atomic_load(&crowd_faults), 0);
    stage_close(&stage);
}

static void on_one_dispatcher_each_sender_is_heard_in_order(void)
{
    crowd_run(1, 0, check_count(30000, 1000000));
}

static void across_dispatchers_each_sender_is_heard_in_order(void)
{
    crowd_run(2, 0, check_count(30000, 1000000));
    crowd_run(3, 1, check_count(10000, 1000000));
    crowd_run(4, 7, check_count(10000, 1000000));
}

/* ---- floods ---------------------------------------------------------------------------------- */

typedef struct flood_args {
    troupe_ref_t to;
    uint64_t len;
} flood_args_t;

typedef struct flooder {
    flood_args_t args;
    uint64_t next;
    uint64_t got;
} flooder_t;

static _Atomic uint64_t flood_got;
static _Atomic uint64_t flood_faults;

static troupe_err_t flooder_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((flooder_t *)state)->args, args, sizeof(flood_args_t));
    return TROUPE_OK;
}

/* An order (a reference) starts it or tells it whom to flood; numbers are counted. */
static troupe_err_t flooder_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    flooder_t *flooder = state;
    if (message->size == sizeof(uint64_t)) {
        uint64_t number = 0;
        memcpy(&number, message->body, sizeof(number));
        atomic_fetch_add_explicit(&flood_faults, number != flooder->got, memory_order_relaxed);
        flooder->got++;
        atomic_fetch_add_explicit(&flood_got, 1, memory_order_relaxed);
        return TROUPE_OK;
    }
    if (message->size == sizeof(troupe_ref_t)) {
        memcpy(&flooder->args.to, message->body, sizeof(troupe_ref_t));
    }
    for (int i = 0; i < 2000 && flooder->next < flooder->args.len; i++) {
        CHECK_OK(puppet_tell(self, flooder->args.to, flooder->next++));
    }
    if (flooder->next < flooder->args.len) {
        return troupe_tell(self, troupe_self(self), TROUPE_TYPE_BYTES, "", 0);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t flooder_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.flooder",
    .state_size = sizeof(flooder_t),
    .init = flooder_init,
    .receive = flooder_receive,
};

static troupe_ref_t flooder_spawn(uint32_t place, uint64_t len)
{
    flood_args_t args = {troupe_ref_none(), len};
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t ref = troupe_ref_none();
    spawn.place = TROUPE_PLACE(place);
    spawn.args = &args;
    spawn.args_size = sizeof(args);
    REQUIRE_OK(troupe_node_spawn(&stage.node, &flooder_behavior, &spawn, &ref));
    return ref;
}

static void flooder_start(troupe_ref_t who, troupe_ref_t to)
{
    REQUIRE_OK(troupe_port_tell(stage.port, who, troupe_ref_none(), TROUPE_TYPE_BYTES, &to,
                                sizeof(to), STAGE_PATIENCE_MS));
}

static void two_dispatchers_that_flood_each_other_both_go_on(void)
{
    uint64_t len = check_count(200000, 5000000);
    atomic_store(&flood_got, 0);
    atomic_store(&flood_faults, 0);
    stage_open(&stage, NULL);
    troupe_ref_t a = flooder_spawn(0, len);
    troupe_ref_t b = flooder_spawn(1, len);
    flooder_start(a, b);
    flooder_start(b, a);
    CHECK_EVENTUALLY(atomic_load(&flood_got) == 2 * len, 6 * STAGE_PATIENCE_MS);
    CHECK_EQ_U64(atomic_load(&flood_faults), 0);
    stage_close(&stage);
}

/* A floods a slow actor of the other dispatcher and is parked; B, of A's dispatcher, floods A. */
static void who_sends_to_a_parked_actor_waits_for_the_same_channel(void)
{
    uint64_t len = check_count(50000, 1000000);
    atomic_store(&flood_got, 0);
    atomic_store(&flood_faults, 0);
    stage_open(&stage, NULL);
    troupe_ref_t sink = flooder_spawn(1, 0);
    troupe_ref_t a = flooder_spawn(0, len);
    troupe_ref_t b = flooder_spawn(0, len);
    troupe_ref_t c = flooder_spawn(0, len);
    flooder_start(a, sink);
    flooder_start(b, a);
    flooder_start(c, b);
    CHECK_EVENTUALLY(atomic_load(&flood_got) == 3 * len, 6 * STAGE_PATIENCE_MS);
    CHECK_EQ_U64(atomic_load(&flood_faults), 0);
    stage_close(&stage);
}

static troupe_err_t overrun(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    for (uint64_t i = 0; i < 5000; i++) {
        CHECK_OK(puppet_tell(self, *(troupe_ref_t *)argument, i));
    }
    return TROUPE_OK;
}

static _Atomic bool may_go_on;

static troupe_err_t keep_busy(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)argument;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load(&may_go_on), STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static void a_parked_actor_is_counted_takes_no_mail_and_can_be_killed(void)
{
    probe_t sender = {0};
    probe_t sink = {0};
    atomic_store(&may_go_on, false);
    stage_open(&stage, NULL);
    troupe_ref_t from = stage_puppet_at(&stage, &sender, 0);
    troupe_ref_t to = stage_puppet_at(&stage, &sink, 1);
    stage_post(&stage, to, keep_busy, NULL);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, from, overrun, &to));
    stage_tell(&stage, from, 7);
    troupe_port_kill(stage.port, from);
    CHECK_TRUE(stage_is_gone(&stage, from));
    CHECK_EQ_U64(probe_count(&sender, PROBE_MESSAGE), 0);
    CHECK_EQ_U64(probe_count(&sender, PROBE_STOP), 1);
    atomic_store(&may_go_on, true);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_MESSAGE) == 5000, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static void a_parked_actor_goes_on_when_there_is_room(void)
{
    probe_t sender = {0};
    probe_t sink = {0};
    atomic_store(&may_go_on, false);
    stage_open(&stage, NULL);
    troupe_ref_t from = stage_puppet_at(&stage, &sender, 0);
    troupe_ref_t to = stage_puppet_at(&stage, &sink, 1);
    stage_post(&stage, to, keep_busy, NULL);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
    CHECK_OK(stage_do(&stage, from, overrun, &to));
    stage_tell(&stage, from, 7);
    uint64_t end = trp_clock_now() + 20 * TRP_NS_PER_MS;
    while (trp_clock_now() < end) {
        CHECK_EQ_U64(probe_count(&sender, PROBE_MESSAGE), 0);
        check_rest();
    }
    atomic_store(&may_go_on, true);
    CHECK_EVENTUALLY(probe_count(&sender, PROBE_MESSAGE) == 1, STAGE_PATIENCE_MS);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_MESSAGE) == 5000, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

/* ---- fairness -------------------------------------------------------------------------------- */

typedef struct spinner {
    uint64_t begun;
} spinner_t;

/* Keeps `SPINNING` messages of its own going round. */
#define SPINNING 6000u

static troupe_err_t spinner_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    spinner_t *spinner = state;
    if (spinner->begun++ == 0) {
        for (uint32_t i = 0; i < SPINNING; i++) {
            CHECK_OK(troupe_tell(self, troupe_self(self), TROUPE_TYPE_TEXT, "", 0));
        }
    }
    return message->type.id == TROUPE_TYPE_TEXT.id
               ? troupe_tell(self, troupe_self(self), TROUPE_TYPE_TEXT, "", 0)
               : TROUPE_OK;
}

static const troupe_behavior_t spinner_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.spinner",
    .state_size = sizeof(spinner_t),
    .receive = spinner_receive,
};

static troupe_ref_t spinner_spawn(uint32_t place)
{
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t ref = troupe_ref_none();
    spawn.place = TROUPE_PLACE(place);
    REQUIRE_OK(troupe_node_spawn(&stage.node, &spinner_behavior, &spawn, &ref));
    stage_tell(&stage, ref, 1);
    return ref;
}

static troupe_err_t pass_on(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)message;
    return puppet_tell(self, *(troupe_ref_t *)probe->context, 1);
}

/* The backlog of the one never falls below the mark at which channels are left alone. */
static void an_actor_that_keeps_its_dispatcher_busy_starves_nobody(void)
{
    probe_t far = {0};
    probe_t near = {0};
    probe_t sink = {0};
    stage_open(&stage, NULL);
    troupe_ref_t sink_ref = stage_puppet_at(&stage, &sink, 0);
    near.context = &sink_ref;
    near.on_message = pass_on;
    troupe_ref_t near_ref = stage_puppet_at(&stage, &near, 0);
    far.context = &near_ref;
    far.on_message = pass_on;
    troupe_ref_t far_ref = stage_puppet_at(&stage, &far, 1);
    troupe_ref_t spinner = spinner_spawn(0);
    for (uint64_t i = 0; i < 100; i++) {
        stage_tell(&stage, near_ref, 1); /* By the injector. */
        stage_tell(&stage, far_ref, 1);  /* By the channel. */
    }
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_MESSAGE) == 200, STAGE_PATIENCE_MS);
    troupe_port_kill(stage.port, spinner);
    CHECK_TRUE(stage_is_gone(&stage, spinner));
    stage_close(&stage);
}

static troupe_err_t count_down(troupe_actor_t *self, probe_t *probe,
                               const troupe_message_t *message)
{
    (void)message;
    if (atomic_fetch_add(&probe->number, 1) < 5) {
        CHECK_OK(troupe_timer_once(self, 1, 1, TROUPE_TYPE_BYTES, NULL, 0));
    }
    return TROUPE_OK;
}

static void timers_fire_on_a_busy_dispatcher(void)
{
    probe_t timed = {.on_message = count_down};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet_at(&stage, &timed, 0);
    troupe_ref_t spinner = spinner_spawn(0);
    stage_tell(&stage, who, 1);
    CHECK_EVENTUALLY(probe_count(&timed, PROBE_MESSAGE) == 6, STAGE_PATIENCE_MS);
    troupe_port_kill(stage.port, spinner);
    stage_close(&stage);
}

/* ---- wake-ups -------------------------------------------------------------------------------- */

/* One message goes to and fro; a lost wake-up hangs it. */
static _Atomic uint64_t rally_len;

typedef struct rally {
    uint64_t got;
} rally_t;

static troupe_err_t rally_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    (void)state;
    uint64_t left = 0;
    memcpy(&left, message->body, sizeof(left));
    atomic_fetch_add_explicit(&rally_len, 1, memory_order_relaxed);
    if (left == 0) {
        return TROUPE_OK;
    }
    /* Now and then the other side is to have fallen asleep in earnest. */
    if (left % 997 == 0) {
        uint64_t end = trp_clock_now() + 30 * TRP_NS_PER_US + left % 31 * TRP_NS_PER_US;
        while (trp_clock_now() < end) {
        }
    }
    return troupe_reply(self, TROUPE_TYPE_BYTES, &(uint64_t){left - 1}, sizeof(left));
}

static const troupe_behavior_t rally_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.rally",
    .state_size = sizeof(rally_t),
    .receive = rally_receive,
};

static void a_single_message_between_sleepers_never_gets_stuck(void)
{
    uint64_t len = check_count(100000, 5000000);
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t a;
    troupe_ref_t b;
    atomic_store(&rally_len, 0);
    stage_open(&stage, NULL);
    spawn.place = TROUPE_PLACE(0);
    REQUIRE_OK(troupe_node_spawn(&stage.node, &rally_behavior, &spawn, &a));
    spawn.place = TROUPE_PLACE(1);
    REQUIRE_OK(troupe_node_spawn(&stage.node, &rally_behavior, &spawn, &b));
    REQUIRE_OK(troupe_port_tell(stage.port, a, b, TROUPE_TYPE_BYTES, &len, sizeof(len), 0));
    uint64_t before = UINT64_MAX;
    while (atomic_load(&rally_len) <= len && before != atomic_load(&rally_len)) {
        before = atomic_load(&rally_len); /* Nothing for so long: it hangs. */
        (void)CHECK_WAIT(atomic_load(&rally_len) > len, 3000);
    }
    CHECK_EQ_U64(atomic_load(&rally_len), len + 1);
    stage_close(&stage);
}

/* The same with a plain thread as the sender. */
static void a_single_message_of_a_thread_never_gets_stuck(void)
{
    probe_t probe = {0};
    stage_open(&stage, NULL);
    troupe_ref_t who = stage_puppet_at(&stage, &probe, 1);
    uint64_t len = check_count(5000, 300000);
    for (uint64_t i = 1; i <= len; i++) {
        stage_tell(&stage, who, i);
        uint64_t end = check_now_ms() + STAGE_PATIENCE_MS * check_slowness();
        while (probe_count(&probe, PROBE_MESSAGE) < i && check_now_ms() < end) {
        }
        REQUIRE_EQ_U64(probe_count(&probe, PROBE_MESSAGE), i);
    }
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(on_one_dispatcher_each_sender_is_heard_in_order),
    CHECK_CASE(across_dispatchers_each_sender_is_heard_in_order),
    CHECK_CASE(two_dispatchers_that_flood_each_other_both_go_on),
    CHECK_CASE(who_sends_to_a_parked_actor_waits_for_the_same_channel),
    CHECK_CASE(a_parked_actor_is_counted_takes_no_mail_and_can_be_killed),
    CHECK_CASE(a_parked_actor_goes_on_when_there_is_room),
    CHECK_CASE(an_actor_that_keeps_its_dispatcher_busy_starves_nobody),
    CHECK_CASE(timers_fire_on_a_busy_dispatcher),
    CHECK_CASE(a_single_message_between_sleepers_never_gets_stuck),
    CHECK_CASE(a_single_message_of_a_thread_never_gets_stuck),
};

CHECK_MAIN("actor.order", cases)
