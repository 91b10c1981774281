/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node fixture. */

#include "node.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"
#include "settings.h"

static bool node_failed(troupe_err_t err, const char *what)
{
    if (err == TROUPE_OK) {
        return false;
    }
    bench_complain("%s: %s", what, troupe_err_text(err));
    return true;
}

void bench_must(troupe_err_t err, const char *what)
{
    if (node_failed(err, what)) {
        _exit(BENCH_EXIT_FAILED); /* Off the main thread nothing can be wound up in order. */
    }
}

static bool node_register(troupe_node_t *node, const char *name, size_t fixed, size_t max,
                          troupe_type_t *ret_type)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = name;
    options.version = 1;
    options.fixed_size = fixed;
    options.size_max = max;
    return !node_failed(troupe_type_register(node, &options, ret_type), name);
}

static bool node_set_up(bench_node_t *node)
{
    return node_register(node->node, "bench.message", sizeof(bench_message_t), 0, &node->message) &&
           node_register(node->node, "bench.order", sizeof(bench_order_t), 0, &node->order) &&
           node_register(node->node, "bench.bytes", 0, TROUPE_BULK_SIZE_MAX, &node->bytes) &&
           !node_failed(troupe_node_start(node->node), "node start") &&
           !node_failed(troupe_inbox_open(node->node, NULL, &node->inbox), "inbox");
}

bool bench_node_open(const troupe_node_options_t *options, uint64_t dispatchers,
                     bench_node_t *ret_node)
{
    troupe_node_options_t given = TROUPE_NODE_OPTIONS_INIT;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bench_node_t node;
    memset(&node, 0, sizeof(node));
    if (options != NULL) {
        given = *options;
    }
    node.dispatchers = dispatchers > 0 ? (uint32_t)dispatchers : (uint32_t)processors;
    given.dispatchers = node.dispatchers;
    if (node_failed(troupe_node_create(&given, &node.node), "node create")) {
        return false;
    }
    if (!node_set_up(&node)) {
        bench_node_close(&node);
        return false;
    }
    *ret_node = node;
    return true;
}

void bench_node_close(bench_node_t *node)
{
    if (node->node == NULL) {
        return;
    }
    troupe_inbox_close(&node->inbox);
    (void)node_failed(troupe_node_stop(node->node, BENCH_STOP_TIMEOUT_MS), "node stop");
    troupe_node_destroy(&node->node);
}

bool bench_node_spawn(bench_node_t *node, const troupe_behavior_t *behavior, uint32_t place,
                      const void *args, size_t args_size, troupe_ref_t *ret_ref)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.place = place;
    options.args = args;
    options.args_size = args_size;
    return !node_failed(troupe_node_spawn(node->node, behavior, &options, ret_ref), behavior->name);
}

bool bench_node_order(bench_node_t *node, troupe_ref_t to, const bench_order_t *order)
{
    return !node_failed(troupe_inbox_tell(node->inbox, to, node->order, order, sizeof(*order),
                                          BENCH_COLLECT_TIMEOUT_MS),
                        "order");
}

bool bench_node_order_op(bench_node_t *node, troupe_ref_t to, bench_op_t op, uint64_t count)
{
    bench_order_t order = {0};
    order.op = (uint32_t)op;
    order.count = count;
    return bench_node_order(node, to, &order);
}

void bench_send_order(troupe_actor_t *self, const bench_node_t *node, troupe_ref_t to,
                      const bench_order_t *order)
{
    bench_must(troupe_tell(self, to, node->order, order, sizeof(*order)), "send an order");
}

static bool node_tally(const bench_node_t *node, bench_op_t op, const troupe_message_t *message,
                       bench_tally_t *tally)
{
    bench_order_t order;
    if (message->type.id != node->order.id || message->size != sizeof(order)) {
        bench_complain("an answer of type %u came to the main thread", message->type.id);
        return false;
    }
    memcpy(&order, message->body, sizeof(order));
    if (order.op != (uint32_t)op) {
        bench_complain("answer %u came while %u was waited for", order.op, (unsigned)op);
        return false;
    }
    tally->count += order.count;
    tally->lost += order.lost;
    tally->end_ns = order.time_ns > tally->end_ns ? order.time_ns : tally->end_ns;
    return true;
}

bool bench_node_collect(bench_node_t *node, bench_op_t op, uint64_t answers,
                        bench_tally_t *ret_tally)
{
    bench_tally_t tally = {0, 0, 0};
    for (uint64_t i = 0; i < answers; i++) {
        troupe_letter_t *letter = NULL;
        bool ok;
        if (node_failed(troupe_inbox_receive(node->inbox, BENCH_COLLECT_TIMEOUT_MS, &letter),
                        "waiting for actors")) {
            bench_complain("%llu of %llu answers had come", (unsigned long long)i,
                           (unsigned long long)answers);
            return false;
        }
        ok = node_tally(node, op, troupe_letter_message(letter), &tally);
        troupe_letter_free(&letter);
        if (!ok) {
            return false;
        }
    }
    if (ret_tally != NULL) {
        *ret_tally = tally;
    }
    return true;
}

void bench_sample_allocs(bench_sample_t *sample, const bench_allocs_t *before, uint64_t messages)
{
    const bench_allocs_t now = bench_alloc_total();
    if (!bench_alloc_is_counted()) {
        return;
    }
    sample->counted = messages;
    sample->allocs = now.troupe - before->troupe;
    sample->zmq_allocs = now.zmq - before->zmq;
}
