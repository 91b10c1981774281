/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Who may say what, and whom it concerns. */

#include "cluster/core_dispatch.h"

#include "base/assert.h"
#include "cluster/detector.h"
#include "cluster/detector_relay.h"
#include "cluster/heal.h"
#include "cluster/join.h"
#include "cluster/merge.h"
#include "cluster/post.h"
#include "cluster/settle.h"
#include "cluster/split.h"
#include "cluster/sync.h"
#include "cluster/view.h"

/* ---- fencing ---------------------------------------------------------------------------------- */

static bool dispatch_is_fenced(const trp_cluster_core_t *core, uint64_t uid)
{
    const trp_member_t *member = trp_members_find(&core->members, uid);
    if (member != NULL) {
        return member->state == TROUPE_MEMBER_DOWN;
    }
    return trp_tombs_find(&core->tombs, uid) != NULL;
}

bool trp_core_fence(trp_cluster_core_t *core, uint64_t uid)
{
    if (core->phase != TRP_PHASE_MEMBER || !dispatch_is_fenced(core, uid)) {
        return false;
    }
    core->stats.fenced++;
    bool sent = trp_post_send_plain(core, uid, TRP_WIRE_FENCED);
    const trp_tomb_t *tomb = trp_tombs_find(&core->tombs, uid);
    if (!sent && tomb != NULL && tomb->identity != NULL) {
        trp_view_connect(core, tomb->identity->address, 0); /* To tell it then. */
    }
    return true;
}

/* We are told that we are no member. Only somebody whom we take for one can say so. */
static void dispatch_fenced(trp_cluster_core_t *core, uint64_t from)
{
    const trp_member_t *member = trp_members_find(&core->members, from);
    if (member == NULL || member->state >= TROUPE_MEMBER_DOWN) {
        return;
    }
    bool has_left =
        core->self->state == TROUPE_MEMBER_LEAVING || core->self->state == TROUPE_MEMBER_EXITING;
    trp_view_stop(core, has_left ? TRP_STOP_LEFT : TRP_STOP_DOWNED);
}

static void dispatch_bye(trp_cluster_core_t *core, uint64_t from)
{
    trp_member_t *member = trp_members_find(&core->members, from);
    if (member == NULL) {
        return;
    }
    if (member->state == TROUPE_MEMBER_EXITING) {
        trp_view_remove(core, member);
        return;
    }
    /* It stops, that is certain, so nobody has to wait for it. */
    trp_view_set_flags(core, member, TRP_FLAG_GONE);
    trp_view_set_state(core, member, TROUPE_MEMBER_DOWN);
}

/* ---- by type ---------------------------------------------------------------------------------- */

static void dispatch_accept(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    trp_change_t change = {
        .epoch = wire->epoch, .ballot = wire->seq, .proposer = wire->uid, .result = wire->digest};
    trp_settle_on_accepted(core, from, &change, false);
}

/* What only members of the same cluster say. */
static void dispatch_member(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                            trp_view_t items)
{
    switch (wire->type) {
    case TRP_WIRE_PING:
        trp_detector_on_ping(core, from, wire);
        break;
    case TRP_WIRE_ACK:
        trp_detector_on_ack(core, from, wire);
        break;
    case TRP_WIRE_PING_REQ:
        trp_detector_on_ping_req(core, from, wire);
        break;
    case TRP_WIRE_RELAYED:
        trp_detector_on_relayed(core, wire);
        break;
    case TRP_WIRE_NACK:
        trp_detector_on_nack(core, wire);
        break;
    case TRP_WIRE_SYNC:
        trp_sync_on_sync(core, from, wire, items);
        break;
    case TRP_WIRE_VECTOR:
        trp_sync_on_vector(core, from, wire, items);
        break;
    case TRP_WIRE_RECORDS:
        trp_sync_on_wants(core, from, items);
        break;
    case TRP_WIRE_SET:
        trp_settle_on_set(core, wire, items);
        break;
    case TRP_WIRE_FENCED:
        dispatch_fenced(core, from);
        break;
    case TRP_WIRE_BYE:
        dispatch_bye(core, from);
        break;
    case TRP_WIRE_ACCEPT:
        dispatch_accept(core, from, wire);
        break;
    case TRP_WIRE_POLL:
        trp_split_on_poll(core, from, wire, items);
        break;
    case TRP_WIRE_VOTE:
        trp_split_on_vote(core, from, wire);
        break;
    case TRP_WIRE_YIELD:
        trp_heal_on_yield(core, from);
        break;
    case TRP_WIRE_GOSSIP: /* All news, merged already. */
    case TRP_WIRE_CHANGE:
    case TRP_WIRE_SEEK: /* Not only between members. */
    case TRP_WIRE_ANSWER:
    case TRP_WIRE_ANNOUNCE:
    case TRP_WIRE_WELCOME:
        break;
    }
}

