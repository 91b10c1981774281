/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Which side of a split may live on: pure functions over one set of members.
 *
 * The promise of each strategy: of any number of disjoint sides at most one wins in a given set. The
 * set holds everybody who counted before the split, also who was downed since, but not those whose
 * process has stopped for certain: they are on no side, and leaving them out can't make two winners
 * even when sides know of different ones.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_CLUSTER_QUORUM_H
#define TROUPE_CLUSTER_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum trp_quorum_strategy {
    TRP_QUORUM_DEFAULT = 0,  /* TRP_QUORUM_MAJORITY */
    TRP_QUORUM_MAJORITY = 1, /* More than half; exactly half with the lowest address. */
    TRP_QUORUM_STATIC = 2,   /* At least `quorum_len`, and more than half in any case. */
    TRP_QUORUM_OLDEST = 3,   /* With the oldest; a lone oldest gives way to all the others together,
                                but of two members the oldest stays. */
    TRP_QUORUM_DOWN_ALL = 4, /* Nobody: every side stops. */
} trp_quorum_strategy_t;

/* One member of the set. */
typedef struct trp_quorum_voter {
    const char *address; /* "" when not known: then it sorts behind all others. */
    uint64_t uid;
    uint64_t up_number; /* 0: not up yet, younger than all who are. */
    bool on_side;
} trp_quorum_voter_t;

/* True when the side wins. An empty set is won by nobody. */
bool trp_quorum_wins(trp_quorum_strategy_t strategy, uint32_t quorum_len,
                     const trp_quorum_voter_t *voters, size_t len);

#endif
