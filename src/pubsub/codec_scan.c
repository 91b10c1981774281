/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The scan over foreign msgpack. The decoder reserves memory for an array by the count in its head;
 * five bytes can claim four thousand million elements. */

#include "pubsub/codec_scan.h"

#include "base/bytes.h"

enum {
    SCAN_FIXINT_LAST = 0x7f,
    SCAN_FIXARRAY = 0x90,
    SCAN_FIXSTR = 0xa0,
    SCAN_NIL = 0xc0,
    SCAN_FALSE = 0xc2,
    SCAN_TRUE = 0xc3,
    SCAN_BIN8 = 0xc4,
    SCAN_BIN32 = 0xc6,
    SCAN_UINT8 = 0xcc,
    SCAN_UINT64 = 0xcf,
    SCAN_STR8 = 0xd9,
    SCAN_STR32 = 0xdb,
    SCAN_ARRAY16 = 0xdc,
    SCAN_ARRAY32 = 0xdd,
};

/* Reads a big-endian number of 1, 2, 4 or 8 bytes. */
static troupe_err_t scan_number(trp_view_t *rest, size_t size, uint64_t *ret_value)
{
    const uint8_t *data = NULL;
    troupe_err_t err = trp_view_take(rest, size, &data);
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

static troupe_err_t scan_block(trp_view_t *rest, size_t size_size)
{
    uint64_t size = 0;
    const uint8_t *data = NULL;
    troupe_err_t err = scan_number(rest, size_size, &size);
    return err == TROUPE_OK ? trp_view_take(rest, (size_t)size, &data) : err;
}

/* Takes the head of one value and, unless it is an array, all of it. ret_len is the count of elements
 * that follow. */
static troupe_err_t scan_value(trp_view_t *rest, uint64_t *ret_len)
{
    uint8_t head = 0;
    uint64_t ignored = 0;
    const uint8_t *data = NULL;
    *ret_len = 0;
    troupe_err_t err = trp_view_take_u8(rest, &head);
    if (err != TROUPE_OK) {
        return err;
    }
    if (head <= SCAN_FIXINT_LAST || head == SCAN_NIL || head == SCAN_FALSE || head == SCAN_TRUE) {
        return TROUPE_OK;
    }
    if (head >= SCAN_FIXARRAY && head < SCAN_FIXSTR) {
        *ret_len = head & 0x0fu;
        return TROUPE_OK;
    }
    if (head >= SCAN_FIXSTR && head < SCAN_NIL) {
        return trp_view_take(rest, head & 0x1fu, &data);
    }
    if (head >= SCAN_BIN8 && head <= SCAN_BIN32) {
        return scan_block(rest, (size_t)1 << (head - SCAN_BIN8));
    }
    if (head >= SCAN_STR8 && head <= SCAN_STR32) {
        return scan_block(rest, (size_t)1 << (head - SCAN_STR8));
    }
    if (head >= SCAN_UINT8 && head <= SCAN_UINT64) {
        return scan_number(rest, (size_t)1 << (head - SCAN_UINT8), &ignored);
    }
    if (head == SCAN_ARRAY16 || head == SCAN_ARRAY32) {
        return scan_number(rest, head == SCAN_ARRAY16 ? 2 : 4, ret_len);
    }
    return TROUPE_EPROTOCOL;
}

troupe_err_t trp_scan(trp_view_t bytes)
{
    uint64_t left[TRP_SCAN_DEPTH_MAX + 1] = {1}; /* Values still to come, by depth. */
    size_t depth = 0;
    do {
        uint64_t len = 0;
        left[depth]--;
        troupe_err_t err = scan_value(&bytes, &len);
        if (err != TROUPE_OK) {
            return err;
        }
        /* Each element takes a byte at least. */
        if (len > bytes.size || (len > 0 && depth == TRP_SCAN_DEPTH_MAX)) {
            return TROUPE_EPROTOCOL;
        }
        if (len > 0) {
            left[++depth] = len;
        }
        while (depth > 0 && left[depth] == 0) {
            depth--;
        }
    } while (left[depth] > 0);
    return bytes.size == 0 ? TROUPE_OK : TROUPE_EPROTOCOL;
}
