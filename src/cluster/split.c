/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The split-brain decision. */

#include "cluster/split.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/post.h"
#include "cluster/settle.h"
#include "cluster/suspicion.h"
#include "cluster/view.h"

#define SPLIT_UNSTABLE_FACTOR                                                                      \
    4                       /* Without a quiet moment it is decided after so many stable_after. */
#define SPLIT_POLL_MS 1000  /* Time for votes to come in. */
#define SPLIT_RETRY_MS 500  /* Between polls that did not suffice. */
#define SPLIT_VOTE_MS 5000  /* A vote binds for so long. */
#define SPLIT_HEARD_MS 1500 /* Who was heard so lately isn't unreachable to us. */

void trp_split_init(trp_cluster_core_t *core)
{
    core->split.orphan_since = TRP_CLOCK_NEVER;
}

void trp_split_fini(trp_cluster_core_t *core)
{
    trp_uids_fini(&core->split.asked);
    trp_uids_fini(&core->split.votes);
    trp_uids_fini(&core->split.targets);
}

/* ---- who would win ---------------------------------------------------------------------------- */

/* Who counts as being on our side: all that may be, or only those that have voted. */
typedef enum split_side {
    SPLIT_HOPED,
    SPLIT_VOTED,
} split_side_t;

static bool split_on_side(const trp_cluster_core_t *core, const trp_member_t *member,
                          split_side_t side)
{
    if (member->state >= TROUPE_MEMBER_DOWN) {
        return false;
    }
    if (member == core->self) {
        return true;
    }
    return side == SPLIT_HOPED ? member->reach != TRP_UNREACHABLE
                               : trp_uids_has(&core->split.votes, member->uid);
}

static size_t split_fill_voters(const trp_cluster_core_t *core, const trp_uids_t *set,
                                split_side_t side, trp_quorum_voter_t *voters)
{
    size_t len = 0;
    for (size_t i = 0; i < set->len; i++) {
        const trp_member_t *member = trp_members_find(&core->members, set->items[i]);
        if (member != NULL && (member->flags & TRP_FLAG_GONE) != 0) {
            continue;
        }
        trp_quorum_voter_t *voter = &voters[len];
        len++;
        memset(voter, 0, sizeof(*voter));
        voter->uid = set->items[i];
        voter->address = "";
        if (member != NULL) {
            voter->address = member->identity->address;
            voter->up_number = member->up_number;
            voter->on_side = split_on_side(core, member, side);
        }
    }
    return len;
}

/* ENOMEM: not to be judged now. */
static troupe_err_t split_wins_in(const trp_cluster_core_t *core, const trp_uids_t *set,
                                  split_side_t side, bool *ret_wins)
{
    trp_quorum_voter_t *voters = trp_calloc(set->len + 1, sizeof(*voters));
    if (voters == NULL) {
        return TROUPE_ENOMEM;
    }
    size_t len = split_fill_voters(core, set, side, voters);
    *ret_wins = trp_quorum_wins(core->strategy, core->quorum_len, voters, len);
    trp_free(voters);
    return TROUPE_OK;
}

/* In the settled set, and in the proposal that is held. An empty proposal means that all are leaving:
 * nobody can win in it, nor needs to. */
static troupe_err_t split_wins(const trp_cluster_core_t *core, split_side_t side, bool *ret_wins)
{
    const trp_settle_t *settle = &core->settle;
    troupe_err_t err = split_wins_in(core, &settle->settled, side, ret_wins);
    if (err == TROUPE_OK && *ret_wins && settle->has_proposal && settle->proposed.len > 0) {
        err = split_wins_in(core, &settle->proposed, side, ret_wins);
    }
    return err;
}

/* ---- watching --------------------------------------------------------------------------------- */

static bool split_is_target(const trp_member_t *member)
{
    return member->reach == TRP_UNREACHABLE && trp_member_is_live(member);
}

