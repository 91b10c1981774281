/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Supervision: what a parent does about a child that failed. Thread rule: the parent's dispatcher. */

#ifndef TROUPE_ACTOR_SUPERVISE_H
#define TROUPE_ACTOR_SUPERVISE_H

#include "actor/extra.h"
#include "actor/system.h"

#define TRP_RESTARTS_MAX_DEFAULT 10u
#define TRP_WINDOW_MS_DEFAULT 60000u
#define TRP_RESTARTS_LEN_MAX (1u << 24) /* Children with a history of restarts. */

/* A child failed: decides and tells it, or all of them. Inside an activation of the parent. */
void trp_supervise(trp_dispatcher_t *d, troupe_actor_t *cell, const trp_child_failed_t *failed);
/* A sibling has answered an all-for-one decision. */
void trp_supervise_suspended(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t child,
                             const trp_suspended_t *suspended);
/* A child has ended: its history goes, and a decision waits for one less. */
void trp_supervise_child_ended(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t child,
                               bool was_awaited);
void trp_supervise_fini(trp_extra_t *extra);

#endif
