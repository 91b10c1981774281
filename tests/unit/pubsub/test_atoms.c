/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Atoms and the map: interning, counting, reuse of ids. */

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "pubsub/atoms.h"
#include "pubsub/map.h"
#include "support/check.h"

static trp_view_t text(const char *bytes)
{
    return trp_view_from_string(bytes);
}

static void a_name_is_interned_once_in_its_space(void)
{
    trp_atoms_t atoms;
    const trp_atom_t *a = NULL;
    const trp_atom_t *b = NULL;
    const trp_atom_t *group = NULL;
    REQUIRE_OK(trp_atoms_init(&atoms, 0, 1));
    CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text("news"), &a));
    CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text("news"), &b));
    CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_GROUP, text("news"), &group));
    CHECK_EQ_PTR(a, b);
    CHECK(a->id != group->id);
    CHECK_EQ_U64(trp_atoms_len(&atoms), 2);
    CHECK_EQ_U64(a->hash, trp_atoms_hash(&atoms, TRP_SPACE_TOPIC, text("news")));
    trp_atoms_unref(&atoms, &a);
    CHECK_NULL(a);
    CHECK_OK(trp_atoms_find(&atoms, TRP_SPACE_TOPIC, text("news"), &a));
    trp_atoms_unref(&atoms, &a);
    trp_atoms_unref(&atoms, &b);
    CHECK_ERR(trp_atoms_find(&atoms, TRP_SPACE_TOPIC, text("news"), &a), TROUPE_ENOENT);
    trp_atoms_unref(&atoms, &group);
    CHECK_EQ_U64(trp_atoms_len(&atoms), 0);
    trp_atoms_fini(&atoms);
}

static void names_have_1_to_2048_bytes_of_any_value(void)
{
    trp_atoms_t atoms;
    uint8_t bytes[TRP_ATOM_SIZE_MAX + 1];
    const trp_atom_t *a = NULL;
    memset(bytes, 0, sizeof(bytes));
    REQUIRE_OK(trp_atoms_init(&atoms, 0, 1));
    CHECK_ERR(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, trp_view_make(bytes, 0), &a),
              TROUPE_EINVAL);
    CHECK_ERR(
        trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, trp_view_make(bytes, TRP_ATOM_SIZE_MAX + 1), &a),
        TROUPE_EINVAL);
    for (size_t size = 1; size <= TRP_ATOM_SIZE_MAX; size++) {
        CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, trp_view_make(bytes, size), &a));
        CHECK_EQ_U64(a->size, size);
    }
    CHECK_EQ_U64(trp_atoms_len(&atoms), TRP_ATOM_SIZE_MAX);
    trp_atoms_fini(&atoms);
}

static void an_id_comes_back_late_and_with_another_generation(void)
{
    trp_atoms_t atoms;
    const trp_atom_t *a = NULL;
    char name[32];
    REQUIRE_OK(trp_atoms_init(&atoms, 0, 1));
    REQUIRE_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text("first"), &a));
    uint32_t id = a->id;
    uint32_t generation = a->generation;
    trp_atoms_unref(&atoms, &a);
    uint32_t turns = 0;
    do {
        (void)snprintf(name, sizeof(name), "n%u", (unsigned)turns++);
        REQUIRE_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text(name), &a));
        bool is_back = a->id == id;
        CHECK(!is_back || a->generation != generation);
        CHECK_ERR(trp_atoms_get(&atoms, id, generation, &(const trp_atom_t *){NULL}),
                  TROUPE_ENOENT);
        trp_atoms_unref(&atoms, &a);
        if (is_back) {
            break;
        }
    } while (turns < 10000);
    CHECK_GE_U64(turns, TRP_ATOMS_QUARANTINE);
    CHECK_LE_U64(turns, 2 * TRP_ATOMS_QUARANTINE);
    trp_atoms_fini(&atoms);
}

static void a_full_table_is_a_typed_error(void)
{
    trp_atoms_t atoms;
    const trp_atom_t *a = NULL;
    char name[32];
    REQUIRE_OK(trp_atoms_init(&atoms, 100, 1));
    for (uint32_t i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof(name), "n%u", (unsigned)i);
        CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text(name), &a));
    }
    const trp_atom_t *last = a;
    CHECK_ERR(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text("more"), &a), TROUPE_EFULL);
    CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text("n5"), &a));
    trp_atoms_unref(&atoms, &last);
    CHECK_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text("more"), &a));
    CHECK_LE_U64(atoms.entry_len, 101);
    trp_atoms_fini(&atoms);
}

