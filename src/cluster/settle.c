/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Taking part in settling: proposals accepted, changes adopted, whole sets sent and taken. What the
 * proposer does is in settle_lead.c. */

#include "cluster/settle.h"

#include <string.h>

#include "base/assert.h"
#include "cluster/post.h"
#include "cluster/view.h"

#define SETTLE_SLOW_MS                                                                             \
    400 /* A proposal open for so long is passed on by all, and so are answers. */

void trp_settle_init(trp_cluster_core_t *core)
{
    core->settle.ghost_since = TRP_CLOCK_NEVER;
    core->settle.ghost_at = TRP_CLOCK_NEVER;
}

bool trp_settle_has(const trp_cluster_core_t *core, uint64_t uid)
{
    const trp_settle_t *settle = &core->settle;
    return trp_uids_has(&settle->settled, uid) ||
           (settle->has_proposal && trp_uids_has(&settle->proposed, uid));
}

bool trp_settle_is_out(const trp_cluster_core_t *core, uint64_t uid, uint64_t up_number)
{
    uint64_t epoch = trp_member_up_epoch(up_number);
    return epoch != 0 && epoch <= core->settle.epoch && !trp_settle_has(core, uid);
}

trp_member_t *trp_settle_leader(const trp_cluster_core_t *core)
{
    trp_member_t *leader = NULL;
    for (size_t i = 0; i < core->settle.settled.len; i++) {
        trp_member_t *member = trp_members_find(&core->members, core->settle.settled.items[i]);
        if (member == NULL || member->state >= TROUPE_MEMBER_DOWN) {
            continue;
        }
        if (leader == NULL || trp_identity_compare(member->identity, leader->identity) < 0) {
            leader = member;
        }
    }
    return leader;
}

troupe_err_t trp_settle_form(trp_cluster_core_t *core)
{
    trp_settle_t *settle = &core->settle;
    TRP_ASSERT(settle->epoch == 0);
    troupe_err_t err = trp_uids_add(&settle->settled, core->self->uid);
    if (err != TROUPE_OK) {
        return err;
    }
    settle->epoch = 1;
    trp_view_set_up_number(core, core->self, trp_settle_up_number(1, 0));
    trp_view_changed(core);
    return TROUPE_OK;
}

/* ---- adopting --------------------------------------------------------------------------------- */

/* This node was settled out: at its own wish, or because it was given up. */
static void settle_leave_self(trp_cluster_core_t *core)
{
    if (core->self->state < TROUPE_MEMBER_LEAVING) {
        trp_view_stop(core, TRP_STOP_DOWNED);
        return;
    }
    trp_view_set_state(core, core->self, TROUPE_MEMBER_EXITING);
}

/* Members that the new set no longer has. Backwards, since removing shifts what is behind. */
static void settle_sweep(trp_cluster_core_t *core)
{
    for (size_t i = core->members.len; i > 0; i--) {
        trp_member_t *member = core->members.items[i - 1];
        if (!trp_settle_is_out(core, member->uid, member->up_number)) {
            continue;
        }
        if (member == core->self) {
            settle_leave_self(core);
        } else if (member->state == TROUPE_MEMBER_DOWN) {
            trp_view_remove(core, member);
        } else {
            trp_view_set_state(core, member, TROUPE_MEMBER_EXITING);
        }
    }
}

void trp_settle_drop_proposal(trp_cluster_core_t *core)
{
    trp_settle_t *settle = &core->settle;
    settle->has_proposal = false;
    memset(&settle->change, 0, sizeof(settle->change));
    for (size_t i = 0; i < core->members.len; i++) {
        core->members.items[i]->acked = false;
        trp_rumors_forget(&core->rumors, TRP_RUMOR_ACKED, core->members.items[i]->uid);
    }
    trp_rumors_forget(&core->rumors, TRP_RUMOR_PROPOSED, 0);
}

/* Makes `next` the settled set; its old contents end up in `next`. */
static void settle_adopt(trp_cluster_core_t *core, trp_uids_t *next, uint64_t epoch)
{
    trp_settle_t *settle = &core->settle;
    TRP_ASSERT(epoch > settle->epoch);
    trp_uids_swap(&settle->settled, next);
    settle->epoch = epoch;
    settle->ballot_seen = 0;
    trp_settle_drop_proposal(core);
    trp_view_changed(core);
}

/* The set that `change` leads to from the settled one. ENOMEM; EPROTOCOL: its hash doesn't fit. */
static troupe_err_t settle_compute(const trp_cluster_core_t *core, const trp_change_t *change,
                                   trp_uids_t *ret_set)
{
    troupe_err_t err = trp_uids_copy(ret_set, &core->settle.settled);
    for (size_t i = 0; i < change->added_len && err == TROUPE_OK; i++) {
        err = trp_uids_add(ret_set, change->added[i]);
    }
    for (size_t i = 0; i < change->removed_len && err == TROUPE_OK; i++) {
        trp_uids_remove(ret_set, change->removed[i]);
    }
    if (err == TROUPE_OK && trp_uids_hash(ret_set) != change->result) {
        err = TROUPE_EPROTOCOL;
    }
    return err;
}

