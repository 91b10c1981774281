/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Questions to the core. */

#include <string.h>

#include "base/assert.h"
#include "cluster/core.h"
#include "cluster/state.h"
#include "cluster/view.h"

bool trp_cluster_core_is_member(const trp_cluster_core_t *core)
{
    return core->phase == TRP_PHASE_MEMBER;
}

size_t trp_cluster_core_len(const trp_cluster_core_t *core)
{
    return core->members.len;
}

const trp_member_t *trp_cluster_core_at(const trp_cluster_core_t *core, size_t index)
{
    TRP_ASSERT(index < core->members.len);
    return core->members.items[index];
}

const trp_member_t *trp_cluster_core_find(const trp_cluster_core_t *core, uint64_t uid)
{
    return trp_members_find(&core->members, uid);
}

const trp_member_t *trp_cluster_core_find_address(const trp_cluster_core_t *core,
                                                  const char *address)
{
    return trp_members_find_address(&core->members, address, 0);
}

uint64_t trp_cluster_core_uid(const trp_cluster_core_t *core)
{
    return core->self->uid;
}

uint64_t trp_cluster_core_cluster(const trp_cluster_core_t *core)
{
    return core->cluster;
}

uint64_t trp_cluster_core_leader(const trp_cluster_core_t *core)
{
    return core->leader;
}

uint64_t trp_cluster_core_oldest(const trp_cluster_core_t *core)
{
    return core->oldest;
}

uint64_t trp_cluster_core_digest(trp_cluster_core_t *core)
{
    return trp_view_digest(core);
}

uint64_t trp_cluster_core_epoch(const trp_cluster_core_t *core)
{
    return core->settle.epoch;
}

size_t trp_cluster_core_settled_len(const trp_cluster_core_t *core)
{
    return core->settle.settled.len;
}

bool trp_cluster_core_is_settled(const trp_cluster_core_t *core, uint64_t uid)
{
    return trp_uids_has(&core->settle.settled, uid);
}

uint32_t trp_cluster_core_health(const trp_cluster_core_t *core)
{
    return core->detector.health;
}

const trp_cluster_stats_t *trp_cluster_core_stats(const trp_cluster_core_t *core)
{
    return &core->stats;
}

/* Copies a text that is known to fit. */
static void query_copy(char *out, size_t capacity, const char *text)
{
    size_t size = strlen(text);
    TRP_ASSERT(size < capacity);
    memcpy(out, text, size + 1);
}

void trp_cluster_core_view(const trp_cluster_core_t *core, const trp_member_t *member,
                           troupe_member_t *ret_view)
{
    const trp_identity_t *identity = member->identity;
    memset(ret_view, 0, sizeof(*ret_view));
    ret_view->uid = member->uid;
    ret_view->up_number = member->up_number;
    ret_view->state = (uint32_t)member->state;
    ret_view->incarnation = member->incarnation;
    ret_view->is_self = member == core->self;
    ret_view->is_suspected = member->reach == TRP_SUSPECT;
    ret_view->is_unreachable = member->reach == TRP_UNREACHABLE;
    ret_view->roles_len = (uint8_t)identity->roles_len;
    query_copy(ret_view->address, sizeof(ret_view->address), identity->address);
    query_copy(ret_view->name, sizeof(ret_view->name), identity->name);
    for (size_t i = 0; i < identity->roles_len; i++) {
        query_copy(ret_view->roles[i], sizeof(ret_view->roles[i]), identity->roles[i]);
    }
}
