/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A hash of the multiply-and-fold kind: 128-bit products folded to 64 bits. Both factors of every
 * product carry a secret made of the seed; where only one does, bytes can be chosen that make the
 * other factor zero and so collide under every seed. */

#include "base/hash.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/bytes.h"

/* Digits of pi, odd: nothing up the sleeve. */
#define HASH_K0 UINT64_C(0x243f6a8885a308d3)
#define HASH_K1 UINT64_C(0x13198a2e03707345)
#define HASH_K2 UINT64_C(0xa4093822299f31d1)
#define HASH_K3 UINT64_C(0x082efa98ec4e6c89)

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    uint64_t high = 0;
    uint64_t low = trp_bits_multiply(a, b, &high);
    return low ^ high;
}

/* Up to 16 bytes as two words in which every byte counts; they overlap where there are fewer. */
static inline void hash_load_tail(const uint8_t *data, size_t size, uint64_t *ret_a,
                                  uint64_t *ret_b)
{
    if (size >= 8) {
        *ret_a = trp_load_le64(data);
        *ret_b = trp_load_le64(data + size - 8);
    } else if (size >= 4) {
        *ret_a = trp_load_le32(data);
        *ret_b = trp_load_le32(data + size - 4);
    } else if (size > 0) {
        *ret_a = data[0] | (uint64_t)data[size / 2] << 8 | (uint64_t)data[size - 1] << 16;
        *ret_b = 0;
    } else {
        *ret_a = 0;
        *ret_b = 0;
    }
}

uint64_t trp_hash_bytes(const void *data, size_t size, uint64_t seed)
{
    TRP_ASSERT_DEBUG(data != NULL || size == 0);
    const uint8_t *at = data;
    size_t left = size;
    uint64_t secret = hash_fold(seed ^ HASH_K0, HASH_K1);
    uint64_t state = hash_fold(seed ^ HASH_K2, HASH_K3) ^ size;
    while (left > 16) {
        state = hash_fold(trp_load_le64(at) ^ secret, trp_load_le64(at + 8) ^ state);
        at += 16;
        left -= 16;
    }
    uint64_t a = 0;
    uint64_t b = 0;
    hash_load_tail(at, left, &a, &b);
    state = hash_fold(a ^ secret ^ HASH_K1, b ^ state);
    return hash_fold(state ^ HASH_K0, secret ^ HASH_K3);
}
