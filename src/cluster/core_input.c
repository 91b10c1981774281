/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The core from outside: life, time, inputs, outputs. Messages are handed out in core_dispatch.c. */

#include "cluster/core.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/core_dispatch.h"
#include "cluster/detector.h"
#include "cluster/join.h"
#include "cluster/post.h"
#include "cluster/settle.h"
#include "cluster/settle_lead.h"
#include "cluster/split.h"
#include "cluster/state.h"
#include "cluster/suspicion.h"
#include "cluster/sync.h"
#include "cluster/view.h"

/* ---- life ------------------------------------------------------------------------------------- */

static uint64_t core_time(uint32_t ms, uint32_t default_ms)
{
    return trp_clock_from_ms(ms == 0 ? default_ms : ms);
}

static void core_fill_timings(const trp_cluster_timings_t *in, trp_timings_t *out)
{
    out->probe_interval = core_time(in->probe_interval_ms, 500);
    out->probe_timeout = core_time(in->probe_timeout_ms, 200);
    out->suspicion = core_time(in->suspicion_ms, 1000);
    out->gossip_interval = core_time(in->gossip_interval_ms, 150);
    out->stable_after = core_time(in->stable_after_ms, 3000);
    out->seek_interval = core_time(in->seek_interval_ms, 300);
    out->form_wait = core_time(in->form_wait_ms, 2000);
    out->seed_timeout = core_time(in->seed_timeout_ms, 5000);
    out->dial_interval = core_time(in->dial_interval_ms, 500);
    out->settle_resend = core_time(in->settle_resend_ms, 500);
    out->exit_linger = core_time(in->exit_linger_ms, 400);
    out->leave_timeout = core_time(in->leave_timeout_ms, 10000);
    out->tombstone = core_time(in->tombstone_ms, 3600 * 1000);
    out->late = core_time(in->late_ms, 250);
}

/* The options' identity as a view; roles past the bound make it invalid. */
static void core_identity(const trp_cluster_options_t *options, trp_identity_view_t *view)
{
    memset(view, 0, sizeof(*view));
    view->uid = options->uid;
    view->address = trp_view_from_string(options->address);
    view->name = trp_view_from_string(options->name == NULL ? "" : options->name);
    view->roles_len = options->roles_len;
    for (size_t i = 0; i < options->roles_len && i < TRP_ROLES_MAX; i++) {
        view->roles[i] = trp_view_from_string(options->roles[i]);
    }
}

static troupe_err_t core_add_self(trp_cluster_core_t *core, const trp_identity_view_t *view)
{
    trp_identity_t *identity = NULL;
    troupe_err_t err = trp_identity_create(view, &identity);
    if (err == TROUPE_OK) {
        err = trp_members_add(&core->members, &identity, &core->self);
    }
    trp_identity_unref(&identity);
    return err;
}

static troupe_err_t core_add_contacts(trp_cluster_core_t *core, const char *const *addresses,
                                      size_t len, bool is_seed)
{
    troupe_err_t err = TROUPE_OK;
    for (size_t i = 0; i < len && err == TROUPE_OK; i++) {
        err = trp_join_add_contact(core, addresses[i], is_seed);
    }
    return err;
}

static void core_init(trp_cluster_core_t *core, const trp_cluster_options_t *options, uint64_t now)
{
    core->phase = TRP_PHASE_SEEKING;
    core_fill_timings(&options->timings, &core->timings);
    trp_random_seed(&core->random, options->random_seed);
    core->strategy = options->strategy;
    core->quorum_len = options->quorum_len;
    core->form_quorum = options->form_quorum == 0 ? 1 : options->form_quorum;
    core->members_min = options->members_min == 0 ? 1 : options->members_min;
    core->time.now = now;
    core->time.raw = now;
    core->time.wakeup = TRP_CLOCK_NEVER;
    core->gossip_at = TRP_CLOCK_NEVER;
    core->finish_at = TRP_CLOCK_NEVER;
    core->leave_until = TRP_CLOCK_NEVER;
    core->join.started_at = now;
    core->join.noted_at = now;
    core->join.seek_at = now;
    core->changed_at = now;
    core->digest_is_stale = true;
    trp_members_init(&core->members,
                     options->members_max == 0 ? TRP_MEMBERS_MAX : options->members_max);
    trp_detector_init(core);
    trp_settle_init(core);
    trp_split_init(core);
}

