/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Messages between actors of two nodes: order, counting, what is refused. */

#include "actor/system.h"
#include "scene.h"

#define UID_A UINT64_C(0xa1a1a1a1a1)
#define UID_B UINT64_C(0xb2b2b2b2b2)

typedef struct traffic {
    scene_t a, b;
} traffic_t;

static void traffic_open(traffic_t *traffic)
{
    scene_open(&traffic->a, UID_A);
    scene_open(&traffic->b, UID_B);
    scene_connect(&traffic->a, &traffic->b, NULL);
}

static void traffic_close(traffic_t *traffic)
{
    int64_t before = traffic->a.stage.memory_before;
    STAGE_QUIET(&traffic->a.stage);
    STAGE_QUIET(&traffic->b.stage);
    scene_close(&traffic->a);
    scene_close(&traffic->b);
    CHECK_EQ_I64(trp_memory_live(), before);
}

static void messages_arrive_in_order_for_each_pair(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static probe_t sinks[2], sources[4];
    static scene_ledger_t ledgers[2];
    static scene_plan_t plans[4];
    memset(sinks, 0, sizeof(sinks));
    memset(sources, 0, sizeof(sources));
    memset(ledgers, 0, sizeof(ledgers));
    uint64_t len = check_count(50000, 500000);
    for (uint32_t i = 0; i < 4; i++) {
        troupe_ref_t to = troupe_ref_none();
        if (i < 2) {
            to = scene_receiver(&traffic.b, &sinks[i], &ledgers[i], i);
        } else {
            to = plans[i - 2].to;
        }
        plans[i] = scene_plan(to, i, len, 16 + 8 * i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &sources[i], i % 2);
        stage_post(&traffic.a.stage, from, scene_send_burst, &plans[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EVENTUALLY(atomic_load(&ledgers[i].total) == 2 * len, 60000);
        CHECK_EQ_U64(atomic_load(&ledgers[i].disorder), 0);
    }
    troupe_stats_t stats = stage_stats(&traffic.b.stage);
    CHECK_GE_U64(stats.user.received, 4 * len);
    CHECK_TRUE(stage_is_quiet(&traffic.a.stage, &stats));
    CHECK_GE_U64(stats.user.handed_over, 4 * len);
    CHECK_EQ_U64(stats.user.in_flight, 0);
    traffic_close(&traffic);
}

static troupe_err_t act_answer(troupe_actor_t *self, probe_t *probe,
                               const troupe_message_t *message)
{
    (void)probe;
    return troupe_tell(self, message->sender, message->type, message->body, message->size);
}

typedef struct ask_plan {
    troupe_ref_t to;
    uint32_t timeout_ms;
} ask_plan_t;

static troupe_err_t act_ask(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    const ask_plan_t *plan = argument;
    uint64_t question = 7;
    return troupe_ask(self, plan->to, TROUPE_TYPE_BYTES, &question, sizeof(question),
                      plan->timeout_ms, puppet_reply, NULL);
}

static void an_ask_is_answered_across_nodes(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static probe_t asker, answerer;
    memset(&asker, 0, sizeof(asker));
    memset(&answerer, 0, sizeof(answerer));
    answerer.on_message = act_answer;
    troupe_ref_t to = stage_puppet_at(&traffic.b.stage, &answerer, 1);
    troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &asker, 0);
    ask_plan_t plan = {to, 10000};
    CHECK_OK(stage_do(&traffic.a.stage, from, act_ask, &plan));
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 1, PAIR_WAIT_MS);
    CHECK_EQ_U64(probe_at(&asker, PROBE_REPLY, 0).error, TROUPE_OK);
    CHECK_EQ_U64(probe_at(&asker, PROBE_REPLY, 0).size, 8);
    traffic_close(&traffic);
}

static void an_ask_to_nobody_fails_soon(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static probe_t asker;
    memset(&asker, 0, sizeof(asker));
    troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &asker, 0);
    ask_plan_t nobody = {{UID_B, trp_id_make(0, 777, 5)}, 60000};
    ask_plan_t nowhere = {{0xdead, trp_id_make(0, 777, 5)}, 60000};
    CHECK_OK(stage_do(&traffic.a.stage, from, act_ask, &nobody));
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 1, PAIR_WAIT_MS);
    CHECK_NE_U64(probe_at(&asker, PROBE_REPLY, 0).error, TROUPE_OK);
    CHECK_OK(stage_do(&traffic.a.stage, from, act_ask, &nowhere));
    CHECK_EVENTUALLY(probe_count(&asker, PROBE_REPLY) == 2, PAIR_WAIT_MS);
    CHECK_EQ_U64(probe_at(&asker, PROBE_REPLY, 1).error, TROUPE_ENODE);
    CHECK_EQ_U64(scene_dropped(&traffic.a, TROUPE_DROP_UNKNOWN_NODE), 1);
    traffic_close(&traffic);
}

