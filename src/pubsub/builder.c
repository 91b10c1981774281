/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Builds a topic's snapshot out of its places and those of the patterns that match it. */

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "pubsub/topic.h"

#define BUILDER_CAPACITY_MIN 16u

/* Scratch memory for one build; grows with the largest topic and is reused. */
struct trp_builder {
    uint64_t *nodes;
    trp_target_member_t *members;
    trp_target_group_t *groups;
    uint32_t *patterns;
    uint8_t replicas[TRP_REPLICAS_MAX];
    uint32_t capacity;
    trp_targets_parts_t parts;
};

troupe_err_t trp_builder_create(trp_builder_t **ret_builder)
{
    trp_builder_t *builder = trp_calloc(1, sizeof(*builder));
    if (builder == NULL) {
        return TROUPE_ENOMEM;
    }
    *ret_builder = builder;
    return TROUPE_OK;
}

void trp_builder_destroy(trp_builder_t **builder_p)
{
    trp_builder_t *builder = *builder_p;
    if (builder != NULL) {
        trp_free(builder->nodes);
        trp_free(builder->members);
        trp_free(builder->groups);
        trp_free(builder->patterns);
        trp_free(builder);
        *builder_p = NULL;
    }
}

static bool builder_resize(void **array, size_t len, size_t size)
{
    void *grown = trp_realloc(*array, len * size);
    if (grown != NULL) {
        *array = grown;
    }
    return grown != NULL;
}

static troupe_err_t builder_reserve(trp_builder_t *builder, uint32_t len)
{
    if (len <= builder->capacity) {
        return TROUPE_OK;
    }
    uint32_t capacity = builder->capacity == 0 ? BUILDER_CAPACITY_MIN : builder->capacity;
    while (capacity < len) {
        capacity *= 2;
    }
    void *nodes = builder->nodes;
    void *members = builder->members;
    void *groups = builder->groups;
    void *patterns = builder->patterns;
    bool is_done = builder_resize(&nodes, capacity, sizeof(*builder->nodes)) &&
                   builder_resize(&members, capacity, sizeof(*builder->members)) &&
                   builder_resize(&groups, capacity, sizeof(*builder->groups)) &&
                   builder_resize(&patterns, capacity, sizeof(*builder->patterns));
    builder->nodes = nodes;
    builder->members = members;
    builder->groups = groups;
    builder->patterns = patterns;
    if (!is_done) {
        return TROUPE_ENOMEM;
    }
    builder->capacity = capacity;
    return TROUPE_OK;
}

static bool builder_is_reachable(const trp_directory_t *directory, uint64_t node)
{
    return node == 0 || trp_map_find(&directory->unreachable, node) == NULL;
}

/* ---- plain ----------------------------------------------------------------------------------- */

static void builder_add_replica(trp_builder_t *builder, uint8_t replica)
{
    trp_targets_parts_t *parts = &builder->parts;
    if (memchr(builder->replicas, replica, parts->replica_len) == NULL) {
        builder->replicas[parts->replica_len++] = replica;
    }
}

static void builder_add_node(trp_builder_t *builder, uint64_t node)
{
    trp_targets_parts_t *parts = &builder->parts;
    for (uint32_t i = 0; i < parts->node_len; i++) {
        if (builder->nodes[i] == node) {
            return;
        }
    }
    builder->nodes[parts->node_len++] = node;
}

static void builder_add_plain(trp_builder_t *builder, const trp_places_t *places)
{
    for (uint32_t i = 0; i < places->len; i++) {
        const trp_place_t *place = &places->items[i];
        if (place->group != NULL) {
            continue;
        }
        if (place->node == 0) {
            builder_add_replica(builder, place->replica);
        } else {
            builder_add_node(builder, place->node);
        }
    }
}

/* Nodes that can be reached come first; among themselves they keep their order. */
static void builder_sort_nodes(trp_builder_t *builder, const trp_directory_t *directory)
{
    uint32_t reachable = 0;
    for (uint32_t i = 0; i < builder->parts.node_len; i++) {
        uint64_t node = builder->nodes[i];
        if (builder_is_reachable(directory, node)) {
            builder->nodes[i] = builder->nodes[reachable];
            builder->nodes[reachable++] = node;
        }
    }
    builder->parts.reachable_len = reachable;
}

static bool builder_has_local(const trp_places_t *places)
{
    for (uint32_t i = 0; i < places->len; i++) {
        if (places->items[i].node == 0) {
            return true;
        }
    }
    return false;
}