troupe_err_t trp_cluster_core_create(const trp_cluster_options_t *options, uint64_t now,
                                     trp_cluster_core_t **ret_core)
{
    trp_identity_view_t view;
    if (options->address == NULL) {
        return TROUPE_EINVAL;
    }
    core_identity(options, &view);
    if (!trp_identity_is_valid(&view)) {
        return TROUPE_EINVAL;
    }
    trp_cluster_core_t *core = trp_calloc(1, sizeof(*core));
    if (core == NULL) {
        return TROUPE_ENOMEM;
    }
    core_init(core, options, now);
    troupe_err_t err = core_add_self(core, &view);
    if (err == TROUPE_OK) {
        core->self->flags = options->hold_ready ? 0 : TRP_FLAG_READY;
        err = core_add_contacts(core, options->seeds, options->seeds_len, true);
    }
    if (err == TROUPE_OK) {
        err = core_add_contacts(core, options->peers, options->peers_len, false);
    }
    if (err != TROUPE_OK) {
        trp_cluster_core_destroy(&core);
        return err;
    }
    core->time.wakeup = now;
    *ret_core = core;
    return TROUPE_OK;
}

void trp_cluster_core_destroy(trp_cluster_core_t **core_p)
{
    trp_cluster_core_t *core = *core_p;
    *core_p = NULL;
    if (core == NULL) {
        return;
    }
    trp_join_fini(core);
    trp_split_fini(core);
    trp_detector_fini(core);
    trp_rumors_fini(&core->rumors);
    trp_outputs_fini(&core->outputs);
    trp_uids_fini(&core->connected);
    trp_uids_fini(&core->settle.settled);
    trp_uids_fini(&core->settle.proposed);
    trp_uids_fini(&core->settle.partial);
    trp_tombs_fini(&core->tombs);
    trp_members_fini(&core->members);
    trp_free(core);
}

/* ---- time ------------------------------------------------------------------------------------- */

/* A step that comes late says that this process didn't run: the time it missed is skipped, and the
 * local health worsens. A clock that goes backwards stands still. */
static void core_advance(trp_cluster_core_t *core, uint64_t raw)
{
    trp_time_t *time = &core->time;
    raw = raw < time->raw ? time->raw : raw;
    if (time->wakeup != TRP_CLOCK_NEVER && raw > trp_clock_add(time->wakeup, core->timings.late)) {
        uint64_t start = time->wakeup > time->raw ? time->wakeup : time->raw;
        uint64_t gap = raw - start;
        time->skipped += gap;
        core->stats.starved++;
        int seconds =
            gap > TRP_HEALTH_MAX * TRP_NS_PER_S ? TRP_HEALTH_MAX : (int)(gap / TRP_NS_PER_S);
        trp_detector_add_health(core, seconds < 1 ? 1 : seconds);
        trp_view_note(core, TRP_NOTE_STARVED, core->self->uid, gap / TRP_NS_PER_MS);
    }
    time->raw = raw;
    time->now = raw - time->skipped;
}

static uint64_t core_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t core_next_wakeup(const trp_cluster_core_t *core)
{
    if (core->phase == TRP_PHASE_STOPPED) {
        return TRP_CLOCK_NEVER;
    }
    uint64_t next = core_min(trp_join_wakeup(core), core->leave_until);
    if (core->phase == TRP_PHASE_MEMBER) {
        next = core_min(next, core->gossip_at);
        next = core_min(next, core->finish_at);
        next = core_min(next, trp_detector_wakeup(core));
        next = core_min(next, trp_settle_wakeup(core));
        next = core_min(next, trp_split_wakeup(core));
    }
    if (next == TRP_CLOCK_NEVER) {
        return next;
    }
    /* All that was due is done; a concern that couldn't do it mustn't make the driver spin. */
    uint64_t soonest = core->time.now + TRP_NS_PER_MS;
    return trp_clock_add(next < soonest ? soonest : next, core->time.skipped);
}

