/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* System messages: what the runtimes of dispatchers and nodes tell each other about actors. They have
 * the flag TRP_MESSAGE_SYSTEM and their kind in `type`. Some are acted on as they are delivered, some
 * overtake the mailbox, some keep their place in it. */

#ifndef TROUPE_ACTOR_SYSTEM_H
#define TROUPE_ACTOR_SYSTEM_H

#include <stdint.h>

#include <troupe/ref.h>

typedef enum trp_system_kind {
    /* To a dispatcher (slot 0): run a function. Tasks are no messages: they aren't counted. */
    TRP_SYSTEM_TASK = 1,
    /* Acted on as they are delivered. */
    TRP_SYSTEM_WATCH, /* The sender wants to be told of the target's end. */
    TRP_SYSTEM_UNWATCH,
    TRP_SYSTEM_CHILD_ENDED, /* Body: trp_child_ended_t. Then queued as a signal. */
    /* Overtake the mailbox. */
    TRP_SYSTEM_KILL,
    TRP_SYSTEM_SUSPEND,   /* Body: token. Answered with SUSPENDED. */
    TRP_SYSTEM_SUSPENDED, /* Body: trp_suspended_t. */
    TRP_SYSTEM_RESUME,
    TRP_SYSTEM_RESTART,      /* Body: uint64_t delay in ns. */
    TRP_SYSTEM_CHILD_FAILED, /* Body: trp_child_failed_t. */
    /* Keep their place. */
    TRP_SYSTEM_POISON,
    TRP_SYSTEM_TERMINATED, /* Body: trp_terminated_t. */
    TRP_SYSTEM_ASK_FAILED, /* To an ask. Body: uint64_t troupe_err_t. */
    TRP_SYSTEM_OFFLOADED,  /* Body: trp_job_t pointer. */
    TRP_SYSTEM_SELECT,     /* Body: a selection's rest of the path and its message. */
    TRP_SYSTEM_KIND_LEN,
} trp_system_kind_t;

typedef struct trp_child_ended {
    uint64_t child;
    uint32_t child_index;
    uint32_t reason;       /* troupe_err_t */
    struct trp_name *name; /* To be freed for others; NULL: it had none. */
} trp_child_ended_t;

typedef struct trp_suspended {
    uint32_t token;
    uint32_t child_index;
} trp_suspended_t;

typedef struct trp_child_failed {
    uint64_t child;
    uint32_t child_index;
    uint32_t error; /* troupe_err_t */
} trp_child_failed_t;

/* Crosses links: fixed layout. */
typedef struct trp_terminated {
    troupe_ref_t who;
    uint64_t reason; /* troupe_err_t */
} trp_terminated_t;

_Static_assert(sizeof(trp_terminated_t) == 24, "crosses links");

#endif