#define CHURN_LEN 500u

static void names_that_come_and_go_are_all_found(void)
{
    static const trp_atom_t *held[CHURN_LEN];
    trp_atoms_t atoms;
    trp_random_t random;
    char name[32];
    memset(held, 0, sizeof(held));
    trp_random_seed(&random, check_seed());
    REQUIRE_OK(trp_atoms_init(&atoms, 0, trp_random_next(&random)));
    for (uint32_t i = 0; i < 50000; i++) {
        uint32_t at = (uint32_t)trp_random_below(&random, CHURN_LEN);
        (void)snprintf(name, sizeof(name), "churn.%u", (unsigned)at);
        if (held[at] != NULL) {
            const trp_atom_t *found = NULL;
            REQUIRE_OK(trp_atoms_get(&atoms, held[at]->id, held[at]->generation, &found));
            REQUIRE(found == held[at] && trp_view_equal_string(trp_atom_view(found), name));
            trp_atoms_unref(&atoms, &found);
            trp_atoms_unref(&atoms, &held[at]);
        } else {
            REQUIRE_OK(trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text(name), &held[at]));
        }
    }
    for (uint32_t at = 0; at < CHURN_LEN; at++) {
        trp_atoms_unref(&atoms, &held[at]);
    }
    CHECK_EQ_U64(trp_atoms_len(&atoms), 0);
    trp_atoms_fini(&atoms);
}

static troupe_err_t step_intern(void *user)
{
    trp_atoms_t atoms;
    const trp_atom_t *a = NULL;
    char name[32];
    (void)user;
    troupe_err_t err = trp_atoms_init(&atoms, 0, 1);
    for (uint32_t i = 0; i < 200 && err == TROUPE_OK; i++) {
        (void)snprintf(name, sizeof(name), "n%u", (unsigned)i);
        err = trp_atoms_intern(&atoms, TRP_SPACE_TOPIC, text(name), &a);
    }
    trp_atoms_fini(&atoms);
    return err;
}

static void interning_survives_failing_allocations(void)
{
    CHECK_ALLOCATIONS(step_intern, NULL);
}

static void the_map_holds_what_was_put_and_not_removed(void)
{
    static uint64_t truth[1000];
    trp_map_t map;
    trp_random_t random;
    memset(truth, 0, sizeof(truth));
    trp_random_seed(&random, check_seed());
    trp_map_init(&map);
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t key = 1 + trp_random_below(&random, 999);
        uint64_t value = 1 + trp_random_below(&random, 1000000);
        if (trp_random_below(&random, 2) == 0) {
            uint64_t removed = 0;
            CHECK_EQ_U64(trp_map_remove(&map, key, &removed), truth[key] != 0);
            CHECK_EQ_U64(removed, truth[key]);
            truth[key] = 0;
        } else {
            REQUIRE_OK(trp_map_put(&map, key, value));
            truth[key] = value;
        }
    }
    size_t len = 0;
    for (uint64_t key = 1; key < 1000; key++) {
        const uint64_t *found = trp_map_find(&map, key);
        CHECK_EQ_U64(found != NULL ? *found : 0, truth[key]);
        len += truth[key] != 0 ? 1 : 0;
    }
    CHECK_EQ_U64(map.len, len);
    TRP_MAP_FOREACH(entry, &map)
    {
        CHECK_EQ_U64(entry->value, truth[entry->key]);
        len--;
    }
    CHECK_EQ_U64(len, 0);
    trp_map_fini(&map);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_name_is_interned_once_in_its_space),
    CHECK_CASE(names_have_1_to_2048_bytes_of_any_value),
    CHECK_CASE(an_id_comes_back_late_and_with_another_generation),
    CHECK_CASE(a_full_table_is_a_typed_error),
    CHECK_CASE(names_that_come_and_go_are_all_found),
    CHECK_CASE(interning_survives_failing_allocations),
    CHECK_CASE(the_map_holds_what_was_put_and_not_removed),
};

CHECK_MAIN("pubsub.atoms", cases)
