/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Probing: choosing whom, sending, judging. What is done for others' probes is in
 * detector_relay.c. */

#include "cluster/detector.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/detector_relay.h"
#include "cluster/post.h"
#include "cluster/suspicion.h"
#include "cluster/view.h"

#define DETECTOR_DEAF_FACTOR 10 /* Probe intervals without a word from anybody. */

void trp_detector_init(trp_cluster_core_t *core)
{
    trp_detector_t *detector = &core->detector;
    detector->next_seq = 1;
    detector->suspicion_at = TRP_CLOCK_NEVER;
    /* Nodes that start together shouldn't probe in step. */
    detector->next_probe_at =
        core->time.now + trp_random_below(&core->random, core->timings.probe_interval);
}

void trp_detector_fini(trp_cluster_core_t *core)
{
    trp_free(core->detector.order);
    core->detector.order = NULL;
}

void trp_detector_add_health(trp_cluster_core_t *core, int change)
{
    int health = (int)core->detector.health + change;
    health = health < 0 ? 0 : health;
    core->detector.health = health > TRP_HEALTH_MAX ? TRP_HEALTH_MAX : (uint32_t)health;
}

/* A time as local health stretches it. */
static uint64_t detector_stretch(const trp_cluster_core_t *core, uint64_t time)
{
    return time * (core->detector.health + 1);
}

/* ---- whom ------------------------------------------------------------------------------------- */

static bool detector_may_probe(const trp_cluster_core_t *core, const trp_member_t *member)
{
    return member != core->self && trp_member_is_live(member) && member->reach != TRP_UNREACHABLE;
}

/* Puts all members into a new random order. */
static bool detector_shuffle(trp_cluster_core_t *core)
{
    trp_detector_t *detector = &core->detector;
    if (core->members.len > detector->order_capacity) {
        size_t capacity = core->members.len * 2;
        uint64_t *order = trp_realloc(detector->order, capacity * sizeof(*order));
        if (order == NULL) {
            core->stats.out_of_memory++;
            return false;
        }
        detector->order = order;
        detector->order_capacity = capacity;
    }
    for (size_t i = 0; i < core->members.len; i++) {
        detector->order[i] = core->members.items[i]->uid;
    }
    detector->order_len = core->members.len;
    detector->order_next = 0;
    trp_random_shuffle(&core->random, detector->order, detector->order_len,
                       sizeof(*detector->order));
    return true;
}

static trp_member_t *detector_next_in_order(trp_cluster_core_t *core)
{
    trp_detector_t *detector = &core->detector;
    while (detector->order_next < detector->order_len) {
        uint64_t uid = detector->order[detector->order_next];
        detector->order_next++;
        trp_member_t *member = trp_members_find(&core->members, uid);
        if (member != NULL && detector_may_probe(core, member)) {
            return member;
        }
    }
    return NULL;
}

static trp_member_t *detector_urgent(const trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (member->probe_soon && detector_may_probe(core, member)) {
            return member;
        }
    }
    return NULL;
}

/* The member to probe next; NULL when there is nobody. */
static trp_member_t *detector_choose(trp_cluster_core_t *core)
{
    trp_member_t *member = detector_urgent(core);
    if (member == NULL) {
        member = detector_next_in_order(core);
    }
    if (member == NULL && detector_shuffle(core)) {
        member = detector_next_in_order(core);
    }
    if (member != NULL) {
        member->probe_soon = false;
    }
    return member;
}

/* ---- sending ---------------------------------------------------------------------------------- */

/* Pings a member, and tells it when it is suspected, so that it can refute in its answer. */
static bool detector_ping(trp_cluster_core_t *core, const trp_member_t *member, uint64_t seq)
{
    trp_wire_t wire = {.type = TRP_WIRE_PING, .seq = seq, .uid = member->uid};
    if (member->reach != TRP_REACHABLE) {
        wire.incarnation = member->incarnation;
    }
    return trp_post_send_news(core, member->uid, &wire, TRP_PIGGYBACK_SIZE);
}

