/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The codec of mediators' messages: round trips, and what peers may not send. */

#include <string.h>

#include "base/random.h"
#include "pubsub/codec.h"
#include "pubsub/codec_scan.h"
#include "support/check.h"

static trp_buf_t buf;
static trp_gossip_t got;

static troupe_err_t decode(void)
{
    return trp_gossip_decode(trp_buf_view(&buf), &got);
}

static void start(void)
{
    trp_buf_init(&buf, TRP_GOSSIP_SIZE_MAX);
}

static void finish(void)
{
    trp_buf_fini(&buf);
}

static void small_messages_come_back_as_they_were(void)
{
    uint64_t hashes[TRP_GOSSIP_RANGES];
    uint64_t uid = 0;
    uint64_t version = 0;
    start();
    CHECK_OK(trp_gossip_put_digest(&buf, UINT64_MAX, 5));
    CHECK_LE_U64(buf.size, 64);
    REQUIRE_OK(decode());
    CHECK_EQ_U64(got.kind, TRP_GOSSIP_DIGEST);
    CHECK_EQ_U64(got.hash, UINT64_MAX);
    CHECK_EQ_U64(got.count, 5);
    trp_gossip_fini(&got);
    trp_buf_clear(&buf);
    CHECK_OK(trp_gossip_put_want(&buf, 10, 5, 99));
    REQUIRE_OK(decode());
    CHECK_EQ_U64(got.from, 10);
    CHECK_EQ_U64(got.floor, 5);
    CHECK_EQ_U64(got.nonce, 99);
    trp_gossip_fini(&got);
    trp_buf_clear(&buf);
    CHECK_OK(trp_gossip_put_ack(&buf, 77));
    REQUIRE_OK(decode());
    CHECK_EQ_U64(got.to, 77);
    trp_gossip_fini(&got);
    trp_buf_clear(&buf);
    for (uint32_t i = 0; i < TRP_GOSSIP_RANGES; i++) {
        hashes[i] = UINT64_C(0x0123456789abcdef) * i;
    }
    CHECK_OK(trp_gossip_put_ranges(&buf, hashes));
    REQUIRE_OK(decode());
    CHECK_EQ_U64(trp_gossip_range(&got, 63), hashes[63]);
    trp_gossip_fini(&got);
    trp_buf_clear(&buf);
    CHECK_OK(trp_gossip_put_vector(&buf, true, 3, 1));
    CHECK_OK(trp_gossip_put_pair(&buf, 8, 9));
    REQUIRE_OK(decode());
    trp_gossip_pair(&got, 0, &uid, &version);
    CHECK_EQ_U64(uid, 8);
    CHECK_EQ_U64(version, 9);
    CHECK(got.is_reply);
    CHECK_EQ_U64(got.mask, 3);
    trp_gossip_fini(&got);
    finish();
}

static void put_delta(uint64_t from, uint64_t to, const trp_gossip_element_t *elements,
                      uint32_t len)
{
    trp_gossip_t delta = {.owner = 1, .from = from, .to = to, .head = to, .len = len};
    trp_buf_clear(&buf);
    CHECK_OK(trp_gossip_put_delta(&buf, &delta));
    for (uint32_t i = 0; i < len; i++) {
        CHECK_OK(trp_gossip_put_element(&buf, &elements[i]));
    }
}

static void a_delta_comes_back_as_it_was(void)
{
    static uint8_t name[TRP_ATOM_SIZE_MAX];
    memset(name, 0xff, sizeof(name));
    trp_gossip_element_t in[3] = {
        {.name = {name, sizeof(name)}, .version = 2, .weight = 7},
        {.name = {name, 1}, .group = {name, 2}, .version = 3},
        {.name = {(const uint8_t *)"a.*", 3},
         .version = 9,
         .weight = 1,
         .space = TRP_SPACE_PATTERN},
    };
    trp_gossip_element_t out;
    start();
    put_delta(1, 9, in, 3);
    REQUIRE_OK(decode());
    CHECK_EQ_U64(got.len, 3);
    for (uint32_t i = 0; i < 3; i++) {
        trp_gossip_element(&got, i, &out);
        CHECK(trp_view_equal(out.name, in[i].name));
        CHECK(trp_view_equal(out.group, in[i].group));
        CHECK_EQ_U64(out.version, in[i].version);
        CHECK_EQ_U64(out.weight, in[i].weight);
        CHECK_EQ_U64(out.space, in[i].space);
    }
    trp_gossip_fini(&got);
    finish();
}

