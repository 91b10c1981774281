/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What an admin client's thread and its agent, an actor, say to each other. Both are on one node; the
 * bytes never cross a link.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_NODE_ADMIN_WIRE_H
#define TROUPE_NODE_ADMIN_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/ref.h>

#include "base/buf.h"
#include "base/view.h"

#define TRP_ADMIN_TYPE_NAME "troupe.admin"
#define TRP_ADMIN_BODY_SIZE_MAX (64u * 1024u) /* Bytes of a body that a client sends or is shown. */
#define TRP_ADMIN_ORDER_SIZE_MAX (128u * 1024u) /* An order or a note with all its parts. */

/* What the agent is to do. */
typedef enum trp_admin_order_kind {
    TRP_ADMIN_ORDER_PUB = 1,
    TRP_ADMIN_ORDER_SUB,
    TRP_ADMIN_ORDER_TELL,
    TRP_ADMIN_ORDER_ASK,
    TRP_ADMIN_ORDER_LOOKUP, /* Of `topic`, an address; the answer's sender is what was found. */
    TRP_ADMIN_ORDER_SELECT, /* Tell all whose path matches. */
    TRP_ADMIN_ORDER_END,    /* The client has gone. */
} trp_admin_order_kind_t;

enum {
    TRP_ADMIN_FLAG_CONFIRM = 1 << 0,
    TRP_ADMIN_FLAG_GROUPS = 1 << 1,
    TRP_ADMIN_FLAG_PATTERN = 1 << 2,
};

typedef struct trp_admin_order {
    uint8_t kind;
    uint8_t flags;
    uint16_t type;
    uint32_t timeout_ms;
    uint32_t wait_ms;
    troupe_ref_t to;
    trp_view_t topic; /* Or the pattern of SELECT. */
    trp_view_t group;
    trp_view_t body;
} trp_admin_order_t;

/* What the agent answers. */
typedef enum trp_admin_note_kind {
    TRP_ADMIN_NOTE_DONE = 1, /* The order's end; `error`, and what was counted. */
    TRP_ADMIN_NOTE_REPLY,    /* The answer to an ask. */
    TRP_ADMIN_NOTE_MESSAGE,  /* Something published. */
} trp_admin_note_kind_t;

typedef struct trp_admin_note {
    uint8_t kind;
    bool is_cut;     /* The body was longer. */
    uint32_t error;  /* troupe_err_t */
    uint64_t number; /* Of messages: in order, so that a gap is seen. */
    uint64_t subscribers;
    uint64_t nodes;
    trp_view_t topic;
    trp_view_t type; /* Name. */
    trp_view_t body;
    troupe_ref_t sender;
} trp_admin_note_t;

/* The buffer is cleared first. ETOOBIG, ENOMEM. */
troupe_err_t trp_admin_order_write(const trp_admin_order_t *order, trp_buf_t *out);
troupe_err_t trp_admin_note_write(const trp_admin_note_t *note, trp_buf_t *out);

/* EPROTOCOL. The views point into the data. */
troupe_err_t trp_admin_order_read(trp_view_t data, trp_admin_order_t *ret_order);
troupe_err_t trp_admin_note_read(trp_view_t data, trp_admin_note_t *ret_note);

#endif
