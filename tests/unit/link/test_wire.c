/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The pure codecs: frames, envelopes, handshake bodies. */

#include <msgpack.h>
#include <string.h>

#include "base/buf.h"
#include "net/link/hello.h"
#include "net/link/unpack.h"
#include "net/link/wire.h"
#include "support/check.h"

/* ---- frames ---------------------------------------------------------------------------------- */

static void a_frame_header_is_read_as_written(void)
{
    uint8_t bytes[TRP_WIRE_FRAME_SIZE];
    const trp_frame_header_t header = {.kind = TRP_FRAME_DATA,
                                       .lane = TRP_LANE_ORDINARY,
                                       .flags = 0x1234,
                                       .count = 77,
                                       .sequence = UINT64_C(0x1122334455667788)};
    trp_wire_put_frame(bytes, &header);
    trp_frame_header_t read;
    CHECK_OK(trp_wire_get_frame(trp_view_make(bytes, sizeof(bytes)), &read));
    CHECK_EQ_U64(read.kind, header.kind);
    CHECK_EQ_U64(read.lane, header.lane);
    CHECK_EQ_U64(read.flags, header.flags);
    CHECK_EQ_U64(read.count, header.count);
    CHECK_EQ_U64(read.sequence, header.sequence);
}

static void the_bytes_of_a_frame_are_as_documented(void)
{
    uint8_t bytes[TRP_WIRE_FRAME_SIZE];
    const trp_frame_header_t header = {
        .kind = TRP_FRAME_PING, .lane = TRP_LANE_CONTROL, .sequence = 0x0201};
    trp_wire_put_frame(bytes, &header);
    static const uint8_t expected[TRP_WIRE_FRAME_SIZE] = {'T', 'R', 'P', 1, 6, 0, 0, 0, 1, 2};
    CHECK_EQ_BYTES(bytes, sizeof(bytes), expected, sizeof(expected));
}

static void a_foreign_frame_is_refused(void)
{
    uint8_t bytes[TRP_WIRE_FRAME_SIZE];
    const trp_frame_header_t header = {.kind = TRP_FRAME_PING};
    trp_frame_header_t read;
    trp_wire_put_frame(bytes, &header);
    CHECK_ERR(trp_wire_get_frame(trp_view_make(bytes, sizeof(bytes) - 1), &read), TROUPE_EPROTOCOL);
    bytes[3] = 2;
    CHECK_ERR(trp_wire_get_frame(trp_view_make(bytes, sizeof(bytes)), &read), TROUPE_EVERSION);
    bytes[0] = 'X';
    CHECK_ERR(trp_wire_get_frame(trp_view_make(bytes, sizeof(bytes)), &read), TROUPE_EPROTOCOL);
    trp_wire_put_frame(bytes, &header);
    bytes[4] = TRP_FRAME_KIND_LEN;
    CHECK_ERR(trp_wire_get_frame(trp_view_make(bytes, sizeof(bytes)), &read), TROUPE_EPROTOCOL);
    trp_wire_put_frame(bytes, &header);
    bytes[5] = TRP_LANE_LEN;
    CHECK_ERR(trp_wire_get_frame(trp_view_make(bytes, sizeof(bytes)), &read), TROUPE_EPROTOCOL);
}

/* ---- envelopes ------------------------------------------------------------------------------- */

static void an_envelope_is_read_as_written_whatever_its_options(void)
{
    for (uint32_t flags = 0; flags < 8; flags++) {
        uint8_t bytes[128];
        memset(bytes, 0xee, sizeof(bytes));
        const trp_envelope_t envelope = {.size = 5,
                                         .kind = TRP_ENVELOPE_TOPIC,
                                         .flags = (uint8_t)(flags | 0x30u),
                                         .type = 4000,
                                         .target = UINT64_C(0xaabbccdd11223344),
                                         .sender = 99,
                                         .sender_node = 1000,
                                         .trace = {1, 2},
                                         .deadline_ms = 3,
                                         .token = 4};
        uint8_t *body = trp_wire_put_envelope(bytes, &envelope);
        memcpy(body, "hello", 5);
        size_t whole = trp_wire_envelope_size(envelope.flags, 5);
        CHECK_EQ_U64(whole % TRP_WIRE_ALIGN, 0);
        CHECK_LE_U64(TRP_WIRE_ENVELOPE_SIZE, 28);
        trp_view_t view = trp_view_make(bytes, whole);
        trp_envelope_t read;
        trp_view_t read_body;
        CHECK_OK(trp_wire_take_envelope(&view, &read, &read_body));
        CHECK_EQ_U64(view.size, 0);
        CHECK_EQ_BYTES(read_body.data, read_body.size, "hello", 5);
        CHECK_EQ_U64(read.target, envelope.target);
        CHECK_EQ_U64(read.type, envelope.type);
        CHECK_EQ_U64(read.flags, envelope.flags);
        CHECK_EQ_U64(read.sender_node, (flags & TRP_ENVELOPE_FOREIGN) != 0 ? 1000 : 0);
        CHECK_EQ_U64(read.trace[1], (flags & TRP_ENVELOPE_TRACE) != 0 ? 2 : 0);
        CHECK_EQ_U64(read.token, (flags & TRP_ENVELOPE_TOKEN) != 0 ? 4 : 0);
        for (size_t cut = 0; cut < whole; cut++) {
            view = trp_view_make(bytes, cut);
            CHECK_ERR(trp_wire_take_envelope(&view, &read, &read_body), TROUPE_EPROTOCOL);
            CHECK_EQ_U64(view.size, cut);
        }
    }
}

