/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/stash.h"

#include "actor/mailbox.h"

void trp_stash_put(troupe_actor_t *cell, trp_message_t *message)
{
    trp_extra_t *extra = cell->extra;
    /* It comes back as a plain message: its timer has fired, its ask was answered. */
    message->flags &= (uint8_t)~TRP_MESSAGE_TIMER;
    message->target = cell->id;
    message->next = NULL;
    if (extra->stash_head == NULL) {
        extra->stash_head = message;
    } else {
        extra->stash_tail->next = message;
    }
    extra->stash_tail = message;
    extra->stash_len++;
    extra->stash_size += message->size;
}

trp_message_t *trp_stash_pop(troupe_actor_t *cell)
{
    trp_extra_t *extra = cell->extra;
    if (extra == NULL || extra->stash_head == NULL) {
        return NULL;
    }
    trp_message_t *message = extra->stash_head;
    extra->stash_head = message->next;
    extra->stash_len--;
    extra->stash_size -= message->size;
    return message;
}

void trp_stash_unstash(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_extra_t *extra = cell->extra;
    if (extra == NULL || extra->stash_head == NULL) {
        return;
    }
    trp_message_t *first = extra->stash_head;
    extra->stash_head = NULL;
    extra->stash_len = 0;
    extra->stash_size = 0;
    trp_mailbox_prepend(d, cell, first, extra->stash_tail);
    trp_mailbox_kick(d, cell);
}

/* The handled message still counts against the bounds as long as it is in its callback. */
troupe_err_t troupe_stash(troupe_actor_t *self)
{
    trp_dispatcher_t *d = self->dispatcher;
    if (d->message == NULL) {
        return TROUPE_EAGAIN;
    }
    if (d->fate != TRP_FATE_FREE) {
        return TROUPE_EBUSY;
    }
    trp_extra_t *extra = trp_extra_get(self);
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    bool is_bounded = (self->flags & TRP_CELL_BOUNDED) != 0;
    uint32_t len_max = is_bounded ? extra->mailbox_len_max : TRP_MAILBOX_LEN_MAX;
    size_t size_max = is_bounded ? extra->mailbox_size_max : TRP_MAILBOX_SIZE_MAX;
    if (extra->stash_len >= len_max || extra->stash_size >= size_max) {
        return TROUPE_EFULL;
    }
    d->fate = TRP_FATE_STASH;
    return TROUPE_OK;
}

/* A message that is stashed in the same callback is put aside after it, and so stays there. */
void troupe_unstash_all(troupe_actor_t *self)
{
    trp_stash_unstash(self->dispatcher, self);
}
