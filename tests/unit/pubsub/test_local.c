/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Pub/sub on one node: what subscribers get, in which order, and what is counted. */

#include <stdio.h>
#include <string.h>

#include <troupe/events.h>

#include "town.h"

static town_t town;

static void open_town(void)
{
    town_options_t options = {.nodes = 1, .dispatchers = 2};
    town_open(&town, &options);
}

static void the_acknowledgement_comes_before_the_first_message(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    for (uint32_t i = 0; i < 200; i++) {
        citizen_t *subscriber = town_citizen(&town, 0, i % 2);
        town_call_t call = {.name = "first", .tag = i};
        CHECK_OK(town_do(subscriber, act_subscribe, &call));
        for (uint64_t n = 0; citizen_count(subscriber, GOT_ACK) == 0; n++) {
            town_publish(publisher, "first", n);
        }
        town_publish(publisher, "first", 1000000);
        CHECK_EVENTUALLY(citizen_last(subscriber, GOT_NUMBER).value == 1000000, TOWN_PATIENCE_MS);
        got_t first = citizen_entry(subscriber, 0);
        CHECK_EQ_U64(first.kind, GOT_ACK);
        CHECK_EQ_U64(first.ack.answer, TROUPE_PUBSUB_SUBSCRIBED);
        CHECK_EQ_U64(first.ack.error, TROUPE_OK);
        CHECK_EQ_U64(first.ack.tag, i);
        town_end(&town, subscriber);
    }
    CHECK_EVENTUALLY(town_count_here(&town, 0, "first") == 0, TOWN_PATIENCE_MS);
    town_close(&town);
}

static void every_publish_after_the_acknowledgement_arrives_in_order(void)
{
    open_town();
    citizen_t *publishers[2] = {town_citizen(&town, 0, 0), town_citizen(&town, 0, 1)};
    for (uint32_t p = 0; p < 2; p++) {
        citizen_t *near = town_citizen(&town, 0, 0);
        citizen_t *far = town_citizen(&town, 0, 1);
        town_call_t call = {.name = p == 0 ? "order.0" : "order.1"};
        town_subscribe(near, &call);
        town_subscribe(far, &call);
        for (uint64_t n = 0; n < 1000; n++) {
            town_publish(publishers[p], call.name, n);
        }
        CHECK_EVENTUALLY(citizen_count(near, GOT_NUMBER) == 1000, TOWN_PATIENCE_MS);
        CHECK_EVENTUALLY(citizen_count(far, GOT_NUMBER) == 1000, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(atomic_load(&near->unordered), 0);
        CHECK_EQ_U64(atomic_load(&far->unordered), 0);
        CHECK_EQ_U64(citizen_last(near, GOT_NUMBER).sender.id, publishers[p]->ref.id);
    }
    town_close(&town);
}

static void nothing_arrives_after_unsubscribing(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscriber = town_citizen(&town, 0, 1);
    town_call_t call = {.name = "leaving", .tag = 7};
    town_subscribe(subscriber, &call);
    town_publish(publisher, "leaving", 0);
    CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == 1, TOWN_PATIENCE_MS);
    CHECK_OK(town_do(subscriber, act_unsubscribe, &call));
    for (uint64_t n = 0; n < 100; n++) {
        town_publish(publisher, "leaving", n);
    }
    CHECK_EVENTUALLY(citizen_count(subscriber, GOT_ACK) == 2, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(subscriber, GOT_ACK).ack.answer, TROUPE_PUBSUB_UNSUBSCRIBED);
    CHECK_EQ_U64(citizen_entry(subscriber, 2).kind, GOT_ACK);
    CHECK_EQ_U64(citizen_count(subscriber, GOT_NUMBER), 1);
    CHECK_EVENTUALLY(town_count_here(&town, 0, "leaving") == 0, TOWN_PATIENCE_MS);
    CHECK_OK(town_do(subscriber, act_unsubscribe, &call));
    CHECK_EVENTUALLY(citizen_count(subscriber, GOT_ACK) == 3, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(subscriber, GOT_ACK).ack.error, TROUPE_ENOENT);
    town_close(&town);
}

