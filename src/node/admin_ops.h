/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The operations of the admin socket. Each answers its client and returns OK, or the error that ends
 * the session.
 *
 * Thread rule: the session's thread. */

#ifndef TROUPE_NODE_ADMIN_OPS_H
#define TROUPE_NODE_ADMIN_OPS_H

#include "node/admin_request.h"
#include "node/admin_session.h"

troupe_err_t trp_admin_ops_run(trp_admin_session_t *session, const trp_admin_request_t *request);

/* admin_cluster.c */
troupe_err_t trp_admin_members(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_links(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_ping(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_leave(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_down(trp_admin_session_t *session, const trp_admin_request_t *request);

/* admin_look.c */
troupe_err_t trp_admin_info(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_topics(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_stats(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_tree(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_log(trp_admin_session_t *session, const trp_admin_request_t *request);

/* admin_message.c */
troupe_err_t trp_admin_pub(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_sub(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_tell(trp_admin_session_t *session, const trp_admin_request_t *request);
troupe_err_t trp_admin_ask(trp_admin_session_t *session, const trp_admin_request_t *request);

#endif
