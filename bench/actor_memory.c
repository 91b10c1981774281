/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Memory of an idle actor: what a process grows by when a million actors with 64 bytes of state are
 * spawned, divided by their number. Each run is a process of its own, so that nothing that an earlier
 * run left in pools or in the allocator makes the figure look better. */

#include <string.h>

#include "actor_cases.h"
#include "host.h"
#include "measure.h"
#include "node.h"
#include "worker.h"

#define MEMORY_ACTORS 1000000u
#define MEMORY_STATE_SIZE 64u
#define MEMORY_BATCH 1000u /* Spawned in one receive. */
#define MEMORY_TAG 1u

typedef struct memory_order {
    uint64_t actors;
    uint64_t dispatchers;
} memory_order_t;

typedef struct memory_answer {
    uint64_t before, after; /* Bytes of the process. */
    uint64_t ok;
} memory_answer_t;

static troupe_err_t idle_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TROUPE_OK;
}

static const troupe_behavior_t idle_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "idle",
    .state_size = MEMORY_STATE_SIZE,
    .receive = idle_receive,
};

typedef struct host_state {
    const bench_node_t *node;
    troupe_ref_t boss;
    uint64_t left;
} host_state_t;

static troupe_err_t host_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((host_state_t *)state)->node, args, sizeof(const bench_node_t *));
    return TROUPE_OK;
}

static troupe_err_t host_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    host_state_t *host = state;
    bench_order_t order;
    troupe_ref_t ref;
    memcpy(&order, message->body, sizeof(order));
    if (order.op == BENCH_OP_GO) {
        host->boss = message->sender;
        host->left = order.count;
    }
    for (uint32_t i = 0; i < MEMORY_BATCH && host->left > 0; i++, host->left--) {
        bench_must(troupe_spawn(self, &idle_behavior, NULL, &ref), "spawn an idle actor");
    }
    order.op = host->left > 0 ? BENCH_OP_MORE : BENCH_OP_DONE;
    bench_send_order(self, host->node, host->left > 0 ? troupe_self(self) : host->boss, &order);
    return TROUPE_OK;
}

static const troupe_behavior_t host_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "host",
    .state_size = sizeof(host_state_t),
    .init = host_init,
    .receive = host_receive,
};

static bool memory_populate(bench_node_t *node, troupe_ref_t host, uint64_t actors)
{
    return bench_node_order_op(node, host, BENCH_OP_GO, actors) &&
           bench_node_collect(node, BENCH_OP_DONE, 1, NULL);
}

int bench_actor_memory_worker(int fd)
{
    const bench_node_t *self = NULL;
    memory_answer_t answer = {0, 0, 0};
    memory_order_t order;
    bench_node_t node;
    troupe_ref_t host;
    if (!bench_worker_receive(fd, MEMORY_TAG, &order, sizeof(order))) {
        return 1;
    }
    if (!bench_node_open(NULL, order.dispatchers, &node)) {
        return 1;
    }
    self = &node;
    /* A first handful takes what is taken once. */
    if (bench_node_spawn(&node, &host_behavior, TROUPE_PLACE(0), &self, sizeof(self), &host) &&
        memory_populate(&node, host, MEMORY_BATCH)) {
        answer.before = bench_host_memory(0);
        answer.ok = memory_populate(&node, host, order.actors);
        answer.after = bench_host_memory(0);
    }
    (void)bench_worker_send(fd, MEMORY_TAG, &answer, sizeof(answer));
    bench_node_close(&node);
    return 0;
}

static bool memory_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    const bench_context_t *bench = context;
    const memory_order_t order = {messages, bench->options->dispatchers};
    memory_answer_t answer = {0, 0, 0};
    bench_worker_t worker;
    bool ok;
    if (!bench_worker_start(BENCH_ACTOR_MEMORY_KIND, &worker)) {
        return false;
    }
    ok = bench_worker_ask(&worker, MEMORY_TAG, &order, sizeof(order), &answer, sizeof(answer)) &&
         answer.ok != 0;
    bench_worker_stop(&worker);
    ret_sample->messages = messages;
    bench_sample_set(ret_sample, (double)(answer.after - answer.before) / (double)messages);
    return ok;
}

bool bench_actor_memory(bench_context_t *context)
{
    const bench_plan_t plan = {
        .run = memory_run, .context = context, .messages_start = MEMORY_ACTORS, .fixed = true};
    bench_row_t *row = bench_report_add(context->report, "actor", "memory", "bytes/actor");
    if (row == NULL) {
        return false;
    }
    bench_params_count(&row->params, "actors", MEMORY_ACTORS);
    bench_params_count(&row->params, "state", MEMORY_STATE_SIZE);
    return bench_measure(context, &plan, row);
}
