/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Addresses as people write them: host:port, [v6]:port.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_NODE_ADDRESS_H
#define TROUPE_NODE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#define TRP_NODE_ADDRESS_HOST_SIZE 256 /* Bytes of a host with its zero; DNS names end at 253. */

typedef struct trp_node_address {
    char host[TRP_NODE_ADDRESS_HOST_SIZE]; /* Without brackets. */
    uint16_t port;
} trp_node_address_t;

/* EINVAL when it isn't host:port with a port of 0 to 65535 and a host of letters, digits and . - _,
 * `*` (all addresses), or an IPv6 address in brackets. */
troupe_err_t trp_node_address_parse(const char *text, trp_node_address_t *ret_address);

/* True for localhost, 127.0.0.0/8 and ::1. A name that must be resolved first is not taken for it. */
bool trp_node_address_is_loopback(const trp_node_address_t *address);

/* True for *, 0.0.0.0 and ::. */
bool trp_node_address_is_wildcard(const trp_node_address_t *address);

#endif
