/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Patterns: what they match, and that the trie agrees with matching them one by one. */

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "pubsub/pattern.h"
#include "support/check.h"

static trp_view_t text(const char *bytes)
{
    return trp_view_from_string(bytes);
}

static const struct {
    const char *pattern;
    const char *name;
    bool is_match;
} table[] = {
    {"orders.*.created", "orders.7.created", true},
    {"orders.*.created", "orders.created", false},
    {"orders.*.created", "orders.7.8.created", false},
    {"orders.>", "orders.7", true},
    {"orders.>", "orders.7.8.9", true},
    {"orders.>", "orders", false},
    {">", "anything", true},
    {">", "a.b.c", true},
    {"*", "one", true},
    {"*", "one.two", false},
    {"*.*", "one.two", true},
    {"a", "a", true},
    {"a", "b", false},
    {"a.b", "a.b", true},
    {"a..b", "a..b", true},
    {"a.*.b", "a..b", true},
    {"a.", "a.", true},
    {"a.", "a", false},
    {"a.>", "a.", true},
    {"*.b", "*.b", true},
};

static void patterns_match_token_by_token(void)
{
    for (size_t i = 0; i < TRP_ARRAY_LEN(table); i++) {
        CHECK_OK(trp_pattern_check(text(table[i].pattern)));
        if (!CHECK_EQ_U64(trp_pattern_matches(text(table[i].pattern), text(table[i].name)),
                          table[i].is_match)) {
            CHECK_FAIL("pattern %s, name %s", table[i].pattern, table[i].name);
        }
    }
}

static void malformed_patterns_are_refused(void)
{
    static const char *const bad[] = {"", ">.a", "a.>.b", "a*", "*a.b", "a.b>", "**", ">>"};
    char deep[2 * TRP_PATTERN_DEPTH_MAX + 2];
    for (size_t i = 0; i < TRP_ARRAY_LEN(bad); i++) {
        if (!CHECK_ERR(trp_pattern_check(text(bad[i])), TROUPE_EINVAL)) {
            CHECK_FAIL("pattern %s", bad[i]);
        }
    }
    for (size_t i = 0; i < sizeof(deep); i++) {
        deep[i] = i % 2 == 0 ? 'a' : '.';
    }
    CHECK_OK(trp_pattern_check(trp_view_make(deep, 2 * TRP_PATTERN_DEPTH_MAX - 1)));
    CHECK_ERR(trp_pattern_check(trp_view_make(deep, 2 * TRP_PATTERN_DEPTH_MAX + 1)), TROUPE_EINVAL);
}

static void count_match(void *context, void *value)
{
    uint32_t *hits = context;
    hits[*(uint32_t *)value]++;
}

#define RANDOM_PATTERNS 200u

static void make_random(trp_random_t *random, bool is_pattern, char *out)
{
    static const char *const tokens[] = {"a", "b", "c", "", "*", ">"};
    uint32_t depth = 1 + (uint32_t)trp_random_below(random, 5);
    out[0] = '\0';
    for (uint32_t i = 0; i < depth; i++) {
        uint64_t which = trp_random_below(random, is_pattern && i + 1 == depth ? 6
                                                  : is_pattern                 ? 5
                                                                               : 4);
        (void)strcat(out, i > 0 ? "." : "");
        (void)strcat(out, tokens[which]);
    }
}

static void the_trie_agrees_with_matching_one_by_one(void)
{
    static char patterns[RANDOM_PATTERNS][32];
    static uint32_t values[RANDOM_PATTERNS];
    bool is_in[RANDOM_PATTERNS] = {false};
    trp_trie_t trie;
    trp_random_t random;
    char name[32];
    trp_random_seed(&random, check_seed());
    REQUIRE_OK(trp_trie_init(&trie, 7));
    for (uint32_t i = 0; i < RANDOM_PATTERNS; i++) {
        values[i] = i;
        make_random(&random, true, patterns[i]);
        is_in[i] = patterns[i][0] != '\0' &&
                   trp_trie_add(&trie, text(patterns[i]), &values[i]) == TROUPE_OK;
    }
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t hits[RANDOM_PATTERNS] = {0};
        uint32_t gone = (uint32_t)trp_random_below(&random, RANDOM_PATTERNS);
        if (round % 200 == 0 && is_in[gone]) {
            CHECK_EQ_PTR(trp_trie_remove(&trie, text(patterns[gone])), &values[gone]);
            CHECK_NULL(trp_trie_remove(&trie, text(patterns[gone])));
            is_in[gone] = false;
        }
        make_random(&random, false, name);
        trp_trie_match(&trie, text(name), count_match, hits);
        for (uint32_t i = 0; i < RANDOM_PATTERNS; i++) {
            bool want =
                is_in[i] && name[0] != '\0' && trp_pattern_matches(text(patterns[i]), text(name));
            if (hits[i] != (want ? 1u : 0u)) {
                CHECK_FAIL("pattern %s name %s hits %u", patterns[i], name, hits[i]);
            }
        }
    }
    for (uint32_t i = 0; i < RANDOM_PATTERNS; i++) {
        if (is_in[i]) {
            CHECK_EQ_PTR(trp_trie_find(&trie, text(patterns[i])), &values[i]);
            CHECK_EQ_PTR(trp_trie_remove(&trie, text(patterns[i])), &values[i]);
        }
    }
    CHECK_EQ_U64(trp_table_len(&trie.children), 0);
    trp_trie_fini(&trie);
}

/* Many stars may match the same name, but each node of the trie is looked at once. */
static void many_stars_cost_no_more_than_the_trie_has_nodes(void)
{
    trp_trie_t trie;
    uint32_t zero = 0;
    uint32_t hits[1] = {0};
    char pattern[64];
    char name[64];
    REQUIRE_OK(trp_trie_init(&trie, 7));
    for (uint32_t bits = 0; bits < 4096; bits++) {
        for (uint32_t i = 0; i < 12; i++) {
            pattern[2 * i] = (bits >> i & 1) != 0 ? '*' : 'a';
            pattern[2 * i + 1] = '.';
            name[2 * i] = 'a';
            name[2 * i + 1] = '.';
        }
        CHECK_OK(trp_trie_add(&trie, trp_view_make(pattern, 23), &zero));
    }
    trp_trie_match(&trie, trp_view_make(name, 23), count_match, hits);
    CHECK_EQ_U64(hits[0], 4096);
    trp_trie_fini(&trie);
}

static troupe_err_t step_trie(void *user)
{
    trp_trie_t trie;
    uint32_t value = 0;
    (void)user;
    troupe_err_t err = trp_trie_init(&trie, 7);
    if (err == TROUPE_OK) {
        err = trp_trie_add(&trie, text("a.b.c"), &value);
    }
    if (err == TROUPE_OK) {
        err = trp_trie_add(&trie, text("a.*.>"), &value);
    } else if (trie.root != NULL) {
        CHECK_EQ_U64(trp_table_len(&trie.children), 0);
    }
    trp_trie_fini(&trie);
    return err;
}

static void the_trie_survives_failing_allocations(void)
{
    CHECK_ALLOCATIONS(step_trie, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(patterns_match_token_by_token),
    CHECK_CASE(malformed_patterns_are_refused),
    CHECK_CASE(the_trie_agrees_with_matching_one_by_one),
    CHECK_CASE(many_stars_cost_no_more_than_the_trie_has_nodes),
    CHECK_CASE(the_trie_survives_failing_allocations),
};

CHECK_MAIN("pubsub.pattern", cases)
