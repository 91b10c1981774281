/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publish and subscribe: topics that reach every node of the cluster.
 *
 * A topic is a name of 1 to 2,048 bytes of any value; it means the same bytes everywhere and is never
 * parsed. Opening it gives a handle, a small value by which it is published to without hashing a
 * string. Patterns are a thing of their own: only troupe_subscribe_pattern reads '.', '*' and '>'.
 *
 * Subscribers are actors. A plain subscriber gets every publish; of the members of a *group* one gets
 * each publish that is made to groups. Messages of one publisher arrive at one subscriber in order,
 * delivery is at most once, and whatever can't be delivered is counted with its reason; publishing
 * where nobody is subscribed makes a dead letter that names the topic.
 *
 * Functions with `self` must be called in that actor's callbacks; those with `node` from any thread.
 * No function blocks; topic handles, questions and the first use of a name take a short lock.
 * Since 0.1. */

#ifndef TROUPE_PUBSUB_H
#define TROUPE_PUBSUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>
#include <troupe/api.h>
#include <troupe/error.h>
#include <troupe/ref.h>
#include <troupe/type.h>

TROUPE_BEGIN_DECLS

#define TROUPE_TOPIC_SIZE_MAX 2048u  /* Bytes of a topic, group or pattern. */
#define TROUPE_PATTERN_DEPTH_MAX 32u /* Tokens of a pattern. */

/* ---- topics ---------------------------------------------------------------------------------- */

/* A topic of one node: a compact key. Valid until it is closed; copied freely; of no use elsewhere. */
typedef struct troupe_topic {
    uint32_t id;
    uint32_t generation; /* 0 in no topic that is open. */
    uint64_t hash;
} troupe_topic_t;

/* What a publisher of this node meets when another node can't keep up. */
typedef enum troupe_slow_node {
    TROUPE_SLOW_NODE_PARK = 0, /* It is parked, at most as long as the link may stall. */
    TROUPE_SLOW_NODE_DROP = 1, /* What the node misses is dropped and counted against it. */
} troupe_slow_node_t;

typedef struct troupe_topic_options {
    size_t size;                  /* sizeof(troupe_topic_options_t) */
    troupe_slow_node_t slow_node; /* The last opener decides. */
} troupe_topic_options_t;

#define TROUPE_TOPIC_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(troupe_topic_options_t), TROUPE_SLOW_NODE_PARK                                      \
    }

/* Opens a topic; each open wants one close. `options` may be NULL. EINVAL: no bytes or too many;
 * EFULL: the node's table of names is full; ENOMEM; ENOTREADY: the node runs no pub/sub. */
TROUPE_API troupe_err_t troupe_topic_open(troupe_node_t *node, const void *name, size_t name_size,
                                          const troupe_topic_options_t *options,
                                          troupe_topic_t *ret_topic);
/* Ends the handle and zeroes it. Subscriptions stay. A handle that is none does nothing. */
TROUPE_API void troupe_topic_close(troupe_node_t *node, troupe_topic_t *topic);
/* Copies the name; ret_size is its size also when TROUPE_ETOOBIG says that it did not fit. ENOENT. */
TROUPE_API troupe_err_t troupe_topic_name(troupe_node_t *node, troupe_topic_t topic, void *ret_name,
                                          size_t capacity, size_t *ret_size);

/* ---- publishing ------------------------------------------------------------------------------ */

/* Sends a copy of the body to every plain subscriber of the topic, on all nodes. Encoded once at most,
 * one message for each dispatcher and one envelope for each node that has subscribers. OK means that
 * it is on its way or was counted as dropped. ENOENT: the handle is closed; otherwise as troupe_tell.
 * Allocates nothing in steady state. */
TROUPE_API troupe_err_t troupe_publish(troupe_actor_t *self, troupe_topic_t topic,
                                       troupe_type_t type, const void *body, size_t size);
/* The same by name, looked up in a cache of this dispatcher. EINVAL and EFULL as troupe_topic_open. */
TROUPE_API troupe_err_t troupe_publish_name(troupe_actor_t *self, const void *name,
                                            size_t name_size, troupe_type_t type, const void *body,
                                            size_t size);
/* The same with a body that is shared already; the caller keeps its reference. */
TROUPE_API troupe_err_t troupe_publish_shared(troupe_actor_t *self, troupe_topic_t topic,
                                              troupe_body_t *body);

/* How one member is chosen out of several. */
typedef enum troupe_routing {
    TROUPE_ROUTING_DEFAULT = 0, /* The node's setting: random, unless configured otherwise. */
    TROUPE_ROUTING_RANDOM = 1,
    TROUPE_ROUTING_ROUND_ROBIN = 2,
    TROUPE_ROUTING_HASH = 3, /* By `key`: the same key goes to the same member while all stay. */
} troupe_routing_t;

/* Sends to one member of each group of the topic. `routing` and `key` choose; key 0 with
 * TROUPE_ROUTING_HASH is a key like any other. */
