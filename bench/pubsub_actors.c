/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publisher and subscriber. */

#include "pubsub_actors.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "settings.h"

typedef struct subscriber {
    bench_subscriber_args_t is;
    uint64_t expected, received, next, lost;
} subscriber_t;

static troupe_err_t subscriber_init(troupe_actor_t *self, void *state, const void *args)
{
    subscriber_t *subscriber = state;
    troupe_subscribe_options_t options = TROUPE_SUBSCRIBE_OPTIONS_INIT;
    memcpy(&subscriber->is, args, sizeof(subscriber->is));
    options.cluster = subscriber->is.cluster;
    return troupe_subscribe(self, subscriber->is.topic, &options);
}

static void subscriber_answer(troupe_actor_t *self, const subscriber_t *subscriber, bench_op_t op)
{
    bench_order_t answer = {0};
    answer.op = (uint32_t)op;
    answer.count = subscriber->received;
    answer.lost = subscriber->lost;
    answer.time_ns = bench_clock_now();
    bench_send_order(self, subscriber->is.node, subscriber->is.boss, &answer);
}

static void subscriber_obey(troupe_actor_t *self, subscriber_t *subscriber,
                            const troupe_message_t *message)
{
    bench_order_t order;
    if (message->type.id == TROUPE_TYPE_PUBSUB_ACK.id) {
        troupe_pubsub_ack_t ack;
        memcpy(&ack, message->body, sizeof(ack));
        bench_must((troupe_err_t)ack.error, "subscribe");
        subscriber_answer(self, subscriber, BENCH_OP_READY);
        return;
    }
    memcpy(&order, message->body, sizeof(order));
    subscriber->expected = order.count;
    subscriber->received = subscriber->next = subscriber->lost = 0;
    subscriber_answer(self, subscriber, BENCH_OP_READY);
}

static troupe_err_t subscriber_receive(troupe_actor_t *self, void *state,
                                       const troupe_message_t *message)
{
    subscriber_t *subscriber = state;
    bench_message_t body;
    if (message->type.id != subscriber->is.node->message.id) {
        subscriber_obey(self, subscriber, message);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    subscriber->lost += body.sequence != subscriber->next;
    subscriber->next = body.sequence + 1;
    if (body.stamp_ns != 0 && subscriber->is.histogram != NULL) {
        bench_histogram_record(subscriber->is.histogram, bench_clock_now() - body.stamp_ns);
    }
    if (++subscriber->received == subscriber->expected) {
        subscriber_answer(self, subscriber, BENCH_OP_DONE);
    }
    if (subscriber->is.answers && body.stamp_ns == 0) {
        return troupe_reply(self, message->type, message->body, message->size);
    }
    return TROUPE_OK;
}

const troupe_behavior_t bench_subscriber_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "subscriber",
    .state_size = sizeof(subscriber_t),
    .init = subscriber_init,
    .receive = subscriber_receive,
};

typedef struct publisher {
    bench_publisher_args_t is;
    troupe_ref_t boss;
    uint64_t left, sequence, answered, lost;
    uint32_t name_size;
} publisher_t;

size_t bench_topic_name(uint32_t by, const char *name, char ret_name[BENCH_TOPIC_SIZE_MAX * 2])
{
    const int size = snprintf(ret_name, BENCH_TOPIC_SIZE_MAX * 2, "%s%s%s",
                              by == BENCH_BY_PATH ? BENCH_TOPIC_PREFIX : "",
                              by == BENCH_BY_PATH ? "/" : "", name);
    return size > 0 ? (size_t)size : 0;
}

static troupe_err_t publisher_init(troupe_actor_t *self, void *state, const void *args)
{
    publisher_t *publisher = state;
    (void)self;
    memcpy(&publisher->is, args, sizeof(publisher->is));
    publisher->name_size = (uint32_t)strlen(publisher->is.name);
    return TROUPE_OK;
}

