/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The growing buffer. */

#include "base/buf.h"

#include <string.h>

#include "base/memory.h"
#include "support/check.h"

static void a_new_buffer_has_no_memory(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 10);
    CHECK_NULL(buf.data);
    CHECK_OK(trp_buf_append(&buf, NULL, 0));
    CHECK_OK(trp_buf_reserve(&buf, 0));
    CHECK_NULL(buf.data);
    trp_buf_fini(&buf);
    trp_buf_fini(&buf);
}

static void bytes_are_kept_while_it_grows(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 100000);
    for (unsigned i = 0; i < 10000; i++) {
        REQUIRE_OK(trp_buf_append_u32(&buf, i));
    }
    trp_view_t view = trp_buf_view(&buf);
    for (unsigned i = 0; i < 10000; i++) {
        uint32_t value = 0;
        CHECK_OK(trp_view_take_u32(&view, &value));
        CHECK_EQ_U64(value, i);
    }
    trp_buf_fini(&buf);
}

static void the_limit_holds_to_the_byte(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 100);
    char bytes[101] = {0};
    CHECK_ERR(trp_buf_append(&buf, bytes, 101), TROUPE_ETOOBIG);
    CHECK_OK(trp_buf_append(&buf, bytes, 65));
    CHECK_ERR(trp_buf_append(&buf, bytes, 36), TROUPE_ETOOBIG);
    CHECK_OK(trp_buf_append(&buf, bytes, 35));
    CHECK_EQ_U64(buf.size, 100);
    CHECK_LE_U64(buf.capacity, 100);
    CHECK_ERR(trp_buf_append_u8(&buf, 1), TROUPE_ETOOBIG);
    CHECK_ERR(trp_buf_reserve(&buf, SIZE_MAX), TROUPE_ETOOBIG);
    CHECK_EQ_U64(buf.size, 100);
    trp_buf_fini(&buf);
}

static void a_block_that_does_not_fit_leaves_nothing(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 4);
    CHECK_ERR(trp_buf_append_block(&buf, "abcd", 4), TROUPE_ETOOBIG);
    CHECK_EQ_U64(buf.size, 0);
    CHECK_OK(trp_buf_append_block(&buf, "abc", 3));
    CHECK_EQ_BYTES(buf.data, buf.size,
                   "\x03"
                   "abc",
                   4);
    trp_buf_fini(&buf);
}

static void text_is_formatted_into_it(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 1000);
    CHECK_OK(trp_buf_append_string(&buf, "a="));
    CHECK_OK(trp_buf_append_format(&buf, "%d,%s", 12, "x"));
    CHECK_OK(trp_buf_append_format(&buf, "%0200d", 7));
    CHECK_EQ_U64(buf.size, 6 + 200);
    CHECK_EQ_BYTES(buf.data, 6, "a=12,x", 6);
    CHECK_ERR(trp_buf_append_format(&buf, "%01000d", 7), TROUPE_ETOOBIG);
    CHECK_EQ_U64(buf.size, 6 + 200);
    trp_buf_fini(&buf);
}

static void the_front_is_consumed(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 100);
    CHECK_OK(trp_buf_append_string(&buf, "abcdef"));
    trp_buf_consume(&buf, 0);
    trp_buf_consume(&buf, 2);
    CHECK_EQ_BYTES(buf.data, buf.size, "cdef", 4);
    trp_buf_consume(&buf, 4);
    CHECK_EQ_U64(buf.size, 0);
    trp_buf_fini(&buf);
}

static void the_bytes_are_given_away(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 100);
    CHECK_OK(trp_buf_append_u16(&buf, 0x0201));
    CHECK_OK(trp_buf_append_u64(&buf, 3));
    size_t size = 0;
    uint8_t *data = trp_buf_take(&buf, &size);
    CHECK_EQ_BYTES(data, size, "\x01\x02\x03\0\0\0\0\0\0\0", 10);
    CHECK_NULL(buf.data);
    CHECK_EQ_U64(buf.limit, 100);
    trp_free(data);
    CHECK_NULL(trp_buf_take(&buf, &size));
    CHECK_EQ_U64(size, 0);
}

static void clearing_keeps_the_memory(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 100);
    CHECK_OK(trp_buf_append_u8(&buf, 1));
    const uint8_t *before = buf.data;
    trp_buf_clear(&buf);
    CHECK_OK(trp_buf_append_u8(&buf, 2));
    CHECK_EQ_PTR(buf.data, before);
    trp_buf_fini(&buf);
}

static troupe_err_t write_much(void *user)
{
    (void)user;
    trp_buf_t buf;
    trp_buf_init(&buf, 10000);
    troupe_err_t err = TROUPE_OK;
    for (int i = 0; i < 500 && err == TROUPE_OK; i++) {
        err = trp_buf_append_format(&buf, "%d ", i);
    }
    trp_buf_fini(&buf);
    return err;
}

static void every_allocation_may_fail(void)
{
    CHECK_ALLOCATIONS(write_much, NULL);
}

static void misuse_is_noticed(void)
{
    trp_buf_t buf;
    CHECK_ABORTS(trp_buf_init(&buf, 0));
    trp_buf_init(&buf, 10);
    CHECK_ABORTS(trp_buf_consume(&buf, 1));
    CHECK_ABORTS((void)trp_buf_append(&buf, NULL, 1));
}

static const check_case_t cases[] = {
    CHECK_CASE(a_new_buffer_has_no_memory),  CHECK_CASE(bytes_are_kept_while_it_grows),
    CHECK_CASE(the_limit_holds_to_the_byte), CHECK_CASE(a_block_that_does_not_fit_leaves_nothing),
    CHECK_CASE(text_is_formatted_into_it),   CHECK_CASE(the_front_is_consumed),
    CHECK_CASE(the_bytes_are_given_away),    CHECK_CASE(clearing_keeps_the_memory),
    CHECK_CASE(every_allocation_may_fail),   CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.buf", cases)
