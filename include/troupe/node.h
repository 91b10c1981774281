/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Nodes: what a program starts to have actors, and to be a member of a cluster.
 *
 *     troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
 *     options.bind = "127.0.0.1:7001";
 *     options.seeds = (troupe_string_list_t){seeds, 1};
 *     troupe_node_t *node = NULL;
 *     troupe_err_t err = troupe_node_create(&options, &node);
 *     if (err == TROUPE_OK) err = troupe_node_start(node);
 *     if (err == TROUPE_OK) err = troupe_node_wait_up(node, 10000);
 *     ...
 *     err = troupe_node_stop(node, 5000);
 *     troupe_node_destroy(&node);
 *
 * A node without a bind address has no links: it is a plain local actor system. Several nodes may live
 * in one process; they share nothing. A node installs no signal handler, never exits, prints nothing
 * (give it a log sink) and raises no SIGPIPE. Every option is described in docs/configuration.md,
 * under the name of its key in configuration files. Since 0.1. */

#ifndef TROUPE_NODE_H
#define TROUPE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/api.h>
#include <troupe/error.h>
#include <troupe/log.h>
#include <troupe/type.h>

TROUPE_BEGIN_DECLS

/* A list of strings, borrowed for the call. */
typedef struct troupe_string_list {
    const char *const *items;
    size_t len;
} troupe_string_list_t;

typedef enum troupe_node_state {
    TROUPE_NODE_CREATED = 0,
    TROUPE_NODE_JOINING = 1, /* Started; not yet an `up` member. */
    TROUPE_NODE_UP = 2,      /* Ready. A node without links is ready once it is started. */
    TROUPE_NODE_LEAVING = 3, /* Leaves the cluster, at its own wish or that of an operator. */
    TROUPE_NODE_LEFT = 4,    /* No member any more: the program should stop the node. */
    TROUPE_NODE_DOWN = 5,    /* The others have downed this incarnation. */
    TROUPE_NODE_REFUSED = 6, /* A member refused it: another cluster name, version, or key. */
    TROUPE_NODE_STOPPING = 7,
    TROUPE_NODE_STOPPED = 8,
} troupe_node_state_t;

/* "created" ... "stopped". Static. */
TROUPE_API const char *troupe_node_state_name(troupe_node_state_t state);

/* What members of a side do when a part of the cluster stays unreachable. */
typedef enum troupe_split_policy {
    TROUPE_SPLIT_DEFAULT = 0, /* TROUPE_SPLIT_KEEP_MAJORITY */
    TROUPE_SPLIT_KEEP_MAJORITY = 1,
    TROUPE_SPLIT_STATIC_QUORUM = 2,
    TROUPE_SPLIT_KEEP_OLDEST = 3,
    TROUPE_SPLIT_DOWN_ALL = 4,
} troupe_split_policy_t;

/* Told of each change of state, on a thread of the node. Must not block and must not stop, destroy or
 * start the node; wake up the thread that does. `reason` is TROUPE_OK unless something went wrong. */
typedef void (*troupe_node_state_fn)(troupe_node_t *node, troupe_node_state_t state,
                                     troupe_err_t reason, void *user);

/* Zero means the default. Everything is copied. Append only. */
typedef struct troupe_node_options {
    size_t size; /* sizeof(troupe_node_options_t) */

    const char *cluster_name;
    const char *name;      /* Of the node, for people; NULL: its address. */
    const char *bind;      /* "host:port"; port 0 takes a free one. NULL: no links. */
    const char *advertise; /* What others dial, when it isn't what is bound. */
    troupe_string_list_t seeds;
    const char *seeds_file; /* One "host:port" a line; read anew while joining. */
    const char *seeds_dns;  /* "name:port": every address of the name is a seed. */
    troupe_string_list_t roles;

    bool insecure;          /* Listening beyond loopback without keys is allowed. */
    const char *secret_key; /* CURVE, Z85 text, as `troupe keygen` makes it. */
    const char *secret_key_file;
    troupe_string_list_t allowed_keys;
    const char *allowed_keys_file; /* One public key a line. */

    uint32_t dispatchers;        /* Threads of the group `default`; 0: one a processor. */
    troupe_string_list_t groups; /* Further groups, each "name=threads". */
    bool pin_threads;            /* Dispatcher i runs on processor i. */
    uint32_t throughput;
    uint32_t slice_us;
    uint32_t slow_receive_ms;
    uint32_t offload_threads;
    uint32_t offload_queue_len_max;

    uint64_t memory_size_max; /* The node's ceiling for message memory. */

    uint32_t link_stall_ms;
    uint64_t link_window;         /* Bytes under way to one peer. */
    uint64_t link_queue_size_max; /* Bytes that wait for one peer. */
    uint32_t link_connections_max;

    uint32_t probe_interval_ms;
    uint32_t probe_timeout_ms;
    uint32_t suspicion_ms;
    uint32_t gossip_interval_ms;
    uint32_t stable_after_ms;
    uint32_t leave_timeout_ms;
    uint32_t members_min;
    uint32_t form_quorum;
    troupe_split_policy_t split_policy;
    uint32_t quorum_len;

    uint32_t pubsub_gossip_interval_ms;
    uint32_t pubsub_tombstone_ms;
    uint32_t pubsub_names_max;
    uint32_t pubsub_routing; /* troupe_routing_t, for groups and paths. */
    const char *pubsub_role; /* Only members of this role take part in topics. */
    bool pubsub_no_dead_letters;

    const char *admin_socket; /* Path of a Unix socket for the command line; NULL: none. */
    uint32_t admin_clients_max;

    troupe_log_fn log; /* NULL: no log. */
    void *log_user;
    troupe_log_level_t log_level;    /* 0: TROUPE_LOG_INFO. */
    troupe_string_list_t log_levels; /* Other levels for some rooms, each "room=level". */

    troupe_node_state_fn on_state;
    void *on_state_user;
} troupe_node_options_t;

