/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's side of the cluster. */

#include "node/node_cluster.h"
#include <stddef.h>
troupe_err_t trp_node_cluster_create(trp_node_t *n, trp_node_cluster_t **r)
{
    (void)n;
    *r = NULL;
    return TROUPE_OK;
}
troupe_err_t trp_node_cluster_start(trp_node_cluster_t *c)
{
    (void)c;
    return TROUPE_OK;
}
troupe_err_t trp_node_cluster_leave(trp_node_cluster_t *c)
{
    (void)c;
    return TROUPE_OK;
}
troupe_err_t trp_node_cluster_leave_and_wait(trp_node_cluster_t *c, uint64_t d)
{
    (void)c;
    (void)d;
    return TROUPE_OK;
}
troupe_err_t trp_node_cluster_members(trp_node_cluster_t *c, troupe_member_t **m, size_t *l)
{
    (void)c;
    *m = NULL;
    *l = 0;
    return TROUPE_OK;
}
uint64_t trp_node_cluster_leader(trp_node_cluster_t *c)
{
    (void)c;
    return 0;
}
uint64_t trp_node_cluster_oldest(trp_node_cluster_t *c)
{
    (void)c;
    return 0;
}
troupe_err_t trp_node_cluster_down(trp_node_cluster_t *c, uint64_t u)
{
    (void)c;
    (void)u;
    return TROUPE_OK;
}
troupe_err_t trp_node_cluster_leave_member(trp_node_cluster_t *c, uint64_t u)
{
    (void)c;
    (void)u;
    return TROUPE_OK;
}
void trp_node_cluster_stop(trp_node_cluster_t *c)
{
    (void)c;
}
void trp_node_cluster_destroy(trp_node_cluster_t **c)
{
    (void)c;
}
