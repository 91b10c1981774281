/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The split-brain strategies. */

#include "cluster/quorum.h"

#include <string.h>

#include "base/assert.h"

static size_t quorum_side_len(const trp_quorum_voter_t *voters, size_t len)
{
    size_t side_len = 0;
    for (size_t i = 0; i < len; i++) {
        side_len += voters[i].on_side ? 1 : 0;
    }
    return side_len;
}

static bool quorum_address_is_lower(const trp_quorum_voter_t *a, const trp_quorum_voter_t *b)
{
    bool a_is_known = a->address[0] != '\0';
    bool b_is_known = b->address[0] != '\0';
    if (a_is_known != b_is_known) {
        return a_is_known;
    }
    int order = strcmp(a->address, b->address);
    return order != 0 ? order < 0 : a->uid < b->uid;
}

static bool quorum_is_older(const trp_quorum_voter_t *a, const trp_quorum_voter_t *b)
{
    /* 0 - 1 is the greatest number: who isn't up yet is the youngest. */
    if (a->up_number != b->up_number) {
        return a->up_number - 1 < b->up_number - 1;
    }
    return quorum_address_is_lower(a, b);
}

static bool quorum_majority(const trp_quorum_voter_t *voters, size_t len, size_t side_len)
{
    if (side_len * 2 != len) {
        return side_len * 2 > len;
    }
    const trp_quorum_voter_t *lowest = &voters[0];
    for (size_t i = 1; i < len; i++) {
        if (quorum_address_is_lower(&voters[i], lowest)) {
            lowest = &voters[i];
        }
    }
    return lowest->on_side;
}

static bool quorum_oldest(const trp_quorum_voter_t *voters, size_t len, size_t side_len)
{
    const trp_quorum_voter_t *oldest = &voters[0];
    for (size_t i = 1; i < len; i++) {
        if (quorum_is_older(&voters[i], oldest)) {
            oldest = &voters[i];
        }
    }
    if (oldest->on_side) {
        return side_len >= 2 || len <= 2;
    }
    return len >= 3 && side_len == len - 1;
}

bool trp_quorum_wins(trp_quorum_strategy_t strategy, uint32_t quorum_len,
                     const trp_quorum_voter_t *voters, size_t len)
{
    size_t side_len = quorum_side_len(voters, len);
    TRP_ASSERT(side_len <= len);
    if (side_len == 0) {
        return false;
    }
    switch (strategy) {
    case TRP_QUORUM_STATIC:
        /* More than half too: a set that has outgrown the quorum must not have two winners. */
        return side_len >= quorum_len && side_len * 2 > len;
    case TRP_QUORUM_OLDEST:
        return quorum_oldest(voters, len, side_len);
    case TRP_QUORUM_DOWN_ALL:
        return false;
    case TRP_QUORUM_DEFAULT:
    case TRP_QUORUM_MAJORITY:
        break;
    }
    return quorum_majority(voters, len, side_len);
}
