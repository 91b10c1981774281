/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One node of the pub/sub stress. */

#include "pubsub_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "host.h"
#include "pubsub_actors.h"
#include "say.h"
#include "settings.h"

#define PLACE_UP_TIMEOUT_MS 30000

typedef struct place_subscriber {
    troupe_ref_t ref;
    bench_histogram_t histogram;
} place_subscriber_t;

struct bench_place {
    bench_place_setup_t setup;
    bench_node_t node;
    place_subscriber_t *subscribers; /* Of this place, subscribers_len of them. */
    troupe_ref_t *publishers;
    uint64_t subscribers_len, publishers_len;
    bool probing; /* Between PROBE and WAIT: subscribers are DONE in ping-pong too. */
};

bench_place_t *bench_place_create(void)
{
    return calloc(1, sizeof(bench_place_t));
}

void bench_place_destroy(bench_place_t **place)
{
    if (*place == NULL) {
        return;
    }
    bench_node_close(&(*place)->node);
    free((*place)->subscribers);
    free((*place)->publishers);
    free(*place);
    *place = NULL;
}

bench_node_t *bench_place_node(bench_place_t *place)
{
    return &place->node;
}

/* Clients' publishers are dealt out to the nodes in turn. */
static bool place_has_publisher(const bench_place_t *place, uint64_t client)
{
    return client % place->setup.nodes == place->setup.index;
}

static bool place_has_subscriber(const bench_place_t *place, uint64_t client)
{
    const bench_place_setup_t *setup = &place->setup;
    if (setup->shape == BENCH_SHAPE_NODE || setup->shape == BENCH_SHAPE_BROADCAST) {
        return true;
    }
    return (client + 1) % setup->nodes == setup->index; /* Never its publisher's node. */
}

static uint32_t place_of_subscriber(const bench_place_t *place, uint64_t client)
{
    if (place->setup.placement == BENCH_PLACEMENT_DEFAULT) {
        return TROUPE_PLACE_DEFAULT;
    }
    return TROUPE_PLACE((uint32_t)(client % place->node.dispatchers));
}

static uint32_t place_of_publisher(const bench_place_t *place, uint64_t client)
{
    const uint64_t offset = place->setup.placement == BENCH_PLACEMENT_CROSS ? 1 : 0;
    return place_of_subscriber(place, client + offset);
}

static void place_topic_name(uint64_t client, char ret_name[BENCH_TOPIC_SIZE_MAX])
{
    (void)snprintf(ret_name, BENCH_TOPIC_SIZE_MAX, "client-%llu", (unsigned long long)client);
}

static bool place_open_topic(bench_place_t *place, uint64_t client, troupe_topic_t *ret_topic)
{
    char name[BENCH_TOPIC_SIZE_MAX], full[BENCH_TOPIC_SIZE_MAX * 2];
    size_t size;
    troupe_err_t err;
    place_topic_name(client, name);
    size = bench_topic_name(place->setup.by, name, full);
    err = troupe_topic_open(place->node.node, full, size, NULL, ret_topic);
    if (err != TROUPE_OK) {
        bench_complain("topic %s: %s", full, troupe_err_text(err));
    }
    return err == TROUPE_OK;
}

static bool place_open(bench_place_t *place, const bench_place_order_t *order,
                       bench_place_answer_t *answer)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    const char *seeds[1] = {order->seed};
    troupe_err_t err;
    place->setup = order->setup;
    if (place->setup.nodes > 1) {
        options.cluster_name = "bench";
        options.bind = "127.0.0.1:0";
        options.seeds.items = seeds;
        options.seeds.len = order->seed[0] != '\0' ? 1 : 0;
    }
    if (!bench_node_open(&options, place->setup.dispatchers, &place->node)) {
        return false;
    }
    err = troupe_node_wait_up(place->node.node, PLACE_UP_TIMEOUT_MS);
    if (err != TROUPE_OK) {
        bench_complain("node %u did not come up: %s", place->setup.index, troupe_err_text(err));
        return false;
    }
    (void)snprintf(answer->address, sizeof(answer->address), "%s",
                   troupe_node_address(place->node.node));
    return true;
}

static bool place_subscribe_one(bench_place_t *place, uint64_t client)
{
    place_subscriber_t *subscriber = &place->subscribers[place->subscribers_len];
    bench_subscriber_args_t args;
    memset(&args, 0, sizeof(args));
    args.node = &place->node;
    args.histogram = &subscriber->histogram;
    args.boss = troupe_inbox_ref(place->node.inbox);
    args.cluster = place->setup.nodes > 1;
    args.answers = place->setup.load == BENCH_LOAD_PINGPONG;
    if (!place_open_topic(place, client, &args.topic) ||
        !bench_node_spawn(&place->node, &bench_subscriber_behavior,
                          place_of_subscriber(place, client), &args, sizeof(args),
                          &subscriber->ref)) {
        return false;
    }
    place->subscribers_len++;
    return true;
}

static bool place_subscribe(bench_place_t *place)
{
    place->subscribers = calloc(place->setup.clients, sizeof(*place->subscribers));
    for (uint64_t i = 0; place->subscribers != NULL && i < place->setup.clients; i++) {
        if (place_has_subscriber(place, i) && !place_subscribe_one(place, i)) {
            return false;
        }
    }
    return place->subscribers != NULL &&
           bench_node_collect(&place->node, BENCH_OP_READY, place->subscribers_len, NULL);
}

