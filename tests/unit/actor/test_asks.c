/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of asks: reuse first in first out, stale ids, retirement, the bound. */

#include "actor/asks.h"

#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

#define DISPATCHER 3u
#define OWNER 77u

static trp_asks_t asks;

static trp_ask_t *take(void)
{
    trp_ask_t *ask = trp_asks_take(&asks);
    if (ask != NULL) {
        ask->owner = OWNER;
    }
    return ask;
}

static void an_ask_is_found_until_it_ends(void)
{
    trp_asks_init(&asks, DISPATCHER);
    trp_ask_t *ask = take();
    REQUIRE_NOT_NULL(ask);
    uint64_t id = ask->id;
    CHECK_TRUE(trp_id_is_ask(id));
    CHECK_EQ_U64(trp_id_dispatcher(id), DISPATCHER);
    CHECK_EQ_PTR(trp_asks_find(&asks, id), ask);
    CHECK_NULL(trp_asks_find(&asks, id + 1));
    CHECK_NULL(trp_asks_find(&asks, id ^ (UINT64_C(5) << 32)));
    trp_asks_put(&asks, ask);
    CHECK_NULL(trp_asks_find(&asks, id));
    CHECK_EQ_U64(asks.len, 0);
    trp_asks_fini(&asks);
}

static void a_late_answer_never_meets_the_next_ask_of_its_slot(void)
{
    trp_asks_init(&asks, DISPATCHER);
    trp_ask_t *first = take();
    uint64_t id = first->id;
    trp_asks_put(&asks, first);
    trp_ask_t *second = take();
    CHECK_EQ_PTR(second, first);
    CHECK_NE_U64(second->id, id);
    CHECK_NULL(trp_asks_find(&asks, id));
    trp_asks_put(&asks, second);
    trp_asks_fini(&asks);
}

static void slots_are_reused_first_in_first_out(void)
{
    enum { LEN = 3000 };
    static trp_ask_t *held[LEN];
    trp_asks_init(&asks, DISPATCHER);
    for (size_t i = 0; i < LEN; i++) {
        held[i] = take();
        REQUIRE_NOT_NULL(held[i]);
    }
    for (size_t i = 0; i < LEN; i++) {
        trp_asks_put(&asks, held[LEN - 1 - i]);
    }
    for (size_t i = 0; i < LEN; i++) {
        CHECK_EQ_PTR(take(), held[LEN - 1 - i]);
    }
    CHECK_EQ_U64(asks.len, LEN);
    trp_asks_fini(&asks);
}

static void a_slot_whose_generations_are_used_up_is_retired(void)
{
    trp_asks_init(&asks, DISPATCHER);
    trp_ask_t *ask = take();
    ask->id = trp_id_make(DISPATCHER, trp_id_slot(ask->id), UINT32_MAX);
    uint64_t id = ask->id;
    trp_asks_put(&asks, ask);
    CHECK_NULL(trp_asks_find(&asks, id));
    for (int i = 0; i < 10; i++) {
        trp_ask_t *other = take();
        CHECK_TRUE(other != ask);
        trp_asks_put(&asks, other);
    }
    trp_asks_fini(&asks);
}

static void when_all_are_waiting_there_is_no_further_one(void)
{
    trp_asks_init(&asks, DISPATCHER);
    for (uint32_t i = 0; i < TRP_ASKS_MAX; i++) {
        REQUIRE_NOT_NULL(take());
    }
    CHECK_NULL(take());
    trp_asks_put(&asks, trp_asks_at(&asks, 4711));
    CHECK_EQ_PTR(take(), trp_asks_at(&asks, 4711));
    CHECK_NULL(take());
    CHECK_GE_U64(TRP_ASKS_MAX, 65536);
    trp_asks_fini(&asks);
}

static troupe_err_t take_step(void *user)
{
    (void)user;
    trp_asks_init(&asks, DISPATCHER);
    trp_ask_t *ask = take();
    if (ask != NULL) {
        trp_asks_put(&asks, ask);
    }
    trp_asks_fini(&asks);
    return ask == NULL ? TROUPE_ENOMEM : TROUPE_OK;
}

static void without_memory_there_is_no_ask(void)
{
    CHECK_ALLOCATIONS(take_step, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(an_ask_is_found_until_it_ends),
    CHECK_CASE(a_late_answer_never_meets_the_next_ask_of_its_slot),
    CHECK_CASE(slots_are_reused_first_in_first_out),
    CHECK_CASE(a_slot_whose_generations_are_used_up_is_retired),
    CHECK_CASE(when_all_are_waiting_there_is_no_further_one),
    CHECK_CASE(without_memory_there_is_no_ask),
};

CHECK_MAIN("actor.asks", cases)
