/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Memory that is taken in pieces and given back all at once: the strings of a configuration.
 *
 * Thread rule: a store belongs to its owner's thread. */

#ifndef TROUPE_NODE_STORE_H
#define TROUPE_NODE_STORE_H

#include <stddef.h>

typedef struct trp_store_block trp_store_block_t;

typedef struct trp_store {
    trp_store_block_t *blocks; /* The newest first. */
} trp_store_t;

void trp_store_init(trp_store_t *store);
void trp_store_fini(trp_store_t *store);

/* Zeroed memory that lasts as long as the store; NULL when there is none. */
void *trp_store_take(trp_store_t *store, size_t len, size_t size);

/* A zero-terminated copy of the bytes. */
char *trp_store_keep(trp_store_t *store, const char *text, size_t size);

#endif
