/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reading msgpack item by item. */

#include "net/link/unpack.h"

#include <stdbool.h>

/* First bytes of the encodings; ranges are inclusive. */
enum {
    UNPACK_POSITIVE_MAX = 0x7f,
    UNPACK_FIXMAP = 0x80,
    UNPACK_FIXARRAY = 0x90,
    UNPACK_FIXSTR = 0xa0,
    UNPACK_NIL = 0xc0,
    UNPACK_BIN8 = 0xc4,
    UNPACK_EXT8 = 0xc7,
    UNPACK_FLOAT32 = 0xca,
    UNPACK_UINT8 = 0xcc,
    UNPACK_INT8 = 0xd0,
    UNPACK_FIXEXT1 = 0xd4,
    UNPACK_STR8 = 0xd9,
    UNPACK_ARRAY16 = 0xdc,
    UNPACK_MAP16 = 0xde,
    UNPACK_NEGATIVE = 0xe0,
};

/* Takes a big-endian number of `size` bytes. */
static troupe_err_t unpack_number(trp_view_t *view, size_t size, uint64_t *ret_value)
{
    const uint8_t *data = NULL;
    troupe_err_t err = trp_view_take(view, size, &data);
    if (err != TROUPE_OK) {
        return err;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | data[i];
    }
    *ret_value = value;
    return TROUPE_OK;
}

/* On success `view` is `rest`; on error it stays as it was. */
static troupe_err_t unpack_commit(trp_view_t *view, trp_view_t rest, troupe_err_t err)
{
    if (err == TROUPE_OK) {
        *view = rest;
    }
    return err;
}

troupe_err_t trp_unpack_uint(trp_view_t *view, uint64_t *ret_value)
{
    trp_view_t rest = *view;
    uint8_t head = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &head);
    if (err != TROUPE_OK) {
        return err;
    }
    if (head <= UNPACK_POSITIVE_MAX) {
        *ret_value = head;
        return unpack_commit(view, rest, TROUPE_OK);
    }
    if (head < UNPACK_UINT8 || head >= UNPACK_INT8) {
        return TROUPE_EPROTOCOL;
    }
    return unpack_commit(view, rest,
                         unpack_number(&rest, (size_t)1 << (head - UNPACK_UINT8), ret_value));
}

/* Bytes of the length that follows `head` of a text (or bytes); false when it is neither. */
static bool unpack_block_head(uint8_t head, size_t *ret_length_size, uint64_t *ret_length)
{
    *ret_length_size = 0;
    if (head >= UNPACK_FIXSTR && head < UNPACK_NIL) {
        *ret_length = head - UNPACK_FIXSTR;
        return true;
    }
    if (head >= UNPACK_BIN8 && head < UNPACK_EXT8) {
        *ret_length_size = (size_t)1 << (head - UNPACK_BIN8);
        return true;
    }
    if (head >= UNPACK_STR8 && head < UNPACK_ARRAY16) {
        *ret_length_size = (size_t)1 << (head - UNPACK_STR8);
        return true;
    }
    return false;
}

troupe_err_t trp_unpack_block(trp_view_t *view, trp_view_t *ret_block)
{
    trp_view_t rest = *view;
    uint8_t head = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &head);
    uint64_t length = 0;
    size_t length_size = 0;
    if (err != TROUPE_OK || !unpack_block_head(head, &length_size, &length)) {
        return TROUPE_EPROTOCOL;
    }
    if (length_size > 0) {
        err = unpack_number(&rest, length_size, &length);
    }
    if (err == TROUPE_OK) {
        err = trp_view_take_view(&rest, (size_t)length, ret_block);
    }
    return unpack_commit(view, rest, err);
}

