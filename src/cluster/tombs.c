/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tombstones in a plain array in order of age. It is looked through only for uids that the member
 * table doesn't know, which is seldom. */

#include "cluster/tombs.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define TOMBS_CAPACITY_MIN 16

void trp_tombs_fini(trp_tombs_t *tombs)
{
    for (size_t i = 0; i < tombs->len; i++) {
        trp_identity_unref(&tombs->items[i].identity);
    }
    trp_free(tombs->items);
    memset(tombs, 0, sizeof(*tombs));
}

const trp_tomb_t *trp_tombs_find(const trp_tombs_t *tombs, uint64_t uid)
{
    for (size_t i = tombs->len; i > 0; i--) {
        if (tombs->items[i - 1].uid == uid) {
            return &tombs->items[i - 1];
        }
    }
    return NULL;
}

static void tombs_drop_first(trp_tombs_t *tombs, size_t len)
{
    TRP_ASSERT(len <= tombs->len);
    for (size_t i = 0; i < len; i++) {
        trp_identity_unref(&tombs->items[i].identity);
    }
    tombs->len -= len;
    memmove(tombs->items, tombs->items + len, tombs->len * sizeof(*tombs->items));
}

static troupe_err_t tombs_reserve(trp_tombs_t *tombs)
{
    if (tombs->len == TRP_TOMBS_MAX) {
        tombs_drop_first(tombs, 1);
    }
    if (tombs->len < tombs->capacity) {
        return TROUPE_OK;
    }
    size_t capacity = tombs->capacity == 0 ? TOMBS_CAPACITY_MIN : tombs->capacity * 2;
    trp_tomb_t *items = trp_realloc(tombs->items, capacity * sizeof(*items));
    if (items == NULL) {
        return TROUPE_ENOMEM;
    }
    tombs->items = items;
    tombs->capacity = capacity;
    return TROUPE_OK;
}

troupe_err_t trp_tombs_add(trp_tombs_t *tombs, uint64_t uid, trp_identity_t *identity,
                           uint64_t until)
{
    TRP_ASSERT(uid != 0);
    if (trp_tombs_find(tombs, uid) != NULL) {
        return TROUPE_OK;
    }
    troupe_err_t err = tombs_reserve(tombs);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_tomb_t *tomb = &tombs->items[tombs->len];
    tombs->len++;
    tomb->uid = uid;
    tomb->until = until;
    tomb->identity = identity == NULL ? NULL : trp_identity_ref(identity);
    return TROUPE_OK;
}

void trp_tombs_expire(trp_tombs_t *tombs, uint64_t now)
{
    size_t len = 0;
    while (len < tombs->len && tombs->items[len].until <= now) {
        len++;
    }
    if (len > 0) {
        tombs_drop_first(tombs, len);
    }
}
