/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Buckets of the registry. */

#include "pubsub/bucket.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define BUCKET_LOG_MIN 64u

void trp_bucket_init(trp_bucket_t *bucket, trp_atoms_t *names)
{
    memset(bucket, 0, sizeof(*bucket));
    bucket->names = names;
    trp_map_init(&bucket->map);
    trp_list_init(&bucket->tombs);
}

static void bucket_free_entry(trp_bucket_t *bucket, trp_registry_entry_t *entry)
{
    trp_atoms_unref(bucket->names, &entry->name);
    trp_atoms_unref(bucket->names, &entry->group);
    trp_free(entry);
}

void trp_bucket_fini(trp_bucket_t *bucket)
{
    TRP_MAP_FOREACH(item, &bucket->map)
    {
        bucket_free_entry(bucket, trp_bucket_entry(item));
    }
    trp_map_fini(&bucket->map);
    trp_free(bucket->log);
    trp_bucket_init(bucket, bucket->names);
}

trp_registry_entry_t *trp_bucket_find(const trp_bucket_t *bucket, const trp_atom_t *name,
                                      const trp_atom_t *group)
{
    const uint64_t *value = trp_map_find(&bucket->map, trp_bucket_key(name, group));
    return value != NULL ? (trp_registry_entry_t *)(uintptr_t)*value : NULL;
}

static troupe_err_t bucket_make(trp_bucket_t *bucket, const trp_atom_t *name,
                                const trp_atom_t *group, trp_registry_entry_t **ret_entry)
{
    trp_registry_entry_t *entry = trp_calloc(1, sizeof(*entry));
    if (entry == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err =
        trp_map_put(&bucket->map, trp_bucket_key(name, group), (uint64_t)(uintptr_t)entry);
    if (err != TROUPE_OK) {
        trp_free(entry);
        return err;
    }
    entry->name = trp_atoms_ref(bucket->names, name);
    entry->group = group != NULL ? trp_atoms_ref(bucket->names, group) : NULL;
    *ret_entry = entry;
    return TROUPE_OK;
}

static void bucket_forget(trp_bucket_t *bucket, trp_registry_entry_t *entry)
{
    bool was_there = trp_map_remove(&bucket->map, trp_bucket_key(entry->name, entry->group), NULL);
    TRP_ASSERT(was_there);
    bucket_free_entry(bucket, entry);
}

/* ---- the log --------------------------------------------------------------------------------- */

/* Closes up the holes once they are more than the entries. */
static void bucket_log_compact(trp_bucket_t *bucket)
{
    if (bucket->log_holes * 2 <= bucket->log_len) {
        return;
    }
    size_t len = 0;
    for (size_t i = 0; i < bucket->log_len; i++) {
        if (bucket->log[i].entry != NULL) {
            bucket->log[i].entry->log_at = len;
            bucket->log[len++] = bucket->log[i];
        }
    }
    bucket->log_len = len;
    bucket->log_holes = 0;
}

static troupe_err_t bucket_log_reserve(trp_bucket_t *bucket)
{
    bucket_log_compact(bucket);
    if (bucket->log_len < bucket->log_capacity) {
        return TROUPE_OK;
    }
    size_t capacity = bucket->log_capacity == 0 ? BUCKET_LOG_MIN : bucket->log_capacity * 2;
    trp_log_item_t *log = trp_realloc(bucket->log, capacity * sizeof(*log));
    if (log == NULL) {
        return TROUPE_ENOMEM;
    }
    bucket->log = log;
    bucket->log_capacity = capacity;
    return TROUPE_OK;
}

static void bucket_log_clear(trp_bucket_t *bucket, const trp_registry_entry_t *entry)
{
    if (entry->version != 0) {
        TRP_ASSERT(bucket->log[entry->log_at].entry == entry);
        bucket->log[entry->log_at].entry = NULL;
        bucket->log_holes++;
    }
}

static void bucket_log_push(trp_bucket_t *bucket, trp_registry_entry_t *entry)
{
    bucket_log_clear(bucket, entry);
    bucket->version++;
    entry->version = bucket->version;
    entry->log_at = bucket->log_len;
    bucket->log[bucket->log_len].version = entry->version;
    bucket->log[bucket->log_len].entry = entry;
    bucket->log_len++;
}

size_t trp_bucket_after(const trp_bucket_t *bucket, uint64_t version)
{
    size_t low = 0;
    size_t high = bucket->log_len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bucket->log[middle].version > version) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* ---- the owner ------------------------------------------------------------------------------- */

troupe_err_t trp_bucket_write(trp_bucket_t *bucket, const trp_atom_t *name, const trp_atom_t *group,
                              uint32_t weight, uint64_t now)
{
    trp_registry_entry_t *entry = trp_bucket_find(bucket, name, group);
    if (entry == NULL ? weight == 0 : entry->weight == weight) {
        return TROUPE_OK;
    }
    troupe_err_t err = bucket_log_reserve(bucket);
    if (err == TROUPE_OK && entry == NULL) {
        err = bucket_make(bucket, name, group, &entry);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    if (entry->weight == 0 && trp_list_is_linked(&entry->tomb)) {
        trp_list_remove(&entry->tomb);
        bucket->tomb_len--;
    }
    bucket->live_len += entry->weight == 0 ? 1 : 0;
    entry->weight = weight;
    bucket_log_push(bucket, entry);
    if (weight == 0) {
        entry->removed_at = now;
        trp_list_push_back(&bucket->tombs, &entry->tomb);
        bucket->tomb_len++;
        bucket->live_len--;
    }
    return TROUPE_OK;
}

void trp_bucket_prune(trp_bucket_t *bucket, uint64_t version, uint64_t now, uint64_t ttl_ns,
                      size_t tomb_max)
{
    while (!trp_list_is_empty(&bucket->tombs)) {
        trp_registry_entry_t *entry =
            TRP_CONTAINER_OF(trp_list_first(&bucket->tombs), trp_registry_entry_t, tomb);
        if (entry->version > version && now - entry->removed_at < ttl_ns &&
            bucket->tomb_len <= tomb_max) {
            break;
        }
        TRP_ASSERT(entry->weight == 0);
        trp_list_remove(&entry->tomb);
        bucket->tomb_len--;
        bucket->floor = entry->version;
        bucket_log_clear(bucket, entry);
        bucket_forget(bucket, entry);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

troupe_err_t trp_bucket_copy(trp_bucket_t *bucket, const trp_atom_t *name, const trp_atom_t *group,
                             uint32_t weight, uint64_t version)
{
    TRP_ASSERT(bucket->log == NULL);
    trp_registry_entry_t *entry = trp_bucket_find(bucket, name, group);
    if (weight == 0) {
        if (entry != NULL) {
            trp_bucket_drop(bucket, entry);
        }
        return TROUPE_OK;
    }
    if (entry == NULL) {
        troupe_err_t err = bucket_make(bucket, name, group, &entry);
        if (err != TROUPE_OK) {
            return err;
        }
        bucket->live_len++;
    }
    entry->weight = weight;
    entry->version = version;
    entry->is_stale = false;
    return TROUPE_OK;
}

void trp_bucket_drop(trp_bucket_t *bucket, trp_registry_entry_t *entry)
{
    TRP_ASSERT(bucket->log == NULL);
    bucket->live_len--;
    bucket_forget(bucket, entry);
}
