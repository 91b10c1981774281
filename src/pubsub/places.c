/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the mediator writes into the directory: places of topics and patterns, and reachability. */

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "pubsub/directory.h"

/* ---- vectors --------------------------------------------------------------------------------- */

static trp_place_t *places_find(const trp_places_t *places, const trp_placing_t *placing)
{
    for (uint32_t i = 0; i < places->len; i++) {
        trp_place_t *place = &places->items[i];
        if (place->node == placing->node && place->group == placing->group &&
            (placing->node != 0 || place->replica == placing->replica)) {
            return place;
        }
    }
    return NULL;
}

static troupe_err_t places_grow(trp_places_t *places)
{
    if (places->len < places->capacity) {
        return TROUPE_OK;
    }
    if (places->len >= TRP_PLACES_MAX) {
        return TROUPE_EFULL;
    }
    uint32_t capacity = places->capacity == 0 ? 1 : places->capacity * 2;
    trp_place_t *items = trp_realloc(places->items, capacity * sizeof(*items));
    if (items == NULL) {
        return TROUPE_ENOMEM;
    }
    places->items = items;
    places->capacity = capacity;
    return TROUPE_OK;
}

static troupe_err_t places_add(trp_places_t *places, trp_atoms_t *names,
                               const trp_placing_t *placing)
{
    troupe_err_t err = places_grow(places);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_place_t *place = &places->items[places->len++];
    place->group = placing->group != NULL ? trp_atoms_ref(names, placing->group) : NULL;
    place->node = placing->node;
    place->replica = placing->replica;
    place->weight = placing->weight;
    return TROUPE_OK;
}

static void places_remove(trp_places_t *places, trp_atoms_t *names, trp_place_t *place)
{
    trp_atoms_unref(names, &place->group);
    places->len--;
    *place = places->items[places->len];
    if (places->len == 0) {
        trp_free(places->items);
        places->items = NULL;
        places->capacity = 0;
    }
}

troupe_err_t trp_places_set(trp_places_t *places, trp_atoms_t *names, const trp_placing_t *placing,
                            uint32_t *ret_old)
{
    trp_place_t *place = places_find(places, placing);
    *ret_old = place != NULL ? place->weight : 0;
    if (place == NULL) {
        return placing->weight == 0 ? TROUPE_OK : places_add(places, names, placing);
    }
    if (placing->weight == 0) {
        places_remove(places, names, place);
    } else {
        place->weight = placing->weight;
    }
    return TROUPE_OK;
}

void trp_places_fini(trp_places_t *places, trp_atoms_t *names)
{
    for (uint32_t i = 0; i < places->len; i++) {
        trp_atoms_unref(names, &places->items[i].group);
    }
    trp_free(places->items);
    memset(places, 0, sizeof(*places));
}

troupe_err_t trp_topic_add_pattern(trp_topic_t *topic, trp_pattern_t *pattern)
{
    if (topic->pattern_len == topic->pattern_capacity) {
        uint32_t capacity = topic->pattern_capacity == 0 ? 1 : topic->pattern_capacity * 2;
        trp_pattern_t **patterns = trp_realloc(topic->patterns, capacity * sizeof(*patterns));
        if (patterns == NULL) {
            return TROUPE_ENOMEM;
        }
        topic->patterns = patterns;
        topic->pattern_capacity = capacity;
    }
    topic->patterns[topic->pattern_len++] = pattern;
    return TROUPE_OK;
}

void trp_topic_remove_pattern(trp_topic_t *topic, const trp_pattern_t *pattern)
{
    for (uint32_t i = 0; i < topic->pattern_len; i++) {
        if (topic->patterns[i] == pattern) {
            topic->pattern_len--;
            topic->patterns[i] = topic->patterns[topic->pattern_len];
            return;
        }
    }
}

/* ---- masks ----------------------------------------------------------------------------------- */

static void places_mask(const trp_places_t *places, uint64_t *mask)
{
    for (uint32_t i = 0; i < places->len; i++) {
        const trp_place_t *place = &places->items[i];
        if (place->node == 0 && place->group == NULL) {
            mask[place->replica / 64] |= UINT64_C(1) << (place->replica % 64);
        }
    }
}

