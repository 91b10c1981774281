/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Requests of the admin socket: JSON from a local client, which may be anything, into a struct.
 *
 *     {"op": "pub", "topic": "orders", "body": "hello", "confirm": true}
 *
 * A field `x` of bytes may be given as `x_hex` instead. Unknown fields, wrong types and missing ones
 * are refused with words that name them.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_NODE_ADMIN_REQUEST_H
#define TROUPE_NODE_ADMIN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"
#include "node/store.h"

/* X(OP, name, fields that must be there) */
#define TRP_ADMIN_OP_TABLE(X)                                                                      \
    X(INFO, "info", 0)                                                                             \
    X(PING, "ping", 0)                                                                             \
    X(MEMBERS, "members", 0)                                                                       \
    X(LINKS, "links", 0)                                                                           \
    X(TOPICS, "topics", 0)                                                                         \
    X(STATS, "stats", 0)                                                                           \
    X(TREE, "tree", 0)                                                                             \
    X(PUB, "pub", TRP_ADMIN_HAS_TOPIC)                                                             \
    X(SUB, "sub", TRP_ADMIN_HAS_TOPIC)                                                             \
    X(TELL, "tell", TRP_ADMIN_HAS_TARGET)                                                          \
    X(ASK, "ask", TRP_ADMIN_HAS_TARGET)                                                            \
    X(LEAVE, "leave", 0)                                                                           \
    X(DOWN, "down", TRP_ADMIN_HAS_NODE)                                                            \
    X(LOG, "log", TRP_ADMIN_HAS_LEVEL)

typedef enum trp_admin_op {
#define TRP_ADMIN_OP_ENUM(op, name, fields) TRP_ADMIN_##op,
    TRP_ADMIN_OP_TABLE(TRP_ADMIN_OP_ENUM)
#undef TRP_ADMIN_OP_ENUM
} trp_admin_op_t;

/* Which fields a request has. */
enum {
    TRP_ADMIN_HAS_TOPIC = 1 << 0,
    TRP_ADMIN_HAS_TARGET = 1 << 1,
    TRP_ADMIN_HAS_NODE = 1 << 2,
    TRP_ADMIN_HAS_LEVEL = 1 << 3,
};

#define TRP_ADMIN_PROBLEM_SIZE 160
#define TRP_ADMIN_TIMEOUT_MS 5000u /* When the request says none. */
#define TRP_ADMIN_TIMEOUT_MAX_MS 600000u

/* Bytes lie in the store that was given. */
typedef struct trp_admin_request {
    trp_admin_op_t op;
    trp_view_t topic;
    trp_view_t group;
    trp_view_t body;
    const char *target; /* Path, address with path, or reference. NULL: not given. */
    const char *node;   /* Address or uid of a member. */
    const char *type;   /* Name of a registered message type; NULL: text. */
    const char *level;  /* Of a log. */
    const char *room;
    uint32_t timeout_ms;
    uint32_t wait_ms;
    uint32_t limit; /* Of rows or messages; 0: none. */
    bool confirm;
    bool to_groups;
    bool is_pattern;
} trp_admin_request_t;

const char *trp_admin_op_name(trp_admin_op_t op);

/* EPROTOCOL: `ret_problem` says why; ENOMEM. */
troupe_err_t trp_admin_request_parse(const void *data, size_t size, trp_store_t *store,
                                     trp_admin_request_t *ret_request,
                                     char ret_problem[TRP_ADMIN_PROBLEM_SIZE]);

#endif
