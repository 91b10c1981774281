/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Links under faults: broken and held connections, peers that vanish, floods, large bodies. */

#include "proxy.h"
#include "scene.h"

#define UID_A UINT64_C(0xa1a1a1a1a1)
#define UID_B UINT64_C(0xb2b2b2b2b2)

/* Two nodes, each reached by the other through a forwarder: what it advertises is not what it binds. */
typedef struct faults {
    scene_t a, b;
    proxy_t to_a, to_b;
} faults_t;

static void faults_start(faults_t *faults)
{
    faults->a.end.options.advertise = faults->to_a.address;
    faults->b.end.options.advertise = faults->to_b.address;
    scene_start(&faults->a);
    scene_start(&faults->b);
    /* The links bound free ports, which the forwarders lead to. */
    atomic_store(&faults->to_a.target_port, proxy_port_of(trp_link_bound(faults->a.end.link)));
    atomic_store(&faults->to_b.target_port, proxy_port_of(trp_link_bound(faults->b.end.link)));
    scene_connect(&faults->a, &faults->b, NULL);
}

static void faults_open(faults_t *faults)
{
    proxy_open(&faults->to_a);
    proxy_open(&faults->to_b);
    scene_prepare(&faults->a, UID_A);
    scene_prepare(&faults->b, UID_B);
    faults_start(faults);
}

static void faults_close(faults_t *faults)
{
    int64_t before = faults->a.stage.memory_before;
    scene_close(&faults->a);
    scene_close(&faults->b);
    proxy_end(&faults->to_a);
    proxy_end(&faults->to_b);
    CHECK_EQ_I64(trp_memory_live(), before);
}

typedef struct faults_stream {
    probe_t source, sink;
    scene_ledger_t ledger;
    scene_plan_t plan;
} faults_stream_t;

/* A stream from an actor of one node to one of the other, not yet begun. */
static troupe_ref_t faults_stream(faults_stream_t *stream, scene_t *from, scene_t *to, uint64_t len,
                                  size_t size)
{
    memset(stream, 0, sizeof(*stream));
    troupe_ref_t sink = scene_receiver(to, &stream->sink, &stream->ledger, 1);
    stream->plan = scene_plan(sink, 0, len, size);
    return stage_puppet_at(&from->stage, &stream->source, 0);
}

static void a_broken_connection_neither_loses_nor_doubles(void)
{
    static faults_t faults;
    faults_open(&faults);
    static faults_stream_t there, back;
    uint64_t len = check_count(300000, 3000000);
    troupe_ref_t a = faults_stream(&there, &faults.a, &faults.b, len, 32);
    troupe_ref_t b = faults_stream(&back, &faults.b, &faults.a, len, 48);
    stage_post(&faults.a.stage, a, scene_send_burst, &there.plan);
    stage_post(&faults.b.stage, b, scene_send_burst, &back.plan);
    for (uint32_t i = 1; i <= 6; i++) {
        uint64_t mark = len * i / 8;
        (void)CHECK_WAIT(atomic_load(&there.ledger.total) >= mark, 20000);
        proxy_cut(i % 2 == 0 ? &faults.to_a : &faults.to_b);
    }
    CHECK_EVENTUALLY(atomic_load(&there.ledger.total) == len, 60000);
    CHECK_EVENTUALLY(atomic_load(&back.ledger.total) == len, 60000);
    CHECK_EQ_U64(atomic_load(&there.ledger.disorder), 0);
    CHECK_EQ_U64(atomic_load(&back.ledger.disorder), 0);
    CHECK_EQ_U64(scene_dropped(&faults.a, TROUPE_DROP_LINK_LOST), 0);
    CHECK_EQ_U64(scene_dropped(&faults.b, TROUPE_DROP_LINK_LOST), 0);
    STAGE_QUIET(&faults.a.stage);
    STAGE_QUIET(&faults.b.stage);
    faults_close(&faults);
}

