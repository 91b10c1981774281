/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Streams, bulk bodies and walks, without sockets. */

#include <string.h>

#include "actor/pool.h"
#include "base/memory.h"
#include "net/link/bulk.h"
#include "net/link/frame.h"
#include "net/link/numbers.h"
#include "net/link/peer.h"
#include "net/link/session.h"
#include "net/link/stream.h"
#include "net/link/walk.h"
#include "support/check.h"

/* ---- streams --------------------------------------------------------------------------------- */

static trp_frame_pool_t pool;

static trp_frame_t *frame_of(uint32_t user, uint32_t system)
{
    trp_frame_t *frame = trp_frame_take(&pool);
    REQUIRE_NOT_NULL(frame);
    frame->user_len = user;
    frame->system_len = system;
    frame->size += 10 * (user + system);
    return frame;
}

static void a_stream_numbers_keeps_and_lets_go(void)
{
    REQUIRE_OK(trp_frame_pool_init(&pool));
    trp_stream_t stream;
    trp_stream_init(&stream);
    trp_stream_push(&stream, frame_of(3, 0));
    trp_stream_push(&stream, frame_of(2, 1));
    trp_frame_t *first = trp_stream_next(&stream);
    CHECK_EQ_U64(first->sequence, 0);
    trp_frame_t *second = trp_stream_next(&stream);
    CHECK_EQ_U64(second->sequence, 3);
    CHECK_NULL(trp_stream_next(&stream));
    trp_stream_tally_t tally = {0, 0, 0};
    CHECK_ERR(trp_stream_ack(&stream, 7, &tally), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_stream_ack(&stream, 2, &tally), TROUPE_EPROTOCOL);
    CHECK_EQ_U64(tally.user, 0);
    CHECK_OK(trp_stream_ack(&stream, 3, &tally));
    CHECK_EQ_U64(tally.user, 3);
    CHECK_OK(trp_stream_ack(&stream, 3, &tally));
    CHECK_OK(trp_stream_ack(&stream, 0, &tally)); /* An older one. */
    CHECK_OK(trp_stream_ack(&stream, 6, &tally));
    CHECK_EQ_U64(tally.user, 5);
    CHECK_EQ_U64(tally.system, 1);
    CHECK_NULL(stream.first);
    CHECK_EQ_U64(pool.out_len, 0);
    trp_frame_pool_fini(&pool);
}

static void a_rewound_stream_sends_the_same_numbers_again(void)
{
    REQUIRE_OK(trp_frame_pool_init(&pool));
    trp_stream_t stream;
    trp_stream_init(&stream);
    for (uint32_t i = 0; i < 3; i++) {
        trp_stream_push(&stream, frame_of(2, 0));
    }
    (void)trp_stream_next(&stream);
    (void)trp_stream_next(&stream);
    CHECK_EQ_U64(trp_stream_rewind(&stream), 2 * (TRP_WIRE_FRAME_SIZE + 20));
    trp_stream_tally_t tally = {0, 0, 0};
    CHECK_OK(trp_stream_ack(&stream, 2, &tally)); /* The peer had taken the first. */
    CHECK_EQ_U64(trp_stream_next(&stream)->sequence, 2);
    CHECK_EQ_U64(trp_stream_next(&stream)->sequence, 4);
    trp_stream_tally_t sent = {0, 0, 0};
    trp_stream_tally_t unsent = {0, 0, 0};
    trp_stream_push(&stream, frame_of(1, 0));
    trp_stream_clear(&stream, &sent, &unsent);
    CHECK_EQ_U64(sent.user, 4);
    CHECK_EQ_U64(unsent.user, 1);
    trp_frame_pool_fini(&pool);
}

static void frames_are_judged_by_their_numbers(void)
{
    CHECK_EQ_U64(trp_stream_judge(10, 10, 5), TRP_TAKE_NEW);
    CHECK_EQ_U64(trp_stream_judge(10, 5, 5), TRP_TAKE_DUPLICATE);
    CHECK_EQ_U64(trp_stream_judge(10, 0, 3), TRP_TAKE_DUPLICATE);
    CHECK_EQ_U64(trp_stream_judge(10, 5, 6), TRP_TAKE_GAP);
    CHECK_EQ_U64(trp_stream_judge(10, 11, 1), TRP_TAKE_GAP);
    CHECK_EQ_U64(trp_stream_judge(UINT64_MAX, UINT64_MAX - 1, UINT32_MAX), TRP_TAKE_GAP);
}

