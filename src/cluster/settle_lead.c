/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Proposing, and clearing away who is gone. */

#include "cluster/settle_lead.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cluster/post.h"
#include "cluster/settle.h"
#include "cluster/view.h"

#define SETTLE_CHECK_DELAY_MS 20 /* After a change of the view: several come together. */
#define SETTLE_NOTE_INTERVAL_MS 10000

/* ---- clearing away ---------------------------------------------------------------------------- */

static bool settle_is_gone(const trp_cluster_core_t *core, const trp_member_t *member)
{
    if (member->state == TROUPE_MEMBER_EXITING) {
        return core->time.now >= member->exit_at;
    }
    return member->state == TROUPE_MEMBER_DOWN && !trp_settle_has(core, member->uid);
}

static void settle_clear_gone(trp_cluster_core_t *core)
{
    for (size_t i = core->members.len; i > 0; i--) {
        trp_member_t *member = core->members.items[i - 1];
        if (member != core->self && settle_is_gone(core, member)) {
            trp_view_remove(core, member);
        }
    }
}

/* ---- the batch -------------------------------------------------------------------------------- */

static bool settle_may_enter(const trp_cluster_core_t *core, const trp_member_t *member)
{
    return member->state < TROUPE_MEMBER_UP && (member->flags & TRP_FLAG_READY) != 0 &&
           member->reach == TRP_REACHABLE && !trp_uids_has(&core->settle.settled, member->uid);
}

/* Of a settled uid: it leaves, is down, or was removed before a proposal with it was settled. */
static bool settle_must_go(const trp_cluster_core_t *core, uint64_t uid)
{
    const trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL) {
        return trp_tombs_find(&core->tombs, uid) != NULL;
    }
    return member->state >= TROUPE_MEMBER_LEAVING;
}

static void settle_fill_batch(const trp_cluster_core_t *core, trp_change_t *change)
{
    const trp_uids_t *settled = &core->settle.settled;
    for (size_t i = 0; i < core->members.len && change->added_len < TRP_CHANGE_MAX; i++) {
        const trp_member_t *member = core->members.items[i];
        if (settle_may_enter(core, member)) {
            change->added[change->added_len] = member->uid;
            change->added_len++;
        }
    }
    for (size_t i = 0; i < settled->len && change->removed_len < TRP_CHANGE_MAX; i++) {
        if (settle_must_go(core, settled->items[i])) {
            change->removed[change->removed_len] = settled->items[i];
            change->removed_len++;
        }
    }
}

/* The hash of the set that the change leads to. ENOMEM. */
static troupe_err_t settle_fill_hashes(const trp_cluster_core_t *core, trp_change_t *change)
{
    trp_uids_t next = {0};
    change->base = trp_uids_hash(&core->settle.settled);
    troupe_err_t err = trp_uids_copy(&next, &core->settle.settled);
    for (size_t i = 0; i < change->added_len && err == TROUPE_OK; i++) {
        err = trp_uids_add(&next, change->added[i]);
    }
    for (size_t i = 0; i < change->removed_len; i++) {
        trp_uids_remove(&next, change->removed[i]);
    }
    change->result = trp_uids_hash(&next);
    trp_uids_fini(&next);
    return err;
}

/* ---- proposing -------------------------------------------------------------------------------- */

/* Sends the proposal to those that don't hold it. */
static void settle_send_open(trp_cluster_core_t *core)
{
    core->settle.resend_at = core->time.now + core->timings.settle_resend;
    for (size_t i = 0; i < core->settle.settled.len; i++) {
        trp_member_t *member = trp_members_find(&core->members, core->settle.settled.items[i]);
        if (member != NULL && member != core->self && !member->acked &&
            member->state < TROUPE_MEMBER_DOWN) {
            trp_settle_send_proposal(core, member->uid);
        }
    }
}

static void settle_propose(trp_cluster_core_t *core, trp_change_t *change)
{
    change->epoch = core->settle.epoch + 1;
    change->ballot = core->settle.ballot_seen + 1;
    change->proposer = core->self->uid;
    if (settle_fill_hashes(core, change) != TROUPE_OK ||
        trp_settle_hold(core, change, false) != TROUPE_OK) {
        core->stats.out_of_memory++;
        return;
    }
    settle_send_open(core);
}

static bool settle_is_down(const trp_cluster_core_t *core, uint64_t uid)
{
    const trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL) {
        return trp_tombs_find(&core->tombs, uid) != NULL;
    }
    return member->state >= TROUPE_MEMBER_DOWN;
}

