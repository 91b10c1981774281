/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The message pools and their depot: magazines, the ceiling, and what comes back. */

#include "actor/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

#define BIG ((size_t)1 << 30)
#define MIB ((size_t)1024 * 1024)

typedef struct pair {
    trp_depot_t depot;
    trp_pool_t pool;
} pair_t;

static void pair_open(pair_t *pair, size_t ceiling)
{
    REQUIRE_OK(trp_depot_init(&pair->depot, ceiling));
    REQUIRE_OK(trp_pool_open(&pair->pool, &pair->depot));
}

static void pair_close(pair_t *pair)
{
    trp_pool_close(&pair->pool);
    CHECK_EQ_U64(atomic_load(&pair->depot.used), 0);
    trp_depot_fini(&pair->depot);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void the_class_of_a_size_is_the_smallest_that_holds_it(void)
{
    for (size_t size = 0; size <= TRP_POOL_BLOCK_MAX; size++) {
        uint32_t class_index = trp_pool_class(size);
        if (class_index >= TRP_POOL_CLASSES || trp_pool_block_size(class_index) < size ||
            (class_index > 0 && trp_pool_block_size(class_index - 1) >= size)) {
            CHECK_FAIL("class %u for %zu bytes", class_index, size);
            return;
        }
    }
}

static int pointer_compare(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t) * (void *const *)a;
    uintptr_t right = (uintptr_t) * (void *const *)b;
    return (left > right) - (left < right);
}

static void blocks_are_aligned_and_never_overlap(void)
{
    enum { LEN = 1000 };
    static void *blocks[LEN];
    for (uint32_t class_index = 0; class_index < TRP_POOL_CLASSES; class_index++) {
        pair_t pair;
        pair_open(&pair, BIG);
        size_t size = trp_pool_block_size(class_index);
        for (size_t i = 0; i < LEN; i++) {
            blocks[i] = trp_pool_take(&pair.pool, class_index, false);
            REQUIRE_NOT_NULL(blocks[i]);
            CHECK_EQ_U64((uintptr_t)blocks[i] % TRP_CACHE_LINE, 0);
            memset(blocks[i], (int)i, size);
        }
        qsort(blocks, LEN, sizeof(blocks[0]), pointer_compare);
        for (size_t i = 1; i < LEN; i++) {
            CHECK_GE_U64((uintptr_t)blocks[i] - (uintptr_t)blocks[i - 1], size);
        }
        for (size_t i = 0; i < LEN; i++) {
            trp_pool_put(&pair.pool, class_index, blocks[i]);
        }
        pair_close(&pair);
    }
}

static void taking_and_giving_back_at_random_keeps_the_account(void)
{
    enum { LEN = 2000 };
    static struct {
        void *block;
        uint32_t class_index;
    } held[LEN];
    size_t held_len = 0;
    pair_t pair;
    trp_random_t random;
    pair_open(&pair, BIG);
    trp_random_seed(&random, check_seed());
    for (uint32_t i = 0; i < 200000; i++) {
        if (held_len < LEN && trp_random_below(&random, 2) == 0) {
            uint32_t class_index = (uint32_t)trp_random_below(&random, 4);
            held[held_len].block = trp_pool_take(&pair.pool, class_index, false);
            REQUIRE_NOT_NULL(held[held_len].block);
            held[held_len++].class_index = class_index;
        } else if (held_len > 0) {
            size_t at = (size_t)trp_random_below(&random, held_len);
            trp_pool_put(&pair.pool, held[at].class_index, held[at].block);
            held[at] = held[--held_len];
        }
    }
    while (held_len > 0) {
        held_len--;
        trp_pool_put(&pair.pool, held[held_len].class_index, held[held_len].block);
    }
    pair_close(&pair);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static void a_one_way_flow_takes_no_more_memory(void)
{
    pair_t pair;
    trp_pool_t other;
    pair_open(&pair, BIG);
    REQUIRE_OK(trp_pool_open(&other, &pair.depot));
    size_t bytes = 0;
    uint64_t allocs = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        void *block = trp_pool_take(&pair.pool, 0, false);
        REQUIRE_NOT_NULL(block);
        trp_pool_put(&other, 0, block);
        if (i == 5000) {
            bytes = pair.depot.slab_bytes;
            allocs = trp_memory_allocs();
        }
    }
    CHECK_EQ_U64(pair.depot.slab_bytes, bytes);
    CHECK_EQ_U64(trp_memory_allocs(), allocs);
    trp_pool_close(&other);
    pair_close(&pair);
}

