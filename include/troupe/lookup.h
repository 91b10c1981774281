/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Looking up actors of other nodes by address, "troupe://name@host:port/user/chat/room-7". Since 0.1. */

#ifndef TROUPE_LOOKUP_H
#define TROUPE_LOOKUP_H

#include <troupe/ask.h>

TROUPE_BEGIN_DECLS

#define TROUPE_ADDRESS_SIZE_MAX 2560 /* Bytes of an address with its path, and its zero. */

/* Asks the member at that address for the actor of that path; the name before the @ is for people. The
 * answer comes as that of an ask, and its body is a troupe_ref_t. Its errors: ENOENT: there is no such
 * actor; ENODE: no such member is known here; EUNREACHABLE; ETIMEOUT. Errors returned at once: EINVAL:
 * the address is malformed; those of troupe_ask. */
TROUPE_API troupe_err_t troupe_lookup_at(troupe_actor_t *self, const char *address,
                                         uint32_t timeout_ms, troupe_reply_fn on_reply,
                                         void *context);

TROUPE_END_DECLS

#endif
