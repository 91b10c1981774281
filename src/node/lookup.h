/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Remote lookup: an actor under /system that asks other members for actors by path, and the service
 * that answers them.
 *
 *     asker --ask(address)--> lookup actor --request--> the member's service: looks in its directory
 *     asker <---reference---- lookup actor <--reply----
 *
 * A request is {1, token, path}, a reply {2, token, error, id}: one byte, then 64-bit numbers,
 * little-endian. Thread rule: the actor and the service run on the system dispatcher. */

#ifndef TROUPE_NODE_LOOKUP_H
#define TROUPE_NODE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/lookup.h>
#include <troupe/ref.h>

#include "base/view.h"
#include "node/address.h"

typedef struct trp_node trp_node_t;

#define TRP_LOOKUP_WAITING_MAX 1024u /* Lookups under way; the oldest gives way to a new one. */

/* Registers the type and, when there are links, the service. Before the link starts. */
troupe_err_t trp_lookup_init(trp_node_t *node);
/* Spawns the actor. After the runtime has started and before the link does. */
troupe_err_t trp_lookup_start(trp_node_t *node);

/* "troupe://[name@]host:port/path": the path begins at its slash, in the text. EINVAL. */
troupe_err_t trp_lookup_parse(const char *text, trp_node_address_t *ret_address,
                              const char **ret_path);

/* A message of the service. EPROTOCOL. */
typedef struct trp_lookup_message {
    uint8_t kind; /* TRP_LOOKUP_* */
    uint64_t token;
    uint64_t error;  /* troupe_err_t, of replies. */
    uint64_t id;     /* Of replies. */
    trp_view_t path; /* Of requests. */
} trp_lookup_message_t;

enum {
    TRP_LOOKUP_REQUEST = 1,
    TRP_LOOKUP_REPLY = 2,
};

troupe_err_t trp_lookup_read(trp_view_t data, trp_lookup_message_t *ret_message);

#endif