/* Two actors on different dispatchers come and go; after each acknowledgement a publish must arrive. */
static void a_subscription_is_never_lost_to_one_that_leaves(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *pair[2] = {town_citizen(&town, 0, 0), town_citizen(&town, 0, 1)};
    town_call_t call = {.name = "hammer"};
    uint64_t rounds = check_count(1000, 20000);
    town_subscribe(pair[0], &call);
    for (uint64_t i = 1; i <= rounds; i++) {
        citizen_t *comer = pair[i % 2];
        citizen_t *leaver = pair[(i + 1) % 2];
        CHECK_OK(town_do(comer, act_subscribe, &call));
        CHECK_OK(town_do(leaver, act_unsubscribe, &call));
        REQUIRE(CHECK_EVENTUALLY(
            citizen_last(comer, GOT_ACK).ack.answer == TROUPE_PUBSUB_SUBSCRIBED, TOWN_PATIENCE_MS));
        citizen_clear(leaver);
        town_publish(publisher, "hammer", i);
        REQUIRE(CHECK_EVENTUALLY(citizen_last(comer, GOT_NUMBER).value == i, TOWN_PATIENCE_MS));
        citizen_clear(comer);
    }
    CHECK_EVENTUALLY(town_count_here(&town, 0, "hammer") == 1, TOWN_PATIENCE_MS);
    town_close(&town);
}

static void subscribing_twice_is_subscribing_once_and_answered_twice(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscriber = town_citizen(&town, 0, 1);
    town_call_t call = {.name = "twice"};
    town_subscribe(subscriber, &call);
    town_subscribe(subscriber, &call);
    town_publish(publisher, "twice", 1);
    town_publish(publisher, "twice", 2);
    CHECK_EVENTUALLY(citizen_last(subscriber, GOT_NUMBER).value == 2, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_count(subscriber, GOT_NUMBER), 2);
    CHECK_EQ_U64(town_count_here(&town, 0, "twice"), 1);
    town_close(&town);
}

static void a_publish_to_nobody_is_a_dead_letter_that_names_the_topic(void)
{
    open_town();
    citizen_t *watcher = town_citizen(&town, 0, 1);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    CHECK_OK(town_do(watcher, act_watch_dead_letters, NULL));
    town_publish(publisher, "nobody.here", 1);
    CHECK_EVENTUALLY(citizen_count(watcher, GOT_EVENT) == 1, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_entry(watcher, 0).value, TROUPE_DROP_NO_SUBSCRIBER);
    CHECK_EQ_STR(citizen_entry(watcher, 0).text, "nobody.here");
    town_call_t groups = {.name = "nobody.grouped"};
    CHECK_OK(town_do(publisher, act_publish_to_groups, &groups));
    town_call_t path = {.name = "/user/nobody"};
    CHECK_OK(town_do(publisher, act_send, &path));
    CHECK_OK(town_do(publisher, act_send_all, &path));
    CHECK_EVENTUALLY(citizen_count(watcher, GOT_EVENT) == 4, TOWN_PATIENCE_MS);
    CHECK_EQ_STR(citizen_entry(watcher, 1).text, "nobody.grouped");
    CHECK_EQ_STR(citizen_entry(watcher, 2).text, "/user/nobody");
    CHECK_EQ_STR(citizen_entry(watcher, 3).text, "/user/nobody");
    town_close(&town);
}

static void a_thousand_subscribers_on_two_dispatchers_all_get_it(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    town_call_t call = {.name = "crowd"};
    for (uint32_t i = 0; i < 1000; i++) {
        town_subscribe(town_citizen(&town, 0, i % 2), &call);
    }
    CHECK_EQ_U64(town_count_here(&town, 0, "crowd"), 1000);
    town_publish(publisher, "crowd", 5);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EVENTUALLY(citizen_count(town.citizens[i + 1], GOT_NUMBER) == 1, TOWN_PATIENCE_MS);
    }
    /* All of them end: nobody is listed any more, and later publishes find nobody. */
    for (uint32_t i = 0; i < 1000; i++) {
        troupe_port_kill(town.nodes[0].port, town.citizens[i + 1]->ref);
    }
    CHECK_EVENTUALLY(town_count_here(&town, 0, "crowd") == 0, TOWN_PATIENCE_MS);
    town_close(&town);
}

