/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sessions between links in one process: how they begin, end and begin again. */

#include "pair.h"

#define UID_A UINT64_C(0xa1)
#define UID_B UINT64_C(0xb2)

static void a_dialled_peer_comes_up_on_both_sides(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B), PAIR_WAIT_MS);
    CHECK_EVENTUALLY(pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    CHECK_EVENTUALLY(atomic_load(&a.last_uid) == UID_B, PAIR_WAIT_MS);
    CHECK_EVENTUALLY(atomic_load(&b.last_uid) == UID_A, PAIR_WAIT_MS);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_service_message_arrives_with_the_uid_of_its_sender(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    CHECK_ERR(pair_send(&a, UID_B, 1), TROUPE_ENODE);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), UID_B));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B), PAIR_WAIT_MS);
    CHECK_OK(pair_send(&a, UID_B, 5));
    CHECK_OK(pair_send(&a, UID_B, 6));
    CHECK_EVENTUALLY(atomic_load(&b.received) == 2, PAIR_WAIT_MS);
    CHECK_EQ_U64(atomic_load(&b.received_uid), UID_A);
    CHECK_EQ_U64(atomic_load(&b.received_sum), 11);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void both_dialling_at_once_make_one_session(void)
{
    for (uint64_t i = 0; i < check_count(20, 200); i++) {
        pair_end_t a, b;
        pair_open(&a, UID_A + i * 16);
        pair_open(&b, UID_B + i * 16);
        CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
        CHECK_OK(trp_link_dial(b.link, trp_link_address(a.link), 0));
        CHECK_EVENTUALLY(pair_is_up(&a, b.options.uid), PAIR_WAIT_MS);
        CHECK_EVENTUALLY(pair_is_up(&b, a.options.uid), PAIR_WAIT_MS);
        CHECK_OK(pair_send(&a, b.options.uid, 1));
        CHECK_OK(pair_send(&b, a.options.uid, 1));
        CHECK_EVENTUALLY(atomic_load(&a.received) == 1, PAIR_WAIT_MS);
        CHECK_EVENTUALLY(atomic_load(&b.received) == 1, PAIR_WAIT_MS);
        CHECK_EQ_U64(pair_events(&a, TRP_LINK_EVENT_LOST), 0);
        trp_link_destroy(&a.link);
        trp_link_destroy(&b.link);
    }
}

