/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The intrusive list. */

#include "base/list.h"

#include "support/check.h"

typedef struct item {
    int number;
    trp_node_link_t link;
} item_t;

static int item_number(trp_node_link_t *link)
{
    return TRP_CONTAINER_OF(link, item_t, link)->number;
}

static void fill(trp_list_t *list, item_t *items, int len, int first)
{
    trp_list_init(list);
    for (int i = 0; i < len; i++) {
        items[i] = (item_t){first + i, {NULL, NULL}};
        trp_list_push_back(list, &items[i].link);
    }
}

static void an_empty_list_has_no_ends(void)
{
    trp_list_t list;
    trp_list_init(&list);
    CHECK(trp_list_is_empty(&list));
    CHECK_NULL(trp_list_first(&list));
    CHECK_NULL(trp_list_last(&list));
    CHECK_NULL(trp_list_pop_front(&list));
}

static void elements_come_out_in_order(void)
{
    trp_list_t list;
    item_t items[3];
    fill(&list, items, 3, 1);
    item_t zero = {0, {NULL, NULL}};
    trp_list_push_front(&list, &zero.link);
    CHECK_EQ_I64(item_number(trp_list_first(&list)), 0);
    CHECK_EQ_I64(item_number(trp_list_last(&list)), 3);
    for (int i = 0; i < 4; i++) {
        trp_node_link_t *link = trp_list_pop_front(&list);
        REQUIRE_NOT_NULL(link);
        CHECK_EQ_I64(item_number(link), i);
        CHECK(!trp_list_is_linked(link));
    }
    CHECK(trp_list_is_empty(&list));
}

static void an_element_leaves_from_the_middle(void)
{
    trp_list_t list;
    item_t items[3];
    fill(&list, items, 3, 0);
    trp_list_remove(&items[1].link);
    CHECK(!trp_list_is_linked(&items[1].link));
    CHECK_EQ_PTR(items[0].link.next, &items[2].link);
    CHECK_EQ_PTR(items[2].link.prev, &items[0].link);
}

static void a_list_is_appended_to_another(void)
{
    trp_list_t a;
    trp_list_t b;
    item_t first[2];
    item_t second[2];
    fill(&a, first, 2, 0);
    fill(&b, second, 2, 2);
    trp_list_append(&a, &b);
    CHECK(trp_list_is_empty(&b));
    trp_list_append(&a, &b);
    int expected = 0;
    TRP_LIST_FOREACH (link, &a) {
        CHECK_EQ_I64(item_number(link), expected);
        expected++;
    }
    CHECK_EQ_I64(expected, 4);
    trp_list_append(&b, &a);
    CHECK(trp_list_is_empty(&a));
    CHECK_EQ_I64(item_number(trp_list_first(&b)), 0);
    CHECK_EQ_I64(item_number(trp_list_last(&b)), 3);
}

static void a_safe_walk_may_take_elements_out(void)
{
    trp_list_t list;
    item_t items[5];
    fill(&list, items, 5, 0);
    TRP_LIST_FOREACH_SAFE (link, &list) {
        if (item_number(link) % 2 == 0) {
            trp_list_remove(link);
        }
    }
    CHECK_EQ_I64(item_number(trp_list_first(&list)), 1);
    CHECK_EQ_I64(item_number(trp_list_last(&list)), 3);
}

static void misuse_is_noticed(void)
{
    trp_list_t list;
    item_t items[1];
    fill(&list, items, 1, 0);
    CHECK_ABORTS(trp_list_push_back(&list, &items[0].link));
    trp_list_remove(&items[0].link);
    CHECK_ABORTS(trp_list_remove(&items[0].link));
}

static const check_case_t cases[] = {
    CHECK_CASE(an_empty_list_has_no_ends),         CHECK_CASE(elements_come_out_in_order),
    CHECK_CASE(an_element_leaves_from_the_middle), CHECK_CASE(a_list_is_appended_to_another),
    CHECK_CASE(a_safe_walk_may_take_elements_out), CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.list", cases)
