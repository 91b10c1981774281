/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The driver over real links: several nodes in one process on loopback. */

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <troupe/inbox.h>

#include "actor/runtime.h"
#include "base/clock.h"
#include "base/random.h"
#include "cluster/driver.h"
#include "net/link/link.h"
#include "support/check.h"

#define FLEET_MAX 6

typedef struct ship {
    troupe_node_t node; /* First: the runtime knows it. */
    trp_link_t *link;
    trp_cluster_t *cluster;
    uint64_t uid;
    char listen[32];
    char address[64];
    const char *seeds[FLEET_MAX];
    size_t seeds_len;
    const char *roles[1];
    const char *cluster_name;
    bool hold_ready;
    _Atomic uint64_t events[16];
    _Atomic int stopped;
    _Atomic int refused;
} ship_t;

static void ship_on_event(void *context, trp_dispatcher_t *d, const troupe_member_event_t *event)
{
    ship_t *ship = context;
    (void)d;
    atomic_fetch_add(&ship->events[event->kind & 15], 1);
    if (getenv("TROUPE_TEST_VERBOSE") != NULL) {
        (void)printf("  %s: %s %s\n", ship->address,
                     troupe_member_event_name((troupe_member_event_kind_t)event->kind),
                     event->member.address);
    }
}

static void ship_on_stop(void *context, trp_dispatcher_t *d, trp_stop_reason_t reason)
{
    ship_t *ship = context;
    (void)d;
    atomic_store(&ship->stopped, (int)reason);
}

static void ship_on_refused(void *context, trp_dispatcher_t *d, troupe_err_t reason,
                            const char *address, const char *text)
{
    ship_t *ship = context;
    (void)d;
    (void)address;
    (void)text;
    atomic_store(&ship->refused, (int)reason);
}

static uint64_t draw_uid(void)
{
    uint64_t uid = 0;
    REQUIRE_OK(trp_random_system(&uid, sizeof(uid)));
    return uid | 1;
}

static void ship_prepare(ship_t *ship, const char *listen)
{
    memset(ship, 0, sizeof(*ship));
    ship->uid = draw_uid();
    ship->cluster_name = "fleet";
    ship->roles[0] = "ship";
    (void)snprintf(ship->listen, sizeof(ship->listen), "%s", listen);
}

static void ship_launch(ship_t *ship)
{
    trp_runtime_options_t runtime = {.uid = ship->uid, .dispatchers = 1};
    trp_link_options_t link = TRP_LINK_OPTIONS_INIT;
    REQUIRE_OK(trp_runtime_create(&runtime, &ship->node.runtime));
    ship->node.runtime->node = &ship->node;
    link.runtime = ship->node.runtime;
    link.uid = ship->uid;
    link.cluster = ship->cluster_name;
    link.name = "ship";
    link.listen = ship->listen;
    REQUIRE_OK(trp_link_create(&link, &ship->link));
    trp_cluster_driver_options_t options;
    memset(&options, 0, sizeof(options));
    options.runtime = ship->node.runtime;
    options.link = ship->link;
    options.hooks = (trp_cluster_hooks_t){ship, ship_on_event, ship_on_stop, ship_on_refused};
    options.core.uid = ship->uid;
    options.core.name = "ship";
    options.core.roles = ship->roles;
    options.core.roles_len = 1;
    options.core.seeds = ship->seeds;
    options.core.seeds_len = ship->seeds_len;
    options.core.hold_ready = ship->hold_ready;
    options.core.timings.form_wait_ms = 200;
    REQUIRE_OK(trp_cluster_create(&options, &ship->cluster));
    REQUIRE_OK(trp_runtime_start(ship->node.runtime));
    REQUIRE_OK(trp_link_start(ship->link));
    (void)snprintf(ship->address, sizeof(ship->address), "%s", trp_link_address(ship->link));
    REQUIRE_OK(trp_cluster_start(ship->cluster));
}

/* `polite`: it says good-bye. */
static void ship_sink(ship_t *ship, bool polite)
{
    uint64_t deadline = trp_clock_now() + 10 * TRP_NS_PER_S;
    (void)!trp_runtime_stop_users(ship->node.runtime, deadline);
    if (polite) {
        trp_cluster_stop(ship->cluster);
    }
    (void)!trp_runtime_stop_system(ship->node.runtime, deadline);
    trp_link_stop(ship->link);
    trp_runtime_stop(ship->node.runtime);
    trp_cluster_destroy(&ship->cluster);
    trp_link_destroy(&ship->link);
    trp_runtime_destroy(&ship->node.runtime);
}

/* Opens `len` ships; the first is everybody's seed. */
static void fleet_launch(ship_t *fleet, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ship_prepare(&fleet[i], "127.0.0.1:0");
        if (i > 0) {
            fleet[i].seeds[0] = fleet[0].address;
            fleet[i].seeds_len = 1;
        }
        ship_launch(&fleet[i]);
    }
}

