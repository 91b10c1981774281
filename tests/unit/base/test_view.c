/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The bounded reader. */

#include "base/view.h"

#include "base/buf.h"
#include "base/random.h"
#include "support/check.h"

static void numbers_are_taken_little_endian(void)
{
    static const uint8_t bytes[] = {1, 2, 1, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1};
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    uint8_t u8 = 0;
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    CHECK_OK(trp_view_take_u8(&view, &u8));
    CHECK_OK(trp_view_take_u16(&view, &u16));
    CHECK_OK(trp_view_take_u32(&view, &u32));
    CHECK_OK(trp_view_take_u64(&view, &u64));
    CHECK_EQ_U64(u8, 1);
    CHECK_EQ_U64(u16, 0x0102);
    CHECK_EQ_U64(u32, 0x01020304);
    CHECK_EQ_U64(u64, UINT64_C(0x0102030405060708));
    CHECK(trp_view_is_empty(view));
}

static void a_failed_take_changes_nothing(void)
{
    static const uint8_t bytes[] = {0x85, 0x80, 0x80};
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    const uint8_t *data = NULL;
    uint32_t u32 = 77;
    uint64_t u64 = 77;
    trp_view_t part = trp_view_from_string("x");
    CHECK_ERR(trp_view_take(&view, 4, &data), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_view_take_u32(&view, &u32), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_view_take_u64(&view, &u64), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_view_take_varint(&view, &u64), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_view_take_block(&view, 100, &part), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_view_take_view(&view, 4, &part), TROUPE_EPROTOCOL);
    CHECK_NULL(data);
    CHECK_EQ_U64(u32, 77);
    CHECK_EQ_U64(u64, 77);
    CHECK_EQ_U64(part.size, 1);
    CHECK_EQ_U64(view.size, 3);
    CHECK_EQ_PTR(view.data, bytes);
}

static void a_block_is_bounded_by_the_reader(void)
{
    static const uint8_t bytes[] = {3, 'a', 'b', 'c', 2, 'd'};
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    trp_view_t block = {NULL, 0};
    CHECK_ERR(trp_view_take_block(&view, 2, &block), TROUPE_ETOOBIG);
    CHECK_EQ_U64(view.size, sizeof(bytes));
    CHECK_OK(trp_view_take_block(&view, 3, &block));
    CHECK(trp_view_equal_string(block, "abc"));
    CHECK_ERR(trp_view_take_block(&view, 3, &block), TROUPE_EPROTOCOL);
    CHECK_EQ_U64(view.size, 2);
}

static void a_block_of_absurd_size_is_refused(void)
{
    static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0};
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    trp_view_t block = {NULL, 0};
    CHECK_ERR(trp_view_take_block(&view, 1000, &block), TROUPE_ETOOBIG);
    CHECK_ERR(trp_view_take_block(&view, SIZE_MAX, &block), TROUPE_EPROTOCOL);
}

static void views_compare_by_content(void)
{
    CHECK(trp_view_equal(trp_view_from_string("ab"), trp_view_make("abc", 2)));
    CHECK(!trp_view_equal(trp_view_from_string("ab"), trp_view_from_string("ac")));
    CHECK(!trp_view_equal(trp_view_from_string("ab"), trp_view_from_string("a")));
    CHECK(trp_view_equal(trp_view_make(NULL, 0), trp_view_from_string("")));
    CHECK(!trp_view_equal_string(trp_view_make("a\0", 2), "a"));
}

static void what_a_buffer_writes_a_view_reads(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    trp_buf_t buf;
    trp_buf_init(&buf, 1 << 20);
    uint64_t values[100];
    for (size_t i = 0; i < TRP_ARRAY_LEN(values); i++) {
        values[i] = trp_random_next(&random) >> trp_random_below(&random, 64);
        CHECK_OK(trp_buf_append_varint(&buf, values[i]));
        CHECK_OK(trp_buf_append_block(&buf, &values[i], sizeof(values[i])));
        CHECK_OK(trp_buf_append_u32(&buf, (uint32_t)values[i]));
    }
    trp_view_t view = trp_buf_view(&buf);
    for (size_t i = 0; i < TRP_ARRAY_LEN(values); i++) {
        uint64_t value = 0;
        trp_view_t block = {NULL, 0};
        uint32_t low = 0;
        CHECK_OK(trp_view_take_varint(&view, &value));
        CHECK_OK(trp_view_take_block(&view, sizeof(values[i]), &block));
        CHECK_OK(trp_view_take_u32(&view, &low));
        CHECK_EQ_U64(value, values[i]);
        CHECK_EQ_BYTES(block.data, block.size, &values[i], sizeof(values[i]));
        CHECK_EQ_U64(low, (uint32_t)values[i]);
    }
    CHECK(trp_view_is_empty(view));
    trp_buf_fini(&buf);
}

static void misuse_is_noticed(void)
{
    uint64_t value = 0;
    trp_view_t block = {NULL, 0};
    CHECK_ABORTS((void)trp_view_take_varint(NULL, &value));
    CHECK_ABORTS((void)trp_view_take_block(NULL, 1, &block));
}

static const check_case_t cases[] = {
    CHECK_CASE(numbers_are_taken_little_endian),
    CHECK_CASE(a_failed_take_changes_nothing),
    CHECK_CASE(a_block_is_bounded_by_the_reader),
    CHECK_CASE(a_block_of_absurd_size_is_refused),
    CHECK_CASE(views_compare_by_content),
    CHECK_CASE(what_a_buffer_writes_a_view_reads),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.view", cases)
