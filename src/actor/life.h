/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The life of an actor: birth, failure, restart, end.
 *
 *     newborn -> running <-> suspended -> restarting -> running
 *                   \            \            \
 *                    +------------+------------+----> stopping (children first) -> ended
 *
 * Thread rule: owner dispatcher; functions that run callbacks are called inside an activation. */

#ifndef TROUPE_ACTOR_LIFE_H
#define TROUPE_ACTOR_LIFE_H

#include <stdbool.h>

#include "actor/deliver.h"

/* Runs init of a newborn; a failure begins its end. */
void trp_birth(trp_dispatcher_t *d, troupe_actor_t *cell);

/* A callback failed: the actor waits, suspended, for what its supervisor decides. */
void trp_fail(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t error);

/* Takes no more mail and asks its children to end. */
void trp_stop_begin(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t reason);
/* Ends a stopping actor that has no children left: true, and the cell is gone. Outside callbacks. */
bool trp_stop_try_finish(trp_dispatcher_t *d, troupe_actor_t *cell);

/* Ends whatever still lives as the dispatcher itself ends, parents and children in no order. */
void trp_life_end_all(trp_dispatcher_t *d);

/* restart.c */
void trp_restart_begin(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t delay_ns);
void trp_restart_children_ended(trp_dispatcher_t *d, troupe_actor_t *cell);
void trp_restart_finish(trp_dispatcher_t *d, troupe_actor_t *cell);
/* What an actor's earlier life has running: timers, asks, a hold. */
void trp_life_cancel(trp_dispatcher_t *d, troupe_actor_t *cell);

/* Takes the steps that are pending. Those that call the user's code wait while it is suspended. */
void trp_life_pending(trp_dispatcher_t *d, troupe_actor_t *cell);

/* system.c: a system message out of the mailbox or the urgent ring. The caller frees it. */
troupe_err_t trp_system_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);

/* Calls the signal callback, if there is one. */
troupe_err_t trp_signal(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_signal_kind_t kind,
                        troupe_ref_t who, troupe_err_t reason);

#endif
