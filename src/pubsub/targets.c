/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Snapshots of a topic's targets. */

#include "pubsub/targets.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

/* Copies an array behind `*at` and moves `*at` on. Arrays come in order of falling alignment. */
static const void *targets_place(uint8_t **at, const void *array, size_t size)
{
    uint8_t *placed = *at;
    if (size > 0) {
        memcpy(placed, array, size);
    }
    *at = placed + size;
    return placed;
}

troupe_err_t trp_targets_create(const trp_targets_parts_t *parts, trp_targets_t **ret_targets)
{
    size_t node_size = parts->node_len * sizeof(*parts->nodes);
    size_t member_size = parts->member_len * sizeof(*parts->members);
    size_t group_size = parts->group_len * sizeof(*parts->groups);
    size_t pattern_size = parts->pattern_len * sizeof(*parts->patterns);
    size_t replica_size = parts->replica_len * sizeof(*parts->replicas);
    size_t total = node_size + member_size + group_size + pattern_size + replica_size;
    trp_targets_t *targets = trp_alloc(sizeof(*targets) + total);
    if (targets == NULL) {
        return TROUPE_ENOMEM;
    }
    memset(targets, 0, sizeof(*targets));
    uint8_t *at = (uint8_t *)(targets + 1);
    atomic_init(&targets->refs, 1);
    targets->version = parts->version;
    targets->nodes = targets_place(&at, parts->nodes, node_size);
    targets->members = targets_place(&at, parts->members, member_size);
    targets->groups = targets_place(&at, parts->groups, group_size);
    targets->patterns = targets_place(&at, parts->patterns, pattern_size);
    targets->replicas = targets_place(&at, parts->replicas, replica_size);
    targets->node_len = parts->node_len;
    targets->member_len = parts->member_len;
    targets->group_len = parts->group_len;
    targets->pattern_len = parts->pattern_len;
    targets->replica_len = parts->replica_len;
    targets->reachable_len = parts->reachable_len;
    targets->slow_node = parts->slow_node;
    *ret_targets = targets;
    return TROUPE_OK;
}

void trp_targets_unref(trp_targets_t **targets_p)
{
    trp_targets_t *targets = *targets_p;
    *targets_p = NULL;
    /* Acquire-release: every use by the others comes before the free. */
    if (targets != NULL &&
        atomic_fetch_sub_explicit(&targets->refs, 1, memory_order_acq_rel) == 1) {
        trp_free(targets);
    }
}

const trp_target_group_t *trp_targets_group(const trp_targets_t *targets, uint32_t group_id)
{
    for (uint32_t i = 0; i < targets->group_len; i++) {
        if (targets->groups[i].id == group_id) {
            return &targets->groups[i];
        }
    }
    return NULL;
}

const trp_target_member_t *trp_targets_member(const trp_targets_t *targets,
                                              const trp_target_group_t *group, uint32_t at)
{
    TRP_ASSERT(group->member_len > 0);
    TRP_ASSERT(at < group->weight);
    const trp_target_member_t *members = &targets->members[group->member_first];
    uint32_t low = 0;
    uint32_t high = group->member_len - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (members[middle].through > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return &members[low];
}