TROUPE_API troupe_err_t troupe_publish_to_groups(troupe_actor_t *self, troupe_topic_t topic,
                                                 troupe_routing_t routing, uint64_t key,
                                                 troupe_body_t *body);

typedef struct troupe_confirm_options {
    size_t size;              /* sizeof(troupe_confirm_options_t) */
    uint64_t tag;             /* Comes back in the answer. */
    uint32_t timeout_ms;      /* For the answer; 0: 5,000. */
    uint32_t wait_ms;         /* Not 0: waits so long for somebody to subscribe. */
    bool to_groups;           /* To one member of each group, not to the plain subscribers. */
    troupe_routing_t routing; /* With to_groups. */
    uint64_t key;
} troupe_confirm_options_t;

#define TROUPE_CONFIRM_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(troupe_confirm_options_t), 0, 0, 0, false, TROUPE_ROUTING_DEFAULT, 0                \
    }

/* Publishes in order with other publishes and answers with one TROUPE_TYPE_PUBLISHED message. EFULL:
 * too many are waiting for subscribers of this topic (1,000), or for answers on this dispatcher. */
TROUPE_API troupe_err_t troupe_publish_confirmed(troupe_actor_t *self, troupe_topic_t topic,
                                                 const troupe_confirm_options_t *options,
                                                 troupe_body_t *body);

/* The answer to a confirmed publish. */
typedef struct troupe_published {
    uint64_t tag;
    uint64_t subscribers; /* Mailboxes that took it. */
    uint32_t nodes;       /* Nodes, this one included, on which at least one took it. */
    uint32_t error; /* OK; ENOSUBSCRIBER: nobody took it; ETIMEOUT: some node did not answer. */
} troupe_published_t;

#define TROUPE_TYPE_PUBLISHED ((troupe_type_t){5})

/* ---- subscribing ----------------------------------------------------------------------------- */

/* What happens when a subscriber has `queue_len_max` messages waiting. What is dropped is counted
 * against the subscription as "subscriber too slow". */
typedef enum troupe_slow {
    TROUPE_SLOW_MAILBOX = 0,     /* Its mailbox's own bounds and policy decide. */
    TROUPE_SLOW_DROP_NEWEST = 1, /* The message that comes is dropped. */
    TROUPE_SLOW_DROP_OLDEST = 2, /* The oldest waiting one of this subscription is dropped. */
    TROUPE_SLOW_KEEP_LATEST = 3, /* As DROP_OLDEST with one place. */
} troupe_slow_t;

typedef struct troupe_subscribe_options {
    size_t size;       /* sizeof(troupe_subscribe_options_t) */
    const void *group; /* NULL: plain. A group's name is like a topic's. */
    size_t group_size;
    uint64_t tag;        /* Comes back in the answer. */
    bool no_ack;         /* No answer is sent. */
    bool cluster;        /* The answer waits for all members that are up and reachable. */
    bool with_topic;     /* troupe_message_topic works on its messages (patterns always). */
    uint32_t timeout_ms; /* Deadline of a cluster-wide answer; 0: 5,000. */
    troupe_slow_t slow;
    uint32_t queue_len_max; /* With `slow`; 0: 1,024. */
} troupe_subscribe_options_t;

#define TROUPE_SUBSCRIBE_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(troupe_subscribe_options_t), 0, 0, 0, false, false, false, 0, TROUPE_SLOW_MAILBOX,  \
            0                                                                                      \
    }

#define TROUPE_PUBSUB_MISSING_MAX 16

typedef enum troupe_pubsub_answer {
    TROUPE_PUBSUB_SUBSCRIBED = 1,
    TROUPE_PUBSUB_UNSUBSCRIBED = 2,
    TROUPE_PUBSUB_PUT = 3,
    TROUPE_PUBSUB_REMOVED = 4,
} troupe_pubsub_answer_t;

/* The answer to subscribe, unsubscribe, put and remove. After SUBSCRIBED every publish of this node
 * (of all members that answered, with `cluster`) reaches the subscriber, and none came before it;
 * after UNSUBSCRIBED nothing arrives any more. */
typedef struct troupe_pubsub_ack {
    uint64_t tag;
    troupe_topic_t topic; /* Or the pattern or path: only good to be compared. */
    uint32_t answer;      /* troupe_pubsub_answer_t */
    uint32_t error; /* OK; ETIMEOUT: some members did not answer; ENOENT: was not subscribed. */
    uint32_t nodes; /* Members that have it, this node included. */
    uint32_t missing_len; /* Members that did not answer; the uids of the first ones follow. */
    uint64_t missing[TROUPE_PUBSUB_MISSING_MAX];
} troupe_pubsub_ack_t;

#define TROUPE_TYPE_PUBSUB_ACK ((troupe_type_t){4})

/* Subscribes the calling actor until it unsubscribes or ends; a restart keeps it. Subscribing again
 * with the same topic and group changes nothing but is answered. Plain and in groups are different
 * subscriptions. `options` may be NULL. EINVAL, ENOENT (closed handle), EFULL, ENOMEM, ENOTREADY. */