static void settle_raise_added(trp_cluster_core_t *core, const trp_change_t *change)
{
    for (size_t i = 0; i < change->added_len; i++) {
        trp_member_t *member = trp_members_find(&core->members, change->added[i]);
        if (member != NULL) {
            trp_view_set_up_number(core, member, trp_settle_up_number(change->epoch, i));
        }
    }
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (member->up_number != 0 && (member->flags & TRP_FLAG_READY) != 0 &&
            trp_uids_has(&core->settle.settled, member->uid)) {
            trp_view_set_state(core, member, TROUPE_MEMBER_UP);
        }
    }
}

troupe_err_t trp_settle_apply(trp_cluster_core_t *core, const trp_change_t *change)
{
    trp_uids_t next = {0};
    trp_change_t kept = *change; /* May be the proposal, which adopting drops. */
    troupe_err_t err = settle_compute(core, &kept, &next);
    if (err == TROUPE_OK) {
        settle_adopt(core, &next, kept.epoch);
        core->settle.last = kept;
        settle_raise_added(core, &kept);
        settle_sweep(core);
    }
    trp_uids_fini(&next);
    return err;
}

void trp_settle_note_behind(trp_cluster_core_t *core, uint64_t uid)
{
    core->settle.behind_of = uid;
}

/* True when the change follows on the set that this node has. */
static bool settle_fits(trp_cluster_core_t *core, uint64_t from, const trp_change_t *change)
{
    const trp_settle_t *settle = &core->settle;
    if (settle->epoch == 0 || change->epoch > settle->epoch + 1) {
        trp_settle_note_behind(core, from);
        return false;
    }
    return change->epoch == settle->epoch + 1 && change->base == trp_uids_hash(&settle->settled);
}

void trp_settle_on_settled(trp_cluster_core_t *core, uint64_t from, const trp_change_t *change)
{
    if (!settle_fits(core, from, change)) {
        return;
    }
    if (trp_settle_apply(core, change) != TROUPE_OK) {
        core->stats.malformed++;
        return;
    }
    if (from != change->proposer) {
        trp_view_tell(core, TRP_RUMOR_SETTLED, 0, 0, 0);
    }
}

/* ---- proposals -------------------------------------------------------------------------------- */

static int settle_compare(const trp_change_t *a, const trp_change_t *b)
{
    if (a->ballot != b->ballot) {
        return a->ballot > b->ballot ? 1 : -1;
    }
    return (a->proposer > b->proposer) - (a->proposer < b->proposer);
}

/* The proposal has been open for so long that somebody must be hard to reach. */
static bool settle_is_slow(const trp_cluster_core_t *core)
{
    return core->time.now - core->settle.proposed_at >= trp_clock_from_ms(SETTLE_SLOW_MS);
}

/* `passed_on`: the proposal didn't come from its proposer, so the way there may be cut. */
static void settle_accept(trp_cluster_core_t *core, bool passed_on)
{
    const trp_change_t *change = &core->settle.change;
    if (!trp_uids_has(&core->settle.settled, core->self->uid)) {
        return;
    }
    core->self->acked = true;
    if (change->proposer == core->self->uid) {
        return;
    }
    trp_wire_t wire = {.type = TRP_WIRE_ACCEPT,
                       .epoch = change->epoch,
                       .seq = change->ballot,
                       .uid = change->proposer,
                       .digest = change->result};
    bool sent = trp_post_send(core, change->proposer, &wire, NULL);
    if (!sent || passed_on || settle_is_slow(core)) {
        trp_view_tell(core, TRP_RUMOR_ACKED, core->self->uid, 0, 0);
    }
}

troupe_err_t trp_settle_hold(trp_cluster_core_t *core, const trp_change_t *change, bool passed_on)
{
    trp_settle_t *settle = &core->settle;
    trp_uids_t next = {0};
    troupe_err_t err = settle_compute(core, change, &next);
    if (err == TROUPE_OK) {
        trp_settle_drop_proposal(core);
        trp_uids_swap(&settle->proposed, &next);
        settle->change = *change;
        settle->has_proposal = true;
        settle->ballot_seen =
            change->ballot > settle->ballot_seen ? change->ballot : settle->ballot_seen;
        settle->proposed_at = core->time.now;
        settle_accept(core, passed_on);
    }
    trp_uids_fini(&next);
    return err;
}

/* The proposal that is held comes again. From the proposer: somebody lacks it, or our answer; what
 * doesn't get through directly is passed on. */
