/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Asking: a message that wants one answer, with a deadline.
 *
 * The answer comes back as a call of `on_reply` on the asker's own dispatcher, between two receives.
 * Exactly one call is made for each ask: with the reply, or with an error: ETIMEOUT, ENOACTOR (nobody
 * there), EUNREACHABLE / ENODE (its node), EFULL (its mailbox refused), ESTOPPED. An asker that stops
 * or restarts gets no more calls; late replies are counted as dead letters. Since 0.1. */

#ifndef TROUPE_ASK_H
#define TROUPE_ASK_H

#include <troupe/actor.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_reply {
    troupe_err_t error; /* OK: `message` is the reply. */
    troupe_message_t message;
} troupe_reply_t;

/* Errors returned are failures as in receive. */
typedef troupe_err_t (*troupe_reply_fn)(troupe_actor_t *self, void *state,
                                        const troupe_reply_t *reply, void *context);

#define TROUPE_ASK_TIMEOUT_MAX_MS 86400000u

/* Asks `to`. `context` is the caller's and is passed to on_reply as it is. Errors of troupe_tell, and
 * EFULL when the dispatcher has no ask slot left, EINVAL for a time-out of 0 or beyond the maximum. */
TROUPE_API troupe_err_t troupe_ask(troupe_actor_t *self, troupe_ref_t to, troupe_type_t type,
                                   const void *body, size_t size, uint32_t timeout_ms,
                                   troupe_reply_fn on_reply, void *context);

TROUPE_END_DECLS

#endif
