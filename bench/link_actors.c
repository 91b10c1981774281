/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Echo, bulk sink, prober, streamer. */

#include "link_actors.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "flood.h"

static troupe_err_t echo_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    (void)state;
    return troupe_reply(self, message->type, message->body, message->size);
}

const troupe_behavior_t bench_echo_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "echo",
    .receive = echo_receive,
};

static troupe_err_t bulk_sink_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(state, args, sizeof(bench_sink_args_t));
    return TROUPE_OK;
}

static troupe_err_t bulk_sink_receive(troupe_actor_t *self, void *state,
                                      const troupe_message_t *message)
{
    const bench_sink_args_t *sink = state;
    return troupe_reply(self, sink->node->message, message->body, sizeof(bench_message_t));
}

const troupe_behavior_t bench_bulk_sink_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "bulk-sink",
    .state_size = sizeof(bench_sink_args_t),
    .init = bulk_sink_init,
    .receive = bulk_sink_receive,
};

typedef struct prober {
    bench_prober_args_t is;
    troupe_ref_t boss;
    unsigned char *body;
    uint64_t left, sent, received;
    bool stopping;
} prober_t;

static troupe_err_t prober_init(troupe_actor_t *self, void *state, const void *args)
{
    prober_t *prober = state;
    (void)self;
    memcpy(&prober->is, args, sizeof(prober->is));
    prober->body = calloc(1, prober->is.size);
    return prober->body != NULL ? TROUPE_OK : TROUPE_ENOMEM;
}

static void prober_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    (void)self;
    (void)reason;
    free(((prober_t *)state)->body);
}

static void prober_send(troupe_actor_t *self, prober_t *prober)
{
    const bench_message_t head = {prober->sent++, bench_clock_now(), 0, 0};
    memcpy(prober->body, &head, sizeof(head));
    bench_must(troupe_tell(self, prober->is.echo, prober->is.type, prober->body, prober->is.size),
               "probe");
}

static void prober_done(troupe_actor_t *self, prober_t *prober)
{
    bench_order_t done = {0};
    done.op = BENCH_OP_DONE;
    done.count = prober->received;
    done.time_ns = bench_clock_now();
    prober->stopping = false;
    bench_send_order(self, prober->is.node, prober->boss, &done);
}

static void prober_obey(troupe_actor_t *self, prober_t *prober, const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    prober->boss = message->sender;
    if (order.op == BENCH_OP_STOP) {
        prober->stopping = true;
        if (prober->received == prober->sent) {
            prober_done(self, prober);
        }
        return;
    }
    prober->left = order.count - 1;
    prober_send(self, prober);
}

static troupe_err_t prober_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    prober_t *prober = state;
    bench_message_t body;
    if (message->type.id == prober->is.node->order.id) {
        prober_obey(self, prober, message);
        return TROUPE_OK;
    }
    memcpy(&body, message->body, sizeof(body));
    bench_histogram_record(prober->is.histogram, bench_clock_now() - body.stamp_ns);
    prober->received++;
    if (prober->is.one_by_one && prober->left > 0) {
        prober->left--;
        prober_send(self, prober);
    } else if (prober->received == prober->sent && (prober->is.one_by_one || prober->stopping)) {
        prober_done(self, prober);
    }
    return TROUPE_OK;
}

const troupe_behavior_t bench_prober_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "prober",
    .state_size = sizeof(prober_t),
    .init = prober_init,
    .receive = prober_receive,
    .stop = prober_stop,
};

typedef struct streamer {
    bench_streamer_args_t is;
    troupe_ref_t boss;
    troupe_body_t *body; /* One body, sent again and again: filling it is not what is measured. */
    uint64_t sent, answered;
    bool stopping;
} streamer_t;

static troupe_err_t streamer_init(troupe_actor_t *self, void *state, const void *args)
{
    streamer_t *streamer = state;
    troupe_err_t err;
    void *data;
    memcpy(&streamer->is, args, sizeof(streamer->is));
    data = calloc(1, (size_t)streamer->is.size);
    if (data == NULL) {
        return TROUPE_ENOMEM;
    }
    err = troupe_body_create(self, streamer->is.node->bytes, data, (size_t)streamer->is.size,
                             &streamer->body);
    free(data);
    return err;
}

static void streamer_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    (void)self;
    (void)reason;
    troupe_body_unref(&((streamer_t *)state)->body);
}

static void streamer_send(troupe_actor_t *self, streamer_t *streamer)
{
    streamer->sent++;
    bench_must(troupe_tell_shared(self, streamer->is.to, streamer->body), "stream");
}

static void streamer_end(troupe_actor_t *self, const streamer_t *streamer)
{
    bench_order_t done = {0};
    if (!streamer->stopping || streamer->answered < streamer->sent) {
        return;
    }
    done.op = BENCH_OP_DONE;
    done.count = streamer->answered;
    done.time_ns = bench_clock_now();
    bench_send_order(self, streamer->is.node, streamer->boss, &done);
}

static void streamer_obey(troupe_actor_t *self, streamer_t *streamer,
                          const troupe_message_t *message)
{
    bench_order_t order;
    memcpy(&order, message->body, sizeof(order));
    streamer->boss = message->sender;
    streamer->stopping = order.op == BENCH_OP_STOP;
    if (streamer->stopping) {
        streamer_end(self, streamer);
        return;
    }
    streamer->sent = streamer->answered = 0;
    for (uint32_t i = 0; i < streamer->is.window; i++) {
        streamer_send(self, streamer);
    }
}

static troupe_err_t streamer_receive(troupe_actor_t *self, void *state,
                                     const troupe_message_t *message)
{
    streamer_t *streamer = state;
    if (message->type.id == streamer->is.node->order.id) {
        streamer_obey(self, streamer, message);
        return TROUPE_OK;
    }
    streamer->answered++;
    if (!streamer->stopping) {
        streamer_send(self, streamer);
    }
    streamer_end(self, streamer);
    return TROUPE_OK;
}

const troupe_behavior_t bench_streamer_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "streamer",
    .state_size = sizeof(streamer_t),
    .init = streamer_init,
    .receive = streamer_receive,
    .stop = streamer_stop,
};