/* What is said before there is a common cluster; true when it was such a message. */
static bool dispatch_stranger(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                              trp_view_t items)
{
    switch (wire->type) {
    case TRP_WIRE_SEEK:
        trp_join_on_seek(core, from, wire, items);
        return true;
    case TRP_WIRE_ANSWER:
        trp_join_on_answer(core, from, wire);
        return true;
    case TRP_WIRE_ANNOUNCE:
        if (core->phase == TRP_PHASE_MEMBER && wire->cluster != core->cluster) {
            trp_heal_on_announce(core, from, wire, items);
        } else {
            trp_join_on_announce(core, from, items);
        }
        return true;
    case TRP_WIRE_WELCOME:
        trp_join_on_welcome(core, from, wire, items);
        return true;
    case TRP_WIRE_FENCED:
        /* Given up by the cluster before the welcome arrived: another uid may come in. */
        if (core->phase == TRP_PHASE_SEEKING) {
            trp_view_stop(core, TRP_STOP_DOWNED);
        }
        return core->phase != TRP_PHASE_MEMBER;
    default:
        return false;
    }
}

/* Messages whose items are news about members. */
static bool dispatch_has_news(trp_wire_type_t type)
{
    return type == TRP_WIRE_PING || type == TRP_WIRE_ACK || type == TRP_WIRE_GOSSIP ||
           type == TRP_WIRE_RECORDS || type == TRP_WIRE_CHANGE;
}

static void dispatch_heard(trp_cluster_core_t *core, uint64_t from)
{
    trp_member_t *member = trp_members_find(&core->members, from);
    if (member != NULL) {
        member->heard_at = core->time.now;
        core->detector.heard_at = core->time.now;
    }
}

static void dispatch_known(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                           trp_view_t items)
{
    dispatch_heard(core, from);
    if (dispatch_has_news(wire->type)) {
        trp_merge_items(core, from, items);
    }
    /* The news may have been that this node is down, or that the sender is. */
    if (core->phase != TRP_PHASE_MEMBER) {
        return;
    }
    dispatch_member(core, from, wire, items);
    if (core->phase == TRP_PHASE_MEMBER &&
        (wire->type == TRP_WIRE_PING || wire->type == TRP_WIRE_ACK)) {
        trp_sync_compare(core, from, wire->digest, wire->epoch);
    }
}

void trp_core_dispatch(trp_cluster_core_t *core, uint64_t from, trp_view_t message)
{
    trp_wire_t wire;
    trp_view_t items;
    core->stats.messages_in++;
    core->stats.bytes_in += message.size;
    troupe_err_t err = trp_wire_decode(message, &wire, &items);
    if (err != TROUPE_OK) {
        core->stats.malformed += err == TROUPE_EPROTOCOL ? 1 : 0;
        core->stats.unknown += err == TROUPE_EPROTOCOL ? 0 : 1;
        return;
    }
    if (from == 0 || from == core->self->uid) {
        core->stats.spoofed++;
        return;
    }
    bool is_last_word = wire.type == TRP_WIRE_FENCED || wire.type == TRP_WIRE_BYE;
    if (!is_last_word && trp_core_fence(core, from)) {
        return;
    }
    if (dispatch_stranger(core, from, &wire, items)) {
        return;
    }
    if (core->phase != TRP_PHASE_MEMBER) {
        return;
    }
    if (wire.cluster != core->cluster) {
        trp_heal_note_other(core, from, wire.cluster);
        return;
    }
    dispatch_known(core, from, &wire, items);
}
