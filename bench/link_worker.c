/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The worker's side of a link pair: a node with a sink and an echo. */

#include <stdio.h>
#include <string.h>

#include "flood.h"
#include "link_actors.h"
#include "link_pair.h"
#include "link_wire.h"

typedef struct link_worker {
    int fd;
    bench_node_t node;
    bench_link_opened_t opened;
} link_worker_t;

static bool link_worker_spawn(link_worker_t *worker)
{
    const bench_sink_args_t args = {&worker->node, 0};
    return bench_node_spawn(&worker->node, &bench_sink_behavior, TROUPE_PLACE_DEFAULT, &args,
                            sizeof(args), &worker->opened.sink) &&
           bench_node_spawn(&worker->node, &bench_echo_behavior, TROUPE_PLACE_DEFAULT, NULL, 0,
                            &worker->opened.echo) &&
           bench_node_spawn(&worker->node, &bench_bulk_sink_behavior, TROUPE_PLACE_DEFAULT, &args,
                            sizeof(args), &worker->opened.bulk_sink);
}

static bool link_worker_open(link_worker_t *worker, const bench_link_open_t *open)
{
    troupe_node_options_t options;
    bench_link_options_t store;
    bench_link_options(open, NULL, &store, &options);
    if (worker->node.node != NULL || !bench_node_open(&options, open->dispatchers, &worker->node) ||
        troupe_node_wait_up(worker->node.node, BENCH_LINK_UP_TIMEOUT_MS) != TROUPE_OK ||
        !link_worker_spawn(worker)) {
        return false;
    }
    (void)snprintf(worker->opened.address, sizeof(worker->opened.address), "%s",
                   troupe_node_address(worker->node.node));
    return bench_worker_send(worker->fd, BENCH_LINK_OPEN, &worker->opened, sizeof(worker->opened));
}

static bool link_worker_answer(link_worker_t *worker, uint32_t tag, bench_op_t op)
{
    bench_link_answer_t answer;
    memset(&answer, 0, sizeof(answer));
    if (!bench_node_collect(&worker->node, op, 1, &answer.tally)) {
        return false;
    }
    answer.counts = bench_counts_now();
    return bench_worker_send(worker->fd, tag, &answer, sizeof(answer));
}

static bool link_worker_obey(link_worker_t *worker, uint32_t tag, const void *order, size_t size)
{
    bench_link_count_t count;
    if (tag == BENCH_LINK_OPEN && size == sizeof(bench_link_open_t)) {
        return link_worker_open(worker, order);
    }
    if (worker->node.node == NULL || size != sizeof(count)) {
        return false;
    }
    memcpy(&count, order, sizeof(count));
    if (tag == BENCH_LINK_ARM) {
        return bench_node_order_op(&worker->node, worker->opened.sink, BENCH_OP_ARM, count.count) &&
               link_worker_answer(worker, tag, BENCH_OP_READY);
    }
    return link_worker_answer(worker, tag, BENCH_OP_DONE);
}

int bench_link_worker(int fd)
{
    union {
        bench_link_open_t open;
        bench_link_count_t count;
    } order;
    link_worker_t worker;
    uint32_t tag;
    size_t size;
    bool ok = true;
    memset(&worker, 0, sizeof(worker));
    worker.fd = fd;
    while (ok && bench_worker_receive_any(fd, &tag, &order, sizeof(order), &size)) {
        ok = link_worker_obey(&worker, tag, &order, size);
    }
    bench_node_close(&worker.node);
    return ok ? 0 : 1;
}