static void both_sides_choose_the_same_of_two_sessions(void)
{
    CHECK_TRUE(trp_session_is_better(2, 1, 1, 9));
    CHECK_FALSE(trp_session_is_better(1, 9, 2, 1));
    CHECK_TRUE(trp_session_is_better(1, 9, 1, 1));
    CHECK_FALSE(trp_session_is_better(1, 1, 1, 1));
}

/* ---- bulk bodies ----------------------------------------------------------------------------- */

typedef struct bulk_bench {
    trp_depot_t depot;
    trp_bulk_set_t set;
    trp_bulk_budget_t budget;
} bulk_bench_t;

static void bulk_open(bulk_bench_t *bench, size_t size_max)
{
    REQUIRE_OK(trp_depot_init(&bench->depot, 64u << 20));
    trp_bulk_set_init(&bench->set);
    bench->budget = (trp_bulk_budget_t){&bench->depot, size_max, 0};
}

static void bulk_close(bulk_bench_t *bench)
{
    trp_bulk_set_fini(&bench->set, &bench->budget);
    CHECK_EQ_U64(bench->budget.used, 0);
    trp_depot_fini(&bench->depot);
}

static troupe_err_t bulk_chunk(bulk_bench_t *bench, uint64_t id, uint64_t size, uint64_t offset,
                               size_t len, trp_bulk_in_t **ret_bulk)
{
    static uint8_t bytes[TRP_LINK_CHUNK_SIZE + 1];
    for (size_t i = 0; i < len && i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(offset + i);
    }
    const trp_chunk_t chunk = {id, size, offset, 0};
    return trp_bulk_set_chunk(&bench->set, &bench->budget, &chunk, trp_view_make(bytes, len),
                              ret_bulk);
}

static void a_body_is_put_together_and_given_away_once(void)
{
    bulk_bench_t bench;
    bulk_open(&bench, 1u << 20);
    trp_bulk_in_t *bulk = NULL;
    CHECK_OK(bulk_chunk(&bench, 1, 1000, 0, 600, &bulk));
    CHECK_NULL(bulk);
    CHECK_OK(bulk_chunk(&bench, 1, 1000, 0, 600, &bulk)); /* Again, after a broken session. */
    CHECK_NULL(bulk);
    CHECK_OK(bulk_chunk(&bench, 1, 1000, 500, 500, &bulk));
    REQUIRE_NOT_NULL(bulk);
    CHECK_EQ_U64(bulk->state, TRP_BULK_WHOLE);
    const uint64_t mask[TRP_LINK_MASK_WORDS] = {1};
    const trp_standin_t standin = {1, 1000};
    CHECK_OK(trp_bulk_set_standin(&bench.set, &standin, 7, mask, &bulk));
    REQUIRE_NOT_NULL(bulk);
    trp_body_t *body = trp_bulk_set_take(&bench.set, &bench.budget, bulk);
    REQUIRE_NOT_NULL(body);
    CHECK_EQ_U64(body->type, 7);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EQ_U64(body->data[i], (uint8_t)i);
    }
    trp_body_unref(body);
    CHECK_OK(bulk_chunk(&bench, 1, 1000, 0, 600, &bulk));
    REQUIRE_NOT_NULL(bulk);
    CHECK_EQ_U64(bulk->state, TRP_BULK_DONE);
    CHECK_ERR(trp_bulk_set_standin(&bench.set, &standin, 7, mask, &bulk), TROUPE_EPROTOCOL);
    bulk_close(&bench);
}

static void contradictions_of_chunks_are_refused(void)
{
    bulk_bench_t bench;
    bulk_open(&bench, 1u << 20);
    trp_bulk_in_t *bulk = NULL;
    CHECK_ERR(bulk_chunk(&bench, 1, 1000, 0, 0, &bulk), TROUPE_EPROTOCOL);
    CHECK_ERR(bulk_chunk(&bench, 1, 10, 0, 11, &bulk), TROUPE_EPROTOCOL);
    CHECK_ERR(bulk_chunk(&bench, 1, 1000, UINT64_MAX, 11, &bulk), TROUPE_EPROTOCOL);
    CHECK_ERR(bulk_chunk(&bench, 1, 1u << 30, 0, TRP_LINK_CHUNK_SIZE + 1, &bulk), TROUPE_EPROTOCOL);
    CHECK_OK(bulk_chunk(&bench, 1, 1000, 0, 100, &bulk));
    CHECK_ERR(bulk_chunk(&bench, 1, 1000, 101, 100, &bulk), TROUPE_EPROTOCOL);
    CHECK_ERR(bulk_chunk(&bench, 1, 999, 100, 100, &bulk), TROUPE_EPROTOCOL);
    bulk_close(&bench);
}

