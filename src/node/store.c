/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A list of blocks that end together. */

#include "node/store.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

struct trp_store_block {
    trp_store_block_t *next;
    alignas(max_align_t) unsigned char data[];
};

void trp_store_init(trp_store_t *store)
{
    TRP_ASSERT(store != NULL);
    store->blocks = NULL;
}

void trp_store_fini(trp_store_t *store)
{
    TRP_ASSERT(store != NULL);
    while (store->blocks != NULL) {
        trp_store_block_t *block = store->blocks;
        store->blocks = block->next;
        trp_free(block);
    }
}

void *trp_store_take(trp_store_t *store, size_t len, size_t size)
{
    TRP_ASSERT(store != NULL);
    TRP_ASSERT(size > 0);
    if (len > (SIZE_MAX - sizeof(trp_store_block_t)) / size) {
        return NULL;
    }
    trp_store_block_t *block = trp_calloc(1, sizeof(*block) + len * size);
    if (block == NULL) {
        return NULL;
    }
    block->next = store->blocks;
    store->blocks = block;
    return block->data;
}

char *trp_store_keep(trp_store_t *store, const char *text, size_t size)
{
    TRP_ASSERT(text != NULL);
    char *kept = trp_store_take(store, size + 1, 1);
    if (kept != NULL) {
        memcpy(kept, text, size);
    }
    return kept;
}
