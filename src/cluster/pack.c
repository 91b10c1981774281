/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The writer over msgpack-c, and the bounded reader. */

#include "cluster/pack.h"

#include <string.h>

#include <msgpack/pack.h>

#include "base/assert.h"

/* ---- writing ---------------------------------------------------------------------------------- */

void trp_pack_init(trp_pack_t *pack, uint8_t *data, size_t capacity)
{
    TRP_ASSERT(data != NULL);
    pack->data = data;
    pack->size = 0;
    pack->capacity = capacity;
    pack->overflow = false;
}

void trp_pack_raw(trp_pack_t *pack, const void *data, size_t size)
{
    if (pack->overflow || size > pack->capacity - pack->size) {
        pack->overflow = true;
        return;
    }
    if (size > 0) {
        memcpy(pack->data + pack->size, data, size);
    }
    pack->size += size;
}

static int pack_write(void *user, const char *data, size_t size)
{
    trp_pack_t *pack = user;
    trp_pack_raw(pack, data, size);
    return pack->overflow ? -1 : 0;
}

/* What the packer returns is the overflow flag over again, so callers drop it. */
static msgpack_packer pack_packer(trp_pack_t *pack)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, pack, pack_write);
    return packer;
}

void trp_pack_array(trp_pack_t *pack, size_t len)
{
    msgpack_packer packer = pack_packer(pack);
    (void)msgpack_pack_array(&packer, len);
}

void trp_pack_u64(trp_pack_t *pack, uint64_t value)
{
    msgpack_packer packer = pack_packer(pack);
    (void)msgpack_pack_uint64(&packer, value);
}

void trp_pack_text(trp_pack_t *pack, trp_view_t text)
{
    msgpack_packer packer = pack_packer(pack);
    (void)msgpack_pack_str(&packer, text.size);
    trp_pack_raw(pack, text.data, text.size);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* The first bytes that announce each kind; see the MessagePack specification. */
enum {
    PACK_FIXINT_MAX = 0x7f,
    PACK_FIXMAP = 0x80,
    PACK_FIXARRAY = 0x90,
    PACK_FIXSTR = 0xa0,
    PACK_NIL = 0xc0,
    PACK_UNUSED = 0xc1,
    PACK_BIN8 = 0xc4,
    PACK_EXT8 = 0xc7,
    PACK_FLOAT32 = 0xca,
    PACK_UINT8 = 0xcc,
    PACK_UINT64 = 0xcf,
    PACK_FIXEXT1 = 0xd4,
    PACK_STR8 = 0xd9,
    PACK_STR32 = 0xdb,
    PACK_ARRAY16 = 0xdc,
    PACK_ARRAY32 = 0xdd,
    PACK_MAP16 = 0xde,
    PACK_MAP32 = 0xdf,
    PACK_NEGATIVE = 0xe0,
};

/* A big-endian number of `size` bytes: 1, 2, 4 or 8. */
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

/* Works on a copy so that a failed read leaves the caller's view as it was. */
troupe_err_t trp_pack_read_array(trp_view_t *view, size_t *ret_len)
{
    trp_view_t rest = *view;
    uint8_t first = 0;
    uint64_t len = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &first);
    if (err != TROUPE_OK) {
        return err;
    }
    if ((first & 0xf0) == PACK_FIXARRAY) {
        len = first & 0x0f;
    } else if (first == PACK_ARRAY16 || first == PACK_ARRAY32) {
        err = unpack_number(&rest, first == PACK_ARRAY16 ? 2 : 4, &len);
    } else {
        err = TROUPE_EPROTOCOL;
    }
    /* Every element takes a byte at least: a count beyond the bytes is a lie. */
    if (err != TROUPE_OK || len > rest.size) {
        return TROUPE_EPROTOCOL;
    }
    *ret_len = (size_t)len;
    *view = rest;
    return TROUPE_OK;
}

troupe_err_t trp_pack_read_u64(trp_view_t *view, uint64_t *ret_value)
{
    trp_view_t rest = *view;
    uint8_t first = 0;
    uint64_t value = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &first);
    if (err != TROUPE_OK) {
        return err;
    }
    if (first <= PACK_FIXINT_MAX) {
        value = first;
    } else if (first >= PACK_UINT8 && first <= PACK_UINT64) {
        err = unpack_number(&rest, (size_t)1 << (first - PACK_UINT8), &value);
    } else {
        err = TROUPE_EPROTOCOL;
    }
    if (err != TROUPE_OK) {
        return err;
    }
    *ret_value = value;
    *view = rest;
    return TROUPE_OK;
}

troupe_err_t trp_pack_read_u32(trp_view_t *view, uint32_t *ret_value)
{
    trp_view_t rest = *view;
    uint64_t value = 0;
    troupe_err_t err = trp_pack_read_u64(&rest, &value);
    if (err != TROUPE_OK) {
        return err;
    }
    if (value > UINT32_MAX) {
        return TROUPE_EPROTOCOL;
    }
    *ret_value = (uint32_t)value;
    *view = rest;
    return TROUPE_OK;
}

