/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A look at all actors of a node, for the tools: each dispatcher lists its own.
 *
 * Thread rule: any thread but a dispatcher's. */

#ifndef TROUPE_NODE_NODE_TREE_H
#define TROUPE_NODE_NODE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

typedef struct trp_node trp_node_t;

typedef struct trp_tree_row {
    const char *path; /* In the list's own memory. */
    const char *behavior;
    uint32_t dispatcher;
    uint32_t mail;
    uint32_t children;
    uint32_t flags; /* TRP_CELL_* */
} trp_tree_row_t;

typedef struct trp_tree {
    trp_tree_row_t *rows; /* In order of path. */
    size_t len;
    bool is_cut; /* There are more than was asked for. */
    uint8_t *memory;
} trp_tree_t;

#define TRP_TREE_LEN_MAX 1000000u

/* At most `len_max` actors. ETIMEOUT when a dispatcher doesn't answer; ENOMEM; ESTOPPED. */
troupe_err_t trp_node_tree(trp_node_t *node, uint32_t len_max, uint64_t deadline_ns,
                           trp_tree_t *ret_tree);
void trp_tree_fini(trp_tree_t *tree);

#endif
