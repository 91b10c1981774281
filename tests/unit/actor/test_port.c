/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Ports: plain threads send, and wait for room no longer than they want to. */

#include <troupe/inbox.h>

#include <string.h>

#include "actor/injector.h"
#include "base/clock.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t probe_;
static troupe_ref_t who;
static _Atomic bool may_go_on;

static troupe_err_t keep_busy(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)argument;
    probe_note(probe, 0);
    CHECK_TRUE(CHECK_WAIT(atomic_load(&may_go_on), STAGE_PATIENCE_MS));
    return TROUPE_OK;
}

static void begin(bool is_busy)
{
    probe_ = (probe_t){0};
    atomic_store(&may_go_on, false);
    stage_open(&stage, NULL);
    who = stage_puppet_at(&stage, &probe_, 0);
    if (is_busy) {
        stage_post(&stage, who, keep_busy, NULL);
        CHECK_EVENTUALLY(probe_count(&probe_, PROBE_NOTE) == 1, STAGE_PATIENCE_MS);
    }
}

static troupe_err_t tell(uint64_t number, uint32_t timeout_ms)
{
    return troupe_port_tell(stage.port, who, troupe_ref_none(), TROUPE_TYPE_BYTES, &number,
                            sizeof(number), timeout_ms);
}

static void a_port_that_may_not_wait_is_told_that_there_is_no_room(void)
{
    uint64_t sent = 0;
    begin(true);
    while (sent < 2 * TRP_INJECTOR_HIGH && tell(sent, 0) == TROUPE_OK) {
        sent++;
    }
    CHECK_EQ_U64(sent, TRP_INJECTOR_HIGH);
    CHECK_ERR(tell(sent, 0), TROUPE_EFULL);
    uint64_t from = trp_clock_now();
    CHECK_ERR(tell(sent, 20), TROUPE_EFULL);
    CHECK_GE_U64(trp_clock_now() - from, 20 * TRP_NS_PER_MS);
    atomic_store(&may_go_on, true);
    CHECK_OK(tell(sent, STAGE_PATIENCE_MS)); /* Waits for room, and gets it. */
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_MESSAGE) == sent + 1, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

/* Room on another dispatcher is room. */
static void a_busy_dispatcher_does_not_hold_up_sends_to_others(void)
{
    begin(true);
    probe_t other = {0};
    troupe_ref_t other_ref = stage_puppet_at(&stage, &other, 1);
    while (tell(0, 0) == TROUPE_OK) {
    }
    for (uint64_t i = 0; i < 100; i++) {
        stage_tell(&stage, other_ref, i);
    }
    CHECK_EVENTUALLY(probe_count(&other, PROBE_MESSAGE) == 100, STAGE_PATIENCE_MS);
    atomic_store(&may_go_on, true);
    stage_close(&stage);
}

typedef struct sender {
    uint64_t index;
    uint64_t len;
} sender_t;

#define SENDERS 4u

static uint64_t next_of[SENDERS];

static troupe_err_t check_order(troupe_actor_t *self, probe_t *probe,
                                const troupe_message_t *message)
{
    uint64_t number = 0;
    (void)self;
    memcpy(&number, message->body, sizeof(number));
    atomic_fetch_add(&probe->sum, (uint32_t)number != next_of[number >> 32]++);
    return TROUPE_OK;
}

static void *sender_run(void *argument)
{
    sender_t *sender = argument;
    troupe_port_t *port = NULL;
    CHECK_OK(troupe_port_open(&stage.node, &port));
    for (uint64_t i = 0; i < sender->len; i++) {
        uint64_t number = sender->index << 32 | i;
        CHECK_OK(troupe_port_tell(port, who, troupe_ref_none(), TROUPE_TYPE_BYTES, &number,
                                  sizeof(number), STAGE_PATIENCE_MS));
    }
    troupe_port_close(&port);
    CHECK_NULL(port);
    return NULL;
}