static void topics_may_have_any_bytes(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscriber = town_citizen(&town, 0, 1);
    static char longest[TROUPE_TOPIC_SIZE_MAX];
    memset(longest, 'x', sizeof(longest));
    const struct {
        const char *bytes;
        size_t size;
    } names[] = {{"a:b", 3}, {"a/b", 3},      {"%2F", 3},      {"?", 1},
                 {" ", 1},   {"\0", 1},       {"a\0b", 3},     {"\xff\xfe", 2},
                 {"*", 1},   {"orders.>", 8}, {"\xc3\xa9", 2}, {longest, sizeof(longest)}};
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(names); i++) {
        town_call_t call = {.name = names[i].bytes, .name_size = names[i].size, .value = i};
        town_subscribe(subscriber, &call);
        CHECK_OK(town_do(publisher, act_publish, &call));
        CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == i + 1, TOWN_PATIENCE_MS);
    }
    for (uint32_t byte = 1; byte < 256; byte++) {
        char name = (char)byte;
        town_call_t call = {.name = &name, .name_size = 1, .value = 1000 + byte};
        town_subscribe(subscriber, &call);
        CHECK_OK(town_do(publisher, act_publish, &call));
    }
    CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == TRP_ARRAY_LEN(names) + 255,
                     TOWN_PATIENCE_MS);
    town_call_t bad = {.name = longest, .name_size = TROUPE_TOPIC_SIZE_MAX + 1};
    CHECK_ERR(town_do(publisher, act_publish, &bad), TROUPE_EINVAL);
    town_close(&town);
}