static void an_envelope_that_claims_too_much_is_refused(void)
{
    uint8_t bytes[64] = {0};
    const trp_envelope_t envelope = {.size = UINT32_MAX, .kind = TRP_ENVELOPE_USER};
    (void)trp_wire_put_envelope(bytes, &envelope);
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    trp_envelope_t read;
    trp_view_t body;
    CHECK_ERR(trp_wire_take_envelope(&view, &read, &body), TROUPE_EPROTOCOL);
}

static void a_standin_of_another_size_is_refused(void)
{
    uint8_t bytes[64] = {0};
    const trp_envelope_t envelope = {
        .size = 8, .kind = TRP_ENVELOPE_USER, .flags = TRP_ENVELOPE_STANDIN};
    (void)trp_wire_put_envelope(bytes, &envelope);
    trp_view_t view = trp_view_make(bytes, sizeof(bytes));
    trp_envelope_t read;
    trp_view_t body;
    CHECK_ERR(trp_wire_take_envelope(&view, &read, &body), TROUPE_EPROTOCOL);
}

static void acks_and_chunks_are_read_as_written(void)
{
    uint8_t bytes[TRP_WIRE_CHUNK_SIZE];
    const trp_ack_t ack = {1, 2, UINT64_MAX, 4};
    trp_ack_t read_ack;
    trp_wire_put_ack(bytes, &ack);
    CHECK_OK(trp_wire_get_ack(trp_view_make(bytes, TRP_WIRE_ACK_SIZE), &read_ack));
    CHECK_EQ_BYTES(&read_ack, sizeof(read_ack), &ack, sizeof(ack));
    CHECK_ERR(trp_wire_get_ack(trp_view_make(bytes, TRP_WIRE_ACK_SIZE - 1), &read_ack),
              TROUPE_EPROTOCOL);
    const trp_chunk_t chunk = {9, 100, 50, 3};
    trp_chunk_t read_chunk;
    trp_wire_put_chunk(bytes, &chunk);
    CHECK_OK(trp_wire_get_chunk(trp_view_make(bytes, sizeof(bytes)), &read_chunk));
    CHECK_EQ_BYTES(&read_chunk, sizeof(read_chunk), &chunk, sizeof(chunk));
    CHECK_ERR(trp_wire_get_chunk(trp_view_make(bytes, sizeof(bytes) - 1), &read_chunk),
              TROUPE_EPROTOCOL);
}

/* ---- handshake bodies ------------------------------------------------------------------------ */

static trp_hello_t hello_sample(void)
{
    trp_hello_t hello = {.version = 3,
                         .version_min = 1,
                         .uid = UINT64_MAX,
                         .expect = 5,
                         .capabilities = 6,
                         .cluster = trp_view_from_string("shop"),
                         .name = trp_view_from_string("node 1"),
                         .address = trp_view_from_string("10.0.0.1:4711"),
                         .pair = {7, 8, 9, 10, 11, 12, 13}};
    hello.sections[0] =
        (trp_hello_section_t){trp_view_from_string("rpc"), trp_view_make("\x00\x01\x02", 3)};
    hello.section_len = 1;
    return hello;
}

static void a_hello_is_read_as_written(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 4096);
    trp_hello_t hello = hello_sample();
    CHECK_OK(trp_hello_put(&hello, &buf));
    trp_hello_t read;
    CHECK_OK(trp_hello_get(trp_buf_view(&buf), &read));
    CHECK_EQ_U64(read.version, 3);
    CHECK_EQ_U64(read.uid, UINT64_MAX);
    CHECK_EQ_U64(read.expect, 5);
    CHECK_TRUE(trp_view_equal(read.cluster, hello.cluster));
    CHECK_TRUE(trp_view_equal(read.name, hello.name));
    CHECK_TRUE(trp_view_equal(read.address, hello.address));
    CHECK_EQ_BYTES(&read.pair, sizeof(read.pair), &hello.pair, sizeof(hello.pair));
    CHECK_EQ_U64(read.section_len, 1);
    CHECK_TRUE(trp_view_equal(read.sections[0].data, hello.sections[0].data));
    for (size_t cut = 0; cut < buf.size; cut++) {
        CHECK_ERR(trp_hello_get(trp_view_make(buf.data, cut), &read), TROUPE_EPROTOCOL);
    }
    trp_buf_fini(&buf);
}

