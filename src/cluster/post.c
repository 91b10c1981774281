/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Composing and sending. */

#include "cluster/post.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/view.h"

/* ---- sending ---------------------------------------------------------------------------------- */

bool trp_post_send(trp_cluster_core_t *core, uint64_t to, const trp_wire_t *wire,
                   const trp_items_t *items)
{
    TRP_ASSERT(to != core->self->uid);
    if (!trp_view_is_connected(core, to)) {
        trp_member_t *member = trp_members_find(&core->members, to);
        if (member != NULL) {
            trp_view_reach_out(core, member);
        }
        return false;
    }
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_wire_t full = *wire;
    full.cluster = core->cluster;
    trp_output_t output = {.kind = TRP_OUTPUT_SEND, .uid = to};
    output.size = trp_wire_encode(&full, items, bytes);
    output.data = trp_memdup(bytes, output.size);
    if (output.data == NULL) {
        core->stats.out_of_memory++;
        return false;
    }
    core->stats.messages_out++;
    core->stats.bytes_out += output.size;
    trp_outputs_push(&core->outputs, &output);
    return true;
}

bool trp_post_send_self(trp_cluster_core_t *core, uint64_t to, const trp_wire_t *wire)
{
    trp_item_t item;
    trp_post_member_item(core->self, &item);
    trp_items_clear(&core->items);
    bool fits = trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX);
    TRP_ASSERT(fits);
    return trp_post_send(core, to, wire, &core->items);
}

bool trp_post_send_plain(trp_cluster_core_t *core, uint64_t to, trp_wire_type_t type)
{
    trp_wire_t wire = {.type = type};
    return trp_post_send(core, to, &wire, NULL);
}

void trp_post_send_all(trp_cluster_core_t *core, trp_wire_type_t type)
{
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member != core->self && member->state < TROUPE_MEMBER_DOWN &&
            trp_view_is_connected(core, member->uid)) {
            (void)trp_post_send_plain(core, member->uid, type);
        }
    }
}

void trp_post_stop(trp_cluster_core_t *core, trp_stop_reason_t reason)
{
    if (core->phase == TRP_PHASE_MEMBER) {
        trp_post_send_all(core, TRP_WIRE_BYE);
    }
    trp_view_stop(core, reason);
}

/* ---- items ------------------------------------------------------------------------------------ */

void trp_post_status_item(const trp_member_t *member, trp_item_t *ret_item)
{
    memset(ret_item, 0, sizeof(*ret_item));
    ret_item->kind = TRP_ITEM_STATUS;
    ret_item->uid = member->uid;
    ret_item->state = (uint32_t)member->state;
    ret_item->incarnation = member->incarnation;
    ret_item->up_number = member->up_number;
    ret_item->flags = member->flags;
    if (member->reach == TRP_UNREACHABLE) {
        ret_item->flags |= TRP_FLAG_UNREACHABLE;
    }
}

void trp_post_member_item(const trp_member_t *member, trp_item_t *ret_item)
{
    trp_post_status_item(member, ret_item);
    ret_item->kind = TRP_ITEM_MEMBER;
    trp_identity_view(member->identity, &ret_item->identity);
}

void trp_post_removed_item(uint64_t uid, trp_item_t *ret_item)
{
    memset(ret_item, 0, sizeof(*ret_item));
    ret_item->kind = TRP_ITEM_STATUS;
    ret_item->uid = uid;
    ret_item->state = TROUPE_MEMBER_REMOVED;
}

static bool post_suspect_item(const trp_rumor_t *rumor, const trp_member_t *member,
                              trp_item_t *item)
{
    if (member == NULL || member->incarnation > rumor->incarnation) {
        return false;
    }
    memset(item, 0, sizeof(*item));
    item->kind = TRP_ITEM_SUSPECT;
    item->uid = rumor->uid;
    item->incarnation = rumor->incarnation;
    item->by = rumor->by;
    return true;
}

static bool post_change_item(const trp_cluster_core_t *core, const trp_rumor_t *rumor,
                             trp_item_t *item)
{
    memset(item, 0, sizeof(*item));
    item->uid = rumor->uid;
    if (rumor->kind == TRP_RUMOR_SETTLED) {
        item->kind = TRP_ITEM_SETTLED;
        item->change = core->settle.last;
        return core->settle.last.epoch != 0;
    }
    item->kind = rumor->kind == TRP_RUMOR_PROPOSED ? TRP_ITEM_PROPOSED : TRP_ITEM_ACKED;
    item->change = core->settle.change;
    return core->settle.has_proposal;
}

