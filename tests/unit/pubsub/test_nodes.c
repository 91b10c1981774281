/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Pub/sub between nodes: three nodes in one process, over real links. */

#include <stdio.h>
#include <string.h>

#include "town.h"

static town_t town;

static void open_town(uint32_t nodes)
{
    town_options_t options = {.nodes = nodes, .dispatchers = 2};
    options.pubsub.gossip_interval_ns = 200 * UINT64_C(1000000);
    town_open(&town, &options);
}

static void a_publish_right_after_a_cluster_wide_acknowledgement_arrives(void)
{
    open_town(2);
    citizen_t *publishers[2] = {town_citizen(&town, 0, 0), town_citizen(&town, 0, 1)};
    char name[32];
    uint64_t rounds = check_count(200, 1000);
    for (uint64_t i = 0; i < rounds; i++) {
        citizen_t *subscriber = town_citizen(&town, 1, (uint32_t)(i % 2));
        (void)snprintf(name, sizeof(name), "fresh.%u", (unsigned)(i % 50));
        town_call_t call = {.name = name, .cluster = true};
        town_subscribe(subscriber, &call);
        CHECK_EQ_U64(citizen_last(subscriber, GOT_ACK).ack.error, TROUPE_OK);
        CHECK_EQ_U64(citizen_last(subscriber, GOT_ACK).ack.nodes, 2);
        town_publish(publishers[i / 2 % 2], name, i);
        REQUIRE(CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == 1, TOWN_PATIENCE_MS));
        CHECK_EQ_U64(citizen_last(subscriber, GOT_NUMBER).value, i);
        CHECK_EQ_U64(citizen_last(subscriber, GOT_NUMBER).sender.node, town.nodes[0].uid);
        town_end(&town, subscriber);
    }
    town_close(&town);
}

static void every_node_that_has_subscribers_gets_it_once_and_in_order(void)
{
    open_town(3);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscribers[6];
    town_call_t call = {.name = "everywhere", .cluster = true};
    for (uint32_t i = 0; i < 6; i++) {
        subscribers[i] = town_citizen(&town, i / 2, i % 2);
        town_subscribe(subscribers[i], &call);
    }
    CHECK_EQ_U64(town_count_all(&town, 0, "everywhere"), 6);
    CHECK_EQ_U64(town_count_all(&town, 2, "everywhere"), 6);
    for (uint64_t n = 0; n < 2000; n++) {
        town_publish(publisher, "everywhere", n);
    }
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_EVENTUALLY(citizen_count(subscribers[i], GOT_NUMBER) == 2000, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(atomic_load(&subscribers[i]->unordered), 0);
    }
    town_close(&town);
}

