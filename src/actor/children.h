/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* An actor's children: their ids in an array, each child knowing its index. Thread rule: the parent's
 * dispatcher. */

#ifndef TROUPE_ACTOR_CHILDREN_H
#define TROUPE_ACTOR_CHILDREN_H

#include "actor/extra.h"
#include "actor/system.h"

#define TRP_CHILDREN_MAX (1u << 24)
#define TRP_CHILD_AWAITED 1u /* An all-for-one decision waits for its answer. */

/* Enters a child; its index is the answer. ENOMEM, EFULL. */
troupe_err_t trp_children_add(trp_children_t *children, uint64_t id, uint32_t *ret_index);
/* Takes a child out; false when it isn't there. */
bool trp_children_remove(trp_children_t *children, uint64_t id, uint32_t index);
void trp_children_fini(trp_children_t *children);
bool trp_children_has(const trp_children_t *children, uint64_t id, uint32_t index);

/* The first child at `*index` or behind; 0 when there is none. Moves *index behind it. */
uint64_t trp_children_next(const trp_children_t *children, uint32_t *index);

/* TRP_SYSTEM_CHILD_ENDED: books the end at once, then leaves the signal in its place. */
void trp_children_ended(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* Sends a system message to all children. */
void trp_children_tell(trp_dispatcher_t *d, troupe_actor_t *cell, trp_system_kind_t kind,
                       const void *body, size_t size);

#endif
