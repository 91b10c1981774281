/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The admin socket: local clients ask a node what it knows and make it do things.
 *
 * A Unix socket of mode 0600, one thread that accepts, and one thread for each client, of which there
 * are at most a handful: so whatever a client does, or doesn't do, it does to its own thread alone.
 * The socket's name is locked beside it (PATH.lock), so that two nodes never take it from each other
 * and what a killed node left behind is cleared away.
 *
 * Thread rule: open and close on the node's starting and stopping threads. */

#ifndef TROUPE_NODE_ADMIN_H
#define TROUPE_NODE_ADMIN_H

#include <troupe/error.h>

typedef struct trp_admin trp_admin_t;
typedef struct trp_node trp_node_t;

/* After the runtime and the link have started. EADDRINUSE: another node has the socket; ECONFIG: the
 * path is too long, or its folder isn't there or not ours to write to; ESYSTEM; ENOMEM. */
troupe_err_t trp_admin_open(trp_node_t *node, trp_admin_t **ret_admin);

/* Cuts all clients off, joins their threads and removes the socket. NULL is fine. */
void trp_admin_close(trp_admin_t **admin_p);

#endif