static void patterns_match_topics_that_come_before_and_after(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *one = town_citizen(&town, 0, 1);
    citizen_t *rest = town_citizen(&town, 0, 0);
    town_publish(publisher, "orders.7.created", 0); /* Known before the patterns are. */
    town_call_t call = {.name = "orders.*.created"};
    CHECK_OK(town_do(one, act_subscribe_pattern, &call));
    town_call_t all = {.name = "orders.>"};
    CHECK_OK(town_do(rest, act_subscribe_pattern, &all));
    CHECK_EVENTUALLY(citizen_count(one, GOT_ACK) == 1, TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY(citizen_count(rest, GOT_ACK) == 1, TOWN_PATIENCE_MS);
    town_publish(publisher, "orders.7.created", 1);
    town_publish(publisher, "orders.8.created", 2);
    town_publish(publisher, "orders.8.deleted", 3);
    town_publish(publisher, "orders", 4);
    town_publish(publisher, "orders.x.y.z", 5);
    CHECK_EVENTUALLY(citizen_last(rest, GOT_NUMBER).value == 5, TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY(citizen_last(one, GOT_NUMBER).value == 2, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_count(one, GOT_NUMBER), 2);
    CHECK_EQ_U64(citizen_count(rest, GOT_NUMBER), 4);
    char name[32];
    size_t size = 0;
    got_t last = citizen_last(one, GOT_NUMBER);
    CHECK_OK(troupe_topic_name(&town.nodes[0].node, last.topic, name, sizeof(name), &size));
    CHECK_EQ_BYTES(name, size, "orders.8.created", 16);
    CHECK_OK(town_do(one, act_unsubscribe_pattern, &call));
    CHECK_EVENTUALLY(citizen_count(one, GOT_ACK) == 2, TOWN_PATIENCE_MS);
    town_publish(publisher, "orders.9.created", 6);
    CHECK_EVENTUALLY(citizen_last(rest, GOT_NUMBER).value == 6, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_count(one, GOT_NUMBER), 2);
    town_call_t bad = {.name = "a.b*"};
    CHECK_ERR(town_do(one, act_subscribe_pattern, &bad), TROUPE_EINVAL);
    town_close(&town);
}

static void one_of_each_group_gets_it(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *members[6];
    for (uint32_t i = 0; i < 6; i++) {
        town_call_t call = {.name = "work", .group = i < 4 ? "red" : "blue"};
        members[i] = town_citizen(&town, 0, i % 2);
        town_subscribe(members[i], &call);
    }
    for (uint64_t n = 0; n < 400; n++) {
        town_call_t call = {.name = "work", .value = n};
        call.routing = n < 200 ? TROUPE_ROUTING_ROUND_ROBIN : TROUPE_ROUTING_RANDOM;
        CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
    }
    uint64_t red = 0;
    uint64_t blue = 0;
    CHECK_EVENTUALLY(
        (red = citizen_count(members[0], GOT_NUMBER) + citizen_count(members[1], GOT_NUMBER) +
               citizen_count(members[2], GOT_NUMBER) + citizen_count(members[3], GOT_NUMBER)) ==
            400,
        TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY((blue = citizen_count(members[4], GOT_NUMBER) +
                             citizen_count(members[5], GOT_NUMBER)) == 400,
                     TOWN_PATIENCE_MS);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_GE_U64(citizen_count(members[i], GOT_NUMBER), 60);
    }
    town_publish(publisher, "work", 1); /* A plain publish is not for groups. */
    for (uint64_t n = 0; n < 50; n++) {
        town_call_t call = {.name = "work", .value = n, .key = 77};
        call.routing = TROUPE_ROUTING_HASH;
        citizen_clear(members[0]);
        CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
    }
    town_close(&town);
}

static void a_key_goes_to_one_member(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *members[4];
    for (uint32_t i = 0; i < 4; i++) {
        town_call_t call = {.name = "keyed", .group = "g"};
        members[i] = town_citizen(&town, 0, i % 2);
        town_subscribe(members[i], &call);
    }
    uint64_t used = 0;
    for (uint64_t key = 0; key < 20; key++) {
        for (uint32_t i = 0; i < 4; i++) {
            citizen_clear(members[i]);
        }
        for (uint64_t n = 0; n < 10; n++) {
            town_call_t call = {.name = "keyed", .key = key, .routing = TROUPE_ROUTING_HASH};
            CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
        }
        uint32_t who = 0;
        CHECK_EVENTUALLY(citizen_count(members[who = (who + 1) % 4], GOT_NUMBER) == 10,
                         TOWN_PATIENCE_MS);
        used |= UINT64_C(1) << who;
    }
    CHECK_GE_U64(__builtin_popcountll(used), 2);
    town_close(&town);
}

static void a_member_that_has_died_is_passed_over(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    town_call_t call = {.name = "work", .group = "g"};
    citizen_t *members[3];
    for (uint32_t i = 0; i < 3; i++) {
        members[i] = town_citizen(&town, 0, i % 2);
        town_subscribe(members[i], &call);
    }
    town_end(&town, members[1]);
    citizen_clear(members[0]);
    citizen_clear(members[2]);
    for (uint64_t n = 0; n < 100; n++) {
        CHECK_OK(town_do(publisher, act_publish_to_groups, &call));
    }
    CHECK_EVENTUALLY(
        citizen_count(members[0], GOT_NUMBER) + citizen_count(members[2], GOT_NUMBER) == 100,
        TOWN_PATIENCE_MS);
    town_close(&town);
}

static void large_bodies_are_shared(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscribers[4];
    town_call_t call = {.name = "large"};
    for (uint32_t i = 0; i < 4; i++) {
        subscribers[i] = town_citizen(&town, 0, i % 2);
        town_subscribe(subscribers[i], &call);
    }
    for (size_t size = 8; size <= 100000; size = size * 3 + 1) {
        town_call_t blob = {.name = "large", .value = size, .body_size = size};
        CHECK_OK(town_do(publisher, act_publish_blob, &blob));
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_EVENTUALLY(citizen_last(subscribers[i], GOT_NUMBER).size == size,
                             TOWN_PATIENCE_MS);
            CHECK_EQ_U64(citizen_last(subscribers[i], GOT_NUMBER).value, size);
        }
    }
    town_call_t blob = {.name = "large", .body_size = 100001};
    CHECK_ERR(town_do(publisher, act_publish_blob, &blob), TROUPE_ETOOBIG);
    town_close(&town);
}

static void a_slow_subscriber_meets_its_policy(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *latest = town_citizen(&town, 0, 1);
    citizen_t *oldest = town_citizen(&town, 0, 1);
    citizen_t *newest = town_citizen(&town, 0, 1);
    town_call_t call = {.name = "slow", .slow = TROUPE_SLOW_KEEP_LATEST};
    town_subscribe(latest, &call);
    call.slow = TROUPE_SLOW_DROP_OLDEST;
    call.queue_len_max = 10;
    town_subscribe(oldest, &call);
    call.slow = TROUPE_SLOW_DROP_NEWEST;
    town_subscribe(newest, &call);
    atomic_store(&latest->hold_us, 200000);
    for (uint64_t n = 0; n < 100; n++) {
        town_publish(publisher, "slow", n);
    }
    CHECK_EVENTUALLY(citizen_last(latest, GOT_NUMBER).value == 99, TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY(citizen_last(oldest, GOT_NUMBER).value == 99, TOWN_PATIENCE_MS);
    CHECK_LE_U64(citizen_count(latest, GOT_NUMBER), 50);
    CHECK_LE_U64(citizen_count(oldest, GOT_NUMBER), 99);
    CHECK_LE_U64(citizen_count(newest, GOT_NUMBER), 99);
    CHECK_EQ_U64(citizen_entry(newest, 1).value, 0);
    troupe_stats_t stats = {.size = sizeof(stats)};
    CHECK_OK(troupe_node_stats(&town.nodes[0].node, TOWN_PATIENCE_MS, &stats));
    uint64_t got = citizen_count(latest, GOT_NUMBER) + citizen_count(oldest, GOT_NUMBER) +
                   citizen_count(newest, GOT_NUMBER);
    CHECK_EQ_U64(stats.user.dropped[TROUPE_DROP_SLOW_SUBSCRIBER], 300 - got);
    town_close(&town);
}

static void a_confirmed_publish_tells_how_many_took_it(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    town_call_t call = {.name = "sure", .tag = 1};
    CHECK_OK(town_do(publisher, act_publish_confirmed, &call));
    CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == 1, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.error, TROUPE_ENOSUBSCRIBER);
    for (uint32_t i = 0; i < 5; i++) {
        town_subscribe(town_citizen(&town, 0, i % 2), &call);
    }
    call.tag = 2;
    CHECK_OK(town_do(publisher, act_publish_confirmed, &call));
    CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == 2, TOWN_PATIENCE_MS);
    troupe_published_t published = citizen_last(publisher, GOT_PUBLISHED).published;
    CHECK_EQ_U64(published.error, TROUPE_OK);
    CHECK_EQ_U64(published.tag, 2);
    CHECK_EQ_U64(published.subscribers, 5);
    CHECK_EQ_U64(published.nodes, 1);
    town_call_t grouped = {.name = "sure", .tag = 3, .group = "g"};
    town_subscribe(town_citizen(&town, 0, 0), &grouped);
    town_subscribe(town_citizen(&town, 0, 1), &grouped);
    grouped.flag = true;
    CHECK_OK(town_do(publisher, act_publish_confirmed, &grouped));
    CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == 3, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.subscribers, 1);
    town_close(&town);
}