TROUPE_API troupe_err_t troupe_subscribe(troupe_actor_t *self, troupe_topic_t topic,
                                         const troupe_subscribe_options_t *options);
/* `options` may be NULL; its group, tag and no_ack are used. */
TROUPE_API troupe_err_t troupe_unsubscribe(troupe_actor_t *self, troupe_topic_t topic,
                                           const troupe_subscribe_options_t *options);

/* Subscribes to every topic that matches: tokens are separated by '.', `*` is any one token, `>` as
 * the last token is one or more. An actor whose topic and patterns match the same publish gets it once
 * for each. No groups. EINVAL: malformed, or deeper than TROUPE_PATTERN_DEPTH_MAX; as subscribe. */
TROUPE_API troupe_err_t troupe_subscribe_pattern(troupe_actor_t *self, const void *pattern,
                                                 size_t pattern_size,
                                                 const troupe_subscribe_options_t *options);
TROUPE_API troupe_err_t troupe_unsubscribe_pattern(troupe_actor_t *self, const void *pattern,
                                                   size_t pattern_size,
                                                   const troupe_subscribe_options_t *options);

/* The topic of the message being handled. ENOENT when it was not published, or its subscription did
 * not ask `with_topic`. The handle is not counted: open the topic to keep it. */
TROUPE_API troupe_err_t troupe_message_topic(troupe_actor_t *self, troupe_topic_t *ret_topic);

/* ---- by path --------------------------------------------------------------------------------- */

/* Registers the calling actor under its own path for troupe_send, on all nodes. Answered with
 * TROUPE_PUBSUB_PUT. `options` may be NULL: tag, no_ack, cluster and timeout_ms are used. */
TROUPE_API troupe_err_t troupe_put(troupe_actor_t *self, const troupe_subscribe_options_t *options);
TROUPE_API troupe_err_t troupe_remove(troupe_actor_t *self,
                                      const troupe_subscribe_options_t *options);

typedef struct troupe_send_options {
    size_t size;              /* sizeof(troupe_send_options_t) */
    bool local_affinity;      /* The one of this node, when there is one. */
    troupe_routing_t routing; /* Otherwise. */
    uint64_t key;
} troupe_send_options_t;

#define TROUPE_SEND_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(troupe_send_options_t), false, TROUPE_ROUTING_DEFAULT, 0                            \
    }

/* Sends to one of the actors that are registered under `path` (zero-terminated) on any node. Nobody
 * registered is a dead letter that names the path. `options` may be NULL. */
TROUPE_API troupe_err_t troupe_send(troupe_actor_t *self, const char *path,
                                    const troupe_send_options_t *options, troupe_type_t type,
                                    const void *body, size_t size);
/* Sends to all of them; `exclude_self` leaves this node out. */
TROUPE_API troupe_err_t troupe_send_all(troupe_actor_t *self, const char *path, bool exclude_self,
                                        troupe_type_t type, const void *body, size_t size);

/* ---- questions ------------------------------------------------------------------------------- */

typedef struct troupe_topic_info {
    const void *name; /* Valid for the call. */
    size_t name_size;
    uint64_t subscribers_here;   /* On this node, groups included. */
    uint64_t subscribers_others; /* On the other nodes, as far as is known here. */
    uint32_t nodes;              /* That have subscribers. */
    uint32_t groups;
} troupe_topic_info_t;

/* Returns whether to go on. Must not call into pub/sub. */
typedef bool (*troupe_topic_visit_fn)(const troupe_topic_info_t *info, void *context);

/* Visits every topic that has a subscriber anywhere, in no order. ENOTREADY. */
TROUPE_API troupe_err_t troupe_topics_visit(troupe_node_t *node, troupe_topic_visit_fn visit,
                                            void *context);
/* What is known of one topic; `ret_info->name` is NULL. ENOENT: the handle is closed. */
TROUPE_API troupe_err_t troupe_topic_count(troupe_node_t *node, troupe_topic_t topic,
                                           troupe_topic_info_t *ret_info);

typedef struct troupe_pubsub_stats {
    size_t size;      /* sizeof(troupe_pubsub_stats_t), set by the caller */
    uint64_t names;   /* Interned topics, paths, groups and patterns. */
    uint64_t topics;  /* Topics and paths with a record. */
    uint64_t entries; /* Registered entries of all nodes, tombstones left out. */
    uint64_t tombstones;
    uint64_t deltas_received; /* Elements taken from deltas of other nodes. */
    uint64_t digests_sent;
    uint64_t gossip_bytes_sent;
    uint64_t gossip_bytes_received;
    uint64_t refused; /* Frames that were malformed, or not for their sender to send. */
} troupe_pubsub_stats_t;

/* ENOTREADY when the node runs no pub/sub. The figures are those of the last second. */
TROUPE_API troupe_err_t troupe_pubsub_stats(troupe_node_t *node, troupe_pubsub_stats_t *ret_stats);

TROUPE_END_DECLS

#endif
