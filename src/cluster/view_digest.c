/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What is computed from the whole view: its digest, and who is leader and oldest. */

#include <string.h>

#include "base/assert.h"
#include "cluster/view.h"

size_t trp_view_range(uint64_t uid)
{
    /* Uids are random: their top bits spread them evenly. */
    return (size_t)(uid / (UINT64_MAX / TRP_RANGES + 1));
}

uint64_t trp_view_hash(const trp_member_t *member)
{
    uint64_t bits = (uint64_t)member->state | (uint64_t)member->flags << 8 |
                    (member->reach == TRP_UNREACHABLE ? UINT64_C(1) << 16 : 0) |
                    (uint64_t)member->incarnation << 32;
    return trp_mix64(trp_mix64(trp_mix64(member->uid) ^ bits) ^ member->up_number);
}

uint64_t trp_view_digest(trp_cluster_core_t *core)
{
    if (!core->digest_is_stale) {
        return core->digest;
    }
    memset(core->ranges, 0, sizeof(core->ranges));
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        core->ranges[trp_view_range(member->uid)] += trp_view_hash(member);
    }
    uint64_t digest = trp_mix64(core->settle.epoch) ^ trp_uids_hash(&core->settle.settled);
    for (size_t i = 0; i < TRP_RANGES; i++) {
        digest = trp_mix64(digest ^ core->ranges[i]);
    }
    core->digest = digest;
    core->digest_is_stale = false;
    return digest;
}

static bool view_may_lead(const trp_cluster_core_t *core, const trp_member_t *member)
{
    return member->state == TROUPE_MEMBER_UP && member->reach != TRP_UNREACHABLE &&
           trp_uids_has(&core->settle.settled, member->uid);
}

static bool view_may_be_oldest(const trp_member_t *member)
{
    return member->up_number != 0 && member->state >= TROUPE_MEMBER_UP &&
           member->state <= TROUPE_MEMBER_LEAVING;
}

static void view_tell_role(trp_cluster_core_t *core, troupe_member_event_kind_t kind,
                           const trp_member_t *member)
{
    trp_output_t output = {.kind = TRP_OUTPUT_EVENT, .event = kind};
    if (member != NULL) {
        output.uid = member->uid;
        output.who = trp_identity_ref(member->identity);
        output.state = member->state;
        output.incarnation = member->incarnation;
        output.up_number = member->up_number;
    }
    trp_outputs_push(&core->outputs, &output);
}

void trp_view_update_roles(trp_cluster_core_t *core)
{
    const trp_member_t *leader = NULL;
    const trp_member_t *oldest = NULL;
    if (!core->roles_are_stale) {
        return;
    }
    core->roles_are_stale = false;
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (view_may_lead(core, member) &&
            (leader == NULL || trp_identity_compare(member->identity, leader->identity) < 0)) {
            leader = member;
        }
        if (view_may_be_oldest(member) &&
            (oldest == NULL || member->up_number < oldest->up_number)) {
            oldest = member;
        }
    }
    uint64_t leader_uid = leader == NULL ? 0 : leader->uid;
    uint64_t oldest_uid = oldest == NULL ? 0 : oldest->uid;
    if (leader_uid != core->leader) {
        core->leader = leader_uid;
        view_tell_role(core, TROUPE_MEMBER_EVENT_LEADER_CHANGED, leader);
    }
    if (oldest_uid != core->oldest) {
        core->oldest = oldest_uid;
        view_tell_role(core, TROUPE_MEMBER_EVENT_OLDEST_CHANGED, oldest);
    }
}