static void fleet_sink(ship_t *fleet, size_t len)
{
    for (size_t i = len; i > 0; i--) {
        ship_sink(&fleet[i - 1], true);
    }
}

static size_t ship_count_up(ship_t *ship)
{
    troupe_member_t members[FLEET_MAX];
    size_t len = 0;
    size_t up = 0;
    if (trp_cluster_members(ship->cluster, members, FLEET_MAX, &len) != TROUPE_OK ||
        len > FLEET_MAX) {
        return 0;
    }
    for (size_t i = 0; i < len; i++) {
        up += members[i].state == TROUPE_MEMBER_UP && !members[i].is_unreachable ? 1 : 0;
    }
    return up == len ? up : 0;
}

static bool fleet_is_up(ship_t *fleet, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (ship_count_up(&fleet[i]) != len) {
            return false;
        }
    }
    return true;
}

/* ---- cases ------------------------------------------------------------------------------------ */

static void nodes_join_over_links(void)
{
    static ship_t fleet[4];
    fleet_launch(fleet, 4);
    CHECK_EVENTUALLY(fleet_is_up(fleet, 4), 10000);
    CHECK_EQ_U64(trp_cluster_leader(fleet[0].cluster), trp_cluster_leader(fleet[3].cluster));
    CHECK_EQ_U64(trp_cluster_oldest(fleet[3].cluster), fleet[0].uid);
    fleet_sink(fleet, 4);
}

static void a_node_that_leaves_is_removed(void)
{
    static ship_t fleet[3];
    fleet_launch(fleet, 3);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 3), 10000));
    REQUIRE_OK(trp_cluster_leave(fleet[1].cluster));
    CHECK_EVENTUALLY(atomic_load(&fleet[1].stopped) == TRP_STOP_LEFT, 10000);
    CHECK_EVENTUALLY(ship_count_up(&fleet[0]) == 2 && ship_count_up(&fleet[2]) == 2, 10000);
    CHECK_EQ_U64(atomic_load(&fleet[0].events[TROUPE_MEMBER_EVENT_DOWN]), 0);
    CHECK_EVENTUALLY(atomic_load(&fleet[0].events[TROUPE_MEMBER_EVENT_REMOVED]) == 1, 5000);
    fleet_sink(fleet, 3);
}

static void a_node_that_is_gone_is_downed(void)
{
    static ship_t fleet[3];
    fleet_launch(fleet, 3);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 3), 10000));
    ship_sink(&fleet[2], false);
    CHECK_EVENTUALLY(ship_count_up(&fleet[0]) == 2 && ship_count_up(&fleet[1]) == 2, 12000);
    CHECK_EVENTUALLY(atomic_load(&fleet[0].events[TROUPE_MEMBER_EVENT_DOWN]) == 1, 5000);
    fleet_sink(fleet, 2);
}

static void a_good_bye_spares_the_wait(void)
{
    static ship_t fleet[3];
    fleet_launch(fleet, 3);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 3), 10000));
    ship_sink(&fleet[2], true);
    CHECK_EVENTUALLY(ship_count_up(&fleet[0]) == 2 && ship_count_up(&fleet[1]) == 2, 2000);
    CHECK_EQ_U64(atomic_load(&fleet[0].events[TROUPE_MEMBER_EVENT_UNREACHABLE]), 0);
    fleet_sink(fleet, 2);
}

static void a_node_is_back_soon_at_the_same_address(void)
{
    static ship_t fleet[3];
    fleet_launch(fleet, 3);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 3), 10000));
    for (size_t i = 0; i < 3; i++) {
        ship_sink(&fleet[2], false);
        uint64_t old = fleet[2].uid;
        char address[64];
        (void)snprintf(address, sizeof(address), "%s", fleet[2].address);
        ship_prepare(&fleet[2], address);
        fleet[2].seeds[0] = fleet[0].address;
        fleet[2].seeds_len = 1;
        ship_launch(&fleet[2]);
        CHECK_EVENTUALLY(fleet_is_up(fleet, 3), 10000);
        troupe_member_t member;
        CHECK_ERR(trp_cluster_member(fleet[0].cluster, old, &member), TROUPE_ENODE);
        CHECK_OK(trp_cluster_member(fleet[0].cluster, fleet[2].uid, &member));
        CHECK_STR(member.address, fleet[2].address);
        CHECK(troupe_member_has_role(&member, "ship"));
        CHECK_FALSE(troupe_member_has_role(&member, "shi"));
    }
    fleet_sink(fleet, 3);
}