/* What actors send to an inbox comes back block by block, by threads without a pool. */
static void blocks_given_back_one_by_one_are_taken_again_by_pools(void)
{
    pair_t pair;
    pair_open(&pair, BIG);
    size_t bytes = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        void *block = trp_pool_take(&pair.pool, 0, false);
        REQUIRE_NOT_NULL(block);
        trp_depot_put(&pair.depot, 0, block);
        if (i == 10000) {
            bytes = pair.depot.slab_bytes;
        }
    }
    CHECK_EQ_U64(pair.depot.slab_bytes, bytes);
    pair_close(&pair);
}

static void blocks_of_pools_are_taken_one_by_one_again(void)
{
    pair_t pair;
    pair_open(&pair, BIG);
    size_t bytes = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        void *block = trp_depot_take(&pair.depot, 0, false);
        REQUIRE_NOT_NULL(block);
        trp_pool_put(&pair.pool, 0, block);
        if (i == 10000) {
            bytes = pair.depot.slab_bytes;
        }
    }
    CHECK_EQ_U64(pair.depot.slab_bytes, bytes);
    pair_close(&pair);
}

typedef struct mover {
    trp_depot_t *depot;
    void *_Atomic *slot; /* Blocks go from one thread to the other through here. */
    bool is_giver;
    uint64_t len;
} mover_t;

static void *mover_run(void *argument)
{
    mover_t *mover = argument;
    trp_pool_t pool;
    CHECK_OK(trp_pool_open(&pool, mover->depot));
    for (uint64_t i = 0; i < mover->len; i++) {
        if (mover->is_giver) {
            void *block = trp_pool_take(&pool, 0, false);
            CHECK_NOT_NULL(block);
            memset(block, 1, 64);
            void *empty = NULL;
            while (!atomic_compare_exchange_weak_explicit(
                mover->slot, &empty, block, memory_order_release, memory_order_relaxed)) {
                empty = NULL;
            }
        } else {
            void *block = NULL;
            while ((block = atomic_exchange_explicit(mover->slot, NULL, memory_order_acquire)) ==
                   NULL) {
            }
            trp_pool_put(&pool, 0, block);
        }
    }
    trp_pool_close(&pool);
    return NULL;
}

