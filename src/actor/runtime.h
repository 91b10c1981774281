/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The runtime: all dispatchers of one node and what they share. Nothing here is process-wide.
 *
 * Thread rule: each function says. Fields that change after the start are atomics or behind a mutex. */

#ifndef TROUPE_ACTOR_RUNTIME_H
#define TROUPE_ACTOR_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>
#include <troupe/events.h>

#include "actor/endpoint.h"
#include "actor/names.h"
#include "actor/pool.h"
#include "actor/remote.h"
#include "actor/types.h"
#include "base/log.h"

typedef struct trp_offload trp_offload_t;
typedef struct trp_event_hub trp_event_hub_t;

#define TRP_GROUPS_MAX 16u
#define TRP_GROUP_NAME_SIZE_MAX 31u
#define TRP_HOOKS_MAX 8u
#define TRP_GROUP_SYSTEM "system" /* One dispatcher, always there. */
#define TRP_GROUP_DEFAULT "default"

typedef struct trp_group {
    char name[TRP_GROUP_NAME_SIZE_MAX + 1];
    uint32_t first; /* Index of its first dispatcher. */
    uint32_t len;
} trp_group_t;

typedef struct trp_group_options {
    const char *name;
    uint32_t len;
} trp_group_options_t;

typedef struct trp_runtime_options {
    uint64_t uid;                      /* Not 0. */
    uint32_t dispatchers;              /* Of the default group; 0: one for each processor. */
    const trp_group_options_t *groups; /* Further groups. */
    size_t groups_len;
    size_t ceiling;             /* Bytes of message memory; 0: 1 GiB. */
    uint32_t throughput;        /* Messages an activation handles; 0: 64. */
    uint64_t slice_ns;          /* Time an activation may take; 0: 1 ms. */
    uint64_t slow_receive_ns;   /* The watchdog's bound; 0: 200 ms. */
    uint32_t offload_threads;   /* 0: 4. */
    uint32_t offload_queue_max; /* 0: 4,096 jobs. */
    bool pin_threads;           /* Dispatcher i runs on processor i. */
    trp_log_t *log;             /* Borrowed; NULL: none. */
} trp_runtime_options_t;

/* What an upper room does on each dispatcher's thread as it starts and stops. */
typedef struct trp_runtime_hook {
    void *context;
    troupe_err_t (*attach)(void *context, trp_dispatcher_t *d);
    void (*detach)(void *context, trp_dispatcher_t *d); /* Only after a successful attach. */
} trp_runtime_hook_t;

/* Expands a TRP_MESSAGE_TOPIC cell to the subscribers of this dispatcher, and takes it over. The topic
 * is the low half of its target. */
typedef void (*trp_topic_fn)(void *context, trp_dispatcher_t *d, trp_message_t *message);
/* An actor of this dispatcher has ended: the room with topics drops its subscriptions. */
typedef void (*trp_ended_fn)(void *context, trp_dispatcher_t *d, uint64_t id);

struct trp_runtime {
    uint64_t uid;
    troupe_node_t *node; /* Set by the node that owns the runtime. */
    uint32_t len;        /* Dispatchers. The last is the system's. */
    uint32_t groups_len;
    trp_group_t groups[TRP_GROUPS_MAX];
    trp_dispatcher_t *dispatchers[TRP_DISPATCHERS_MAX];
    trp_channel_t *channels[TRP_ENDPOINTS_MAX][TRP_DISPATCHERS_MAX];
    trp_endpoint_t *endpoints[TRP_ENDPOINTS_MAX]; /* Of other threads at len and above. */
    _Atomic uint32_t endpoints_len;               /* Channels below may exist. */
    pthread_mutex_t endpoints_mutex;
    trp_runtime_options_t options;
    trp_depot_t depot;
    trp_types_t types;
    trp_names_t names;
    trp_event_hub_t *events;
    trp_offload_t *offload;
    trp_log_t *log;
    trp_remote_port_t remote; /* All NULL: there are no other nodes. */
    trp_runtime_hook_t hooks[TRP_HOOKS_MAX];
    uint32_t hooks_len;
    trp_topic_fn topic_fn;
    trp_ended_fn ended_fn; /* NULL, or set before the start; has the topic_fn's context. */
    void *topic_context;
    uint64_t guardian_user; /* Ids. */
    uint64_t guardian_system;
    uint64_t guardian_temp;
    uint64_t guardian_remote;
    _Atomic bool is_running;
    _Atomic uint32_t posting; /* Threads inside trp_runtime_post_task. */
    struct trp_watchdog *watchdog;
    /* Starting and stopping. */
    pthread_mutex_t life_mutex;
    pthread_cond_t life_changed;
    uint32_t started;
    bool is_user_ended;
    bool is_system_ended;
    /* Messages that threads without a dispatcher made. */
    _Atomic uint64_t outside_made;
    _Atomic uint64_t outside_made_system;
    _Atomic uint64_t outside_refused; /* By the ceiling. */
};

