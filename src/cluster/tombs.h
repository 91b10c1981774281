/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tombstones: uids of removed members, so that late news can't bring them back, and the addresses at
 * which a removed node that still runs can be told. Bounded in number and in age; the oldest goes
 * first.
 *
 * Thread rule: a table belongs to its thread. */

#ifndef TROUPE_CLUSTER_TOMBS_H
#define TROUPE_CLUSTER_TOMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "cluster/identity.h"

typedef struct trp_tomb {
    uint64_t uid;
    uint64_t until;           /* When it may be forgotten. */
    trp_identity_t *identity; /* One reference; NULL when only the uid was ever known. */
} trp_tomb_t;

typedef struct trp_tombs {
    trp_tomb_t *items; /* Oldest first. */
    size_t len;
    size_t capacity;
} trp_tombs_t;

void trp_tombs_fini(trp_tombs_t *tombs);

/* NULL when the uid has no tombstone. */
const trp_tomb_t *trp_tombs_find(const trp_tombs_t *tombs, uint64_t uid);

/* Adds one; `identity` is borrowed and may be NULL. A second of the same uid is no error. ENOMEM. */
troupe_err_t trp_tombs_add(trp_tombs_t *tombs, uint64_t uid, trp_identity_t *identity,
                           uint64_t until);

/* Forgets those whose time has come. */
void trp_tombs_expire(trp_tombs_t *tombs, uint64_t now);

#endif
