/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The cluster: who its members are, what becomes of them, and how a node leaves.
 *
 * A member is one incarnation of a node, named by its uid: a node that is started again at the same
 * address is another member. A member's state only goes forward:
 *
 *     joining -> (weakly up) -> up -> leaving -> exiting -> removed
 *          any of these -> down -> removed
 *
 * *Suspected* and *unreachable* are no states but what this node observes; both are taken back when
 * the member is heard of again. *Down* is final: it is decided by the split-brain strategy after a
 * member stayed unreachable, by an operator, or because the member was started anew at its address.
 *
 * Every node tells its own view. Views of all members are equal once nothing has changed for some
 * gossip rounds; in between they may differ for moments. Since 0.1. */

#ifndef TROUPE_CLUSTER_H
#define TROUPE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>
#include <troupe/api.h>
#include <troupe/error.h>
#include <troupe/type.h>

TROUPE_BEGIN_DECLS

typedef enum troupe_member_state {
    TROUPE_MEMBER_JOINING = 1,   /* Welcomed; not yet in the settled set. */
    TROUPE_MEMBER_WEAKLY_UP = 2, /* May work; can't be settled while a member is unreachable. */
    TROUPE_MEMBER_UP = 3,        /* In the settled set. */
    TROUPE_MEMBER_LEAVING = 4,   /* Wants to leave, and is still in the settled set. */
    TROUPE_MEMBER_EXITING = 5,   /* Out of the settled set; about to stop. */
    TROUPE_MEMBER_DOWN = 6,      /* Given up for good, or stopped for certain. */
    TROUPE_MEMBER_REMOVED = 7,   /* Forgotten but for its uid, which can't come back. */
} troupe_member_state_t;

/* "joining", "weakly_up", ... Static; "unknown" for a number that is no state. */
TROUPE_API const char *troupe_member_state_name(troupe_member_state_t state);

/* What subscribers are told. */
typedef enum troupe_member_event_kind {
    TROUPE_MEMBER_EVENT_JOINED = 1,
    TROUPE_MEMBER_EVENT_WEAKLY_UP = 2,
    TROUPE_MEMBER_EVENT_UP = 3,
    TROUPE_MEMBER_EVENT_LEAVING = 4,
    TROUPE_MEMBER_EVENT_EXITED = 5,
    TROUPE_MEMBER_EVENT_DOWN = 6,
    TROUPE_MEMBER_EVENT_REMOVED = 7,
    TROUPE_MEMBER_EVENT_UNREACHABLE = 8, /* Reversible: see REACHABLE. */
    TROUPE_MEMBER_EVENT_REACHABLE = 9,
    TROUPE_MEMBER_EVENT_LEADER_CHANGED = 10, /* uid 0: there is none at present. */
    TROUPE_MEMBER_EVENT_OLDEST_CHANGED = 11, /* uid 0: there is none at present. */
    TROUPE_MEMBER_EVENT_SELF_REMOVED = 12,   /* This incarnation is no member any more. */
} troupe_member_event_kind_t;

/* "member_joined", "leader_changed", ... Static. */
TROUPE_API const char *troupe_member_event_name(troupe_member_event_kind_t kind);

#define TROUPE_MEMBER_ADDRESS_SIZE 256 /* "host:port" with its zero. */
#define TROUPE_MEMBER_NAME_SIZE 64     /* With its zero. */
#define TROUPE_MEMBER_ROLES_MAX 16
#define TROUPE_MEMBER_ROLE_SIZE 64 /* With its zero. */

/* One member as this node sees it. */
typedef struct troupe_member {
    uint64_t uid;
    uint64_t
        up_number;  /* Order in which members became up: the lowest is the oldest. 0: not yet. */
    uint32_t state; /* troupe_member_state_t */
    uint32_t incarnation; /* How often it has refuted a suspicion, plus one. */
    uint8_t is_self;
    uint8_t is_suspected;
    uint8_t is_unreachable;
    uint8_t roles_len;
    uint32_t reserved;
    char address[TROUPE_MEMBER_ADDRESS_SIZE];
    char name[TROUPE_MEMBER_NAME_SIZE];
    char roles[TROUPE_MEMBER_ROLES_MAX][TROUPE_MEMBER_ROLE_SIZE];
} troupe_member_t;

