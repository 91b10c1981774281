/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The channel between two dispatchers: order, marks, the outbox, and two threads at its ends. */

#include "actor/channel.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

#define MESSAGES 4096

static trp_message_t messages[MESSAGES];

static trp_channel_t *channel_make(void)
{
    trp_channel_t *channel = trp_alloc_aligned(TRP_CACHE_LINE, sizeof(*channel));
    REQUIRE_NOT_NULL(channel);
    memset(channel, 0, sizeof(*channel));
    for (size_t i = 0; i < MESSAGES; i++) {
        messages[i] = (trp_message_t){.target = i};
    }
    return channel;
}

/* Takes one; NULL when nothing is published. */
static trp_message_t *channel_take(trp_channel_t *channel)
{
    if (trp_channel_poll(channel) == 0) {
        return NULL;
    }
    trp_message_t *message = trp_channel_peek(channel, 0);
    trp_channel_release(channel, 1);
    return message;
}

static void what_is_put_is_seen_only_when_published(void)
{
    trp_channel_t *channel = channel_make();
    CHECK_FALSE(trp_channel_put(channel, &messages[0]));
    CHECK_NULL(channel_take(channel));
    CHECK_TRUE(trp_channel_publish(channel));
    CHECK_FALSE(trp_channel_publish(channel));
    CHECK_EQ_PTR(channel_take(channel), &messages[0]);
    CHECK_NULL(channel_take(channel));
    trp_free(channel);
}

static void past_the_high_mark_put_says_so_and_keeps_everything(void)
{
    trp_channel_t *channel = channel_make();
    for (uint32_t i = 0; i < MESSAGES; i++) {
        CHECK_EQ_U64(trp_channel_put(channel, &messages[i]), i >= TRP_CHANNEL_HIGH);
    }
    CHECK_EQ_U64(channel->outbox_len, MESSAGES - TRP_CHANNEL_LEN);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        (void)trp_channel_publish(channel);
        CHECK_EQ_PTR(channel_take(channel), &messages[i]);
        bool is_empty = trp_channel_outbox_move(channel);
        CHECK_EQ_U64(is_empty, i + TRP_CHANNEL_LEN + 1 >= MESSAGES);
    }
    CHECK_NULL(channel_take(channel));
    trp_free(channel);
}

static void parked_senders_go_on_at_the_low_mark_and_not_before(void)
{
    trp_channel_t *channel = channel_make();
    for (uint32_t i = 0; i < TRP_CHANNEL_HIGH + 1; i++) {
        (void)trp_channel_put(channel, &messages[i]);
    }
    (void)trp_channel_publish(channel);
    for (uint32_t left = TRP_CHANNEL_HIGH + 1; left > 0; left--) {
        CHECK_EQ_U64(trp_channel_has_room(channel), left <= TRP_CHANNEL_LOW);
        (void)channel_take(channel);
    }
    trp_free(channel);
}

static void there_is_no_room_while_the_outbox_waits(void)
{
    trp_channel_t *channel = channel_make();
    for (uint32_t i = 0; i < TRP_CHANNEL_LEN + 1; i++) {
        (void)trp_channel_put(channel, &messages[i]);
    }
    (void)trp_channel_publish(channel);
    trp_channel_release(channel, TRP_CHANNEL_LEN);
    CHECK_FALSE(trp_channel_has_room(channel));
    CHECK_TRUE(trp_channel_outbox_move(channel));
    CHECK_TRUE(trp_channel_has_room(channel));
    trp_free(channel);
}

static void the_counters_may_run_over(void)
{
    trp_channel_t *channel = channel_make();
    channel->tail = channel->published = channel->head_seen = channel->head = UINT32_MAX - 5;
    atomic_store(&channel->tail_shared, UINT32_MAX - 5);
    atomic_store(&channel->head_shared, UINT32_MAX - 5);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        (void)trp_channel_put(channel, &messages[i]);
        (void)trp_channel_publish(channel);
        CHECK_EQ_PTR(channel_take(channel), &messages[i]);
    }
    trp_free(channel);
}

static void any_mix_of_steps_keeps_the_order(void)
{
    trp_channel_t *channel = channel_make();
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    uint32_t put = 0;
    uint32_t taken = 0;
    for (uint32_t step = 0; step < 500000; step++) {
        switch (trp_random_below(&random, 5)) {
        case 0:
        case 1:
            if (put - taken < MESSAGES) {
                (void)trp_channel_put(channel, &messages[put++ % MESSAGES]);
            }
            break;
        case 2:
            (void)trp_channel_outbox_move(channel);
            (void)trp_channel_publish(channel);
            break;
        default: {
            trp_message_t *message = channel_take(channel);
            if (message != NULL && message != &messages[taken++ % MESSAGES]) {
                CHECK_FAIL("message %u is another", taken - 1);
                step = UINT32_MAX - 1;
            }
        }
        }
    }
    trp_free(channel);
}

typedef struct ends {
    trp_channel_t *channel;
    uint64_t len;
    uint64_t faults;
} ends_t;

static void *consumer_run(void *argument)
{
    ends_t *ends = argument;
    for (uint64_t i = 0; i < ends->len;) {
        uint32_t ready = trp_channel_poll(ends->channel);
        for (uint32_t k = 0; k < ready; k++) {
            ends->faults += trp_channel_peek(ends->channel, k)->target != i++ % MESSAGES;
        }
        if (ready > 0) {
            trp_channel_release(ends->channel, ready);
        } else {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void two_threads_keep_the_order(void)
{
    ends_t ends = {channel_make(), check_count(300000, 20000000), 0};
    pthread_t consumer;
    REQUIRE(pthread_create(&consumer, NULL, consumer_run, &ends) == 0);
    for (uint64_t i = 0; i < ends.len; i++) {
        /* A message is used again only after it was taken: there are more than the ring holds. */
        if (trp_channel_put(ends.channel, &messages[i % MESSAGES])) {
            do {
                (void)trp_channel_outbox_move(ends.channel);
                (void)trp_channel_publish(ends.channel);
                (void)sched_yield();
            } while (!trp_channel_has_room(ends.channel));
        }
        if (i % 7 == 0) {
            (void)trp_channel_publish(ends.channel);
        }
    }
    (void)trp_channel_publish(ends.channel);
    (void)pthread_join(consumer, NULL);
    CHECK_EQ_U64(ends.faults, 0);
    trp_free(ends.channel);
}

static const check_case_t cases[] = {
    CHECK_CASE(what_is_put_is_seen_only_when_published),
    CHECK_CASE(past_the_high_mark_put_says_so_and_keeps_everything),
    CHECK_CASE(parked_senders_go_on_at_the_low_mark_and_not_before),
    CHECK_CASE(there_is_no_room_while_the_outbox_waits),
    CHECK_CASE(the_counters_may_run_over),
    CHECK_CASE(any_mix_of_steps_keeps_the_order),
    CHECK_CASE(two_threads_keep_the_order),
};

CHECK_MAIN("actor.channel", cases)
