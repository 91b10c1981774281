/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Patterns and names of any bytes: the trie finds just what matching one by one finds. Input is a name
 * and patterns, each ended by a line break. */

#include <string.h>

#include "base/assert.h"
#include "pubsub/pattern.h"

#define PATTERNS_MAX 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static trp_view_t take_line(trp_view_t *rest)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    trp_view_t line = *rest;
    if (end == NULL) {
        rest->size = 0;
        return line;
    }
    line.size = (size_t)(end - line.data);
    *rest = trp_view_make(end + 1, rest->size - line.size - 1);
    return line;
}

static void count_hit(void *context, void *value)
{
    (void)context;
    (*(uint32_t *)value)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_view_t patterns[PATTERNS_MAX];
    uint32_t hits[PATTERNS_MAX] = {0};
    uint32_t len = 0;
    trp_trie_t trie;
    trp_view_t rest = trp_view_make(data, size);
    trp_view_t name = take_line(&rest);
    if (trp_trie_init(&trie, 1) != TROUPE_OK) {
        return 0;
    }
    while (rest.size > 0 && len < PATTERNS_MAX) {
        patterns[len] = take_line(&rest);
        if (trp_pattern_check(patterns[len]) == TROUPE_OK &&
            trp_trie_add(&trie, patterns[len], &hits[len]) == TROUPE_OK) {
            len++;
        }
    }
    trp_trie_match(&trie, name, count_hit, NULL);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t want = name.size > 0 && trp_pattern_matches(patterns[i], name) ? 1 : 0;
        TRP_ASSERT(hits[i] == want);
        TRP_ASSERT(trp_trie_remove(&trie, patterns[i]) == &hits[i]);
    }
    TRP_ASSERT(trp_table_len(&trie.children) == 0);
    trp_trie_fini(&trie);
    return 0;
}
