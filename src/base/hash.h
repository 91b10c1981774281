/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Hashing for tables. Keyed: with a seed that peers don't know, they can't choose names that collide.
 * It is no message authentication; where an attacker sees hashes, use a cryptographic one. The value
 * is the same on every machine for the same seed and bytes, so it may be compared between nodes.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_BASE_HASH_H
#define TROUPE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t trp_hash_bytes(const void *data, size_t size, uint64_t seed);

/* Spreads a number over all 64 bits; a bijection. Not keyed. */
static inline uint64_t trp_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xe9846af9b1a615d5);
    x ^= x >> 32;
    x *= UINT64_C(0xe9846af9b1a615d5);
    x ^= x >> 28;
    return x;
}

#endif