static void refuse(trp_gossip_element_t element, uint64_t from, uint64_t to)
{
    put_delta(from, to, &element, 1);
    CHECK_ERR(decode(), TROUPE_EPROTOCOL);
}

static void deltas_that_make_no_sense_are_refused(void)
{
    trp_gossip_element_t good = {.name = {(const uint8_t *)"x", 1}, .version = 5, .weight = 1};
    start();
    put_delta(4, 5, &good, 1);
    REQUIRE_OK(decode());
    trp_gossip_fini(&got);
    refuse(good, 5, 5); /* Not newer than where it begins. */
    refuse(good, 1, 4); /* Newer than where it ends. */
    trp_gossip_element_t bad = good;
    bad.space = TRP_SPACE_GROUP;
    refuse(bad, 1, 9);
    bad = good;
    bad.space = TRP_SPACE_PATTERN;
    bad.name = trp_view_from_string("a>b");
    refuse(bad, 1, 9);
    bad = good;
    bad.space = TRP_SPACE_PATH;
    bad.group = trp_view_from_string("g");
    refuse(bad, 1, 9);
    bad = good;
    bad.weight = TRP_GOSSIP_WEIGHT_MAX + 1;
    refuse(bad, 1, 9);
    trp_gossip_element_t twice[2] = {good, good};
    put_delta(1, 9, twice, 2);
    CHECK_ERR(decode(), TROUPE_EPROTOCOL);
    finish();
}

static void every_cut_and_every_flipped_byte_is_survived(void)
{
    trp_gossip_element_t element = {.name = {(const uint8_t *)"topic", 5},
                                    .group = {(const uint8_t *)"g", 1},
                                    .version = 5,
                                    .weight = 1};
    start();
    put_delta(4, 5, &element, 1);
    for (size_t size = 0; size < buf.size; size++) {
        CHECK_ERR(trp_gossip_decode(trp_view_make(buf.data, size), &got), TROUPE_EPROTOCOL);
    }
    for (size_t at = 0; at < buf.size; at++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            buf.data[at] ^= (uint8_t)(1u << bit);
            if (decode() == TROUPE_OK) {
                trp_gossip_fini(&got);
            }
            buf.data[at] ^= (uint8_t)(1u << bit);
        }
    }
    finish();
}

static void a_count_that_is_not_there_takes_no_memory(void)
{
    static const uint8_t hostile[][8] = {{0xdd, 0xff, 0xff, 0xff, 0xff},
                                         {0xdc, 0xff, 0xff},
                                         {0x95, 0x05, 0xdd, 0x7f, 0xff, 0xff, 0xff},
                                         {0xc6, 0xff, 0xff, 0xff, 0xff, 0x00},
                                         {0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x01},
                                         {0x81, 0x01, 0x02},
                                         {0xc1},
                                         {0xff}};
    for (size_t i = 0; i < TRP_ARRAY_LEN(hostile); i++) {
        CHECK_ERR(trp_scan(trp_view_make(hostile[i], sizeof(hostile[i]))), TROUPE_EPROTOCOL);
        CHECK_ERR(trp_gossip_decode(trp_view_make(hostile[i], sizeof(hostile[i])), &got),
                  TROUPE_EPROTOCOL);
    }
    static uint8_t large[TRP_GOSSIP_SIZE_MAX + 1];
    CHECK_ERR(trp_gossip_decode(trp_view_make(large, sizeof(large)), &got), TROUPE_ETOOBIG);
}

static const check_case_t cases[] = {
    CHECK_CASE(small_messages_come_back_as_they_were),
    CHECK_CASE(a_delta_comes_back_as_it_was),
    CHECK_CASE(deltas_that_make_no_sense_are_refused),
    CHECK_CASE(every_cut_and_every_flipped_byte_is_survived),
    CHECK_CASE(a_count_that_is_not_there_takes_no_memory),
};

CHECK_MAIN("pubsub.codec", cases)
