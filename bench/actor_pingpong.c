/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Ping-pong: a pinger keeps a window of messages on the way to its ponger, who answers each. Both
 * directions are counted. The answers' sequence numbers prove that none is lost or overtakes. */

#include <stdlib.h>
#include <string.h>

#include "actor_cases.h"
#include "clock.h"
#include "measure.h"
#include "node.h"

#define PINGPONG_MAILBOX_LEN_MAX 2048 /* The published definition of many pairs. */

typedef struct pinger_args {
    const bench_node_t *node;
    troupe_ref_t ponger;
    uint64_t window;
} pinger_args_t;

typedef struct pinger {
    pinger_args_t is;
    troupe_ref_t boss;
    uint64_t count, sent, received, lost;
} pinger_t;

static troupe_err_t pinger_init(troupe_actor_t *self, void *state, const void *args)
{
    pinger_t *pinger = state;
    (void)self;
    memcpy(&pinger->is, args, sizeof(pinger->is));
    return TROUPE_OK;
}

static void pinger_send(troupe_actor_t *self, pinger_t *pinger)
{
    const bench_message_t body = {pinger->sent++, 0, 0, 0};
    bench_must(troupe_tell(self, pinger->is.ponger, pinger->is.node->message, &body, sizeof(body)),
               "ping");
}

static void pinger_go(troupe_actor_t *self, pinger_t *pinger, const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    pinger->boss = message->sender;
    pinger->count = order.count;
    pinger->sent = pinger->received = pinger->lost = 0;
    while (pinger->sent < pinger->count && pinger->sent < pinger->is.window) {
        pinger_send(self, pinger);
    }
}

static void pinger_done(troupe_actor_t *self, const pinger_t *pinger)
{
    bench_order_t done = {0};
    done.op = BENCH_OP_DONE;
    done.count = pinger->received;
    done.lost = pinger->lost;
    done.time_ns = bench_clock_now();
    bench_send_order(self, pinger->is.node, pinger->boss, &done);
}

static troupe_err_t pinger_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    pinger_t *pinger = state;
    bench_message_t body;
    if (message->type.id != pinger->is.node->message.id) {
        pinger_go(self, pinger, message);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    pinger->lost += body.sequence != pinger->received;
    pinger->received++;
    if (pinger->sent < pinger->count) {
        pinger_send(self, pinger);
    } else if (pinger->received == pinger->count) {
        pinger_done(self, pinger);
    }
    return TROUPE_OK;
}

static troupe_err_t ponger_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    (void)state;
    return troupe_reply(self, message->type, message->body, message->size);
}

static const troupe_behavior_t pinger_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "pinger",
    .state_size = sizeof(pinger_t),
    .init = pinger_init,
    .receive = pinger_receive,
};

static const troupe_behavior_t ponger_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "ponger",
    .receive = ponger_receive,
};

typedef struct pairs {
    bench_node_t node;
    troupe_ref_t *pingers;
    uint32_t len;
    uint32_t window;
    bool across; /* Pingers and pongers on different dispatchers. */
} pairs_t;

static bool pairs_spawn_one(pairs_t *pairs, uint32_t index)
{
    const uint32_t dispatchers = pairs->node.dispatchers;
    const uint32_t here = index % dispatchers;
    const uint32_t there = pairs->across ? (here + 1) % dispatchers : here;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    pinger_args_t args = {&pairs->node, {0, 0}, pairs->window};
    options.mailbox_len_max = PINGPONG_MAILBOX_LEN_MAX;
    options.place = TROUPE_PLACE(there);
    if (troupe_node_spawn(pairs->node.node, &ponger_behavior, &options, &args.ponger) !=
        TROUPE_OK) {
        return false;
    }
    options.place = TROUPE_PLACE(here);
    options.args = &args;
    options.args_size = sizeof(args);
    return troupe_node_spawn(pairs->node.node, &pinger_behavior, &options,
                             &pairs->pingers[index]) == TROUPE_OK;
}

static bool pairs_spawn(pairs_t *pairs)
{
    pairs->pingers = calloc(pairs->len, sizeof(*pairs->pingers));
    for (uint32_t i = 0; pairs->pingers != NULL && i < pairs->len; i++) {
        if (!pairs_spawn_one(pairs, i)) {
            return false;
        }
    }
    return pairs->pingers != NULL;
}

static bool pairs_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    pairs_t *pairs = context;
    const uint64_t count = messages / 2 / pairs->len + 1;
    const bench_allocs_t allocs = bench_alloc_total();
    const uint64_t start = bench_clock_now();
    bench_tally_t tally;
    for (uint32_t i = 0; i < pairs->len; i++) {
        if (!bench_node_order_op(&pairs->node, pairs->pingers[i], BENCH_OP_GO, count)) {
            return false;
        }
    }
    if (!bench_node_collect(&pairs->node, BENCH_OP_DONE, pairs->len, &tally)) {
        return false;
    }
    ret_sample->messages = 2 * tally.count;
    ret_sample->elapsed_ns = tally.end_ns - start;
    ret_sample->lost = tally.lost;
    bench_sample_allocs(ret_sample, &allocs, ret_sample->messages);
    return true;
}

static bool pairs_measure(bench_context_t *context, const char *name, uint32_t len, uint32_t window,
                          bool across)
{
    pairs_t pairs = {.len = len, .window = window, .across = across};
    const bench_plan_t plan = {.run = pairs_run, .context = &pairs, .messages_start = 20000};
    bench_row_t *row = bench_report_add(context->report, "actor", name, "msg/s");
    bool ok;
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &pairs.node)) {
        return false;
    }
    bench_params_count(&row->params, "pairs", len);
    bench_params_count(&row->params, "window", window);
    bench_params_count(&row->params, "dispatchers", pairs.node.dispatchers);
    ok = pairs_spawn(&pairs) && bench_measure(context, &plan, row);
    bench_node_close(&pairs.node);
    free(pairs.pingers);
    return ok;
}

bool bench_actor_pingpong(bench_context_t *context)
{
    return pairs_measure(context, "pingpong", 1, 1000, false);
}

bool bench_actor_pingpong_one(bench_context_t *context)
{
    return pairs_measure(context, "pingpong-one", 1, 1, false);
}

bool bench_actor_pingpong_across(bench_context_t *context)
{
    return pairs_measure(context, "pingpong-across", 1, 1000, true);
}

bool bench_actor_pingpong_across_one(bench_context_t *context)
{
    return pairs_measure(context, "pingpong-across-one", 1, 1, true);
}

bool bench_actor_pairs(bench_context_t *context)
{
    return pairs_measure(context, "pairs", 348, 1000, true);
}
