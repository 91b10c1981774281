/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The seeded generator's slower parts, and the kernel's generator. */

#include "base/random.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/assert.h"
#include "base/bits.h"

/* One step of splitmix64: what xoshiro's authors recommend for filling its state from one number. */
static uint64_t random_split(uint64_t *counter)
{
    *counter += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *counter;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void trp_random_seed(trp_random_t *random, uint64_t seed)
{
    TRP_ASSERT(random != NULL);
    for (size_t i = 0; i < 4; i++) {
        random->state[i] = random_split(&seed);
    }
}

/* The high half of next * bound is nearly uniform; the few low halves that would favour some results
 * are thrown away (at most bound / 2^64 of all). */
uint64_t trp_random_below(trp_random_t *random, uint64_t bound)
{
    TRP_ASSERT(bound > 0);
    uint64_t result = 0;
    uint64_t low = trp_bits_multiply(trp_random_next(random), bound, &result);
    if (low < bound) {
        uint64_t threshold = (0 - bound) % bound;
        while (low < threshold) {
            low = trp_bits_multiply(trp_random_next(random), bound, &result);
        }
    }
    return result;
}

static void random_swap(uint8_t *a, uint8_t *b, size_t size)
{
    uint8_t held[TRP_RANDOM_SHUFFLE_SIZE_MAX];
    memcpy(held, a, size);
    memcpy(a, b, size);
    memcpy(b, held, size);
}

void trp_random_shuffle(trp_random_t *random, void *array, size_t len, size_t size)
{
    TRP_ASSERT(size > 0 && size <= TRP_RANDOM_SHUFFLE_SIZE_MAX);
    uint8_t *bytes = array;
    for (size_t left = len; left > 1; left--) {
        size_t chosen = (size_t)trp_random_below(random, left);
        if (chosen != left - 1) {
            random_swap(bytes + chosen * size, bytes + (left - 1) * size, size);
        }
    }
}

troupe_err_t trp_random_system(void *out, size_t size)
{
    TRP_ASSERT(out != NULL || size == 0);
    uint8_t *bytes = out;
    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return TROUPE_ESYSTEM;
        }
        bytes += got;
        size -= (size_t)got;
    }
    return TROUPE_OK;
}