static uint64_t split_fingerprint(const trp_cluster_core_t *core)
{
    uint64_t print = 0;
    for (size_t i = 0; i < core->members.len; i++) {
        if (split_is_target(core->members.items[i])) {
            print += trp_mix64(core->members.items[i]->uid);
        }
    }
    if (print == 0) {
        return 0;
    }
    uint64_t sets = trp_mix64(core->settle.epoch) ^ trp_mix64(core->settle.change.ballot);
    return trp_mix64(print ^ sets) | 1;
}

/* Follows who is unreachable; true when somebody is. */
static bool split_follow(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    uint64_t fingerprint = split_fingerprint(core);
    if (fingerprint == split->fingerprint) {
        return fingerprint != 0;
    }
    if (split->fingerprint == 0) {
        split->first_since = core->time.now;
    }
    split->fingerprint = fingerprint;
    split->since = core->time.now;
    split->retry_at = 0;
    split->polling = false;
    return fingerprint != 0;
}

static uint64_t split_due_at(const trp_cluster_core_t *core)
{
    const trp_split_t *split = &core->split;
    uint64_t stable = split->since + core->timings.stable_after;
    uint64_t unstable = split->first_since + core->timings.stable_after * SPLIT_UNSTABLE_FACTOR;
    return stable < unstable ? stable : unstable;
}

/* The reachable settled member with the lowest address. */
static bool split_is_decider(const trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member != core->self && split_on_side(core, member, SPLIT_HOPED) &&
            trp_uids_has(&core->settle.settled, member->uid) &&
            trp_identity_compare(member->identity, core->self->identity) < 0) {
            return false;
        }
    }
    return true;
}

/* True when this node's vote isn't bound to another. */
static bool split_is_free_for(const trp_cluster_core_t *core, uint64_t uid)
{
    const trp_split_t *split = &core->split;
    return split->voted_for == 0 || split->voted_for == uid || core->time.raw >= split->voted_until;
}

static void split_vote_for(trp_cluster_core_t *core, uint64_t uid)
{
    core->split.voted_for = uid;
    core->split.voted_until = core->time.raw + trp_clock_from_ms(SPLIT_VOTE_MS);
}

/* ---- deciding --------------------------------------------------------------------------------- */

static void split_down_targets(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    split->polling = false;
    for (size_t i = 0; i < split->targets.len; i++) {
        trp_member_t *member = trp_members_find(&core->members, split->targets.items[i]);
        if (member == NULL || !split_is_target(member)) {
            continue; /* It was heard of while we asked. */
        }
        trp_output_t output = {.kind = TRP_OUTPUT_DOWNED,
                               .uid = member->uid,
                               .who = trp_identity_ref(member->identity)};
        trp_outputs_push(&core->outputs, &output);
        trp_view_set_state(core, member, TROUPE_MEMBER_DOWN);
        /* If it is only stopped, this is the first thing that it hears when it wakes up. */
        (void)trp_post_send_plain(core, member->uid, TRP_WIRE_FENCED);
    }
}

/* Counts the votes when they are in, or when the time is over. */
static void split_count(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    bool wins = false;
    bool is_over = core->time.now >= split->poll_until;
    if (split->votes.len < split->asked.len && !is_over) {
        return;
    }
    if (split_wins(core, SPLIT_VOTED, &wins) == TROUPE_OK && wins) {
        split_down_targets(core);
        return;
    }
    if (is_over) {
        split->polling = false;
        split->retry_at = core->time.now + trp_clock_from_ms(SPLIT_RETRY_MS);
    }
}

static troupe_err_t split_fill_poll(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    troupe_err_t err = TROUPE_OK;
    trp_uids_clear(&split->asked);
    trp_uids_clear(&split->votes);
    trp_uids_clear(&split->targets);
    for (size_t i = 0; i < core->members.len && err == TROUPE_OK; i++) {
        const trp_member_t *member = core->members.items[i];
        if (split_is_target(member)) {
            err = trp_uids_add(&split->targets, member->uid);
        } else if (member != core->self && split_on_side(core, member, SPLIT_HOPED) &&
                   trp_settle_has(core, member->uid)) {
            err = trp_uids_add(&split->asked, member->uid);
        }
    }
    return err;
}

