/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sets as sorted arrays: they are small, read often and changed seldom. */

#include "cluster/uids.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define UIDS_CAPACITY_MIN 8

/* Where the uid is, or would have to be. */
static size_t uids_position(const trp_uids_t *uids, uint64_t uid)
{
    size_t low = 0;
    size_t high = uids->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (uids->items[middle] < uid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static troupe_err_t uids_reserve(trp_uids_t *uids, size_t len)
{
    if (len <= uids->capacity) {
        return TROUPE_OK;
    }
    size_t capacity = uids->capacity == 0 ? UIDS_CAPACITY_MIN : uids->capacity;
    while (capacity < len) {
        capacity *= 2;
    }
    uint64_t *items = trp_realloc(uids->items, capacity * sizeof(*items));
    if (items == NULL) {
        return TROUPE_ENOMEM;
    }
    uids->items = items;
    uids->capacity = capacity;
    return TROUPE_OK;
}

void trp_uids_fini(trp_uids_t *uids)
{
    trp_free(uids->items);
    memset(uids, 0, sizeof(*uids));
}

bool trp_uids_has(const trp_uids_t *uids, uint64_t uid)
{
    size_t position = uids_position(uids, uid);
    return position < uids->len && uids->items[position] == uid;
}

troupe_err_t trp_uids_add(trp_uids_t *uids, uint64_t uid)
{
    size_t position = uids_position(uids, uid);
    if (position < uids->len && uids->items[position] == uid) {
        return TROUPE_OK;
    }
    troupe_err_t err = uids_reserve(uids, uids->len + 1);
    if (err != TROUPE_OK) {
        return err;
    }
    memmove(uids->items + position + 1, uids->items + position,
            (uids->len - position) * sizeof(*uids->items));
    uids->items[position] = uid;
    uids->len++;
    return TROUPE_OK;
}

void trp_uids_remove(trp_uids_t *uids, uint64_t uid)
{
    size_t position = uids_position(uids, uid);
    if (position == uids->len || uids->items[position] != uid) {
        return;
    }
    uids->len--;
    memmove(uids->items + position, uids->items + position + 1,
            (uids->len - position) * sizeof(*uids->items));
}

troupe_err_t trp_uids_copy(trp_uids_t *uids, const trp_uids_t *other)
{
    TRP_ASSERT(uids != other);
    troupe_err_t err = uids_reserve(uids, other->len);
    if (err != TROUPE_OK) {
        return err;
    }
    if (other->len > 0) {
        memcpy(uids->items, other->items, other->len * sizeof(*uids->items));
    }
    uids->len = other->len;
    return TROUPE_OK;
}

void trp_uids_swap(trp_uids_t *a, trp_uids_t *b)
{
    trp_uids_t kept = *a;
    *a = *b;
    *b = kept;
}

uint64_t trp_uids_hash(const trp_uids_t *uids)
{
    uint64_t hash = trp_mix64(uids->len);
    for (size_t i = 0; i < uids->len; i++) {
        hash = trp_mix64(hash ^ uids->items[i]);
    }
    return hash;
}
