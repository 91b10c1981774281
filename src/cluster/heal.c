/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Giving way to a stronger cluster. */

#include "cluster/heal.h"

#include "cluster/post.h"
#include "cluster/view.h"

#define HEAL_NOTE_INTERVAL_MS 10000

static uint64_t heal_strength(const trp_cluster_core_t *core)
{
    uint64_t strength = 0;
    for (size_t i = 0; i < core->members.len; i++) {
        const trp_member_t *member = core->members.items[i];
        strength += trp_member_is_live(member) && member->reach != TRP_UNREACHABLE &&
                            trp_uids_has(&core->settle.settled, member->uid)
                        ? 1
                        : 0;
    }
    return strength;
}

void trp_heal_announce(trp_cluster_core_t *core, uint64_t to)
{
    trp_wire_t wire = {.type = TRP_WIRE_ANNOUNCE, .to = heal_strength(core)};
    (void)trp_post_send_self(core, to, &wire);
}

void trp_heal_note_other(trp_cluster_core_t *core, uint64_t uid, uint64_t cluster)
{
    uint64_t interval = trp_clock_from_ms(HEAL_NOTE_INTERVAL_MS);
    core->stats.foreign++;
    if (core->other_noted_at != 0 && core->time.now - core->other_noted_at < interval) {
        return;
    }
    core->other_noted_at = core->time.now;
    trp_view_note(core, TRP_NOTE_OTHER_CLUSTER, uid, cluster);
}

static void heal_yield(trp_cluster_core_t *core)
{
    trp_post_send_all(core, TRP_WIRE_YIELD);
    trp_post_stop(core, TRP_STOP_YIELDED);
}

void trp_heal_on_announce(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                          trp_view_t items)
{
    trp_item_t item;
    char address[TROUPE_MEMBER_ADDRESS_SIZE];
    trp_heal_note_other(core, from, wire->cluster);
    if (trp_wire_next(&items, &item) != TROUPE_OK || item.kind != TRP_ITEM_MEMBER ||
        item.uid != from || wire->cluster == 0) {
        core->stats.malformed++;
        return;
    }
    uint64_t strength = heal_strength(core);
    bool is_weaker = strength != wire->to ? strength < wire->to : core->cluster < wire->cluster;
    if (is_weaker && core->settle.epoch != 0) {
        heal_yield(core);
        return;
    }
    if (trp_view_is_connected(core, from)) {
        trp_heal_announce(core, from); /* It will see that it is the weaker one. */
        return;
    }
    trp_item_copy_address(&item, address);
    trp_view_connect(core, address,
                     0); /* Whoever is no member is announced to when it is connected. */
}

void trp_heal_on_yield(trp_cluster_core_t *core, uint64_t from)
{
    if (trp_members_find(&core->members, from) != NULL) {
        heal_yield(core);
    }
}