static void many_threads_send_each_in_order(void)
{
    pthread_t threads[SENDERS];
    sender_t senders[SENDERS];
    memset(next_of, 0, sizeof(next_of));
    begin(false);
    probe_.on_message = check_order;
    for (uint64_t i = 0; i < SENDERS; i++) {
        senders[i] = (sender_t){i, check_count(20000, 1000000)};
        REQUIRE(pthread_create(&threads[i], NULL, sender_run, &senders[i]) == 0);
    }
    for (size_t i = 0; i < SENDERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_MESSAGE) == SENDERS * senders[0].len,
                     STAGE_PATIENCE_MS);
    CHECK_EQ_U64(atomic_load(&probe_.sum), 0);
    stage_close(&stage);
}

static void sends_that_make_no_sense_are_refused(void)
{
    static char big[TROUPE_BODY_SIZE_MAX + 1];
    troupe_ref_t none = troupe_ref_none();
    troupe_ref_t stranger = {4711, 1};
    troupe_port_t *port = NULL;
    begin(false);
    CHECK_ERR(troupe_port_open(NULL, &port), TROUPE_EINVAL);
    CHECK_ERR(troupe_port_open(&stage.node, NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_port_tell(NULL, who, none, TROUPE_TYPE_BYTES, NULL, 0, 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_port_tell(stage.port, none, none, TROUPE_TYPE_BYTES, NULL, 0, 0),
              TROUPE_EINVAL);
    CHECK_ERR(troupe_port_tell(stage.port, who, stranger, TROUPE_TYPE_BYTES, NULL, 0, 0),
              TROUPE_EINVAL);
    CHECK_ERR(troupe_port_tell(stage.port, who, none, TROUPE_TYPE_BYTES, NULL, 1, 0),
              TROUPE_EINVAL);
    CHECK_ERR(troupe_port_tell(stage.port, who, none, TROUPE_TYPE_BYTES, big, sizeof(big), 0),
              TROUPE_ETOOBIG);
    CHECK_ERR(troupe_port_tell(stage.port, who, none, TROUPE_TYPE_EVENT, big, 1, 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_port_tell(stage.port, who, none, (troupe_type_t){99}, big, 1, 0),
              TROUPE_ETYPE);
    troupe_ref_t forged = {who.node, trp_id_make(0, TRP_SLOT_DISPATCHER, 0)};
    CHECK_ERR(troupe_port_tell(stage.port, forged, none, TROUPE_TYPE_BYTES, NULL, 0, 0),
              TROUPE_EINVAL);
    forged.id = trp_id_make(100, 5, 1);
    CHECK_ERR(troupe_port_tell(stage.port, forged, none, TROUPE_TYPE_BYTES, NULL, 0, 0),
              TROUPE_EINVAL);
    troupe_port_kill(stage.port, forged);
    troupe_port_kill(stage.port, none);
    troupe_port_kill(stage.port, stranger);
    STAGE_QUIET(&stage);
    stage_close(&stage);
}

static void poison_by_a_port_waits_its_turn(void)
{
    begin(true);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(tell(i, 0));
    }
    troupe_port_poison(stage.port, who);
    CHECK_OK(tell(10, 0));
    atomic_store(&may_go_on, true);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_EQ_U64(probe_count(&probe_, PROBE_MESSAGE), 10);
    stage_close(&stage);
}

static void a_large_body_arrives_whole(void)
{
    static char big[TROUPE_BODY_SIZE_MAX];
    begin(false);
    for (size_t size = TROUPE_BODY_SIZE_MAX - 100; size <= TROUPE_BODY_SIZE_MAX; size++) {
        CHECK_OK(troupe_port_tell(stage.port, who, troupe_ref_none(), TROUPE_TYPE_BYTES, big, size,
                                  STAGE_PATIENCE_MS));
    }
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_MESSAGE) == 101, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(probe_at(&probe_, PROBE_MESSAGE, 100).size, TROUPE_BODY_SIZE_MAX);
    stage_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_port_that_may_not_wait_is_told_that_there_is_no_room),
    CHECK_CASE(a_busy_dispatcher_does_not_hold_up_sends_to_others),
    CHECK_CASE(many_threads_send_each_in_order),
    CHECK_CASE(sends_that_make_no_sense_are_refused),
    CHECK_CASE(poison_by_a_port_waits_its_turn),
    CHECK_CASE(a_large_body_arrives_whole),
};

CHECK_MAIN("actor.port", cases)