static void a_body_beyond_the_budget_fails_and_takes_nothing(void)
{
    bulk_bench_t bench;
    bulk_open(&bench, 5000);
    trp_bulk_in_t *bulk = NULL;
    CHECK_OK(bulk_chunk(&bench, 1, 4000, 0, 100, &bulk));
    CHECK_NULL(bulk);
    CHECK_OK(bulk_chunk(&bench, 2, 4000, 0, 100, &bulk));
    REQUIRE_NOT_NULL(bulk);
    CHECK_EQ_U64(bulk->state, TRP_BULK_FAILED);
    CHECK_NULL(trp_bulk_set_take(&bench.set, &bench.budget, bulk));
    CHECK_EQ_U64(bench.budget.used, 4000);
    CHECK_OK(bulk_chunk(&bench, 3, (uint64_t)TROUPE_BULK_SIZE_MAX + 1, 0, 100, &bulk));
    CHECK_EQ_U64(bulk->state, TRP_BULK_FAILED);
    bulk_close(&bench);
}

static void the_number_of_open_bodies_is_bounded(void)
{
    bulk_bench_t bench;
    bulk_open(&bench, 1u << 20);
    trp_bulk_in_t *bulk = NULL;
    for (uint64_t i = 1; i <= TRP_LINK_BULK_OPEN_MAX; i++) {
        CHECK_OK(bulk_chunk(&bench, i, 100, 0, 50, &bulk));
    }
    CHECK_ERR(bulk_chunk(&bench, TRP_LINK_BULK_OPEN_MAX + 1, 100, 0, 50, &bulk), TROUPE_EFULL);
    bulk_close(&bench);
}

static void bodies_take_turns_and_start_again_after_a_rewind(void)
{
    bulk_bench_t bench;
    bulk_open(&bench, 1u << 20);
    trp_bulk_queue_t queue;
    trp_bulk_queue_init(&queue);
    trp_bulk_out_t outs[2];
    memset(outs, 0, sizeof(outs));
    for (uint32_t i = 0; i < 2; i++) {
        outs[i].id = i + 1;
        outs[i].body = trp_body_new(&bench.depot, 2 * TRP_LINK_CHUNK_SIZE + 1, false);
        REQUIRE_NOT_NULL(outs[i].body);
        trp_bulk_queue_push(&queue, &outs[i]);
    }
    static const uint64_t order[] = {1, 2, 1, 2, 1, 2};
    trp_bulk_out_t *out = NULL;
    trp_chunk_t chunk;
    uint32_t size = 0;
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_TRUE(trp_bulk_queue_next(&queue, &out, &chunk, &size));
        CHECK_EQ_U64(chunk.bulk_id, order[i]);
        CHECK_EQ_U64(chunk.offset, i / 2 * TRP_LINK_CHUNK_SIZE);
        CHECK_EQ_U64(size, i < 4 ? TRP_LINK_CHUNK_SIZE : 1);
        CHECK_EQ_U64(chunk.floor, 1);
    }
    CHECK_FALSE(trp_bulk_queue_next(&queue, &out, &chunk, &size));
    trp_bulk_queue_rewind(&queue);
    CHECK_TRUE(trp_bulk_queue_next(&queue, &out, &chunk, &size));
    CHECK_EQ_U64(chunk.offset, 0);
    CHECK_EQ_PTR(trp_bulk_queue_end(&queue, 1), &outs[0]);
    CHECK_NULL(trp_bulk_queue_end(&queue, 1));
    CHECK_EQ_PTR(trp_bulk_queue_pop(&queue), &outs[1]);
    CHECK_NULL(trp_bulk_queue_pop(&queue));
    trp_body_unref(outs[0].body);
    trp_body_unref(outs[1].body);
    bulk_close(&bench);
}

/* ---- walks ----------------------------------------------------------------------------------- */

static uint32_t walk_define(void *context, uint64_t uid, uint8_t space, trp_view_t name)
{
    (void)context;
    (void)uid;
    (void)space;
    return (uint32_t)(100 + name.size);
}

