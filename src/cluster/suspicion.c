/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Suspicion as Lifeguard has it: the time-out falls from its maximum to its minimum with the logarithm
 * of the number of independent confirmations. */

#include "cluster/suspicion.h"

#include "base/assert.h"
#include "cluster/view.h"

#define SUSPICION_MAX_FACTOR 4 /* Longest time over shortest. */

/* 1,000 * log(confirmations + 1) / log(expected + 1), for up to three expected. */
static const uint16_t suspicion_shares[TRP_CONFIRM_MAX][TRP_CONFIRM_MAX] = {
    {1000, 1000, 1000, 1000},
    {0, 1000, 1000, 1000},
    {0, 631, 1000, 1000},
    {0, 500, 792, 1000},
};

/* 1,000 * max(1, log10(len)), straight between powers of ten. */
static uint64_t suspicion_scale(size_t len)
{
    uint64_t scale = 1000;
    size_t power = 10;
    while (len >= power * 10) {
        scale += 1000;
        power *= 10;
    }
    return len <= power ? scale : scale + 1000 * (len - power) / (power * 9);
}

uint64_t trp_suspicion_time(uint64_t base, size_t live_len, size_t reachable_len,
                            size_t confirmed_len)
{
    TRP_ASSERT(confirmed_len > 0);
    uint64_t shortest = base * suspicion_scale(live_len) / 1000;
    uint64_t longest = shortest * SUSPICION_MAX_FACTOR;
    size_t expected = reachable_len;
    size_t further = confirmed_len - 1;
    expected = expected < TRP_CONFIRM_MAX - 1 ? expected : TRP_CONFIRM_MAX - 1;
    further = further < TRP_CONFIRM_MAX - 1 ? further : TRP_CONFIRM_MAX - 1;
    return longest - (longest - shortest) / 1000 * suspicion_shares[expected][further];
}

static bool suspicion_is_confirmed_by(const trp_member_t *member, uint64_t by)
{
    for (size_t i = 0; i < member->confirmed_len; i++) {
        if (member->confirmed_by[i] == by) {
            return true;
        }
    }
    return false;
}

/* Members besides this node that nobody has cause to doubt: they could confirm a suspicion. */
static size_t suspicion_reachable_len(const trp_cluster_core_t *core)
{
    size_t len = 0;
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        len += member != core->self && trp_member_is_live(member) && member->reach == TRP_REACHABLE
                   ? 1
                   : 0;
    }
    return len;
}

/* Works all deadlines out anew: a new suspect is also one voice less for the others. */
static void suspicion_reckon(trp_cluster_core_t *core)
{
    size_t live_len = trp_view_live_len(core);
    size_t reachable_len = suspicion_reachable_len(core);
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (member->reach != TRP_SUSPECT || member->confirmed_len == 0) {
            continue;
        }
        member->suspect_until =
            member->suspect_since + trp_suspicion_time(core->timings.suspicion, live_len,
                                                       reachable_len, member->confirmed_len);
        if (member->suspect_until < core->detector.suspicion_at) {
            core->detector.suspicion_at = member->suspect_until;
        }
    }
}

static void suspicion_begin(trp_cluster_core_t *core, trp_member_t *member)
{
    member->suspect_since = core->time.now;
    member->confirmed_len = 0;
    core->stats.suspicions++;
    trp_view_set_reach(core, member, TRP_SUSPECT);
    trp_view_note(core, TRP_NOTE_SUSPECT, member->uid, member->incarnation);
}

void trp_suspicion_confirm(trp_cluster_core_t *core, trp_member_t *member, uint32_t incarnation,
                           uint64_t by, bool tell)
{
    if (member == core->self) {
        trp_view_refute(core, incarnation);
        return;
    }
    if (!trp_member_is_live(member) || incarnation < member->incarnation) {
        return;
    }
    trp_view_set_incarnation(core, member, incarnation);
    if (member->reach == TRP_UNREACHABLE || by == member->uid) {
        return;
    }
    if (member->reach == TRP_REACHABLE) {
        suspicion_begin(core, member);
    }
    if (member->confirmed_len == TRP_CONFIRM_MAX || suspicion_is_confirmed_by(member, by)) {
        return;
    }
    member->confirmed_by[member->confirmed_len] = by;
    member->confirmed_len++;
    suspicion_reckon(core);
    if (tell) {
        trp_view_tell(core, TRP_RUMOR_SUSPECT, member->uid, by, member->incarnation);
    }
}

static void suspicion_expire(trp_cluster_core_t *core, trp_member_t *member)
{
    trp_view_set_reach(core, member, TRP_UNREACHABLE);
    /* Our own voice, unless we have been deaf all the while. */
    if (core->detector.heard_at >= member->suspect_since) {
        trp_view_tell(core, TRP_RUMOR_SUSPECT, member->uid, core->self->uid, member->incarnation);
    }
}

void trp_suspicion_tick(trp_cluster_core_t *core)
{
    if (core->time.now < core->detector.suspicion_at) {
        return;
    }
    uint64_t next = TRP_CLOCK_NEVER;
    for (size_t i = 0; i < core->members.len; i++) {
        trp_member_t *member = core->members.items[i];
        if (member->reach != TRP_SUSPECT || !trp_member_is_live(member)) {
            continue;
        }
        if (member->suspect_until <= core->time.now) {
            suspicion_expire(core, member);
        } else if (member->suspect_until < next) {
            next = member->suspect_until;
        }
    }
    core->detector.suspicion_at = next;
}
