/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The core at its edges: what it takes from whom, what it refuses, and how it bears want of memory. Its
 * behavior among others is tested in simulated worlds (tests/sim). */

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cluster/core.h"
#include "cluster/suspicion.h"
#include "cluster/wire.h"
#include "support/check.h"

#define SELF 100
#define START (1000 * TRP_NS_PER_S)
#define MS TRP_NS_PER_MS

/* What a core wanted done. */
typedef struct wanted {
    size_t sends[TRP_WIRE_TYPE_LAST + 1]; /* By type. */
    size_t events[16];
    size_t notes[16];
    size_t connects;
    trp_stop_reason_t stop;
} wanted_t;

static void drain(trp_cluster_core_t *core, wanted_t *wanted)
{
    trp_output_t output;
    trp_wire_t wire;
    trp_view_t items;
    memset(wanted, 0, sizeof(*wanted));
    while (trp_cluster_core_next(core, &output)) {
        switch (output.kind) {
        case TRP_OUTPUT_SEND:
            CHECK_OK(trp_wire_decode(trp_view_make(output.data, output.size), &wire, &items));
            wanted->sends[wire.type]++;
            break;
        case TRP_OUTPUT_EVENT:
            wanted->events[output.event]++;
            break;
        case TRP_OUTPUT_NOTE:
            wanted->notes[output.note]++;
            break;
        case TRP_OUTPUT_CONNECT:
            wanted->connects++;
            break;
        case TRP_OUTPUT_STOP_SELF:
            wanted->stop = output.stop;
            break;
        case TRP_OUTPUT_DISCONNECT:
        case TRP_OUTPUT_DOWNED:
        case TRP_OUTPUT_LOST:
            break;
        }
        trp_output_fini(&output);
    }
}

/* A core that has formed a cluster of its own. */
static trp_cluster_core_t *formed(void)
{
    trp_cluster_core_t *core = NULL;
    wanted_t wanted;
    trp_cluster_options_t options = {.uid = SELF, .random_seed = 1, .address = "b:1"};
    REQUIRE_OK(trp_cluster_core_create(&options, START, &core));
    trp_cluster_core_tick(core, START);
    REQUIRE(trp_cluster_core_is_member(core));
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_UP], 1);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_LEADER_CHANGED], 1);
    CHECK_EQ_U64(trp_cluster_core_leader(core), SELF);
    CHECK_EQ_U64(trp_cluster_core_oldest(core), SELF);
    return core;
}

static trp_item_t record_of(uint64_t uid, const char *address)
{
    trp_item_t item = {.kind = TRP_ITEM_MEMBER,
                       .uid = uid,
                       .state = TROUPE_MEMBER_JOINING,
                       .incarnation = 1,
                       .flags = TRP_FLAG_READY};
    item.identity.uid = uid;
    item.identity.address = trp_view_from_string(address);
    return item;
}

static void say(trp_cluster_core_t *core, uint64_t now, uint64_t from, trp_wire_t wire,
                const trp_item_t *item)
{
    static trp_items_t items;
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_items_clear(&items);
    if (item != NULL) {
        REQUIRE(trp_items_add(&items, item, TRP_ITEMS_SIZE_MAX));
    }
    size_t size = trp_wire_encode(&wire, &items, bytes);
    trp_cluster_core_message(core, now, from, bytes, size);
}

static void let_in(trp_cluster_core_t *core, uint64_t now, uint64_t uid, const char *address,
                   wanted_t *wanted)
{
    trp_item_t item = record_of(uid, address);
    trp_cluster_core_peer_connected(core, now, uid, address);
    say(core, now, uid, (trp_wire_t){.type = TRP_WIRE_SEEK}, &item);
    drain(core, wanted);
}

static void options_are_checked(void)
{
    trp_cluster_core_t *core = NULL;
    trp_cluster_options_t options = {.uid = 0, .address = "a:1"};
    CHECK_ERR(trp_cluster_core_create(&options, START, &core), TROUPE_EINVAL);
    options.uid = 1;
    options.address = NULL;
    CHECK_ERR(trp_cluster_core_create(&options, START, &core), TROUPE_EINVAL);
    options.address = "";
    CHECK_ERR(trp_cluster_core_create(&options, START, &core), TROUPE_EINVAL);
    const char *roles[] = {""};
    options.address = "a:1";
    options.roles = roles;
    options.roles_len = 1;
    CHECK_ERR(trp_cluster_core_create(&options, START, &core), TROUPE_EINVAL);
    CHECK_NULL(core);
    trp_cluster_core_destroy(&core);
}

