/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Finds the operation of a request. */

#include "node/admin_ops.h"

#include "base/assert.h"
#include "base/attr.h"

typedef troupe_err_t (*admin_op_fn)(trp_admin_session_t *session,
                                    const trp_admin_request_t *request);

troupe_err_t trp_admin_ops_run(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    static const admin_op_fn ops[] = {
        [TRP_ADMIN_INFO] = trp_admin_info,       [TRP_ADMIN_PING] = trp_admin_ping,
        [TRP_ADMIN_MEMBERS] = trp_admin_members, [TRP_ADMIN_LINKS] = trp_admin_links,
        [TRP_ADMIN_TOPICS] = trp_admin_topics,   [TRP_ADMIN_STATS] = trp_admin_stats,
        [TRP_ADMIN_TREE] = trp_admin_tree,       [TRP_ADMIN_PUB] = trp_admin_pub,
        [TRP_ADMIN_SUB] = trp_admin_sub,         [TRP_ADMIN_TELL] = trp_admin_tell,
        [TRP_ADMIN_ASK] = trp_admin_ask,         [TRP_ADMIN_LEAVE] = trp_admin_leave,
        [TRP_ADMIN_DOWN] = trp_admin_down,       [TRP_ADMIN_LOG] = trp_admin_log,
    };
    TRP_ASSERT((size_t)request->op < TRP_ARRAY_LEN(ops));
    TRP_ASSERT(ops[request->op] != NULL);
    return ops[request->op](session, request);
}