static bool settle_is_accepted(const trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->settle.settled.len; i++) {
        uint64_t uid = core->settle.settled.items[i];
        const trp_member_t *member = trp_members_find(&core->members, uid);
        if (!settle_is_down(core, uid) && (member == NULL || !member->acked)) {
            return false;
        }
    }
    return true;
}

/* Why each is settled out, so that those who haven't heard it yet learn it before the change. */
static void settle_fill_reasons(const trp_cluster_core_t *core, trp_items_t *items)
{
    const trp_change_t *change = &core->settle.change;
    trp_item_t item;
    trp_items_clear(items);
    for (size_t i = 0; i < change->removed_len; i++) {
        const trp_member_t *member = trp_members_find(&core->members, change->removed[i]);
        if (member != NULL) {
            trp_post_status_item(member, &item);
            (void)trp_items_add(items, &item, TRP_ITEMS_SIZE_MAX);
        }
    }
}

/* Tells everybody of the old and the new set, and lets the rest hear of it. */
static void settle_announce(trp_cluster_core_t *core, trp_items_t *items)
{
    trp_wire_t wire = {.type = TRP_WIRE_CHANGE};
    trp_item_t item = {.kind = TRP_ITEM_SETTLED, .change = core->settle.last};
    bool fits = trp_items_add(items, &item, TRP_ITEMS_SIZE_MAX);
    TRP_ASSERT(fits);
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member != core->self && member->state < TROUPE_MEMBER_DOWN) {
            (void)trp_post_send(core, member->uid, &wire, items);
        }
    }
    trp_view_tell(core, TRP_RUMOR_SETTLED, 0, 0, 0);
}

static void settle_finish(trp_cluster_core_t *core)
{
    trp_items_t items;
    settle_fill_reasons(core, &items);
    if (trp_settle_apply(core, &core->settle.change) == TROUPE_OK) {
        settle_announce(core, &items);
    } else {
        core->settle.resend_at = core->time.now + core->timings.settle_resend;
    }
}

static bool settle_is_mine(const trp_cluster_core_t *core)
{
    return core->settle.has_proposal && core->settle.change.proposer == core->self->uid;
}

static void settle_push_on(trp_cluster_core_t *core)
{
    const trp_settle_t *settle = &core->settle;
    if (!settle_is_mine(core)) {
        if (settle_is_down(core, settle->change.proposer)) {
            trp_change_t change = settle->change; /* Go on with what it has begun. */
            settle_propose(core, &change);
        }
        return;
    }
    if (settle_is_accepted(core)) {
        settle_finish(core);
        return;
    }
    if (core->time.now >= settle->resend_at) {
        settle_send_open(core);
        trp_view_tell(core, TRP_RUMOR_PROPOSED, 0, 0, 0);
    }
}

/* ---- ghosts ----------------------------------------------------------------------------------- */

/* A settled uid that is neither a member nor removed, as far as this node knows. It may only not have
 * heard of it yet. Or it never will: when somebody was removed while a proposal with it was still held
 * elsewhere, and that was settled later. */
static bool settle_is_ghost(const trp_cluster_core_t *core, uint64_t uid)
{
    return trp_members_find(&core->members, uid) == NULL &&
           trp_tombs_find(&core->tombs, uid) == NULL;
}

/* Asks somebody about the ghosts, or buries them after a long time without an answer: a living member
 * would have spoken to us. */
static void settle_ask_about_ghosts(trp_cluster_core_t *core, bool is_over)
{
    uint64_t helper = 0;
    trp_wire_t wire = {.type = TRP_WIRE_RECORDS};
    trp_items_clear(&core->items);
    for (size_t i = 0; i < core->settle.settled.len; i++) {
        trp_item_t item = {.kind = TRP_ITEM_UID, .uid = core->settle.settled.items[i]};
        if (!settle_is_ghost(core, item.uid)) {
            continue;
        }
        if (is_over) {
            trp_view_bury(core, item.uid);
        } else if (!trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX)) {
            break;
        }
    }
    if (core->items.len > 0 && trp_post_choose(core, 0, &helper, 1) == 1) {
        (void)trp_post_send(core, helper, &wire, &core->items);
    }
}

static bool settle_has_ghosts(const trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->settle.settled.len; i++) {
        if (settle_is_ghost(core, core->settle.settled.items[i])) {
            return true;
        }
    }
    return false;
}

