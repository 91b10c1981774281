/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/unborn.h"

#include "base/memory.h"

typedef struct unborn_queue {
    trp_table_entry_t entry;
    uint64_t id;
    trp_message_t *first;
    trp_message_t *last;
} unborn_queue_t;

troupe_err_t trp_unborn_init(trp_dispatcher_t *d)
{
    d->unborn = trp_calloc(1, sizeof(*d->unborn));
    if (d->unborn == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_table_init(&d->unborn->by_id, trp_random_next(&d->random), TRP_UNBORN_LEN_MAX);
    return TROUPE_OK;
}

static unborn_queue_t *queue_of(trp_table_entry_t *entry)
{
    return entry == NULL ? NULL : TRP_CONTAINER_OF(entry, unborn_queue_t, entry);
}

void trp_unborn_fini(trp_dispatcher_t *d)
{
    if (d->unborn == NULL) {
        return;
    }
    TRP_TABLE_FOREACH (entry, &d->unborn->by_id) {
        unborn_queue_t *queue = queue_of(entry);
        trp_table_remove(&d->unborn->by_id, entry);
        while (queue->first != NULL) {
            trp_message_t *message = queue->first;
            queue->first = message->next;
            trp_leftover_free(d, message);
        }
        trp_free(queue);
    }
    trp_table_fini(&d->unborn->by_id);
    trp_free(d->unborn);
    d->unborn = NULL;
}

static unborn_queue_t *queue_new(trp_dispatcher_t *d, uint64_t id)
{
    unborn_queue_t *queue = trp_calloc(1, sizeof(*queue));
    if (queue == NULL) {
        return NULL;
    }
    queue->id = id;
    if (trp_table_add(&d->unborn->by_id, &queue->entry, &queue->id, sizeof(queue->id)) !=
        TROUPE_OK) {
        trp_free(queue);
        return NULL;
    }
    return queue;
}

void trp_unborn_add(trp_dispatcher_t *d, trp_message_t *message)
{
    trp_unborn_t *unborn = d->unborn;
    unborn_queue_t *queue =
        queue_of(trp_table_find(&unborn->by_id, &message->target, sizeof(message->target)));
    if (queue == NULL) {
        queue = queue_new(d, message->target);
    }
    if (queue == NULL || unborn->messages >= TRP_UNBORN_LEN_MAX) {
        trp_drop(d, message, TROUPE_DROP_MAILBOX_FULL);
        return;
    }
    message->next = NULL;
    if (queue->first == NULL) {
        queue->first = message;
    } else {
        queue->last->next = message;
    }
    queue->last = message;
    unborn->messages++;
}

void trp_unborn_claim(trp_dispatcher_t *d, uint64_t id)
{
    trp_unborn_t *unborn = d->unborn;
    unborn_queue_t *queue = queue_of(trp_table_find(&unborn->by_id, &id, sizeof(id)));
    if (queue == NULL) {
        return;
    }
    trp_table_remove(&unborn->by_id, &queue->entry);
    while (queue->first != NULL) {
        trp_message_t *message = queue->first;
        queue->first = message->next;
        unborn->messages--;
        trp_deliver(d, message);
    }
    trp_free(queue);
}

void trp_unborn_count(const trp_dispatcher_t *d, uint64_t *user, uint64_t *system)
{
    TRP_TABLE_FOREACH (entry, &d->unborn->by_id) {
        for (trp_message_t *at = queue_of(entry)->first; at != NULL; at = at->next) {
            *((at->flags & TRP_MESSAGE_SYSTEM) != 0 ? system : user) += 1;
        }
    }
}
