/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Delivery: from a message cell to the mailbox, the channel, the link or the dead letters.
 * Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_DELIVER_H
#define TROUPE_ACTOR_DELIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/body.h"
#include "actor/dispatcher.h"
#include "actor/system.h"
#include "base/view.h"

/* ---- on this dispatcher ---------------------------------------------------------------------- */

/* Everything that is not a plain message to a living actor. Takes the message over. */
void trp_deliver_other(trp_dispatcher_t *d, trp_message_t *message);
/* Runs what was posted to this dispatcher. Outside callbacks. */
void trp_dispatcher_run_tasks(trp_dispatcher_t *d);
/* Appending when the cell has a flag of TRP_CELL_SPECIAL or is at the default mark. */
void trp_mailbox_append_special(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);

static TRP_ALWAYS_INLINE void trp_run_queue_push(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    cell->flags |= TRP_CELL_SCHEDULED;
    cell->run_next = NULL;
    if (d->run_first == NULL) {
        d->run_first = cell;
    } else {
        d->run_last->run_next = cell;
    }
    d->run_last = cell;
}

/* Puts a cell that has something to do into the run queue, unless it is there or running. */
static TRP_ALWAYS_INLINE void trp_schedule(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if ((cell->flags & (TRP_CELL_SCHEDULED | TRP_CELL_RUNNING)) == 0) {
        trp_run_queue_push(d, cell);
    }
}

/* Appends without looking at bounds. */
static TRP_ALWAYS_INLINE void trp_mailbox_push(trp_dispatcher_t *d, troupe_actor_t *cell,
                                               trp_message_t *message)
{
    message->next = NULL;
    if (cell->head == NULL) {
        cell->head = message;
    } else {
        cell->tail->next = message;
    }
    cell->tail = message;
    cell->mail_len++;
    cell->mail_size += message->size;
    d->backlog++;
}

static TRP_ALWAYS_INLINE void trp_mailbox_append(trp_dispatcher_t *d, troupe_actor_t *cell,
                                                 trp_message_t *message)
{
    if (TRP_UNLIKELY((cell->flags & TRP_CELL_SPECIAL) != 0 ||
                     cell->mail_len >= TRP_MAILBOX_LEN_MAX ||
                     cell->mail_size >= TRP_MAILBOX_SIZE_MAX)) {
        trp_mailbox_append_special(d, cell, message);
        return;
    }
    trp_mailbox_push(d, cell, message);
    trp_schedule(d, cell);
}

/* The living actor of that id; NULL otherwise. */
static TRP_ALWAYS_INLINE troupe_actor_t *trp_cell_find(trp_dispatcher_t *d, uint64_t id)
{
    trp_slot_t *entry = trp_slots_entry(&d->slots, trp_id_slot(id));
    if (TRP_UNLIKELY(entry == NULL)) {
        return NULL;
    }
    troupe_actor_t *cell = entry->actor;
    return cell != NULL && cell->id == id ? cell : NULL;
}

/* Delivers to this dispatcher. Takes the message over. */
static TRP_ALWAYS_INLINE void trp_deliver(trp_dispatcher_t *d, trp_message_t *message)
{
    troupe_actor_t *cell = trp_cell_find(d, message->target);
    if (TRP_UNLIKELY(cell == NULL ||
                     (message->flags & (TRP_MESSAGE_SYSTEM | TRP_MESSAGE_TOPIC)) != 0)) {
        trp_deliver_other(d, message);
        return;
    }
    trp_mailbox_append(d, cell, message);
}

/* ---- to any dispatcher of this node ---------------------------------------------------------- */

void trp_route_far(trp_dispatcher_t *d, uint32_t index, trp_message_t *message);

/* Sends a cell whose target is of this node. */
static TRP_ALWAYS_INLINE void trp_route(trp_dispatcher_t *d, trp_message_t *message)
{
    uint32_t index = trp_id_dispatcher(message->target);
    if (index == d->index) {
        trp_deliver(d, message);
    } else {
        trp_route_far(d, index, message);
    }
}

/* ---- system messages ------------------------------------------------------------------------- */

/* Sends a system message to any node; `size` bytes of body. Without memory it takes of the dispatcher's
 * reserve; when that is used up as well it can't be sent, which is counted as a drop. */
void trp_system_send(trp_dispatcher_t *d, troupe_ref_t to, trp_system_kind_t kind, uint64_t sender,
                     const void *body, size_t size);

/* ---- dead letters ---------------------------------------------------------------------------- */

/* Counts and reports a message that was not or is no longer a cell. `text` may be NULL. */
void trp_dispatcher_drop(trp_dispatcher_t *d, troupe_drop_t reason, troupe_ref_t target,
                         troupe_ref_t sender, uint16_t type, const char *text);
/* Counts a system message that could not be made or was refused. */
void trp_dispatcher_drop_system(trp_dispatcher_t *d, troupe_drop_t reason);
/* Counts, reports and frees; an ask is answered with the error. */
void trp_drop(trp_dispatcher_t *d, trp_message_t *message, troupe_drop_t reason);

/* Frees a message that nobody will take as the node ends, with what it carries. */
void trp_leftover_free(trp_dispatcher_t *d, trp_message_t *message);

/* ---- from links and topics ------------------------------------------------------------------- */

typedef enum trp_origin {
    TRP_ORIGIN_MADE,     /* Counted as made here. */
    TRP_ORIGIN_RECEIVED, /* Counted as received from a link. */
} trp_origin_t;

typedef struct trp_incoming {
    uint64_t target; /* Id of an actor or ask of this dispatcher. */
    troupe_ref_t sender;
    const void *data; /* Bytes, copied; or NULL: `shared`, of which a reference is taken. */
    size_t size;
    trp_body_t *shared;
    uint16_t type;
    trp_origin_t origin;
} trp_incoming_t;

/* Makes a cell and delivers it. What can't be delivered is counted and reported. */
void trp_deliver_user(trp_dispatcher_t *d, const trp_incoming_t *in);
/* A system message of another node: watch, unwatch, terminated, poison, kill, ask failures. Unknown
 * kinds and bodies that don't fit are counted as protocol violations. */
void trp_deliver_system(trp_dispatcher_t *d, const trp_incoming_t *in, trp_system_kind_t kind);

#endif
