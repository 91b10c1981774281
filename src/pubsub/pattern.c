/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The trie of patterns. */

#include "pubsub/pattern.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "pubsub/atoms.h"

#define PATTERN_SEPARATOR '.'
#define PATTERN_ONE '*'
#define PATTERN_REST '>'

struct trp_trie_node {
    trp_table_entry_t entry;
    trp_trie_node_t *parent;
    uint64_t number; /* Stands for the node in its children's keys. */
    uint32_t child_count;
    void *value; /* Of the pattern that ends here, or NULL. */
    size_t key_size;
    uint8_t key[]; /* The parent's number, then the token. */
};

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Takes the first token off; false when nothing is left. An empty name part is a token. */
static bool pattern_next(trp_view_t *rest, bool *is_done, trp_view_t *ret_token)
{
    if (*is_done) {
        return false;
    }
    const uint8_t *end = rest->size == 0 ? NULL : memchr(rest->data, PATTERN_SEPARATOR, rest->size);
    if (end == NULL) {
        *ret_token = *rest;
        *is_done = true;
        return true;
    }
    size_t size = (size_t)(end - rest->data);
    *ret_token = trp_view_make(rest->data, size);
    *rest = trp_view_make(end + 1, rest->size - size - 1);
    return true;
}

static bool pattern_is(trp_view_t token, uint8_t wildcard)
{
    return token.size == 1 && token.data[0] == wildcard;
}

static bool pattern_token_is_good(trp_view_t token)
{
    if (token.size <= 1) {
        return true;
    }
    return memchr(token.data, PATTERN_ONE, token.size) == NULL &&
           memchr(token.data, PATTERN_REST, token.size) == NULL;
}