static void a_confirmed_publish_waits_for_a_subscriber(void)
{
    open_town();
    citizen_t *publisher = town_citizen(&town, 0, 0);
    for (uint32_t i = 0; i < 100; i++) {
        citizen_t *subscriber = town_citizen(&town, 0, i % 2);
        town_call_t call = {.name = "awaited", .wait_ms = 20000, .tag = i, .value = i};
        CHECK_OK(town_do(publisher, act_publish_confirmed, &call));
        town_subscribe(subscriber, &call);
        CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == i + 1, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.subscribers, 1);
        CHECK_EVENTUALLY(citizen_count(subscriber, GOT_NUMBER) == 1, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(citizen_entry(subscriber, 0).kind, GOT_ACK);
        town_end(&town, subscriber);
        CHECK_EVENTUALLY(town_count_here(&town, 0, "awaited") == 0, TOWN_PATIENCE_MS);
    }
    citizen_clear(publisher);
    town_call_t late = {.name = "awaited", .wait_ms = 50, .tag = 9};
    CHECK_OK(town_do(publisher, act_publish_confirmed, &late));
    CHECK_EVENTUALLY(citizen_count(publisher, GOT_PUBLISHED) == 1, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(publisher, GOT_PUBLISHED).published.error, TROUPE_ENOSUBSCRIBER);
    late.wait_ms = 100000;
    troupe_err_t err = TROUPE_OK;
    for (uint32_t i = 0; i < 1000; i++) {
        err = town_do(publisher, act_publish_confirmed, &late);
        CHECK_OK(err);
    }
    CHECK_ERR(town_do(publisher, act_publish_confirmed, &late), TROUPE_EFULL);
    town_close(&town);
}

