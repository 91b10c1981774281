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

/* What a parent tells its child, and a child its parent: one message type serves both ways. */
typedef struct branch_order {
    uint64_t sum;             /* Up. */
    const bench_node_t *node; /* Down, from here on. */
    uint32_t leaves;          /* Below the child; 0 on the way up. */
    uint32_t first;           /* Ordinal of the first of them. */
    uint64_t spread; /* Every actor with default placement, not just the root's children. */
} branch_order_t;
TROUPE_TYPE_ASSERT_FIXED(branch_order_t, sizeof(bench_message_t));

typedef struct branch {
    const bench_node_t *node;
    troupe_ref_t to; /* Who gets the sum. */
    uint64_t sum;
    uint32_t waiting;
} branch_t;

static troupe_err_t branch_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message);

static const troupe_behavior_t branch_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "branch",
    .state_size = sizeof(branch_t),
    .receive = branch_receive,
};

static void branch_tell(troupe_actor_t *self, troupe_ref_t to, const branch_order_t *order)
{
    bench_must(troupe_tell(self, to, order->node->message, order, sizeof(*order)), "tell a branch");
}

static void branch_grow(troupe_actor_t *self, branch_t *branch, const branch_order_t *order,
                        uint32_t place)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    branch_order_t child_order = *order;
    troupe_ref_t child;
    options.place = place;
    child_order.leaves = order->leaves / TREE_FANOUT;
    branch->waiting = TREE_FANOUT;
    for (uint32_t i = 0; i < TREE_FANOUT; i++) {
        child_order.first = order->first + i * child_order.leaves;
        bench_must(troupe_spawn(self, &branch_behavior, &options, &child), "spawn a branch");
        branch_tell(self, child, &child_order);
    }
}

static void branch_end(troupe_actor_t *self, const branch_t *branch, uint64_t sum)
{
    const branch_order_t order = {.sum = sum, .node = branch->node};
    branch_tell(self, branch->to, &order);
    troupe_stop(self);
}

static troupe_err_t branch_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    branch_t *branch = state;
    branch_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.leaves == 0) {
        branch->sum += order.sum;
        if (--branch->waiting == 0) {
            branch_end(self, branch, branch->sum);
        }
        return TROUPE_OK;
    }
    branch->node = order.node;
    branch->to = message->sender;
    if (order.leaves == 1) {
        branch_end(self, branch, order.first);
    } else {
        branch_grow(self, branch, &order,
                    order.spread != 0 ? TROUPE_PLACE_DEFAULT : TROUPE_PLACE_SAME);
    }
    return TROUPE_OK;
}

typedef struct root_args {
    const bench_node_t *node;
    bool spread;
} root_args_t;

/* The root lives from run to run; GO makes it plant a tree. */
typedef struct root {
    root_args_t is;
    branch_t branch;
} root_t;

static troupe_err_t root_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((root_t *)state)->is, args, sizeof(root_args_t));
    return TROUPE_OK;
}

static void root_go(troupe_actor_t *self, root_t *root, const troupe_message_t *message)
{
    const branch_order_t order = {
        .node = root->is.node, .leaves = TREE_LEAVES, .spread = root->is.spread};
    root->branch.to = message->sender;
    root->branch.sum = 0;
    branch_grow(self, &root->branch, &order, TROUPE_PLACE_DEFAULT);
}

static troupe_err_t root_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    root_t *root = state;
    branch_order_t order;
    if (message->type.id == root->is.node->order.id) {
        root_go(self, root, message);
        return TROUPE_OK;
    }
    memcpy(&order, message->body, sizeof(order));
    root->branch.sum += order.sum;
    if (--root->branch.waiting == 0) {
        bench_order_t done = {0};
        done.op = BENCH_OP_DONE;
        done.lost = root->branch.sum != TREE_SUM;
        done.time_ns = bench_clock_now();
        bench_send_order(self, root->is.node, root->branch.to, &done);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t root_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "root",
    .state_size = sizeof(root_t),
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
    const root_args_t args = {&tree.node, spread};
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
