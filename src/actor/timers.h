/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Keyed timers and the receive timeout. A firing is a message that names its timer's key and turn; it
 * counts only while a timer of that key and turn exists. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_TIMERS_H
#define TROUPE_ACTOR_TIMERS_H

#include "actor/extra.h"

#define TRP_TIMERS_MAX (1u << 20) /* Of one actor. */

/* A firing out of the mailbox: runs receive, or drops it when its timer is gone. */
troupe_err_t trp_timer_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* Ends all timers and the receive timeout. */
void trp_timers_cancel_all(trp_dispatcher_t *d, troupe_actor_t *cell);

/* A message came: the receive timeout starts again. */
void trp_idle_touch(trp_dispatcher_t *d, troupe_actor_t *cell);
/* The receive timeout is over: raises the signal. Inside an activation. */
void trp_idle_expired(trp_dispatcher_t *d, troupe_actor_t *cell);

#endif