troupe_err_t trp_pattern_check(trp_view_t pattern)
{
    if (pattern.size == 0 || pattern.size > TRP_ATOM_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    trp_view_t rest = pattern;
    trp_view_t token;
    bool is_done = false;
    size_t depth = 0;
    bool is_rest = false;
    while (pattern_next(&rest, &is_done, &token)) {
        depth++;
        if (is_rest || depth > TRP_PATTERN_DEPTH_MAX || !pattern_token_is_good(token)) {
            return TROUPE_EINVAL;
        }
        is_rest = pattern_is(token, PATTERN_REST);
    }
    return TROUPE_OK;
}

bool trp_pattern_matches(trp_view_t pattern, trp_view_t name)
{
    bool pattern_done = false;
    bool name_done = false;
    trp_view_t want;
    trp_view_t have;
    while (pattern_next(&pattern, &pattern_done, &want)) {
        if (!pattern_next(&name, &name_done, &have)) {
            return false;
        }
        if (pattern_is(want, PATTERN_REST)) {
            return true;
        }
        if (!pattern_is(want, PATTERN_ONE) && !trp_view_equal(want, have)) {
            return false;
        }
    }
    return name_done;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static size_t trie_key(uint8_t *key, const trp_trie_node_t *parent, trp_view_t token)
{
    memcpy(key, &parent->number, sizeof(parent->number));
    if (token.size > 0) {
        memcpy(key + sizeof(parent->number), token.data, token.size);
    }
    return sizeof(parent->number) + token.size;
}

/* Not inlined: the key must not lie in each frame of the walk. */
static TRP_NOINLINE trp_trie_node_t *trie_child(const trp_trie_t *trie,
                                                const trp_trie_node_t *parent, trp_view_t token)
{
    uint8_t key[sizeof(uint64_t) + TRP_ATOM_SIZE_MAX];
    if (parent->child_count == 0 || token.size > TRP_ATOM_SIZE_MAX) {
        return NULL;
    }
    size_t size = trie_key(key, parent, token);
    trp_table_entry_t *entry = trp_table_find(&trie->children, key, size);
    return entry != NULL ? TRP_CONTAINER_OF(entry, trp_trie_node_t, entry) : NULL;
}

static troupe_err_t trie_make_child(trp_trie_t *trie, trp_trie_node_t *parent, trp_view_t token,
                                    trp_trie_node_t **ret_node)
{
    trp_trie_node_t *node = trp_calloc(1, sizeof(*node) + sizeof(uint64_t) + token.size);
    if (node == NULL) {
        return TROUPE_ENOMEM;
    }
    node->parent = parent;
    node->number = trie->next_number;
    node->key_size = trie_key(node->key, parent, token);
    troupe_err_t err = trp_table_add(&trie->children, &node->entry, node->key, node->key_size);
    if (err != TROUPE_OK) {
        trp_free(node);
        return err;
    }
    trie->next_number++;
    parent->child_count++;
    *ret_node = node;
    return TROUPE_OK;
}

/* Frees the node and its parents as long as they carry nothing. */
static void trie_prune(trp_trie_t *trie, trp_trie_node_t *node)
{
    while (node != trie->root && node->value == NULL && node->child_count == 0) {
        trp_trie_node_t *parent = node->parent;
        TRP_ASSERT(parent->child_count > 0);
        parent->child_count--;
        trp_table_remove(&trie->children, &node->entry);
        trp_free(node);
        node = parent;
    }
}

/* ---- the trie -------------------------------------------------------------------------------- */

troupe_err_t trp_trie_init(trp_trie_t *trie, uint64_t seed)
{
    memset(trie, 0, sizeof(*trie));
    trie->root = trp_calloc(1, sizeof(*trie->root));
    if (trie->root == NULL) {
        return TROUPE_ENOMEM;
    }
    trie->next_number = 1;
    trp_table_init(&trie->children, seed, TRP_PATTERN_NODES_MAX);
    return TROUPE_OK;
}

void trp_trie_fini(trp_trie_t *trie)
{
    if (trie->root == NULL) {
        return;
    }
    TRP_TABLE_FOREACH (entry, &trie->children) {
        trp_table_remove(&trie->children, entry);
        trp_free(TRP_CONTAINER_OF(entry, trp_trie_node_t, entry));
    }
    trp_table_fini(&trie->children);
    trp_free(trie->root);
    memset(trie, 0, sizeof(*trie));
}

troupe_err_t trp_trie_add(trp_trie_t *trie, trp_view_t pattern, void *value)
{
    TRP_ASSERT(value != NULL);
    TRP_ASSERT(trp_pattern_check(pattern) == TROUPE_OK);
    trp_trie_node_t *node = trie->root;
    trp_view_t token;
    bool is_done = false;
    while (pattern_next(&pattern, &is_done, &token)) {
        trp_trie_node_t *child = trie_child(trie, node, token);
        if (child == NULL) {
            troupe_err_t err = trie_make_child(trie, node, token, &child);
            if (err != TROUPE_OK) {
                trie_prune(trie, node);
                return err;
            }
        }
        node = child;
    }
    if (node->value != NULL) {
        return TROUPE_EEXIST;
    }
    node->value = value;
    trie->len++;
    return TROUPE_OK;
}

static trp_trie_node_t *trie_find(const trp_trie_t *trie, trp_view_t pattern)
{
    trp_trie_node_t *node = trie->root;
    trp_view_t token;
    bool is_done = false;
    while (node != NULL && pattern_next(&pattern, &is_done, &token)) {
        node = trie_child(trie, node, token);
    }
    return node;
}

void *trp_trie_find(const trp_trie_t *trie, trp_view_t pattern)
{
    const trp_trie_node_t *node = trie_find(trie, pattern);
    return node != NULL ? node->value : NULL;
}

void *trp_trie_remove(trp_trie_t *trie, trp_view_t pattern)
{
    trp_trie_node_t *node = trie_find(trie, pattern);
    if (node == NULL || node->value == NULL) {
        return NULL;
    }
    void *value = node->value;
    node->value = NULL;
    trie->len--;
    trie_prune(trie, node);
    return value;
}

void trp_trie_visit(const trp_trie_t *trie, trp_trie_visit_fn visit, void *context)
{
    TRP_TABLE_FOREACH (entry, &trie->children) {
        const trp_trie_node_t *node = TRP_CONTAINER_OF(entry, trp_trie_node_t, entry);
        if (node->value != NULL) {
            visit(context, node->value);
        }
    }
}

typedef struct trie_walk {
    const trp_trie_t *trie;
    trp_trie_visit_fn visit;
    void *context;
} trie_walk_t;

static void trie_walk(const trie_walk_t *walk, const trp_trie_node_t *node, trp_view_t rest,
                      bool is_done);

static void trie_walk_child(const trie_walk_t *walk, const trp_trie_node_t *node, trp_view_t token,
                            trp_view_t rest, bool is_done)
{
    const trp_trie_node_t *child = trie_child(walk->trie, node, token);
    if (child != NULL) {
        trie_walk(walk, child, rest, is_done);
    }
}

/* Recursion ends with the trie's depth, which TRP_PATTERN_DEPTH_MAX bounds. A literal `*` or `>` in a
 * name must not take the wildcard's branch a second time. */
static void trie_walk(const trie_walk_t *walk, const trp_trie_node_t *node, trp_view_t rest,
                      bool is_done)
{
    static const uint8_t one[] = {PATTERN_ONE};
    static const uint8_t many[] = {PATTERN_REST};
    trp_view_t token;
    if (is_done) {
        if (node->value != NULL) {
            walk->visit(walk->context, node->value);
        }
        return;
    }
    if (node->child_count == 0 || !pattern_next(&rest, &is_done, &token)) {
        return;
    }
    const trp_trie_node_t *end = trie_child(walk->trie, node, trp_view_make(many, 1));
    if (end != NULL) {
        walk->visit(walk->context, end->value);
    }
    trie_walk_child(walk, node, trp_view_make(one, 1), rest, is_done);
    if (!pattern_is(token, PATTERN_ONE) && !pattern_is(token, PATTERN_REST)) {
        trie_walk_child(walk, node, token, rest, is_done);
    }
}

void trp_trie_match(const trp_trie_t *trie, trp_view_t name, trp_trie_visit_fn visit, void *context)
{
    TRP_ASSERT(visit != NULL);
    trie_walk_t walk = {trie, visit, context};
    if (trie->len > 0 && name.size > 0) {
        trie_walk(&walk, trie->root, name, false);
    }
}
