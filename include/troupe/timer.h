/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Timers by key: a message to oneself, later or again and again.
 *
 * A timer belongs to its actor: starting a key again replaces the timer of that key; a restart or stop
 * cancels all. Once cancelled or replaced a timer never fires again, also when its message was already
 * queued. Resolution is about one millisecond; a periodic timer keeps its phase and, when its actor
 * was late, skips what it missed. Since 0.1. */

#ifndef TROUPE_TIMER_H
#define TROUPE_TIMER_H

#include <troupe/actor.h>

TROUPE_BEGIN_DECLS

/* Sends the body to the caller itself after `delay_ms`. EINVAL, ETYPE, ETOOBIG, ENOMEM. */
TROUPE_API troupe_err_t troupe_timer_once(troupe_actor_t *self, uint64_t key, uint64_t delay_ms,
                                          troupe_type_t type, const void *body, size_t size);
/* Sends it every `period_ms` (at least 1), for the first time after one period. */
TROUPE_API troupe_err_t troupe_timer_every(troupe_actor_t *self, uint64_t key, uint64_t period_ms,
                                           troupe_type_t type, const void *body, size_t size);
/* True when there was a timer of that key. */
TROUPE_API bool troupe_timer_cancel(troupe_actor_t *self, uint64_t key);
TROUPE_API void troupe_timer_cancel_all(troupe_actor_t *self);
TROUPE_API bool troupe_timer_is_active(const troupe_actor_t *self, uint64_t key);

/* Raises TROUPE_SIGNAL_RECEIVE_TIMEOUT each time no message came for `timeout_ms`; 0 ends it. */
TROUPE_API troupe_err_t troupe_receive_timeout(troupe_actor_t *self, uint64_t timeout_ms);

TROUPE_END_DECLS

#endif
