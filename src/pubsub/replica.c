/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A dispatcher's topics: lines, the index by name, resolving and applying. */

#include "pubsub/replica.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define REPLICA_INDEX_MIN 256u

troupe_err_t trp_replica_init(trp_replica_t *replica, trp_directory_t *directory, uint8_t number)
{
    memset(replica, 0, sizeof(*replica));
    TRP_ASSERT(number < TRP_REPLICAS_MAX);
    replica->index = trp_calloc(REPLICA_INDEX_MIN, sizeof(*replica->index));
    if (replica->index == NULL) {
        return TROUPE_ENOMEM;
    }
    replica->index_mask = REPLICA_INDEX_MIN - 1;
    replica->directory = directory;
    replica->number = number;
    trp_map_init(&replica->patterns);
    trp_map_init(&replica->groups);
    trp_map_init(&replica->actors);
    return TROUPE_OK;
}

static void replica_drop(trp_replica_t *replica, trp_replica_topic_t *topic)
{
    uint32_t id = topic->name->id;
    uint32_t generation = topic->generation;
    trp_targets_unref(&topic->targets);
    trp_directory_forgotten(replica->directory, replica->number, id, generation);
    trp_atoms_unref(replica->directory->names, &topic->name);
    memset(topic, 0, sizeof(*topic));
    replica->len--;
}

void trp_replica_fini(trp_replica_t *replica)
{
    if (replica->index == NULL) {
        return;
    }
    TRP_ASSERT(replica->subscription_len == 0);
    for (uint32_t i = 0; i < replica->chunk_len; i++) {
        trp_replica_topic_t *chunk = replica->chunks[i];
        for (uint32_t j = 0; chunk != NULL && j < TRP_REPLICA_CHUNK_LEN; j++) {
            if (chunk[j].name != NULL) {
                replica_drop(replica, &chunk[j]);
            }
        }
        trp_free(chunk);
    }
    trp_free(replica->chunks);
    trp_free(replica->index);
    trp_map_fini(&replica->patterns);
    trp_map_fini(&replica->groups);
    trp_map_fini(&replica->actors);
    memset(replica, 0, sizeof(*replica));
}

/* ---- lines ----------------------------------------------------------------------------------- */

trp_replica_topic_t *trp_replica_any(const trp_replica_t *replica, uint32_t id)
{
    uint32_t chunk = id >> TRP_REPLICA_CHUNK_BITS;
    if (chunk >= replica->chunk_len || replica->chunks[chunk] == NULL) {
        return NULL;
    }
    trp_replica_topic_t *topic = &replica->chunks[chunk][id & (TRP_REPLICA_CHUNK_LEN - 1)];
    return topic->name != NULL ? topic : NULL;
}

static troupe_err_t replica_reserve(trp_replica_t *replica, uint32_t id)
{
    uint32_t chunk = id >> TRP_REPLICA_CHUNK_BITS;
    if (chunk >= replica->chunk_len) {
        uint32_t len = replica->chunk_len == 0 ? 16 : replica->chunk_len;
        while (len <= chunk) {
            len *= 2;
        }
        trp_replica_topic_t **chunks = trp_realloc(replica->chunks, len * sizeof(*chunks));
        if (chunks == NULL) {
            return TROUPE_ENOMEM;
        }
        memset(chunks + replica->chunk_len, 0, (len - replica->chunk_len) * sizeof(*chunks));
        replica->chunks = chunks;
        replica->chunk_len = len;
    }
    if (replica->chunks[chunk] == NULL) {
        size_t size = TRP_REPLICA_CHUNK_LEN * sizeof(trp_replica_topic_t);
        replica->chunks[chunk] = trp_alloc_aligned(TRP_CACHE_LINE, size);
        if (replica->chunks[chunk] == NULL) {
            return TROUPE_ENOMEM;
        }
        memset(replica->chunks[chunk], 0, size);
    }
    return TROUPE_OK;
}

