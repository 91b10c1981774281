/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A registry by key over uthash, off the path of messages. Intrusive: an element embeds a
 * trp_table_entry_t beside the bytes of its key, and is found again with TRP_CONTAINER_OF. Each table
 * has its own hash seed and its own bound; running out of memory is an error, never an exit. Walking
 * goes in the order of insertion, so that two runs with one seed do the same.
 *
 * Thread rule: a table belongs to its thread, or its owner locks. */

#ifndef TROUPE_BASE_TABLE_H
#define TROUPE_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/memory.h"

/* Out of memory is a result for the caller, and memory comes through our own door. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) trp_alloc(size)
#define uthash_free(block, size) trp_free(block)
#include <uthash.h>

typedef struct trp_table_entry {
    UT_hash_handle hh; /* Key (borrowed from the element), its size, its links. */
} trp_table_entry_t;

typedef struct trp_table {
    trp_table_entry_t *head; /* uthash's own: the first entry. */
    uint64_t seed;
    size_t len_max;
} trp_table_t;

/* An empty table that takes no memory yet. */
void trp_table_init(trp_table_t *table, uint64_t seed, size_t len_max);

/* Frees the table's own memory; the elements are the caller's, and no longer in it. */
void trp_table_fini(trp_table_t *table);

/* Enters `entry` under `key`, which must stay as it is until the entry is removed.
 * TROUPE_EEXIST, TROUPE_EFULL, TROUPE_ENOMEM; on error the table is unchanged. */
troupe_err_t trp_table_add(trp_table_t *table, trp_table_entry_t *entry, const void *key,
                           size_t key_size);

/* The entry under that key, or NULL. */
trp_table_entry_t *trp_table_find(const trp_table_t *table, const void *key, size_t key_size);

/* Takes out an entry that is in the table. */
void trp_table_remove(trp_table_t *table, trp_table_entry_t *entry);

size_t trp_table_len(const trp_table_t *table);

/* The first entry, and the one after; NULL at the end. */
trp_table_entry_t *trp_table_first(const trp_table_t *table);
trp_table_entry_t *trp_table_next(const trp_table_entry_t *entry);

/* Walks over the entries; the body may remove `entry`, and no other. */
#define TRP_TABLE_FOREACH(entry, table)                                                            \
    for (trp_table_entry_t *entry = trp_table_first(table),                                        \
                           *entry##_next = entry != NULL ? trp_table_next(entry) : NULL;           \
         entry != NULL;                                                                            \
         entry = entry##_next, entry##_next = entry != NULL ? trp_table_next(entry) : NULL)

#endif
