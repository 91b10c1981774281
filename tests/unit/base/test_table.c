/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry by key. */

#include "base/table.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/random.h"
#include "support/check.h"

#define ITEMS 3000

typedef struct item {
    trp_table_entry_t entry;
    char key[16];
    bool present;
} item_t;

static item_t items[ITEMS];

static void items_reset(void)
{
    memset(items, 0, sizeof(items));
    for (unsigned i = 0; i < ITEMS; i++) {
        (void)snprintf(items[i].key, sizeof(items[i].key), "key/%u", i);
    }
}

static troupe_err_t add(trp_table_t *table, item_t *item)
{
    return trp_table_add(table, &item->entry, item->key, strlen(item->key));
}

static item_t *find(const trp_table_t *table, const char *key)
{
    trp_table_entry_t *entry = trp_table_find(table, key, strlen(key));
    return entry != NULL ? TRP_CONTAINER_OF(entry, item_t, entry) : NULL;
}

static void what_is_added_is_found(void)
{
    items_reset();
    trp_table_t table;
    trp_table_init(&table, 1, ITEMS);
    CHECK_NULL(find(&table, "key/1"));
    CHECK_OK(add(&table, &items[1]));
    CHECK_OK(add(&table, &items[2]));
    CHECK_EQ_PTR(find(&table, "key/1"), &items[1]);
    CHECK_EQ_PTR(find(&table, "key/2"), &items[2]);
    CHECK_NULL(find(&table, "key/3"));
    CHECK_NULL(find(&table, "key/"));
    CHECK_EQ_U64(trp_table_len(&table), 2);
    trp_table_fini(&table);
    CHECK_EQ_U64(trp_table_len(&table), 0);
}

static void a_key_is_there_once(void)
{
    items_reset();
    trp_table_t table;
    trp_table_init(&table, 1, ITEMS);
    memcpy(items[2].key, items[1].key, sizeof(items[1].key));
    CHECK_OK(add(&table, &items[1]));
    CHECK_ERR(add(&table, &items[2]), TROUPE_EEXIST);
    CHECK_EQ_PTR(find(&table, "key/1"), &items[1]);
    trp_table_fini(&table);
}

static void keys_are_any_bytes(void)
{
    trp_table_t table;
    trp_table_init(&table, 1, 10);
    trp_table_entry_t a;
    trp_table_entry_t b;
    trp_table_entry_t empty;
    CHECK_OK(trp_table_add(&table, &a, "\0\0", 2));
    CHECK_OK(trp_table_add(&table, &b, "\0", 1));
    CHECK_OK(trp_table_add(&table, &empty, "", 0));
    CHECK_EQ_PTR(trp_table_find(&table, "\0\0", 2), &a);
    CHECK_EQ_PTR(trp_table_find(&table, "\0\0", 1), &b);
    CHECK_EQ_PTR(trp_table_find(&table, "\0\0", 0), &empty);
    trp_table_fini(&table);
}

static void the_bound_holds(void)
{
    items_reset();
    trp_table_t table;
    trp_table_init(&table, 1, 2);
    CHECK_OK(add(&table, &items[0]));
    CHECK_OK(add(&table, &items[1]));
    CHECK_ERR(add(&table, &items[2]), TROUPE_EFULL);
    trp_table_remove(&table, &items[0].entry);
    CHECK_OK(add(&table, &items[2]));
    trp_table_fini(&table);
}

static void walking_goes_in_the_order_of_insertion(void)
{
    items_reset();
    trp_table_t table;
    trp_table_init(&table, 1, ITEMS);
    CHECK_NULL(trp_table_first(&table));
    for (unsigned i = 0; i < 500; i++) {
        CHECK_OK(add(&table, &items[(i * 7) % 500]));
    }
    unsigned at = 0;
    TRP_TABLE_FOREACH (entry, &table) {
        CHECK_EQ_PTR(TRP_CONTAINER_OF(entry, item_t, entry), &items[(at * 7) % 500]);
        trp_table_remove(&table, entry);
        at++;
    }
    CHECK_EQ_U64(at, 500);
    CHECK_EQ_U64(trp_table_len(&table), 0);
    trp_table_fini(&table);
}

static void a_random_life_is_as_the_model_says(void)
{
    items_reset();
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    trp_table_t table;
    trp_table_init(&table, trp_random_next(&random), ITEMS);
    size_t len = 0;
    for (int step = 0; step < 100000; step++) {
        item_t *item = &items[trp_random_below(&random, ITEMS)];
        CHECK_EQ_PTR(find(&table, item->key), item->present ? item : NULL);
        if (item->present) {
            trp_table_remove(&table, &item->entry);
            len--;
        } else {
            CHECK_OK(add(&table, item));
            len++;
        }
        item->present = !item->present;
    }
    CHECK_EQ_U64(trp_table_len(&table), len);
    trp_table_fini(&table);
}

static troupe_err_t add_many(void *user)
{
    (void)user;
    items_reset();
    trp_table_t table;
    trp_table_init(&table, 5, ITEMS);
    troupe_err_t err = TROUPE_OK;
    size_t added = 0;
    while (added < 1000 && err == TROUPE_OK) {
        err = add(&table, &items[added]);
        added += err == TROUPE_OK;
    }
    /* The one that failed isn't in it, and all others still are. */
    CHECK_EQ_U64(trp_table_len(&table), added);
    for (size_t i = 0; i < ITEMS && i <= added; i++) {
        CHECK_EQ_PTR(find(&table, items[i].key), i < added ? &items[i] : NULL);
    }
    trp_table_fini(&table);
    return err;
}

static void every_allocation_may_fail(void)
{
    CHECK_ALLOCATIONS(add_many, NULL);
}

static void misuse_is_noticed(void)
{
    items_reset();
    trp_table_t table;
    CHECK_ABORTS(trp_table_init(&table, 1, 0));
    trp_table_init(&table, 1, 10);
    CHECK_ABORTS(trp_table_remove(&table, &items[0].entry));
    CHECK_OK(add(&table, &items[0]));
    CHECK_ABORTS(trp_table_remove(&table, &items[1].entry));
    trp_table_remove(&table, &items[0].entry);
    CHECK_ABORTS(trp_table_remove(&table, &items[0].entry));
    trp_table_fini(&table);
}

static const check_case_t cases[] = {
    CHECK_CASE(what_is_added_is_found),
    CHECK_CASE(a_key_is_there_once),
    CHECK_CASE(keys_are_any_bytes),
    CHECK_CASE(the_bound_holds),
    CHECK_CASE(walking_goes_in_the_order_of_insertion),
    CHECK_CASE(a_random_life_is_as_the_model_says),
    CHECK_CASE(every_allocation_may_fail),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.table", cases)
