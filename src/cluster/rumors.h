/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Rumors: pieces of news that are passed on a bounded number of times, the freshest first. A rumor
 * only names what the news is about; what is sent is looked up at that time, so a rumor never carries
 * what has been overtaken.
 *
 * Thread rule: a queue belongs to its thread. */

#ifndef TROUPE_CLUSTER_RUMORS_H
#define TROUPE_CLUSTER_RUMORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

typedef enum trp_rumor_kind {
    TRP_RUMOR_STATUS = 1,   /* State and incarnation of `uid`, or that it is removed. */
    TRP_RUMOR_MEMBER = 2,   /* The full record of `uid`; stands for its status too. */
    TRP_RUMOR_SUSPECT = 3,  /* `by` suspects `uid`. */
    TRP_RUMOR_PROPOSED = 4, /* The present proposal. */
    TRP_RUMOR_SETTLED = 5,  /* The last change that was settled. */
    TRP_RUMOR_ACKED = 6,    /* `uid` holds the present proposal. */
} trp_rumor_kind_t;

typedef struct trp_rumor {
    trp_rumor_kind_t kind;
    uint32_t left; /* Times it is still to be sent. */
    uint64_t uid;
    uint64_t by;
    uint32_t incarnation; /* Of the suspicion. */
    uint32_t round;       /* Last round it went out in. */
} trp_rumor_t;

typedef struct trp_rumors {
    trp_rumor_t *items; /* In no order. */
    size_t len;
    size_t capacity;
    uint64_t
        dropped; /* Rumors lost at the bound or for want of memory; repair makes up for them. */
} trp_rumors_t;

void trp_rumors_fini(trp_rumors_t *rumors);

/* Adds a rumor, or gives one of the same kind, uid and by its full count again. */
void trp_rumors_add(trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid, uint64_t by,
                    uint32_t incarnation, uint32_t count);

bool trp_rumors_has(const trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid);

/* Drops what is about `uid` and of that kind. */
void trp_rumors_forget(trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid);

/* The freshest rumor whose round isn't `round`, as an index; -1 when there is none. */
ptrdiff_t trp_rumors_pick(const trp_rumors_t *rumors, uint32_t round);

/* Counts one sending of the rumor at `index`; a rumor that is used up is dropped. */
void trp_rumors_sent(trp_rumors_t *rumors, size_t index);

#endif
