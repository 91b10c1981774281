/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What people read of states and events, and other helpers of the public view. */

#include <string.h>

#include <troupe/cluster.h>

#include "base/attr.h"

const char *troupe_member_state_name(troupe_member_state_t state)
{
    static const char *const names[] = {"unknown", "joining", "weakly_up", "up",
                                        "leaving", "exiting", "down",      "removed"};
    size_t index = (size_t)state;
    return index < TRP_ARRAY_LEN(names) ? names[index] : names[0];
}

const char *troupe_member_event_name(troupe_member_event_kind_t kind)
{
    static const char *const names[] = {
        "unknown",          "member_joined",  "member_weakly_up",
        "member_up",        "member_leaving", "member_exited",
        "member_down",      "member_removed", "member_unreachable",
        "member_reachable", "leader_changed", "oldest_changed",
        "self_removed",
    };
    size_t index = (size_t)kind;
    return index < TRP_ARRAY_LEN(names) ? names[index] : names[0];
}

bool troupe_member_has_role(const troupe_member_t *member, const char *role)
{
    for (size_t i = 0; i < member->roles_len && i < TROUPE_MEMBER_ROLES_MAX; i++) {
        if (strcmp(member->roles[i], role) == 0) {
            return true;
        }
    }
    return false;
}
