/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Offloading: blocking or long work on a pool of threads, its result back on the actor's dispatcher.
 * Since 0.1. */

#ifndef TROUPE_OFFLOAD_H
#define TROUPE_OFFLOAD_H

#include <troupe/actor.h>

TROUPE_BEGIN_DECLS

/* The work itself, on a pool thread. Must not touch the actor. */
typedef troupe_err_t (*troupe_work_fn)(void *context);
/* Its end, on the actor's dispatcher, exactly once for each accepted offload while the actor lives.
 * `self` and `state` are NULL when the actor has stopped or restarted since: free the context only. */
typedef troupe_err_t (*troupe_done_fn)(troupe_actor_t *self, void *state, troupe_err_t result,
                                       void *context);

/* Queues the work. EFULL when the bounded queue is full, EINVAL, ENOMEM, ESTOPPED. */
TROUPE_API troupe_err_t troupe_offload(troupe_actor_t *self, troupe_work_fn work,
                                       troupe_done_fn done, void *context);

TROUPE_END_DECLS

#endif
