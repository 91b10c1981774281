/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The rate of spawning and stopping: a mother keeps some children alive; each is told once, stops by
 * itself, and its end is answered with the next spawn. */

#include <string.h>

#include "actor_cases.h"
#include "clock.h"
#include "measure.h"
#include "node.h"

#define SPAWN_ALIVE 256u /* Children at a time. */

typedef struct mother_args {
    const bench_node_t *node;
    uint32_t place;
} mother_args_t;

typedef struct mother {
    mother_args_t is;
    troupe_ref_t boss;
    uint64_t count, spawned, ended;
} mother_t;

static troupe_err_t child_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    (void)state;
    (void)message;
    troupe_stop(self);
    return TROUPE_OK;
}

static const troupe_behavior_t child_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "child",
    .state_size = 64,
    .receive = child_receive,
};

static troupe_err_t mother_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((mother_t *)state)->is, args, sizeof(mother_args_t));
    return TROUPE_OK;
}

static void mother_spawn(troupe_actor_t *self, mother_t *mother)
{
    const bench_message_t body = {mother->spawned++, 0, 0, 0};
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t child;
    options.place = mother->is.place;
    bench_must(troupe_spawn(self, &child_behavior, &options, &child), "spawn");
    bench_must(troupe_tell(self, child, mother->is.node->message, &body, sizeof(body)),
               "tell the child");
}

static troupe_err_t mother_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    mother_t *mother = state;
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    mother->boss = message->sender;
    mother->count = order.count;
    mother->spawned = mother->ended = 0;
    while (mother->spawned < mother->count && mother->spawned < SPAWN_ALIVE) {
        mother_spawn(self, mother);
    }
    return TROUPE_OK;
}

static troupe_err_t mother_signal(troupe_actor_t *self, void *state, const troupe_signal_t *signal)
{
    mother_t *mother = state;
    if (signal->kind != TROUPE_SIGNAL_CHILD_ENDED) {
        return TROUPE_OK;
    }
    mother->ended++;
    if (mother->spawned < mother->count) {
        mother_spawn(self, mother);
    } else if (mother->ended == mother->count) {
        bench_order_t done = {0};
        done.op = BENCH_OP_DONE;
        done.count = mother->ended;
        done.time_ns = bench_clock_now();
        bench_send_order(self, mother->is.node, mother->boss, &done);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t mother_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "mother",
    .state_size = sizeof(mother_t),
    .init = mother_init,
    .receive = mother_receive,
    .signal = mother_signal,
};

typedef struct spawning {
    bench_node_t node;
    troupe_ref_t mother;
} spawning_t;

static bool spawning_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    spawning_t *spawning = context;
    const bench_allocs_t allocs = bench_alloc_total();
    const uint64_t start = bench_clock_now();
    bench_tally_t tally;
    if (!bench_node_order_op(&spawning->node, spawning->mother, BENCH_OP_GO, messages) ||
        !bench_node_collect(&spawning->node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = tally.count;
    ret_sample->elapsed_ns = tally.end_ns - start;
    bench_sample_allocs(ret_sample, &allocs, tally.count);
    return true;
}

static bool spawning_measure(bench_context_t *context, const char *name, uint32_t place)
{
    spawning_t spawning = {0};
    const bench_plan_t plan = {.run = spawning_run, .context = &spawning, .messages_start = 5000};
    bench_row_t *row = bench_report_add(context->report, "actor", name, "actor/s");
    mother_args_t args = {&spawning.node, place};
    bool ok;
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &spawning.node)) {
        return false;
    }
    bench_params_count(&row->params, "alive", SPAWN_ALIVE);
    bench_params_count(&row->params, "dispatchers", spawning.node.dispatchers);
    ok = bench_node_spawn(&spawning.node, &mother_behavior, TROUPE_PLACE(0), &args, sizeof(args),
                          &spawning.mother) &&
         bench_measure(context, &plan, row);
    bench_node_close(&spawning.node);
    return ok;
}

bool bench_actor_spawn(bench_context_t *context)
{
    return spawning_measure(context, "spawn", TROUPE_PLACE_SAME);
}

bool bench_actor_spawn_default(bench_context_t *context)
{
    return spawning_measure(context, "spawn-default", TROUPE_PLACE_DEFAULT);
}