static void bodies_of_all_sizes_cross(void)
{
    open_town(2);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *near = town_citizen(&town, 0, 1);
    citizen_t *far[2] = {town_citizen(&town, 1, 0), town_citizen(&town, 1, 1)};
    town_call_t call = {.name = "sizes", .cluster = true};
    town_subscribe(near, &call);
    town_subscribe(far[0], &call);
    town_subscribe(far[1], &call);
    for (size_t size = 8; size <= 100000; size = size * 3 + 1) {
        town_call_t blob = {.name = "sizes", .value = size, .body_size = size};
        CHECK_OK(town_do(publisher, act_publish_blob, &blob));
        CHECK_EVENTUALLY(citizen_last(near, GOT_NUMBER).size == size, TOWN_PATIENCE_MS);
        CHECK_EVENTUALLY(citizen_last(far[0], GOT_NUMBER).size == size, TOWN_PATIENCE_MS);
        CHECK_EVENTUALLY(citizen_last(far[1], GOT_NUMBER).size == size, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(citizen_last(far[1], GOT_NUMBER).value, size);
    }
    town_close(&town);
}

static void topics_may_have_any_bytes_across_nodes(void)
{
    open_town(2);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscriber = town_citizen(&town, 1, 1);
    static char longest[TROUPE_TOPIC_SIZE_MAX];
    memset(longest, 'x', sizeof(longest));
    for (uint32_t byte = 0; byte < 256; byte++) {
        char name[2] = {(char)byte, 'z'};
        town_call_t call = {.name = name, .name_size = 2, .cluster = true, .value = byte};
        town_subscribe(subscriber, &call);
        CHECK_OK(town_do(publisher, act_publish, &call));
    }
    town_call_t call = {.name = longest, .name_size = sizeof(longest), .cluster = true};
    town_subscribe(subscriber, &call);
    call.value = 256;
    CHECK_OK(town_do(publisher, act_publish, &call));
    CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == 257, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(atomic_load(&subscriber->unordered), 0);
    town_close(&town);
}

static void patterns_reach_across_nodes(void)
{
    open_town(2);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscriber = town_citizen(&town, 1, 1);
    town_publish(publisher, "far.1.x", 0);
    town_call_t call = {.name = "far.*.x", .cluster = true};
    CHECK_OK(town_do(subscriber, act_subscribe_pattern, &call));
    CHECK_EVENTUALLY(citizen_count(subscriber, GOT_ACK) == 1, TOWN_PATIENCE_MS);
    town_publish(publisher, "far.1.x", 1);
    town_publish(publisher, "far.2.x", 2);
    town_publish(publisher, "far.2.y", 3);
    town_publish(publisher, "far.3.x", 4);
    CHECK_EVENTUALLY(citizen_last(subscriber, GOT_NUMBER).value == 4, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_count(subscriber, GOT_NUMBER), 3);
    char name[16];
    size_t size = 0;
    CHECK_OK(troupe_topic_name(&town.nodes[1].node, citizen_last(subscriber, GOT_NUMBER).topic,
                               name, sizeof(name), &size));
    CHECK_EQ_BYTES(name, size, "far.3.x", 7);
    town_close(&town);
}

static uint64_t count_numbers(citizen_t **citizens, uint32_t len)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < len; i++) {
        sum += citizen_count(citizens[i], GOT_NUMBER);
    }
    return sum;
}

static void one_member_of_a_group_gets_it_wherever_it_is(void)
{
    open_town(3);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *members[6];
    town_call_t call = {.name = "work", .group = "g", .cluster = true};
    for (uint32_t i = 0; i < 6; i++) {
        members[i] = town_citizen(&town, i / 2, i % 2);
        town_subscribe(members[i], &call);
    }
    for (uint32_t n = 0; n < 600; n++) {
        call.routing = n < 300 ? TROUPE_ROUTING_RANDOM : TROUPE_ROUTING_ROUND_ROBIN;
        CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
    }
    CHECK_EVENTUALLY(count_numbers(members, 6) == 600, TOWN_PATIENCE_MS);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_GE_U64(citizen_count(members[i], GOT_NUMBER), 50);
    }
    call.routing = TROUPE_ROUTING_HASH;
    for (uint64_t key = 0; key < 10; key++) {
        for (uint32_t i = 0; i < 6; i++) {
            citizen_clear(members[i]);
        }
        call.key = key;
        for (uint32_t n = 0; n < 20; n++) {
            CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
        }
        uint32_t who = 0;
        CHECK_EVENTUALLY(citizen_count(members[who = (who + 1) % 6], GOT_NUMBER) == 20,
                         TOWN_PATIENCE_MS);
    }
    town_close(&town);
}

static void a_member_that_leaves_does_not_take_the_group_with_it(void)
{
    open_town(2);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *members[2] = {town_citizen(&town, 1, 0), town_citizen(&town, 1, 1)};
    town_call_t call = {.name = "work", .group = "g", .cluster = true};
    town_subscribe(members[0], &call);
    town_subscribe(members[1], &call);
    CHECK_OK(town_do(members[0], act_unsubscribe, &call));
    for (uint32_t n = 0; n < 50; n++) {
        CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
    }
    CHECK_EVENTUALLY(citizen_count(members[1], GOT_NUMBER) == 50, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_count(members[0], GOT_NUMBER), 0);
    town_close(&town);
}

