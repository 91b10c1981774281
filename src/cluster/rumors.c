/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The rumor queue as an unordered array: it is empty most of the time, and a few dozen long when many
 * things happen at once. */

#include "cluster/rumors.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/limits.h"

#define RUMORS_CAPACITY_MIN 32

void trp_rumors_fini(trp_rumors_t *rumors)
{
    trp_free(rumors->items);
    memset(rumors, 0, sizeof(*rumors));
}

static trp_rumor_t *rumors_find(const trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid,
                                uint64_t by)
{
    for (size_t i = 0; i < rumors->len; i++) {
        trp_rumor_t *rumor = &rumors->items[i];
        if (rumor->uid == uid && rumor->kind == kind && rumor->by == by) {
            return rumor;
        }
    }
    return NULL;
}

bool trp_rumors_has(const trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid)
{
    return rumors_find(rumors, kind, uid, 0) != NULL;
}

static trp_rumor_t *rumors_make_room(trp_rumors_t *rumors)
{
    if (rumors->len == TRP_RUMORS_MAX) {
        return NULL;
    }
    if (rumors->len == rumors->capacity) {
        size_t capacity = rumors->capacity == 0 ? RUMORS_CAPACITY_MIN : rumors->capacity * 2;
        trp_rumor_t *items = trp_realloc(rumors->items, capacity * sizeof(*items));
        if (items == NULL) {
            return NULL;
        }
        rumors->items = items;
        rumors->capacity = capacity;
    }
    return &rumors->items[rumors->len++];
}

void trp_rumors_add(trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid, uint64_t by,
                    uint32_t incarnation, uint32_t count)
{
    TRP_ASSERT(count > 0);
    trp_rumor_t *rumor = rumors_find(rumors, kind, uid, by);
    if (rumor == NULL) {
        rumor = rumors_make_room(rumors);
    }
    if (rumor == NULL) {
        rumors->dropped++;
        return;
    }
    rumor->kind = kind;
    rumor->uid = uid;
    rumor->by = by;
    rumor->incarnation = incarnation;
    rumor->left = count;
    rumor->round = 0;
}

static void rumors_remove(trp_rumors_t *rumors, size_t index)
{
    TRP_ASSERT(index < rumors->len);
    rumors->len--;
    rumors->items[index] = rumors->items[rumors->len];
}

void trp_rumors_forget(trp_rumors_t *rumors, trp_rumor_kind_t kind, uint64_t uid)
{
    size_t i = 0;
    while (i < rumors->len) {
        if (rumors->items[i].uid == uid && rumors->items[i].kind == kind) {
            rumors_remove(rumors, i);
        } else {
            i++;
        }
    }
}

ptrdiff_t trp_rumors_pick(const trp_rumors_t *rumors, uint32_t round)
{
    ptrdiff_t best = -1;
    for (size_t i = 0; i < rumors->len; i++) {
        const trp_rumor_t *rumor = &rumors->items[i];
        if (rumor->round == round) {
            continue;
        }
        if (best < 0 || rumor->left > rumors->items[best].left) {
            best = (ptrdiff_t)i;
        }
    }
    return best;
}

void trp_rumors_sent(trp_rumors_t *rumors, size_t index)
{
    TRP_ASSERT(index < rumors->len);
    rumors->items[index].left--;
    if (rumors->items[index].left == 0) {
        rumors_remove(rumors, index);
    }
}