static void a_seed_may_be_named_differently(void)
{
    static ship_t fleet[2];
    char alias[64];
    ship_prepare(&fleet[0], "127.0.0.1:0");
    ship_launch(&fleet[0]);
    (void)snprintf(alias, sizeof(alias), "localhost%s", strchr(fleet[0].address, ':'));
    ship_prepare(&fleet[1], "127.0.0.1:0");
    fleet[1].seeds[0] = alias;
    fleet[1].seeds_len = 1;
    ship_launch(&fleet[1]);
    CHECK_EVENTUALLY(fleet_is_up(fleet, 2), 10000);
    fleet_sink(fleet, 2);
}

static void a_seed_recognizes_itself_under_another_name(void)
{
    static ship_t ship;
    char alias[64];
    ship_prepare(&ship, "127.0.0.1:0"); /* Takes a port, to be taken again. */
    ship_launch(&ship);
    (void)snprintf(alias, sizeof(alias), "localhost%s", strchr(ship.address, ':'));
    char address[64];
    (void)snprintf(address, sizeof(address), "%s", ship.address);
    ship_sink(&ship, true);
    ship_prepare(&ship, address);
    ship.seeds[0] = alias;
    ship.seeds_len = 1;
    ship_launch(&ship);
    CHECK_EVENTUALLY(ship_count_up(&ship) == 1, 10000);
    ship_sink(&ship, true);
}

static void another_clusters_seed_refuses(void)
{
    static ship_t fleet[2];
    ship_prepare(&fleet[0], "127.0.0.1:0");
    ship_launch(&fleet[0]);
    ship_prepare(&fleet[1], "127.0.0.1:0");
    fleet[1].cluster_name = "armada";
    fleet[1].seeds[0] = fleet[0].address;
    fleet[1].seeds_len = 1;
    ship_launch(&fleet[1]);
    CHECK_EVENTUALLY(atomic_load(&fleet[1].refused) == TROUPE_ECLUSTER, 5000);
    CHECK_EQ_U64(ship_count_up(&fleet[0]), 1);
    fleet_sink(fleet, 2);
}

static void an_operator_downs_and_lets_leave(void)
{
    static ship_t fleet[4];
    fleet_launch(fleet, 4);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 4), 10000));
    CHECK_ERR(trp_cluster_down(fleet[0].cluster, 77), TROUPE_ENODE);
    CHECK_ERR(trp_cluster_down(fleet[0].cluster, fleet[0].uid), TROUPE_EPERM);
    CHECK_OK(trp_cluster_down(fleet[0].cluster, fleet[3].uid));
    CHECK_EVENTUALLY(atomic_load(&fleet[3].stopped) == TRP_STOP_DOWNED, 5000);
    CHECK_OK(trp_cluster_leave_member(fleet[0].cluster, fleet[2].uid));
    CHECK_EVENTUALLY(atomic_load(&fleet[2].stopped) == TRP_STOP_LEFT, 10000);
    CHECK_EVENTUALLY(fleet_is_up(fleet, 2), 10000);
    fleet_sink(fleet, 4);
}

static void a_held_node_is_up_when_it_is_ready(void)
{
    static ship_t fleet[2];
    ship_prepare(&fleet[0], "127.0.0.1:0");
    ship_launch(&fleet[0]);
    ship_prepare(&fleet[1], "127.0.0.1:0");
    fleet[1].seeds[0] = fleet[0].address;
    fleet[1].seeds_len = 1;
    fleet[1].hold_ready = true;
    ship_launch(&fleet[1]);
    CHECK_EVENTUALLY(atomic_load(&fleet[0].events[TROUPE_MEMBER_EVENT_JOINED]) == 2, 10000);
    CHECK_EQ_U64(atomic_load(&fleet[0].events[TROUPE_MEMBER_EVENT_UP]), 1);
    CHECK_OK(trp_cluster_ready(fleet[1].cluster));
    CHECK_EVENTUALLY(fleet_is_up(fleet, 2), 10000);
    fleet_sink(fleet, 2);
}

/* ---- subscribers ------------------------------------------------------------------------------ */

static _Atomic uint64_t seen[16];
static troupe_type_t seen_type;

static troupe_err_t watcher_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)state;
    (void)args;
    return troupe_cluster_subscribe(self, TROUPE_MEMBER_EVENTS_ALL);
}

static troupe_err_t watcher_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    (void)state;
    if (message->type.id != seen_type.id) {
        troupe_stop(self);
        return TROUPE_OK;
    }
    const troupe_member_event_t *event = message->body;
    atomic_fetch_add(&seen[event->kind & 15], 1);
    return TROUPE_OK;
}

static const troupe_behavior_t watcher = {.size = sizeof(troupe_behavior_t),
                                          .name = "watcher",
                                          .init = watcher_init,
                                          .receive = watcher_receive};

