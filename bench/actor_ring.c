/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The thread ring: 503 actors in a circle, one token that goes round. */

#include <string.h>

#include "actor_cases.h"
#include "clock.h"
#include "measure.h"
#include "node.h"

#define RING_LEN 503u

typedef struct link_args {
    const bench_node_t *node;
} link_args_t;

typedef struct ring_link {
    const bench_node_t *node;
    troupe_ref_t next;
    troupe_ref_t boss; /* Told when the token's hops are used up here. */
} ring_link_t;

static troupe_err_t ring_init(troupe_actor_t *self, void *state, const void *args)
{
    link_args_t given;
    (void)self;
    memcpy(&given, args, sizeof(given));
    ((ring_link_t *)state)->node = given.node;
    return TROUPE_OK;
}

static void ring_obey(troupe_actor_t *self, ring_link_t *link, const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_PEER) {
        link->next = order.peer;
        link->boss = message->sender;
        order.op = BENCH_OP_READY;
        bench_send_order(self, link->node, link->boss, &order);
    } else {
        const bench_message_t token = {order.count, 0, 0, 0};
        bench_must(troupe_tell(self, link->next, link->node->message, &token, sizeof(token)),
                   "send the token");
    }
}

static troupe_err_t ring_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    ring_link_t *link = state;
    bench_message_t token;
    if (message->type.id != link->node->message.id) {
        ring_obey(self, link, message);
        return TROUPE_OK;
    }
    memcpy(&token, message->body, sizeof(token));
    if (--token.sequence == 0) {
        bench_order_t done = {0};
        done.op = BENCH_OP_DONE;
        done.time_ns = bench_clock_now();
        bench_send_order(self, link->node, link->boss, &done);
        return TROUPE_OK;
    }
    return troupe_tell(self, link->next, link->node->message, &token, sizeof(token));
}

static const troupe_behavior_t ring_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "ring",
    .state_size = sizeof(ring_link_t),
    .init = ring_init,
    .receive = ring_receive,
};

typedef struct ring {
    bench_node_t node;
    troupe_ref_t links[RING_LEN];
} ring_t;

static bool ring_spawn(ring_t *ring, uint32_t dispatchers)
{
    const link_args_t args = {&ring->node};
    bench_order_t peer = {0};
    for (uint32_t i = 0; i < RING_LEN; i++) {
        if (!bench_node_spawn(&ring->node, &ring_behavior, TROUPE_PLACE(i % dispatchers), &args,
                              sizeof(args), &ring->links[i])) {
            return false;
        }
    }
    peer.op = BENCH_OP_PEER;
    for (uint32_t i = 0; i < RING_LEN; i++) {
        peer.peer = ring->links[(i + 1) % RING_LEN];
        if (!bench_node_order(&ring->node, ring->links[i], &peer)) {
            return false;
        }
    }
    return bench_node_collect(&ring->node, BENCH_OP_READY, RING_LEN, NULL);
}

static bool ring_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    ring_t *ring = context;
    const bench_allocs_t allocs = bench_alloc_total();
    const uint64_t start = bench_clock_now();
    bench_tally_t tally;
    if (!bench_node_order_op(&ring->node, ring->links[0], BENCH_OP_GO, messages) ||
        !bench_node_collect(&ring->node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = messages;
    ret_sample->elapsed_ns = tally.end_ns - start;
    bench_sample_allocs(ret_sample, &allocs, messages);
    return true;
}

static bool ring_measure(bench_context_t *context, const char *name, bool across)
{
    ring_t ring;
    const bench_plan_t plan = {.run = ring_run, .context = &ring, .messages_start = 5000};
    bench_row_t *row = bench_report_add(context->report, "actor", name, "msg/s");
    bool ok;
    memset(&ring, 0, sizeof(ring));
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &ring.node)) {
        return false;
    }
    bench_params_count(&row->params, "actors", RING_LEN);
    bench_params_count(&row->params, "dispatchers", ring.node.dispatchers);
    ok =
        ring_spawn(&ring, across ? ring.node.dispatchers : 1) && bench_measure(context, &plan, row);
    bench_node_close(&ring.node);
    return ok;
}

bool bench_actor_ring(bench_context_t *context)
{
    return ring_measure(context, "ring", false);
}

bool bench_actor_ring_across(bench_context_t *context)
{
    return ring_measure(context, "ring-across", true);
}
