/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Selections: a message that walks down the tree, component by component, to all that match.
 * Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_SELECTION_H
#define TROUPE_ACTOR_SELECTION_H

#include "actor/deliver.h"

/* TRP_SYSTEM_SELECT out of a mailbox: on to the children that match. */
void trp_selection_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* The same, for an actor that has ended: nothing matches. Frees the message. */
void trp_selection_abandon(trp_dispatcher_t *d, trp_message_t *message);

#endif
