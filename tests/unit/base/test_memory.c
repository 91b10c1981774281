/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The allocator's door and its failure switch; the clocks. */

#include "base/memory.h"

#include <string.h>

#include "base/clock.h"
#include "support/check.h"

static void blocks_are_as_asked_for(void)
{
    uint8_t *zeroed = trp_calloc(10, 10);
    REQUIRE_NOT_NULL(zeroed);
    for (size_t i = 0; i < 100; i++) {
        CHECK_EQ_U64(zeroed[i], 0);
    }
    memset(zeroed, 7, 100);
    uint8_t *grown = trp_realloc(zeroed, 1000);
    REQUIRE_NOT_NULL(grown);
    CHECK_EQ_U64(grown[99], 7);
    trp_free(grown);
    void *aligned = trp_alloc_aligned(TRP_CACHE_LINE, 100);
    REQUIRE_NOT_NULL(aligned);
    CHECK_EQ_U64((uintptr_t)aligned % TRP_CACHE_LINE, 0);
    trp_free(aligned);
    trp_free(NULL);
}

static void nothing_is_a_block_too(void)
{
    void *none = trp_alloc(0);
    void *no_elements = trp_calloc(0, 8);
    void *moved = trp_realloc(NULL, 0);
    CHECK_NOT_NULL(none);
    CHECK_NOT_NULL(no_elements);
    CHECK_NOT_NULL(moved);
    trp_free(none);
    trp_free(no_elements);
    trp_free(moved);
}

static void an_overflowing_product_is_refused(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    CHECK_NULL(trp_calloc(huge, 4));
    CHECK_NULL(trp_alloc(huge + huge / 2));
}

static void strings_are_copied(void)
{
    char *part = trp_strndup("abcdef", 3);
    char *all = trp_strndup("ab", 10);
    char *same = trp_strdup("xyz");
    uint8_t *bytes = trp_memdup("\0\1", 2);
    CHECK_EQ_STR(part, "abc");
    CHECK_EQ_STR(all, "ab");
    CHECK_EQ_STR(same, "xyz");
    CHECK_EQ_BYTES(bytes, 2, "\0\1", 2);
    trp_free(part);
    trp_free(all);
    trp_free(same);
    trp_free(bytes);
}

static void leave_scope(char **ret_seen)
{
    TRP_CLEANUP(trp_free_p) char *text = trp_strdup("gone");
    *ret_seen = text;
}

static void cleanup_frees(void)
{
    int64_t live = trp_memory_live();
    char *seen = NULL;
    leave_scope(&seen);
    CHECK_NOT_NULL(seen);
    CHECK_EQ_I64(trp_memory_live(), live);
    char *text = trp_strdup("x");
    trp_free_p(&text);
    CHECK_NULL(text);
    trp_free_p(&text);
}

static void the_switch_fails_once_or_for_good(void)
{
    void *block = NULL;
    trp_memory_fail_once(1);
    block = trp_alloc(1);
    CHECK_NOT_NULL(block);
    CHECK_NULL(trp_alloc(1));
    trp_free(block);
    block = trp_calloc(1, 1);
    CHECK_NOT_NULL(block);
    CHECK_EQ_U64(trp_memory_fail_off(), 1);
    trp_memory_fail_after(0);
    CHECK_NULL(trp_alloc(1));
    CHECK_NULL(trp_calloc(1, 1));
    CHECK_NULL(trp_realloc(block, 100));
    CHECK_NULL(trp_alloc_aligned(16, 16));
    CHECK_NULL(trp_strdup("x"));
    CHECK_NULL(trp_strndup("x", 1));
    CHECK_NULL(trp_memdup("x", 1));
    CHECK_EQ_U64(trp_memory_fail_off(), 7);
    trp_free(block);
}

static void allocations_are_counted(void)
{
    uint64_t allocs = trp_memory_allocs();
    int64_t live = trp_memory_live();
    void *block = trp_alloc(1);
    block = trp_realloc(block, 100);
    CHECK_EQ_U64(trp_memory_allocs() - allocs, 2);
    CHECK_EQ_I64(trp_memory_live() - live, 1);
    trp_free(block);
    CHECK_EQ_I64(trp_memory_live() - live, 0);
}

static void the_clock_goes_forward(void)
{
    uint64_t before = trp_clock_now();
    uint64_t after = trp_clock_now();
    CHECK_LE_U64(before, after);
    CHECK_GT_U64(trp_clock_wall_ms(), UINT64_C(1600000000000));
    CHECK_EQ_U64(trp_clock_add(1, 2), 3);
    CHECK_EQ_U64(trp_clock_add(UINT64_MAX - 1, 2), TRP_CLOCK_NEVER);
    CHECK_EQ_U64(trp_clock_from_ms(3), 3000000);
    CHECK_EQ_U64(trp_clock_from_ms(UINT64_MAX), TRP_CLOCK_NEVER);
}

static void misuse_is_noticed(void)
{
    CHECK_ABORTS((void)!trp_alloc_aligned(24, 1));
    CHECK_ABORTS((void)!trp_alloc_aligned(1, 1));
    CHECK_ABORTS((void)!trp_strdup(NULL));
    CHECK_ABORTS((void)!trp_strndup(NULL, 1));
}

static const check_case_t cases[] = {
    CHECK_CASE(blocks_are_as_asked_for),
    CHECK_CASE(nothing_is_a_block_too),
    CHECK_CASE(an_overflowing_product_is_refused),
    CHECK_CASE(strings_are_copied),
    CHECK_CASE(cleanup_frees),
    CHECK_CASE(the_switch_fails_once_or_for_good),
    CHECK_CASE(allocations_are_counted),
    CHECK_CASE(the_clock_goes_forward),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.memory", cases)