static void actors_are_reached_by_path(void)
{
    open_town();
    citizen_t *sender = town_citizen(&town, 0, 0);
    citizen_t *target = town_citizen(&town, 0, 1);
    char path[128];
    troupe_event_t event;
    (void)event;
    town_call_t call = {.tag = 4};
    CHECK_OK(town_do(target, act_put, &call));
    CHECK_EVENTUALLY(citizen_count(target, GOT_ACK) == 1, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(target, GOT_ACK).ack.answer, TROUPE_PUBSUB_PUT);
    size_t size = 0;
    troupe_topic_t handle = citizen_last(target, GOT_ACK).ack.topic;
    REQUIRE_OK(troupe_topic_name(&town.nodes[0].node, handle, path, sizeof(path) - 1, &size));
    path[size] = '\0';
    town_call_t send = {.name = path, .value = 11};
    CHECK_OK(town_do(sender, act_send, &send));
    send.flag = true;
    CHECK_OK(town_do(sender, act_send, &send));
    send.flag = false;
    CHECK_OK(town_do(sender, act_send_all, &send));
    CHECK_EVENTUALLY(citizen_count(target, GOT_NUMBER) == 3, TOWN_PATIENCE_MS);
    CHECK_OK(town_do(target, act_remove, &call));
    CHECK_EVENTUALLY(citizen_count(target, GOT_ACK) == 2, TOWN_PATIENCE_MS);
    CHECK_EQ_U64(citizen_last(target, GOT_ACK).ack.answer, TROUPE_PUBSUB_REMOVED);
    CHECK_OK(town_do(sender, act_send, &send));
    CHECK_EQ_U64(citizen_count(target, GOT_NUMBER), 3);
    town_close(&town);
}

static bool count_topic(const troupe_topic_info_t *info, void *context)
{
    uint64_t *sum = context;
    sum[0]++;
    sum[1] += info->subscribers_here;
    return true;
}

static void topics_are_listed_while_they_have_subscribers(void)
{
    open_town();
    citizen_t *subscriber = town_citizen(&town, 0, 0);
    citizen_t *other = town_citizen(&town, 0, 1);
    town_call_t call = {.name = "listed.1"};
    town_subscribe(subscriber, &call);
    town_subscribe(other, &call);
    town_call_t second = {.name = "listed.2", .group = "g"};
    town_subscribe(other, &second);
    uint64_t sum[2] = {0, 0};
    CHECK_OK(troupe_topics_visit(&town.nodes[0].node, count_topic, sum));
    CHECK_EQ_U64(sum[0], 2);
    CHECK_EQ_U64(sum[1], 3);
    town_end(&town, other);
    CHECK_EVENTUALLY(town_count_here(&town, 0, "listed.2") == 0, TOWN_PATIENCE_MS);
    sum[0] = sum[1] = 0;
    CHECK_OK(troupe_topics_visit(&town.nodes[0].node, count_topic, sum));
    CHECK_EQ_U64(sum[0], 1);
    CHECK_EQ_U64(sum[1], 1);
    town_close(&town);
}

static void unused_names_are_reclaimed(void)
{
    town_options_t options = {.nodes = 1, .dispatchers = 2};
    options.pubsub.tombstone_ns = 100 * UINT64_C(1000000);
    town_open(&town, &options);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    char name[32];
    for (uint32_t i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof(name), "passing.%u", i);
        town_publish(publisher, name, i);
    }
    troupe_pubsub_stats_t stats = {.size = sizeof(stats)};
    CHECK_EVENTUALLY(troupe_pubsub_stats(&town.nodes[0].node, &stats) == TROUPE_OK &&
                         stats.names == 0 && stats.topics == 0,
                     TOWN_PATIENCE_MS);
    town_publish(publisher, "passing.1", 1);
    town_close(&town);
}

/* ---- by handle ------------------------------------------------------------------------------- */

typedef struct handle_call {
    troupe_topic_t topic;
    uint64_t value;
    size_t size;
} handle_call_t;

static troupe_err_t act_by_handle(troupe_actor_t *self, citizen_t *citizen, void *argument)
{
    const handle_call_t *call = argument;
    static const uint8_t zeros[70000];
    if (call->size > 0) {
        return troupe_publish(self, call->topic, citizen->home->blob_type, zeros, call->size);
    }
    return troupe_publish(self, call->topic, citizen->home->number_type, &call->value,
                          sizeof(call->value));
}

