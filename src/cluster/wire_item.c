/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The codec of items. */

#include <string.h>

#include "base/assert.h"
#include "cluster/wire.h"

/* ---- writing ---------------------------------------------------------------------------------- */

static void item_put_status(trp_pack_t *pack, const trp_item_t *item, size_t extra)
{
    trp_pack_array(pack, 6 + extra);
    trp_pack_u64(pack, (uint64_t)item->kind);
    trp_pack_u64(pack, item->uid);
    trp_pack_u64(pack, item->state);
    trp_pack_u64(pack, item->incarnation);
    trp_pack_u64(pack, item->up_number);
    trp_pack_u64(pack, item->flags);
}

static void item_put_member(trp_pack_t *pack, const trp_item_t *item)
{
    item_put_status(pack, item, 3);
    trp_pack_text(pack, item->identity.address);
    trp_pack_text(pack, item->identity.name);
    trp_pack_array(pack, item->identity.roles_len);
    for (size_t i = 0; i < item->identity.roles_len; i++) {
        trp_pack_text(pack, item->identity.roles[i]);
    }
}

static void item_put_numbers(trp_pack_t *pack, const trp_item_t *item, const uint64_t *numbers,
                             size_t len)
{
    trp_pack_array(pack, 1 + len);
    trp_pack_u64(pack, (uint64_t)item->kind);
    for (size_t i = 0; i < len; i++) {
        trp_pack_u64(pack, numbers[i]);
    }
}

static void item_put_list(trp_pack_t *pack, const uint64_t *uids, size_t len)
{
    trp_pack_array(pack, len);
    for (size_t i = 0; i < len; i++) {
        trp_pack_u64(pack, uids[i]);
    }
}

static void item_put_change(trp_pack_t *pack, const trp_item_t *item)
{
    const trp_change_t *change = &item->change;
    TRP_ASSERT(change->added_len <= TRP_CHANGE_MAX);
    TRP_ASSERT(change->removed_len <= TRP_CHANGE_MAX);
    trp_pack_array(pack, 8);
    trp_pack_u64(pack, (uint64_t)item->kind);
    trp_pack_u64(pack, change->epoch);
    trp_pack_u64(pack, change->ballot);
    trp_pack_u64(pack, change->proposer);
    trp_pack_u64(pack, change->base);
    trp_pack_u64(pack, change->result);
    item_put_list(pack, change->added, change->added_len);
    item_put_list(pack, change->removed, change->removed_len);
}

static void item_put(trp_pack_t *pack, const trp_item_t *item)
{
    const trp_change_t *change = &item->change;
    switch (item->kind) {
    case TRP_ITEM_STATUS:
        item_put_status(pack, item, 0);
        break;
    case TRP_ITEM_MEMBER:
        item_put_member(pack, item);
        break;
    case TRP_ITEM_SUSPECT:
        item_put_numbers(pack, item, (uint64_t[]){item->uid, item->incarnation, item->by}, 3);
        break;
    case TRP_ITEM_PROPOSED:
    case TRP_ITEM_SETTLED:
        item_put_change(pack, item);
        break;
    case TRP_ITEM_ACKED:
        item_put_numbers(pack, item,
                         (uint64_t[]){item->uid, change->epoch, change->ballot, change->proposer,
                                      change->result},
                         5);
        break;
    case TRP_ITEM_VERSION:
    case TRP_ITEM_RANGE:
        item_put_numbers(pack, item, (uint64_t[]){item->uid, item->hash}, 2);
        break;
    case TRP_ITEM_UID:
        item_put_numbers(pack, item, &item->uid, 1);
        break;
    }
}

