/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Varints. */

#include "base/bytes.h"

#include "base/assert.h"

#define VARINT_BITS 7
#define VARINT_MORE 0x80u

size_t trp_varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >= VARINT_MORE) {
        value >>= VARINT_BITS;
        size++;
    }
    return size;
}

size_t trp_varint_put(uint8_t *out, size_t capacity, uint64_t value)
{
    TRP_ASSERT(out != NULL || capacity == 0);
    if (capacity < trp_varint_size(value)) {
        return 0;
    }
    size_t size = 0;
    while (value >= VARINT_MORE) {
        out[size++] = (uint8_t)(value | VARINT_MORE);
        value >>= VARINT_BITS;
    }
    out[size++] = (uint8_t)value;
    return size;
}

/* Whether the byte at `index` can't be part of the one right encoding: bits beyond the 64th, or a last
 * byte that adds nothing. */
static int varint_is_wrong(uint8_t byte, size_t index)
{
    if (index == TRP_VARINT_SIZE_MAX - 1) {
        return byte != 1;
    }
    return byte == 0 && index > 0;
}

size_t trp_varint_get(const uint8_t *data, size_t size, uint64_t *ret_value)
{
    TRP_ASSERT(data != NULL || size == 0);
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < TRP_VARINT_SIZE_MAX; i++) {
        if (varint_is_wrong(data[i], i)) {
            return 0;
        }
        value |= (uint64_t)(data[i] & (VARINT_MORE - 1)) << (i * VARINT_BITS);
        if ((data[i] & VARINT_MORE) == 0) {
            *ret_value = value;
            return i + 1;
        }
    }
    return 0;
}
