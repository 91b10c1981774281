/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The member table: every member that isn't removed yet, self among them, ordered by uid.
 *
 * Thread rule: a table belongs to its thread. */

#ifndef TROUPE_CLUSTER_MEMBERS_H
#define TROUPE_CLUSTER_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/cluster.h>
#include <troupe/error.h>

#include "cluster/identity.h"

/* What this node observes of a member; none of it is final. */
typedef enum trp_reach {
    TRP_REACHABLE = 0,
    TRP_SUSPECT = 1,
    TRP_UNREACHABLE = 2,
} trp_reach_t;

#define TRP_FLAG_GONE 1u        /* The process has stopped for certain: it is on no side. */
#define TRP_FLAG_READY 2u       /* May become up. */
#define TRP_FLAG_UNREACHABLE 4u /* On the wire only: the sender can't reach the member. */
#define TRP_FLAGS_KEPT (TRP_FLAG_GONE | TRP_FLAG_READY)

typedef struct trp_member {
    trp_identity_t *identity; /* One reference. */
    uint64_t uid;             /* The identity's, near at hand. */

    /* What is gossiped; each field only grows, so views merge in any order. */
    troupe_member_state_t state;
    uint32_t incarnation;
    uint64_t up_number; /* epoch << 16 | place in the change that added it; 0: never up. */
    uint32_t flags;     /* TRP_FLAG_GONE | TRP_FLAG_READY */

    /* What is this node's own observation. */
    trp_reach_t reach;
    bool probe_soon;    /* Its connection broke: to be probed before its turn. */
    bool owes_welcome;  /* It asked to join before there was a connection to answer on. */
    bool acked;         /* It holds the present proposal. */
    bool indirect_only; /* Only others reach it: noted once an episode. */
    uint64_t heard_at;  /* When it last sent anything. */
    uint64_t dial_at;   /* When a connection may be asked for again. */
    uint64_t exit_at;   /* When an exiting member is taken for gone. */

    /* Suspicion; the deadline moves closer with each independent confirmation. */
    uint64_t suspect_since;
    uint64_t suspect_until;
    uint64_t confirmed_by[TRP_CONFIRM_MAX];
    uint32_t confirmed_len;
} trp_member_t;

typedef struct trp_members {
    trp_member_t **items; /* Owned, ascending by uid. */
    size_t len;
    size_t capacity;
    size_t len_max;
} trp_members_t;

void trp_members_init(trp_members_t *members, size_t len_max);
void trp_members_fini(trp_members_t *members);

/* NULL when there is none. */
trp_member_t *trp_members_find(const trp_members_t *members, uint64_t uid);

/* The first one at that address that is neither `except` nor down; NULL when there is none. */
trp_member_t *trp_members_find_address(const trp_members_t *members, const char *address,
                                       uint64_t except);

/* Where the first member with a uid of at least `uid` is; `len` when there is none. */
size_t trp_members_position(const trp_members_t *members, uint64_t uid);

/* Adds a member, joining and reachable; takes the identity over on success only. The uid must be new.
 * EFULL at the bound, ENOMEM. */
troupe_err_t trp_members_add(trp_members_t *members, trp_identity_t **identity_p,
                             trp_member_t **ret_member);

/* Takes a member out and frees it. */
void trp_members_remove(trp_members_t *members, trp_member_t *member);

/* True while the member may take part: joining to leaving. */
static inline bool trp_member_is_live(const trp_member_t *member)
{
    return member->state < TROUPE_MEMBER_EXITING;
}

/* The epoch of the settled set that the member came in with; 0: none yet. */
static inline uint64_t trp_member_up_epoch(uint64_t up_number)
{
    return up_number >> 16;
}

#endif