static void a_node_that_is_killed_takes_what_it_registered_with_it(void)
{
    open_town(3);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *members[3];
    town_call_t call = {.name = "work", .group = "g", .cluster = true};
    town_call_t plain = {.name = "plain", .cluster = true};
    for (uint32_t i = 0; i < 3; i++) {
        members[i] = town_citizen(&town, i, 1);
        town_subscribe(members[i], &call);
        town_subscribe(members[i], &plain);
    }
    CHECK_EVENTUALLY(town_count_all(&town, 0, "plain") == 3, TOWN_PATIENCE_MS);
    town_kill(&town, 2);
    CHECK_EVENTUALLY(town_count_all(&town, 0, "plain") == 2, TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY(town_count_all(&town, 1, "work") == 2, TOWN_PATIENCE_MS);
    for (uint64_t n = 0; n < 300; n++) {
        call.value = n;
        CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
    }
    CHECK_EVENTUALLY(count_numbers(members, 2) == 300, TOWN_PATIENCE_MS);
    town_close(&town);
}

static void a_confirmed_publish_counts_nodes_and_subscribers(void)
{
    open_town(3);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    town_call_t call = {.name = "sure", .cluster = true};
    for (uint32_t i = 0; i < 5; i++) {
        town_subscribe(town_citizen(&town, 1 + i % 2, i % 2), &call);
    }
    for (uint64_t n = 1; n <= 100; n++) {
        call.tag = n;
        CHECK_OK(town_do(publisher, act_publish_confirmed, &call));
        REQUIRE(CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == n, TOWN_PATIENCE_MS));
        troupe_published_t published = citizen_last(publisher, GOT_PUBLISHED).published;
        CHECK_EQ_U64(published.error, TROUPE_OK);
        CHECK_EQ_U64(published.subscribers, 5);
        CHECK_EQ_U64(published.nodes, 2);
    }
    town_call_t grouped = {.name = "sure", .group = "g", .cluster = true, .flag = true};
    town_subscribe(town_citizen(&town, 2, 0), &grouped);
    citizen_clear(publisher);
    CHECK_OK(town_do(publisher, act_publish_confirmed, &grouped));
    CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == 1, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.subscribers, 1);
    CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.nodes, 1);
    town_close(&town);
}

static void a_confirmed_publish_waits_for_a_subscriber_on_another_node(void)
{
    open_town(2);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    for (uint32_t i = 0; i < 30; i++) {
        citizen_t *subscriber = town_citizen(&town, 1, i % 2);
        town_call_t call = {.name = "awaited", .wait_ms = 20000, .tag = i, .value = i};
        CHECK_OK(town_do(publisher, act_publish_confirmed, &call));
        town_subscribe(subscriber, &call);
        REQUIRE(
            CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == i + 1, TOWN_PATIENCE_MS));
        CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.subscribers, 1);
        CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.error, TROUPE_OK);
        CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == 1, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(citizen_entry(subscriber, 0).kind, GOT_ACK);
        town_end(&town, subscriber);
        CHECK_EVENTUALLY(town_count_all(&town, 0, "awaited") == 0, TOWN_PATIENCE_MS);
    }
    town_close(&town);
}

