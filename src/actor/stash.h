/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The stash: messages put aside, oldest first. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_STASH_H
#define TROUPE_ACTOR_STASH_H

#include "actor/extra.h"

/* Keeps the message that was handled; the extra part is there. */
void trp_stash_put(troupe_actor_t *cell, trp_message_t *message);
/* The oldest; NULL when there is none. */
trp_message_t *trp_stash_pop(troupe_actor_t *cell);
/* Puts all back in front of the mailbox. */
void trp_stash_unstash(trp_dispatcher_t *d, troupe_actor_t *cell);

#endif