/* ---- steps ------------------------------------------------------------------------------------ */

static bool core_begin(trp_cluster_core_t *core, uint64_t now)
{
    if (core->phase == TRP_PHASE_STOPPED) {
        return false;
    }
    core_advance(core, now);
    return true;
}

/* Whoever is leaving stops once it is settled out and has said so for a while, or when that takes too
 * long. */
static void core_leave_tick(trp_cluster_core_t *core)
{
    if (core->self->state == TROUPE_MEMBER_LEAVING && core->leave_until == TRP_CLOCK_NEVER) {
        core->leave_until = core->time.now + core->timings.leave_timeout;
    }
    if (core->self->state == TROUPE_MEMBER_EXITING && core->finish_at == TRP_CLOCK_NEVER) {
        core->finish_at =
            core->members.len == 1 ? core->time.now : core->time.now + core->timings.exit_linger;
    }
    if (core->time.now >= core->finish_at || core->time.now >= core->leave_until) {
        trp_post_stop(core, TRP_STOP_LEFT);
    }
}

static void core_member_tick(trp_cluster_core_t *core)
{
    trp_detector_tick(core);
    trp_suspicion_tick(core);
    trp_settle_tick(core);
    trp_split_tick(core);
    core_leave_tick(core);
    if (core->settle.behind_of != 0) {
        uint64_t uid = core->settle.behind_of;
        core->settle.behind_of = 0;
        if (core->time.now >= core->sync_at) {
            trp_sync_begin(core, uid);
        }
    }
    trp_post_tick(core);
    trp_tombs_expire(&core->tombs, core->time.now);
}

/* The end of every step: whatever is due is done, and the next wake-up is fixed. */
static void core_end(trp_cluster_core_t *core)
{
    if (core->phase != TRP_PHASE_STOPPED) {
        trp_join_tick(core);
    }
    if (core->phase == TRP_PHASE_MEMBER) {
        core_member_tick(core);
    }
    if (core->phase == TRP_PHASE_MEMBER) {
        trp_view_update_roles(core);
    }
    core->time.wakeup = core_next_wakeup(core);
}

/* ---- inputs ----------------------------------------------------------------------------------- */

void trp_cluster_core_tick(trp_cluster_core_t *core, uint64_t now)
{
    if (core_begin(core, now)) {
        core_end(core);
    }
}

void trp_cluster_core_message(trp_cluster_core_t *core, uint64_t now, uint64_t from,
                              const void *data, size_t size)
{
    if (core_begin(core, now)) {
        trp_core_dispatch(core, from, trp_view_make(data, size));
        core_end(core);
    }
}

void trp_cluster_core_peer_connected(trp_cluster_core_t *core, uint64_t now, uint64_t uid,
                                     const char *address)
{
    if (!core_begin(core, now)) {
        return;
    }
    if (uid == core->self->uid) {
        trp_join_on_self(core, address);
    } else if (uid == 0 || trp_uids_add(&core->connected, uid) != TROUPE_OK) {
        core->stats.out_of_memory++;
    } else if (!trp_core_fence(core, uid)) {
        trp_join_on_connected(core, uid, address);
        trp_detector_on_connected(core, uid);
    }
    core_end(core);
}

void trp_cluster_core_peer_disconnected(trp_cluster_core_t *core, uint64_t now, uint64_t uid)
{
    if (!core_begin(core, now)) {
        return;
    }
    if (trp_uids_has(&core->connected, uid)) {
        trp_uids_remove(&core->connected, uid);
        trp_join_on_disconnected(core, uid);
        trp_detector_on_disconnected(core, uid);
    }
    core_end(core);
}

