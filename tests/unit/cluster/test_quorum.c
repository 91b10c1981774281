/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Which side of a split lives on. */

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "cluster/quorum.h"
#include "support/check.h"

#define VOTERS_MAX 6

static const char *const addresses[VOTERS_MAX] = {"a:1", "b:1", "c:1", "d:1", "e:1", "f:1"};

static void fill(trp_quorum_voter_t *voters, size_t len, unsigned side)
{
    for (size_t i = 0; i < len; i++) {
        voters[i].address = addresses[i];
        voters[i].uid = i + 1;
        voters[i].up_number = (uint64_t)(len - i) << 16; /* The last is the oldest. */
        voters[i].on_side = (side >> i & 1) != 0;
    }
}

static bool wins(trp_quorum_strategy_t strategy, uint32_t quorum_len, size_t len, unsigned side)
{
    trp_quorum_voter_t voters[VOTERS_MAX];
    fill(voters, len, side);
    return trp_quorum_wins(strategy, quorum_len, voters, len);
}

static void of_two_sides_one_wins_at_most(void)
{
    for (size_t len = 1; len <= VOTERS_MAX; len++) {
        for (unsigned first = 0; first < 1u << len; first++) {
            for (unsigned second = 0; second < 1u << len; second++) {
                for (uint32_t q = 0; (first & second) == 0 && q <= len; q++) {
                    for (int strategy = 0; strategy <= TRP_QUORUM_DOWN_ALL; strategy++) {
                        trp_quorum_strategy_t s = (trp_quorum_strategy_t)strategy;
                        CHECK_FALSE(wins(s, q, len, first) && wins(s, q, len, second));
                    }
                }
            }
        }
    }
}

/* Members that stopped for certain are left out, and two sides may know of different ones. */
static void differing_knowledge_of_the_gone_makes_no_two_winners(void)
{
    for (unsigned first = 1; first < 1u << VOTERS_MAX; first++) {
        for (unsigned second = 1; second < 1u << VOTERS_MAX; second++) {
            unsigned nowhere = ~(first | second) & ((1u << VOTERS_MAX) - 1);
            if ((first & second) != 0) {
                continue;
            }
            for (unsigned a = nowhere;; a = (a - 1) & nowhere) {
                for (unsigned b = nowhere;; b = (b - 1) & nowhere) {
                    for (int strategy = TRP_QUORUM_MAJORITY; strategy <= TRP_QUORUM_OLDEST;
                         strategy += 2) {
                        trp_quorum_voter_t all[VOTERS_MAX];
                        trp_quorum_voter_t seen[VOTERS_MAX];
                        bool won[2];
                        const unsigned sides[] = {first, second};
                        const unsigned gone[] = {a, b};
                        for (size_t i = 0; i < 2; i++) {
                            size_t len = 0;
                            fill(all, VOTERS_MAX, sides[i]);
                            for (size_t v = 0; v < VOTERS_MAX; v++) {
                                if ((gone[i] >> v & 1) == 0) {
                                    seen[len] = all[v];
                                    len++;
                                }
                            }
                            won[i] = trp_quorum_wins((trp_quorum_strategy_t)strategy, 0, seen, len);
                        }
                        CHECK_FALSE(won[0] && won[1]);
                    }
                    if (b == 0) {
                        break;
                    }
                }
                if (a == 0) {
                    break;
                }
            }
        }
    }
}

static void the_majority_wins(void)
{
    CHECK(wins(TRP_QUORUM_MAJORITY, 0, 5, 0x1c));
    CHECK_FALSE(wins(TRP_QUORUM_MAJORITY, 0, 5, 0x03));
    CHECK(wins(TRP_QUORUM_DEFAULT, 0, 1, 1));
    CHECK_FALSE(wins(TRP_QUORUM_MAJORITY, 0, 5, 0));
    CHECK_FALSE(trp_quorum_wins(TRP_QUORUM_MAJORITY, 0, NULL, 0));
}

static void of_equal_halves_the_lowest_address_wins(void)
{
    CHECK(wins(TRP_QUORUM_MAJORITY, 0, 2, 0x1));
    CHECK_FALSE(wins(TRP_QUORUM_MAJORITY, 0, 2, 0x2));
    CHECK(wins(TRP_QUORUM_MAJORITY, 0, 4, 0x9));
    CHECK_FALSE(wins(TRP_QUORUM_MAJORITY, 0, 4, 0x6));
}

static void equal_addresses_are_told_apart_by_uid(void)
{
    trp_quorum_voter_t voters[2] = {{"a:1", 2, 1, true}, {"a:1", 1, 2, false}};
    CHECK_FALSE(trp_quorum_wins(TRP_QUORUM_MAJORITY, 0, voters, 2));
    voters[0].on_side = false;
    voters[1].on_side = true;
    CHECK(trp_quorum_wins(TRP_QUORUM_MAJORITY, 0, voters, 2));
}

static void an_unknown_address_is_the_highest(void)
{
    trp_quorum_voter_t voters[2] = {{"", 1, 1, true}, {"z:1", 2, 2, false}};
    CHECK_FALSE(trp_quorum_wins(TRP_QUORUM_MAJORITY, 0, voters, 2));
}

static void a_static_quorum_counts(void)
{
    CHECK(wins(TRP_QUORUM_STATIC, 3, 5, 0x07));
    CHECK_FALSE(wins(TRP_QUORUM_STATIC, 4, 5, 0x07));
    CHECK_FALSE(wins(TRP_QUORUM_STATIC, 2, 5, 0x03)); /* Not more than half. */
}

static void the_oldest_keeps_its_side(void)
{
    CHECK(wins(TRP_QUORUM_OLDEST, 0, 5, 0x11));
    CHECK_FALSE(wins(TRP_QUORUM_OLDEST, 0, 5, 0x0e));
}

static void a_lone_oldest_gives_way(void)
{
    CHECK_FALSE(wins(TRP_QUORUM_OLDEST, 0, 5, 0x10));
    CHECK(wins(TRP_QUORUM_OLDEST, 0, 5, 0x0f));
    CHECK(wins(TRP_QUORUM_OLDEST, 0, 2, 0x2));
    CHECK_FALSE(wins(TRP_QUORUM_OLDEST, 0, 2, 0x1));
}

static void nobody_wins_when_all_go_down(void)
{
    CHECK_FALSE(wins(TRP_QUORUM_DOWN_ALL, 0, 5, 0x1f));
}

static const check_case_t cases[] = {
    CHECK_CASE(of_two_sides_one_wins_at_most),
    CHECK_CASE(differing_knowledge_of_the_gone_makes_no_two_winners),
    CHECK_CASE(the_majority_wins),
    CHECK_CASE(of_equal_halves_the_lowest_address_wins),
    CHECK_CASE(equal_addresses_are_told_apart_by_uid),
    CHECK_CASE(an_unknown_address_is_the_highest),
    CHECK_CASE(a_static_quorum_counts),
    CHECK_CASE(the_oldest_keeps_its_side),
    CHECK_CASE(a_lone_oldest_gives_way),
    CHECK_CASE(nobody_wins_when_all_go_down),
};

CHECK_MAIN("cluster.quorum", cases)
