/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A bounded reader over bytes that somebody else owns. Whatever a peer sent is read through this: no
 * function here reads past the end, and a failed take leaves the view as it was.
 *
 * Thread rule: a view belongs to its thread. */

#ifndef TROUPE_BASE_VIEW_H
#define TROUPE_BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <troupe/error.h>

#include "base/bytes.h"

typedef struct trp_view {
    const uint8_t *data; /* Borrowed. */
    size_t size;
} trp_view_t;

static inline trp_view_t trp_view_make(const void *data, size_t size)
{
    trp_view_t view = {(const uint8_t *)data, size};
    return view;
}

/* The bytes of a zero-terminated string, without the zero. */
static inline trp_view_t trp_view_from_string(const char *text)
{
    return trp_view_make(text, strlen(text));
}

static inline bool trp_view_is_empty(trp_view_t view)
{
    return view.size == 0;
}

static inline bool trp_view_equal(trp_view_t a, trp_view_t b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool trp_view_equal_string(trp_view_t view, const char *text)
{
    return trp_view_equal(view, trp_view_from_string(text));
}

/* Takes `size` bytes off the front. TROUPE_EPROTOCOL when there are fewer. */
static inline troupe_err_t trp_view_take(trp_view_t *view, size_t size, const uint8_t **ret_data)
{
    if (size > view->size) {
        return TROUPE_EPROTOCOL;
    }
    *ret_data = view->data;
    if (size > 0) {
        view->data += size;
    }
    view->size -= size;
    return TROUPE_OK;
}

/* Takes `size` bytes off the front as a view of their own. */
static inline troupe_err_t trp_view_take_view(trp_view_t *view, size_t size, trp_view_t *ret_view)
{
    const uint8_t *data = NULL;
    troupe_err_t err = trp_view_take(view, size, &data);
    if (err == TROUPE_OK) {
        *ret_view = trp_view_make(data, size);
    }
    return err;
}

/* trp_view_take_u8, _u16, _u32, _u64: little-endian numbers. */
#define TRP_VIEW_DEFINE_TAKE(bits, LOAD)                                                           \
    static inline troupe_err_t trp_view_take_u##bits(trp_view_t *view, uint##bits##_t *ret_value)  \
    {                                                                                              \
        const uint8_t *data = NULL;                                                                \
        troupe_err_t err = trp_view_take(view, sizeof(*ret_value), &data);                         \
        if (err == TROUPE_OK) {                                                                    \
            *ret_value = LOAD(data);                                                               \
        }                                                                                          \
        return err;                                                                                \
    }

static inline uint8_t trp_view_load_u8(const uint8_t *data)
{
    return data[0];
}

TRP_VIEW_DEFINE_TAKE(8, trp_view_load_u8)
TRP_VIEW_DEFINE_TAKE(16, trp_load_le16)
TRP_VIEW_DEFINE_TAKE(32, trp_load_le32)
TRP_VIEW_DEFINE_TAKE(64, trp_load_le64)

/* Takes a varint. TROUPE_EPROTOCOL when it is cut off or not the shortest encoding. */
troupe_err_t trp_view_take_varint(trp_view_t *view, uint64_t *ret_value);

/* Takes a varint and that many bytes after it. TROUPE_ETOOBIG when they are more than `size_max`. */
troupe_err_t trp_view_take_block(trp_view_t *view, size_t size_max, trp_view_t *ret_view);

#endif
