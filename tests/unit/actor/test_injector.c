/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The injector: many producers, one owner; nothing lost, each producer's order kept, waiting for room. */

#include "actor/injector.h"

#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "support/check.h"

#define PRODUCERS 4

static void messages_come_out_as_they_went_in(void)
{
    trp_injector_t injector;
    trp_message_t messages[10] = {{0}};
    REQUIRE_OK(trp_injector_init(&injector));
    CHECK_NULL(trp_injector_pop(&injector));
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < TRP_ARRAY_LEN(messages); i++) {
            trp_injector_push(&injector, &messages[i]);
        }
        CHECK_FALSE(trp_injector_is_empty(&injector));
        for (size_t i = 0; i < TRP_ARRAY_LEN(messages); i++) {
            CHECK_EQ_PTR(trp_injector_pop(&injector), &messages[i]);
        }
        CHECK_NULL(trp_injector_pop(&injector));
        CHECK_TRUE(trp_injector_is_empty(&injector));
    }
    trp_injector_fini(&injector);
}

static void one_message_at_a_time_goes_through_for_ever(void)
{
    trp_injector_t injector;
    trp_message_t message = {0};
    REQUIRE_OK(trp_injector_init(&injector));
    for (int i = 0; i < 100000; i++) {
        trp_injector_push(&injector, &message);
        REQUIRE(trp_injector_pop(&injector) == &message);
    }
    trp_injector_fini(&injector);
}

typedef struct producer {
    trp_injector_t *injector;
    uint64_t index;
    uint64_t len;
    bool waits;
} producer_t;

static void *producer_run(void *argument)
{
    producer_t *producer = argument;
    for (uint64_t i = 0; i < producer->len; i++) {
        trp_message_t *message = trp_calloc(1, sizeof(*message));
        message->sender = producer->index;
        message->target = i;
        if (producer->waits && !trp_injector_has_room(producer->injector)) {
            CHECK_OK(trp_injector_wait(producer->injector, trp_clock_now() + 60 * TRP_NS_PER_S));
        }
        trp_injector_push(producer->injector, message);
    }
    return NULL;
}

/* Takes all that the producers push; the faults are messages out of their producer's order. */
static uint64_t owner_run(trp_injector_t *injector, uint64_t total, uint32_t *ret_len_max)
{
    uint64_t next[PRODUCERS] = {0};
    uint64_t faults = 0;
    for (uint64_t taken = 0; taken < total;) {
        uint32_t len = atomic_load(&injector->len);
        *ret_len_max = len > *ret_len_max ? len : *ret_len_max;
        trp_message_t *message = trp_injector_pop(injector);
        if (message == NULL) {
            (void)sched_yield();
            continue;
        }
        faults += message->target != next[message->sender]++;
        trp_free(message);
        taken++;
    }
    return faults;
}

static void producers_run(bool waits, uint64_t len, uint32_t *ret_len_max)
{
    trp_injector_t injector;
    pthread_t threads[PRODUCERS];
    producer_t producers[PRODUCERS];
    REQUIRE_OK(trp_injector_init(&injector));
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer_t){&injector, i, len, waits};
        REQUIRE(pthread_create(&threads[i], NULL, producer_run, &producers[i]) == 0);
    }
    CHECK_EQ_U64(owner_run(&injector, PRODUCERS * len, ret_len_max), 0);
    for (size_t i = 0; i < PRODUCERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK_TRUE(trp_injector_is_empty(&injector));
    CHECK_NULL(trp_injector_pop(&injector));
    trp_injector_fini(&injector);
}

static void many_producers_lose_nothing_and_keep_their_order(void)
{
    uint32_t len_max = 0;
    producers_run(false, check_count(20000, 1000000), &len_max);
}

static void producers_that_wait_keep_it_near_the_high_mark(void)
{
    uint32_t len_max = 0;
    producers_run(true, check_count(20000, 1000000), &len_max);
    CHECK_LE_U64(len_max, TRP_INJECTOR_HIGH + PRODUCERS);
}

static void waiting_for_room_ends_at_the_deadline(void)
{
    trp_injector_t injector;
    static trp_message_t messages[TRP_INJECTOR_HIGH];
    REQUIRE_OK(trp_injector_init(&injector));
    CHECK_OK(trp_injector_wait(&injector, 0));
    for (size_t i = 0; i < TRP_INJECTOR_HIGH; i++) {
        trp_injector_push(&injector, &messages[i]);
    }
    uint64_t begin = trp_clock_now();
    CHECK_ERR(trp_injector_wait(&injector, begin + 20 * TRP_NS_PER_MS), TROUPE_ETIMEOUT);
    CHECK_GE_U64(trp_clock_now() - begin, 20 * TRP_NS_PER_MS);
    CHECK_ERR(trp_injector_wait(&injector, 0), TROUPE_ETIMEOUT);
    CHECK_NOT_NULL(trp_injector_pop(&injector));
    CHECK_OK(trp_injector_wait(&injector, 0));
    trp_injector_fini(&injector);
}

static const check_case_t cases[] = {
    CHECK_CASE(messages_come_out_as_they_went_in),
    CHECK_CASE(one_message_at_a_time_goes_through_for_ever),
    CHECK_CASE(many_producers_lose_nothing_and_keep_their_order),
    CHECK_CASE(producers_that_wait_keep_it_near_the_high_mark),
    CHECK_CASE(waiting_for_room_ends_at_the_deadline),
};

CHECK_MAIN("actor.injector", cases)