/* ---- the index by name ----------------------------------------------------------------------- */

static uint32_t replica_hash(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static const trp_replica_topic_t *replica_line(const trp_replica_t *replica, uint32_t id)
{
    return &replica->chunks[id >> TRP_REPLICA_CHUNK_BITS][id & (TRP_REPLICA_CHUNK_LEN - 1)];
}

static bool replica_is(const trp_replica_t *replica, uint32_t id, trp_space_t space,
                       trp_view_t bytes)
{
    const trp_atom_t *name = replica_line(replica, id)->name;
    return name->space == (uint8_t)space && trp_view_equal(trp_atom_view(name), bytes);
}

trp_replica_topic_t *trp_replica_find(const trp_replica_t *replica, trp_space_t space,
                                      trp_view_t bytes)
{
    if (TRP_UNLIKELY(bytes.size - 1 >= TRP_ATOM_SIZE_MAX)) {
        return NULL;
    }
    uint64_t hash = trp_atoms_hash(replica->directory->names, space, bytes);
    uint32_t at = (uint32_t)hash & replica->index_mask;
    while (replica->index[at].id != 0) {
        const trp_replica_index_t *item = &replica->index[at];
        if (item->hash == replica_hash(hash) && replica_is(replica, item->id, space, bytes)) {
            return trp_replica_any(replica, item->id);
        }
        at = (at + 1) & replica->index_mask;
    }
    return NULL;
}

static void replica_index_put(trp_replica_index_t *index, uint32_t mask, const trp_atom_t *name)
{
    uint32_t at = (uint32_t)name->hash & mask;
    while (index[at].id != 0) {
        at = (at + 1) & mask;
    }
    index[at].hash = replica_hash(name->hash);
    index[at].id = name->id;
}

static troupe_err_t replica_index_reserve(trp_replica_t *replica)
{
    if ((replica->len + 1) * 2 <= replica->index_mask + 1) {
        return TROUPE_OK;
    }
    uint32_t mask = replica->index_mask * 2 + 1;
    trp_replica_index_t *index = trp_calloc((size_t)mask + 1, sizeof(*index));
    if (index == NULL) {
        return TROUPE_ENOMEM;
    }
    for (uint32_t i = 0; i <= replica->index_mask; i++) {
        if (replica->index[i].id != 0) {
            replica_index_put(index, mask, replica_line(replica, replica->index[i].id)->name);
        }
    }
    trp_free(replica->index);
    replica->index = index;
    replica->index_mask = mask;
    return TROUPE_OK;
}

static void replica_index_remove(trp_replica_t *replica, const trp_atom_t *name)
{
    uint32_t mask = replica->index_mask;
    uint32_t hole = (uint32_t)name->hash & mask;
    while (replica->index[hole].id != name->id) {
        TRP_ASSERT(replica->index[hole].id != 0);
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask; replica->index[at].id != 0; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)replica_line(replica, replica->index[at].id)->name->hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            replica->index[hole] = replica->index[at];
            hole = at;
        }
    }
    replica->index[hole].id = 0;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* Copies what a publish needs from the snapshot into the topic's line. */
static void replica_set_targets(trp_replica_t *replica, trp_replica_topic_t *topic,
                                trp_targets_t *targets)
{
    trp_targets_unref(&topic->targets);
    topic->targets = targets;
    topic->near_len = 0;
    topic->flags = 0;
    topic->flags |= targets->node_len > 0 ? TRP_REPLICA_NODES : 0;
    topic->flags |= targets->pattern_len > 0 ? TRP_REPLICA_PATTERNS : 0;
    for (uint32_t i = 0; i < targets->replica_len; i++) {
        if (targets->replicas[i] == replica->number) {
            topic->flags |= TRP_REPLICA_HERE;
        } else if (topic->near_len < TRP_REPLICA_NEAR_MAX) {
            topic->near[topic->near_len++] = targets->replicas[i];
        } else {
            topic->flags |= TRP_REPLICA_MANY;
        }
    }
}

