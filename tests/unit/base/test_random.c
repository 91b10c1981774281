/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Random numbers and back-off. */

#include "base/random.h"

#include <string.h>

#include "base/backoff.h"
#include "base/bits.h"
#include "support/check.h"

static void a_seed_repeats_its_numbers(void)
{
    trp_random_t a;
    trp_random_t b;
    trp_random_seed(&a, 42);
    trp_random_seed(&b, 42);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ_U64(trp_random_next(&a), trp_random_next(&b));
    }
    trp_random_seed(&b, 43);
    CHECK_NE_U64(trp_random_next(&a), trp_random_next(&b));
}

static void it_is_the_published_generator(void)
{
    trp_random_t random = {{1, 2, 3, 4}};
    static const uint64_t published[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    for (size_t i = 0; i < TRP_ARRAY_LEN(published); i++) {
        CHECK_EQ_U64(trp_random_next(&random), published[i]);
    }
}

static void numbers_below_a_bound_are_even(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    uint64_t counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t number = trp_random_below(&random, 7);
        REQUIRE(number < 7);
        counts[number]++;
    }
    for (size_t i = 0; i < 7; i++) {
        CHECK_NEAR((double)counts[i], 10000.0, 600.0);
    }
    CHECK_EQ_U64(trp_random_below(&random, 1), 0);
    for (int i = 0; i < 1000; i++) {
        /* Half of all draws lie in the part that must be thrown away. */
        CHECK_LT_U64(trp_random_below(&random, (UINT64_C(1) << 63) + 1), (UINT64_C(1) << 63) + 1);
    }
}

static void units_lie_between_0_and_1(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double unit = trp_random_unit(&random);
        CHECK(unit >= 0.0 && unit < 1.0);
        sum += unit;
    }
    CHECK_NEAR(sum / 10000, 0.5, 0.02);
}

static void a_shuffle_keeps_the_elements(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    uint16_t array[100];
    for (uint16_t i = 0; i < 100; i++) {
        array[i] = i;
    }
    trp_random_shuffle(&random, array, 100, sizeof(array[0]));
    bool seen[100] = {false};
    unsigned in_place = 0;
    for (uint16_t i = 0; i < 100; i++) {
        REQUIRE(array[i] < 100 && !seen[array[i]]);
        seen[array[i]] = true;
        in_place += array[i] == i;
    }
    CHECK_LT_U64(in_place, 20);
    trp_random_shuffle(&random, array, 0, sizeof(array[0]));
}

static void the_system_gives_random_bytes(void)
{
    uint8_t a[1000] = {0};
    uint8_t b[1000] = {0};
    CHECK_OK(trp_random_system(a, sizeof(a)));
    CHECK_OK(trp_random_system(b, sizeof(b)));
    CHECK(memcmp(a, b, sizeof(a)) != 0);
    CHECK_OK(trp_random_system(NULL, 0));
}

static void products_have_128_bits(void)
{
    uint64_t high = 0;
    CHECK_EQ_U64(trp_bits_multiply(UINT64_MAX, UINT64_MAX, &high), 1);
    CHECK_EQ_U64(high, UINT64_MAX - 1);
    CHECK_EQ_U64(trp_bits_multiply(UINT64_C(1) << 32, UINT64_C(1) << 32, &high), 0);
    CHECK_EQ_U64(high, 1);
}

static void backoff_doubles_up_to_its_maximum(void)
{
    trp_random_t random;
    trp_random_seed(&random, 1);
    trp_backoff_t backoff;
    trp_backoff_init(&backoff, 10, 75, 0.0);
    static const uint64_t expected[] = {10, 20, 40, 75, 75};
    for (size_t i = 0; i < TRP_ARRAY_LEN(expected); i++) {
        CHECK_EQ_U64(trp_backoff_next(&backoff, &random), expected[i]);
    }
    trp_backoff_reset(&backoff);
    CHECK_EQ_U64(trp_backoff_next(&backoff, &random), 10);
}

static void backoff_never_overflows(void)
{
    trp_random_t random;
    trp_random_seed(&random, 1);
    trp_backoff_t backoff;
    trp_backoff_init(&backoff, 3, UINT64_MAX / 2, 0.5);
    for (int i = 0; i < 200; i++) {
        uint64_t delay = trp_backoff_next(&backoff, &random);
        CHECK_GE_U64(delay, 1);
        CHECK_LE_U64(delay, UINT64_MAX / 2);
    }
    backoff.attempts = UINT32_MAX;
    CHECK_GE_U64(trp_backoff_next(&backoff, &random), UINT64_MAX / 4 - 1);
    CHECK_EQ_U64(backoff.attempts, UINT32_MAX);
}

static void backoff_is_spread_by_jitter(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (int i = 0; i < 1000; i++) {
        trp_backoff_t backoff;
        trp_backoff_init(&backoff, 1000000, 2000000, 0.5);
        uint64_t delay = trp_backoff_next(&backoff, &random);
        least = delay < least ? delay : least;
        most = delay > most ? delay : most;
    }
    CHECK_GE_U64(least, 500000);
    CHECK_LT_U64(least, 520000);
    CHECK_LE_U64(most, 1000000);
    CHECK_GT_U64(most, 980000);
}

static void misuse_is_noticed(void)
{
    trp_random_t random;
    trp_random_seed(&random, 1);
    trp_backoff_t backoff;
    char array[2] = {0};
    CHECK_ABORTS((void)trp_random_below(&random, 0));
    CHECK_ABORTS(trp_random_shuffle(&random, array, 2, 0));
    CHECK_ABORTS(trp_backoff_init(&backoff, 0, 1, 0.0));
    CHECK_ABORTS(trp_backoff_init(&backoff, 2, 1, 0.0));
    CHECK_ABORTS(trp_backoff_init(&backoff, 1, 2, 1.5));
}

static const check_case_t cases[] = {
    CHECK_CASE(a_seed_repeats_its_numbers),
    CHECK_CASE(it_is_the_published_generator),
    CHECK_CASE(numbers_below_a_bound_are_even),
    CHECK_CASE(units_lie_between_0_and_1),
    CHECK_CASE(a_shuffle_keeps_the_elements),
    CHECK_CASE(the_system_gives_random_bytes),
    CHECK_CASE(products_have_128_bits),
    CHECK_CASE(backoff_doubles_up_to_its_maximum),
    CHECK_CASE(backoff_never_overflows),
    CHECK_CASE(backoff_is_spread_by_jitter),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.random", cases)
