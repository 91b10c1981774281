/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Indirect probes: the helper's part. */

#include "cluster/detector_relay.h"

#include "base/assert.h"
#include "cluster/post.h"

static void relay_reply(trp_cluster_core_t *core, uint64_t to, trp_wire_type_t type, uint64_t seq,
                        uint32_t incarnation)
{
    trp_wire_t wire = {.type = type, .seq = seq, .incarnation = incarnation};
    (void)trp_post_send(core, to, &wire, NULL);
}

static trp_relay_t *relay_take(trp_cluster_core_t *core)
{
    for (size_t i = 0; i < TRP_RELAYS_MAX; i++) {
        if (!core->detector.relays[i].active) {
            core->detector.relays_len++;
            core->detector.relays[i].active = true;
            return &core->detector.relays[i];
        }
    }
    return NULL;
}

static void relay_end(trp_cluster_core_t *core, trp_relay_t *relay)
{
    TRP_ASSERT(core->detector.relays_len > 0);
    relay->active = false;
    core->detector.relays_len--;
}

void trp_detector_on_ping_req(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    const trp_member_t *member = trp_members_find(&core->members, wire->uid);
    if (member == NULL || member == core->self || !trp_member_is_live(member)) {
        relay_reply(core, from, TRP_WIRE_NACK, wire->seq, 0);
        return;
    }
    trp_relay_t *relay = relay_take(core);
    if (relay == NULL) {
        relay_reply(core, from, TRP_WIRE_NACK, wire->seq, 0);
        return;
    }
    relay->origin = from;
    relay->origin_seq = wire->seq;
    relay->target = wire->uid;
    relay->seq = core->detector.next_seq;
    core->detector.next_seq++;
    /* In time for the nack to be back before the asker gives up. */
    relay->until = core->time.now + core->timings.probe_timeout * 3 / 4;
    trp_wire_t ping = {.type = TRP_WIRE_PING,
                       .seq = relay->seq,
                       .uid = wire->uid,
                       .incarnation = wire->incarnation};
    (void)trp_post_send_news(core, wire->uid, &ping, TRP_PIGGYBACK_SIZE);
}

void trp_detector_relay_answer(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    for (size_t i = 0; core->detector.relays_len > 0 && i < TRP_RELAYS_MAX; i++) {
        trp_relay_t *relay = &core->detector.relays[i];
        if (relay->active && relay->target == from && relay->seq == wire->seq) {
            relay_reply(core, relay->origin, TRP_WIRE_RELAYED, relay->origin_seq,
                        wire->incarnation);
            relay_end(core, relay);
            return;
        }
    }
}

void trp_detector_expire_relays(trp_cluster_core_t *core)
{
    for (size_t i = 0; core->detector.relays_len > 0 && i < TRP_RELAYS_MAX; i++) {
        trp_relay_t *relay = &core->detector.relays[i];
        if (relay->active && core->time.now >= relay->until) {
            relay_reply(core, relay->origin, TRP_WIRE_NACK, relay->origin_seq, 0);
            relay_end(core, relay);
        }
    }
}

uint64_t trp_detector_relay_wakeup(const trp_cluster_core_t *core)
{
    uint64_t next = TRP_CLOCK_NEVER;
    for (size_t i = 0; core->detector.relays_len > 0 && i < TRP_RELAYS_MAX; i++) {
        const trp_relay_t *relay = &core->detector.relays[i];
        if (relay->active && relay->until < next) {
            next = relay->until;
        }
    }
    return next;
}
