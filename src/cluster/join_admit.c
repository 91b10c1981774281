/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Letting seekers in. */

#include "cluster/join_admit.h"

#include "cluster/post.h"
#include "cluster/view.h"

static void admit_welcome(trp_cluster_core_t *core, trp_member_t *member)
{
    trp_wire_t wire = {.type = TRP_WIRE_WELCOME, .epoch = core->settle.epoch};
    member->owes_welcome = !trp_post_send_self(core, member->uid, &wire);
}

void trp_join_welcome_late(trp_cluster_core_t *core, uint64_t uid)
{
    trp_member_t *member = trp_members_find(&core->members, uid);
    if (member != NULL && member->owes_welcome) {
        admit_welcome(core, member);
    }
}

/* The process at this address is another one now, so the one before has stopped for certain. */
static void admit_replace(trp_cluster_core_t *core, const trp_member_t *member)
{
    for (;;) {
        trp_member_t *old =
            trp_members_find_address(&core->members, member->identity->address, member->uid);
        if (old == NULL || old == core->self) {
            return;
        }
        trp_view_note(core, TRP_NOTE_REPLACED, old->uid, member->uid);
        trp_view_set_flags(core, old, TRP_FLAG_GONE);
        trp_view_set_state(core, old, TROUPE_MEMBER_DOWN);
    }
}

void trp_join_admit(trp_cluster_core_t *core, const trp_item_t *seeker)
{
    trp_member_t *member = trp_members_find(&core->members, seeker->uid);
    if (member == NULL) {
        member = trp_view_add(core, &seeker->identity);
    }
    if (member == NULL || member->state >= TROUPE_MEMBER_DOWN) {
        return;
    }
    trp_view_set_flags(core, member, seeker->flags & TRP_FLAG_READY);
    admit_replace(core, member);
    admit_welcome(core, member);
}