troupe_err_t trp_pack_read_text(trp_view_t *view, trp_view_t *ret_text)
{
    trp_view_t rest = *view;
    uint8_t first = 0;
    uint64_t size = 0;
    troupe_err_t err = trp_view_take_u8(&rest, &first);
    if (err != TROUPE_OK) {
        return err;
    }
    if ((first & 0xe0) == PACK_FIXSTR) {
        size = first & 0x1f;
    } else if (first >= PACK_STR8 && first <= PACK_STR32) {
        err = unpack_number(&rest, (size_t)1 << (first - PACK_STR8), &size);
    } else {
        err = TROUPE_EPROTOCOL;
    }
    if (err == TROUPE_OK) {
        err = trp_view_take_view(&rest, (size_t)size, ret_text);
    }
    if (err == TROUPE_OK) {
        *view = rest;
    }
    return err;
}

/* Takes a length of `width` bytes, then that many bytes and `extra` ones. */
static troupe_err_t unpack_skip_block(trp_view_t *view, size_t width, size_t extra)
{
    uint64_t size = 0;
    const uint8_t *data = NULL;
    troupe_err_t err = unpack_number(view, width, &size);
    if (err != TROUPE_OK) {
        return err;
    }
    return trp_view_take(view, (size_t)size + extra, &data);
}

/* The head of one value that isn't a number in one byte; ret_inner tells how many values follow. */
static troupe_err_t unpack_skip_head(trp_view_t *view, uint8_t first, uint64_t *ret_inner)
{
    static const uint8_t number_sizes[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8}; /* 0xca to 0xd3 */
    static const uint8_t ext_sizes[] = {2, 3, 5, 9, 17};                  /* 0xd4 to 0xd8 */
    const uint8_t *data = NULL;
    if (first >= PACK_BIN8 && first < PACK_EXT8) {
        return unpack_skip_block(view, (size_t)1 << (first - PACK_BIN8), 0);
    }
    if (first >= PACK_EXT8 && first < PACK_FLOAT32) {
        return unpack_skip_block(view, (size_t)1 << (first - PACK_EXT8), 1);
    }
    if (first >= PACK_FLOAT32 && first < PACK_FIXEXT1) {
        return trp_view_take(view, number_sizes[first - PACK_FLOAT32], &data);
    }
    if (first >= PACK_FIXEXT1 && first < PACK_STR8) {
        return trp_view_take(view, ext_sizes[first - PACK_FIXEXT1], &data);
    }
    if (first >= PACK_STR8 && first <= PACK_STR32) {
        return unpack_skip_block(view, (size_t)1 << (first - PACK_STR8), 0);
    }
    if (first >= PACK_ARRAY16 && first <= PACK_MAP32) {
        troupe_err_t err = unpack_number(view, (first & 1) == 0 ? 2 : 4, ret_inner);
        *ret_inner *= first >= PACK_MAP16 ? 2 : 1;
        return err;
    }
    return TROUPE_EPROTOCOL;
}

static troupe_err_t unpack_skip_one(trp_view_t *view, uint64_t *ret_inner)
{
    const uint8_t *data = NULL;
    uint8_t first = 0;
    *ret_inner = 0;
    troupe_err_t err = trp_view_take_u8(view, &first);
    if (err != TROUPE_OK || first <= PACK_FIXINT_MAX || first >= PACK_NEGATIVE) {
        return err;
    }
    if (first < PACK_FIXSTR) {
        *ret_inner = (uint64_t)(first & 0x0f) * (first < PACK_FIXARRAY ? 2 : 1);
        return TROUPE_OK;
    }
    if (first < PACK_NIL) {
        return trp_view_take(view, first & 0x1f, &data);
    }
    if (first < PACK_BIN8) { /* nil, false, true, and one that is never used */
        return first == PACK_UNUSED ? TROUPE_EPROTOCOL : TROUPE_OK;
    }
    return unpack_skip_head(view, first, ret_inner);
}

/* Without recursion: a stack of counts of what is still to be skipped on each level. */
troupe_err_t trp_pack_read_skip(trp_view_t *view)
{
    uint64_t left[TRP_UNPACK_DEPTH_MAX + 1] = {1};
    size_t depth = 0;
    trp_view_t rest = *view;
    for (;;) {
        while (depth > 0 && left[depth] == 0) {
            depth--;
        }
        if (left[depth] == 0) {
            break;
        }
        left[depth]--;
        uint64_t inner = 0;
        troupe_err_t err = unpack_skip_one(&rest, &inner);
        if (err != TROUPE_OK) {
            return err;
        }
        if (inner > rest.size || (inner > 0 && depth == TRP_UNPACK_DEPTH_MAX)) {
            return TROUPE_EPROTOCOL;
        }
        if (inner > 0) {
            depth++;
            left[depth] = inner;
        }
    }
    *view = rest;
    return TROUPE_OK;
}
