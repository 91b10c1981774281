/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The public face: checks arguments, finds the node's cluster, asks it. */

#include <troupe/cluster.h>

#include "actor/dispatcher.h"
#include "cluster/driver.h"
#include "cluster/driver_state.h"

/* NULL: the node has no links, or isn't running. */
static trp_cluster_t *api_cluster(troupe_node_t *node)
{
    const trp_runtime_t *runtime = trp_node_runtime(node);
    if (runtime == NULL || !atomic_load_explicit(&runtime->is_running, memory_order_acquire)) {
        return NULL;
    }
    return trp_cluster_of(runtime->dispatchers[trp_runtime_system_index(runtime)]);
}

troupe_err_t troupe_cluster_members(troupe_node_t *node, troupe_member_t *ret_members,
                                    size_t capacity, size_t *ret_len)
{
    if (node == NULL || ret_len == NULL || (ret_members == NULL && capacity > 0)) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY
                           : trp_cluster_members(cluster, ret_members, capacity, ret_len);
}

troupe_err_t troupe_cluster_member(troupe_node_t *node, uint64_t uid, troupe_member_t *ret_member)
{
    if (node == NULL || ret_member == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY : trp_cluster_member(cluster, uid, ret_member);
}

/* A member that is asked for by its part; uid 0: nobody plays it. */
static troupe_err_t api_member(trp_cluster_t *cluster, uint64_t uid, troupe_member_t *ret_member)
{
    return uid == 0 ? TROUPE_ENODE : trp_cluster_member(cluster, uid, ret_member);
}

troupe_err_t troupe_cluster_leader(troupe_node_t *node, troupe_member_t *ret_member)
{
    if (node == NULL || ret_member == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY
                           : api_member(cluster, trp_cluster_leader(cluster), ret_member);
}

troupe_err_t troupe_cluster_oldest(troupe_node_t *node, troupe_member_t *ret_member)
{
    if (node == NULL || ret_member == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY
                           : api_member(cluster, trp_cluster_oldest(cluster), ret_member);
}

troupe_err_t troupe_cluster_self(troupe_node_t *node, troupe_member_t *ret_member)
{
    if (node == NULL) {
        return TROUPE_EINVAL;
    }
    return troupe_cluster_member(node, trp_node_runtime(node)->uid, ret_member);
}

troupe_err_t troupe_cluster_join(troupe_node_t *node, const char *const *addresses, size_t len)
{
    if (node == NULL || (addresses == NULL && len > 0)) {
        return TROUPE_EINVAL;
    }
    for (size_t i = 0; i < len; i++) {
        if (addresses[i] == NULL) {
            return TROUPE_EINVAL;
        }
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY : trp_cluster_join(cluster, addresses, len);
}

troupe_err_t troupe_cluster_leave(troupe_node_t *node, uint64_t uid)
{
    if (node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY : trp_cluster_leave_member(cluster, uid);
}

troupe_err_t troupe_cluster_down(troupe_node_t *node, uint64_t uid)
{
    if (node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    return cluster == NULL ? TROUPE_ENOTREADY : trp_cluster_down(cluster, uid);
}

troupe_err_t troupe_cluster_subscribe(troupe_actor_t *self, uint32_t mask)
{
    if (self == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = trp_cluster_of(self->dispatcher);
    troupe_ref_t actor = cluster == NULL ? troupe_ref_none() : trp_cluster_actor(cluster);
    if (troupe_ref_is_none(actor)) {
        return TROUPE_ENOTREADY;
    }
    troupe_ref_t own = troupe_self(self);
    trp_subscribe_message_t wish = {.node = own.node, .id = own.id, .mask = mask};
    return troupe_tell(self, actor, trp_cluster_subscribe_type(cluster), &wish, sizeof(wish));
}

troupe_err_t troupe_cluster_event_type(troupe_node_t *node, troupe_type_t *ret_type)
{
    if (node == NULL || ret_type == NULL) {
        return TROUPE_EINVAL;
    }
    trp_cluster_t *cluster = api_cluster(node);
    if (cluster == NULL) {
        return TROUPE_ENOTREADY;
    }
    *ret_type = trp_cluster_event_type(cluster);
    return TROUPE_OK;
}