static void builder_add_patterns(trp_builder_t *builder, const trp_topic_t *topic)
{
    for (uint32_t i = 0; i < topic->pattern_len; i++) {
        const trp_pattern_t *pattern = topic->patterns[i];
        builder_add_plain(builder, &pattern->places);
        if (builder_has_local(&pattern->places)) {
            builder->patterns[builder->parts.pattern_len++] = pattern->name->id;
        }
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef enum builder_pick { BUILDER_LOCAL, BUILDER_REACHABLE, BUILDER_UNREACHABLE } builder_pick_t;

static builder_pick_t builder_class(const trp_directory_t *directory, const trp_place_t *place)
{
    if (place->node == 0) {
        return BUILDER_LOCAL;
    }
    return builder_is_reachable(directory, place->node) ? BUILDER_REACHABLE : BUILDER_UNREACHABLE;
}

static void builder_add_members(trp_builder_t *builder, const trp_directory_t *directory,
                                const trp_topic_t *topic, builder_pick_t pick)
{
    trp_target_group_t *group = &builder->groups[builder->parts.group_len];
    for (uint32_t i = 0; i < topic->places.len; i++) {
        const trp_place_t *place = &topic->places.items[i];
        if (place->group == NULL || place->group->id != group->id ||
            builder_class(directory, place) != pick) {
            continue;
        }
        uint32_t room = UINT32_MAX - group->weight;
        group->weight += place->weight < room ? place->weight : room;
        trp_target_member_t *member = &builder->members[builder->parts.member_len++];
        member->node = place->node;
        member->through = group->weight;
        member->replica = place->replica;
        group->member_len++;
    }
}

/* Local members first, then those that can be reached; the others only when there is nobody else. */
static void builder_add_group(trp_builder_t *builder, const trp_directory_t *directory,
                              const trp_topic_t *topic, uint32_t group_id)
{
    trp_target_group_t *group = &builder->groups[builder->parts.group_len];
    memset(group, 0, sizeof(*group));
    group->id = group_id;
    group->member_first = builder->parts.member_len;
    builder_add_members(builder, directory, topic, BUILDER_LOCAL);
    group->local_weight = group->weight;
    builder_add_members(builder, directory, topic, BUILDER_REACHABLE);
    if (group->member_len == 0) {
        builder_add_members(builder, directory, topic, BUILDER_UNREACHABLE);
    }
    builder->parts.group_len++;
}

static bool builder_has_group(const trp_builder_t *builder, uint32_t group_id)
{
    for (uint32_t i = 0; i < builder->parts.group_len; i++) {
        if (builder->groups[i].id == group_id) {
            return true;
        }
    }
    return false;
}

static void builder_add_groups(trp_builder_t *builder, const trp_directory_t *directory,
                               const trp_topic_t *topic)
{
    for (uint32_t i = 0; i < topic->places.len; i++) {
        const trp_atom_t *group = topic->places.items[i].group;
        if (group != NULL && !builder_has_group(builder, group->id)) {
            builder_add_group(builder, directory, topic, group->id);
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static uint32_t builder_bound(const trp_topic_t *topic)
{
    uint32_t bound = topic->places.len + topic->pattern_len;
    for (uint32_t i = 0; i < topic->pattern_len; i++) {
        bound += topic->patterns[i]->places.len;
    }
    return bound;
}

troupe_err_t trp_builder_build(trp_directory_t *directory, trp_topic_t *topic)
{
    trp_builder_t *builder = directory->builder;
    troupe_err_t err = builder_reserve(builder, builder_bound(topic));
    if (err != TROUPE_OK) {
        return err;
    }
    memset(&builder->parts, 0, sizeof(builder->parts));
    builder_add_plain(builder, &topic->places);
    builder_add_patterns(builder, topic);
    builder_sort_nodes(builder, directory);
    builder_add_groups(builder, directory, topic);
    builder->parts.version = directory->version + 1;
    builder->parts.nodes = builder->nodes;
    builder->parts.members = builder->members;
    builder->parts.groups = builder->groups;
    builder->parts.patterns = builder->patterns;
    builder->parts.replicas = builder->replicas;
    builder->parts.slow_node = topic->slow_node;
    trp_targets_t *targets = NULL;
    err = trp_targets_create(&builder->parts, &targets);
    if (err == TROUPE_OK) {
        directory->version++;
        trp_targets_unref(&topic->targets);
        topic->targets = targets;
    }
    return err;
}