static void settle_hear_again(trp_cluster_core_t *core, bool passed_on)
{
    if (!passed_on) {
        settle_accept(core, false);
    }
    if (!passed_on && settle_is_slow(core)) {
        trp_view_tell(core, TRP_RUMOR_PROPOSED, 0, 0, 0);
    }
}

void trp_settle_on_proposed(trp_cluster_core_t *core, uint64_t from, const trp_change_t *change)
{
    const trp_settle_t *settle = &core->settle;
    if (!settle_fits(core, from, change)) {
        if (change->epoch <= settle->epoch && from == change->proposer) {
            trp_settle_send_set(core, from); /* The proposer has missed that it is settled. */
        }
        return;
    }
    int order = settle->has_proposal ? settle_compare(change, &settle->change) : 1;
    if (order < 0) {
        trp_settle_send_proposal(core, from);
        return;
    }
    bool passed_on = from != change->proposer;
    if (order == 0) {
        settle_hear_again(core, passed_on);
        return;
    }
    if (trp_settle_hold(core, change, passed_on) != TROUPE_OK) {
        core->stats.malformed++;
        return;
    }
    if (passed_on) {
        trp_view_tell(core, TRP_RUMOR_PROPOSED, 0, 0, 0);
    }
}

void trp_settle_on_accepted(trp_cluster_core_t *core, uint64_t uid, const trp_change_t *change,
                            bool tell)
{
    const trp_settle_t *settle = &core->settle;
    trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL || member->acked || !settle->has_proposal ||
        change->epoch != settle->change.epoch || settle_compare(change, &settle->change) != 0 ||
        change->result != settle->change.result) {
        return;
    }
    member->acked = true;
    core->settle.accept_came = true;
    if (tell) {
        trp_view_tell(core, TRP_RUMOR_ACKED, uid, 0, 0);
    }
}

void trp_settle_send_proposal(trp_cluster_core_t *core, uint64_t to)
{
    if (!core->settle.has_proposal) {
        return;
    }
    trp_wire_t wire = {.type = TRP_WIRE_CHANGE};
    trp_item_t item = {.kind = TRP_ITEM_PROPOSED, .change = core->settle.change};
    trp_items_clear(&core->items);
    (void)trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX);
    (void)trp_post_send(core, to, &wire, &core->items);
}

/* ---- whole sets ------------------------------------------------------------------------------- */

void trp_settle_send_set(trp_cluster_core_t *core, uint64_t to)
{
    const trp_uids_t *settled = &core->settle.settled;
    trp_wire_t wire = {.type = TRP_WIRE_SET,
                       .epoch = core->settle.epoch,
                       .digest = trp_uids_hash(settled),
                       .to = settled->len};
    for (size_t start = 0; start < settled->len; start += TRP_SET_PART_LEN) {
        trp_items_clear(&core->items);
        for (size_t i = start; i < settled->len && i < start + TRP_SET_PART_LEN; i++) {
            trp_item_t item = {.kind = TRP_ITEM_UID, .uid = settled->items[i]};
            bool fits = trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX);
            TRP_ASSERT(fits);
        }
        wire.from = start;
        (void)trp_post_send(core, to, &wire, &core->items);
    }
    core->stats.full_sets++;
    trp_settle_send_proposal(core, to);
}

static bool settle_begin_part(trp_cluster_core_t *core, const trp_wire_t *wire)
{
    trp_settle_t *settle = &core->settle;
    if (wire->epoch <= settle->epoch || wire->to > core->members.len_max) {
        return false;
    }
    if (wire->from == 0) {
        trp_uids_clear(&settle->partial);
        settle->partial_epoch = wire->epoch;
        settle->partial_hash = wire->digest;
    }
    return wire->from == settle->partial.len && wire->epoch == settle->partial_epoch &&
           wire->digest == settle->partial_hash;
}

void trp_settle_on_set(trp_cluster_core_t *core, const trp_wire_t *wire, trp_view_t items)
{
    trp_settle_t *settle = &core->settle;
    trp_item_t item;
    if (!settle_begin_part(core, wire)) {
        return;
    }
    while (trp_wire_next(&items, &item) == TROUPE_OK && settle->partial.len < wire->to) {
        if (item.kind != TRP_ITEM_UID || item.uid == 0 ||
            trp_uids_add(&settle->partial, item.uid) != TROUPE_OK) {
            return;
        }
    }
    if (settle->partial.len < wire->to || settle->partial.len == 0 ||
        trp_uids_hash(&settle->partial) != wire->digest) {
        return;
    }
    settle_adopt(core, &settle->partial, wire->epoch);
    trp_uids_clear(&settle->partial);
    memset(&settle->last, 0, sizeof(settle->last));
    trp_rumors_forget(&core->rumors, TRP_RUMOR_SETTLED, 0);
    settle_sweep(core);
}
