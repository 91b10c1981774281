/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The extra part of a cell: what only some actors need, made on first use. Each group of fields belongs
 * to the file that is named; the others leave it alone. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_EXTRA_H
#define TROUPE_ACTOR_EXTRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>

#include "actor/cell.h"
#include "actor/dispatcher.h"
#include "actor/names.h"
#include "base/list.h"
#include "base/table.h"

/* children.c: ids by index; a free entry holds the next free index + 1. */
typedef struct trp_children {
    uint64_t *ids;
    uint8_t *marks; /* TRP_CHILD_*; behind the ids, in their block. */
    uint32_t len;   /* Entries ever used. */
    uint32_t capacity;
    uint32_t free_first; /* Index + 1; 0: none. */
    uint32_t alive;
} trp_children_t;

/* supervise.c: restarts of one child within the window. */
typedef struct trp_restarts {
    trp_table_entry_t entry;
    uint64_t child; /* Key. */
    uint64_t window_start_ns;
    uint32_t count;
    uint32_t streak; /* For the back-off. */
} trp_restarts_t;

/* supervise.c: an all-for-one decision that waits for the siblings. */
typedef struct trp_verdict {
    uint32_t token; /* 0: none is open. */
    uint32_t waiting;
    uint64_t child; /* Who failed. */
    uint32_t child_index;
    uint32_t error;
    troupe_directive_t directive;
    uint64_t delay_ns;
} trp_verdict_t;

/* watch.c: who watches this actor. */
typedef struct trp_watchers {
    troupe_ref_t *refs;
    uint32_t len;
    uint32_t capacity;
} trp_watchers_t;

/* become.c */
typedef struct trp_becomes {
    uint32_t len;
    troupe_receive_fn stack[TROUPE_BECOME_DEPTH_MAX];
} trp_becomes_t;

/* Steps that an alarm or the end of a child leaves for the actor's next activation. */
enum {
    TRP_PENDING_CHILDREN_ENDED = 1 << 0,
    TRP_PENDING_BACKOFF_OVER = 1 << 1,
    TRP_PENDING_HOLD_EXPIRED = 1 << 2,
    TRP_PENDING_IDLE = 1 << 3,
};

struct trp_extra {
    troupe_actor_t *cell;
    uint32_t pending; /* TRP_PENDING_*: steps to take in the next activation. */
    /* spawn.c: the spawner's wishes. */
    uint32_t mailbox_len_max;
    size_t mailbox_size_max;
    troupe_overflow_t overflow;
    troupe_supervision_t supervision;
    void *args;                      /* Copied; NULL: none. */
    struct trp_spawn_waiter *waiter; /* A plain thread that waits for init; NULL: none. */
    /* children.c, supervise.c, restart.c */
    trp_children_t children;
    trp_table_t restarts; /* trp_restarts_t by child. */
    bool has_restarts;
    trp_verdict_t verdict;
    uint32_t token_next;
    uint64_t restart_delay_ns;
    uint32_t failure; /* troupe_err_t this actor is suspended or stops for. */
    bool is_escalated;
    trp_alarm_t backoff;
    /* watch.c */
    trp_watchers_t watchers;
    trp_table_t watching; /* trp_watching_t by reference. */
    bool has_watching;
    /* timers.c */
    trp_table_t timers; /* trp_actor_timer_t by key. */
    bool has_timers;
    uint64_t timer_turn;
    uint64_t idle_timeout_ns;
    trp_alarm_t idle;
    /* ask.c */
    trp_list_t asks;
    /* stash.c */
    trp_message_t *stash_head;
    trp_message_t *stash_tail;
    uint32_t stash_len;
    size_t stash_size;
    /* hold.c */
    trp_alarm_t hold;
    /* become.c */
    trp_becomes_t *becomes;
    /* offload.c */
    uint32_t
        incarnation; /* Restarts so far: results of an earlier one are not given to the next. */
    /* events.c */
    bool is_event_subscriber;
};

/* The cell's extra part, made if need be; NULL without memory. */
trp_extra_t *trp_extra_get(troupe_actor_t *cell);

/* Ends the extra part of a cell that ends; does nothing without one. */
void trp_extra_end(troupe_actor_t *cell);
/* Leaves a step for the next activation. The extra part must be there. */
void trp_extra_pend(troupe_actor_t *cell, uint32_t pending);

#endif
