/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Acknowledgements: a wish is fulfilled when no dispatcher owes an answer to an earlier change. */

#include <string.h>

#include "pubsub/acks.h"
#include "support/check.h"

static trp_ack_t done[16];
static uint32_t done_len;
static uint32_t missing; /* What the members are said to lack. */

static void on_done(void *context, const trp_ack_t *ack)
{
    (void)context;
    done[done_len % TRP_ARRAY_LEN(done)] = *ack;
    done_len++;
}

static uint32_t on_count(void *context, uint64_t version, uint64_t *ret_missing, uint32_t capacity,
                         uint32_t *ret_missing_len)
{
    (void)context;
    for (uint32_t i = 0; i < missing && i < capacity; i++) {
        ret_missing[i] = version + i;
    }
    *ret_missing_len = missing;
    return 3 - missing;
}

static trp_acks_t acks;

static void start(void)
{
    trp_acks_sink_t sink = {NULL, on_done, on_count};
    trp_acks_init(&acks, &sink);
    done_len = 0;
    missing = 0;
}

static void wish(trp_ack_kind_t kind, uint64_t token)
{
    trp_ack_wish_t want = {.kind = kind, .token = token, .version = 100, .deadline = 1000};
    trp_acks_add(&acks, &want);
}

static uint64_t tell(uint32_t replica)
{
    uint64_t sequence = trp_acks_next(&acks);
    trp_acks_told(&acks, replica, sequence);
    return sequence;
}

static void a_wish_without_changes_is_fulfilled_at_once(void)
{
    start();
    wish(TRP_ACK_NODE, 1);
    CHECK_EQ_U64(done_len, 1);
    CHECK_EQ_U64(done[0].wish.token, 1);
    CHECK_EQ_U64(acks.len, 0);
    trp_acks_fini(&acks);
}

static void a_wish_waits_for_every_dispatcher_that_was_told_before(void)
{
    start();
    uint64_t a = tell(0);
    uint64_t b = tell(5);
    wish(TRP_ACK_NODE, 1);
    uint64_t c = tell(5);
    wish(TRP_ACK_NODE, 2);
    CHECK_EQ_U64(done_len, 0);
    trp_acks_applied(&acks, 5, b);
    CHECK_EQ_U64(done_len, 0);
    trp_acks_applied(&acks, 0, a);
    CHECK_EQ_U64(done_len, 1);
    CHECK_EQ_U64(done[0].wish.token, 1);
    trp_acks_applied(&acks, 5, c);
    CHECK_EQ_U64(done_len, 2);
    trp_acks_fini(&acks);
}

static void a_later_change_does_not_hold_up_an_earlier_wish(void)
{
    start();
    uint64_t a = tell(0);
    wish(TRP_ACK_NODE, 1);
    (void)tell(1);
    trp_acks_applied(&acks, 0, a);
    CHECK_EQ_U64(done_len, 1);
    wish(TRP_ACK_NODE, 2);
    CHECK_EQ_U64(done_len, 1);
    trp_acks_fini(&acks);
}

static void a_cluster_wide_wish_ends_with_all_members_or_at_its_deadline(void)
{
    start();
    missing = 2;
    uint64_t a = tell(0);
    wish(TRP_ACK_CLUSTER, 1);
    trp_acks_applied(&acks, 0, a);
    CHECK_EQ_U64(done_len, 0);
    missing = 0;
    trp_acks_check(&acks, 10);
    CHECK_EQ_U64(done_len, 1);
    CHECK_EQ_U64(done[0].wish.error, TROUPE_OK);
    CHECK_EQ_U64(done[0].nodes, 3);
    missing = 2;
    wish(TRP_ACK_CLUSTER, 2);
    trp_acks_check(&acks, 999);
    CHECK_EQ_U64(done_len, 1);
    trp_acks_check(&acks, 1000);
    CHECK_EQ_U64(done_len, 2);
    CHECK_EQ_U64(done[1].wish.error, TROUPE_ETIMEOUT);
    CHECK_EQ_U64(done[1].nodes, 1);
    CHECK_EQ_U64(done[1].missing_len, 2);
    CHECK_EQ_U64(done[1].missing[1], 101);
    trp_acks_fini(&acks);
}

static void an_error_is_told_at_once(void)
{
    start();
    (void)tell(0);
    trp_ack_wish_t want = {.kind = TRP_ACK_NODE, .token = 5, .error = TROUPE_EFULL};
    trp_acks_add(&acks, &want);
    CHECK_EQ_U64(done_len, 1);
    CHECK_EQ_U64(done[0].wish.error, TROUPE_EFULL);
    wish(TRP_ACK_NODE, 6);
    CHECK_EQ_U64(acks.len, 1);
    trp_acks_fini(&acks);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_wish_without_changes_is_fulfilled_at_once),
    CHECK_CASE(a_wish_waits_for_every_dispatcher_that_was_told_before),
    CHECK_CASE(a_later_change_does_not_hold_up_an_earlier_wish),
    CHECK_CASE(a_cluster_wide_wish_ends_with_all_members_or_at_its_deadline),
    CHECK_CASE(an_error_is_told_at_once),
};

CHECK_MAIN("pubsub.acks", cases)
