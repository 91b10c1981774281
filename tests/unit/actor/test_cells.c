/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Cells in slabs: lines of their own, reuse, large ones. */

#include "actor/cells.h"

#include <string.h>

#include "base/attr.h"
#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

static void cells_lie_on_lines_of_their_own(void)
{
    enum { LEN = 2000 };
    static unsigned char *held[LEN];
    static size_t sizes[LEN];
    trp_cells_t cells;
    trp_random_t random;
    trp_cells_init(&cells);
    trp_random_seed(&random, check_seed());
    for (size_t i = 0; i < LEN; i++) {
        sizes[i] = 1 + (size_t)trp_random_below(&random, 6000);
        held[i] = trp_cells_take(&cells, sizes[i]);
        REQUIRE_NOT_NULL(held[i]);
        CHECK_EQ_U64((uintptr_t)held[i] % TRP_CACHE_LINE, 0);
        memset(held[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < LEN; i++) {
        bool is_whole = held[i][0] == i % 251 && held[i][sizes[i] - 1] == i % 251 &&
                        memcmp(held[i], held[i] + 1, sizes[i] - 1) == 0;
        CHECK_TRUE(is_whole);
        trp_cells_put(&cells, held[i], sizes[i]);
    }
    trp_cells_fini(&cells);
}

static void a_cell_given_back_is_taken_again(void)
{
    trp_cells_t cells;
    trp_cells_init(&cells);
    void *first = trp_cells_take(&cells, 192);
    REQUIRE_NOT_NULL(first);
    for (int i = 0; i < 100000; i++) {
        void *other = trp_cells_take(&cells, 190);
        REQUIRE_NOT_NULL(other);
        trp_cells_put(&cells, other, 190);
    }
    trp_cells_put(&cells, first, 192);
    CHECK_EQ_PTR(trp_cells_take(&cells, 130), first);
    trp_cells_fini(&cells);
}

static void steady_use_allocates_nothing(void)
{
    enum { LEN = 500 };
    void *held[LEN];
    trp_cells_t cells;
    trp_cells_init(&cells);
    uint64_t allocs = 0;
    for (int round = 0; round < 10; round++) {
        if (round == 1) {
            allocs = trp_memory_allocs();
        }
        for (size_t i = 0; i < LEN; i++) {
            held[i] = trp_cells_take(&cells, 64 + 32 * (i % 50));
        }
        for (size_t i = 0; i < LEN; i++) {
            trp_cells_put(&cells, held[i], 64 + 32 * (i % 50));
        }
    }
    CHECK_EQ_U64(trp_memory_allocs(), allocs);
    trp_cells_fini(&cells);
}

static troupe_err_t take_step(void *user)
{
    trp_cells_t cells;
    (void)user;
    trp_cells_init(&cells);
    void *small = trp_cells_take(&cells, 128);
    void *large = small == NULL ? NULL : trp_cells_take(&cells, 100000);
    if (large != NULL) {
        trp_cells_put(&cells, large, 100000);
    }
    trp_cells_fini(&cells);
    return large == NULL ? TROUPE_ENOMEM : TROUPE_OK;
}

static void without_memory_there_is_no_cell(void)
{
    CHECK_ALLOCATIONS(take_step, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(cells_lie_on_lines_of_their_own),
    CHECK_CASE(a_cell_given_back_is_taken_again),
    CHECK_CASE(steady_use_allocates_nothing),
    CHECK_CASE(without_memory_there_is_no_cell),
};

CHECK_MAIN("actor.cells", cases)