static void split_fill_targets(trp_cluster_core_t *core)
{
    trp_items_clear(&core->items);
    for (size_t i = 0; i < core->split.targets.len && i < TRP_POLL_LEN; i++) {
        const trp_member_t *member = trp_members_find(&core->members, core->split.targets.items[i]);
        TRP_ASSERT(member != NULL);
        trp_item_t item = {.kind = TRP_ITEM_SUSPECT,
                           .uid = member->uid,
                           .incarnation = member->incarnation,
                           .by = core->self->uid};
        bool fits = trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX);
        TRP_ASSERT(fits);
    }
}

static void split_ask(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    const trp_settle_t *settle = &core->settle;
    if (split_fill_poll(core) != TROUPE_OK) {
        core->stats.out_of_memory++;
        split->retry_at = core->time.now + trp_clock_from_ms(SPLIT_RETRY_MS);
        return;
    }
    split_vote_for(core, core->self->uid);
    split->polling = true;
    split->poll_seq = trp_random_next(&core->random);
    split->poll_until = core->time.now + trp_clock_from_ms(SPLIT_POLL_MS);
    trp_wire_t wire = {.type = TRP_WIRE_POLL,
                       .seq = split->poll_seq,
                       .epoch = settle->epoch,
                       .digest = trp_uids_hash(&settle->settled),
                       .from = settle->change.ballot,
                       .to = settle->change.proposer};
    split_fill_targets(core);
    for (size_t i = 0; i < split->asked.len; i++) {
        (void)trp_post_send(core, split->asked.items[i], &wire, &core->items);
    }
    split_count(core);
}

static void split_give_up(trp_cluster_core_t *core)
{
    trp_post_stop(core, TRP_STOP_SPLIT);
}

/* Whoever isn't settled yet has no say; it goes when nobody settled is left to follow. */
static void split_judge_newcomer(trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->settle.settled.len; i++) {
        const trp_member_t *member =
            trp_members_find(&core->members, core->settle.settled.items[i]);
        if (member != NULL && split_on_side(core, member, SPLIT_HOPED)) {
            core->split.retry_at = core->time.now + trp_clock_from_ms(SPLIT_RETRY_MS);
            return;
        }
    }
    split_give_up(core);
}

static void split_judge(trp_cluster_core_t *core)
{
    bool wins = false;
    if (!trp_uids_has(&core->settle.settled, core->self->uid)) {
        split_judge_newcomer(core);
        return;
    }
    if (split_wins(core, SPLIT_HOPED, &wins) != TROUPE_OK) {
        core->stats.out_of_memory++;
        core->split.retry_at = core->time.now + trp_clock_from_ms(SPLIT_RETRY_MS);
        return;
    }
    if (!wins) {
        split_give_up(core);
    } else if (split_is_decider(core) && split_is_free_for(core, core->self->uid)) {
        split_ask(core);
    } else {
        core->split.retry_at = core->time.now + trp_clock_from_ms(SPLIT_RETRY_MS);
    }
}

/* A set of the dead can't be changed any more: nobody in it could accept. */
static bool split_is_orphaned(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    /* Looked at in every step, so who is settled itself doesn't go through all the others. */
    if (trp_uids_has(&core->settle.settled, core->self->uid) || trp_settle_leader(core) != NULL ||
        core->settle.settled.len == 0) {
        split->orphan_since = TRP_CLOCK_NEVER;
        return false;
    }
    if (split->orphan_since == TRP_CLOCK_NEVER) {
        split->orphan_since = core->time.now;
    }
    return core->time.now - split->orphan_since >= core->timings.stable_after / 2;
}