/* Looks up what the rumor is about; false when that has been overtaken. */
static bool post_rumor_item(const trp_cluster_core_t *core, const trp_rumor_t *rumor,
                            trp_item_t *item)
{
    const trp_member_t *member = trp_members_find(&core->members, rumor->uid);
    switch (rumor->kind) {
    case TRP_RUMOR_STATUS:
    case TRP_RUMOR_MEMBER:
        if (member == NULL) {
            trp_post_removed_item(rumor->uid, item);
        } else if (rumor->kind == TRP_RUMOR_MEMBER) {
            trp_post_member_item(member, item);
        } else {
            trp_post_status_item(member, item);
        }
        return true;
    case TRP_RUMOR_SUSPECT:
        return post_suspect_item(rumor, member, item);
    case TRP_RUMOR_PROPOSED:
    case TRP_RUMOR_SETTLED:
    case TRP_RUMOR_ACKED:
        break;
    }
    return post_change_item(core, rumor, item);
}

/* Fills `items` with the freshest rumors that fit; each goes into one message once. */
static void post_fill(trp_cluster_core_t *core, trp_items_t *items, size_t size_max)
{
    trp_item_t item;
    core->round++;
    if (core->round == 0) { /* 0 marks rumors that never went out. */
        core->round = 1;
    }
    for (;;) {
        ptrdiff_t index = trp_rumors_pick(&core->rumors, core->round);
        if (index < 0) {
            return;
        }
        trp_rumor_t *rumor = &core->rumors.items[index];
        rumor->round = core->round;
        if (!post_rumor_item(core, rumor, &item)) {
            rumor->left = 1;
        } else if (!trp_items_add(items, &item, size_max)) {
            continue;
        }
        trp_rumors_sent(&core->rumors, (size_t)index);
    }
}

bool trp_post_send_news(trp_cluster_core_t *core, uint64_t to, const trp_wire_t *wire,
                        size_t news_size)
{
    trp_wire_t full = *wire;
    full.digest = trp_view_digest(core);
    full.epoch = core->settle.epoch;
    trp_items_clear(&core->items);
    if (trp_view_is_connected(core, to)) {
        post_fill(core, &core->items, news_size);
    }
    return trp_post_send(core, to, &full, &core->items);
}

/* ---- gossip ----------------------------------------------------------------------------------- */

static bool post_may_hear(const trp_cluster_core_t *core, const trp_member_t *member,
                          uint64_t except)
{
    return member != core->self && member->uid != except && trp_member_is_live(member) &&
           member->reach != TRP_UNREACHABLE && trp_view_is_connected(core, member->uid);
}

size_t trp_post_choose(trp_cluster_core_t *core, uint64_t except, uint64_t *ret_uids, size_t len)
{
    size_t seen = 0;
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (!post_may_hear(core, member, except)) {
            continue;
        }
        /* Reservoir sampling: each has the same chance, in one pass. */
        seen++;
        uint64_t place = seen <= len ? seen - 1 : trp_random_below(&core->random, seen);
        if (place < len) {
            ret_uids[place] = member->uid;
        }
    }
    return seen < len ? seen : len;
}

void trp_post_tick(trp_cluster_core_t *core)
{
    if (core->time.now < core->gossip_at) {
        return;
    }
    uint64_t targets[TRP_GOSSIP_FANOUT];
    trp_wire_t wire = {.type = TRP_WIRE_GOSSIP};
    size_t len = trp_post_choose(core, 0, targets, TRP_GOSSIP_FANOUT);
    for (size_t i = 0; i < len && core->rumors.len > 0; i++) {
        (void)trp_post_send_news(core, targets[i], &wire, TRP_GOSSIP_SIZE);
    }
    if (core->members.len == 1) { /* Nobody to tell; whoever joins gets the whole picture. */
        core->rumors.len = 0;
    }
    core->gossip_at =
        core->rumors.len == 0 ? TRP_CLOCK_NEVER : core->time.now + core->timings.gossip_interval;
}