/* Unreachable members are no longer probed but knocked at, one after the other: an answer refutes. */
static void detector_knock(trp_cluster_core_t *core)
{
    size_t start = trp_members_position(&core->members, core->detector.knock_next);
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[(start + i) % core->members.len];
        if (member->reach == TRP_UNREACHABLE && trp_member_is_live(member)) {
            core->detector.knock_next = member->uid + 1;
            (void)detector_ping(core, member, core->detector.next_seq);
            core->detector.next_seq++;
            return;
        }
    }
}

static void detector_begin(trp_cluster_core_t *core)
{
    trp_detector_t *detector = &core->detector;
    trp_member_t *member = detector_choose(core);
    detector_knock(core);
    detector->next_probe_at = core->time.now + detector_stretch(core, core->timings.probe_interval);
    if (member == NULL) {
        return;
    }
    trp_probe_t *probe = &detector->probe;
    memset(probe, 0, sizeof(*probe));
    probe->active = true;
    probe->target = member->uid;
    probe->seq = detector->next_seq;
    detector->next_seq++;
    probe->started_at = core->time.now;
    probe->end_at = detector->next_probe_at;
    probe->sent = detector_ping(core, member, probe->seq);
    probe->ask_at = core->time.now + detector_stretch(core, core->timings.probe_timeout);
    if (!probe->sent) { /* No connection: there is no answer to wait for before others are asked. */
        uint64_t end_at = probe->ask_at + core->timings.probe_timeout / 2;
        probe->ask_at = core->time.now;
        probe->end_at = end_at < probe->end_at ? end_at : probe->end_at;
    }
    core->stats.probes++;
}

static void detector_ask(trp_cluster_core_t *core, const trp_member_t *member)
{
    trp_probe_t *probe = &core->detector.probe;
    uint64_t helpers[TRP_INDIRECT_LEN];
    trp_wire_t wire = {.type = TRP_WIRE_PING_REQ, .seq = probe->seq, .uid = member->uid};
    if (member->reach != TRP_REACHABLE) {
        wire.incarnation = member->incarnation;
    }
    probe->asked = true;
    size_t len = trp_post_choose(core, member->uid, helpers, TRP_INDIRECT_LEN);
    for (size_t i = 0; i < len; i++) {
        probe->nacks_due += trp_post_send(core, helpers[i], &wire, NULL) ? 1 : 0;
    }
    /* And once more ourselves: the first ping may just have been lost. */
    probe->sent = detector_ping(core, member, probe->seq) || probe->sent;
}

/* ---- judging ---------------------------------------------------------------------------------- */

/* Nothing came from anybody for many intervals, so it is us who are cut off. Going through all members
 * one by one would only delay that insight; the others aren't troubled with it. */
static void detector_doubt_all(trp_cluster_core_t *core)
{
    uint64_t silence = core->timings.probe_interval * DETECTOR_DEAF_FACTOR;
    if (core->time.now - core->detector.heard_at < silence) {
        return;
    }
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (member != core->self) {
            trp_suspicion_confirm(core, member, member->incarnation, core->self->uid, false);
        }
    }
}

static void detector_fail(trp_cluster_core_t *core, trp_member_t *member)
{
    trp_detector_t *detector = &core->detector;
    const trp_probe_t *probe = &detector->probe;
    core->stats.probes_failed++;
    /* Helpers that didn't even say that they are there speak against us, not against the target. A
     * broken connection speaks against the target. */
    if (probe->nacks_due > 0) {
        trp_detector_add_health(core, (int)(probe->nacks_due - probe->nacks));
    } else if (trp_view_is_connected(core, member->uid)) {
        trp_detector_add_health(core, 1);
    }
    bool heard_somebody = detector->heard_at >= probe->started_at;
    trp_suspicion_confirm(core, member, member->incarnation, core->self->uid, heard_somebody);
    detector_doubt_all(core);
}

static void detector_succeed(trp_cluster_core_t *core, bool is_direct)
{
    trp_probe_t *probe = &core->detector.probe;
    trp_member_t *member = trp_members_find(&core->members, probe->target);
    probe->active = false;
    trp_detector_add_health(core, -1);
    if (member == NULL) {
        return;
    }
    if (!is_direct && !member->indirect_only) {
        trp_view_note(core, TRP_NOTE_INDIRECT_ONLY, member->uid, 0);
    }
    member->indirect_only = !is_direct;
}