static void a_held_connection_stalls_and_goes_on(void)
{
    static faults_t faults;
    proxy_open(&faults.to_a);
    proxy_open(&faults.to_b);
    scene_prepare(&faults.a, UID_A);
    scene_prepare(&faults.b, UID_B);
    faults.a.end.options.stall_ms = 300;
    faults.a.end.options.queue_size_max = 4u << 20;
    faults_start(&faults);
    static faults_stream_t stream;
    troupe_ref_t a = faults_stream(&stream, &faults.a, &faults.b, 20000, 1000);
    atomic_store(&faults.to_b.is_held, true);
    stage_post(&faults.a.stage, a, scene_send_burst, &stream.plan);
    CHECK_EVENTUALLY(pair_events(&faults.a.end, TRP_LINK_EVENT_STALLED) == 1, PAIR_WAIT_MS);
    CHECK_EVENTUALLY(atomic_load(&stream.plan.is_done), PAIR_WAIT_MS);
    troupe_stats_t stats = stage_stats(&faults.a.stage);
    uint64_t dropped = stats.user.dropped[TROUPE_DROP_LINK_QUEUE_FULL];
    CHECK_GT_U64(dropped, 0);
    CHECK_EQ_U64(stats.parked, 0);
    atomic_store(&faults.to_b.is_held, false);
    CHECK_EVENTUALLY(atomic_load(&stream.ledger.total) == 20000 - dropped, PAIR_WAIT_MS);
    CHECK_EVENTUALLY(pair_events(&faults.a.end, TRP_LINK_EVENT_RESUMED) == 1, PAIR_WAIT_MS);
    STAGE_QUIET(&faults.a.stage);
    STAGE_QUIET(&faults.b.stage);
    faults_close(&faults);
}

static void senders_are_parked_before_anything_is_dropped(void)
{
    static faults_t faults;
    faults_open(&faults);
    static faults_stream_t stream;
    troupe_ref_t a = faults_stream(&stream, &faults.a, &faults.b, 40000, 1000);
    atomic_store(&faults.to_b.is_held, true);
    stage_post(&faults.a.stage, a, scene_send_burst, &stream.plan);
    CHECK_EVENTUALLY(stage_stats(&faults.a.stage).parked == 1, PAIR_WAIT_MS);
    atomic_store(&faults.to_b.is_held, false);
    CHECK_EVENTUALLY(atomic_load(&stream.ledger.total) == 40000, PAIR_WAIT_MS);
    CHECK_EQ_U64(scene_dropped(&faults.a, TROUPE_DROP_LINK_QUEUE_FULL), 0);
    faults_close(&faults);
}

static void what_a_vanished_peer_did_not_take_is_counted_as_lost(void)
{
    static faults_t faults;
    faults_open(&faults);
    static faults_stream_t stream;
    uint64_t len = 400000;
    troupe_ref_t a = faults_stream(&stream, &faults.a, &faults.b, len, 32);
    stage_post(&faults.a.stage, a, scene_send_burst, &stream.plan);
    (void)CHECK_WAIT(atomic_load(&stream.ledger.total) > 50000, PAIR_WAIT_MS);
    atomic_store(&faults.to_a.is_refusing, true);
    atomic_store(&faults.to_b.is_refusing, true);
    proxy_cut(&faults.to_a);
    proxy_cut(&faults.to_b);
    CHECK_EVENTUALLY(pair_state(&faults.a.end, UID_B) == TRP_LINK_LOST, PAIR_WAIT_MS);
    trp_link_forget(faults.a.end.link, UID_B);
    CHECK_EVENTUALLY(atomic_load(&stream.plan.is_done), PAIR_WAIT_MS);
    troupe_stats_t stats;
    CHECK_TRUE(stage_is_quiet(&faults.a.stage, &stats));
    CHECK_EQ_U64(stats.user.in_flight, 0);
    /* What was acknowledged was received; of what is lost some may have been. */
    uint64_t received = atomic_load(&stream.ledger.total);
    CHECK_EVENTUALLY(stage_stats(&faults.b.stage).user.received >= stats.user.handed_over,
                     PAIR_WAIT_MS);
    CHECK_LE_U64(received, len);
    CHECK_GE_U64(stats.user.handed_over + stats.user.dropped[TROUPE_DROP_LINK_LOST], received);
    faults_close(&faults);
}