/* The node begins with its runtime (see src/node). */
struct troupe_node {
    trp_runtime_t *runtime;
};

static inline trp_runtime_t *trp_node_runtime(const troupe_node_t *node)
{
    return node->runtime;
}

/* Reserves everything and starts nothing. */
troupe_err_t trp_runtime_create(const trp_runtime_options_t *options, trp_runtime_t **ret_runtime);
/* Before the start. */
troupe_err_t trp_runtime_add_hook(trp_runtime_t *runtime, const trp_runtime_hook_t *hook);
void trp_runtime_set_remote(trp_runtime_t *runtime, const trp_remote_port_t *port);
void trp_runtime_set_topic_fn(trp_runtime_t *runtime, trp_topic_fn fn, void *context);

/* Starts the dispatchers and the guardians. */
troupe_err_t trp_runtime_start(trp_runtime_t *runtime);
/* Stops the tree below /user, then that below /system; ETIMEOUT when the deadline passed first (the
 * rest is then ended hard by trp_runtime_stop). Any thread but a dispatcher's. */
troupe_err_t trp_runtime_stop_users(trp_runtime_t *runtime, uint64_t deadline_ns);
troupe_err_t trp_runtime_stop_system(trp_runtime_t *runtime, uint64_t deadline_ns);
/* Ends the dispatchers. A receive that does not return holds it up. */
void trp_runtime_stop(trp_runtime_t *runtime);
void trp_runtime_destroy(trp_runtime_t **runtime);

/* Runs fn on a dispatcher's thread. Any thread. ENOMEM, ESTOPPED. */
troupe_err_t trp_runtime_post(trp_runtime_t *runtime, uint32_t target_index, trp_task_fn fn,
                              const void *payload, size_t size);
troupe_err_t trp_runtime_post_task(trp_runtime_t *runtime, uint32_t target_index,
                                   const trp_task_t *task);
/* Hands a ready cell (from the depot) to its target's dispatcher. Any thread. */
void trp_runtime_inject(trp_runtime_t *runtime, trp_message_t *message);

/* Spawns under /system on the system dispatcher. Any thread but a dispatcher's; waits for its init. */
troupe_err_t trp_runtime_spawn_system(trp_runtime_t *runtime, const troupe_behavior_t *behavior,
                                      const troupe_spawn_options_t *options, troupe_ref_t *ret_ref);
/* Spawns under the guardian; as above. */
troupe_err_t trp_runtime_spawn(trp_runtime_t *runtime, uint64_t guardian,
                               const troupe_behavior_t *behavior,
                               const troupe_spawn_options_t *options, troupe_ref_t *ret_ref);

/* A node has gone for good: its actors' watchers are told, asks to it fail. Any thread. */
void trp_runtime_node_down(trp_runtime_t *runtime, uint64_t uid, troupe_err_t reason);

static inline uint32_t trp_runtime_system_index(const trp_runtime_t *runtime)
{
    return runtime->len - 1;
}

#endif
