/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Asks: 32 targets, and for each of them 1,024 askers that ask again as soon as they are answered,
 * with a time-out of 3 s. A leader on the askers' dispatcher starts them and hears when each is done,
 * so that the main thread doesn't take part. */

#include <string.h>

#include <troupe/ask.h>

#include "actor_cases.h"
#include "clock.h"
#include "measure.h"
#include "node.h"

#define ASK_TARGETS 32u
#define ASK_ASKERS 1024u /* A target. */
#define ASK_TIMEOUT_MS 3000u
#define ASK_LEN (ASK_TARGETS * ASK_ASKERS)

typedef struct asker_args {
    const bench_node_t *node;
    troupe_ref_t target;
} asker_args_t;

typedef struct asker {
    asker_args_t is;
    uint64_t left, asked, lost;
} asker_t;

static troupe_err_t asker_on_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                   void *context);

static troupe_err_t asker_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((asker_t *)state)->is, args, sizeof(asker_args_t));
    return TROUPE_OK;
}

static void asker_ask(troupe_actor_t *self, asker_t *asker)
{
    const bench_message_t body = {asker->asked, 0, 0, 0};
    bench_must(troupe_ask(self, asker->is.target, asker->is.node->message, &body, sizeof(body),
                          ASK_TIMEOUT_MS, asker_on_reply, NULL),
               "ask");
}

static troupe_err_t asker_on_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                   void *context)
{
    asker_t *asker = state;
    bench_message_t body = {UINT64_MAX, 0, 0, 0};
    (void)context;
    if (reply->error == TROUPE_OK) {
        memcpy(&body, reply->message.body, sizeof(body));
    }
    asker->lost += body.sequence != asker->asked;
    asker->asked++;
    if (asker->asked < asker->left) {
        asker_ask(self, asker);
    } else {
        bench_order_t done = {0};
        done.op = BENCH_OP_DONE;
        done.count = asker->asked;
        done.lost = asker->lost;
        bench_send_order(self, asker->is.node, troupe_parent(self), &done);
    }
    return TROUPE_OK;
}

static troupe_err_t asker_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    asker_t *asker = state;
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    asker->left = order.count;
    asker->asked = asker->lost = 0;
    asker_ask(self, asker);
    return TROUPE_OK;
}

static troupe_err_t target_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    (void)state;
    return troupe_reply(self, message->type, message->body, message->size);
}

static const troupe_behavior_t asker_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "asker",
    .state_size = sizeof(asker_t),
    .init = asker_init,
    .receive = asker_receive,
};

static const troupe_behavior_t target_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "target",
    .receive = target_receive,
};

typedef struct leader_args {
    const bench_node_t *node;
    uint32_t target_place;
} leader_args_t;

typedef struct leader {
    const bench_node_t *node;
    troupe_ref_t boss;
    bench_order_t done;
    uint32_t waiting;
    troupe_ref_t askers[ASK_LEN];
} leader_t;

static void leader_spawn_askers(troupe_actor_t *self, leader_t *leader, troupe_ref_t target,
                                troupe_ref_t *ret_askers)
{
    const asker_args_t args = {leader->node, target};
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.place = TROUPE_PLACE_SAME;
    options.args = &args;
    options.args_size = sizeof(args);
    for (uint32_t i = 0; i < ASK_ASKERS; i++) {
        bench_must(troupe_spawn(self, &asker_behavior, &options, &ret_askers[i]), "spawn an asker");
    }
}

static troupe_err_t leader_init(troupe_actor_t *self, void *state, const void *args)
{
    leader_t *leader = state;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    leader_args_t given;
    memcpy(&given, args, sizeof(given));
    leader->node = given.node;
    options.place = given.target_place;
    for (uint32_t i = 0; i < ASK_TARGETS; i++) {
        troupe_ref_t target;
        bench_must(troupe_spawn(self, &target_behavior, &options, &target), "spawn a target");
        leader_spawn_askers(self, leader, target, &leader->askers[i * ASK_ASKERS]);
    }
    return TROUPE_OK;
}

static void leader_go(troupe_actor_t *self, leader_t *leader, const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    memset(&leader->done, 0, sizeof(leader->done));
    leader->done.op = BENCH_OP_DONE;
    leader->boss = message->sender;
    leader->waiting = ASK_LEN;
    for (uint32_t i = 0; i < ASK_LEN; i++) {
        bench_send_order(self, leader->node, leader->askers[i], &order);
    }
}

static troupe_err_t leader_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    leader_t *leader = state;
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_GO) {
        leader_go(self, leader, message);
        return TROUPE_OK;
    }
    leader->done.count += order.count;
    leader->done.lost += order.lost;
    if (--leader->waiting == 0) {
        leader->done.time_ns = bench_clock_now();
        bench_send_order(self, leader->node, leader->boss, &leader->done);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t leader_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "ask-leader",
    .state_size = sizeof(leader_t),
    .init = leader_init,
    .receive = leader_receive,
};

typedef struct asking {
    bench_node_t node;
    troupe_ref_t leader;
} asking_t;

static bool asking_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    asking_t *asking = context;
    const bench_allocs_t allocs = bench_alloc_total();
    const uint64_t start = bench_clock_now();
    bench_tally_t tally;
    if (!bench_node_order_op(&asking->node, asking->leader, BENCH_OP_GO, messages / ASK_LEN + 1) ||
        !bench_node_collect(&asking->node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = tally.count;
    ret_sample->elapsed_ns = tally.end_ns - start;
    ret_sample->lost = tally.lost;
    bench_sample_allocs(ret_sample, &allocs, tally.count);
    return true;
}

static bool asking_measure(bench_context_t *context, const char *name, uint32_t target_dispatcher)
{
    asking_t asking = {0};
    const bench_plan_t plan = {
        .run = asking_run, .context = &asking, .messages_start = 4 * ASK_LEN};
    bench_row_t *row = bench_report_add(context->report, "actor", name, "ask/s");
    leader_args_t args;
    bool ok;
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &asking.node)) {
        return false;
    }
    args.node = &asking.node;
    args.target_place = TROUPE_PLACE(target_dispatcher % asking.node.dispatchers);
    bench_params_count(&row->params, "targets", ASK_TARGETS);
    bench_params_count(&row->params, "askers", ASK_LEN);
    bench_params_count(&row->params, "dispatchers", asking.node.dispatchers);
    ok = bench_node_spawn(&asking.node, &leader_behavior, TROUPE_PLACE(0), &args, sizeof(args),
                          &asking.leader) &&
         bench_measure(context, &plan, row);
    bench_node_close(&asking.node);
    return ok;
}

bool bench_actor_ask(bench_context_t *context)
{
    return asking_measure(context, "ask", 0);
}

bool bench_actor_ask_across(bench_context_t *context)
{
    return asking_measure(context, "ask-across", 1);
}