#ifdef __cplusplus
static inline troupe_node_options_t troupe_node_options_make(void)
{
    troupe_node_options_t options = troupe_node_options_t();
    options.size = sizeof(options);
    return options;
}
#define TROUPE_NODE_OPTIONS_INIT (troupe_node_options_make())
#else
#define TROUPE_NODE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        .size = sizeof(troupe_node_options_t)                                                      \
    }
#endif

#define TROUPE_NODE_ADDRESS_SIZE 272 /* Bytes of "host:port" with its zero. */
#define TROUPE_KEY_SIZE 41           /* Bytes of a key in Z85 with its zero. */

/* ---- life ------------------------------------------------------------------------------------- */

/* Makes a node that does not run yet: types may be registered, sockets are not open. EINVAL: the size
 * or a value of the options; ECONFIG: options that don't go together, keys or files that can't be read
 * (the log says which); EPERM: it would listen beyond loopback without keys; ENOMEM. */
TROUPE_API troupe_err_t troupe_node_create(const troupe_node_options_t *options,
                                           troupe_node_t **ret_node);

/* Starts the dispatchers, the links, the cluster and the admin socket. EADDRINUSE, EBUSY when it was
 * started before, ESYSTEM, ENOMEM. After an error the node can only be destroyed. */
TROUPE_API troupe_err_t troupe_node_start(troupe_node_t *node);

/* Waits until the node is up. ETIMEOUT; ECLUSTER, EVERSION or EAUTH when a member refused it;
 * EUNREACHABLE when it was downed; ESTOPPED. Not on a dispatcher. */
TROUPE_API troupe_err_t troupe_node_wait_up(troupe_node_t *node, uint32_t timeout_ms);

/* Stops in order: leave the cluster, stop /user, stop /system, flush the links, join the threads; each
 * step has its share of `timeout_ms` (0: the steps are gone through without waiting). ETIMEOUT when
 * something was cut short; the node is stopped all the same. Twice is once. Not on a dispatcher and
 * not in a callback of the node. */
TROUPE_API troupe_err_t troupe_node_stop(troupe_node_t *node, uint32_t timeout_ms);

/* Stops at once if need be, and frees the node; nulls the pointer. NULL is allowed. Close all ports
 * and inboxes before. */
TROUPE_API void troupe_node_destroy(troupe_node_t **node);

/* ---- what it is ------------------------------------------------------------------------------- */

/* Any thread. */
TROUPE_API troupe_node_state_t troupe_node_state(const troupe_node_t *node);
/* True in TROUPE_NODE_UP: what a readiness probe asks for. */
TROUPE_API bool troupe_node_is_up(const troupe_node_t *node);
/* The incarnation: random, another one at each start of a node at the same address. */
TROUPE_API uint64_t troupe_node_uid(const troupe_node_t *node);
/* The address that other nodes dial, "host:port", with the port in fact bound; "" without links. Valid
 * as long as the node. */
TROUPE_API const char *troupe_node_address(const troupe_node_t *node);
TROUPE_API const char *troupe_node_cluster(const troupe_node_t *node);

/* Asks the node to leave its cluster, without waiting and without stopping it: TROUPE_NODE_LEFT
 * follows. Any thread. */
TROUPE_API troupe_err_t troupe_node_leave(troupe_node_t *node);

/* ---- keys ------------------------------------------------------------------------------------- */

/* Makes a pair of CURVE keys. ESYSTEM when ZeroMQ was built without CURVE. */
TROUPE_API troupe_err_t troupe_key_generate(char ret_public[TROUPE_KEY_SIZE],
                                            char ret_secret[TROUPE_KEY_SIZE]);

TROUPE_END_DECLS

#endif
