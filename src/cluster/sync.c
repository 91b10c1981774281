/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Repair. Every message is bounded; what doesn't fit goes into another one. */

#include "cluster/sync.h"

#include "base/assert.h"
#include "cluster/post.h"
#include "cluster/settle.h"
#include "cluster/view.h"

#define SYNC_INTERVAL_MS 250    /* Between two repairs that this node begins. */
#define SYNC_PATIENCE_MS 400    /* A view that changed so lately is left to gossip, */
#define SYNC_IMPATIENCE_MS 3000 /* but not when there was no repair for so long. */

void trp_sync_begin(trp_cluster_core_t *core, uint64_t with)
{
    trp_wire_t wire = {
        .type = TRP_WIRE_SYNC, .digest = trp_view_digest(core), .epoch = core->settle.epoch};
    trp_items_clear(&core->items);
    for (size_t i = 0; i < TRP_RANGES; i++) {
        trp_item_t item = {.kind = TRP_ITEM_RANGE, .uid = i, .hash = core->ranges[i]};
        bool fits = trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX);
        TRP_ASSERT(fits);
    }
    core->sync_at = core->time.now + trp_clock_from_ms(SYNC_INTERVAL_MS);
    core->stats.syncs++;
    (void)trp_post_send(core, with, &wire, &core->items);
}

void trp_sync_compare(trp_cluster_core_t *core, uint64_t with, uint64_t digest, uint64_t epoch)
{
    uint64_t now = core->time.now;
    if (digest == trp_view_digest(core) || now < core->sync_at) {
        return;
    }
    bool is_fresh = now - core->changed_at < trp_clock_from_ms(SYNC_PATIENCE_MS);
    bool is_long_ago = now - core->sync_at > trp_clock_from_ms(SYNC_IMPATIENCE_MS);
    if (is_fresh && !is_long_ago && epoch <= core->settle.epoch) {
        return;
    }
    trp_sync_begin(core, with);
}

/* ---- vectors ---------------------------------------------------------------------------------- */

static uint64_t sync_range_first(size_t range)
{
    return (uint64_t)range * (UINT64_MAX / TRP_RANGES + 1);
}

static uint64_t sync_range_last(size_t range)
{
    return sync_range_first(range) + UINT64_MAX / TRP_RANGES;
}

/* One message with the versions of the members from `first` on, at most up to `last`. Returns the uid
 * to go on with, or 0 when the range is done. */
static uint64_t sync_send_vector(trp_cluster_core_t *core, uint64_t to, uint64_t first,
                                 uint64_t last)
{
    trp_wire_t wire = {
        .type = TRP_WIRE_VECTOR, .epoch = core->settle.epoch, .from = first, .to = last};
    uint64_t next = 0;
    trp_items_clear(&core->items);
    for (size_t i = trp_members_position(&core->members, first); i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member->uid > last) {
            break;
        }
        if (core->items.len == TRP_VECTOR_LEN) {
            next = member->uid;
            wire.to = member->uid - 1;
            break;
        }
        trp_item_t item = {
            .kind = TRP_ITEM_VERSION, .uid = member->uid, .hash = trp_view_hash(member)};
        bool fits = trp_items_add(&core->items, &item, TRP_ITEMS_SIZE_MAX);
        TRP_ASSERT(fits);
    }
    (void)trp_post_send(core, to, &wire, &core->items);
    return next;
}

static void sync_send_range(trp_cluster_core_t *core, uint64_t to, size_t range)
{
    uint64_t first = sync_range_first(range);
    do {
        first = sync_send_vector(core, to, first, sync_range_last(range));
    } while (first != 0);
    core->stats.full_sets++;
}

void trp_sync_on_sync(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                      trp_view_t items)
{
    trp_item_t item;
    (void)trp_view_digest(core); /* Brings the ranges up to date. */
    if (wire->epoch < core->settle.epoch) {
        trp_settle_send_set(core, from);
    }
    bool differs[TRP_RANGES] = {false};
    while (trp_wire_next(&items, &item) == TROUPE_OK) {
        if (item.kind == TRP_ITEM_RANGE && item.uid < TRP_RANGES) {
            differs[item.uid] = item.hash != core->ranges[item.uid];
        }
    }
    for (size_t i = 0; i < TRP_RANGES; i++) {
        if (differs[i]) {
            sync_send_range(core, from, i);
        }
    }
    if (wire->epoch > core->settle.epoch && core->time.now >= core->sync_at) {
        trp_sync_begin(core, from);
    }
}

