/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publishing at random over 100,000 topics, from one publisher on each dispatcher. */

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "measure.h"
#include "pubsub_cases.h"
#include "pubsub_crowd.h"
#include "settings.h"

#define RANDOM_BATCH 128u

typedef struct roamer_args {
    const bench_node_t *node;
    const bench_crowd_t *crowd;
    uint64_t client;
} roamer_args_t;

typedef struct roamer {
    roamer_args_t is;
    uint64_t left;
    uint64_t random;                        /* Never 0. */
    uint64_t sequence[BENCH_CROWD_HOLDERS]; /* Next for each holder. */
} roamer_t;

static troupe_err_t roamer_init(troupe_actor_t *self, void *state, const void *args)
{
    roamer_t *roamer = state;
    (void)self;
    memcpy(&roamer->is, args, sizeof(roamer->is));
    roamer->random = 0x9E3779B97F4A7C15ULL * (roamer->is.client + 1);
    return TROUPE_OK;
}

/* Marsaglia's xorshift64: a topic index evenly over all. */
static uint32_t roamer_pick(roamer_t *roamer)
{
    uint64_t x = roamer->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    roamer->random = x;
    return (uint32_t)(((x >> 32) * BENCH_CROWD_TOPICS) >> 32);
}

static void roamer_publish(troupe_actor_t *self, roamer_t *roamer, uint32_t topic, uint64_t mark)
{
    const bench_message_t body = {roamer->sequence[topic / BENCH_CROWD_EACH]++, 0,
                                  roamer->is.client, mark};
    bench_must(troupe_publish(self, roamer->is.crowd->topics[topic], roamer->is.node->message,
                              &body, sizeof(body)),
               "publish at random");
}

static void roamer_finish(troupe_actor_t *self, roamer_t *roamer)
{
    for (uint32_t i = 0; i < BENCH_CROWD_HOLDERS; i++) {
        roamer_publish(self, roamer, i * BENCH_CROWD_EACH, BENCH_CROWD_LAST);
    }
}

static troupe_err_t roamer_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    roamer_t *roamer = state;
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_GO) {
        roamer->left = order.count;
        memset(roamer->sequence, 0, sizeof(roamer->sequence));
    }
    for (uint32_t i = 0; i < RANDOM_BATCH && roamer->left > 0; i++, roamer->left--) {
        roamer_publish(self, roamer, roamer_pick(roamer), 0);
    }
    if (roamer->left == 0) {
        roamer_finish(self, roamer);
        return TROUPE_OK;
    }
    order.op = BENCH_OP_MORE;
    bench_send_order(self, roamer->is.node, troupe_self(self), &order);
    return TROUPE_OK;
}

static const troupe_behavior_t roamer_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "roamer",
    .state_size = sizeof(roamer_t),
    .init = roamer_init,
    .receive = roamer_receive,
};

typedef struct roaming {
    bench_node_t node;
    bench_crowd_t *crowd;
    troupe_ref_t roamers[BENCH_CROWD_PUBLISHERS_MAX];
    uint32_t len;
} roaming_t;

static bool roaming_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    roaming_t *roaming = context;
    bench_allocs_t allocs;
    bench_tally_t tally;
    uint64_t start;
    if (!bench_crowd_arm(roaming->crowd, roaming->len)) {
        return false;
    }
    allocs = bench_alloc_total();
    start = bench_clock_now();
    for (uint32_t i = 0; i < roaming->len; i++) {
        if (!bench_node_order_op(&roaming->node, roaming->roamers[i], BENCH_OP_GO,
                                 messages / roaming->len + 1)) {
            return false;
        }
    }
    if (!bench_node_collect(&roaming->node, BENCH_OP_DONE, BENCH_CROWD_HOLDERS, &tally)) {
        return false;
    }
    ret_sample->messages = tally.count;
    ret_sample->elapsed_ns = tally.end_ns - start;
    ret_sample->lost = tally.lost;
    bench_sample_allocs(ret_sample, &allocs, tally.count);
    return true;
}

static bool roaming_open(const bench_context_t *context, roaming_t *roaming)
{
    if (!bench_node_open(NULL, context->options->dispatchers, &roaming->node)) {
        return false;
    }
    roaming->crowd = bench_crowd_create(&roaming->node);
    if (roaming->crowd == NULL) {
        return false;
    }
    roaming->len = roaming->node.dispatchers;
    for (uint32_t i = 0; i < roaming->len; i++) {
        const roamer_args_t args = {&roaming->node, roaming->crowd, i};
        if (!bench_node_spawn(&roaming->node, &roamer_behavior, TROUPE_PLACE(i), &args,
                              sizeof(args), &roaming->roamers[i])) {
            return false;
        }
    }
    return true;
}

bool bench_pubsub_random(bench_context_t *context)
{
    roaming_t roaming;
    const bench_plan_t plan = {.run = roaming_run, .context = &roaming, .messages_start = 20000};
    bench_row_t *row = bench_report_add(context->report, "pubsub", "random-topics", "msg/s");
    bool ok;
    memset(&roaming, 0, sizeof(roaming));
    if (row == NULL) {
        return false;
    }
    ok = roaming_open(context, &roaming);
    bench_params_count(&row->params, "topics", BENCH_CROWD_TOPICS);
    bench_params_count(&row->params, "publishers", roaming.len);
    ok = ok && bench_measure(context, &plan, row);
    bench_node_close(&roaming.node);
    bench_crowd_destroy(&roaming.crowd);
    return ok;
}