static bool place_publisher_one(bench_place_t *place, uint64_t client)
{
    bench_publisher_args_t args;
    memset(&args, 0, sizeof(args));
    args.node = &place->node;
    args.by = place->setup.by;
    args.batch = BENCH_BATCH;
    args.pingpong = place->setup.load == BENCH_LOAD_PINGPONG;
    place_topic_name(client, args.name);
    if (!place_open_topic(place, client, &args.topic) ||
        !bench_node_spawn(&place->node, &bench_publisher_behavior,
                          place_of_publisher(place, client), &args, sizeof(args),
                          &place->publishers[place->publishers_len])) {
        return false;
    }
    place->publishers_len++;
    return true;
}

static bool place_publishers(bench_place_t *place)
{
    place->publishers = calloc(place->setup.clients, sizeof(*place->publishers));
    for (uint64_t i = 0; place->publishers != NULL && i < place->setup.clients; i++) {
        if (place_has_publisher(place, i) && !place_publisher_one(place, i)) {
            return false;
        }
    }
    return place->publishers != NULL;
}

static bool place_order_publishers(bench_place_t *place, bench_op_t op, uint64_t count)
{
    for (uint64_t i = 0; i < place->publishers_len; i++) {
        if (!bench_node_order_op(&place->node, place->publishers[i], op, count)) {
            return false;
        }
    }
    return true;
}

static bool place_arm(bench_place_t *place, uint64_t count)
{
    place->probing = false;
    for (uint64_t i = 0; i < place->subscribers_len; i++) {
        bench_histogram_init(&place->subscribers[i].histogram);
        if (!bench_node_order_op(&place->node, place->subscribers[i].ref, BENCH_OP_ARM, count)) {
            return false;
        }
    }
    return place_order_publishers(place, BENCH_OP_ARM, 0) &&
           bench_node_collect(&place->node, BENCH_OP_READY,
                              place->subscribers_len + place->publishers_len, NULL);
}

/* One message every pace_ns, from the publishers in turn. */
static bool place_probe(bench_place_t *place, const bench_place_order_t *order)
{
    const uint64_t probes = order->count * place->publishers_len;
    uint64_t when = bench_clock_now();
    place->probing = true;
    for (uint64_t i = 0; i < probes; i++) {
        when += order->pace_ns;
        bench_clock_sleep_until(when);
        if (!bench_node_order_op(&place->node, place->publishers[i % place->publishers_len],
                                 BENCH_OP_PROBE, 0)) {
            return false;
        }
    }
    return true;
}

static bool place_wait(bench_place_t *place, bench_place_answer_t *answer)
{
    const bool pingpong = place->setup.load == BENCH_LOAD_PINGPONG && !place->probing;
    if (!bench_node_collect(&place->node, BENCH_OP_DONE,
                            pingpong ? place->publishers_len : place->subscribers_len,
                            &answer->tally)) {
        return false;
    }
    for (uint64_t i = 0; i < place->subscribers_len; i++) {
        bench_histogram_merge(&answer->histogram, &place->subscribers[i].histogram);
    }
    return true;
}

static bool place_do(bench_place_t *place, bench_place_tag_t tag, const bench_place_order_t *order,
                     bench_place_answer_t *answer)
{
    switch (tag) {
    case BENCH_PLACE_OPEN:
        return place_open(place, order, answer);
    case BENCH_PLACE_SUBSCRIBE:
        return place_subscribe(place);
    case BENCH_PLACE_PUBLISHERS:
        return place_publishers(place);
    case BENCH_PLACE_ARM:
        return place_arm(place, order->count);
    case BENCH_PLACE_GO:
        return place_order_publishers(place, BENCH_OP_GO, order->count);
    case BENCH_PLACE_PROBE:
        return place_probe(place, order);
    case BENCH_PLACE_WAIT:
        return place_wait(place, answer);
    }
    return false;
}

bool bench_place_obey(bench_place_t *place, bench_place_tag_t tag, const bench_place_order_t *order,
                      bench_place_answer_t *ret_answer)
{
    memset(ret_answer, 0, sizeof(*ret_answer));
    if (!place_do(place, tag, order, ret_answer)) {
        return false;
    }
    ret_answer->counts = bench_counts_now();
    ret_answer->memory_size = bench_host_memory(0);
    ret_answer->threads = bench_host_threads(0);
    return true;
}

int bench_place_worker(int fd)
{
    bench_place_t *place = bench_place_create();
    bench_place_order_t order;
    bench_place_answer_t answer;
    uint32_t tag;
    size_t size;
    bool ok = place != NULL;
    while (ok && bench_worker_receive_any(fd, &tag, &order, sizeof(order), &size)) {
        ok = size == sizeof(order) &&
             bench_place_obey(place, (bench_place_tag_t)tag, &order, &answer) &&
             bench_worker_send(fd, tag, &answer, sizeof(answer));
    }
    bench_place_destroy(&place);
    return ok ? 0 : 1;
}
