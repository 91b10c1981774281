/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/mailbox.h"

#include "actor/answer.h"
#include "actor/events.h"
#include "actor/extra.h"
#include "base/assert.h"

void trp_mailbox_kick(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if (trp_cell_is_runnable(cell)) {
        trp_schedule(d, cell);
    }
}

/* ---- taking ---------------------------------------------------------------------------------- */

trp_message_t *trp_mailbox_pop_urgent(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_message_t *last = cell->urgent;
    if (last == NULL) {
        return NULL;
    }
    trp_message_t *first = last->next;
    if (first == last) {
        cell->urgent = NULL;
    } else {
        last->next = first->next;
    }
    d->backlog--;
    return first;
}

/* ---- putting --------------------------------------------------------------------------------- */

static void urgent_push(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    if (cell->urgent == NULL) {
        message->next = message;
    } else {
        message->next = cell->urgent->next;
        cell->urgent->next = message;
    }
    cell->urgent = message;
    d->backlog++;
    d->attention = d->attention || d->current == cell;
}

void trp_mailbox_append_urgent(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    urgent_push(d, cell, message);
    trp_schedule(d, cell);
}

void trp_mailbox_append_system(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    if ((cell->flags & TRP_CELL_STOPPING) != 0 && message->type != TRP_SYSTEM_OFFLOADED) {
        trp_drop(d, message, TROUPE_DROP_STOPPED);
        return;
    }
    if ((cell->flags & (TRP_CELL_HELD | TRP_CELL_STOPPING)) != 0 &&
        message->type != TRP_SYSTEM_POISON && message->type != TRP_SYSTEM_SELECT) {
        trp_mailbox_append_urgent(d, cell, message);
        return;
    }
    trp_mailbox_push(d, cell, message);
    trp_mailbox_kick(d, cell);
}

void trp_mailbox_append_answer(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    if ((cell->flags & TRP_CELL_HELD) != 0) {
        trp_mailbox_append_urgent(d, cell, message);
        return;
    }
    trp_mailbox_push(d, cell, message);
    trp_mailbox_kick(d, cell);
}

void trp_mailbox_prepend(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *first,
                         trp_message_t *last)
{
    for (trp_message_t *at = first;; at = at->next) {
        cell->mail_len++;
        cell->mail_size += at->size;
        d->backlog++;
        if (at == last) {
            break;
        }
    }
    if (cell->head == NULL) {
        cell->tail = last;
    }
    last->next = cell->head;
    cell->head = first;
}

static bool message_passes_hold(const trp_message_t *message)
{
    if (trp_id_is_ask(message->target)) {
        return true;
    }
    return (message->flags & TRP_MESSAGE_SYSTEM) != 0 && message->type != TRP_SYSTEM_POISON &&
           message->type != TRP_SYSTEM_SELECT;
}

void trp_mailbox_promote_answers(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_message_t *message = cell->head;
    cell->head = NULL;
    d->backlog -= cell->mail_len;
    cell->mail_len = 0;
    cell->mail_size = 0;
    while (message != NULL) {
        trp_message_t *next = message->next;
        if (message_passes_hold(message)) {
            urgent_push(d, cell, message);
        } else {
            trp_mailbox_push(d, cell, message);
        }
        message = next;
    }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

#define FULL_END_DIVISOR 2u /* An episode of being full ends at half the bound. */

/* True when the mailbox, with the stash, has reached 1/divisor of its bound. */
static bool mailbox_has_reached(const troupe_actor_t *cell, uint32_t divisor)
{
    uint32_t len = cell->mail_len;
    size_t size = cell->mail_size;
    uint32_t len_max = TRP_MAILBOX_LEN_MAX;
    size_t size_max = TRP_MAILBOX_SIZE_MAX;
    if (cell->extra != NULL) {
        len += cell->extra->stash_len;
        size += cell->extra->stash_size;
    }
    if ((cell->flags & TRP_CELL_BOUNDED) != 0) {
        len_max = cell->extra->mailbox_len_max;
        size_max = cell->extra->mailbox_size_max;
    }
    return len >= (len_max + divisor - 1) / divisor || size >= size_max / divisor;
}

/* Takes the oldest user message out; NULL when there is none. A timer's firing stays: its timer waits
 * for it to be taken. */
static trp_message_t *mailbox_take_oldest_user(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_message_t *before = NULL;
    trp_message_t *at = cell->head;
    while (at != NULL && ((at->flags & (TRP_MESSAGE_SYSTEM | TRP_MESSAGE_TIMER)) != 0 ||
                          trp_id_is_ask(at->target))) {
        before = at;
        at = at->next;
    }
    if (at == NULL) {
        return NULL;
    }
    if (before == NULL) {
        cell->head = at->next;
    } else {
        before->next = at->next;
    }
    if (cell->tail == at) {
        cell->tail = before;
    }
    cell->mail_len--;
    cell->mail_size -= at->size;
    d->backlog--;
    return at;
}

/* Makes room or drops the newcomer; true when the newcomer may enter. */
static bool mailbox_overflow(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    if ((cell->flags & TRP_CELL_FULL) == 0) {
        cell->flags |= TRP_CELL_FULL;
        trp_events_mailbox_full(d, cell);
    }
    bool is_oldest = (cell->flags & TRP_CELL_BOUNDED) != 0 &&
                     cell->extra->overflow == TROUPE_OVERFLOW_DROP_OLDEST;
    trp_message_t *victim = NULL;
    while (is_oldest && mailbox_has_reached(cell, 1) &&
           (victim = mailbox_take_oldest_user(d, cell)) != NULL) {
        trp_drop(d, victim, TROUPE_DROP_MAILBOX_FULL);
    }
    if (is_oldest && !mailbox_has_reached(cell, 1)) {
        return true;
    }
    trp_drop(d, message, TROUPE_DROP_MAILBOX_FULL);
    return false;
}

void trp_mailbox_append_special(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    if ((cell->flags & TRP_CELL_STOPPING) != 0) {
        trp_drop(d, message, TROUPE_DROP_STOPPED);
        return;
    }
    if ((cell->flags & TRP_CELL_PARKED) != 0 && d->current != NULL && d->current != cell) {
        d->park_on = cell->parking; /* Who sends to a parked actor waits for the same thing. */
        d->attention = true;
    }
    if (mailbox_has_reached(cell, 1)) {
        if (!mailbox_overflow(d, cell, message)) {
            return;
        }
    } else if (!mailbox_has_reached(cell, FULL_END_DIVISOR)) {
        cell->flags &= ~(uint32_t)TRP_CELL_FULL;
    }
    trp_mailbox_push(d, cell, message);
    trp_mailbox_kick(d, cell);
}