/* Enters what the directory has resolved; the references go to the topic or are dropped. */
static troupe_err_t replica_enter(trp_replica_t *replica, trp_resolved_t *resolved,
                                  trp_replica_topic_t **ret_topic)
{
    const trp_atom_t *name = resolved->name;
    troupe_err_t err = replica_reserve(replica, name->id);
    if (err == TROUPE_OK) {
        err = replica_index_reserve(replica);
    }
    if (err != TROUPE_OK) {
        trp_directory_forgotten(replica->directory, replica->number, name->id, name->generation);
        trp_targets_unref(&resolved->targets);
        trp_atoms_unref(replica->directory->names, &resolved->name);
        return err;
    }
    uint32_t id = name->id;
    trp_replica_topic_t *topic =
        &replica->chunks[id >> TRP_REPLICA_CHUNK_BITS][id & (TRP_REPLICA_CHUNK_LEN - 1)];
    TRP_ASSERT(topic->name == NULL);
    topic->name = name;
    topic->id = id;
    topic->generation = name->generation;
    replica_set_targets(replica, topic, resolved->targets);
    replica_index_put(replica->index, replica->index_mask, name);
    replica->len++;
    *ret_topic = topic;
    return TROUPE_OK;
}

troupe_err_t trp_replica_resolve(trp_replica_t *replica, trp_space_t space, trp_view_t bytes,
                                 trp_replica_topic_t **ret_topic)
{
    trp_resolved_t resolved;
    *ret_topic = trp_replica_find(replica, space, bytes);
    if (*ret_topic != NULL) {
        return TROUPE_OK;
    }
    troupe_err_t err =
        trp_directory_resolve(replica->directory, replica->number, space, bytes, &resolved);
    return err == TROUPE_OK ? replica_enter(replica, &resolved, ret_topic) : err;
}

troupe_err_t trp_replica_resolve_id(trp_replica_t *replica, uint32_t id, uint32_t generation,
                                    trp_replica_topic_t **ret_topic)
{
    trp_resolved_t resolved;
    *ret_topic = trp_replica_at(replica, id, generation);
    if (*ret_topic != NULL) {
        return TROUPE_OK;
    }
    troupe_err_t err =
        trp_directory_resolve_id(replica->directory, replica->number, id, generation, &resolved);
    return err == TROUPE_OK ? replica_enter(replica, &resolved, ret_topic) : err;
}

troupe_err_t trp_replica_resolve_any(trp_replica_t *replica, uint32_t id,
                                     trp_replica_topic_t **ret_topic)
{
    trp_resolved_t resolved;
    *ret_topic = trp_replica_any(replica, id);
    if (*ret_topic != NULL) {
        return TROUPE_OK;
    }
    troupe_err_t err =
        trp_directory_resolve_id(replica->directory, replica->number, id, 0, &resolved);
    return err == TROUPE_OK ? replica_enter(replica, &resolved, ret_topic) : err;
}

trp_replica_topic_t *trp_replica_apply(trp_replica_t *replica, uint32_t id, uint32_t generation,
                                       trp_targets_t *targets)
{
    trp_replica_topic_t *topic = trp_replica_at(replica, id, generation);
    if (topic == NULL || targets->version <= topic->targets->version) {
        trp_targets_unref(&targets);
        return topic;
    }
    replica_set_targets(replica, topic, targets);
    return topic;
}

bool trp_replica_forget(trp_replica_t *replica, uint32_t id, uint32_t generation)
{
    trp_replica_topic_t *topic = trp_replica_at(replica, id, generation);
    if (topic == NULL || topic->subscribers.len > 0 || topic->waiting != NULL) {
        return false;
    }
    replica_index_remove(replica, topic->name);
    replica_drop(replica, topic);
    return true;
}
