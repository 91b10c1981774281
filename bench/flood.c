/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The flooder and the sink. */

#include "flood.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define FLOOD_BATCH_SIZE_MAX 65536u /* Bytes a batch: large messages go in smaller batches. */

typedef struct sink {
    bench_sink_args_t is;
    troupe_ref_t boss;
    uint64_t expected, received, lost;
    uint64_t next[BENCH_SINK_SENDERS_MAX];
} sink_t;

static troupe_err_t sink_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((sink_t *)state)->is, args, sizeof(bench_sink_args_t));
    return TROUPE_OK;
}

static void sink_answer(troupe_actor_t *self, const sink_t *sink, bench_op_t op)
{
    bench_order_t answer = {0};
    answer.op = (uint32_t)op;
    answer.count = sink->received;
    answer.lost = sink->lost;
    answer.time_ns = bench_clock_now();
    bench_send_order(self, sink->is.node, sink->boss, &answer);
}

static void sink_arm(troupe_actor_t *self, sink_t *sink, const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    sink->boss = message->sender;
    sink->expected = order.count;
    sink->received = sink->lost = 0;
    memset(sink->next, 0, sizeof(sink->next));
    sink_answer(self, sink, BENCH_OP_READY);
}

static troupe_err_t sink_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    sink_t *sink = state;
    bench_message_t body;
    uint64_t *next;
    if (message->type.id == sink->is.node->order.id) {
        sink_arm(self, sink, message);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    next = &sink->next[body.client % BENCH_SINK_SENDERS_MAX];
    sink->lost += body.sequence != *next;
    *next = body.sequence + 1;
    if (++sink->received == sink->expected) {
        sink_answer(self, sink, BENCH_OP_DONE);
    }
    if (sink->is.credit > 0 && *next % sink->is.credit == 0) {
        const bench_order_t credit = {.op = BENCH_OP_CREDIT, .count = sink->is.credit};
        bench_send_order(self, sink->is.node, message->sender, &credit);
    }
    return TROUPE_OK;
}

const troupe_behavior_t bench_sink_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "sink",
    .state_size = sizeof(sink_t),
    .init = sink_init,
    .receive = sink_receive,
};

typedef struct flooder {
    bench_flooder_args_t is;
    unsigned char *body; /* is.size bytes, begun by a bench_message_t. */
    uint64_t left, sequence, credited;
    uint32_t batch;
    bool has_more; /* A MORE is on its way to itself. */
} flooder_t;

static troupe_err_t flooder_init(troupe_actor_t *self, void *state, const void *args)
{
    flooder_t *flooder = state;
    (void)self;
    memcpy(&flooder->is, args, sizeof(flooder->is));
    flooder->body = calloc(1, flooder->is.size);
    flooder->batch = FLOOD_BATCH_SIZE_MAX / flooder->is.size;
    flooder->batch = flooder->batch > BENCH_BATCH ? BENCH_BATCH : flooder->batch;
    flooder->batch = flooder->batch == 0 ? 1 : flooder->batch;
    return flooder->body != NULL ? TROUPE_OK : TROUPE_ENOMEM;
}

static void flooder_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    (void)self;
    (void)reason;
    free(((flooder_t *)state)->body);
}

static void flooder_send(troupe_actor_t *self, flooder_t *flooder)
{
    const bench_message_t head = {flooder->sequence++, 0, flooder->is.client, 0};
    const void *body = &head;
    if (flooder->is.size > sizeof(head)) {
        memcpy(flooder->body, &head, sizeof(head));
        body = flooder->body;
    }
    bench_must(troupe_tell(self, flooder->is.to, flooder->is.type, body, flooder->is.size),
               "flood");
}

static bool flooder_may_send(const flooder_t *flooder)
{
    return flooder->left > 0 &&
           (flooder->is.window == 0 || flooder->sequence - flooder->credited < flooder->is.window);
}

/* A batch, then everybody else's turn; without credit, the next credit goes on. */
static void flooder_flood(troupe_actor_t *self, flooder_t *flooder)
{
    for (uint32_t i = 0; i < flooder->batch && flooder_may_send(flooder); i++) {
        flooder->left--;
        flooder_send(self, flooder);
    }
    if (flooder_may_send(flooder) && !flooder->has_more) {
        const bench_order_t more = {.op = BENCH_OP_MORE};
        flooder->has_more = true;
        bench_send_order(self, flooder->is.node, troupe_self(self), &more);
    }
}

static troupe_err_t flooder_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    flooder_t *flooder = state;
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_GO) {
        flooder->left = order.count;
        flooder->sequence = flooder->credited = 0;
    } else if (order.op == BENCH_OP_CREDIT) {
        flooder->credited += order.count;
    } else {
        flooder->has_more = false;
    }
    if (!flooder->has_more) {
        flooder_flood(self, flooder);
    }
    return TROUPE_OK;
}

const troupe_behavior_t bench_flooder_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "flooder",
    .state_size = sizeof(flooder_t),
    .init = flooder_init,
    .receive = flooder_receive,
    .stop = flooder_stop,
};
