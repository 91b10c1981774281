/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Changes of the view, and what follows from each. Digest, leader and oldest are in view_digest.c. */

#include "cluster/view.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define VIEW_RUMOR_FACTOR 4       /* Sendings per power of ten of the members. */
#define VIEW_DIAL_INTERVAL_MS 500 /* Between two requests to connect to one member. */

uint32_t trp_view_rumor_count(const trp_cluster_core_t *core)
{
    uint32_t powers = 1;
    for (size_t len = core->members.len; len >= 10; len /= 10) {
        powers++;
    }
    return VIEW_RUMOR_FACTOR * powers;
}

size_t trp_view_live_len(const trp_cluster_core_t *core)
{
    size_t len = 0;
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        len += trp_member_is_live(member) && member->reach != TRP_UNREACHABLE ? 1 : 0;
    }
    return len;
}

bool trp_view_is_connected(const trp_cluster_core_t *core, uint64_t uid)
{
    return trp_uids_has(&core->connected, uid);
}

void trp_view_connect(trp_cluster_core_t *core, const char *address, uint64_t uid)
{
    trp_output_t output = {.kind = TRP_OUTPUT_CONNECT, .uid = uid, .address = trp_strdup(address)};
    if (output.address == NULL) {
        core->stats.out_of_memory++;
        return;
    }
    trp_outputs_push(&core->outputs, &output);
}

void trp_view_reach_out(trp_cluster_core_t *core, trp_member_t *member)
{
    if (member == core->self || core->time.now < member->dial_at) {
        return;
    }
    member->dial_at = core->time.now + trp_clock_from_ms(VIEW_DIAL_INTERVAL_MS);
    trp_view_connect(core, member->identity->address, member->uid);
}

void trp_view_note(trp_cluster_core_t *core, trp_note_t note, uint64_t uid, uint64_t count)
{
    trp_member_t *member = trp_members_find(&core->members, uid);
    trp_output_t output = {.kind = TRP_OUTPUT_NOTE, .note = note, .uid = uid, .count = count};
    if (member != NULL) {
        output.who = trp_identity_ref(member->identity);
    }
    trp_outputs_push(&core->outputs, &output);
}

static void view_event(trp_cluster_core_t *core, troupe_member_event_kind_t kind,
                       const trp_member_t *member)
{
    trp_output_t output = {
        .kind = TRP_OUTPUT_EVENT,
        .event = kind,
        .uid = member->uid,
        .who = trp_identity_ref(member->identity),
        .state = member->state,
        .incarnation = member->incarnation,
        .up_number = member->up_number,
        .unreachable = member->reach == TRP_UNREACHABLE,
    };
    trp_outputs_push(&core->outputs, &output);
}

void trp_view_changed(trp_cluster_core_t *core)
{
    core->changed_at = core->time.now;
    core->digest_is_stale = true;
    core->roles_are_stale = true;
}

void trp_view_tell(trp_cluster_core_t *core, trp_rumor_kind_t kind, uint64_t uid, uint64_t by,
                   uint32_t incarnation)
{
    trp_rumors_add(&core->rumors, kind, uid, by, incarnation, trp_view_rumor_count(core));
    if (core->gossip_at == TRP_CLOCK_NEVER) {
        core->gossip_at = core->time.now + core->timings.gossip_interval / 4;
    }
}

void trp_view_tell_status(trp_cluster_core_t *core, const trp_member_t *member)
{
    /* A full record on its way carries the status; it only has to be sent some times more. */
    bool is_new = trp_rumors_has(&core->rumors, TRP_RUMOR_MEMBER, member->uid);
    trp_view_tell(core, is_new ? TRP_RUMOR_MEMBER : TRP_RUMOR_STATUS, member->uid, 0, 0);
}

trp_member_t *trp_view_add(trp_cluster_core_t *core, const trp_identity_view_t *view)
{
    trp_identity_t *identity = NULL;
    trp_member_t *member = NULL;
    troupe_err_t err = trp_identity_create(view, &identity);
    if (err == TROUPE_OK) {
        err = trp_members_add(&core->members, &identity, &member);
    }
    if (err != TROUPE_OK) {
        trp_identity_unref(&identity);
        core->stats.out_of_memory++;
        trp_view_note(core, TRP_NOTE_FULL, view->uid, core->members.len);
        return NULL;
    }
    member->heard_at = core->time.now;
    trp_view_changed(core);
    trp_view_tell(core, TRP_RUMOR_MEMBER, member->uid, 0, 0);
    view_event(core, TROUPE_MEMBER_EVENT_JOINED, member);
    return member;
}

void trp_view_enter(trp_cluster_core_t *core)
{
    core->phase = TRP_PHASE_MEMBER;
    trp_view_changed(core);
    trp_view_tell(core, TRP_RUMOR_MEMBER, core->self->uid, 0, 0);
    view_event(core, TROUPE_MEMBER_EVENT_JOINED, core->self);
}

