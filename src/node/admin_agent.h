/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The agent: an actor that publishes, subscribes, tells and asks for one admin client. It takes orders
 * from the client's inbox and sends notes to it (admin_wire.h). It ends by itself when its client has
 * given the order, and with the node at the latest.
 *
 * Thread rule: any thread but a dispatcher's. */

#ifndef TROUPE_NODE_ADMIN_AGENT_H
#define TROUPE_NODE_ADMIN_AGENT_H

#include <troupe/error.h>
#include <troupe/ref.h>
#include <troupe/type.h>

typedef struct trp_node trp_node_t;

/* Spawns an agent under /system that answers to `inbox`. */
troupe_err_t trp_admin_agent_spawn(trp_node_t *node, troupe_ref_t inbox, troupe_type_t type,
                                   troupe_ref_t *ret_agent);

#endif
