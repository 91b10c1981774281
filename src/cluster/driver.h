/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The cluster driver: runs the core on the system dispatcher and binds it to the links and the actors.
 *
 *     link --events, messages--> driver --inputs--> core --outputs--> driver --> link, runtime, hooks
 *
 * The core is guarded by a mutex, so that questions and an operator's words may come from any thread;
 * what it wants done is done on the system dispatcher, never under the mutex.
 *
 * Thread rule: each function says so. */

#ifndef TROUPE_CLUSTER_DRIVER_H
#define TROUPE_CLUSTER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/cluster.h>
#include <troupe/error.h>

#include "base/log.h"
#include "cluster/core.h"

typedef struct trp_cluster trp_cluster_t;
typedef struct trp_dispatcher trp_dispatcher_t;
typedef struct trp_runtime trp_runtime_t;
typedef struct trp_link trp_link_t;

/* What the room above is told, on the system dispatcher. Any may be NULL. */
typedef struct trp_cluster_hooks {
    void *context;
    /* Every event, after the runtime has heard of it. */
    void (*on_event)(void *context, trp_dispatcher_t *d, const troupe_member_event_t *event);
    /* This incarnation has ended: nothing follows. Who wants to be a member again starts a new node. */
    void (*on_stop)(void *context, trp_dispatcher_t *d, trp_stop_reason_t reason);
    /* A node that was dialled refuses us: ECLUSTER, EVERSION, EAUTH. The core goes on trying. */
    void (*on_refused)(void *context, trp_dispatcher_t *d, troupe_err_t reason, const char *address,
                       const char *text);
} trp_cluster_hooks_t;

typedef struct trp_cluster_driver_options {
    trp_runtime_t *runtime; /* Borrowed. */
    trp_link_t *link;       /* Borrowed. */
    trp_log_t *log;         /* Borrowed; may be NULL. */
    trp_cluster_hooks_t hooks;
    /* Borrowed until destroy, with what it points to; address and random_seed are filled in. */
    trp_cluster_options_t core;
} trp_cluster_driver_options_t;

/* Registers with the runtime and the link; before either starts. EINVAL, ENOMEM, EFULL. */
troupe_err_t trp_cluster_create(const trp_cluster_driver_options_t *options,
                                trp_cluster_t **ret_cluster);

/* Begins to seek. After runtime and link have started; not on a dispatcher. ENOMEM, EINVAL. */
troupe_err_t trp_cluster_start(trp_cluster_t *cluster);

/* Says good-bye if it is still a member, and does nothing any more. While the link still runs; not on
 * a dispatcher. Twice is once, NULL is fine. */
void trp_cluster_stop(trp_cluster_t *cluster);

/* After the dispatchers have ended. NULL is fine. */
void trp_cluster_destroy(trp_cluster_t **cluster_p);

/* ---- any thread; ENOTREADY before start ------------------------------------------------------- */

troupe_err_t trp_cluster_leave(trp_cluster_t *cluster);
/* A member that was held may become up. */
troupe_err_t trp_cluster_ready(trp_cluster_t *cluster);
troupe_err_t trp_cluster_join(trp_cluster_t *cluster, const char *const *addresses, size_t len);
/* ENODE, EPERM. */
troupe_err_t trp_cluster_down(trp_cluster_t *cluster, uint64_t uid);
troupe_err_t trp_cluster_leave_member(trp_cluster_t *cluster, uint64_t uid);

/* Copies up to `capacity` members; ret_len tells how many there are. */
troupe_err_t trp_cluster_members(trp_cluster_t *cluster, troupe_member_t *ret_members,
                                 size_t capacity, size_t *ret_len);
/* ENODE. */
troupe_err_t trp_cluster_member(trp_cluster_t *cluster, uint64_t uid, troupe_member_t *ret_member);
/* 0: nobody. */
uint64_t trp_cluster_leader(trp_cluster_t *cluster);
uint64_t trp_cluster_oldest(trp_cluster_t *cluster);
uint32_t trp_cluster_health(trp_cluster_t *cluster);
void trp_cluster_stats(trp_cluster_t *cluster, trp_cluster_stats_t *ret_stats);
/* The type of the messages to subscribers, and the actor that takes subscriptions (none yet: all 0). */
troupe_type_t trp_cluster_event_type(const trp_cluster_t *cluster);
troupe_type_t trp_cluster_subscribe_type(const trp_cluster_t *cluster);
troupe_ref_t trp_cluster_actor(const trp_cluster_t *cluster);

/* The cluster of a dispatcher's node; NULL when it has none. */
trp_cluster_t *trp_cluster_of(const trp_dispatcher_t *d);

#endif