static void threads_may_pass_blocks_to_each_other(void)
{
    trp_depot_t depot;
    pthread_t threads[4];
    void *_Atomic slots[2] = {NULL, NULL};
    mover_t movers[4];
    REQUIRE_OK(trp_depot_init(&depot, BIG));
    for (size_t i = 0; i < 4; i++) {
        movers[i] = (mover_t){&depot, &slots[i / 2], i % 2 == 0, check_count(2000, 200000)};
        REQUIRE(pthread_create(&threads[i], NULL, mover_run, &movers[i]) == 0);
    }
    for (size_t i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK_EQ_U64(atomic_load(&depot.used), 0);
    trp_depot_fini(&depot);
}

/* ---- the ceiling ----------------------------------------------------------------------------- */

static void the_ceiling_refuses_and_ends_at_four_fifths(void)
{
    trp_depot_t depot;
    REQUIRE_OK(trp_depot_init(&depot, 10 * MIB));
    for (int i = 0; i < 10; i++) {
        CHECK_TRUE(trp_depot_charge(&depot, MIB, false));
    }
    CHECK_FALSE(trp_depot_charge(&depot, 1, false));
    CHECK_EQ_U64(atomic_load(&depot.episodes), 1);
    trp_depot_discharge(&depot, MIB);
    CHECK_FALSE(trp_depot_charge(&depot, 1, false)); /* 90 %: still shedding. */
    trp_depot_discharge(&depot, MIB);
    CHECK_TRUE(trp_depot_charge(&depot, 1, false)); /* 80 %. */
    CHECK_EQ_U64(atomic_load(&depot.episodes), 1);
    trp_depot_discharge(&depot, 1);
    trp_depot_discharge(&depot, 8 * MIB);
    CHECK_EQ_U64(atomic_load(&depot.used), 0);
    trp_depot_fini(&depot);
}

static void system_messages_have_a_sixteenth_more(void)
{
    trp_depot_t depot;
    REQUIRE_OK(trp_depot_init(&depot, 16 * MIB));
    CHECK_TRUE(trp_depot_charge(&depot, 16 * MIB, false));
    CHECK_FALSE(trp_depot_charge(&depot, 64, false));
    CHECK_TRUE(trp_depot_charge(&depot, MIB, true));
    CHECK_FALSE(trp_depot_charge(&depot, 64, true));
    trp_depot_discharge(&depot, MIB);
    CHECK_TRUE(trp_depot_charge(&depot, 64, true)); /* Shedding is for the users' only. */
    trp_depot_discharge(&depot, 64);
    trp_depot_discharge(&depot, 16 * MIB);
    trp_depot_fini(&depot);
}

static void a_pool_takes_up_to_the_ceiling_and_again_after_it_sank(void)
{
    enum { LEN = 100000 };
    static void *blocks[LEN];
    size_t len = 0;
    pair_t pair;
    pair_open(&pair, 2 * MIB);
    while (len < LEN && (blocks[len] = trp_pool_take(&pair.pool, 0, false)) != NULL) {
        len++;
    }
    CHECK_EQ_U64(len, 2 * MIB / 64);
    CHECK_TRUE(atomic_load(&pair.depot.is_shedding));
    blocks[len] = trp_pool_take(&pair.pool, 0, true);
    REQUIRE_NOT_NULL(blocks[len]);
    /* The rest of the magazine that came for it. */
    while (++len < LEN && (blocks[len] = trp_pool_take(&pair.pool, 0, false)) != NULL) {
    }
    CHECK_LE_U64(len, 2 * MIB / 64 + TRP_MAGAZINE_LEN_MAX);
    while (len > 0) {
        trp_pool_put(&pair.pool, 0, blocks[--len]);
    }
    CHECK_FALSE(atomic_load(&pair.depot.is_shedding));
    void *again = trp_pool_take(&pair.pool, 0, false);
    CHECK_NOT_NULL(again);
    trp_pool_put(&pair.pool, 0, again);
    pair_close(&pair);
}

/* ---- without memory -------------------------------------------------------------------------- */

static troupe_err_t open_and_use(void *user)
{
    trp_depot_t depot;
    trp_pool_t pool;
    (void)user;
    REQUIRE_OK(trp_depot_init(&depot, BIG));
    troupe_err_t err = trp_pool_open(&pool, &depot);
    if (err != TROUPE_OK) {
        trp_depot_fini(&depot);
        return err;
    }
    void *blocks[300] = {NULL};
    for (size_t i = 0; i < TRP_ARRAY_LEN(blocks); i++) {
        blocks[i] = trp_pool_take(&pool, 5, false);
        err = blocks[i] == NULL ? TROUPE_ENOMEM : err;
    }
    void *loose = trp_depot_take(&depot, 3, true);
    err = loose == NULL ? TROUPE_ENOMEM : err;
    if (loose != NULL) {
        trp_depot_put(&depot, 3, loose);
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(blocks); i++) {
        if (blocks[i] != NULL) {
            trp_pool_put(&pool, 5, blocks[i]);
        }
    }
    trp_pool_close(&pool);
    CHECK_EQ_U64(atomic_load(&depot.used), 0);
    trp_depot_fini(&depot);
    return err;
}

/* A failure in the middle may be made good by a later try, so that only leaks and crashes count. */
static void without_memory_nothing_leaks(void)
{
    for (uint64_t at = 0; at < 60; at++) {
        int64_t live = trp_memory_live();
        trp_memory_fail_once(at);
        (void)!open_and_use(NULL);
        (void)trp_memory_fail_off();
        CHECK_EQ_I64(trp_memory_live(), live);
        trp_memory_fail_after(at);
        (void)!open_and_use(NULL);
        (void)trp_memory_fail_off();
        CHECK_EQ_I64(trp_memory_live(), live);
    }
    CHECK_OK(open_and_use(NULL));
}

static const check_case_t cases[] = {
    CHECK_CASE(the_class_of_a_size_is_the_smallest_that_holds_it),
    CHECK_CASE(blocks_are_aligned_and_never_overlap),
    CHECK_CASE(taking_and_giving_back_at_random_keeps_the_account),
    CHECK_CASE(a_one_way_flow_takes_no_more_memory),
    CHECK_CASE(blocks_given_back_one_by_one_are_taken_again_by_pools),
    CHECK_CASE(blocks_of_pools_are_taken_one_by_one_again),
    CHECK_CASE(threads_may_pass_blocks_to_each_other),
    CHECK_CASE(the_ceiling_refuses_and_ends_at_four_fifths),
    CHECK_CASE(system_messages_have_a_sixteenth_more),
    CHECK_CASE(a_pool_takes_up_to_the_ceiling_and_again_after_it_sank),
    CHECK_CASE(without_memory_nothing_leaks),
};

CHECK_MAIN("actor.pool", cases)