void trp_split_tick(trp_cluster_core_t *core)
{
    trp_split_t *split = &core->split;
    if (core->settle.epoch == 0) {
        return;
    }
    if (split_is_orphaned(core)) {
        trp_post_stop(core, TRP_STOP_JOIN_LOST);
        return;
    }
    if (!split_follow(core)) {
        return;
    }
    if (split->polling) {
        split_count(core);
        return;
    }
    if (core->time.now >= split_due_at(core) && core->time.now >= split->retry_at) {
        split_judge(core);
    }
}

uint64_t trp_split_wakeup(const trp_cluster_core_t *core)
{
    const trp_split_t *split = &core->split;
    if (split->orphan_since != TRP_CLOCK_NEVER) {
        return split->orphan_since + core->timings.stable_after / 2;
    }
    if (split->fingerprint == 0) {
        return TRP_CLOCK_NEVER;
    }
    if (split->polling) {
        return split->poll_until;
    }
    uint64_t due = split_due_at(core);
    return due > split->retry_at ? due : split->retry_at;
}

/* ---- voting ----------------------------------------------------------------------------------- */

/* The asker judges by the sets that this node holds, and is one of them. */
static bool split_is_same(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    const trp_settle_t *settle = &core->settle;
    if (wire->epoch != settle->epoch || wire->digest != trp_uids_hash(&settle->settled)) {
        if (wire->epoch < settle->epoch) {
            trp_settle_send_set(core, from);
        } else if (wire->epoch > settle->epoch) {
            trp_settle_note_behind(core, from);
        }
        return false;
    }
    if (wire->from == settle->change.ballot && wire->to == settle->change.proposer) {
        return trp_uids_has(&settle->settled, from);
    }
    trp_settle_send_proposal(core, from); /* The higher one wins, here or there. */
    return false;
}

/* True when this node has heard from one of those who are to be downed. Their unreachability is taken
 * as a suspicion of the asker's, so a living one learns of it and refutes. */
static bool split_knows_better(trp_cluster_core_t *core, uint64_t from, trp_view_t items)
{
    trp_item_t item;
    bool knows_better = false;
    while (trp_wire_next(&items, &item) == TROUPE_OK) {
        trp_member_t *member = trp_members_find(&core->members, item.uid);
        if (item.kind != TRP_ITEM_SUSPECT || member == NULL) {
            continue;
        }
        knows_better = knows_better || member == core->self ||
                       (member->reach != TRP_UNREACHABLE && trp_member_is_live(member) &&
                        core->time.now - member->heard_at < trp_clock_from_ms(SPLIT_HEARD_MS));
        trp_suspicion_confirm(core, member, item.incarnation, from, true);
    }
    return knows_better;
}

static bool split_may_vote(const trp_cluster_core_t *core, uint64_t from)
{
    const trp_member_t *member = trp_members_find(&core->members, from);
    if (member == NULL || member->state >= TROUPE_MEMBER_DOWN || member->reach == TRP_UNREACHABLE) {
        return false;
    }
    return split_is_free_for(core, from);
}

void trp_split_on_poll(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                       trp_view_t items)
{
    bool knows_better = split_knows_better(core, from, items);
    bool grants = !knows_better && split_may_vote(core, from) && split_is_same(core, from, wire);
    if (grants) {
        split_vote_for(core, from);
    }
    trp_wire_t vote = {.type = TRP_WIRE_VOTE, .seq = wire->seq, .code = grants ? 1 : 0};
    (void)trp_post_send(core, from, &vote, NULL);
}

void trp_split_on_vote(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    trp_split_t *split = &core->split;
    if (!split->polling || wire->seq != split->poll_seq || wire->code != 1 ||
        !trp_uids_has(&split->asked, from)) {
        return;
    }
    if (trp_uids_add(&split->votes, from) != TROUPE_OK) {
        core->stats.out_of_memory++;
    }
}
