/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The hash: its values are the same everywhere, and spread well. */

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/random.h"
#include "support/check.h"

static unsigned bits_differing(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_popcountll(a ^ b);
}

static void a_changed_bit_changes_half_of_the_hash(void)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100};
    uint8_t bytes[100];
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    for (size_t s = 0; s < TRP_ARRAY_LEN(sizes); s++) {
        uint64_t sum = 0;
        unsigned least = 64;
        unsigned len = 0;
        for (size_t bit = 0; bit < sizes[s] * 8; bit++) {
            for (size_t i = 0; i < sizes[s]; i++) {
                bytes[i] = (uint8_t)trp_random_next(&random);
            }
            uint64_t before = trp_hash_bytes(bytes, sizes[s], 1);
            bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            unsigned changed = bits_differing(before, trp_hash_bytes(bytes, sizes[s], 1));
            sum += changed;
            least = changed < least ? changed : least;
            len++;
        }
        CHECK_NEAR((double)sum / len, 32.0, 8.0);
        CHECK_GE_U64(least, 8);
    }
}

static void size_seed_and_every_byte_count(void)
{
    char zeroes[64] = {0};
    for (size_t size = 0; size < sizeof(zeroes); size++) {
        CHECK_NE_U64(trp_hash_bytes(zeroes, size, 7), trp_hash_bytes(zeroes, size + 1, 7));
        CHECK_NE_U64(trp_hash_bytes(zeroes, size, 7), trp_hash_bytes(zeroes, size, 8));
    }
    CHECK_EQ_U64(trp_hash_bytes(NULL, 0, 7), trp_hash_bytes(zeroes, 0, 7));
}

/* No alignment, no byte past the end. */
static void the_place_of_the_bytes_does_not_count(void)
{
    uint8_t bytes[80];
    for (size_t size = 0; size < 40; size++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            bytes[i] = (uint8_t)(i * 7);
        }
        uint64_t hash = trp_hash_bytes(bytes, size, 3);
        memmove(bytes + 3, bytes, size);
        memset(bytes + 3 + size, 0xee, 20);
        CHECK_EQ_U64(trp_hash_bytes(bytes + 3, size, 3), hash);
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t left;
    uint32_t right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return (left > right) - (left < right);
}

/* 100,000 names in 2^32 values: 1.2 collisions are to be expected. */
static void names_in_a_row_hardly_collide(void)
{
    enum { NAMES = 100000 };
    uint32_t *hashes = malloc(NAMES * sizeof(*hashes));
    REQUIRE_NOT_NULL(hashes);
    for (unsigned i = 0; i < NAMES; i++) {
        char name[32];
        int size = snprintf(name, sizeof(name), "topic/%u", i);
        hashes[i] = (uint32_t)trp_hash_bytes(name, (size_t)size, 99);
    }
    qsort(hashes, NAMES, sizeof(*hashes), compare_u32);
    unsigned collisions = 0;
    for (unsigned i = 1; i < NAMES; i++) {
        collisions += hashes[i] == hashes[i - 1];
    }
    CHECK_LE_U64(collisions, 10);
    free(hashes);
}

/* Were one factor of a product free of the seed, these inputs would all collide. */
static void inputs_against_known_constants_do_not_collide(void)
{
    static const uint64_t constants[] = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707345),
                                         UINT64_C(0xa4093822299f31d1), UINT64_C(0x082efa98ec4e6c89),
                                         0};
    for (size_t c = 0; c < TRP_ARRAY_LEN(constants); c++) {
        uint8_t bytes[32] = {0};
        trp_store_le64(bytes, constants[c]);
        trp_store_le64(bytes + 16, constants[c]);
        uint64_t first = trp_hash_bytes(bytes, 16, 12345);
        uint64_t first_long = trp_hash_bytes(bytes, 32, 12345);
        for (uint8_t i = 1; i < 100; i++) {
            bytes[8] = i;
            CHECK_NE_U64(trp_hash_bytes(bytes, 16, 12345), first);
            CHECK_NE_U64(trp_hash_bytes(bytes, 32, 12345), first_long);
        }
    }
}

/* Recorded: nodes of different machines compare hashes. */
static void the_values_are_the_same_everywhere(void)
{
    CHECK_EQ_U64(trp_hash_bytes("", 0, 0), UINT64_C(0xc31df9f51b91bc36));
    CHECK_EQ_U64(trp_hash_bytes("topic", 5, 1), UINT64_C(0xb57662d0bc46901d));
    CHECK_EQ_U64(trp_hash_bytes("a name of more than sixteen bytes", 33, 2),
                 UINT64_C(0x8edcfc62d5acda13));
    CHECK_EQ_U64(trp_hash_u64(1), UINT64_C(0x8c785fc1cc2f970c));
}

static void numbers_are_spread(void)
{
    CHECK_EQ_U64(trp_hash_u64(0), 0);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_NE_U64(trp_hash_u64(i) & 0xffff, trp_hash_u64(i + 1) & 0xffff);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(a_changed_bit_changes_half_of_the_hash),
    CHECK_CASE(size_seed_and_every_byte_count),
    CHECK_CASE(the_place_of_the_bytes_does_not_count),
    CHECK_CASE(names_in_a_row_hardly_collide),
    CHECK_CASE(inputs_against_known_constants_do_not_collide),
    CHECK_CASE(the_values_are_the_same_everywhere),
    CHECK_CASE(numbers_are_spread),
};

CHECK_MAIN("base.hash", cases)