static troupe_err_t act_watch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    return troupe_watch(self, *(troupe_ref_t *)argument);
}

static void the_end_of_a_watched_actor_is_told_behind_its_mail(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static probe_t watcher, watched;
    memset(&watcher, 0, sizeof(watcher));
    memset(&watched, 0, sizeof(watched));
    troupe_ref_t who = stage_puppet_at(&traffic.b.stage, &watched, 1);
    troupe_ref_t by = stage_puppet_at(&traffic.a.stage, &watcher, 0);
    CHECK_OK(stage_do(&traffic.a.stage, by, act_watch, &who));
    static scene_plan_t plan;
    plan = scene_plan(by, 0, 100, 16);
    stage_post(&traffic.b.stage, who, scene_send_burst, &plan);
    CHECK_EVENTUALLY(atomic_load(&plan.is_done), PAIR_WAIT_MS);
    troupe_port_poison(traffic.b.stage.port, who);
    CHECK_EVENTUALLY(probe_count(&watcher, PROBE_SIGNAL) == 1, PAIR_WAIT_MS);
    CHECK_EQ_U64(probe_count(&watcher, PROBE_MESSAGE), 100);
    probe_entry_t last = probe_at(&watcher, PROBE_SIGNAL, 0);
    CHECK_TRUE(troupe_ref_equal(last.who, who));
    CHECK_EQ_U64(last.value, TROUPE_SIGNAL_TERMINATED);
    CHECK_EQ_U64(probe_entry(&watcher, 101).kind, PROBE_SIGNAL); /* After init and the mail. */
    traffic_close(&traffic);
}

static troupe_err_t act_kill(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    troupe_kill(self, *(troupe_ref_t *)argument);
    return TROUPE_OK;
}

static void an_actor_of_another_node_can_be_killed(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static probe_t killer, victim;
    memset(&killer, 0, sizeof(killer));
    memset(&victim, 0, sizeof(victim));
    troupe_ref_t who = stage_puppet_at(&traffic.b.stage, &victim, 1);
    troupe_ref_t by = stage_puppet_at(&traffic.a.stage, &killer, 0);
    CHECK_OK(stage_do(&traffic.a.stage, by, act_kill, &who));
    CHECK_TRUE(stage_is_gone(&traffic.b.stage, who));
    traffic_close(&traffic);
}

static void a_type_that_the_peer_lacks_is_refused_and_counted(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static probe_t source, sink;
    memset(&source, 0, sizeof(source));
    memset(&sink, 0, sizeof(sink));
    troupe_ref_t to = stage_puppet_at(&traffic.b.stage, &sink, 1);
    troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &source, 0);
    static scene_plan_t plan;
    plan = scene_plan(to, 0, 3, 16);
    plan.type = scene_type(&traffic.a, "late", 1024);
    stage_post(&traffic.a.stage, from, scene_send_burst, &plan);
    CHECK_EVENTUALLY(scene_dropped(&traffic.b, TROUPE_DROP_UNKNOWN_TYPE) == 3, PAIR_WAIT_MS);
    trp_link_peer_info_t info;
    CHECK_OK(trp_link_peer(traffic.b.end.link, UID_A, &info));
    CHECK_EQ_U64(info.unknown_types, 3);
    CHECK_EVENTUALLY(atomic_load(&plan.is_done), PAIR_WAIT_MS);
    /* Known from now on, under another number: two others come first. */
    (void)scene_type(&traffic.b, "other", 1024);
    troupe_type_t type = scene_type(&traffic.b, "late", 1024);
    plan.sent = 0;
    stage_post(&traffic.a.stage, from, scene_send_burst, &plan);
    CHECK_EVENTUALLY(probe_count(&sink, PROBE_MESSAGE) == 3, PAIR_WAIT_MS);
    CHECK_EQ_U64(probe_at(&sink, PROBE_MESSAGE, 0).type, type.id);
    CHECK_NE_U64(type.id, plan.type.id);
    traffic_close(&traffic);
}

