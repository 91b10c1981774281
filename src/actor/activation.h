/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* An activation: one actor handles what was in its mailbox when it began, up to a number of messages
 * and a time slice. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_ACTIVATION_H
#define TROUPE_ACTOR_ACTIVATION_H

#include "actor/dispatcher.h"

/* Runs the first cell of the run queue. The run queue must not be empty. */
void trp_activation_run(trp_dispatcher_t *d);

#endif
