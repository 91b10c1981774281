/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The directory's records, handles, resolving, sweeping and questions. */

#include "pubsub/directory.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "pubsub/topic.h"

#define DIRECTORY_CAPACITY_MIN 64u

troupe_err_t trp_directory_init(trp_directory_t *directory, trp_atoms_t *names, uint64_t seed)
{
    memset(directory, 0, sizeof(*directory));
    troupe_err_t err = trp_builder_create(&directory->builder);
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_trie_init(&directory->trie, seed);
    if (err != TROUPE_OK) {
        trp_builder_destroy(&directory->builder);
        return err;
    }
    if (pthread_mutex_init(&directory->lock, NULL) != 0) {
        trp_trie_fini(&directory->trie);
        trp_builder_destroy(&directory->builder);
        return TROUPE_ENOMEM;
    }
    directory->names = names;
    trp_map_init(&directory->unreachable);
    return TROUPE_OK;
}

static void directory_free_pattern(void *context, void *value)
{
    trp_directory_t *directory = context;
    trp_pattern_t *pattern = value;
    trp_places_fini(&pattern->places, directory->names);
    trp_atoms_unref(directory->names, &pattern->name);
    trp_free(pattern);
}

void trp_directory_fini(trp_directory_t *directory)
{
    if (directory->builder == NULL) {
        return;
    }
    for (uint32_t id = 0; id < directory->topic_capacity; id++) {
        if (directory->topics[id] != NULL) {
            trp_directory_drop_topic(directory, directory->topics[id]);
        }
    }
    trp_trie_visit(&directory->trie, directory_free_pattern, directory);
    trp_trie_fini(&directory->trie);
    trp_map_fini(&directory->unreachable);
    trp_builder_destroy(&directory->builder);
    trp_free(directory->topics);
    trp_masks_fini(&directory->masks);
    (void)pthread_mutex_destroy(&directory->lock);
    memset(directory, 0, sizeof(*directory));
}

/* ---- records --------------------------------------------------------------------------------- */

static troupe_err_t directory_reserve(trp_directory_t *directory, uint32_t id)
{
    if (id < directory->topic_capacity) {
        return TROUPE_OK;
    }
    uint32_t capacity =
        directory->topic_capacity == 0 ? DIRECTORY_CAPACITY_MIN : directory->topic_capacity;
    while (capacity <= id) {
        capacity *= 2;
    }
    trp_topic_t **topics = trp_realloc(directory->topics, capacity * sizeof(*topics));
    if (topics == NULL) {
        return TROUPE_ENOMEM;
    }
    memset(topics + directory->topic_capacity, 0,
           (capacity - directory->topic_capacity) * sizeof(*topics));
    directory->topics = topics;
    directory->topic_capacity = capacity;
    return TROUPE_OK;
}

typedef struct directory_match {
    trp_topic_t *topic;
    troupe_err_t err;
} directory_match_t;

static void directory_matched(void *context, void *value)
{
    directory_match_t *match = context;
    if (match->err == TROUPE_OK) {
        match->err = trp_topic_add_pattern(match->topic, value);
    }
}

static void directory_free_topic(trp_directory_t *directory, trp_topic_t *topic)
{
    trp_places_fini(&topic->places, directory->names);
    trp_targets_unref(&topic->targets);
    trp_atoms_unref(directory->names, &topic->name);
    trp_free(topic->patterns);
    trp_free(topic);
}