static void settle_see_to_ghosts(trp_cluster_core_t *core)
{
    trp_settle_t *settle = &core->settle;
    if (!settle_has_ghosts(core)) {
        settle->ghost_since = TRP_CLOCK_NEVER;
        settle->ghost_at = TRP_CLOCK_NEVER;
        return;
    }
    if (settle->ghost_since == TRP_CLOCK_NEVER) {
        settle->ghost_since = core->time.now;
        settle->ghost_at = core->time.now + core->timings.settle_resend;
    }
    if (core->time.now >= settle->ghost_at) {
        settle->ghost_at = core->time.now + core->timings.settle_resend;
        settle_ask_about_ghosts(core, core->time.now - settle->ghost_since >=
                                          core->timings.leave_timeout);
    }
}

/* ---- leading ---------------------------------------------------------------------------------- */

/* A settled member that is unreachable and not yet given up; 0: nobody. */
static uint64_t settle_blocker(const trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member->reach == TRP_UNREACHABLE && member->state < TROUPE_MEMBER_DOWN &&
            trp_uids_has(&core->settle.settled, member->uid)) {
            return member->uid;
        }
    }
    return 0;
}

static void settle_wait(trp_cluster_core_t *core, uint64_t blocker)
{
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (settle_may_enter(core, member)) {
            trp_view_set_state(core, member, TROUPE_MEMBER_WEAKLY_UP);
        }
    }
    if (core->time.now >= core->settle.blocked_note_at) {
        core->settle.blocked_note_at = core->time.now + trp_clock_from_ms(SETTLE_NOTE_INTERVAL_MS);
        trp_view_note(core, TRP_NOTE_BLOCKED, blocker, 0);
    }
}

/* Who leaves before it was ever in a set just goes. */
static void settle_let_go(trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (member->state == TROUPE_MEMBER_LEAVING && !trp_settle_has(core, member->uid)) {
            trp_view_set_state(core, member, TROUPE_MEMBER_EXITING);
        }
    }
}

static void settle_lead(trp_cluster_core_t *core)
{
    trp_change_t change = {0};
    settle_let_go(core);
    uint64_t blocker = settle_blocker(core);
    if (blocker != 0) {
        settle_wait(core, blocker);
    }
    if (core->settle.has_proposal) {
        settle_push_on(core);
        return;
    }
    if (blocker != 0) {
        return;
    }
    settle_fill_batch(core, &change);
    if (core->self->state < TROUPE_MEMBER_UP &&
        core->settle.settled.len + change.added_len < core->members_min) {
        return;
    }
    if (change.added_len + change.removed_len > 0) {
        settle_propose(core, &change);
    }
}

/* A proposer alone in its set needs nobody's word: what it proposed can be settled at once, and a
 * settled change may have left more to do. */
#define SETTLE_ROUNDS_MAX 4

void trp_settle_tick(trp_cluster_core_t *core)
{
    if (core->settle.epoch == 0 || core->time.now < trp_settle_wakeup(core)) {
        return;
    }
    core->settle.accept_came = false;
    core->settle.checked_at = core->time.now;
    settle_clear_gone(core);
    settle_see_to_ghosts(core);
    for (size_t i = 0; i < SETTLE_ROUNDS_MAX && core->phase == TRP_PHASE_MEMBER; i++) {
        uint64_t epoch = core->settle.epoch;
        uint64_t ballot = core->settle.change.ballot;
        if (trp_settle_leader(core) == core->self) {
            settle_lead(core);
        } else if (settle_is_mine(core)) {
            settle_push_on(core); /* A lower address came in sight; what is begun is ended. */
        }
        if (epoch == core->settle.epoch && ballot == core->settle.change.ballot) {
            return;
        }
    }
}

static uint64_t settle_exit_wakeup(const trp_cluster_core_t *core)
{
    uint64_t next = TRP_CLOCK_NEVER;
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member != core->self && member->state == TROUPE_MEMBER_EXITING &&
            member->exit_at < next) {
            next = member->exit_at;
        }
    }
    return next;
}

uint64_t trp_settle_wakeup(const trp_cluster_core_t *core)
{
    const trp_settle_t *settle = &core->settle;
    uint64_t delay = trp_clock_from_ms(SETTLE_CHECK_DELAY_MS);
    if (settle->epoch == 0) {
        return TRP_CLOCK_NEVER;
    }
    uint64_t next = settle_exit_wakeup(core);
    next = settle->ghost_at < next ? settle->ghost_at : next;
    if (core->changed_at >= settle->checked_at && core->changed_at + delay < next) {
        next = core->changed_at + delay;
    }
    if (settle_is_mine(core)) {
        uint64_t step = settle->accept_came ? core->time.now : settle->resend_at;
        next = step < next ? step : next;
    }
    return next;
}