static troupe_err_t hello_step(void *user)
{
    (void)user;
    trp_buf_t buf;
    trp_buf_init(&buf, 4096);
    trp_hello_t hello = hello_sample();
    troupe_err_t err = trp_hello_put(&hello, &buf);
    trp_buf_fini(&buf);
    return err;
}

static void a_hello_without_memory_fails_cleanly(void)
{
    CHECK_ALLOCATIONS(hello_step, NULL);
}

static void a_hello_lacking_what_it_must_say_is_refused(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        trp_buf_t buf;
        trp_buf_init(&buf, 4096);
        trp_hello_t hello = hello_sample();
        hello.version = i == 0 ? 0 : hello.version;
        hello.uid = i == 1 ? 0 : hello.uid;
        hello.pair.nonce = i == 2 ? 0 : hello.pair.nonce;
        hello.address.size = i == 3 ? 0 : hello.address.size;
        CHECK_OK(trp_hello_put(&hello, &buf));
        CHECK_ERR(trp_hello_get(trp_buf_view(&buf), &hello), TROUPE_EPROTOCOL);
        trp_buf_fini(&buf);
    }
}

static void texts_over_their_limit_are_refused(void)
{
    static char text[TRP_LINK_ADDRESS_SIZE_MAX + 2];
    memset(text, 'a', sizeof(text) - 1);
    trp_buf_t buf;
    trp_buf_init(&buf, 4096);
    trp_hello_t hello = hello_sample();
    hello.address = trp_view_from_string(text);
    CHECK_OK(trp_hello_put(&hello, &buf));
    CHECK_ERR(trp_hello_get(trp_buf_view(&buf), &hello), TROUPE_EPROTOCOL);
    trp_buf_fini(&buf);
}

static void pairs_and_refusals_are_read_as_written(void)
{
    trp_buf_t buf;
    trp_buf_init(&buf, 4096);
    const trp_hello_pair_t pair = {1, 2, 3, 4, 5, 6, 7};
    trp_hello_pair_t read_pair;
    CHECK_OK(trp_hello_put_pair(&pair, &buf));
    CHECK_OK(trp_hello_get_pair(trp_buf_view(&buf), &read_pair));
    CHECK_EQ_BYTES(&read_pair, sizeof(read_pair), &pair, sizeof(pair));
    trp_buf_clear(&buf);
    const trp_hello_pair_t first = {1, 0, 3, 4, 5, 6, 7};
    CHECK_OK(trp_hello_put_pair(&first, &buf));
    CHECK_ERR(trp_hello_get_pair(trp_buf_view(&buf), &read_pair), TROUPE_EPROTOCOL);
    trp_buf_clear(&buf);
    const trp_refusal_t refusal = {TROUPE_ECLUSTER, 9, trp_view_from_string("no")};
    trp_refusal_t read;
    CHECK_OK(trp_hello_put_refusal(&refusal, &buf));
    CHECK_OK(trp_hello_get_refusal(trp_buf_view(&buf), &read));
    CHECK_EQ_U64(read.reason, TROUPE_ECLUSTER);
    CHECK_EQ_U64(read.uid, 9);
    trp_buf_clear(&buf);
    const trp_refusal_t odd = {TROUPE_ENOMEM, 9, trp_view_from_string("?")};
    CHECK_OK(trp_hello_put_refusal(&odd, &buf));
    CHECK_OK(trp_hello_get_refusal(trp_buf_view(&buf), &read));
    CHECK_EQ_U64(read.reason, TROUPE_EREFUSED);
    trp_buf_fini(&buf);
}

/* ---- msgpack --------------------------------------------------------------------------------- */

