/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The open-addressed map. Linear probing, at most half full, holes closed at removal. */

#include "pubsub/map.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/memory.h"

#define MAP_CAPACITY_MIN 16u

void trp_map_init(trp_map_t *map)
{
    memset(map, 0, sizeof(*map));
}

void trp_map_fini(trp_map_t *map)
{
    trp_free(map->entries);
    memset(map, 0, sizeof(*map));
}

static size_t map_probe(const trp_map_t *map, uint64_t key)
{
    size_t at = (size_t)trp_hash_u64(key) & map->mask;
    while (map->entries[at].key != 0 && map->entries[at].key != key) {
        at = (at + 1) & map->mask;
    }
    return at;
}

uint64_t *trp_map_find(const trp_map_t *map, uint64_t key)
{
    TRP_ASSERT_DEBUG(key != 0);
    if (map->len == 0) {
        return NULL;
    }
    trp_map_entry_t *entry = &map->entries[map_probe(map, key)];
    return entry->key != 0 ? &entry->value : NULL;
}

static troupe_err_t map_grow(trp_map_t *map)
{
    trp_map_t grown = {NULL, MAP_CAPACITY_MIN - 1, map->len};
    if (map->entries != NULL) {
        grown.mask = map->mask * 2 + 1;
    }
    grown.entries = trp_calloc(grown.mask + 1, sizeof(*grown.entries));
    if (grown.entries == NULL) {
        return TROUPE_ENOMEM;
    }
    TRP_MAP_FOREACH(entry, map)
    {
        grown.entries[map_probe(&grown, entry->key)] = *entry;
    }
    trp_free(map->entries);
    *map = grown;
    return TROUPE_OK;
}

troupe_err_t trp_map_reserve(trp_map_t *map)
{
    if (map->entries == NULL || (map->len + 1) * 2 > map->mask + 1) {
        return map_grow(map);
    }
    return TROUPE_OK;
}

troupe_err_t trp_map_put(trp_map_t *map, uint64_t key, uint64_t value)
{
    TRP_ASSERT(key != 0);
    uint64_t *old = trp_map_find(map, key);
    if (old != NULL) {
        *old = value;
        return TROUPE_OK;
    }
    troupe_err_t err = trp_map_reserve(map);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_map_entry_t *entry = &map->entries[map_probe(map, key)];
    entry->key = key;
    entry->value = value;
    map->len++;
    return TROUPE_OK;
}

bool trp_map_remove(trp_map_t *map, uint64_t key, uint64_t *ret_value)
{
    uint64_t *value = trp_map_find(map, key);
    if (value == NULL) {
        return false;
    }
    if (ret_value != NULL) {
        *ret_value = *value;
    }
    size_t hole = map_probe(map, key);
    size_t at = hole;
    for (;;) {
        at = (at + 1) & map->mask;
        if (map->entries[at].key == 0) {
            break;
        }
        size_t home = (size_t)trp_hash_u64(map->entries[at].key) & map->mask;
        if (((at - home) & map->mask) >= ((at - hole) & map->mask)) {
            map->entries[hole] = map->entries[at];
            hole = at;
        }
    }
    map->entries[hole].key = 0;
    map->len--;
    return true;
}