troupe_err_t trp_directory_topic(trp_directory_t *directory, const trp_atom_t *name,
                                 trp_topic_t **ret_topic)
{
    *ret_topic = trp_directory_find_topic(directory, name->id, name->generation);
    if (*ret_topic != NULL) {
        return TROUPE_OK;
    }
    troupe_err_t err = directory_reserve(directory, name->id);
    if (err == TROUPE_OK) {
        err = trp_masks_reserve(&directory->masks, name->id);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    TRP_ASSERT(directory->topics[name->id] == NULL);
    trp_topic_t *topic = trp_calloc(1, sizeof(*topic));
    if (topic == NULL) {
        return TROUPE_ENOMEM;
    }
    topic->name = trp_atoms_ref(directory->names, name);
    directory_match_t match = {topic, TROUPE_OK};
    if (name->space == TRP_SPACE_TOPIC) {
        trp_trie_match(&directory->trie, trp_atom_view(name), directory_matched, &match);
    }
    if (match.err != TROUPE_OK) {
        directory_free_topic(directory, topic);
        return match.err;
    }
    directory->topics[name->id] = topic;
    directory->topic_len++;
    trp_topic_mask(directory, topic);
    *ret_topic = topic;
    return TROUPE_OK;
}

trp_topic_t *trp_directory_find_topic(const trp_directory_t *directory, uint32_t id,
                                      uint32_t generation)
{
    trp_topic_t *topic = id < directory->topic_capacity ? directory->topics[id] : NULL;
    bool is_meant = topic != NULL && (generation == 0 || topic->name->generation == generation);
    return is_meant ? topic : NULL;
}

void trp_directory_drop_topic(trp_directory_t *directory, trp_topic_t *topic)
{
    TRP_ASSERT(directory->topics[topic->name->id] == topic);
    directory->topics[topic->name->id] = NULL;
    directory->topic_len--;
    topic->pattern_len = 0;
    trp_topic_mask(directory, topic);
    directory_free_topic(directory, topic);
}

/* ---- handles --------------------------------------------------------------------------------- */

troupe_err_t trp_directory_open(trp_directory_t *directory, trp_space_t space, trp_view_t bytes,
                                const troupe_topic_options_t *options, troupe_topic_t *ret_topic)
{
    const trp_atom_t *name = NULL;
    trp_topic_t *topic = NULL;
    troupe_err_t err = trp_atoms_intern(directory->names, space, bytes, &name);
    if (err != TROUPE_OK) {
        return err;
    }
    pthread_mutex_lock(&directory->lock);
    err = trp_directory_topic(directory, name, &topic);
    if (err == TROUPE_OK) {
        topic->handles++;
        topic->unused_since = 0;
        if (options != NULL) {
            topic->slow_node = (uint8_t)options->slow_node;
        }
        ret_topic->id = name->id;
        ret_topic->generation = name->generation;
        ret_topic->hash = name->hash;
    }
    pthread_mutex_unlock(&directory->lock);
    trp_atoms_unref(directory->names, &name);
    return err;
}

troupe_err_t trp_directory_close(trp_directory_t *directory, troupe_topic_t handle)
{
    pthread_mutex_lock(&directory->lock);
    trp_topic_t *topic = trp_directory_find_topic(directory, handle.id, handle.generation);
    bool is_open = topic != NULL && topic->handles > 0;
    if (is_open) {
        topic->handles--;
    }
    pthread_mutex_unlock(&directory->lock);
    return is_open ? TROUPE_OK : TROUPE_ENOENT;
}

/* ---- resolving ------------------------------------------------------------------------------- */

static troupe_err_t directory_locked_resolve(trp_directory_t *directory, uint8_t replica,
                                             trp_topic_t *topic, trp_resolved_t *ret_resolved)
{
    if (topic->targets == NULL) {
        troupe_err_t err = trp_builder_build(directory, topic);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    topic->interest[replica / 64] |= UINT64_C(1) << (replica % 64);
    topic->unused_since = 0;
    ret_resolved->name = trp_atoms_ref(directory->names, topic->name);
    ret_resolved->targets = trp_targets_ref(topic->targets);
    return TROUPE_OK;
}

troupe_err_t trp_directory_resolve(trp_directory_t *directory, uint8_t replica, trp_space_t space,
                                   trp_view_t bytes, trp_resolved_t *ret_resolved)
{
    const trp_atom_t *name = NULL;
    trp_topic_t *topic = NULL;
    troupe_err_t err = trp_atoms_intern(directory->names, space, bytes, &name);
    if (err != TROUPE_OK) {
        return err;
    }
    pthread_mutex_lock(&directory->lock);
    err = trp_directory_topic(directory, name, &topic);
    if (err == TROUPE_OK) {
        err = directory_locked_resolve(directory, replica, topic, ret_resolved);
    }
    pthread_mutex_unlock(&directory->lock);
    trp_atoms_unref(directory->names, &name);
    return err;
}

troupe_err_t trp_directory_resolve_id(trp_directory_t *directory, uint8_t replica, uint32_t id,
                                      uint32_t generation, trp_resolved_t *ret_resolved)
{
    pthread_mutex_lock(&directory->lock);
    trp_topic_t *topic = trp_directory_find_topic(directory, id, generation);
    troupe_err_t err = topic == NULL
                           ? TROUPE_ENOENT
                           : directory_locked_resolve(directory, replica, topic, ret_resolved);
    pthread_mutex_unlock(&directory->lock);
    return err;
}

void trp_directory_forgotten(trp_directory_t *directory, uint8_t replica, uint32_t id,
                             uint32_t generation)
{
    pthread_mutex_lock(&directory->lock);
    trp_topic_t *topic = trp_directory_find_topic(directory, id, generation);
    if (topic != NULL) {
        topic->interest[replica / 64] &= ~(UINT64_C(1) << (replica % 64));
    }
    pthread_mutex_unlock(&directory->lock);
}

void trp_directory_retry(trp_directory_t *directory, uint32_t id, uint32_t generation)
{
    pthread_mutex_lock(&directory->lock);
    trp_topic_t *topic = trp_directory_find_topic(directory, id, generation);
    if (topic != NULL) {
        topic->is_dirty = true;
    }
    pthread_mutex_unlock(&directory->lock);
}

/* ---- sweeping -------------------------------------------------------------------------------- */

static void directory_change(const trp_topic_t *topic, trp_targets_t *targets,
                             trp_change_t *ret_change)
{
    ret_change->id = topic->name->id;
    ret_change->generation = topic->name->generation;
    ret_change->targets = targets;
    memcpy(ret_change->interest, topic->interest, sizeof(ret_change->interest));
}

/* Looks at one record; returns whether replicas must hear of it. */
static bool directory_sweep_topic(trp_directory_t *directory, trp_topic_t *topic, uint64_t now,
                                  uint64_t idle_ns, trp_change_t *ret_change)
{
    if (topic->is_dirty && trp_builder_build(directory, topic) == TROUPE_OK) {
        topic->is_dirty = false;
        directory_change(topic, trp_targets_ref(topic->targets), ret_change);
        return true;
    }
    if (topic->handles > 0 || topic->places.len > 0) {
        topic->unused_since = 0;
        return false;
    }
    if (topic->unused_since == 0) {
        topic->unused_since = now;
        return false;
    }
    if (now - topic->unused_since < idle_ns) {
        return false;
    }
    if (!trp_topic_has_interest(topic)) {
        trp_directory_drop_topic(directory, topic);
        return false;
    }
    directory_change(topic, NULL, ret_change);
    return true;
}

void trp_directory_sweep(trp_directory_t *directory, uint64_t now, uint64_t idle_ns,
                         uint32_t budget, trp_change_fn on_change, void *context)
{
    TRP_ASSERT(now > 0);
    for (uint32_t i = 0; i < budget; i++) {
        trp_change_t change;
        bool is_news = false;
        pthread_mutex_lock(&directory->lock);
        uint32_t capacity = directory->topic_capacity;
        directory->sweep_at = directory->sweep_at + 1 < capacity ? directory->sweep_at + 1 : 0;
        trp_topic_t *topic = capacity > 0 ? directory->topics[directory->sweep_at] : NULL;
        if (topic != NULL) {
            is_news = directory_sweep_topic(directory, topic, now, idle_ns, &change);
        }
        pthread_mutex_unlock(&directory->lock);
        if (is_news) {
            on_change(context, &change);
        }
        if (i + 1 >= capacity) {
            break;
        }
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool directory_is_first(const trp_topic_t *topic, uint32_t at, bool by_group)
{
    const trp_place_t *items = topic->places.items;
    for (uint32_t i = 0; i < at; i++) {
        if (by_group ? items[i].group == items[at].group : items[i].node == items[at].node) {
            return false;
        }
    }
    return true;
}

static void directory_info(const trp_topic_t *topic, troupe_topic_info_t *ret_info)
{
    memset(ret_info, 0, sizeof(*ret_info));
    for (uint32_t i = 0; i < topic->places.len; i++) {
        const trp_place_t *place = &topic->places.items[i];
        if (place->node == 0) {
            ret_info->subscribers_here += place->weight;
        } else {
            ret_info->subscribers_others += place->weight;
        }
        ret_info->nodes += directory_is_first(topic, i, false) ? 1 : 0;
        ret_info->groups += place->group != NULL && directory_is_first(topic, i, true) ? 1 : 0;
    }
}

troupe_err_t trp_directory_count(trp_directory_t *directory, troupe_topic_t handle,
                                 troupe_topic_info_t *ret_info)
{
    pthread_mutex_lock(&directory->lock);
    const trp_topic_t *topic = trp_directory_find_topic(directory, handle.id, handle.generation);
    if (topic != NULL) {
        directory_info(topic, ret_info);
        ret_info->name_size = topic->name->size;
    }
    pthread_mutex_unlock(&directory->lock);
    return topic != NULL ? TROUPE_OK : TROUPE_ENOENT;
}

void trp_directory_visit(trp_directory_t *directory, troupe_topic_visit_fn visit, void *context)
{
    bool is_more = true;
    for (uint32_t id = 1; is_more; id++) {
        troupe_topic_info_t info;
        const trp_atom_t *name = NULL;
        pthread_mutex_lock(&directory->lock);
        is_more = id < directory->topic_capacity;
        const trp_topic_t *topic = is_more ? directory->topics[id] : NULL;
        if (topic != NULL && topic->places.len > 0 && topic->name->space == TRP_SPACE_TOPIC) {
            directory_info(topic, &info);
            name = trp_atoms_ref(directory->names, topic->name);
        }
        pthread_mutex_unlock(&directory->lock);
        if (name != NULL) {
            info.name = name->bytes;
            info.name_size = name->size;
            is_more = visit(&info, context);
            trp_atoms_unref(directory->names, &name);
        }
    }
}

uint32_t trp_directory_len(trp_directory_t *directory)
{
    pthread_mutex_lock(&directory->lock);
    uint32_t len = directory->topic_len;
    pthread_mutex_unlock(&directory->lock);
    return len;
}
