/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Answers to asks: from a reply, a failure or a time-out to the asker's on_reply, exactly once.
 * Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_ANSWER_H
#define TROUPE_ACTOR_ANSWER_H

#include "actor/deliver.h"

/* A message whose target is an ask: into the asker's mailbox, or a late reply. */
void trp_answer_deliver(trp_dispatcher_t *d, trp_message_t *message);
/* Lets the asker handle an answer out of its mailbox. The caller frees the message. */
troupe_err_t trp_answer_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message);
/* Tells the asker that its message was dropped. `asker` is an ask's reference, of any node. */
void trp_answer_fail(trp_dispatcher_t *d, troupe_ref_t asker, troupe_err_t error);
/* Ends all asks of an actor that stops or restarts: no more calls. */
void trp_asks_cancel(trp_dispatcher_t *d, troupe_actor_t *cell);
/* Fails all asks to a node that has gone. */
void trp_asks_node_down(trp_dispatcher_t *d, uint64_t node, troupe_err_t reason);

#endif