static void walk_mask(void *context, uint32_t topic, uint32_t group, uint8_t route,
                      uint64_t ret_mask[TRP_LINK_MASK_WORDS])
{
    (void)context;
    (void)group;
    (void)route;
    ret_mask[0] = topic == 103 ? 6 : 0;
}

static void walk_deliver(void *context, trp_dispatcher_t *d, const trp_link_topic_in_t *in)
{
    (void)context;
    (void)d;
    (void)in;
}

typedef struct walk_bench {
    trp_numbers_t numbers;
    trp_link_topic_hooks_t hooks;
    uint8_t bytes[1024];
    size_t size;
} walk_bench_t;

static void walk_open(walk_bench_t *bench)
{
    memset(bench, 0, sizeof(*bench));
    bench->hooks = (trp_link_topic_hooks_t){NULL, walk_define, NULL, walk_mask, walk_deliver};
    trp_numbers_init(&bench->numbers, 9, NULL, &bench->hooks);
}

static uint8_t *walk_put(walk_bench_t *bench, trp_envelope_t envelope, const char *body,
                         size_t size)
{
    uint8_t *at = bench->bytes + bench->size;
    envelope.size = (uint32_t)size;
    memcpy(trp_wire_put_envelope(at, &envelope), body, size);
    bench->size += trp_wire_envelope_size(envelope.flags, size);
    return at;
}

static void a_walk_notes_who_must_see_the_frame(void)
{
    walk_bench_t bench;
    walk_open(&bench);
    trp_walk_t walk = {.numbers = &bench.numbers, .dispatchers = 3};
    const trp_envelope_t user = {
        .kind = TRP_ENVELOPE_USER, .type = 1, .target = trp_id_make(1, 5, 5)};
    const trp_envelope_t far = {
        .kind = TRP_ENVELOPE_USER, .type = 1, .target = trp_id_make(3, 5, 5)};
    const trp_envelope_t slot = {
        .kind = TRP_ENVELOPE_USER, .type = 1, .target = trp_id_make(2, TRP_SLOT_DISPATCHER, 0)};
    const trp_envelope_t unknown = {
        .kind = TRP_ENVELOPE_USER, .type = 99, .target = trp_id_make(1, 5, 5)};
    (void)walk_put(&bench, user, "hello", 5);
    uint8_t *at_far = walk_put(&bench, far, "", 0);
    uint8_t *at_slot = walk_put(&bench, slot, "", 0);
    uint8_t *at_unknown = walk_put(&bench, unknown, "", 0);
    CHECK_OK(trp_walk_frame(&walk, bench.bytes, bench.size));
    CHECK_EQ_U64(walk.numbered, 4);
    CHECK_EQ_U64(walk.unknown_types, 1);
    CHECK_EQ_U64(walk.mask[0], 3); /* Dispatcher 1, and 0 for what can't be delivered. */
    CHECK_EQ_U64(at_far[4], TRP_ENVELOPE_VOID);
    CHECK_EQ_U64(at_slot[4], TRP_ENVELOPE_VOID);
    CHECK_EQ_U64(trp_load_le16(at_unknown + 6), 0);
    trp_numbers_fini(&bench.numbers);
}

static void a_walk_writes_our_numbers_over_the_peers(void)
{
    walk_bench_t bench;
    walk_open(&bench);
    trp_walk_t walk = {.numbers = &bench.numbers, .dispatchers = 3};
    const trp_envelope_t name = {.kind = TRP_ENVELOPE_NAME, .target = 7};
    const trp_envelope_t topic = {
        .kind = TRP_ENVELOPE_TOPIC, .type = TROUPE_TYPE_TEXT.id, .target = 7};
    const trp_envelope_t other = {.kind = TRP_ENVELOPE_TOPIC, .type = 1, .target = 8};
    (void)walk_put(&bench, name, "\1\0\0\0\0abc", 8);
    uint8_t *at_topic = walk_put(&bench, topic, "x", 1);
    uint8_t *at_other = walk_put(&bench, other, "x", 1);
    CHECK_OK(trp_walk_frame(&walk, bench.bytes, bench.size));
    CHECK_EQ_U64(walk.numbered, 2);
    CHECK_EQ_U64(trp_load_le64(at_topic + 8), 103);
    CHECK_EQ_U64(at_other[4], TRP_ENVELOPE_VOID);
    CHECK_EQ_U64(walk.mask[0], 7);
    trp_numbers_fini(&bench.numbers);
}

