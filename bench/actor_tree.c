/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The tree: an actor spawns ten children, these ten each, until there are a million leaves. A leaf
 * sends its ordinal to its parent, a parent the sum of its children; each stops then. The root's sum
 * proves that every leaf was there. */

#include <string.h>

#include "actor_cases.h"
#include "clock.h"
#include "measure.h"
#include "node.h"

#define TREE_FANOUT 10u
#define TREE_LEAVES 1000000u
#define TREE_SUM ((uint64_t)TREE_LEAVES * (TREE_LEAVES - 1) / 2)

typedef struct branch_args {
    const bench_node_t *node;
    uint32_t leaves; /* Below this one. */
    uint32_t first;  /* Ordinal of the first of them. */
    bool spread;     /* Every actor with default placement, not just the root's children. */
} branch_args_t;

typedef struct branch {
    branch_args_t is;
    troupe_ref_t to; /* Who gets the sum. */
    uint64_t sum;
    uint32_t waiting;
} branch_t;

static const troupe_behavior_t branch_behavior;

static void branch_tell_sum(troupe_actor_t *self, branch_t *branch, uint64_t sum)
{
    const bench_message_t body = {sum, 0, 0, 0};
    bench_must(troupe_tell(self, branch->to, branch->is.node->message, &body, sizeof(body)),
               "send a sum");
    troupe_stop(self);
}

static void branch_spawn(troupe_actor_t *self, branch_t *branch, uint32_t place)
{
    const uint32_t leaves = branch->is.leaves / TREE_FANOUT;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    branch_args_t args = branch->is;
    troupe_ref_t child;
    options.place = place;
    options.args = &args;
    options.args_size = sizeof(args);
    args.leaves = leaves;
    branch->waiting = TREE_FANOUT;
    for (uint32_t i = 0; i < TREE_FANOUT; i++) {
        args.first = branch->is.first + i * leaves;
        bench_must(troupe_spawn(self, &branch_behavior, &options, &child), "spawn a branch");
    }
}

static troupe_err_t branch_init(troupe_actor_t *self, void *state, const void *args)
{
    branch_t *branch = state;
    memcpy(&branch->is, args, sizeof(branch->is));
    branch->to = troupe_parent(self);
    if (branch->is.leaves == 1) {
        branch_tell_sum(self, branch, branch->is.first);
    } else {
        branch_spawn(self, branch, branch->is.spread ? TROUPE_PLACE_DEFAULT : TROUPE_PLACE_SAME);
    }
    return TROUPE_OK;
}

static troupe_err_t branch_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    branch_t *branch = state;
    bench_message_t body;
    memcpy(&body, message->body, sizeof(body));
    branch->sum += body.sequence;
    if (--branch->waiting == 0) {
        branch_tell_sum(self, branch, branch->sum);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t branch_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "branch",
    .state_size = sizeof(branch_t),
    .init = branch_init,
    .receive = branch_receive,
};

/* The root lives from run to run; GO makes it plant a tree. */
static troupe_err_t root_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((branch_t *)state)->is, args, sizeof(branch_args_t));
    return TROUPE_OK;
}

static troupe_err_t root_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    branch_t *root = state;
    bench_message_t body;
    if (message->type.id == root->is.node->order.id) {
        root->to = message->sender;
        root->sum = 0;
        branch_spawn(self, root, TROUPE_PLACE_DEFAULT);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    root->sum += body.sequence;
    if (--root->waiting == 0) {
        bench_order_t done = {0};
        done.op = BENCH_OP_DONE;
        done.lost = root->sum != TREE_SUM;
        done.time_ns = bench_clock_now();
        bench_send_order(self, root->is.node, root->to, &done);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t root_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "root",
    .state_size = sizeof(branch_t),
    .init = root_init,
    .receive = root_receive,
};

typedef struct tree {
    bench_node_t node;
    troupe_ref_t root;
} tree_t;

static bool tree_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    tree_t *tree = context;
    const uint64_t start = bench_clock_now();
    bench_tally_t tally;
    (void)messages;
    if (!bench_node_order_op(&tree->node, tree->root, BENCH_OP_GO, 1) ||
        !bench_node_collect(&tree->node, BENCH_OP_DONE, 1, &tally)) {
        return false;
    }
    ret_sample->messages = TREE_LEAVES;
    ret_sample->elapsed_ns = tally.end_ns - start;
    ret_sample->lost = tally.lost;
    bench_sample_set(ret_sample, (double)ret_sample->elapsed_ns / (double)BENCH_NS_PER_MS);
    return true;
}

static bool tree_measure(bench_context_t *context, const char *name, bool spread)
{
    tree_t tree = {0};
    const bench_plan_t plan = {
        .run = tree_run, .context = &tree, .messages_start = 1, .fixed = true};
    bench_row_t *row = bench_report_add(context->report, "actor", name, "ms");
    branch_args_t args = {&tree.node, TREE_LEAVES, 0, spread};
    bool ok;
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &tree.node)) {
        return false;
    }
    bench_params_count(&row->params, "leaves", TREE_LEAVES);
    bench_params_count(&row->params, "fanout", TREE_FANOUT);
    bench_params_count(&row->params, "dispatchers", tree.node.dispatchers);
    ok = bench_node_spawn(&tree.node, &root_behavior, TROUPE_PLACE(0), &args, sizeof(args),
                          &tree.root) &&
         bench_measure(context, &plan, row);
    bench_node_close(&tree.node);
    return ok;
}

bool bench_actor_tree(bench_context_t *context)
{
    return tree_measure(context, "tree", false);
}

bool bench_actor_tree_default(bench_context_t *context)
{
    return tree_measure(context, "tree-default", true);
}
