/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The growing byte buffer. */

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define BUF_CAPACITY_MIN 64 /* One small message; doubled from there. */

void trp_buf_init(trp_buf_t *buf, size_t limit)
{
    TRP_ASSERT(buf != NULL);
    TRP_ASSERT(limit > 0);
    *buf = (trp_buf_t){NULL, 0, 0, limit};
}

void trp_buf_fini(trp_buf_t *buf)
{
    TRP_ASSERT(buf != NULL);
    trp_free(buf->data);
    *buf = (trp_buf_t){NULL, 0, 0, buf->limit};
}

/* At least `needed`, at least double, at most the limit. */
static size_t buf_next_capacity(const trp_buf_t *buf, size_t needed)
{
    size_t capacity = buf->capacity > buf->limit / 2 ? buf->limit : buf->capacity * 2;
    if (capacity < BUF_CAPACITY_MIN) {
        capacity = BUF_CAPACITY_MIN;
    }
    if (capacity < needed) {
        capacity = needed;
    }
    return capacity > buf->limit ? buf->limit : capacity;
}

troupe_err_t trp_buf_reserve(trp_buf_t *buf, size_t extra)
{
    TRP_ASSERT(buf->size <= buf->capacity);
    if (extra <= buf->capacity - buf->size) {
        return TROUPE_OK;
    }
    if (buf->size > buf->limit || extra > buf->limit - buf->size) {
        return TROUPE_ETOOBIG;
    }
    size_t capacity = buf_next_capacity(buf, buf->size + extra);
    uint8_t *data = trp_realloc(buf->data, capacity);
    if (data == NULL) {
        return TROUPE_ENOMEM;
    }
    buf->data = data;
    buf->capacity = capacity;
    return TROUPE_OK;
}

troupe_err_t trp_buf_append(trp_buf_t *buf, const void *data, size_t size)
{
    TRP_ASSERT(data != NULL || size == 0);
    troupe_err_t err = trp_buf_reserve(buf, size);
    if (err != TROUPE_OK || size == 0) {
        return err;
    }
    memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    return TROUPE_OK;
}

troupe_err_t trp_buf_append_string(trp_buf_t *buf, const char *text)
{
    return trp_buf_append(buf, text, strlen(text));
}

troupe_err_t trp_buf_append_u8(trp_buf_t *buf, uint8_t value)
{
    return trp_buf_append(buf, &value, sizeof(value));
}

troupe_err_t trp_buf_append_u16(trp_buf_t *buf, uint16_t value)
{
    uint8_t bytes[sizeof(value)];
    trp_store_le16(bytes, value);
    return trp_buf_append(buf, bytes, sizeof(bytes));
}

troupe_err_t trp_buf_append_u32(trp_buf_t *buf, uint32_t value)
{
    uint8_t bytes[sizeof(value)];
    trp_store_le32(bytes, value);
    return trp_buf_append(buf, bytes, sizeof(bytes));
}

troupe_err_t trp_buf_append_u64(trp_buf_t *buf, uint64_t value)
{
    uint8_t bytes[sizeof(value)];
    trp_store_le64(bytes, value);
    return trp_buf_append(buf, bytes, sizeof(bytes));
}

troupe_err_t trp_buf_append_varint(trp_buf_t *buf, uint64_t value)
{
    uint8_t bytes[TRP_VARINT_SIZE_MAX];
    size_t size = trp_varint_put(bytes, sizeof(bytes), value);
    return trp_buf_append(buf, bytes, size);
}

troupe_err_t trp_buf_append_block(trp_buf_t *buf, const void *data, size_t size)
{
    size_t before = buf->size;
    troupe_err_t err = trp_buf_append_varint(buf, size);
    if (err == TROUPE_OK) {
        err = trp_buf_append(buf, data, size);
    }
    if (err != TROUPE_OK) {
        buf->size = before;
    }
    return err;
}

troupe_err_t trp_buf_append_format(trp_buf_t *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0) {
        return TROUPE_EINVAL;
    }
    /* One byte more for the zero that vsnprintf insists on; it doesn't count as written. */
    troupe_err_t err = trp_buf_reserve(buf, (size_t)size + 1);
    if (err != TROUPE_OK) {
        return err;
    }
    va_start(args, format);
    (void)vsnprintf((char *)buf->data + buf->size, (size_t)size + 1, format, args);
    va_end(args);
    buf->size += (size_t)size;
    return TROUPE_OK;
}

void trp_buf_consume(trp_buf_t *buf, size_t size)
{
    TRP_ASSERT(size <= buf->size);
    if (size == 0) {
        return;
    }
    buf->size -= size;
    memmove(buf->data, buf->data + size, buf->size);
}

uint8_t *trp_buf_take(trp_buf_t *buf, size_t *ret_size)
{
    TRP_ASSERT(buf != NULL);
    uint8_t *data = buf->data;
    *ret_size = buf->size;
    *buf = (trp_buf_t){NULL, 0, 0, buf->limit};
    return data;
}