static troupe_err_t act_watch_often(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    troupe_ref_t who = *(troupe_ref_t *)argument;
    for (uint32_t i = 0; i < 10000; i++) {
        CHECK_OK(troupe_watch(self, who));
        troupe_unwatch(self, who);
    }
    return troupe_watch(self, who);
}

static void a_flood_of_watches_does_not_end_the_session(void)
{
    static faults_t faults;
    faults_open(&faults);
    static probe_t watcher, watched;
    memset(&watcher, 0, sizeof(watcher));
    memset(&watched, 0, sizeof(watched));
    troupe_ref_t who = stage_puppet_at(&faults.b.stage, &watched, 1);
    troupe_ref_t by = stage_puppet_at(&faults.a.stage, &watcher, 0);
    atomic_store(&faults.to_b.is_held, true);
    CHECK_OK(stage_do(&faults.a.stage, by, act_watch_often, &who));
    atomic_store(&faults.to_b.is_held, false);
    troupe_port_poison(faults.b.stage.port, who);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == 1, PAIR_WAIT_MS);
    CHECK_EQ_U64(pair_events(&faults.a.end, TRP_LINK_EVENT_LOST), 0);
    STAGE_QUIET(&faults.a.stage);
    STAGE_QUIET(&faults.b.stage);
    faults_close(&faults);
}

/* The last ping's time, waiting for a new one. */
static uint64_t faults_rtt(faults_t *faults)
{
    trp_link_peer_info_t info = {0};
    CHECK_OK(trp_link_peer(faults->a.end.link, UID_B, &info));
    return info.rtt_ns;
}

static void large_bodies_do_not_delay_the_control_lane(void)
{
    static faults_t faults;
    faults_open(&faults);
    troupe_type_t type = scene_type(&faults.a, "huge", 64u << 20);
    (void)scene_type(&faults.b, "huge", 64u << 20);
    static faults_stream_t bulk, small;
    uint64_t len = check_count(4, 20);
    troupe_ref_t a = faults_stream(&bulk, &faults.a, &faults.b, len, 64u << 20);
    bulk.plan.type = type;
    bulk.plan.burst = 1;
    troupe_ref_t other = faults_stream(&small, &faults.a, &faults.b, 20000, 32);
    stage_post(&faults.a.stage, a, scene_send_burst, &bulk.plan);
    stage_post(&faults.a.stage, other, scene_send_burst, &small.plan);
    uint64_t worst = 0;
    uint64_t end = check_now_ms() + 60000;
    while (atomic_load(&bulk.ledger.total) < len && check_now_ms() < end) {
        uint64_t rtt = faults_rtt(&faults);
        worst = rtt > worst ? rtt : worst;
        check_rest();
    }
    CHECK_EQ_U64(atomic_load(&bulk.ledger.total), len);
    CHECK_EQ_U64(atomic_load(&bulk.ledger.bytes), len * (64u << 20));
    CHECK_EVENTUALLY(atomic_load(&small.ledger.total) == 20000, PAIR_WAIT_MS);
    CHECK_LT_U64(worst, UINT64_C(500) * TRP_NS_PER_MS * check_slowness());
    CHECK_EQ_U64(pair_events(&faults.a.end, TRP_LINK_EVENT_LOST), 0);
    STAGE_QUIET(&faults.a.stage);
    faults_close(&faults);
}

