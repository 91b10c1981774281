/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The bodies of handshake frames: HELLO, WELCOME and REFUSE, as msgpack maps with short string keys.
 * Keys that are not known are skipped, so that a newer node can say more.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_LINK_HELLO_H
#define TROUPE_LINK_HELLO_H

#include <stdint.h>

#include <troupe/error.h>

#include "base/buf.h"
#include "base/view.h"
#include "net/link/limits.h"

#define TRP_LINK_VERSION 1u     /* Of the protocol. */
#define TRP_LINK_VERSION_MIN 1u /* The oldest that this code still speaks. */

/* Capabilities: a bit each. A node uses one only when both have it. */
#define TRP_LINK_CAP_BULK UINT64_C(1)
#define TRP_LINK_CAP_TOPICS UINT64_C(2)
#define TRP_LINK_CAP_TRACE UINT64_C(4)
#define TRP_LINK_CAPS (TRP_LINK_CAP_BULK | TRP_LINK_CAP_TOPICS | TRP_LINK_CAP_TRACE)

typedef struct trp_hello_section {
    trp_view_t name;
    trp_view_t data;
} trp_hello_section_t;

/* What both HELLO and WELCOME say of the pair of connections and of the streams. */
typedef struct trp_hello_pair {
    uint64_t nonce;      /* Of the sender's control connection. */
    uint64_t echo;       /* Nonce of the receiver's, that this answers; 0 in a first HELLO. */
    uint64_t generation; /* Orders the sessions of two incarnations. */
    uint64_t tables;     /* Which tables of definitions the sender has for the receiver's stream. */
    uint64_t next_ordinary; /* First sequence that the sender has not taken yet. */
    uint64_t next_control;
    uint64_t window; /* Bytes of frames that the sender lets be under way. */
} trp_hello_pair_t;

typedef struct trp_hello {
    uint64_t version;
    uint64_t version_min;
    uint64_t uid;
    uint64_t expect; /* The uid that the sender looks for; 0: anyone. */
    uint64_t capabilities;
    trp_view_t cluster;
    trp_view_t name;
    trp_view_t address; /* Where the sender can be dialled back. */
    trp_hello_pair_t pair;
    trp_hello_section_t sections[TRP_LINK_SECTIONS_MAX];
    uint32_t section_len;
} trp_hello_t;

typedef struct trp_refusal {
    troupe_err_t reason;
    uint64_t uid; /* Of the node that refuses; 0: it doesn't say. */
    trp_view_t text;
} trp_refusal_t;

/* Add the encoding to the buffer. ENOMEM, ETOOBIG. */
troupe_err_t trp_hello_put(const trp_hello_t *hello, trp_buf_t *out);
troupe_err_t trp_hello_put_pair(const trp_hello_pair_t *pair, trp_buf_t *out);
troupe_err_t trp_hello_put_refusal(const trp_refusal_t *refusal, trp_buf_t *out);

/* Read one; the views point into the body. EPROTOCOL when it is malformed, over a limit, or lacks what
 * it must say. */
troupe_err_t trp_hello_get(trp_view_t body, trp_hello_t *ret_hello);
troupe_err_t trp_hello_get_pair(trp_view_t body, trp_hello_pair_t *ret_pair);
troupe_err_t trp_hello_get_refusal(trp_view_t body, trp_refusal_t *ret_refusal);

#endif