static void a_peer_that_is_not_there_yet_is_reached_when_it_comes(void)
{
    pair_end_t a, b;
    pair_open(&b, UID_B);
    char address[304];
    (void)snprintf(address, sizeof(address), "%s", trp_link_address(b.link));
    trp_link_destroy(&b.link);
    pair_open(&a, UID_A);
    CHECK_OK(trp_link_dial(a.link, address, 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_FAILED) == 1, PAIR_WAIT_MS);
    pair_prepare(&b, UID_B);
    b.options.listen = address;
    REQUIRE_OK(pair_start(&b));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B), PAIR_WAIT_MS);
    CHECK_EQ_U64(pair_events(&a, TRP_LINK_EVENT_FAILED), 1);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_restarted_peer_replaces_its_old_incarnation(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    char address[304];
    (void)snprintf(address, sizeof(address), "%s", trp_link_address(b.link));
    CHECK_OK(trp_link_dial(a.link, address, 0));
    for (uint64_t i = 0; i < check_count(10, 50); i++) {
        uint64_t uid = UID_B + i;
        CHECK_EVENTUALLY(pair_is_up(&a, uid), PAIR_WAIT_MS);
        trp_link_destroy(&b.link);
        pair_prepare(&b, uid + 1);
        b.options.listen = address;
        REQUIRE_OK(pair_start(&b));
        CHECK_EVENTUALLY(pair_is_up(&a, uid + 1), PAIR_WAIT_MS);
        CHECK_EVENTUALLY(pair_state(&a, uid) == 0, PAIR_WAIT_MS);
        CHECK_ERR(pair_send(&a, uid, 1), TROUPE_ENODE);
        CHECK_EVENTUALLY(pair_is_up(&b, UID_A), PAIR_WAIT_MS);
        CHECK_OK(pair_send(&a, uid + 1, 1));
        CHECK_EVENTUALLY(atomic_load(&b.received) == 1, PAIR_WAIT_MS);
    }
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void dialling_oneself_stops_quietly(void)
{
    pair_end_t a;
    pair_prepare(&a, UID_A);
    a.options.advertise = "localhost:0"; /* So that the address is not known as our own. */
    REQUIRE_OK(pair_start(&a));
    char own[64];
    (void)snprintf(own, sizeof(own), "127.0.0.1%s", strrchr(trp_link_address(a.link), ':'));
    CHECK_OK(trp_link_dial(a.link, own, 0));
    CHECK_FALSE(CHECK_WAIT(pair_events(&a, TRP_LINK_EVENT_FAILED) +
                                   pair_events(&a, TRP_LINK_EVENT_REFUSED) +
                                   pair_events(&a, TRP_LINK_EVENT_UP) >
                               0,
                           300));
    trp_link_destroy(&a.link);
}

static void a_forgotten_peer_is_not_let_in_again(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    CHECK_OK(trp_link_dial(b.link, trp_link_address(a.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B), PAIR_WAIT_MS);
    trp_link_forget(a.link, UID_B);
    CHECK_EVENTUALLY(pair_events(&b, TRP_LINK_EVENT_REFUSED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&b.last_reason), TROUPE_ESTOPPED);
    CHECK_FALSE(pair_is_up(&a, UID_B));
    CHECK_ERR(pair_send(&a, UID_B, 1), TROUPE_ENODE);
    CHECK_ERR(trp_link_dial(a.link, trp_link_address(b.link), UID_B), TROUPE_ESTOPPED);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_stopping_peer_says_good_bye(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    trp_link_destroy(&b.link);
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_BYE) == 1, PAIR_WAIT_MS);
    CHECK_EQ_U64(pair_events(&a, TRP_LINK_EVENT_LOST), 0);
    trp_link_destroy(&a.link);
}

static void after_hangup_no_more_attempts_are_made(void)
{
    pair_end_t a;
    pair_open(&a, UID_A);
    CHECK_OK(trp_link_dial(a.link, "127.0.0.1:1", 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_FAILED) == 1, PAIR_WAIT_MS);
    trp_link_hangup(a.link, "127.0.0.1:1");
    CHECK_OK(trp_link_dial(a.link, "127.0.0.1:2", 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_FAILED) == 2, PAIR_WAIT_MS);
    trp_link_destroy(&a.link);
}

static void an_end_that_is_stopped_with_work_left_ends_soon(void)
{
    for (uint64_t i = 0; i < check_count(5, 100); i++) {
        pair_end_t a;
        pair_open(&a, UID_A);
        CHECK_OK(trp_link_dial(a.link, "127.0.0.1:1", UID_B));
        CHECK_OK(trp_link_dial(a.link, "192.0.2.1:7", 0));
        uint64_t before = check_now_ms();
        trp_link_destroy(&a.link);
        CHECK_LT_U64(check_now_ms() - before, 2000 * check_slowness());
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(a_dialled_peer_comes_up_on_both_sides),
    CHECK_CASE(a_service_message_arrives_with_the_uid_of_its_sender),
    CHECK_CASE(both_dialling_at_once_make_one_session),
    CHECK_CASE(a_peer_that_is_not_there_yet_is_reached_when_it_comes),
    CHECK_CASE(a_restarted_peer_replaces_its_old_incarnation),
    CHECK_CASE(dialling_oneself_stops_quietly),
    CHECK_CASE(a_forgotten_peer_is_not_let_in_again),
    CHECK_CASE(a_stopping_peer_says_good_bye),
    CHECK_CASE(after_hangup_no_more_attempts_are_made),
    CHECK_CASE(an_end_that_is_stopped_with_work_left_ends_soon),
};

CHECK_MAIN("link.session", cases)
