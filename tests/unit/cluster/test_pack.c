/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* MessagePack in bounded memory. */

#include <string.h>

#include "base/random.h"
#include "cluster/pack.h"
#include "support/check.h"

static void numbers_come_back(void)
{
    static const uint64_t numbers[] = {
        0, 1, 127, 128, 255, 256, 65535, 65536, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    uint8_t bytes[128];
    trp_pack_t pack;
    trp_pack_init(&pack, bytes, sizeof(bytes));
    for (size_t i = 0; i < TRP_ARRAY_LEN(numbers); i++) {
        trp_pack_u64(&pack, numbers[i]);
    }
    REQUIRE(!pack.overflow);
    trp_view_t view = trp_view_make(bytes, pack.size);
    for (size_t i = 0; i < TRP_ARRAY_LEN(numbers); i++) {
        uint64_t number = 77;
        CHECK_OK(trp_pack_read_u64(&view, &number));
        CHECK_EQ_U64(number, numbers[i]);
    }
    CHECK_EQ_U64(view.size, 0);
    uint64_t number = 0;
    CHECK_ERR(trp_pack_read_u64(&view, &number), TROUPE_EPROTOCOL);
}

static void texts_of_every_size_come_back(void)
{
    static const size_t sizes[] = {0, 1, 31, 32, 255, 256, 1000};
    uint8_t bytes[2048];
    char text[1000];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < TRP_ARRAY_LEN(sizes); i++) {
        trp_pack_t pack;
        trp_view_t read = {0};
        trp_pack_init(&pack, bytes, sizeof(bytes));
        trp_pack_text(&pack, trp_view_make(text, sizes[i]));
        trp_view_t view = trp_view_make(bytes, pack.size);
        CHECK_OK(trp_pack_read_text(&view, &read));
        CHECK_EQ_BYTES(read.data, read.size, text, sizes[i]);
        for (size_t cut = 0; cut < pack.size; cut++) {
            view = trp_view_make(bytes, cut);
            CHECK_ERR(trp_pack_read_text(&view, &read), TROUPE_EPROTOCOL);
            CHECK_EQ_U64(view.size, cut);
        }
    }
}

static void what_does_not_fit_sets_overflow(void)
{
    uint8_t bytes[4];
    trp_pack_t pack;
    trp_pack_init(&pack, bytes, sizeof(bytes));
    trp_pack_u64(&pack, 1);
    trp_pack_u64(&pack, UINT64_MAX);
    CHECK(pack.overflow);
    trp_pack_u64(&pack, 1);
    CHECK(pack.overflow);
    CHECK_LE_U64(pack.size, sizeof(bytes));
}

static void an_array_longer_than_its_bytes_is_refused(void)
{
    static const uint8_t huge[] = {0xdd, 0xff, 0xff, 0xff, 0xff, 0x01};
    trp_view_t view = trp_view_make(huge, sizeof(huge));
    size_t len = 0;
    CHECK_ERR(trp_pack_read_array(&view, &len), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_pack_read_skip(&view), TROUPE_EPROTOCOL);
    CHECK_EQ_U64(view.size, sizeof(huge));
}

static void a_number_above_32_bits_is_no_u32(void)
{
    uint8_t bytes[16];
    uint32_t number = 0;
    trp_pack_t pack;
    trp_pack_init(&pack, bytes, sizeof(bytes));
    trp_pack_u64(&pack, UINT64_C(1) << 32);
    trp_view_t view = trp_view_make(bytes, pack.size);
    CHECK_ERR(trp_pack_read_u32(&view, &number), TROUPE_EPROTOCOL);
    CHECK_EQ_U64(view.size, pack.size);
}

static void every_kind_of_value_is_skipped(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } values[] = {
        {"\x05", 1},
        {"\xe0", 1},
        {"\xc0", 1},
        {"\xc2", 1},
        {"\xc3", 1},
        {"\xcc\x01", 2},
        {"\xcd\x01\x02", 3},
        {"\xcf\x01\x02\x03\x04\x05\x06\x07\x08", 9},
        {"\xd0\x01", 2},
        {"\xd3\x01\x02\x03\x04\x05\x06\x07\x08", 9},
        {"\xca\x01\x02\x03\x04", 5},
        {"\xcb\x01\x02\x03\x04\x05\x06\x07\x08", 9},
        {"\xa3"
         "abc",
         4},
        {"\xd9\x01x", 3},
        {"\xc4\x02zz", 4},
        {"\xc7\x01\x05q", 4},
        {"\xd4\x05q", 3},
        {"\xd8\x05"
         "0123456789abcdef",
         18},
        {"\x92\x01\x91\x02", 4},
        {"\x81\x01\x93\x01\x02\x03", 6},
        {"\xdc\x00\x02\x01\x02", 5},
        {"\xde\x00\x01\x01\x02", 5},
        {"\x90", 1},
    };
    for (size_t i = 0; i < TRP_ARRAY_LEN(values); i++) {
        trp_view_t view = trp_view_make(values[i].bytes, values[i].size);
        if (!CHECK_OK(trp_pack_read_skip(&view)) || !CHECK_EQ_U64(view.size, 0)) {
            CHECK_FAIL("value %zu", i);
        }
        for (size_t cut = 0; cut < values[i].size; cut++) {
            view = trp_view_make(values[i].bytes, cut);
            CHECK_ERR(trp_pack_read_skip(&view), TROUPE_EPROTOCOL);
        }
    }
    trp_view_t unused = trp_view_make("\xc1", 1);
    CHECK_ERR(trp_pack_read_skip(&unused), TROUPE_EPROTOCOL);
}

static void deep_nesting_is_refused(void)
{
    uint8_t bytes[64];
    memset(bytes, 0x91, sizeof(bytes));
    bytes[sizeof(bytes) - 1] = 0;
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    CHECK_ERR(trp_pack_read_skip(&view), TROUPE_EPROTOCOL);
    view = trp_view_make(bytes + sizeof(bytes) - 5, 5);
    CHECK_OK(trp_pack_read_skip(&view));
}

static void random_bytes_do_no_harm(void)
{
    trp_random_t random;
    uint8_t bytes[64];
    trp_random_seed(&random, check_seed());
    for (uint64_t i = 0; i < check_count(100000, 5000000); i++) {
        size_t size = trp_random_below(&random, sizeof(bytes));
        for (size_t b = 0; b < size; b++) {
            bytes[b] = (uint8_t)trp_random_next(&random);
        }
        trp_view_t view = trp_view_make(bytes, size);
        while (trp_pack_read_skip(&view) == TROUPE_OK) {
        }
        CHECK_LE_U64(view.size, size);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(numbers_come_back),
    CHECK_CASE(texts_of_every_size_come_back),
    CHECK_CASE(what_does_not_fit_sets_overflow),
    CHECK_CASE(an_array_longer_than_its_bytes_is_refused),
    CHECK_CASE(a_number_above_32_bits_is_no_u32),
    CHECK_CASE(every_kind_of_value_is_skipped),
    CHECK_CASE(deep_nesting_is_refused),
    CHECK_CASE(random_bytes_do_no_harm),
};

CHECK_MAIN("cluster.pack", cases)
