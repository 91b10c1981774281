/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's side of the cluster: feeds it seeds, and turns what it tells into the node's state and
 * into what topics must know of the members. */

#ifndef TROUPE_NODE_NODE_CLUSTER_H
#define TROUPE_NODE_NODE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/cluster.h>
#include <troupe/error.h>
#include <troupe/node.h>

typedef struct trp_node trp_node_t;
typedef struct trp_node_cluster trp_node_cluster_t;

/* Before the runtime starts. */
troupe_err_t trp_node_cluster_create(trp_node_t *node, trp_node_cluster_t **ret_cluster);
/* After the link has started: begins to join. */
troupe_err_t trp_node_cluster_start(trp_node_cluster_t *cluster);
/* Seeks the cluster at these addresses, too; begins with it if no seeds were known before. One thread at
 * a time, and none of the dispatchers. */
troupe_err_t trp_node_cluster_seek(trp_node_cluster_t *cluster, const troupe_string_list_t *seeds);
/* Asks to leave; the node's state tells the rest. Any thread. */
troupe_err_t trp_node_cluster_leave(trp_node_cluster_t *cluster);
/* Leaves and waits until the node is out. ETIMEOUT. A deadline that has passed: doesn't even ask. */
troupe_err_t trp_node_cluster_leave_and_wait(trp_node_cluster_t *cluster, uint64_t deadline_ns);
/* All members as this node sees them, in new memory for trp_free. Any thread but a dispatcher's. */
troupe_err_t trp_node_cluster_members(trp_node_cluster_t *cluster, troupe_member_t **ret_members,
                                      size_t *ret_len);
/* Who leads and who is the oldest; 0 when there is none. */
uint64_t trp_node_cluster_leader(trp_node_cluster_t *cluster);
uint64_t trp_node_cluster_oldest(trp_node_cluster_t *cluster);
/* An operator's word about another member. ENOENT: no such member; EPERM. Any thread but a dispatcher's. */
troupe_err_t trp_node_cluster_down(trp_node_cluster_t *cluster, uint64_t uid);
troupe_err_t trp_node_cluster_leave_member(trp_node_cluster_t *cluster, uint64_t uid);
/* NULL is fine. While the dispatchers still run. */
void trp_node_cluster_stop(trp_node_cluster_t *cluster);
/* After they have ended. */
void trp_node_cluster_destroy(trp_node_cluster_t **cluster_p);

#endif