/* One of everything, as the library writes it. */
static void pack_everything(msgpack_packer *packer)
{
    msgpack_pack_array(packer, 16);
    msgpack_pack_nil(packer);
    msgpack_pack_true(packer);
    msgpack_pack_int(packer, -1);
    msgpack_pack_int(packer, -100000);
    msgpack_pack_int64(packer, INT64_MIN);
    msgpack_pack_uint64(packer, UINT64_MAX);
    msgpack_pack_float(packer, 1.5f);
    msgpack_pack_double(packer, 2.5);
    msgpack_pack_str_with_body(packer, "text", 4);
    msgpack_pack_bin_with_body(packer, "bytes", 5);
    msgpack_pack_map(packer, 1);
    msgpack_pack_int(packer, 1);
    msgpack_pack_array(packer, 0);
    msgpack_pack_ext_with_body(packer, "abcd", 4, 7);
    msgpack_pack_ext_with_body(packer, "abc", 3, 7);
    msgpack_pack_array(packer, 2);
    msgpack_pack_int(packer, 1);
    msgpack_pack_int(packer, 2);
    msgpack_pack_int(packer, 300);
    msgpack_pack_int(packer, 70000);
}

static void any_item_is_skipped_whole(void)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    pack_everything(&packer);
    msgpack_pack_int(&packer, 42);
    trp_view_t view = trp_view_make(buffer.data, buffer.size);
    CHECK_OK(trp_unpack_skip(&view));
    uint64_t last = 0;
    CHECK_OK(trp_unpack_uint(&view, &last));
    CHECK_EQ_U64(last, 42);
    CHECK_EQ_U64(view.size, 0);
    msgpack_sbuffer_destroy(&buffer);
}

static void numbers_and_blocks_of_every_width_are_read(void)
{
    static const uint64_t numbers[] = {0, 127, 128, 255, 256, 65535, 65536, UINT32_MAX, UINT64_MAX};
    static char text[70000];
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    for (size_t i = 0; i < TRP_ARRAY_LEN(numbers); i++) {
        msgpack_pack_uint64(&packer, numbers[i]);
    }
    static const size_t sizes[] = {0, 31, 32, 255, 256, 65535, 65536};
    for (size_t i = 0; i < TRP_ARRAY_LEN(sizes); i++) {
        msgpack_pack_str_with_body(&packer, text, sizes[i]);
        msgpack_pack_bin_with_body(&packer, text, sizes[i]);
    }
    trp_view_t view = trp_view_make(buffer.data, buffer.size);
    for (size_t i = 0; i < TRP_ARRAY_LEN(numbers); i++) {
        uint64_t number = 1;
        CHECK_OK(trp_unpack_uint(&view, &number));
        CHECK_EQ_U64(number, numbers[i]);
    }
    for (size_t i = 0; i < 2 * TRP_ARRAY_LEN(sizes); i++) {
        trp_view_t block;
        CHECK_OK(trp_unpack_block(&view, &block));
        CHECK_EQ_U64(block.size, sizes[i / 2]);
    }
    CHECK_EQ_U64(view.size, 0);
    msgpack_sbuffer_destroy(&buffer);
}

static void nesting_without_end_is_refused(void)
{
    uint8_t deep[64];
    memset(deep, 0x91, sizeof(deep)); /* An array of one, of one, of one ... */
    trp_view_t view = trp_view_make(deep, sizeof(deep));
    CHECK_ERR(trp_unpack_skip(&view), TROUPE_EPROTOCOL);
    static const uint8_t huge[] = {0xdd, 0xff, 0xff, 0xff, 0xff, 0x01};
    view = trp_view_make(huge, sizeof(huge));
    CHECK_ERR(trp_unpack_skip(&view), TROUPE_EPROTOCOL);
    static const uint8_t negative[] = {0xff};
    uint64_t number = 0;
    view = trp_view_make(negative, sizeof(negative));
    CHECK_ERR(trp_unpack_uint(&view, &number), TROUPE_EPROTOCOL);
    CHECK_EQ_U64(view.size, 1);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_frame_header_is_read_as_written),
    CHECK_CASE(the_bytes_of_a_frame_are_as_documented),
    CHECK_CASE(a_foreign_frame_is_refused),
    CHECK_CASE(an_envelope_is_read_as_written_whatever_its_options),
    CHECK_CASE(an_envelope_that_claims_too_much_is_refused),
    CHECK_CASE(a_standin_of_another_size_is_refused),
    CHECK_CASE(acks_and_chunks_are_read_as_written),
    CHECK_CASE(a_hello_is_read_as_written),
    CHECK_CASE(a_hello_without_memory_fails_cleanly),
    CHECK_CASE(a_hello_lacking_what_it_must_say_is_refused),
    CHECK_CASE(texts_over_their_limit_are_refused),
    CHECK_CASE(pairs_and_refusals_are_read_as_written),
    CHECK_CASE(any_item_is_skipped_whole),
    CHECK_CASE(numbers_and_blocks_of_every_width_are_read),
    CHECK_CASE(nesting_without_end_is_refused),
};

CHECK_MAIN("link.wire", cases)
