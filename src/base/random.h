/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Randomness: a seeded generator (xoshiro256**) for choices that a simulator must be able to repeat,
 * and the system's generator for uids and seeds. The seeded one is not for secrets.
 *
 * Thread rule: a trp_random_t belongs to its thread; trp_random_system may be called on any. */

#ifndef TROUPE_BASE_RANDOM_H
#define TROUPE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

typedef struct trp_random {
    uint64_t state[4]; /* Never all zero. */
} trp_random_t;

/* Any seed is good, 0 too: it is spread over the state first. */
void trp_random_seed(trp_random_t *random, uint64_t seed);

static inline uint64_t trp_random_rotl(uint64_t value, unsigned bits)
{
    return (value << bits) | (value >> (64 - bits));
}

/* The next 64 random bits. */
static inline uint64_t trp_random_next(trp_random_t *random)
{
    uint64_t *s = random->state;
    uint64_t result = trp_random_rotl(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = trp_random_rotl(s[3], 45);
    return result;
}

/* A number in [0, bound), without bias; bound must not be 0. */
uint64_t trp_random_below(trp_random_t *random, uint64_t bound);

/* A number in [0, 1), of 53 bits. */
static inline double trp_random_unit(trp_random_t *random)
{
    return (double)(trp_random_next(random) >> 11) * 0x1.0p-53;
}

/* Puts `len` elements of `size` bytes (at most TRP_RANDOM_SHUFFLE_SIZE_MAX) into random order. */
#define TRP_RANDOM_SHUFFLE_SIZE_MAX 256
void trp_random_shuffle(trp_random_t *random, void *array, size_t len, size_t size);

/* Fills `out` from the kernel's generator. TROUPE_ESYSTEM when it fails. */
troupe_err_t trp_random_system(void *out, size_t size);

#endif
