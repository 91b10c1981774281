/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The crowd's topics and holders. */

#include "pubsub_crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/timer.h>

#include "clock.h"
#include "say.h"

/* 10 % of 1,000 topics a second are one every 10 ms. */
#define CROWD_CHURN_MS 10
#define CROWD_TIMER_KEY 1

typedef struct holder_args {
    const bench_node_t *node;
    const troupe_topic_t *topics; /* BENCH_CROWD_EACH of them. */
    troupe_ref_t boss;
} holder_args_t;

typedef struct holder {
    holder_args_t is;
    uint32_t acks; /* Subscriptions still to be acknowledged. */
    uint32_t left; /* The topic that churn has left. */
    bool churning;
    uint64_t publishers, lasts, received, lost;
    uint64_t next[BENCH_CROWD_PUBLISHERS_MAX];
} holder_t;

static troupe_err_t holder_init(troupe_actor_t *self, void *state, const void *args)
{
    holder_t *holder = state;
    memcpy(&holder->is, args, sizeof(holder->is));
    holder->acks = BENCH_CROWD_EACH;
    for (uint32_t i = 0; i < BENCH_CROWD_EACH; i++) {
        const troupe_err_t err = troupe_subscribe(self, holder->is.topics[i], NULL);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static void holder_answer(troupe_actor_t *self, const holder_t *holder, bench_op_t op)
{
    bench_order_t answer = {0};
    answer.op = (uint32_t)op;
    answer.count = holder->received;
    answer.lost = holder->lost;
    answer.time_ns = bench_clock_now();
    bench_send_order(self, holder->is.node, holder->is.boss, &answer);
}

static void holder_subscribe(troupe_actor_t *self, const holder_t *holder, uint32_t topic, bool on)
{
    troupe_subscribe_options_t options = TROUPE_SUBSCRIBE_OPTIONS_INIT;
    options.no_ack = true;
    bench_must(on ? troupe_subscribe(self, holder->is.topics[topic], &options)
                  : troupe_unsubscribe(self, holder->is.topics[topic], &options),
               "churn");
}

/* One step: what was left is taken up again, the next one is left. */
static void holder_churn(troupe_actor_t *self, holder_t *holder)
{
    holder_subscribe(self, holder, holder->left, true);
    holder->left = (holder->left + 1) % BENCH_CROWD_EACH;
    holder_subscribe(self, holder, holder->left, false);
}

static void holder_set_churn(troupe_actor_t *self, holder_t *holder, bool on)
{
    bench_order_t more = {0};
    more.op = BENCH_OP_MORE;
    if (on) {
        holder_subscribe(self, holder, holder->left, false);
        bench_must(troupe_timer_every(self, CROWD_TIMER_KEY, CROWD_CHURN_MS, holder->is.node->order,
                                      &more, sizeof(more)),
                   "timer");
    } else if (holder->churning) {
        (void)troupe_timer_cancel(self, CROWD_TIMER_KEY);
        holder_subscribe(self, holder, holder->left, true);
    }
    holder->churning = on;
    holder_answer(self, holder, BENCH_OP_READY);
}

static void holder_obey(troupe_actor_t *self, holder_t *holder, const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_MORE) {
        holder_churn(self, holder);
    } else if (order.op == BENCH_OP_ARM) {
        holder->publishers = order.count;
        holder->lasts = holder->received = holder->lost = 0;
        memset(holder->next, 0, sizeof(holder->next));
        holder_answer(self, holder, BENCH_OP_READY);
    } else {
        holder_set_churn(self, holder, order.op == BENCH_OP_GO);
    }
}

static void holder_acknowledged(troupe_actor_t *self, holder_t *holder,
                                const troupe_message_t *message)
{
    troupe_pubsub_ack_t ack;
    memcpy(&ack, message->body, sizeof(ack));
    bench_must((troupe_err_t)ack.error, "subscribe");
    if (--holder->acks == 0) {
        holder_answer(self, holder, BENCH_OP_READY);
    }
}

static troupe_err_t holder_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    holder_t *holder = state;
    bench_message_t body;
    uint64_t *next;
    if (message->type.id == TROUPE_TYPE_PUBSUB_ACK.id) {
        holder_acknowledged(self, holder, message);
        return TROUPE_OK;
    }
    if (message->type.id != holder->is.node->message.id) {
        holder_obey(self, holder, message);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    next = &holder->next[body.client % BENCH_CROWD_PUBLISHERS_MAX];
    holder->lost += body.sequence != *next;
    *next = body.sequence + 1;
    holder->received++;
    if (body.spare == BENCH_CROWD_LAST && ++holder->lasts == holder->publishers) {
        holder_answer(self, holder, BENCH_OP_DONE);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t holder_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "holder",
    .state_size = sizeof(holder_t),
    .init = holder_init,
    .receive = holder_receive,
};

static bool crowd_open_topics(bench_crowd_t *crowd)
{
    for (uint32_t i = 0; i < BENCH_CROWD_TOPICS; i++) {
        char name[32];
        const int size = snprintf(name, sizeof(name), "crowd-%u", i);
        const troupe_err_t err =
            troupe_topic_open(crowd->node->node, name, (size_t)size, NULL, &crowd->topics[i]);
        if (err != TROUPE_OK) {
            bench_complain("topic %u of the crowd: %s", i, troupe_err_text(err));
            return false;
        }
    }
    return true;
}

static bool crowd_spawn(bench_crowd_t *crowd)
{
    holder_args_t args;
    memset(&args, 0, sizeof(args));
    args.node = crowd->node;
    args.boss = troupe_inbox_ref(crowd->node->inbox);
    for (uint32_t i = 0; i < BENCH_CROWD_HOLDERS; i++) {
        args.topics = &crowd->topics[(size_t)i * BENCH_CROWD_EACH];
        bench_progress("pubsub: crowd of topics, %u of %u", (i + 1) * BENCH_CROWD_EACH,
                       BENCH_CROWD_TOPICS);
        if (!bench_node_spawn(crowd->node, &holder_behavior, TROUPE_PLACE_DEFAULT, &args,
                              sizeof(args), &crowd->holders[i]) ||
            !bench_node_collect(crowd->node, BENCH_OP_READY, 1, NULL)) {
            return false;
        }
    }
    return true;
}

bench_crowd_t *bench_crowd_create(bench_node_t *node)
{
    bench_crowd_t *crowd = calloc(1, sizeof(*crowd));
    if (crowd == NULL) {
        return NULL;
    }
    crowd->node = node;
    if (!crowd_open_topics(crowd) || !crowd_spawn(crowd)) {
        bench_crowd_destroy(&crowd);
    }
    return crowd;
}

void bench_crowd_destroy(bench_crowd_t **crowd)
{
    free(*crowd);
    *crowd = NULL;
}

static bool crowd_order(bench_crowd_t *crowd, bench_op_t op, uint64_t count)
{
    for (uint32_t i = 0; i < BENCH_CROWD_HOLDERS; i++) {
        if (!bench_node_order_op(crowd->node, crowd->holders[i], op, count)) {
            return false;
        }
    }
    return bench_node_collect(crowd->node, BENCH_OP_READY, BENCH_CROWD_HOLDERS, NULL);
}

bool bench_crowd_churn(bench_crowd_t *crowd, bool on)
{
    return crowd_order(crowd, on ? BENCH_OP_GO : BENCH_OP_STOP, 0);
}

bool bench_crowd_arm(bench_crowd_t *crowd, uint64_t publishers)
{
    return crowd_order(crowd, BENCH_OP_ARM, publishers);
}