troupe_err_t trp_unpack_map(trp_view_t *view, uint32_t *ret_len)
{
    trp_view_t rest = *view;
    uint8_t head = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &head);
    uint64_t len = 0;
    if (err != TROUPE_OK) {
        return err;
    }
    if (head >= UNPACK_FIXMAP && head < UNPACK_FIXARRAY) {
        len = head - UNPACK_FIXMAP;
    } else if (head == UNPACK_MAP16 || head == UNPACK_MAP16 + 1) {
        err = unpack_number(&rest, head == UNPACK_MAP16 ? 2 : 4, &len);
    } else {
        err = TROUPE_EPROTOCOL;
    }
    if (err == TROUPE_OK) {
        *ret_len = (uint32_t)len;
    }
    return unpack_commit(view, rest, err);
}

/* Bytes after `head` of an item without items in it and without a length. */
static bool unpack_fixed_size(uint8_t head, size_t *ret_size)
{
    if (head <= UNPACK_POSITIVE_MAX || head >= UNPACK_NEGATIVE ||
        (head >= UNPACK_NIL && head < UNPACK_BIN8)) {
        *ret_size = 0;
    } else if (head == UNPACK_FLOAT32 || head == UNPACK_FLOAT32 + 1) {
        *ret_size = (size_t)4 << (head - UNPACK_FLOAT32);
    } else if (head >= UNPACK_UINT8 && head < UNPACK_FIXEXT1) {
        *ret_size = (size_t)1 << (head & 3u);
    } else if (head >= UNPACK_FIXEXT1 && head < UNPACK_STR8) {
        *ret_size = 1 + ((size_t)1 << (head - UNPACK_FIXEXT1));
    } else {
        return false;
    }
    return true;
}

/* Takes the head of an array or map; `ret_items` says how many items it holds. */
static troupe_err_t unpack_container(trp_view_t *view, uint64_t *ret_items)
{
    uint32_t len = 0;
    if (trp_unpack_map(view, &len) == TROUPE_OK) {
        *ret_items = (uint64_t)len * 2;
        return TROUPE_OK;
    }
    trp_view_t rest = *view;
    uint8_t head = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &head);
    uint64_t items = 0;
    if (err != TROUPE_OK) {
        return err;
    }
    if (head >= UNPACK_FIXARRAY && head < UNPACK_FIXSTR) {
        items = head - UNPACK_FIXARRAY;
    } else if (head == UNPACK_ARRAY16 || head == UNPACK_ARRAY16 + 1) {
        err = unpack_number(&rest, head == UNPACK_ARRAY16 ? 2 : 4, &items);
    } else {
        err = TROUPE_EPROTOCOL;
    }
    *ret_items = items;
    return unpack_commit(view, rest, err);
}

/* Takes an item that holds no others. */
static troupe_err_t unpack_leaf(trp_view_t *view)
{
    trp_view_t block = trp_view_make(NULL, 0);
    if (trp_unpack_block(view, &block) == TROUPE_OK) {
        return TROUPE_OK;
    }
    trp_view_t rest = *view;
    uint8_t head = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &head);
    if (err != TROUPE_OK) {
        return err;
    }
    size_t size = 0;
    const uint8_t *data = NULL;
    if (head >= UNPACK_EXT8 && head < UNPACK_FLOAT32) {
        uint64_t length = 0;
        err = unpack_number(&rest, (size_t)1 << (head - UNPACK_EXT8), &length);
        size = (size_t)length + 1;
    } else if (!unpack_fixed_size(head, &size)) {
        err = TROUPE_EPROTOCOL;
    }
    if (err == TROUPE_OK) {
        err = trp_view_take(&rest, size, &data);
    }
    return unpack_commit(view, rest, err);
}

troupe_err_t trp_unpack_skip(trp_view_t *view)
{
    uint64_t left[TRP_UNPACK_DEPTH_MAX] = {1}; /* Items still to take, by depth. */
    uint32_t depth = 1;
    while (depth > 0) {
        if (left[depth - 1] == 0) {
            depth--;
            continue;
        }
        left[depth - 1]--;
        uint64_t items = 0;
        if (unpack_container(view, &items) == TROUPE_OK) {
            if (depth == TRP_UNPACK_DEPTH_MAX) {
                return TROUPE_EPROTOCOL;
            }
            left[depth++] = items;
            continue;
        }
        troupe_err_t err = unpack_leaf(view);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}
