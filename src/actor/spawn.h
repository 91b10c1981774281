/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Spawning: on this dispatcher, on another by a leased slot, and from plain threads.
 * Thread rule: owner dispatcher, unless a function says otherwise. */

#ifndef TROUPE_ACTOR_SPAWN_H
#define TROUPE_ACTOR_SPAWN_H

#include <pthread.h>
#include <stdbool.h>

#include "actor/dispatcher.h"

/* A plain thread that waits for an init. */
typedef struct trp_spawn_waiter {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool is_done;
    troupe_err_t err;
    troupe_ref_t ref;
} trp_spawn_waiter_t;

void trp_spawn_waiter_init(trp_spawn_waiter_t *waiter);
void trp_spawn_waiter_fini(trp_spawn_waiter_t *waiter);
/* Any thread; the waiter may be gone as soon as this has returned. */
void trp_spawn_waiter_done(trp_spawn_waiter_t *waiter, troupe_err_t err);
/* Waits without a deadline: a dispatcher that lives always answers. */
troupe_err_t trp_spawn_waiter_wait(trp_spawn_waiter_t *waiter);

/* Makes a child of `parent`, told to `waiter` (may be NULL) after its init. */
troupe_err_t trp_spawn(troupe_actor_t *parent, const troupe_behavior_t *behavior,
                       const troupe_spawn_options_t *options, trp_spawn_waiter_t *waiter,
                       troupe_ref_t *ret_ref);

/* Makes a top-level actor on this dispatcher; its id is leased and its name entered. */
troupe_err_t trp_spawn_guardian(trp_dispatcher_t *d, const troupe_behavior_t *behavior,
                                const char *name, uint64_t *ret_id);
/* A top-level actor has ended (runtime.c). */
void trp_guardian_ended(trp_runtime_t *runtime, uint64_t id);

/* An id on another (or this) dispatcher. */
troupe_err_t trp_spawn_lease(trp_dispatcher_t *d, uint32_t index, uint64_t *ret_id);

#endif
