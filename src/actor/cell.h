/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The actor's cell: what every actor needs, and behind it the user's state. What only some actors need
 * (children, watchers, timers, a stash ...) lies in an extra part that is made on first use.
 *
 *     line 0: what a tell and an activation touch      line 1: the rest      line 2...: state
 *
 * Thread rule: the owner dispatcher alone. Cells lie in slabs of their dispatcher (see cells.h). */

#ifndef TROUPE_ACTOR_CELL_H
#define TROUPE_ACTOR_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/actor.h>

#include "actor/message.h"
#include "actor/parking.h"
#include "base/attr.h"

typedef struct trp_dispatcher trp_dispatcher_t;
typedef struct trp_extra trp_extra_t;
typedef struct trp_name trp_name_t;

enum {
    TRP_CELL_SCHEDULED = 1 << 0,   /* In the run queue. */
    TRP_CELL_RUNNING = 1 << 1,     /* Inside an activation. */
    TRP_CELL_NEWBORN = 1 << 2,     /* Its init is still to run. */
    TRP_CELL_PARKED = 1 << 3,      /* Waits in `parking`. */
    TRP_CELL_HELD = 1 << 4,        /* Takes replies, results and signals only. */
    TRP_CELL_SUSPENDED = 1 << 5,   /* Failed, or a sibling did: waits for its supervisor. */
    TRP_CELL_RESTARTING = 1 << 6,  /* Waits for its children to end, or for its back-off. */
    TRP_CELL_STOPPING = 1 << 7,    /* Takes nothing any more; waits for its children to end. */
    TRP_CELL_BOUNDED = 1 << 8,     /* Has mailbox limits of its own in `extra`. */
    TRP_CELL_FULL = 1 << 9,        /* Its mailbox is in an episode of being full. */
    TRP_CELL_IDLE_TIMER = 1 << 10, /* Has a receive timeout. */
    TRP_CELL_NAMED = 1 << 11,      /* `name` is its own, not its parent's. */
    TRP_CELL_PENDING = 1 << 12,    /* Has a step of its own to take: `extra->pending`. */
    TRP_CELL_NO_INIT = 1 << 13,    /* Its init failed: there is no state to stop. */
    TRP_CELL_ARGS = 1 << 14,       /* The spawner's args lie behind the state. */
    /* Nothing of the mailbox is taken while one of these is set. */
    TRP_CELL_BLOCKED = TRP_CELL_PARKED | TRP_CELL_HELD | TRP_CELL_SUSPENDED | TRP_CELL_RESTARTING |
                       TRP_CELL_STOPPING,
    /* Appending to the mailbox has more to look at when one of these is set. */
    TRP_CELL_SPECIAL = TRP_CELL_BLOCKED | TRP_CELL_BOUNDED | TRP_CELL_FULL,
};

#define TRP_MAILBOX_LEN_MAX 1000000u                    /* Default mark, messages. */
#define TRP_MAILBOX_SIZE_MAX ((size_t)64 * 1024 * 1024) /* Default mark, bytes of bodies. */

struct troupe_actor {
    uint64_t id;
    trp_dispatcher_t *dispatcher;
    troupe_receive_fn receive; /* The behavior's, or what become set. */
    trp_message_t *head;       /* Mailbox, oldest first. */
    trp_message_t *tail;
    uint32_t mail_len;
    uint32_t flags;
    size_t mail_size;
    troupe_actor_t *run_next; /* In the run queue. */
    /* --- */
    const troupe_behavior_t *behavior;
    trp_message_t *urgent; /* Last of a ring of messages that overtake the mailbox. */
    trp_parking_t *parking;
    trp_extra_t *extra;
    trp_name_t *name; /* Its own, or its parent's (NULL: the root) while it has none. */
    uint64_t parent;  /* Id; 0 for guardians. */
    uint32_t child_index;
    uint32_t cell_size; /* Bytes of the whole cell. */
    troupe_actor_t *park_next;
    unsigned char state[];
};

_Static_assert(sizeof(troupe_actor_t) == 128, "a cell's head is two cache lines");

#define TRP_STATE_ALIGN 16u

static inline size_t trp_cell_args_offset(const troupe_behavior_t *behavior)
{
    return (behavior->state_size + TRP_STATE_ALIGN - 1) & ~(size_t)(TRP_STATE_ALIGN - 1);
}

/* The spawner's args; NULL when there are none. */
static inline void *trp_cell_args(troupe_actor_t *cell)
{
    bool has_args = (cell->flags & TRP_CELL_ARGS) != 0;
    return has_args ? cell->state + trp_cell_args_offset(cell->behavior) : NULL;
}

static inline bool trp_cell_is_runnable(const troupe_actor_t *cell)
{
    return cell->urgent != NULL || (cell->flags & TRP_CELL_PENDING) != 0 ||
           ((cell->flags & TRP_CELL_BLOCKED) == 0 &&
            (cell->head != NULL || (cell->flags & TRP_CELL_NEWBORN) != 0));
}

#endif
