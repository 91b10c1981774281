/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* One client of the admin socket, and how operations answer it.
 *
 * Thread rule: a session belongs to its own thread. */

#ifndef TROUPE_NODE_ADMIN_SESSION_H
#define TROUPE_NODE_ADMIN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/inbox.h>

#include "base/buf.h"
#include "node/admin_request.h"
#include "node/admin_wire.h"
#include "node/json.h"
#include "node/node_private.h"

#define TRP_ADMIN_IDLE_MS 60000u /* A client that asks for nothing for so long is cut off. */
#define TRP_ADMIN_WRITE_MS 5000u /* One that doesn't read for so long, too. */
#define TRP_ADMIN_GRACE_MS 500u  /* Beyond the agent's own deadline: its answer says more. */
#define TRP_ADMIN_PAGE_SIZE                                                                        \
    65536u /* Bytes of rows at which a reply is sent and another one begun. */

typedef struct trp_admin_session {
    trp_node_t *node;
    troupe_type_t type; /* Of orders and notes. */
    int fd;
    int stop_fd; /* Readable when the node stops. */
    trp_buf_t in;
    trp_buf_t out;
    trp_json_t json;
    troupe_inbox_t *inbox; /* With the agent: made when first needed. */
    troupe_ref_t agent;
} trp_admin_session_t;

/* Serves the client until it goes, errs or the node stops. Closes nothing. */
void trp_admin_session_run(trp_node_t *node, troupe_type_t type, int fd, int stop_fd);

/* ---- answering: all return OK, or the error that ends the session ------------------------------ */

/* Begins {"ok":true,...; the operation adds members and ends with _send. */
void trp_admin_reply_begin(trp_admin_session_t *session);
/* Ends the object and sends it; `has_more`: further replies follow. */
troupe_err_t trp_admin_reply_send(trp_admin_session_t *session, bool has_more);
/* Sends a refusal. `text` says more than the error; NULL: the error's own words. */
troupe_err_t trp_admin_refuse(trp_admin_session_t *session, troupe_err_t err, const char *text);

/* Begins a reply with an array `key`, for rows. */
void trp_admin_rows_begin(trp_admin_session_t *session, const char *key);
/* Between two rows: sends a page when it is full. */
troupe_err_t trp_admin_rows_next(trp_admin_session_t *session, const char *key);
troupe_err_t trp_admin_rows_end(trp_admin_session_t *session, bool is_cut);

/* ---- the agent ---------------------------------------------------------------------------------- */

/* Gives the agent an order, making inbox and agent first if need be. */
troupe_err_t trp_admin_order(trp_admin_session_t *session, const trp_admin_order_t *order);
/* Takes the next note; for troupe_letter_free. ETIMEOUT; ECANCELED: the node stops, or the
 * client has gone. */
troupe_err_t trp_admin_await(trp_admin_session_t *session, uint64_t deadline_ns,
                             trp_admin_note_t *ret_note, troupe_letter_t **ret_letter);

/* Gives the order and takes the first note; its error is returned. `ret_letter` is for
 * troupe_letter_free and may be NULL when the note's views aren't wanted. */
troupe_err_t trp_admin_exchange(trp_admin_session_t *session, const trp_admin_order_t *order,
                                uint64_t deadline_ns, trp_admin_note_t *ret_note,
                                troupe_letter_t **ret_letter);

/* From what people write to a reference: a path of this node, an address of any member, or a reference
 * as text ("#uid.id"). ENOENT; ENODE; ETIMEOUT; EINVAL: none of the three; or as _await. */
troupe_err_t trp_admin_resolve(trp_admin_session_t *session, const char *target,
                               uint32_t timeout_ms, troupe_ref_t *ret_ref);

/* True when the error ends the session, rather than the operation. */
bool trp_admin_is_over(troupe_err_t err);

#endif