static void an_actor_is_told_the_present_and_what_changes(void)
{
    static ship_t fleet[3];
    troupe_ref_t ref = troupe_ref_none();
    fleet_launch(fleet, 2);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 2), 10000));
    REQUIRE_OK(troupe_cluster_event_type(&fleet[0].node, &seen_type));
    REQUIRE_OK(troupe_node_spawn(&fleet[0].node, &watcher, NULL, &ref));
    CHECK_EVENTUALLY(atomic_load(&seen[TROUPE_MEMBER_EVENT_OLDEST_CHANGED]) == 1, 5000);
    CHECK_EQ_U64(atomic_load(&seen[TROUPE_MEMBER_EVENT_JOINED]), 2);
    CHECK_EQ_U64(atomic_load(&seen[TROUPE_MEMBER_EVENT_UP]), 2);
    ship_prepare(&fleet[2], "127.0.0.1:0");
    fleet[2].seeds[0] = fleet[0].address;
    fleet[2].seeds_len = 1;
    ship_launch(&fleet[2]);
    CHECK_EVENTUALLY(atomic_load(&seen[TROUPE_MEMBER_EVENT_UP]) == 3, 10000);
    /* A subscription ends with its actor: no dead letters follow. */
    troupe_port_t *port = NULL;
    REQUIRE_OK(troupe_port_open(&fleet[0].node, &port));
    CHECK_OK(troupe_port_tell(port, ref, troupe_ref_none(), TROUPE_TYPE_BYTES, "x", 1, 1000));
    ship_sink(&fleet[2], true);
    CHECK_EVENTUALLY(fleet_is_up(fleet, 2), 10000);
    troupe_port_close(&port);
    fleet_sink(fleet, 2);
}

static void the_public_face_answers(void)
{
    static ship_t fleet[2];
    troupe_member_t members[FLEET_MAX];
    troupe_member_t member;
    size_t len = 0;
    fleet_launch(fleet, 2);
    REQUIRE(CHECK_WAIT(fleet_is_up(fleet, 2), 10000));
    troupe_node_t *node = &fleet[1].node;
    CHECK_OK(troupe_cluster_members(node, members, FLEET_MAX, &len));
    CHECK_EQ_U64(len, 2);
    CHECK_OK(troupe_cluster_members(node, NULL, 0, &len));
    CHECK_EQ_U64(len, 2);
    CHECK_OK(troupe_cluster_self(node, &member));
    CHECK_EQ_U64(member.uid, fleet[1].uid);
    CHECK(member.is_self == 1);
    CHECK_OK(troupe_cluster_oldest(node, &member));
    CHECK_EQ_U64(member.uid, fleet[0].uid);
    CHECK_EVENTUALLY(troupe_cluster_leader(node, &member) == TROUPE_OK, 5000);
    CHECK_ERR(troupe_cluster_member(node, 5, &member), TROUPE_ENODE);
    CHECK_ERR(troupe_cluster_down(node, 5), TROUPE_ENODE);
    CHECK_ERR(troupe_cluster_leave(node, 5), TROUPE_ENODE);
    CHECK_ERR(troupe_cluster_members(NULL, NULL, 0, &len), TROUPE_EINVAL);
    CHECK_ERR(troupe_cluster_members(node, NULL, 1, &len), TROUPE_EINVAL);
    CHECK_ERR(troupe_cluster_member(node, 5, NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_cluster_self(NULL, &member), TROUPE_EINVAL);
    CHECK_ERR(troupe_cluster_join(node, NULL, 1), TROUPE_EINVAL);
    CHECK_OK(troupe_cluster_join(node, NULL, 0));
    CHECK_ERR(troupe_cluster_subscribe(NULL, 0), TROUPE_EINVAL);
    trp_cluster_stats_t stats;
    trp_cluster_stats(fleet[1].cluster, &stats);
    CHECK_GT_U64(stats.messages_in, 0);
    CHECK_LE_U64(trp_cluster_health(fleet[1].cluster), TRP_HEALTH_MAX);
    fleet_sink(fleet, 2);
}

static const check_case_t cases[] = {
    CHECK_CASE(nodes_join_over_links),
    CHECK_CASE(a_node_that_leaves_is_removed),
    CHECK_CASE(a_node_that_is_gone_is_downed),
    CHECK_CASE(a_good_bye_spares_the_wait),
    CHECK_CASE(a_node_is_back_soon_at_the_same_address),
    CHECK_CASE(a_seed_may_be_named_differently),
    CHECK_CASE(a_seed_recognizes_itself_under_another_name),
    CHECK_CASE(another_clusters_seed_refuses),
    CHECK_CASE(an_operator_downs_and_lets_leave),
    CHECK_CASE(a_held_node_is_up_when_it_is_ready),
    CHECK_CASE(an_actor_is_told_the_present_and_what_changes),
    CHECK_CASE(the_public_face_answers),
};

CHECK_MAIN("cluster.driver", cases)