static void a_seeker_is_welcomed_and_settled(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    let_in(core, START + MS, 7, "c:1", &wanted);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_WELCOME], 1);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_JOINED], 1);
    trp_cluster_core_tick(core, START + 50 * MS);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_UP], 1);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_CHANGE], 1);
    CHECK_EQ_U64(trp_cluster_core_epoch(core), 2);
    CHECK_EQ_U64(trp_cluster_core_settled_len(core), 2);
    CHECK(trp_cluster_core_is_settled(core, 7));
    trp_cluster_core_destroy(&core);
}

static void who_speaks_for_another_is_refused_and_counted(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    trp_item_t item = record_of(8, "c:1");
    trp_cluster_core_peer_connected(core, START, 7, "c:1");
    say(core, START, 7, (trp_wire_t){.type = TRP_WIRE_SEEK}, &item);
    drain(core, &wanted);
    CHECK_EQ_U64(trp_cluster_core_len(core), 1);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->spoofed, 1);
    CHECK_EQ_U64(wanted.notes[TRP_NOTE_SPOOFED], 1);
    /* And nobody else can be this node. */
    say(core, START, SELF, (trp_wire_t){.type = TRP_WIRE_BYE}, NULL);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->spoofed, 2);
    trp_cluster_core_destroy(&core);
}

static void another_clusters_messages_change_nothing(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    trp_item_t item = record_of(9, "d:1");
    let_in(core, START, 7, "c:1", &wanted);
    say(core, START, 7, (trp_wire_t){.type = TRP_WIRE_GOSSIP, .cluster = 5}, &item);
    drain(core, &wanted);
    CHECK_EQ_U64(trp_cluster_core_len(core), 2);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->foreign, 1);
    CHECK_EQ_U64(wanted.notes[TRP_NOTE_OTHER_CLUSTER], 1);
    trp_cluster_core_destroy(&core);
}

static void malformed_and_unknown_messages_are_counted(void)
{
    trp_cluster_core_t *core = formed();
    trp_cluster_core_message(core, START, 7, "\x00", 1);
    trp_cluster_core_message(core, START, 7, NULL, 0);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->malformed, 2);
    trp_wire_t wire = {.type = (trp_wire_type_t)(TRP_WIRE_TYPE_LAST + 1)};
    say(core, START, 7, wire, NULL);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->unknown, 1);
    trp_cluster_core_destroy(&core);
}

static void a_removed_node_is_fenced_and_can_not_come_back(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    let_in(core, START, 7, "c:1", &wanted);
    trp_cluster_core_tick(core, START + 50 * MS);
    say(core, START + 60 * MS, 7,
        (trp_wire_t){.type = TRP_WIRE_BYE, .cluster = trp_cluster_core_cluster(core)}, NULL);
    trp_cluster_core_tick(core, START + 200 * MS);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_REMOVED], 1);
    CHECK_EQ_U64(trp_cluster_core_len(core), 1);
    let_in(core, START + 210 * MS, 7, "c:1", &wanted);
    CHECK_GE_U64(wanted.sends[TRP_WIRE_FENCED], 1);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_WELCOME], 0);
    CHECK_EQ_U64(trp_cluster_core_len(core), 1);
    /* Nor can a memory of it that another member still has. */
    let_in(core, START + 220 * MS, 8, "d:1", &wanted);
    trp_item_t item = record_of(7, "c:1");
    say(core, START + 230 * MS, 8,
        (trp_wire_t){.type = TRP_WIRE_GOSSIP, .cluster = trp_cluster_core_cluster(core)}, &item);
    CHECK_NULL(trp_cluster_core_find(core, 7));
    trp_cluster_core_destroy(&core);
}

static void a_new_process_at_an_address_replaces_the_old_one(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    let_in(core, START, 7, "c:1", &wanted);
    trp_cluster_core_tick(core, START + 50 * MS);
    let_in(core, START + 60 * MS, 8, "c:1", &wanted);
    CHECK_EQ_U64(wanted.notes[TRP_NOTE_REPLACED], 1);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_DOWN], 1);
    trp_cluster_core_tick(core, START + 100 * MS);
    trp_cluster_core_tick(core, START + 150 * MS);
    CHECK_NULL(trp_cluster_core_find(core, 7));
    CHECK_EQ_U64(trp_cluster_core_find(core, 8)->state, TROUPE_MEMBER_UP);
    CHECK_EQ_U64(trp_cluster_core_find_address(core, "c:1")->uid, 8);
    trp_cluster_core_destroy(&core);
}

