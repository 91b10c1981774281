/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Merging. */

#include "cluster/merge.h"

#include "base/assert.h"
#include "cluster/settle.h"
#include "cluster/suspicion.h"
#include "cluster/view.h"

/* What others say about this node: the only news that is answered rather than taken. */
static void merge_self(trp_cluster_core_t *core, const trp_item_t *item)
{
    trp_member_t *self = core->self;
    if (item->state >= TROUPE_MEMBER_DOWN) {
        bool has_left =
            self->state == TROUPE_MEMBER_LEAVING || self->state == TROUPE_MEMBER_EXITING;
        bool is_removed = item->state == TROUPE_MEMBER_REMOVED;
        trp_view_stop(core, has_left && is_removed ? TRP_STOP_LEFT : TRP_STOP_DOWNED);
        return;
    }
    if (item->incarnation > self->incarnation) {
        trp_view_refute(core, item->incarnation);
    } else if ((item->flags & TRP_FLAG_UNREACHABLE) != 0) {
        trp_view_refute(core, item->incarnation);
    }
    trp_view_set_up_number(core, self, item->up_number);
    trp_view_set_state(core, self, (troupe_member_state_t)item->state);
}

static void merge_known(trp_cluster_core_t *core, uint64_t from, trp_member_t *member,
                        const trp_item_t *item)
{
    if (item->state == TROUPE_MEMBER_REMOVED) {
        trp_view_remove(core, member);
        return;
    }
    trp_view_set_incarnation(core, member, item->incarnation);
    trp_view_set_flags(core, member, item->flags);
    trp_view_set_up_number(core, member, item->up_number);
    trp_view_set_state(core, member, (troupe_member_state_t)item->state);
    if ((item->flags & TRP_FLAG_UNREACHABLE) != 0) {
        trp_suspicion_confirm(core, member, item->incarnation, from, true);
    }
}

static void merge_unknown(trp_cluster_core_t *core, uint64_t from, const trp_item_t *item)
{
    if (item->state == TROUPE_MEMBER_REMOVED) {
        trp_view_bury(core, item->uid);
        return;
    }
    if (item->kind != TRP_ITEM_MEMBER) {
        return; /* Digests differ now, so the record will be asked for. */
    }
    if (trp_settle_is_out(core, item->uid, item->up_number)) {
        trp_view_bury(core, item->uid); /* A memory of somebody who was settled out. */
        return;
    }
    trp_member_t *member = trp_view_add(core, &item->identity);
    if (member == NULL) {
        return;
    }
    trp_view_reach_out(core, member);
    merge_known(core, from, member, item);
}

void trp_merge_status(trp_cluster_core_t *core, uint64_t from, const trp_item_t *item)
{
    TRP_ASSERT(item->kind == TRP_ITEM_STATUS || item->kind == TRP_ITEM_MEMBER);
    if (item->uid == core->self->uid) {
        merge_self(core, item);
        return;
    }
    trp_member_t *member = trp_members_find(&core->members, item->uid);
    if (member != NULL) {
        merge_known(core, from, member, item);
        return;
    }
    if (trp_tombs_find(&core->tombs, item->uid) != NULL) {
        if (item->state != TROUPE_MEMBER_REMOVED) {
            trp_view_tell(core, TRP_RUMOR_STATUS, item->uid, 0, 0);
        }
        return;
    }
    merge_unknown(core, from, item);
}

static void merge_suspect(trp_cluster_core_t *core, const trp_item_t *item)
{
    trp_member_t *member = trp_members_find(&core->members, item->uid);
    if (member != NULL && item->by != 0) {
        trp_suspicion_confirm(core, member, item->incarnation, item->by, true);
    }
}

static void merge_item(trp_cluster_core_t *core, uint64_t from, const trp_item_t *item)
{
    switch (item->kind) {
    case TRP_ITEM_STATUS:
    case TRP_ITEM_MEMBER:
        trp_merge_status(core, from, item);
        break;
    case TRP_ITEM_SUSPECT:
        merge_suspect(core, item);
        break;
    case TRP_ITEM_PROPOSED:
        trp_settle_on_proposed(core, from, &item->change);
        break;
    case TRP_ITEM_SETTLED:
        trp_settle_on_settled(core, from, &item->change);
        break;
    case TRP_ITEM_ACKED:
        trp_settle_on_accepted(core, item->uid, &item->change, true);
        break;
    case TRP_ITEM_VERSION:
    case TRP_ITEM_UID:
    case TRP_ITEM_RANGE:
        break;
    }
}

void trp_merge_items(trp_cluster_core_t *core, uint64_t from, trp_view_t items)
{
    trp_item_t item;
    troupe_err_t err = TROUPE_OK;
    while (core->phase == TRP_PHASE_MEMBER) {
        err = trp_wire_next(&items, &item);
        if (err != TROUPE_OK) {
            break;
        }
        merge_item(core, from, &item);
    }
    if (err == TROUPE_EPROTOCOL) {
        core->stats.malformed++;
    }
}
