/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sorted sets of uids: the settled and the proposed set, and lists of who answered.
 *
 * Thread rule: a set belongs to its thread. */

#ifndef TROUPE_CLUSTER_UIDS_H
#define TROUPE_CLUSTER_UIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

typedef struct trp_uids {
    uint64_t *items; /* Ascending, without doubles. */
    size_t len;
    size_t capacity;
} trp_uids_t;

/* An empty set that allocates nothing yet is all zeros. */
void trp_uids_fini(trp_uids_t *uids);

bool trp_uids_has(const trp_uids_t *uids, uint64_t uid);

/* Adds a uid; one that is there already is no error. ENOMEM. */
troupe_err_t trp_uids_add(trp_uids_t *uids, uint64_t uid);

void trp_uids_remove(trp_uids_t *uids, uint64_t uid);

static inline void trp_uids_clear(trp_uids_t *uids)
{
    uids->len = 0;
}

/* Makes `uids` equal to `other`; on ENOMEM it is unchanged. */
troupe_err_t trp_uids_copy(trp_uids_t *uids, const trp_uids_t *other);

/* Exchanges two sets; can't fail. */
void trp_uids_swap(trp_uids_t *a, trp_uids_t *b);

/* A hash that depends on the set alone: every node computes the same. */
uint64_t trp_uids_hash(const trp_uids_t *uids);

/* Spreads the bits of a number: the building block of all hashes that nodes compare. Part of the wire
 * format, so it is fixed for good (the finalizer of splitmix64). */
static inline uint64_t trp_mix64(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

#endif
