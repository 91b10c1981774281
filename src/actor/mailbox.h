/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The mailbox beyond the plain append: bounds and their policy, the urgent ring, emptying.
 * Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_MAILBOX_H
#define TROUPE_ACTOR_MAILBOX_H

#include <stdbool.h>

#include "actor/deliver.h"

/* System messages that keep their place: no bound refuses them. */
void trp_mailbox_append_system(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* An answer to an ask, or an offload's result: no bound refuses it, and a held actor takes it. */
void trp_mailbox_append_answer(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* System messages that overtake the mailbox. */
void trp_mailbox_append_urgent(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);

/* The oldest message of each; NULL when there is none. */
trp_message_t *trp_mailbox_pop_urgent(trp_dispatcher_t *d, troupe_actor_t *cell);

static TRP_ALWAYS_INLINE trp_message_t *trp_mailbox_pop(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_message_t *message = cell->head;
    if (TRP_LIKELY(message != NULL)) {
        cell->head = message->next;
        cell->mail_len--;
        cell->mail_size -= message->size;
        d->backlog--;
        __builtin_prefetch(message->next, 0, 3);
    }
    return message;
}

/* Puts messages back in front, in the order of the list from `first` to `last`. */
void trp_mailbox_prepend(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *first,
                         trp_message_t *last);

/* Moves what a held actor may take (answers, signals) from the mailbox to the urgent ring. */
void trp_mailbox_promote_answers(trp_dispatcher_t *d, troupe_actor_t *cell);

/* Schedules the cell when it has something to do. */
void trp_mailbox_kick(trp_dispatcher_t *d, troupe_actor_t *cell);

#endif