void trp_topic_mask(trp_directory_t *directory, const trp_topic_t *topic)
{
    uint64_t words[TRP_REPLICA_WORDS] = {0};
    trp_mask_t *mask = trp_masks_at(&directory->masks, topic->name->id);
    TRP_ASSERT(mask != NULL);
    places_mask(&topic->places, words);
    for (uint32_t i = 0; i < topic->pattern_len; i++) {
        places_mask(&topic->patterns[i]->places, words);
    }
    for (uint32_t i = 0; i < TRP_REPLICA_WORDS; i++) {
        /* Relaxed: what makes a publish come after this is a message that crosses threads itself. */
        atomic_store_explicit(&mask->words[i], words[i], memory_order_relaxed);
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The snapshot is out of date: builds a new one when somebody uses the topic, else leaves it to the
 * next resolve. ret_change->targets is NULL when nobody must hear of it. */
static troupe_err_t places_changed(trp_directory_t *directory, trp_topic_t *topic,
                                   trp_change_t *ret_change)
{
    memset(ret_change, 0, sizeof(*ret_change));
    trp_topic_mask(directory, topic);
    if (!trp_topic_has_interest(topic)) {
        trp_targets_unref(&topic->targets);
        return TROUPE_OK;
    }
    troupe_err_t err = trp_builder_build(directory, topic);
    if (err == TROUPE_OK) {
        ret_change->id = topic->name->id;
        ret_change->generation = topic->name->generation;
        ret_change->targets = trp_targets_ref(topic->targets);
        memcpy(ret_change->interest, topic->interest, sizeof(ret_change->interest));
    }
    topic->is_dirty = err != TROUPE_OK;
    return err;
}

/* Whether replicas see a difference: plain places count only by being there. */
static bool places_matters(const trp_placing_t *placing, uint32_t old)
{
    if (placing->group != NULL) {
        return placing->weight != old;
    }
    return (placing->weight == 0) != (old == 0);
}

static troupe_err_t places_locked_place(trp_directory_t *directory, const trp_placing_t *placing,
                                        trp_change_t *ret_change)
{
    trp_topic_t *topic = NULL;
    uint32_t old = 0;
    troupe_err_t err = trp_directory_topic(directory, placing->name, &topic);
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_places_set(&topic->places, directory->names, placing, &old);
    if (err != TROUPE_OK || !places_matters(placing, old)) {
        return err;
    }
    err = places_changed(directory, topic, ret_change);
    if (err != TROUPE_OK && placing->weight > old) {
        trp_placing_t undo = *placing;
        undo.weight = old;
        troupe_err_t undone = trp_places_set(&topic->places, directory->names, &undo, &old);
        TRP_ASSERT(undone == TROUPE_OK);
        topic->is_dirty = false;
        trp_topic_mask(directory, topic);
        return err;
    }
    /* Less is never refused: a change that could not be built is retried by the sweep. */
    return TROUPE_OK;
}

troupe_err_t trp_directory_place(trp_directory_t *directory, const trp_placing_t *placing,
                                 trp_change_t *ret_change)
{
    TRP_ASSERT(placing->name->space == TRP_SPACE_TOPIC || placing->name->space == TRP_SPACE_PATH);
    memset(ret_change, 0, sizeof(*ret_change));
    pthread_mutex_lock(&directory->lock);
    troupe_err_t err = places_locked_place(directory, placing, ret_change);
    pthread_mutex_unlock(&directory->lock);
    return err;
}

uint32_t trp_directory_here(trp_directory_t *directory, const trp_atom_t *name,
                            const trp_atom_t *group)
{
    uint32_t weight = 0;
    const trp_places_t *places = NULL;
    pthread_mutex_lock(&directory->lock);
    if (name->space == TRP_SPACE_PATTERN) {
        const trp_pattern_t *pattern = trp_trie_find(&directory->trie, trp_atom_view(name));
        places = pattern != NULL ? &pattern->places : NULL;
    } else {
        const trp_topic_t *topic = trp_directory_find_topic(directory, name->id, name->generation);
        places = topic != NULL ? &topic->places : NULL;
    }
    for (uint32_t i = 0; places != NULL && i < places->len; i++) {
        if (places->items[i].node == 0 && places->items[i].group == group) {
            weight += places->items[i].weight;
        }
    }
    pthread_mutex_unlock(&directory->lock);
    return weight;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* Calls `touch` for each topic, with the lock taken for each, and reports those it says changed. */
typedef troupe_err_t (*places_touch_fn)(trp_topic_t *topic, void *context, bool *ret_changed);

static troupe_err_t places_touch_all(trp_directory_t *directory, places_touch_fn touch,
                                     void *touch_context, trp_change_fn on_change, void *context)
{
    troupe_err_t result = TROUPE_OK;
    bool is_more = true;
    for (uint32_t id = 1; is_more; id++) {
        trp_change_t change = {0, 0, NULL, {0}};
        pthread_mutex_lock(&directory->lock);
        is_more = id < directory->topic_capacity;
        trp_topic_t *topic = is_more ? directory->topics[id] : NULL;
        if (topic != NULL) {
            bool is_changed = false;
            troupe_err_t err = touch(topic, touch_context, &is_changed);
            result = err != TROUPE_OK ? err : result;
            if (is_changed && places_changed(directory, topic, &change) != TROUPE_OK) {
                result = TROUPE_ENOMEM;
            }
        }
        pthread_mutex_unlock(&directory->lock);
        if (change.targets != NULL) {
            on_change(context, &change);
        }
    }
    return result;
}

static troupe_err_t places_touch_new(trp_topic_t *topic, void *context, bool *ret_changed)
{
    trp_pattern_t *pattern = context;
    if (topic->name->space != TRP_SPACE_TOPIC ||
        !trp_pattern_matches(trp_atom_view(pattern->name), trp_atom_view(topic->name))) {
        return TROUPE_OK;
    }
    trp_topic_remove_pattern(topic, pattern);
    troupe_err_t err = trp_topic_add_pattern(topic, pattern);
    *ret_changed = err == TROUPE_OK;
    return err;
}

static troupe_err_t places_touch_gone(trp_topic_t *topic, void *context, bool *ret_changed)
{
    uint32_t len = topic->pattern_len;
    trp_topic_remove_pattern(topic, context);
    *ret_changed = topic->pattern_len != len;
    return TROUPE_OK;
}

static troupe_err_t places_touch_matched(trp_topic_t *topic, void *context, bool *ret_changed)
{
    for (uint32_t i = 0; i < topic->pattern_len; i++) {
        *ret_changed = *ret_changed || topic->patterns[i] == context;
    }
    return TROUPE_OK;
}

static troupe_err_t places_make_pattern(trp_directory_t *directory, const trp_atom_t *name,
                                        trp_pattern_t **ret_pattern)
{
    trp_pattern_t *pattern = trp_calloc(1, sizeof(*pattern));
    if (pattern == NULL) {
        return TROUPE_ENOMEM;
    }
    pattern->name = name;
    troupe_err_t err = trp_trie_add(&directory->trie, trp_atom_view(name), pattern);
    if (err != TROUPE_OK) {
        trp_free(pattern);
        return err;
    }
    pattern->name = trp_atoms_ref(directory->names, name);
    *ret_pattern = pattern;
    return TROUPE_OK;
}

/* Sets the pattern's place under the lock. What the topics must be told then goes to ret_touch. */
static troupe_err_t places_locked_pattern(trp_directory_t *directory, const trp_placing_t *placing,
                                          trp_pattern_t **ret_pattern, places_touch_fn *ret_touch)
{
    trp_pattern_t *pattern = trp_trie_find(&directory->trie, trp_atom_view(placing->name));
    bool is_new = pattern == NULL;
    uint32_t old = 0;
    if (is_new) {
        if (placing->weight == 0) {
            return TROUPE_OK;
        }
        troupe_err_t err = places_make_pattern(directory, placing->name, &pattern);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    troupe_err_t err = trp_places_set(&pattern->places, directory->names, placing, &old);
    *ret_pattern = pattern;
    if (pattern->places.len == 0) {
        (void)trp_trie_remove(&directory->trie, trp_atom_view(pattern->name));
        *ret_touch = places_touch_gone;
    } else if (is_new) {
        *ret_touch = places_touch_new;
    } else if (places_matters(placing, old)) {
        *ret_touch = places_touch_matched;
    }
    return err;
}

troupe_err_t trp_directory_place_pattern(trp_directory_t *directory, const trp_placing_t *placing,
                                         trp_change_fn on_change, void *context)
{
    TRP_ASSERT(placing->name->space == TRP_SPACE_PATTERN);
    TRP_ASSERT(placing->group == NULL);
    trp_pattern_t *pattern = NULL;
    places_touch_fn touch = NULL;
    pthread_mutex_lock(&directory->lock);
    troupe_err_t err = places_locked_pattern(directory, placing, &pattern, &touch);
    pthread_mutex_unlock(&directory->lock);
    if (touch == NULL) {
        return err;
    }
    troupe_err_t touched = places_touch_all(directory, touch, pattern, on_change, context);
    if (pattern->places.len == 0) {
        trp_atoms_unref(directory->names, &pattern->name);
        trp_places_fini(&pattern->places, directory->names);
        trp_free(pattern);
    }
    return err != TROUPE_OK ? err : touched;
}

/* ---- reachability ---------------------------------------------------------------------------- */

static troupe_err_t places_touch_node(trp_topic_t *topic, void *context, bool *ret_changed)
{
    const uint64_t *node = context;
    for (uint32_t i = 0; i < topic->places.len && !*ret_changed; i++) {
        *ret_changed = topic->places.items[i].node == *node;
    }
    return TROUPE_OK;
}

troupe_err_t trp_directory_set_reachable(trp_directory_t *directory, uint64_t node,
                                         bool is_reachable, trp_change_fn on_change, void *context)
{
    TRP_ASSERT(node != 0);
    troupe_err_t err = TROUPE_OK;
    pthread_mutex_lock(&directory->lock);
    bool was_reachable = trp_map_find(&directory->unreachable, node) == NULL;
    if (!is_reachable) {
        err = trp_map_put(&directory->unreachable, node, 1);
    } else {
        (void)trp_map_remove(&directory->unreachable, node, NULL);
    }
    pthread_mutex_unlock(&directory->lock);
    if (err != TROUPE_OK || was_reachable == is_reachable) {
        return err;
    }
    return places_touch_all(directory, places_touch_node, &node, on_change, context);
}