static void bodies_of_every_size_arrive_whole(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    static const size_t sizes[] = {16,    17,    24,    100,   2000,  30000,
                                   40000, 65528, 65535, 65536, 65537, 200000};
    static probe_t source, sink;
    memset(&source, 0, sizeof(source));
    memset(&sink, 0, sizeof(sink));
    static scene_ledger_t ledger;
    memset(&ledger, 0, sizeof(ledger));
    troupe_type_t type = scene_type(&traffic.a, "large", 1u << 20);
    (void)scene_type(&traffic.b, "large", 1u << 20);
    troupe_ref_t to = scene_receiver(&traffic.b, &sink, &ledger, 1);
    troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &source, 0);
    static scene_plan_t plans[TRP_ARRAY_LEN(sizes)];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(sizes); i++) {
        plans[i] = scene_plan(to, 0, i + 1, sizes[i]);
        plans[i].sent = i; /* One stream through all sizes, bulk and ordinary. */
        plans[i].type = type;
        stage_post(&traffic.a.stage, from, scene_send_burst, &plans[i]);
        bytes += sizes[i];
    }
    CHECK_EVENTUALLY(atomic_load(&ledger.total) == TRP_ARRAY_LEN(sizes), PAIR_WAIT_MS);
    CHECK_EQ_U64(atomic_load(&ledger.disorder), 0);
    CHECK_EQ_U64(atomic_load(&ledger.bytes), bytes);
    traffic_close(&traffic);
}

static void a_service_reaches_the_system_dispatcher(void)
{
    static traffic_t traffic;
    traffic_open(&traffic);
    CHECK_OK(pair_send(&traffic.a.end, UID_B, 5));
    CHECK_EVENTUALLY(atomic_load(&traffic.b.end.received_sum) == 5, PAIR_WAIT_MS);
    CHECK_EQ_U64(atomic_load(&traffic.b.end.received_uid), UID_A);
    traffic_close(&traffic);
}

static void what_waits_for_a_peer_that_goes_is_counted(void)
{
    static traffic_t traffic;
    scene_open(&traffic.a, UID_A);
    CHECK_OK(trp_link_dial(traffic.a.end.link, "127.0.0.1:1", UID_B));
    static probe_t source;
    memset(&source, 0, sizeof(source));
    troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &source, 0);
    static scene_plan_t plan;
    plan = scene_plan((troupe_ref_t){UID_B, trp_id_make(0, 1, 1)}, 0, 1000, 32);
    stage_post(&traffic.a.stage, from, scene_send_burst, &plan);
    CHECK_EVENTUALLY(atomic_load(&plan.is_done), PAIR_WAIT_MS);
    troupe_stats_t stats;
    CHECK_TRUE(stage_is_quiet(&traffic.a.stage, &stats));
    CHECK_EQ_U64(stats.user.in_flight, 1000);
    trp_link_forget(traffic.a.end.link, UID_B);
    CHECK_EVENTUALLY(scene_dropped(&traffic.a, TROUPE_DROP_NODE_UNREACHABLE) == 1000, PAIR_WAIT_MS);
    CHECK_TRUE(stage_is_quiet(&traffic.a.stage, &stats));
    CHECK_EQ_U64(stats.user.in_flight, 0);
    scene_close(&traffic.a);
}

static void the_queue_to_an_absent_peer_is_bounded(void)
{
    static traffic_t traffic;
    scene_prepare(&traffic.a, UID_A);
    traffic.a.end.options.queue_size_max = 1u << 20;
    scene_start(&traffic.a);
    CHECK_OK(trp_link_dial(traffic.a.end.link, "127.0.0.1:1", UID_B));
    static probe_t source;
    memset(&source, 0, sizeof(source));
    troupe_ref_t from = stage_puppet_at(&traffic.a.stage, &source, 0);
    static scene_plan_t plan;
    plan = scene_plan((troupe_ref_t){UID_B, trp_id_make(0, 1, 1)}, 0, 4096, 1000);
    stage_post(&traffic.a.stage, from, scene_send_burst, &plan);
    CHECK_EVENTUALLY(atomic_load(&plan.is_done), PAIR_WAIT_MS);
    troupe_stats_t stats;
    CHECK_TRUE(stage_is_quiet(&traffic.a.stage, &stats));
    CHECK_LE_U64(stats.user.in_flight, 1200);
    CHECK_EQ_U64(stats.user.in_flight + stats.user.dropped[TROUPE_DROP_LINK_QUEUE_FULL], 4096);
    scene_close(&traffic.a);
}

static const check_case_t cases[] = {
    CHECK_CASE(messages_arrive_in_order_for_each_pair),
    CHECK_CASE(an_ask_is_answered_across_nodes),
    CHECK_CASE(an_ask_to_nobody_fails_soon),
    CHECK_CASE(the_end_of_a_watched_actor_is_told_behind_its_mail),
    CHECK_CASE(an_actor_of_another_node_can_be_killed),
    CHECK_CASE(a_type_that_the_peer_lacks_is_refused_and_counted),
    CHECK_CASE(bodies_of_every_size_arrive_whole),
    CHECK_CASE(a_service_reaches_the_system_dispatcher),
    CHECK_CASE(what_waits_for_a_peer_that_goes_is_counted),
    CHECK_CASE(the_queue_to_an_absent_peer_is_bounded),
};

CHECK_MAIN("link.traffic", cases)