static void only_a_member_can_fence(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    uint64_t cluster = trp_cluster_core_cluster(core);
    say(core, START, 66, (trp_wire_t){.type = TRP_WIRE_FENCED, .cluster = cluster}, NULL);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.stop, 0);
    let_in(core, START, 7, "c:1", &wanted);
    say(core, START, 7, (trp_wire_t){.type = TRP_WIRE_FENCED, .cluster = cluster}, NULL);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.stop, TRP_STOP_DOWNED);
    CHECK_EQ_U64(wanted.events[TROUPE_MEMBER_EVENT_SELF_REMOVED], 1);
    CHECK_EQ_U64(trp_cluster_core_wakeup(core), TRP_CLOCK_NEVER);
    trp_cluster_core_tick(core, START + 1000 * MS);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_PING], 0);
    trp_cluster_core_destroy(&core);
}

static void a_suspected_node_refutes(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    let_in(core, START, 7, "c:1", &wanted);
    trp_wire_t ping = {.type = TRP_WIRE_PING,
                       .cluster = trp_cluster_core_cluster(core),
                       .seq = 1,
                       .uid = SELF,
                       .incarnation = 1};
    say(core, START, 7, ping, NULL);
    CHECK_EQ_U64(trp_cluster_core_find(core, SELF)->incarnation, 2);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->refutations, 1);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_ACK], 1);
    ping.uid = 55; /* For somebody who was here before. */
    say(core, START, 7, ping, NULL);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_ACK], 0);
    trp_cluster_core_destroy(&core);
}

static void a_full_table_lets_nobody_in(void)
{
    trp_cluster_core_t *core = NULL;
    wanted_t wanted;
    trp_cluster_options_t options = {
        .uid = SELF, .random_seed = 1, .address = "b:1", .members_max = 2};
    REQUIRE_OK(trp_cluster_core_create(&options, START, &core));
    trp_cluster_core_tick(core, START);
    let_in(core, START, 7, "c:1", &wanted);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_WELCOME], 1);
    let_in(core, START, 8, "d:1", &wanted);
    CHECK_EQ_U64(wanted.sends[TRP_WIRE_WELCOME], 0);
    CHECK_EQ_U64(wanted.notes[TRP_NOTE_FULL], 1);
    trp_cluster_core_destroy(&core);
}

static void a_clock_that_goes_back_stands_still(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    let_in(core, START + 10 * MS, 7, "c:1", &wanted);
    trp_cluster_core_tick(core, START - 5000 * MS);
    trp_cluster_core_tick(core, START + 60 * MS);
    CHECK_EQ_U64(trp_cluster_core_find(core, 7)->state, TROUPE_MEMBER_UP);
    CHECK_EQ_U64(trp_cluster_core_stats(core)->starved, 0);
    trp_cluster_core_destroy(&core);
}

static void a_node_alone_leaves_at_once(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    trp_cluster_core_leave(core, START + MS);
    trp_cluster_core_tick(core, START + 50 * MS);
    trp_cluster_core_tick(core, START + 100 * MS);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.stop, TRP_STOP_LEFT);
    trp_cluster_core_destroy(&core);
}

static void an_idle_node_alone_sleeps(void)
{
    wanted_t wanted;
    trp_cluster_core_t *core = formed();
    uint64_t now = START;
    size_t ticks = 0;
    while (ticks < 20 && trp_cluster_core_wakeup(core) != TRP_CLOCK_NEVER) {
        now = trp_cluster_core_wakeup(core);
        trp_cluster_core_tick(core, now);
        ticks++;
    }
    CHECK_LT_U64(ticks, 10);
    drain(core, &wanted);
    CHECK_EQ_U64(wanted.stop, 0);
    trp_cluster_core_destroy(&core);
}

static void the_public_view_shows_a_member(void)
{
    wanted_t wanted;
    troupe_member_t view;
    trp_cluster_core_t *core = formed();
    let_in(core, START, 7, "c:1", &wanted);
    trp_cluster_core_view(core, trp_cluster_core_find(core, 7), &view);
    CHECK_EQ_U64(view.uid, 7);
    CHECK_STR(view.address, "c:1");
    CHECK_EQ_U64(view.is_self, 0);
    trp_cluster_core_view(core, trp_cluster_core_at(core, 1), &view);
    CHECK_EQ_U64(view.is_self, 1);
    CHECK_EQ_U64(trp_cluster_core_uid(core), SELF);
    trp_cluster_core_destroy(&core);
}

