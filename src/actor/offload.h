/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The offload pool: a bounded queue of blocking work, a few threads, results back by the injector.
 * Thread rule: the queue has a mutex; results are taken by the owner dispatcher. */

#ifndef TROUPE_ACTOR_OFFLOAD_H
#define TROUPE_ACTOR_OFFLOAD_H

#include "actor/extra.h"

troupe_err_t trp_offload_create(trp_runtime_t *runtime, uint32_t threads, uint32_t queue_max,
                                trp_offload_t **ret_offload);
/* Lets running work end; what was queued is not begun and comes back as TROUPE_ECANCELED. */
void trp_offload_stop(trp_offload_t *offload);
void trp_offload_destroy(trp_offload_t **offload);

/* TRP_SYSTEM_OFFLOADED out of a mailbox. */
troupe_err_t trp_offload_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* The same, for an actor that has ended: the context is given back to its maker. Frees the message. */
void trp_offload_abandon(trp_dispatcher_t *d, trp_message_t *message);

#endif
