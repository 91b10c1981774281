/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The member table as a sorted array of pointers: the order is that of digests and of repair, and a
 * look-up is a dozen comparisons even with thousands of members. */

#include "cluster/members.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define MEMBERS_CAPACITY_MIN 16

void trp_members_init(trp_members_t *members, size_t len_max)
{
    TRP_ASSERT(len_max > 0);
    memset(members, 0, sizeof(*members));
    members->len_max = len_max;
}

static void members_free(trp_member_t *member)
{
    trp_identity_unref(&member->identity);
    trp_free(member);
}

void trp_members_fini(trp_members_t *members)
{
    for (size_t i = 0; i < members->len; i++) {
        members_free(members->items[i]);
    }
    trp_free(members->items);
    memset(members, 0, sizeof(*members));
}

size_t trp_members_position(const trp_members_t *members, uint64_t uid)
{
    size_t low = 0;
    size_t high = members->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (members->items[middle]->uid < uid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

trp_member_t *trp_members_find(const trp_members_t *members, uint64_t uid)
{
    size_t position = trp_members_position(members, uid);
    if (position == members->len || members->items[position]->uid != uid) {
        return NULL;
    }
    return members->items[position];
}

trp_member_t *trp_members_find_address(const trp_members_t *members, const char *address,
                                       uint64_t except)
{
    for (size_t i = 0; i < members->len; i++) {
        trp_member_t *member = members->items[i];
        if (member->uid != except && member->state < TROUPE_MEMBER_DOWN &&
            strcmp(member->identity->address, address) == 0) {
            return member;
        }
    }
    return NULL;
}

static troupe_err_t members_reserve(trp_members_t *members)
{
    if (members->len == members->len_max) {
        return TROUPE_EFULL;
    }
    if (members->len < members->capacity) {
        return TROUPE_OK;
    }
    size_t capacity = members->capacity == 0 ? MEMBERS_CAPACITY_MIN : members->capacity * 2;
    trp_member_t **items = trp_realloc(members->items, capacity * sizeof(trp_member_t *));
    if (items == NULL) {
        return TROUPE_ENOMEM;
    }
    members->items = items;
    members->capacity = capacity;
    return TROUPE_OK;
}

troupe_err_t trp_members_add(trp_members_t *members, trp_identity_t **identity_p,
                             trp_member_t **ret_member)
{
    uint64_t uid = (*identity_p)->uid;
    troupe_err_t err = members_reserve(members);
    if (err != TROUPE_OK) {
        return err;
    }
    size_t position = trp_members_position(members, uid);
    TRP_ASSERT(position == members->len || members->items[position]->uid != uid);
    trp_member_t *member = trp_calloc(1, sizeof(*member));
    if (member == NULL) {
        return TROUPE_ENOMEM;
    }
    member->identity = *identity_p;
    *identity_p = NULL;
    member->uid = uid;
    member->state = TROUPE_MEMBER_JOINING;
    member->incarnation = 1;
    memmove(members->items + position + 1, members->items + position,
            (members->len - position) * sizeof(trp_member_t *));
    members->items[position] = member;
    members->len++;
    *ret_member = member;
    return TROUPE_OK;
}

void trp_members_remove(trp_members_t *members, trp_member_t *member)
{
    size_t position = trp_members_position(members, member->uid);
    TRP_ASSERT(position < members->len);
    TRP_ASSERT(members->items[position] == member);
    members->len--;
    memmove(members->items + position, members->items + position + 1,
            (members->len - position) * sizeof(trp_member_t *));
    members_free(member);
}