static troupe_member_event_kind_t view_state_event(troupe_member_state_t state)
{
    switch (state) {
    case TROUPE_MEMBER_WEAKLY_UP:
        return TROUPE_MEMBER_EVENT_WEAKLY_UP;
    case TROUPE_MEMBER_UP:
        return TROUPE_MEMBER_EVENT_UP;
    case TROUPE_MEMBER_LEAVING:
        return TROUPE_MEMBER_EVENT_LEAVING;
    case TROUPE_MEMBER_EXITING:
        return TROUPE_MEMBER_EVENT_EXITED;
    case TROUPE_MEMBER_DOWN:
        return TROUPE_MEMBER_EVENT_DOWN;
    case TROUPE_MEMBER_JOINING:
    case TROUPE_MEMBER_REMOVED:
        break;
    }
    return TROUPE_MEMBER_EVENT_JOINED;
}

void trp_view_set_state(trp_cluster_core_t *core, trp_member_t *member, troupe_member_state_t state)
{
    TRP_ASSERT(state < TROUPE_MEMBER_REMOVED);
    if (state <= member->state) {
        return;
    }
    member->state = state;
    if (state == TROUPE_MEMBER_EXITING) {
        member->exit_at = core->time.now + core->timings.exit_linger * 4;
    }
    trp_view_changed(core);
    trp_view_tell_status(core, member);
    view_event(core, view_state_event(state), member);
}

void trp_view_set_reach(trp_cluster_core_t *core, trp_member_t *member, trp_reach_t reach)
{
    TRP_ASSERT(member != core->self || reach == TRP_REACHABLE);
    trp_reach_t before = member->reach;
    if (before == reach) {
        return;
    }
    member->reach = reach;
    if (reach == TRP_REACHABLE) {
        member->confirmed_len = 0;
        trp_rumors_forget(&core->rumors, TRP_RUMOR_SUSPECT, member->uid);
    }
    if (before != TRP_UNREACHABLE && reach != TRP_UNREACHABLE) {
        return;
    }
    trp_view_changed(core);
    view_event(core,
               reach == TRP_UNREACHABLE ? TROUPE_MEMBER_EVENT_UNREACHABLE
                                        : TROUPE_MEMBER_EVENT_REACHABLE,
               member);
}

void trp_view_set_incarnation(trp_cluster_core_t *core, trp_member_t *member, uint32_t incarnation)
{
    if (incarnation <= member->incarnation) {
        return;
    }
    member->incarnation = incarnation;
    trp_view_changed(core);
    trp_view_tell_status(core, member);
    trp_view_set_reach(core, member, TRP_REACHABLE);
}

void trp_view_refute(trp_cluster_core_t *core, uint32_t than)
{
    trp_member_t *self = core->self;
    if (than < self->incarnation || than == UINT32_MAX) {
        return;
    }
    core->stats.refutations++;
    trp_view_set_incarnation(core, self, than + 1);
    trp_view_note(core, TRP_NOTE_REFUTED, self->uid, than + 1);
}

void trp_view_set_up_number(trp_cluster_core_t *core, trp_member_t *member, uint64_t up_number)
{
    if (up_number <= member->up_number) {
        return;
    }
    member->up_number = up_number;
    trp_view_changed(core);
}

void trp_view_set_flags(trp_cluster_core_t *core, trp_member_t *member, uint32_t flags)
{
    flags &= TRP_FLAGS_KEPT;
    if ((member->flags | flags) == member->flags) {
        return;
    }
    member->flags |= flags;
    trp_view_changed(core);
    trp_view_tell_status(core, member);
}

void trp_view_bury(trp_cluster_core_t *core, uint64_t uid)
{
    TRP_ASSERT(trp_members_find(&core->members, uid) == NULL);
    uint64_t until = core->time.now + core->timings.tombstone;
    if (trp_tombs_add(&core->tombs, uid, NULL, until) != TROUPE_OK) {
        core->stats.out_of_memory++;
        return;
    }
    trp_view_tell(core, TRP_RUMOR_STATUS, uid, 0, 0);
}

void trp_view_remove(trp_cluster_core_t *core, trp_member_t *member)
{
    TRP_ASSERT(member != core->self);
    uint64_t uid = member->uid;
    uint64_t until = core->time.now + core->timings.tombstone;
    if (trp_tombs_add(&core->tombs, uid, member->identity, until) != TROUPE_OK) {
        core->stats.out_of_memory++;
    }
    trp_rumors_forget(&core->rumors, TRP_RUMOR_SUSPECT, uid);
    trp_rumors_forget(&core->rumors, TRP_RUMOR_MEMBER, uid);
    trp_view_tell(core, TRP_RUMOR_STATUS, uid, 0, 0);
    member->state = TROUPE_MEMBER_REMOVED;
    view_event(core, TROUPE_MEMBER_EVENT_REMOVED, member);
    trp_output_t output = {
        .kind = TRP_OUTPUT_DISCONNECT, .uid = uid, .who = trp_identity_ref(member->identity)};
    trp_outputs_push(&core->outputs, &output);
    trp_members_remove(&core->members, member);
    trp_view_changed(core);
}

void trp_view_stop(trp_cluster_core_t *core, trp_stop_reason_t reason)
{
    if (core->phase == TRP_PHASE_STOPPED) {
        return;
    }
    core->phase = TRP_PHASE_STOPPED;
    view_event(core, TROUPE_MEMBER_EVENT_SELF_REMOVED, core->self);
    trp_output_t output = {.kind = TRP_OUTPUT_STOP_SELF, .stop = reason, .uid = core->self->uid};
    trp_outputs_push(&core->outputs, &output);
}