void trp_cluster_core_peer_alias(trp_cluster_core_t *core, uint64_t now, uint64_t uid,
                                 const char *address)
{
    if (!core_begin(core, now)) {
        return;
    }
    if (uid == core->self->uid) {
        trp_join_on_self(core, address);
    } else {
        trp_join_on_alias(core, uid, address);
    }
    core_end(core);
}

void trp_cluster_core_refused(trp_cluster_core_t *core, uint64_t now)
{
    if (!core_begin(core, now)) {
        return;
    }
    bool has_left =
        core->self->state == TROUPE_MEMBER_LEAVING || core->self->state == TROUPE_MEMBER_EXITING;
    trp_view_stop(core, has_left ? TRP_STOP_LEFT : TRP_STOP_DOWNED);
    core_end(core);
}

void trp_cluster_core_join(trp_cluster_core_t *core, uint64_t now, const char *const *addresses,
                           size_t len)
{
    if (!core_begin(core, now)) {
        return;
    }
    if (core_add_contacts(core, addresses, len, true) != TROUPE_OK) {
        core->stats.out_of_memory++;
    }
    core->join.seek_at = core->time.now;
    core_end(core);
}

void trp_cluster_core_leave(trp_cluster_core_t *core, uint64_t now)
{
    if (!core_begin(core, now)) {
        return;
    }
    /* Who isn't part of a settled picture yet has nothing to wait for. */
    if (core->phase == TRP_PHASE_SEEKING || core->settle.epoch == 0) {
        trp_post_stop(core, TRP_STOP_LEFT);
    } else {
        trp_view_set_state(core, core->self, TROUPE_MEMBER_LEAVING);
    }
    core_end(core);
}

void trp_cluster_core_stop(trp_cluster_core_t *core, uint64_t now)
{
    if (core_begin(core, now)) {
        trp_post_stop(core, TRP_STOP_LEFT);
        core_end(core);
    }
}

void trp_cluster_core_ready(trp_cluster_core_t *core, uint64_t now)
{
    if (!core_begin(core, now)) {
        return;
    }
    trp_view_set_flags(core, core->self, TRP_FLAG_READY);
    /* Who formed the cluster is settled already, and only waited for this. */
    if (core->phase == TRP_PHASE_MEMBER && (core->members_min <= 1 || core->settle.epoch > 1) &&
        trp_uids_has(&core->settle.settled, core->self->uid)) {
        trp_view_set_state(core, core->self, TROUPE_MEMBER_UP);
    }
    core_end(core);
}

troupe_err_t trp_cluster_core_down(trp_cluster_core_t *core, uint64_t now, uint64_t uid)
{
    trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL || core->phase != TRP_PHASE_MEMBER) {
        return TROUPE_ENOENT;
    }
    if (member == core->self) {
        return TROUPE_EPERM;
    }
    core_advance(core, now);
    /* The operator says that it is gone; so it is on nobody's side. */
    trp_view_set_flags(core, member, TRP_FLAG_GONE);
    trp_view_set_state(core, member, TROUPE_MEMBER_DOWN);
    (void)trp_post_send_plain(core, uid, TRP_WIRE_FENCED);
    core_end(core);
    return TROUPE_OK;
}

troupe_err_t trp_cluster_core_leave_member(trp_cluster_core_t *core, uint64_t now, uint64_t uid)
{
    trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL || core->phase != TRP_PHASE_MEMBER) {
        return TROUPE_ENOENT;
    }
    core_advance(core, now);
    trp_view_set_state(core, member, TROUPE_MEMBER_LEAVING);
    core_end(core);
    return TROUPE_OK;
}

/* ---- outputs ---------------------------------------------------------------------------------- */

bool trp_cluster_core_next(trp_cluster_core_t *core, trp_output_t *ret_output)
{
    return trp_outputs_pop(&core->outputs, ret_output);
}

uint64_t trp_cluster_core_wakeup(const trp_cluster_core_t *core)
{
    return core->time.wakeup;
}
