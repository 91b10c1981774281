/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Plain threads and actors: a *port* sends, an *inbox* receives.
 *
 * An inbox has a reference like any actor, so that actors can tell and answer it, and a file
 * descriptor that is readable while messages wait: put it into your own poll or epoll loop. Both may
 * be used from any thread; calls on the same inbox or port from several threads take turns. Close
 * every port and inbox before the node is destroyed. Since 0.1. */

#ifndef TROUPE_INBOX_H
#define TROUPE_INBOX_H

#include <troupe/actor.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_port troupe_port_t;
typedef struct troupe_inbox troupe_inbox_t;

/* ---- ports ----------------------------------------------------------------------------------- */

TROUPE_API troupe_err_t troupe_port_open(troupe_node_t *node, troupe_port_t **ret_port);
TROUPE_API void troupe_port_close(troupe_port_t **port);
/* Sends like troupe_tell. When the receiver's dispatcher is behind, waits up to `timeout_ms` for room
 * (0: not at all) and then returns TROUPE_EFULL. The sender is `from`, which may be none. */
TROUPE_API troupe_err_t troupe_port_tell(troupe_port_t *port, troupe_ref_t to, troupe_ref_t from,
                                         troupe_type_t type, const void *body, size_t size,
                                         uint32_t timeout_ms);
TROUPE_API void troupe_port_poison(troupe_port_t *port, troupe_ref_t who);
TROUPE_API void troupe_port_kill(troupe_port_t *port, troupe_ref_t who);

/* ---- inboxes --------------------------------------------------------------------------------- */

typedef struct troupe_inbox_options {
    size_t size;            /* sizeof(troupe_inbox_options_t) */
    const char *name;       /* Under /user; NULL: made from its id. */
    uint32_t queue_len_max; /* 0: 65,536; more are dead letters ("mailbox full"). */
} troupe_inbox_options_t;

#define TROUPE_INBOX_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(troupe_inbox_options_t), 0, 0                                                       \
    }

TROUPE_API troupe_err_t troupe_inbox_open(troupe_node_t *node,
                                          const troupe_inbox_options_t *options,
                                          troupe_inbox_t **ret_inbox);
TROUPE_API void troupe_inbox_close(troupe_inbox_t **inbox);
TROUPE_API troupe_ref_t troupe_inbox_ref(const troupe_inbox_t *inbox);
/* Readable while a message waits. Owned by the inbox; poll it, don't read it. */
TROUPE_API int troupe_inbox_fd(const troupe_inbox_t *inbox);

/* A received message that its receiver owns until troupe_letter_free. */
typedef struct troupe_letter troupe_letter_t;
/* The message inside; valid until the letter is freed. */
TROUPE_API const troupe_message_t *troupe_letter_message(const troupe_letter_t *letter);
/* Frees and nulls. NULL is allowed. */
TROUPE_API void troupe_letter_free(troupe_letter_t **letter);

/* Takes the next message, waiting up to `timeout_ms`. EAGAIN when none waits and timeout_ms is 0,
 * ETIMEOUT, ESTOPPED when the node has stopped. */
TROUPE_API troupe_err_t troupe_inbox_receive(troupe_inbox_t *inbox, uint32_t timeout_ms,
                                             troupe_letter_t **ret_letter);

/* Asks and waits for the answer. Errors as given by on_reply of troupe_ask. */
TROUPE_API troupe_err_t troupe_inbox_ask(troupe_inbox_t *inbox, troupe_ref_t to, troupe_type_t type,
                                         const void *body, size_t size, uint32_t timeout_ms,
                                         troupe_letter_t **ret_reply);
/* Tells, with the inbox as the sender. As troupe_port_tell. */
TROUPE_API troupe_err_t troupe_inbox_tell(troupe_inbox_t *inbox, troupe_ref_t to,
                                          troupe_type_t type, const void *body, size_t size,
                                          uint32_t timeout_ms);

/* ---- from outside ---------------------------------------------------------------------------- */

/* Spawns an actor under /user from any thread; waits until its init has run and returns its error. */
TROUPE_API troupe_err_t troupe_node_spawn(troupe_node_t *node, const troupe_behavior_t *behavior,
                                          const troupe_spawn_options_t *options,
                                          troupe_ref_t *ret_ref);
/* Finds a named actor by path from any thread. */
TROUPE_API troupe_err_t troupe_node_lookup(troupe_node_t *node, const char *path,
                                           troupe_ref_t *ret_ref);

TROUPE_END_DECLS

#endif