static troupe_err_t act_shared(troupe_actor_t *self, citizen_t *citizen, void *argument)
{
    const handle_call_t *call = argument;
    troupe_body_t *body = NULL;
    troupe_err_t err = troupe_body_create(self, citizen->home->number_type, &call->value,
                                          sizeof(call->value), &body);
    for (uint32_t i = 0; i < 3 && err == TROUPE_OK; i++) {
        err = troupe_publish_shared(self, call->topic, body);
    }
    troupe_body_unref(&body);
    return err;
}

static troupe_err_t act_shared_none(troupe_actor_t *self, citizen_t *citizen, void *argument)
{
    const handle_call_t *call = argument;
    (void)citizen;
    return troupe_publish_shared(self, call->topic, NULL);
}

static void a_handle_publishes_until_its_topic_is_forgotten(void)
{
    town_options_t options = {.nodes = 1, .dispatchers = 2};
    options.pubsub.tombstone_ns = 100 * UINT64_C(1000000);
    town_open(&town, &options);
    troupe_node_t *node = &town.nodes[0].node;
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *near = town_citizen(&town, 0, 0);
    citizen_t *far = town_citizen(&town, 0, 1);
    handle_call_t call = {.value = 5};
    town_call_t subscribe = {.name = "handle"};
    troupe_topic_options_t dropping = TROUPE_TOPIC_OPTIONS_INIT;
    dropping.slow_node = TROUPE_SLOW_NODE_DROP;
    REQUIRE_OK(troupe_topic_open(node, "handle", 6, &dropping, &call.topic));
    town_subscribe(near, &subscribe);
    CHECK_OK(town_do(publisher, act_by_handle, &call));
    CHECK_EVENTUALLY(citizen_count(near, GOT_NUMBER) == 1, TOWN_PATIENCE_MS);
    town_subscribe(far, &subscribe);
    CHECK_OK(town_do(publisher, act_by_handle, &call));
    call.size = 70000;
    CHECK_OK(town_do(publisher, act_by_handle, &call));
    call.size = 0;
    CHECK_OK(town_do(publisher, act_shared, &call));
    CHECK_EVENTUALLY(citizen_count(near, GOT_NUMBER) == 6, TOWN_PATIENCE_MS);
    CHECK_EVENTUALLY(citizen_count(far, GOT_NUMBER) == 5, TOWN_PATIENCE_MS);
    CHECK_ERR(town_do(publisher, act_shared_none, &call), TROUPE_EINVAL);
    CHECK_OK(town_do(near, act_unsubscribe, &subscribe));
    CHECK_OK(town_do(far, act_unsubscribe, &subscribe));
    troupe_topic_t copy = call.topic;
    troupe_topic_close(node, &copy);
    CHECK_EQ_U64(copy.generation, 0);
    troupe_topic_close(node, &copy);
    char name[16];
    size_t size = 0;
    CHECK_EVENTUALLY(troupe_topic_name(node, call.topic, name, sizeof(name), &size) ==
                         TROUPE_ENOENT,
                     TOWN_PATIENCE_MS);
    CHECK_ERR(town_do(publisher, act_by_handle, &call), TROUPE_ENOENT);
    town_close(&town);
}

