/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The 64 x 64 -> 128 bit product, which hashing and unbiased random numbers share.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_BASE_BITS_H
#define TROUPE_BASE_BITS_H

#include <stdint.h>

/* Returns the low half of a * b; the high half goes to ret_high. */
static inline uint64_t trp_bits_multiply(uint64_t a, uint64_t b, uint64_t *ret_high)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 bits_u128_t;
    bits_u128_t product = (bits_u128_t)a * b;
    *ret_high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t cross = a_low * b_high + (uint32_t)middle;
    *ret_high = a_high * b_high + (middle >> 32) + (cross >> 32);
    return (cross << 32) | (uint32_t)low;
#endif
}

#endif
