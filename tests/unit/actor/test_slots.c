/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Slots and their generations: leasing, reuse first in first out, retirement. */

#include "actor/slots.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

#define DISPATCHER 7u

static trp_slots_t slots;

static void open_slots(void)
{
    memset(&slots, 0, sizeof(slots));
    REQUIRE_OK(trp_slots_init(&slots, DISPATCHER));
}

static void a_lease_gives_ids_that_nobody_had(void)
{
    trp_lease_t a = {0};
    trp_lease_t b = {0};
    open_slots();
    CHECK_NULL(trp_slots_entry(&slots, 1));
    CHECK_OK(trp_slots_lease(&slots, &a));
    CHECK_OK(trp_slots_lease(&slots, &b));
    CHECK_EQ_U64(a.len, TRP_LEASE_LEN);
    CHECK_EQ_U64(b.len, TRP_LEASE_LEN);
    for (uint32_t i = 0; i < TRP_LEASE_LEN; i++) {
        CHECK_EQ_U64(trp_id_dispatcher(a.ids[i]), DISPATCHER);
        CHECK_NE_U64(trp_id_slot(a.ids[i]), TRP_SLOT_DISPATCHER);
        CHECK_NE_U64(trp_id_generation(a.ids[i]), 0);
        const trp_slot_t *entry = trp_slots_entry(&slots, trp_id_slot(a.ids[i]));
        REQUIRE_NOT_NULL(entry);
        CHECK_EQ_U64(entry->generation, trp_id_generation(a.ids[i]));
        CHECK_NULL(entry->actor);
        for (uint32_t k = 0; k < TRP_LEASE_LEN; k++) {
            CHECK_NE_U64(a.ids[i], b.ids[k]);
        }
    }
    trp_slots_fini(&slots);
}

static void slots_of_asks_and_beyond_are_no_actors(void)
{
    open_slots();
    CHECK_NULL(trp_slots_entry(&slots, TRP_SLOTS_MAX));
    CHECK_NULL(trp_slots_entry(&slots, TRP_SLOT_ASK | 5));
    CHECK_NULL(trp_slots_entry(&slots, (1u << TRP_SLOT_BITS) - 1));
    trp_slots_fini(&slots);
}

static void freed_slots_come_back_first_in_first_out_with_the_next_generation(void)
{
    trp_lease_t lease = {0};
    uint64_t ids[TRP_LEASE_LEN];
    open_slots();
    REQUIRE_OK(trp_slots_lease(&slots, &lease));
    memcpy(ids, lease.ids, sizeof(ids));
    lease.len = 0;
    for (uint32_t i = 0; i < TRP_LEASE_LEN; i++) {
        trp_slots_free(&slots, trp_id_slot(ids[i]));
    }
    REQUIRE_OK(trp_slots_lease(&slots, &lease));
    for (uint32_t i = 0; i < TRP_LEASE_LEN; i++) {
        CHECK_EQ_U64(trp_id_slot(lease.ids[i]), trp_id_slot(ids[i]));
        CHECK_EQ_U64(trp_id_generation(lease.ids[i]), trp_id_generation(ids[i]) + 1);
    }
    trp_slots_fini(&slots);
}

static void a_slot_whose_generations_are_used_up_is_retired(void)
{
    trp_lease_t lease = {0};
    open_slots();
    REQUIRE_OK(trp_slots_lease(&slots, &lease));
    uint32_t slot = trp_id_slot(lease.ids[0]);
    trp_slots_entry(&slots, slot)->generation = TRP_GENERATION_MAX;
    uint32_t len = lease.len;
    lease.len = 0;
    for (uint32_t i = 0; i < len; i++) {
        trp_slots_free(&slots, trp_id_slot(lease.ids[i]));
    }
    for (int round = 0; round < 4; round++) {
        lease.len = 0;
        REQUIRE_OK(trp_slots_lease(&slots, &lease));
        for (uint32_t i = 0; i < lease.len; i++) {
            CHECK_NE_U64(trp_id_slot(lease.ids[i]), slot);
        }
    }
    CHECK_EQ_U64(trp_slots_entry(&slots, slot)->generation, 0);
    trp_slots_fini(&slots);
}

static void what_was_leased_and_not_used_can_be_given_back(void)
{
    trp_lease_t lease = {0};
    open_slots();
    REQUIRE_OK(trp_slots_lease(&slots, &lease));
    uint64_t last = lease.ids[TRP_LEASE_LEN - 1];
    trp_slots_unlease(&slots, &lease);
    CHECK_EQ_U64(lease.len, 0);
    REQUIRE_OK(trp_slots_lease(&slots, &lease));
    CHECK_EQ_U64(lease.ids[0], last); /* Unused, so the generation stays. */
    trp_slots_fini(&slots);
}

/* The whole life of many slots at random: no id is ever given out twice. */
static void no_id_is_ever_given_out_twice(void)
{
    enum { HELD = 3000, ROUNDS = 200000 };
    static uint64_t held[HELD];
    static uint32_t last_generation[100000];
    trp_lease_t lease = {0};
    trp_random_t random;
    uint32_t len = 0;
    open_slots();
    memset(last_generation, 0, sizeof(last_generation));
    trp_random_seed(&random, check_seed());
    for (int i = 0; i < ROUNDS; i++) {
        if (len < HELD && trp_random_below(&random, 2) == 0) {
            if (lease.len == 0) {
                REQUIRE_OK(trp_slots_lease(&slots, &lease));
            }
            uint64_t id = lease.ids[--lease.len];
            REQUIRE(trp_id_slot(id) < TRP_ARRAY_LEN(last_generation));
            CHECK_GT_U64(trp_id_generation(id), last_generation[trp_id_slot(id)]);
            last_generation[trp_id_slot(id)] = trp_id_generation(id);
            held[len++] = id;
        } else if (len > 0) {
            uint32_t at = (uint32_t)trp_random_below(&random, len);
            trp_slots_free(&slots, trp_id_slot(held[at]));
            held[at] = held[--len];
        }
    }
    trp_slots_fini(&slots);
}

static void when_all_slots_are_in_use_leasing_says_full(void)
{
    trp_lease_t lease = {0};
    open_slots();
    REQUIRE_OK(trp_slots_lease(&slots, &lease));
    slots.fresh = TRP_SLOTS_MAX; /* As if the rest had been given out. */
    lease.len = 0;
    CHECK_ERR(trp_slots_lease(&slots, &lease), TROUPE_EFULL);
    CHECK_EQ_U64(lease.len, 0);
    trp_slots_fini(&slots);
}

static troupe_err_t lease_step(void *user)
{
    trp_lease_t lease = {0};
    (void)user;
    open_slots();
    troupe_err_t err = trp_slots_lease(&slots, &lease);
    trp_slots_fini(&slots);
    return err;
}

static void without_memory_leasing_fails_and_leaks_nothing(void)
{
    CHECK_ALLOCATIONS(lease_step, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_lease_gives_ids_that_nobody_had),
    CHECK_CASE(slots_of_asks_and_beyond_are_no_actors),
    CHECK_CASE(freed_slots_come_back_first_in_first_out_with_the_next_generation),
    CHECK_CASE(a_slot_whose_generations_are_used_up_is_retired),
    CHECK_CASE(what_was_leased_and_not_used_can_be_given_back),
    CHECK_CASE(no_id_is_ever_given_out_twice),
    CHECK_CASE(when_all_slots_are_in_use_leasing_says_full),
    CHECK_CASE(without_memory_leasing_fails_and_leaks_nothing),
};

CHECK_MAIN("actor.slots", cases)
