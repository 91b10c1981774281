/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A town: nodes with dispatchers, links and pub/sub in one process, and citizens: actors that run
 * functions of the test on their dispatcher and write down what they get.
 *
 * Thread rule: towns belong to the thread that runs the case; what a citizen has got may be read by
 * any. */

#ifndef TROUPE_TESTS_PUBSUB_TOWN_H
#define TROUPE_TESTS_PUBSUB_TOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/inbox.h>
#include <troupe/pubsub.h>
#include <troupe/stats.h>

#include "actor/runtime.h"
#include "net/link/link.h"
#include "pubsub/pubsub.h"
#include "support/check.h"

#define TOWN_NODES_MAX 4
#define TOWN_CITIZENS_MAX 2048
#define TOWN_PATIENCE_MS 20000

typedef struct town_node {
    struct troupe_node node;
    trp_link_t *link;
    trp_pubsub_t *pubsub;
    troupe_port_t *port;
    troupe_type_t run_type;
    troupe_type_t number_type; /* One uint64_t. */
    troupe_type_t blob_type;   /* Up to 100,000 bytes; the first 8 are a number. */
    uint64_t uid;
} town_node_t;

typedef enum got_kind {
    GOT_NUMBER = 1, /* value */
    GOT_ACK,        /* value: tag; ack */
    GOT_PUBLISHED,  /* value: tag; published */
    GOT_EVENT,      /* value: reason of a dead letter; text */
} got_kind_t;

typedef struct got {
    got_kind_t kind;
    uint64_t value;
    uint64_t size;
    troupe_ref_t sender;
    troupe_topic_t topic; /* When the message knows it. */
    troupe_pubsub_ack_t ack;
    troupe_published_t published;
    char text[64];
} got_t;

#define GOT_LEN_MAX 256 /* Kept; further ones are only counted. */

typedef struct citizen {
    town_node_t *home;
    troupe_ref_t ref;
    _Atomic bool lock;
    uint32_t len;
    uint64_t counts[GOT_EVENT + 1];
    got_t entries[GOT_LEN_MAX];
    uint64_t next; /* Numbers are expected to rise by one from here. */
    _Atomic uint64_t unordered;
    _Atomic uint64_t sum;
    _Atomic uint64_t hold_us; /* Each number takes it so long. */
} citizen_t;

typedef struct town {
    town_node_t nodes[TOWN_NODES_MAX];
    uint32_t len;
    citizen_t *citizens[TOWN_CITIZENS_MAX];
    uint32_t citizen_len;
    int64_t memory_before;
} town_t;

typedef troupe_err_t (*town_act_fn)(troupe_actor_t *self, citizen_t *citizen, void *argument);

typedef struct town_options {
    uint32_t nodes;
    uint32_t dispatchers;
    trp_pubsub_options_t pubsub;
} town_options_t;

/* Starts the nodes and makes them members of each other. */
void town_open(town_t *town, const town_options_t *options);
/* Stops it; every node's messages must balance, and no memory be left. */
void town_close(town_t *town);
/* Ends one node as if it had crashed, and tells the others that it is gone. */
void town_kill(town_t *town, uint32_t index);

/* A citizen on that dispatcher. */
citizen_t *town_citizen(town_t *town, uint32_t node, uint32_t place);
/* Runs the act on it and returns its result. */
troupe_err_t town_do(citizen_t *citizen, town_act_fn act, void *argument);
/* Asks it to end, and waits until it has. */
void town_end(town_t *town, citizen_t *citizen);

uint64_t citizen_count(citizen_t *citizen, got_kind_t kind);
/* The n-th of all; zero when there is none. */
got_t citizen_entry(citizen_t *citizen, uint32_t n);
got_t citizen_last(citizen_t *citizen, got_kind_t kind);
void citizen_clear(citizen_t *citizen);

/* ---- common acts ------------------------------------------------------------------------------ */

/* A call on a topic by its zero-terminated name; further fields as each act needs them. */
typedef struct town_call {
    const char *name;
    size_t name_size; /* 0: of the string. */
    const char *group;
    uint64_t value;
    uint64_t tag;
    uint64_t key;
    uint32_t wait_ms;
    uint32_t timeout_ms;
    bool cluster;
    bool with_topic;
    bool flag;
    troupe_slow_t slow;
    uint32_t queue_len_max;
    troupe_routing_t routing;
    size_t body_size;
} town_call_t;

troupe_err_t act_subscribe(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_unsubscribe(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_subscribe_pattern(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_unsubscribe_pattern(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_publish(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_publish_to_groups(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_publish_confirmed(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_publish_blob(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_put(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_remove(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_send(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_send_all(troupe_actor_t *self, citizen_t *citizen, void *call);
troupe_err_t act_watch_dead_letters(troupe_actor_t *self, citizen_t *citizen, void *call);

/* Subscribes and waits for the answer. */
void town_subscribe(citizen_t *citizen, const town_call_t *call);
/* Publishes `value` by name. */
void town_publish(citizen_t *citizen, const char *name, uint64_t value);
/* Subscribers that node knows of, on itself or on all. */
uint64_t town_count_here(town_t *town, uint32_t node, const char *name);
uint64_t town_count_all(town_t *town, uint32_t node, const char *name);

#endif