bool trp_items_add(trp_items_t *items, const trp_item_t *item, size_t size_max)
{
    TRP_ASSERT(size_max <= TRP_ITEMS_SIZE_MAX);
    if (items->size >= size_max) {
        return false;
    }
    trp_pack_t pack;
    trp_pack_init(&pack, items->data + items->size, size_max - items->size);
    item_put(&pack, item);
    if (pack.overflow) {
        return false;
    }
    items->size += pack.size;
    items->len++;
    return true;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static troupe_err_t item_take_numbers(trp_view_t *view, uint64_t *const *numbers, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = trp_pack_read_u64(view, numbers[i]);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t item_take_status(trp_view_t *view, trp_item_t *item)
{
    uint64_t state = 0;
    uint64_t flags = 0;
    troupe_err_t err = item_take_numbers(view, (uint64_t *[]){&item->uid, &state}, 2);
    if (err == TROUPE_OK) {
        err = trp_pack_read_u32(view, &item->incarnation);
    }
    if (err == TROUPE_OK) {
        err = item_take_numbers(view, (uint64_t *[]){&item->up_number, &flags}, 2);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    if (item->uid == 0 || state < TROUPE_MEMBER_JOINING || state > TROUPE_MEMBER_REMOVED) {
        return TROUPE_EPROTOCOL;
    }
    item->state = (uint32_t)state;
    item->flags = (uint32_t)(flags & (TRP_FLAGS_KEPT | TRP_FLAG_UNREACHABLE));
    return TROUPE_OK;
}

static troupe_err_t item_take_member(trp_view_t *view, trp_item_t *item)
{
    troupe_err_t err = item_take_status(view, item);
    if (err == TROUPE_OK) {
        err = trp_pack_read_text(view, &item->identity.address);
    }
    if (err == TROUPE_OK) {
        err = trp_pack_read_text(view, &item->identity.name);
    }
    if (err == TROUPE_OK) {
        err = trp_pack_read_array(view, &item->identity.roles_len);
    }
    if (err == TROUPE_OK && item->identity.roles_len > TRP_ROLES_MAX) {
        err = TROUPE_EPROTOCOL;
    }
    for (size_t i = 0; err == TROUPE_OK && i < item->identity.roles_len; i++) {
        err = trp_pack_read_text(view, &item->identity.roles[i]);
    }
    item->identity.uid = item->uid;
    if (err == TROUPE_OK && !trp_identity_is_valid(&item->identity)) {
        err = TROUPE_EPROTOCOL;
    }
    return err;
}

static troupe_err_t item_take_list(trp_view_t *view, uint64_t *uids, size_t *ret_len)
{
    size_t len = 0;
    troupe_err_t err = trp_pack_read_array(view, &len);
    if (err != TROUPE_OK) {
        return err;
    }
    if (len > TRP_CHANGE_MAX) {
        return TROUPE_EPROTOCOL;
    }
    for (size_t i = 0; i < len; i++) {
        err = trp_pack_read_u64(view, &uids[i]);
        if (err != TROUPE_OK || uids[i] == 0) {
            return TROUPE_EPROTOCOL;
        }
    }
    *ret_len = len;
    return TROUPE_OK;
}

static troupe_err_t item_take_change(trp_view_t *view, trp_change_t *change)
{
    troupe_err_t err =
        item_take_numbers(view,
                          (uint64_t *[]){&change->epoch, &change->ballot, &change->proposer,
                                         &change->base, &change->result},
                          5);
    if (err == TROUPE_OK) {
        err = item_take_list(view, change->added, &change->added_len);
    }
    if (err == TROUPE_OK) {
        err = item_take_list(view, change->removed, &change->removed_len);
    }
    return err;
}

static troupe_err_t item_take_suspect(trp_view_t *view, trp_item_t *item)
{
    troupe_err_t err = trp_pack_read_u64(view, &item->uid);
    if (err == TROUPE_OK) {
        err = trp_pack_read_u32(view, &item->incarnation);
    }
    if (err == TROUPE_OK) {
        err = trp_pack_read_u64(view, &item->by);
    }
    return err;
}

/* How many fields each kind has at least, its kind not counted; 0: a kind not known here. */
static size_t item_fields_len(uint64_t kind)
{
    static const uint8_t lens[] = {0, 5, 8, 3, 7, 7, 5, 2, 1, 2};
    return kind < sizeof(lens) ? lens[kind] : 0;
}

static troupe_err_t item_take(trp_view_t *view, trp_item_t *item)
{
    trp_change_t *change = &item->change;
    switch (item->kind) {
    case TRP_ITEM_STATUS:
        return item_take_status(view, item);
    case TRP_ITEM_MEMBER:
        return item_take_member(view, item);
    case TRP_ITEM_SUSPECT:
        return item_take_suspect(view, item);
    case TRP_ITEM_PROPOSED:
    case TRP_ITEM_SETTLED:
        return item_take_change(view, change);
    case TRP_ITEM_ACKED:
        return item_take_numbers(view,
                                 (uint64_t *[]){&item->uid, &change->epoch, &change->ballot,
                                                &change->proposer, &change->result},
                                 5);
    case TRP_ITEM_VERSION:
    case TRP_ITEM_RANGE:
        return item_take_numbers(view, (uint64_t *[]){&item->uid, &item->hash}, 2);
    case TRP_ITEM_UID:
        return trp_pack_read_u64(view, &item->uid);
    }
    return TROUPE_EPROTOCOL;
}

/* One item with its kind; `ret_known` is false when it was one to skip. */
static troupe_err_t item_take_any(trp_view_t *view, trp_item_t *item, bool *ret_known)
{
    size_t len = 0;
    uint64_t kind = 0;
    troupe_err_t err = trp_pack_read_array(view, &len);
    if (err != TROUPE_OK || len == 0) {
        return TROUPE_EPROTOCOL;
    }
    err = trp_pack_read_u64(view, &kind);
    if (err != TROUPE_OK) {
        return err;
    }
    size_t taken = item_fields_len(kind);
    *ret_known = taken > 0;
    if (taken > 0) {
        item->kind = (trp_item_kind_t)kind;
        err = len - 1 < taken ? TROUPE_EPROTOCOL : item_take(view, item);
    }
    for (size_t i = 1 + taken; err == TROUPE_OK && i < len; i++) {
        err = trp_pack_read_skip(view);
    }
    return err;
}

troupe_err_t trp_wire_next(trp_view_t *items, trp_item_t *ret_item)
{
    while (items->size > 0) {
        bool known = false;
        memset(ret_item, 0, sizeof(*ret_item));
        troupe_err_t err = item_take_any(items, ret_item, &known);
        if (err != TROUPE_OK) {
            return err;
        }
        if (known) {
            return TROUPE_OK;
        }
    }
    return TROUPE_ENOENT;
}

void trp_item_copy_address(const trp_item_t *item, char out[TROUPE_MEMBER_ADDRESS_SIZE])
{
    TRP_ASSERT(item->kind == TRP_ITEM_MEMBER);
    TRP_ASSERT(item->identity.address.size < TROUPE_MEMBER_ADDRESS_SIZE);
    memcpy(out, item->identity.address.data, item->identity.address.size);
    out[item->identity.address.size] = '\0';
}
