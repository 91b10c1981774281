/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Patterns over topic names, in a trie of tokens:
 *
 *     orders.*.created        orders -> * -> created  (value)
 *     orders.>                orders -> >             (value)
 *
 * '.' separates tokens; `*` is any one token; `>`, as the last, is one token or more. A token that
 * merely contains '*' or '>' is malformed. Matching visits each trie node at most once, and goes no
 * deeper than the deepest pattern may be.
 *
 * Thread rule: a trie belongs to its owner, which locks. */

#ifndef TROUPE_PUBSUB_PATTERN_H
#define TROUPE_PUBSUB_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <troupe/error.h>

#include "base/table.h"
#include "base/view.h"

#define TRP_PATTERN_DEPTH_MAX 32u
#define TRP_PATTERN_NODES_MAX (1u << 20) /* Tokens of all patterns together. */

typedef struct trp_trie_node trp_trie_node_t;

typedef struct trp_trie {
    trp_trie_node_t *root;
    trp_table_t children; /* {parent's number, token} -> node */
    uint64_t next_number;
    size_t len; /* Patterns. */
} trp_trie_t;

typedef void (*trp_trie_visit_fn)(void *context, void *value);

/* TROUPE_OK when the bytes are a well-formed pattern, else TROUPE_EINVAL. */
troupe_err_t trp_pattern_check(trp_view_t pattern);

/* Whether a well-formed pattern matches a name. */
bool trp_pattern_matches(trp_view_t pattern, trp_view_t name);

troupe_err_t trp_trie_init(trp_trie_t *trie, uint64_t seed);
void trp_trie_fini(trp_trie_t *trie);

/* Enters a well-formed pattern with a value that is not NULL.
 * TROUPE_EEXIST, TROUPE_EFULL, TROUPE_ENOMEM; the trie is then as before. */
troupe_err_t trp_trie_add(trp_trie_t *trie, trp_view_t pattern, void *value);

/* The value of that very pattern, or NULL. */
void *trp_trie_find(const trp_trie_t *trie, trp_view_t pattern);

/* Takes a pattern out; returns its value, NULL when it was not there. */
void *trp_trie_remove(trp_trie_t *trie, trp_view_t pattern);

/* Calls `visit` with the value of each pattern. */
void trp_trie_visit(const trp_trie_t *trie, trp_trie_visit_fn visit, void *context);

/* Calls `visit` once with the value of each pattern that matches. */
void trp_trie_match(const trp_trie_t *trie, trp_view_t name, trp_trie_visit_fn visit,
                    void *context);

#endif