/* ---- records ---------------------------------------------------------------------------------- */

/* Appends an item and sends what was gathered when it is full. */
static void sync_put(trp_cluster_core_t *core, uint64_t to, const trp_item_t *item)
{
    if (trp_items_add(&core->items, item, TRP_ITEMS_SIZE_MAX)) {
        return;
    }
    trp_wire_t wire = {.type = TRP_WIRE_RECORDS};
    (void)trp_post_send(core, to, &wire, &core->items);
    trp_items_clear(&core->items);
    bool fits = trp_items_add(&core->items, item, TRP_ITEMS_SIZE_MAX);
    TRP_ASSERT(fits);
}

static void sync_flush(trp_cluster_core_t *core, uint64_t to)
{
    trp_wire_t wire = {.type = TRP_WIRE_RECORDS};
    if (core->items.len > 0) {
        (void)trp_post_send(core, to, &wire, &core->items);
    }
    trp_items_clear(&core->items);
}

static void sync_put_record(trp_cluster_core_t *core, uint64_t to, const trp_member_t *member)
{
    trp_item_t item;
    trp_post_member_item(member, &item);
    sync_put(core, to, &item);
}

/* What we know of one entry of the other's vector: gives ours, and asks for its. */
static void sync_answer_version(trp_cluster_core_t *core, uint64_t to, const trp_item_t *version)
{
    const trp_member_t *member = trp_members_find(&core->members, version->uid);
    trp_item_t item = {.kind = TRP_ITEM_UID, .uid = version->uid};
    if (member == NULL && trp_tombs_find(&core->tombs, version->uid) != NULL) {
        trp_post_removed_item(version->uid, &item);
        sync_put(core, to, &item);
        return;
    }
    if (member != NULL && trp_view_hash(member) == version->hash) {
        return;
    }
    if (member != NULL) {
        sync_put_record(core, to, member);
    }
    sync_put(core, to, &item);
}

void trp_sync_on_vector(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                        trp_view_t items)
{
    trp_uids_t seen = {0};
    trp_item_t item;
    troupe_err_t err = TROUPE_OK;
    if (wire->epoch < core->settle.epoch) {
        trp_settle_send_set(core, from);
    }
    trp_items_clear(&core->items);
    while (err == TROUPE_OK && trp_wire_next(&items, &item) == TROUPE_OK) {
        if (item.kind != TRP_ITEM_VERSION || seen.len >= TRP_VECTOR_LEN) {
            continue;
        }
        err = trp_uids_add(&seen, item.uid);
        sync_answer_version(core, from, &item);
    }
    /* Ours that the other lacks; not when memory failed us, for then `seen` isn't whole. */
    size_t i = trp_members_position(&core->members, wire->from);
    for (; err == TROUPE_OK && i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        if (member->uid > wire->to) {
            break;
        }
        if (!trp_uids_has(&seen, member->uid)) {
            sync_put_record(core, from, member);
        }
    }
    sync_flush(core, from);
    trp_uids_fini(&seen);
}

void trp_sync_on_wants(trp_cluster_core_t *core, uint64_t from, trp_view_t items)
{
    trp_item_t item;
    size_t len = 0;
    trp_items_clear(&core->items);
    while (len < TRP_WANTS_MAX && trp_wire_next(&items, &item) == TROUPE_OK) {
        if (item.kind != TRP_ITEM_UID) {
            continue;
        }
        len++;
        const trp_member_t *member = trp_members_find(&core->members, item.uid);
        if (member != NULL) {
            sync_put_record(core, from, member);
        } else if (trp_tombs_find(&core->tombs, item.uid) != NULL) {
            trp_post_removed_item(item.uid, &item);
            sync_put(core, from, &item);
        }
    }
    sync_flush(core, from);
}
