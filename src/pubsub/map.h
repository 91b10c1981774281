/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A small open-addressed map from a 64-bit key that is not 0 to a 64-bit value, for look-ups that are
 * too frequent for a general table: registry keys, actors, tokens.
 *
 * Thread rule: a map belongs to its thread. */

#ifndef TROUPE_PUBSUB_MAP_H
#define TROUPE_PUBSUB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

typedef struct trp_map_entry {
    uint64_t key; /* 0: empty. */
    uint64_t value;
} trp_map_entry_t;

typedef struct trp_map {
    trp_map_entry_t *entries; /* NULL while the map was never written to. */
    size_t mask;
    size_t len;
} trp_map_t;

void trp_map_init(trp_map_t *map);
void trp_map_fini(trp_map_t *map);

/* Where the key's value lies, or NULL. Valid until the map is written to. */
uint64_t *trp_map_find(const trp_map_t *map, uint64_t key);

/* Enters or replaces. TROUPE_ENOMEM, only when the key is new. */
troupe_err_t trp_map_put(trp_map_t *map, uint64_t key, uint64_t value);

/* Makes sure that the next put of a new key succeeds. TROUPE_ENOMEM. */
troupe_err_t trp_map_reserve(trp_map_t *map);

/* Takes the key out; returns whether it was there, and its value when ret_value is not NULL. */
bool trp_map_remove(trp_map_t *map, uint64_t key, uint64_t *ret_value);

/* Walks over the entries in no order; the body must not write to the map. */
#define TRP_MAP_FOREACH(entry, map)                                                                \
    for (trp_map_entry_t *entry = (map)->entries,                                                  \
                         *entry##_end = entry != NULL ? entry + (map)->mask + 1 : NULL;            \
         entry != entry##_end; entry++)                                                            \
        if (entry->key != 0)

#endif