static void a_malformed_frame_is_refused_by_the_walk(void)
{
    walk_bench_t bench;
    walk_open(&bench);
    trp_walk_t walk = {.numbers = &bench.numbers, .dispatchers = 3};
    const trp_envelope_t user = {.kind = TRP_ENVELOPE_USER, .type = 1, .target = 5};
    (void)walk_put(&bench, user, "hello", 5);
    for (size_t cut = 1; cut < bench.size; cut++) {
        CHECK_ERR(trp_walk_frame(&walk, bench.bytes, cut), TROUPE_EPROTOCOL);
    }
    bench.bytes[4] = TRP_ENVELOPE_VOID;
    CHECK_ERR(trp_walk_frame(&walk, bench.bytes, bench.size), TROUPE_EPROTOCOL);
    bench.bytes[4] = TRP_ENVELOPE_USER;
    bench.bytes[5] = TRP_ENVELOPE_STANDIN;
    CHECK_ERR(trp_walk_frame(&walk, bench.bytes, bench.size), TROUPE_EPROTOCOL);
    trp_numbers_fini(&bench.numbers);
}

static void definitions_out_of_bounds_are_refused(void)
{
    walk_bench_t bench;
    walk_open(&bench);
    trp_numbers_t *numbers = &bench.numbers;
    const trp_view_t type = trp_view_make("\0\0\0\0\0\0\0\0name", 12);
    const trp_view_t name = trp_view_make("\1\0\0\0\0name", 9);
    CHECK_OK(trp_numbers_define_type(numbers, 5, type));
    CHECK_OK(trp_numbers_define_type(numbers, 5, type));
    CHECK_ERR(trp_numbers_define_type(numbers, 0, type), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_numbers_define_type(numbers, TRP_LINK_TYPES_MAX, type), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_numbers_define_type(numbers, 6, trp_view_make(type.data, 8)), TROUPE_EPROTOCOL);
    CHECK_OK(trp_numbers_define_name(numbers, 5, name));
    CHECK_ERR(trp_numbers_define_name(numbers, 0, name), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_numbers_define_name(numbers, TRP_LINK_NAMES_MAX, name), TROUPE_EPROTOCOL);
    CHECK_ERR(trp_numbers_define_name(numbers, 6, trp_view_make(name.data, 4)), TROUPE_EPROTOCOL);
    CHECK_EQ_U64(trp_numbers_name(numbers, 5), 104);
    CHECK_EQ_U64(trp_numbers_name(numbers, UINT32_MAX), 0);
    trp_numbers_fini(numbers);
}

static troupe_err_t define_step(void *user)
{
    (void)user;
    walk_bench_t bench;
    walk_open(&bench);
    troupe_err_t err =
        trp_numbers_define_type(&bench.numbers, 5, trp_view_make("\0\0\0\0\0\0\0\0name", 12));
    if (err == TROUPE_OK) {
        err = trp_numbers_define_name(&bench.numbers, 5, trp_view_make("\1\0\0\0\0name", 9));
    }
    trp_numbers_fini(&bench.numbers);
    return err;
}

static void definitions_without_memory_fail_cleanly(void)
{
    CHECK_ALLOCATIONS(define_step, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_stream_numbers_keeps_and_lets_go),
    CHECK_CASE(a_rewound_stream_sends_the_same_numbers_again),
    CHECK_CASE(frames_are_judged_by_their_numbers),
    CHECK_CASE(both_sides_choose_the_same_of_two_sessions),
    CHECK_CASE(a_body_is_put_together_and_given_away_once),
    CHECK_CASE(contradictions_of_chunks_are_refused),
    CHECK_CASE(a_body_beyond_the_budget_fails_and_takes_nothing),
    CHECK_CASE(the_number_of_open_bodies_is_bounded),
    CHECK_CASE(bodies_take_turns_and_start_again_after_a_rewind),
    CHECK_CASE(a_walk_notes_who_must_see_the_frame),
    CHECK_CASE(a_walk_writes_our_numbers_over_the_peers),
    CHECK_CASE(a_malformed_frame_is_refused_by_the_walk),
    CHECK_CASE(definitions_out_of_bounds_are_refused),
    CHECK_CASE(definitions_without_memory_fail_cleanly),
};

CHECK_MAIN("link.stream", cases)