/* The body of the messages that subscribers get. Local to the node: it never crosses a link. */
typedef struct troupe_member_event {
    uint32_t kind; /* troupe_member_event_kind_t */
    uint32_t reserved;
    troupe_member_t member;
} troupe_member_event_t;

/* ---- questions: any thread ------------------------------------------------------------------------
 *
 * All of them return TROUPE_ENOTREADY on a node that has no links or has not been started. */

/* Copies up to `capacity` members, this node among them, in order of their uids; ret_len tells how many
 * there are, which may be more. Ask again with more room then. `ret_members` may be NULL when
 * `capacity` is 0. */
TROUPE_API troupe_err_t troupe_cluster_members(troupe_node_t *node, troupe_member_t *ret_members,
                                               size_t capacity, size_t *ret_len);

/* One member by its uid. ENODE: none is known by it. */
TROUPE_API troupe_err_t troupe_cluster_member(troupe_node_t *node, uint64_t uid,
                                              troupe_member_t *ret_member);

/* The reachable member with the lowest address among those that are up. ENODE: none at present. Every
 * side of a split has one, so it is good for convenience, never for exclusion. */
TROUPE_API troupe_err_t troupe_cluster_leader(troupe_node_t *node, troupe_member_t *ret_member);

/* The member that has been up for longest. ENODE: none at present. */
TROUPE_API troupe_err_t troupe_cluster_oldest(troupe_node_t *node, troupe_member_t *ret_member);

/* This node. */
TROUPE_API troupe_err_t troupe_cluster_self(troupe_node_t *node, troupe_member_t *ret_member);

/* ---- taking part: any thread ------------------------------------------------------------------- */

/* Seeks the cluster at further addresses ("host:port"). It matters only to a node that isn't a member
 * yet. */
TROUPE_API troupe_err_t troupe_cluster_join(troupe_node_t *node, const char *const *addresses,
                                            size_t len);

/* Lets a member leave as if it had asked itself: what it has is handed over. ENODE: no such member. A
 * node itself leaves by troupe_node_leave. */
TROUPE_API troupe_err_t troupe_cluster_leave(troupe_node_t *node, uint64_t uid);

/* Declares a member down: final, and at once. Only for one whose process is certainly gone or will be:
 * a member that lives on the other side of a split could otherwise win there. ENODE: no such member;
 * EPERM: it is this node itself. */
TROUPE_API troupe_err_t troupe_cluster_down(troupe_node_t *node, uint64_t uid);

/* ---- events: on the actor's dispatcher ------------------------------------------------------------ */

/* Every kind. */
#define TROUPE_MEMBER_EVENTS_ALL 0xffffffffu
/* One kind, for a mask. */
#define TROUPE_MEMBER_EVENT_BIT(kind) (1u << (kind))

/* Sends the calling actor every event whose kind is in `mask`, as messages of the type of
 * troupe_cluster_event_type with a troupe_member_event_t as body; 0 ends it. First come events that
 * tell the present state: for each member JOINED and what followed, then the leader and the oldest;
 * then what changes, without a gap. Ends by itself with the actor. Errors as troupe_tell. */
TROUPE_API troupe_err_t troupe_cluster_subscribe(troupe_actor_t *self, uint32_t mask);

/* The type of the messages that subscribers get. */
TROUPE_API troupe_err_t troupe_cluster_event_type(troupe_node_t *node, troupe_type_t *ret_type);

/* True when the member has that role. */
TROUPE_API bool troupe_member_has_role(const troupe_member_t *member, const char *role);

TROUPE_END_DECLS

#endif
