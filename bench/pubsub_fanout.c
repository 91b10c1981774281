/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One publisher, one topic, many local subscribers with default placement: deliveries a second. */

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "measure.h"
#include "pubsub_actors.h"
#include "pubsub_cases.h"
#include "say.h"
#include "settings.h"

#define FANOUT_SUBSCRIBERS 1000u
#define FANOUT_BATCH 8 /* Publishes a turn; each makes 1,000 deliveries. */
#define FANOUT_TOPIC "fanout"

typedef struct fanout {
    bench_node_t node;
    troupe_topic_t topic;
    troupe_ref_t publisher;
    troupe_ref_t subscribers[FANOUT_SUBSCRIBERS];
} fanout_t;

static bool fanout_spawn(fanout_t *fanout)
{
    bench_subscriber_args_t subscriber;
    bench_publisher_args_t publisher;
    memset(&subscriber, 0, sizeof(subscriber));
    memset(&publisher, 0, sizeof(publisher));
    subscriber.node = publisher.node = &fanout->node;
    subscriber.topic = publisher.topic = fanout->topic;
    subscriber.boss = troupe_inbox_ref(fanout->node.inbox);
    publisher.by = BENCH_BY_HANDLE;
    publisher.batch = FANOUT_BATCH;
    for (uint32_t i = 0; i < FANOUT_SUBSCRIBERS; i++) {
        if (!bench_node_spawn(&fanout->node, &bench_subscriber_behavior, TROUPE_PLACE_DEFAULT,
                              &subscriber, sizeof(subscriber), &fanout->subscribers[i])) {
            return false;
        }
    }
    return bench_node_collect(&fanout->node, BENCH_OP_READY, FANOUT_SUBSCRIBERS, NULL) &&
           bench_node_spawn(&fanout->node, &bench_publisher_behavior, TROUPE_PLACE_DEFAULT,
                            &publisher, sizeof(publisher), &fanout->publisher);
}

static bool fanout_arm(fanout_t *fanout, uint64_t count)
{
    for (uint32_t i = 0; i < FANOUT_SUBSCRIBERS; i++) {
        if (!bench_node_order_op(&fanout->node, fanout->subscribers[i], BENCH_OP_ARM, count)) {
            return false;
        }
    }
    return bench_node_order_op(&fanout->node, fanout->publisher, BENCH_OP_ARM, 0) &&
           bench_node_collect(&fanout->node, BENCH_OP_READY, FANOUT_SUBSCRIBERS + 1, NULL);
}

/* `messages` are publishes. */
static bool fanout_run(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    fanout_t *fanout = context;
    bench_allocs_t allocs;
    bench_tally_t tally;
    uint64_t start;
    if (!fanout_arm(fanout, messages)) {
        return false;
    }
    allocs = bench_alloc_total();
    start = bench_clock_now();
    if (!bench_node_order_op(&fanout->node, fanout->publisher, BENCH_OP_GO, messages) ||
        !bench_node_collect(&fanout->node, BENCH_OP_DONE, FANOUT_SUBSCRIBERS, &tally)) {
        return false;
    }
    ret_sample->messages = tally.count;
    ret_sample->elapsed_ns = tally.end_ns - start;
    ret_sample->lost = tally.lost;
    bench_sample_allocs(ret_sample, &allocs, tally.count);
    return true;
}

bool bench_pubsub_fanout(bench_context_t *context)
{
    fanout_t fanout;
    const bench_plan_t plan = {.run = fanout_run, .context = &fanout, .messages_start = 200};
    bench_row_t *row = bench_report_add(context->report, "pubsub", "fanout", "msg/s");
    bool ok;
    memset(&fanout, 0, sizeof(fanout));
    if (row == NULL || !bench_node_open(NULL, context->options->dispatchers, &fanout.node)) {
        return false;
    }
    bench_params_count(&row->params, "subscribers", FANOUT_SUBSCRIBERS);
    bench_params_count(&row->params, "dispatchers", fanout.node.dispatchers);
    ok = troupe_topic_open(fanout.node.node, FANOUT_TOPIC, strlen(FANOUT_TOPIC), NULL,
                           &fanout.topic) == TROUPE_OK &&
         fanout_spawn(&fanout) && bench_measure(context, &plan, row);
    bench_node_close(&fanout.node);
    return ok;
}
