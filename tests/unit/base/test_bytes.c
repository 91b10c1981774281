/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Loads, stores and varints. */

#include "base/bytes.h"

#include "base/random.h"
#include "support/check.h"

static void numbers_have_one_byte_order(void)
{
    uint8_t bytes[9] = {0};
    trp_store_le16(bytes + 1, 0x0102);
    CHECK_EQ_BYTES(bytes + 1, 2, "\x02\x01", 2);
    trp_store_be16(bytes + 1, 0x0102);
    CHECK_EQ_BYTES(bytes + 1, 2, "\x01\x02", 2);
    trp_store_le32(bytes + 1, 0x01020304);
    CHECK_EQ_BYTES(bytes + 1, 4, "\x04\x03\x02\x01", 4);
    trp_store_be32(bytes + 1, 0x01020304);
    CHECK_EQ_BYTES(bytes + 1, 4, "\x01\x02\x03\x04", 4);
    trp_store_le64(bytes + 1, UINT64_C(0x0102030405060708));
    CHECK_EQ_BYTES(bytes + 1, 8, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    trp_store_be64(bytes + 1, UINT64_C(0x0102030405060708));
    CHECK_EQ_BYTES(bytes + 1, 8, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
}

static void what_is_stored_is_loaded(void)
{
    uint8_t bytes[9];
    trp_store_le16(bytes + 1, 0xfedc);
    CHECK_EQ_U64(trp_load_le16(bytes + 1), 0xfedc);
    trp_store_be16(bytes + 1, 0xfedc);
    CHECK_EQ_U64(trp_load_be16(bytes + 1), 0xfedc);
    trp_store_le32(bytes + 1, 0xfedcba98);
    CHECK_EQ_U64(trp_load_le32(bytes + 1), 0xfedcba98);
    trp_store_be32(bytes + 1, 0xfedcba98);
    CHECK_EQ_U64(trp_load_be32(bytes + 1), 0xfedcba98);
    trp_store_le64(bytes + 1, UINT64_C(0xfedcba9876543210));
    CHECK_EQ_U64(trp_load_le64(bytes + 1), UINT64_C(0xfedcba9876543210));
    trp_store_be64(bytes + 1, UINT64_C(0xfedcba9876543210));
    CHECK_EQ_U64(trp_load_be64(bytes + 1), UINT64_C(0xfedcba9876543210));
}

static void check_varint(uint64_t value)
{
    uint8_t bytes[TRP_VARINT_SIZE_MAX];
    size_t size = trp_varint_put(bytes, sizeof(bytes), value);
    CHECK_EQ_U64(size, trp_varint_size(value));
    uint64_t read = ~value;
    CHECK_EQ_U64(trp_varint_get(bytes, sizeof(bytes), &read), size);
    CHECK_EQ_U64(read, value);
    /* Neither half a varint nor half the room. */
    CHECK_EQ_U64(trp_varint_get(bytes, size - 1, &read), 0);
    CHECK_EQ_U64(trp_varint_put(bytes, size - 1, value), 0);
}

static void varints_round_trip(void)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t power = UINT64_C(1) << bit;
        check_varint(power - 1);
        check_varint(power);
        check_varint(power + 1);
    }
    check_varint(UINT64_MAX);
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    for (int i = 0; i < 10000; i++) {
        check_varint(trp_random_next(&random) >> trp_random_below(&random, 64));
    }
}

static void a_number_has_one_encoding(void)
{
    uint64_t value = 7;
    CHECK_EQ_U64(trp_varint_get((const uint8_t *)"\x80\x00", 2, &value), 0);
    CHECK_EQ_U64(trp_varint_get((const uint8_t *)"\xff\x80\x00", 3, &value), 0);
    CHECK_EQ_U64(trp_varint_get((const uint8_t *)"\x00", 1, &value), 1);
    CHECK_EQ_U64(value, 0);
}

static void a_varint_beyond_64_bits_is_refused(void)
{
    uint64_t value = 7;
    const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    CHECK_EQ_U64(trp_varint_get(most, sizeof(most), &value), sizeof(most));
    CHECK_EQ_U64(value, UINT64_MAX);
    const uint8_t more[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    CHECK_EQ_U64(trp_varint_get(more, sizeof(more), &value), 0);
    const uint8_t longer[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00};
    CHECK_EQ_U64(trp_varint_get(longer, sizeof(longer), &value), 0);
    CHECK_EQ_U64(value, UINT64_MAX);
}

static void nothing_is_no_varint(void)
{
    uint64_t value = 7;
    CHECK_EQ_U64(trp_varint_get(NULL, 0, &value), 0);
    CHECK_EQ_U64(trp_varint_put(NULL, 0, 0), 0);
    CHECK_EQ_U64(value, 7);
}

static void misuse_is_noticed(void)
{
    uint64_t value = 0;
    CHECK_ABORTS((void)trp_varint_get(NULL, 1, &value));
    CHECK_ABORTS((void)trp_varint_put(NULL, 1, 1));
}

static const check_case_t cases[] = {
    CHECK_CASE(numbers_have_one_byte_order),
    CHECK_CASE(what_is_stored_is_loaded),
    CHECK_CASE(varints_round_trip),
    CHECK_CASE(a_number_has_one_encoding),
    CHECK_CASE(a_varint_beyond_64_bits_is_refused),
    CHECK_CASE(nothing_is_no_varint),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.bytes", cases)
