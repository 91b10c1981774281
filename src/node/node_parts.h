/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* How the settings become the options of the rooms.
 *
 * Thread rule: the creator's thread. */

#ifndef TROUPE_NODE_NODE_PARTS_H
#define TROUPE_NODE_NODE_PARTS_H

#include "node/node_private.h"

troupe_err_t trp_node_make_runtime(trp_node_t *node);
troupe_err_t trp_node_make_link(trp_node_t *node);
/* Makes none when the node has not the role for it. */
troupe_err_t trp_node_make_pubsub(trp_node_t *node);

/* Whether the role that topics are limited to, if any, is among these. */
bool trp_node_has_pubsub_role(const trp_node_t *node, const char *const *roles, size_t len);

#endif
