/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Holding: an actor that takes only answers and signals for a while. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_HOLD_H
#define TROUPE_ACTOR_HOLD_H

#include "actor/extra.h"

#define TRP_HOLD_MS_DEFAULT 30000u

/* Ends a hold without a word. */
void trp_hold_cancel(trp_dispatcher_t *d, troupe_actor_t *cell);
/* A hold reached its deadline: ends it and raises the signal. Inside an activation. */
void trp_hold_expired(trp_dispatcher_t *d, troupe_actor_t *cell);

#endif
