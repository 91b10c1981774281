/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Loads and stores of fixed byte order at any alignment, and varints: the only way in which numbers
 * get into and out of what crosses a wire.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_BASE_BYTES_H
#define TROUPE_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TRP_BYTES_LE16(value) (value)
#define TRP_BYTES_LE32(value) (value)
#define TRP_BYTES_LE64(value) (value)
#define TRP_BYTES_BE16(value) __builtin_bswap16(value)
#define TRP_BYTES_BE32(value) __builtin_bswap32(value)
#define TRP_BYTES_BE64(value) __builtin_bswap64(value)
#else
#define TRP_BYTES_LE16(value) __builtin_bswap16(value)
#define TRP_BYTES_LE32(value) __builtin_bswap32(value)
#define TRP_BYTES_LE64(value) __builtin_bswap64(value)
#define TRP_BYTES_BE16(value) (value)
#define TRP_BYTES_BE32(value) (value)
#define TRP_BYTES_BE64(value) (value)
#endif

/* One load and one store for each width and order: a copy of fixed size compiles to one move. */
#define TRP_BYTES_DEFINE(order, ORDER, bits)                                                       \
    static inline uint##bits##_t trp_load_##order##bits(const void *data)                          \
    {                                                                                              \
        uint##bits##_t value;                                                                      \
        memcpy(&value, data, sizeof(value));                                                       \
        return TRP_BYTES_##ORDER##bits(value);                                                     \
    }                                                                                              \
    static inline void trp_store_##order##bits(void *out, uint##bits##_t value)                    \
    {                                                                                              \
        value = TRP_BYTES_##ORDER##bits(value);                                                    \
        memcpy(out, &value, sizeof(value));                                                        \
    }

TRP_BYTES_DEFINE(le, LE, 16)
TRP_BYTES_DEFINE(le, LE, 32)
TRP_BYTES_DEFINE(le, LE, 64)
TRP_BYTES_DEFINE(be, BE, 16)
TRP_BYTES_DEFINE(be, BE, 32)
TRP_BYTES_DEFINE(be, BE, 64)

/* A varint holds 7 bits a byte, least first, with the top bit set on all but the last. */
#define TRP_VARINT_SIZE_MAX 10

/* Bytes that `value` takes as a varint. */
size_t trp_varint_size(uint64_t value);

/* Writes `value`; returns the bytes written, or 0 when `capacity` is too small. */
size_t trp_varint_put(uint8_t *out, size_t capacity, uint64_t value);

/* Reads a varint; returns the bytes consumed, or 0 when it is cut off, overflows 64 bits, or is
 * longer than it need be (one number has one encoding). */
size_t trp_varint_get(const uint8_t *data, size_t size, uint64_t *ret_value);

#endif