static void paths_are_reached_on_other_nodes(void)
{
    open_town(3);
    citizen_t *sender = town_citizen(&town, 0, 0);
    citizen_t *targets[2] = {town_citizen(&town, 1, 0), town_citizen(&town, 2, 0)};
    char path[2][128];
    for (uint32_t i = 0; i < 2; i++) {
        town_call_t call = {.cluster = true};
        size_t size = 0;
        CHECK_OK(town_do(targets[i], act_put, &call));
        CHECK_EVENTUALLY(citizen_count(targets[i], GOT_ACK) == 1, TOWN_PATIENCE_MS);
        REQUIRE_OK(troupe_topic_name(&town.nodes[1 + i].node,
                                     citizen_last(targets[i], GOT_ACK).ack.topic, path[i],
                                     sizeof(path[i]) - 1, &size));
        path[i][size] = '\0';
    }
    CHECK_EQ_STR(path[0], path[1]); /* Both are the first of their node. */
    town_call_t send = {.name = path[0], .routing = TROUPE_ROUTING_ROUND_ROBIN};
    for (uint32_t n = 0; n < 10; n++) {
        CHECK_OK(town_do(sender, act_send, &send));
    }
    CHECK_EVENTUALLY(citizen_count(targets[0], GOT_NUMBER) == 5, TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY(citizen_count(targets[1], GOT_NUMBER) == 5, TOWN_PATIENCE_MS);
    CHECK_OK(town_do(sender, act_send_all, &send));
    CHECK_EVENTUALLY(count_numbers(targets, 2) == 12, TOWN_PATIENCE_MS);
    send.flag = true;
    CHECK_OK(town_do(targets[0], act_send, &send)); /* The local one. */
    CHECK_EVENTUALLY(citizen_count(targets[0], GOT_NUMBER) == 7, TOWN_PATIENCE_MS);
    CHECK_OK(town_do(targets[0], act_send_all, &send)); /* All but this node. */
    CHECK_EVENTUALLY(citizen_count(targets[1], GOT_NUMBER) == 7, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_count(targets[0], GOT_NUMBER), 7);
    town_close(&town);
}

static void a_forged_bucket_and_garbage_are_refused_and_counted(void)
{
    open_town(2);
    citizen_t *subscriber = town_citizen(&town, 0, 0);
    town_call_t call = {.name = "mine", .cluster = true};
    town_subscribe(subscriber, &call);
    CHECK_EQ_U64(town_count_all(&town, 1, "mine"), 1);
    /* What comes from a node before it is known as a member is refused and counted, too. */
    troupe_pubsub_stats_t stats = {.size = sizeof(stats)};
    CHECK_EVENTUALLY(troupe_pubsub_stats(&town.nodes[1].node, &stats) == TROUPE_OK &&
                         stats.entries == 1,
                     TOWN_PATIENCE_MS);
    uint64_t before = stats.refused;
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_OK(trp_link_control_send(town.nodes[0].link, town.nodes[1].uid, TRP_SERVICE_PUBSUB,
                                       "\x95\x05garbage", 9));
    }
    CHECK_EVENTUALLY(troupe_pubsub_stats(&town.nodes[1].node, &stats) == TROUPE_OK &&
                         stats.refused >= before + 5,
                     TOWN_PATIENCE_MS);
    CHECK_EQ_U64(town_count_all(&town, 1, "mine"), 1);
    town_close(&town);
}

static void ten_thousand_topics_spread_and_are_idle_afterwards(void)
{
    open_town(2);
    citizen_t *subscriber = town_citizen(&town, 0, 0);
    char name[64];
    uint64_t len = check_count(3000, 10000);
    for (uint64_t i = 0; i < len; i++) {
        (void)snprintf(name, sizeof(name), "many.%u", (unsigned)i);
        town_call_t call = {.name = name};
        CHECK_OK(town_do(subscriber, act_subscribe, &call));
    }
    troupe_pubsub_stats_t stats = {.size = sizeof(stats)};
    CHECK_EVENTUALLY(troupe_pubsub_stats(&town.nodes[1].node, &stats) == TROUPE_OK &&
                         stats.entries == len,
                     TOWN_PATIENCE_MS);
    town_end(&town, subscriber);
    CHECK_EVENTUALLY(troupe_pubsub_stats(&town.nodes[1].node, &stats) == TROUPE_OK &&
                         stats.entries == 0,
                     TOWN_PATIENCE_MS);
    town_close(&town);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_publish_right_after_a_cluster_wide_acknowledgement_arrives),
    CHECK_CASE(every_node_that_has_subscribers_gets_it_once_and_in_order),
    CHECK_CASE(bodies_of_all_sizes_cross),
    CHECK_CASE(topics_may_have_any_bytes_across_nodes),
    CHECK_CASE(patterns_reach_across_nodes),
    CHECK_CASE(one_member_of_a_group_gets_it_wherever_it_is),
    CHECK_CASE(a_member_that_leaves_does_not_take_the_group_with_it),
    CHECK_CASE(a_node_that_is_killed_takes_what_it_registered_with_it),
    CHECK_CASE(a_confirmed_publish_counts_nodes_and_subscribers),
    CHECK_CASE(a_confirmed_publish_waits_for_a_subscriber_on_another_node),
    CHECK_CASE(paths_are_reached_on_other_nodes),
    CHECK_CASE(a_forged_bucket_and_garbage_are_refused_and_counted),
    CHECK_CASE(ten_thousand_topics_spread_and_are_idle_afterwards),
};

CHECK_MAIN("pubsub.nodes", cases)