static troupe_err_t publisher_publish_path(troupe_actor_t *self, const publisher_t *publisher,
                                           const bench_message_t *body)
{
    char path[BENCH_TOPIC_SIZE_MAX * 2];
    const int size = snprintf(path, sizeof(path), "%s/%s", BENCH_TOPIC_PREFIX, publisher->is.name);
    return troupe_publish_name(self, path, (size_t)size, publisher->is.node->message, body,
                               sizeof(*body));
}

static void publisher_publish(troupe_actor_t *self, publisher_t *publisher, uint64_t stamp_ns)
{
    const bench_message_t body = {publisher->sequence++, stamp_ns, 0, 0};
    troupe_err_t err;
    if (publisher->is.by == BENCH_BY_HANDLE) {
        err = troupe_publish(self, publisher->is.topic, publisher->is.node->message, &body,
                             sizeof(body));
    } else if (publisher->is.by == BENCH_BY_NAME) {
        err = troupe_publish_name(self, publisher->is.name, publisher->name_size,
                                  publisher->is.node->message, &body, sizeof(body));
    } else {
        err = publisher_publish_path(self, publisher, &body);
    }
    bench_must(err, "publish");
}

static void publisher_answer(troupe_actor_t *self, const publisher_t *publisher, bench_op_t op)
{
    bench_order_t answer = {0};
    answer.op = (uint32_t)op;
    answer.count = 2 * publisher->answered; /* The publish and its answer. */
    answer.lost = publisher->lost;
    answer.time_ns = bench_clock_now();
    bench_send_order(self, publisher->is.node, publisher->boss, &answer);
}

/* One-way: a batch, then everybody else's turn. */
static void publisher_flood(troupe_actor_t *self, publisher_t *publisher)
{
    bench_order_t more = {0};
    for (uint32_t i = 0; i < publisher->is.batch && publisher->left > 0; i++) {
        publisher->left--;
        publisher_publish(self, publisher, 0);
    }
    if (publisher->left > 0) {
        more.op = BENCH_OP_MORE;
        bench_send_order(self, publisher->is.node, troupe_self(self), &more);
    }
}

static void publisher_go(troupe_actor_t *self, publisher_t *publisher, uint64_t count)
{
    publisher->left = count;
    if (!publisher->is.pingpong) {
        publisher_flood(self, publisher);
        return;
    }
    for (uint32_t i = 0; i < BENCH_PUBSUB_WINDOW && publisher->left > 0; i++) {
        publisher->left--;
        publisher_publish(self, publisher, 0);
    }
}

static void publisher_obey(troupe_actor_t *self, publisher_t *publisher,
                           const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_MORE) {
        publisher_flood(self, publisher);
        return;
    }
    publisher->boss = message->sender;
    if (order.op == BENCH_OP_GO) {
        publisher_go(self, publisher, order.count);
    } else if (order.op == BENCH_OP_PROBE) {
        publisher_publish(self, publisher, bench_clock_now());
    } else {
        publisher->sequence = publisher->answered = publisher->lost = publisher->left = 0;
        publisher_answer(self, publisher, BENCH_OP_READY);
    }
}

static troupe_err_t publisher_receive(troupe_actor_t *self, void *state,
                                      const troupe_message_t *message)
{
    publisher_t *publisher = state;
    bench_message_t body;
    if (message->type.id != publisher->is.node->message.id) {
        publisher_obey(self, publisher, message);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    publisher->lost += body.sequence != publisher->answered;
    publisher->answered++;
    if (publisher->left > 0) {
        publisher->left--;
        publisher_publish(self, publisher, 0);
    } else if (publisher->answered == publisher->sequence) {
        publisher_answer(self, publisher, BENCH_OP_DONE);
    }
    return TROUPE_OK;
}

const troupe_behavior_t bench_publisher_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "publisher",
    .state_size = sizeof(publisher_t),
    .init = publisher_init,
    .receive = publisher_receive,
};
