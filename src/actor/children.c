/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/children.h"

#include <string.h>

#include "actor/deliver.h"
#include "actor/mailbox.h"
#include "actor/supervise.h"
#include "base/assert.h"
#include "base/memory.h"

#define CAPACITY_MIN 12u                   /* With the marks, less than two cache lines. */
#define FREE_ENTRY_MARK (UINT64_MAX << 32) /* No id: dispatcher 255 does not exist. */

static bool entry_is_free(uint64_t entry)
{
    return (entry & FREE_ENTRY_MARK) == FREE_ENTRY_MARK;
}

/* Ids and marks lie in one block: ids first. */
static troupe_err_t children_grow(trp_children_t *children)
{
    uint32_t capacity = children->capacity == 0 ? CAPACITY_MIN : children->capacity * 2;
    if (capacity > TRP_CHILDREN_MAX) {
        return TROUPE_EFULL;
    }
    uint64_t *ids = trp_alloc(capacity * (sizeof(uint64_t) + sizeof(uint8_t)));
    if (ids == NULL) {
        return TROUPE_ENOMEM;
    }
    uint8_t *marks = (uint8_t *)(ids + capacity);
    if (children->len > 0) {
        memcpy(ids, children->ids, children->len * sizeof(*ids));
        memcpy(marks, children->marks, children->len);
    }
    trp_free(children->ids);
    children->ids = ids;
    children->marks = marks;
    children->capacity = capacity;
    return TROUPE_OK;
}

troupe_err_t trp_children_add(trp_children_t *children, uint64_t id, uint32_t *ret_index)
{
    uint32_t index = 0;
    if (children->free_first != 0) {
        index = children->free_first - 1;
        children->free_first = (uint32_t)children->ids[index];
    } else {
        if (children->len == children->capacity) {
            troupe_err_t err = children_grow(children);
            if (err != TROUPE_OK) {
                return err;
            }
        }
        index = children->len++;
    }
    children->ids[index] = id;
    children->marks[index] = 0;
    children->alive++;
    *ret_index = index;
    return TROUPE_OK;
}

bool trp_children_has(const trp_children_t *children, uint64_t id, uint32_t index)
{
    return index < children->len && children->ids[index] == id;
}

bool trp_children_remove(trp_children_t *children, uint64_t id, uint32_t index)
{
    if (!trp_children_has(children, id, index)) {
        return false;
    }
    children->ids[index] = FREE_ENTRY_MARK | children->free_first;
    children->free_first = index + 1;
    children->alive--;
    if (children->alive ==
        0) { /* Start afresh, so that a long life does not scatter the entries. */
        children->len = 0;
        children->free_first = 0;
    }
    return true;
}

void trp_children_fini(trp_children_t *children)
{
    trp_free(children->ids);
    *children = (trp_children_t){0};
}

uint64_t trp_children_next(const trp_children_t *children, uint32_t *index)
{
    while (*index < children->len) {
        uint64_t entry = children->ids[(*index)++];
        if (!entry_is_free(entry)) {
            return entry;
        }
    }
    return 0;
}

void trp_children_tell(trp_dispatcher_t *d, troupe_actor_t *cell, trp_system_kind_t kind,
                       const void *body, size_t size)
{
    if (cell->extra == NULL) {
        return;
    }
    uint32_t index = 0;
    uint64_t child = 0;
    while ((child = trp_children_next(&cell->extra->children, &index)) != 0) {
        trp_system_send(d, trp_dispatcher_ref(d, child), kind, cell->id, body, size);
    }
}

void trp_children_ended(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_child_ended_t ended;
    trp_extra_t *extra = cell->extra;
    TRP_ASSERT(message->size == sizeof(ended) && extra != NULL);
    memcpy(&ended, trp_message_payload(message), sizeof(ended));
    bool was_awaited = trp_children_has(&extra->children, ended.child, ended.child_index) &&
                       (extra->children.marks[ended.child_index] & TRP_CHILD_AWAITED) != 0;
    bool was_there = trp_children_remove(&extra->children, ended.child, ended.child_index);
    TRP_ASSERT(was_there);
    trp_names_remove(&d->endpoint.runtime->names, &ended.name);
    memcpy(trp_message_payload(message), &ended, sizeof(ended)); /* The name is gone. */
    trp_supervise_child_ended(d, cell, ended.child, was_awaited);
    uint32_t leaving = cell->flags & (TRP_CELL_STOPPING | TRP_CELL_RESTARTING);
    if (leaving != 0 && extra->children.alive == 0) {
        trp_extra_pend(cell, TRP_PENDING_CHILDREN_ENDED);
    }
    if (leaving != 0 || cell->behavior->signal == NULL) {
        d->system.taken++;
        trp_message_free(&d->endpoint.pool, message);
        return;
    }
    trp_mailbox_append_system(d, cell, message);
}