static void detector_watch(trp_cluster_core_t *core)
{
    trp_probe_t *probe = &core->detector.probe;
    trp_member_t *member = trp_members_find(&core->members, probe->target);
    if (member == NULL || !trp_member_is_live(member)) {
        probe->active = false;
        return;
    }
    if (core->time.now >= probe->end_at) {
        probe->active = false;
        detector_fail(core, member);
        return;
    }
    if (!probe->asked && core->time.now >= probe->ask_at) {
        detector_ask(core, member);
    }
}

void trp_detector_tick(trp_cluster_core_t *core)
{
    trp_detector_t *detector = &core->detector;
    trp_detector_expire_relays(core);
    if (detector->probe.active) {
        detector_watch(core);
    }
    if (!detector->probe.active && core->time.now >= detector->next_probe_at) {
        detector_begin(core);
    }
}

uint64_t trp_detector_wakeup(const trp_cluster_core_t *core)
{
    const trp_detector_t *detector = &core->detector;
    uint64_t next = trp_detector_relay_wakeup(core);
    next = detector->suspicion_at < next ? detector->suspicion_at : next;
    if (core->members.len < 2) {
        return next;
    }
    uint64_t step = detector->next_probe_at;
    if (detector->probe.active) {
        step = detector->probe.asked ? detector->probe.end_at : detector->probe.ask_at;
    }
    return step < next ? step : next;
}

/* ---- answers ---------------------------------------------------------------------------------- */

void trp_detector_on_ping(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    if (wire->uid != core->self->uid) {
        return; /* For an earlier incarnation at this address. */
    }
    if (wire->incarnation != 0) {
        trp_view_refute(core, wire->incarnation);
    }
    trp_wire_t ack = {
        .type = TRP_WIRE_ACK, .seq = wire->seq, .incarnation = core->self->incarnation};
    (void)trp_post_send_news(core, from, &ack, TRP_PIGGYBACK_SIZE);
}

void trp_detector_on_ack(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    const trp_probe_t *probe = &core->detector.probe;
    trp_member_t *member = trp_members_find(&core->members, from);
    if (member != NULL) {
        trp_view_set_incarnation(core, member, wire->incarnation);
    }
    if (probe->active && probe->target == from && probe->seq == wire->seq) {
        detector_succeed(core, true);
        return;
    }
    trp_detector_relay_answer(core, from, wire);
}

void trp_detector_on_relayed(trp_cluster_core_t *core, const trp_wire_t *wire)
{
    const trp_probe_t *probe = &core->detector.probe;
    if (!probe->active || probe->seq != wire->seq) {
        return;
    }
    trp_member_t *member = trp_members_find(&core->members, probe->target);
    if (member != NULL) {
        trp_view_set_incarnation(core, member, wire->incarnation);
    }
    detector_succeed(core, false);
}

void trp_detector_on_nack(trp_cluster_core_t *core, const trp_wire_t *wire)
{
    trp_probe_t *probe = &core->detector.probe;
    if (probe->active && probe->seq == wire->seq && probe->nacks < probe->nacks_due) {
        probe->nacks++;
    }
}

void trp_detector_on_connected(trp_cluster_core_t *core, uint64_t uid)
{
    trp_probe_t *probe = &core->detector.probe;
    trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL) {
        return;
    }
    if (probe->active && probe->target == uid && !probe->sent) {
        probe->sent = detector_ping(core, member, probe->seq);
    } else if (member->reach == TRP_UNREACHABLE) {
        (void)detector_ping(core, member, core->detector.next_seq);
        core->detector.next_seq++;
    }
}

void trp_detector_on_disconnected(trp_cluster_core_t *core, uint64_t uid)
{
    trp_member_t *member = trp_members_find(&core->members, uid);
    if (member == NULL || !detector_may_probe(core, member)) {
        return;
    }
    member->probe_soon = true;
    member->dial_at = core->time.now;
    if (core->detector.next_probe_at > core->time.now) {
        core->detector.next_probe_at = core->time.now;
    }
}
