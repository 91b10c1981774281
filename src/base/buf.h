/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A growing byte buffer with a limit: what is written to peers and files is gathered here.
 *
 * Thread rule: a buffer belongs to its thread. */

#ifndef TROUPE_BASE_BUF_H
#define TROUPE_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/attr.h"
#include "base/view.h"

typedef struct trp_buf {
    uint8_t *data;   /* Owned; NULL while the capacity is 0. */
    size_t size;     /* Bytes written. */
    size_t capacity; /* Bytes allocated, never above the limit. */
    size_t limit;    /* Named by the owner: no buffer grows without a bound. */
} trp_buf_t;

/* An empty buffer that allocates nothing yet. */
void trp_buf_init(trp_buf_t *buf, size_t limit);

/* Frees the memory; the buffer is then as after init. */
void trp_buf_fini(trp_buf_t *buf);

/* Forgets the bytes and keeps the memory. */
static inline void trp_buf_clear(trp_buf_t *buf)
{
    buf->size = 0;
}

static inline trp_view_t trp_buf_view(const trp_buf_t *buf)
{
    return trp_view_make(buf->data, buf->size);
}

/* Makes room for `extra` more bytes: data[size .. size + extra) may then be written and size raised.
 * TROUPE_ETOOBIG beyond the limit, TROUPE_ENOMEM. */
troupe_err_t trp_buf_reserve(trp_buf_t *buf, size_t extra);

/* Adds bytes; nothing is added on error. `data` must not lie in the buffer itself. */
troupe_err_t trp_buf_append(trp_buf_t *buf, const void *data, size_t size);

troupe_err_t trp_buf_append_string(trp_buf_t *buf, const char *text);
troupe_err_t trp_buf_append_u8(trp_buf_t *buf, uint8_t value);
troupe_err_t trp_buf_append_u16(trp_buf_t *buf, uint16_t value);
troupe_err_t trp_buf_append_u32(trp_buf_t *buf, uint32_t value);
troupe_err_t trp_buf_append_u64(trp_buf_t *buf, uint64_t value);
troupe_err_t trp_buf_append_varint(trp_buf_t *buf, uint64_t value);

/* Adds a varint of the size and the bytes: what trp_view_take_block reads. */
troupe_err_t trp_buf_append_block(trp_buf_t *buf, const void *data, size_t size);

/* Adds formatted text, without a terminating zero. */
troupe_err_t trp_buf_append_format(trp_buf_t *buf, const char *format, ...) TRP_PRINTF(2, 3);

/* Drops the first `size` bytes and moves the rest to the front. */
void trp_buf_consume(trp_buf_t *buf, size_t size);

/* Gives the bytes away: the caller frees them with trp_free (NULL when nothing was ever reserved);
 * the buffer is then empty. */
uint8_t *trp_buf_take(trp_buf_t *buf, size_t *ret_size);

#endif