static void bad_arguments_are_refused(void)
{
    open_town();
    troupe_node_t *node = &town.nodes[0].node;
    citizen_t *citizen = town_citizen(&town, 0, 0);
    troupe_topic_t topic;
    troupe_topic_info_t info;
    troupe_topic_options_t options = TROUPE_TOPIC_OPTIONS_INIT;
    troupe_pubsub_stats_t stats = {.size = 1};
    char name[2];
    size_t size = 0;
    CHECK_ERR(troupe_topic_open(node, "", 0, NULL, &topic), TROUPE_EINVAL);
    CHECK_ERR(troupe_topic_open(node, NULL, 1, NULL, &topic), TROUPE_EINVAL);
    options.size = 1;
    CHECK_ERR(troupe_topic_open(node, "x", 1, &options, &topic), TROUPE_EINVAL);
    CHECK_ERR(troupe_pubsub_stats(node, &stats), TROUPE_EINVAL);
    REQUIRE_OK(troupe_topic_open(node, "long", 4, NULL, &topic));
    CHECK_ERR(troupe_topic_name(node, topic, name, sizeof(name), &size), TROUPE_ETOOBIG);
    CHECK_EQ_U64(size, 4);
    troupe_topic_close(node, &topic);
    CHECK_ERR(troupe_topic_count(node, topic, &info), TROUPE_ENOENT);
    CHECK_ERR(troupe_topic_count(NULL, topic, &info), TROUPE_ENOTREADY);
    CHECK_ERR(troupe_topics_visit(NULL, NULL, NULL), TROUPE_ENOTREADY);
    handle_call_t none = {.value = 1};
    CHECK_ERR(town_do(citizen, act_by_handle, &none), TROUPE_ENOENT);
    town_call_t call = {.name = "x", .slow = (troupe_slow_t)9};
    CHECK_ERR(town_do(citizen, act_subscribe, &call), TROUPE_EINVAL);
    town_call_t grouped = {.name = "x.*", .group = "g"};
    CHECK_ERR(town_do(citizen, act_subscribe_pattern, &grouped), TROUPE_EINVAL);
    CHECK_ERR(town_do(citizen, act_put, &grouped), TROUPE_EINVAL);
    town_call_t routed = {.name = "x", .routing = (troupe_routing_t)9};
    CHECK_ERR(town_do(citizen, act_publish_to_groups, &routed), TROUPE_EINVAL);
    CHECK_ERR(town_do(citizen, act_publish_confirmed, &routed), TROUPE_EINVAL);
    CHECK_ERR(town_do(citizen, act_send, &routed), TROUPE_EINVAL);
    town_close(&town);
}

static void more_dispatchers_than_fit_into_a_line_all_get_it(void)
{
    town_options_t options = {.nodes = 1, .dispatchers = 10};
    town_open(&town, &options);
    citizen_t *publisher = town_citizen(&town, 0, 0);
    citizen_t *subscribers[10];
    town_call_t call = {.name = "wide"};
    for (uint32_t i = 0; i < 10; i++) {
        subscribers[i] = town_citizen(&town, 0, i);
        town_subscribe(subscribers[i], &call);
    }
    for (uint64_t n = 0; n < 100; n++) {
        town_publish(publisher, "wide", n);
    }
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EVENTUALLY(citizen_count(subscribers[i], GOT_NUMBER) == 100, TOWN_PATIENCE_MS);
        CHECK_EQ_U64(atomic_load(&subscribers[i]->unordered), 0);
    }
    town_close(&town);
}

static const check_case_t cases[] = {
    CHECK_CASE(the_acknowledgement_comes_before_the_first_message),
    CHECK_CASE(every_publish_after_the_acknowledgement_arrives_in_order),
    CHECK_CASE(nothing_arrives_after_unsubscribing),
    CHECK_CASE(a_subscription_is_never_lost_to_one_that_leaves),
    CHECK_CASE(subscribing_twice_is_subscribing_once_and_answered_twice),
    CHECK_CASE(a_publish_to_nobody_is_a_dead_letter_that_names_the_topic),
    CHECK_CASE(a_thousand_subscribers_on_two_dispatchers_all_get_it),
    CHECK_CASE(topics_may_have_any_bytes),
    CHECK_CASE(patterns_match_topics_that_come_before_and_after),
    CHECK_CASE(one_of_each_group_gets_it),
    CHECK_CASE(a_key_goes_to_one_member),
    CHECK_CASE(a_member_that_has_died_is_passed_over),
    CHECK_CASE(large_bodies_are_shared),
    CHECK_CASE(a_slow_subscriber_meets_its_policy),
    CHECK_CASE(a_confirmed_publish_tells_how_many_took_it),
    CHECK_CASE(a_confirmed_publish_waits_for_a_subscriber),
    CHECK_CASE(actors_are_reached_by_path),
    CHECK_CASE(topics_are_listed_while_they_have_subscribers),
    CHECK_CASE(unused_names_are_reclaimed),
    CHECK_CASE(a_handle_publishes_until_its_topic_is_forgotten),
    CHECK_CASE(bad_arguments_are_refused),
    CHECK_CASE(more_dispatchers_than_fit_into_a_line_all_get_it),
};

CHECK_MAIN("pubsub.local", cases)
