/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry over uthash. */

#include "base/table.h"

#include <limits.h>

#include "base/assert.h"
#include "base/hash.h"

void trp_table_init(trp_table_t *table, uint64_t seed, size_t len_max)
{
    TRP_ASSERT(table != NULL);
    TRP_ASSERT(len_max > 0);
    *table = (trp_table_t){NULL, seed, len_max};
}

void trp_table_fini(trp_table_t *table)
{
    TRP_ASSERT(table != NULL);
    HASH_CLEAR(hh, table->head);
}

/* uthash works with 32 bits. */
static unsigned table_hash(const trp_table_t *table, const void *key, size_t key_size)
{
    return (unsigned)trp_hash_bytes(key, key_size, table->seed);
}

static trp_table_entry_t *table_find_hashed(const trp_table_t *table, const void *key,
                                            size_t key_size, unsigned hash)
{
    trp_table_entry_t *found = NULL;
    HASH_FIND_BYHASHVALUE(hh, table->head, key, key_size, hash, found);
    return found;
}

troupe_err_t trp_table_add(trp_table_t *table, trp_table_entry_t *entry, const void *key,
                           size_t key_size)
{
    TRP_ASSERT(entry != NULL && key != NULL);
    TRP_ASSERT(key_size <= UINT_MAX);
    unsigned hash = table_hash(table, key, key_size);
    if (table_find_hashed(table, key, key_size, hash) != NULL) {
        return TROUPE_EEXIST;
    }
    if (trp_table_len(table) >= table->len_max) {
        return TROUPE_EFULL;
    }
    /* uthash takes the entry back out when it can't grow, and says so by a table of NULL. */
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, table->head, key, (unsigned)key_size, hash, entry);
    return entry->hh.tbl == NULL ? TROUPE_ENOMEM : TROUPE_OK;
}

trp_table_entry_t *trp_table_find(const trp_table_t *table, const void *key, size_t key_size)
{
    TRP_ASSERT(table != NULL);
    if (table->head == NULL) {
        return NULL;
    }
    return table_find_hashed(table, key, key_size, table_hash(table, key, key_size));
}

void trp_table_remove(trp_table_t *table, trp_table_entry_t *entry)
{
    TRP_ASSERT(entry != NULL);
    TRP_ASSERT(table->head != NULL && entry->hh.tbl == table->head->hh.tbl);
    HASH_DELETE(hh, table->head, entry);
    entry->hh.tbl = NULL;
}

size_t trp_table_len(const trp_table_t *table)
{
    TRP_ASSERT(table != NULL);
    return HASH_COUNT(table->head);
}

trp_table_entry_t *trp_table_first(const trp_table_t *table)
{
    TRP_ASSERT(table != NULL);
    return table->head;
}

trp_table_entry_t *trp_table_next(const trp_table_entry_t *entry)
{
    TRP_ASSERT(entry != NULL);
    return entry->hh.next;
}