static void suspicion_shortens_with_each_voice(void)
{
    uint64_t base = 1000;
    for (size_t reachable = 1; reachable < 10; reachable++) {
        for (size_t voices = 1; voices < 5; voices++) {
            CHECK_GE_U64(trp_suspicion_time(base, 10, reachable, voices),
                         trp_suspicion_time(base, 10, reachable, voices + 1));
        }
    }
    CHECK_EQ_U64(trp_suspicion_time(base, 10, 0, 1), 1000); /* Nobody is there to confirm it. */
    CHECK_EQ_U64(trp_suspicion_time(base, 10, 5, 1), 4000);
    CHECK_EQ_U64(trp_suspicion_time(base, 10, 5, 4), 1000);
    CHECK_EQ_U64(trp_suspicion_time(base, 100, 0, 1), 2000);
    CHECK_EQ_U64(trp_suspicion_time(base, 1000, 0, 1), 3000);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static troupe_err_t create_step(void *user)
{
    trp_cluster_core_t *core = NULL;
    const char *seeds[] = {"a:1", "b:1"};
    const char *peers[] = {"c:1"};
    trp_cluster_options_t options = {.uid = SELF,
                                     .address = "a:1",
                                     .seeds = seeds,
                                     .seeds_len = 2,
                                     .peers = peers,
                                     .peers_len = 1};
    (void)user;
    troupe_err_t err = trp_cluster_core_create(&options, START, &core);
    trp_cluster_core_destroy(&core);
    return err;
}

static void creation_survives_want_of_memory(void)
{
    CHECK_ALLOCATIONS(create_step, NULL);
}

/* A running core drops what it has no memory for, as a lossy network would, and goes on. */
static void a_running_core_survives_want_of_memory(void)
{
    for (uint64_t after = 0; after < 200; after++) {
        int64_t live = trp_memory_live();
        trp_cluster_core_t *core = NULL;
        trp_cluster_options_t options = {.uid = SELF, .random_seed = 1, .address = "b:1"};
        REQUIRE_OK(trp_cluster_core_create(&options, START, &core));
        trp_memory_fail_once(after);
        uint64_t now = START;
        trp_cluster_core_tick(core, now);
        for (uint64_t uid = 1; uid < 6; uid++) {
            wanted_t wanted;
            char address[8] = {(char)('c' + uid), ':', '1', 0};
            now += 60 * MS;
            trp_cluster_core_tick(core, now);
            let_in(core, now, uid, address, &wanted);
        }
        uint64_t seen = trp_memory_fail_off();
        for (size_t i = 0; i < 30; i++) {
            wanted_t wanted;
            now += 100 * MS;
            trp_cluster_core_tick(core, now);
            drain(core, &wanted);
        }
        trp_cluster_core_destroy(&core);
        CHECK_EQ_I64(trp_memory_live(), live);
        if (seen < after) {
            return;
        }
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(options_are_checked),
    CHECK_CASE(a_seeker_is_welcomed_and_settled),
    CHECK_CASE(who_speaks_for_another_is_refused_and_counted),
    CHECK_CASE(another_clusters_messages_change_nothing),
    CHECK_CASE(malformed_and_unknown_messages_are_counted),
    CHECK_CASE(a_removed_node_is_fenced_and_can_not_come_back),
    CHECK_CASE(a_new_process_at_an_address_replaces_the_old_one),
    CHECK_CASE(only_a_member_can_fence),
    CHECK_CASE(a_suspected_node_refutes),
    CHECK_CASE(a_full_table_lets_nobody_in),
    CHECK_CASE(a_clock_that_goes_back_stands_still),
    CHECK_CASE(a_node_alone_leaves_at_once),
    CHECK_CASE(an_idle_node_alone_sleeps),
    CHECK_CASE(the_public_view_shows_a_member),
    CHECK_CASE(suspicion_shortens_with_each_voice),
    CHECK_CASE(creation_survives_want_of_memory),
    CHECK_CASE(a_running_core_survives_want_of_memory),
};

CHECK_MAIN("cluster.core", cases)