static void large_bodies_survive_a_broken_connection_in_order(void)
{
    static faults_t faults;
    faults_open(&faults);
    troupe_type_t type = scene_type(&faults.a, "big", 8u << 20);
    (void)scene_type(&faults.b, "big", 8u << 20);
    static faults_stream_t stream;
    troupe_ref_t a = faults_stream(&stream, &faults.a, &faults.b, 0, 0);
    static scene_plan_t plans[40];
    for (uint32_t i = 0; i < 40; i++) {
        size_t size = i % 3 == 0 ? 4u << 20 : i % 3 == 1 ? 100 : 200000;
        plans[i] = scene_plan(stream.plan.to, 0, i + 1, size);
        plans[i].sent = i;
        plans[i].type = type;
        stage_post(&faults.a.stage, a, scene_send_burst, &plans[i]);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        (void)CHECK_WAIT(atomic_load(&stream.ledger.total) >= 9 * i, 20000);
        proxy_cut(i % 2 == 0 ? &faults.to_a : &faults.to_b);
    }
    CHECK_EVENTUALLY(atomic_load(&stream.ledger.total) == 40, 60000);
    CHECK_EQ_U64(atomic_load(&stream.ledger.disorder), 0);
    STAGE_QUIET(&faults.a.stage);
    STAGE_QUIET(&faults.b.stage);
    faults_close(&faults);
}

static void a_large_body_of_a_vanished_peer_is_counted_as_lost(void)
{
    static faults_t faults;
    faults_open(&faults);
    troupe_type_t type = scene_type(&faults.a, "huge", 64u << 20);
    (void)scene_type(&faults.b, "huge", 64u << 20);
    static faults_stream_t stream;
    troupe_ref_t a = faults_stream(&stream, &faults.a, &faults.b, 1, 64u << 20);
    stream.plan.type = type;
    stage_post(&faults.a.stage, a, scene_send_burst, &stream.plan);
    trp_link_peer_info_t info = {0};
    CHECK_EVENTUALLY(trp_link_peer(faults.b.end.link, UID_A, &info) == TROUPE_OK &&
                         info.bytes_in > (1u << 20) && info.messages_in == 1,
                     PAIR_WAIT_MS);
    atomic_store(&faults.to_b.is_held, true);
    trp_link_forget(faults.b.end.link, UID_A);
    CHECK_EVENTUALLY(scene_dropped(&faults.b, TROUPE_DROP_LINK_LOST) == 1 ||
                         atomic_load(&stream.ledger.total) == 1,
                     PAIR_WAIT_MS);
    atomic_store(&faults.to_b.is_held, false);
    STAGE_QUIET(&faults.b.stage);
    faults_close(&faults);
}

static void a_peer_that_hangs_up_at_once_is_dialled_ever_less_often(void)
{
    static proxy_t proxy;
    proxy_open(&proxy);
    atomic_store(&proxy.is_refusing, true);
    static pair_end_t a;
    pair_open(&a, UID_A);
    CHECK_OK(trp_link_dial(a.link, proxy.address, 0));
    CHECK_EVENTUALLY(atomic_load(&proxy.accepted) >= 2, PAIR_WAIT_MS);
    (void)CHECK_WAIT(false, 2000);
    CHECK_LT_U64(atomic_load(&proxy.accepted), 20);
    CHECK_EQ_U64(pair_events(&a, TRP_LINK_EVENT_FAILED), 1);
    trp_link_destroy(&a.link);
    proxy_end(&proxy);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_broken_connection_neither_loses_nor_doubles),
    CHECK_CASE(a_held_connection_stalls_and_goes_on),
    CHECK_CASE(senders_are_parked_before_anything_is_dropped),
    CHECK_CASE(what_a_vanished_peer_did_not_take_is_counted_as_lost),
    CHECK_CASE(a_flood_of_watches_does_not_end_the_session),
    CHECK_CASE(large_bodies_do_not_delay_the_control_lane),
    CHECK_CASE(large_bodies_survive_a_broken_connection_in_order),
    CHECK_CASE(a_large_body_of_a_vanished_peer_is_counted_as_lost),
    CHECK_CASE(a_peer_that_hangs_up_at_once_is_dialled_ever_less_often),
};

CHECK_MAIN("link.faults", cases)
