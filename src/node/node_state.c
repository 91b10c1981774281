/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A node's state: changing it, waiting for it, telling of it. */

#include <errno.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/clock.h"
#include "node/node_private.h"

const char *troupe_node_state_name(troupe_node_state_t state)
{
    static const char *const names[] = {
        [TROUPE_NODE_CREATED] = "created", [TROUPE_NODE_JOINING] = "joining",
        [TROUPE_NODE_UP] = "up",           [TROUPE_NODE_LEAVING] = "leaving",
        [TROUPE_NODE_LEFT] = "left",       [TROUPE_NODE_DOWN] = "down",
        [TROUPE_NODE_REFUSED] = "refused", [TROUPE_NODE_STOPPING] = "stopping",
        [TROUPE_NODE_STOPPED] = "stopped",
    };
    return (size_t)state < TRP_ARRAY_LEN(names) ? names[state] : "unknown";
}

/* A refused node goes on trying, so it may still join; all else goes one way. */
static bool node_may_change(troupe_node_state_t from, troupe_node_state_t to)
{
    if (from == TROUPE_NODE_REFUSED && to < TROUPE_NODE_REFUSED) {
        return true;
    }
    if (to == TROUPE_NODE_REFUSED) {
        return from == TROUPE_NODE_JOINING;
    }
    return to > from;
}

/* True when the state was changed. */
static bool node_change_state(trp_node_t *node, troupe_node_state_t state, troupe_err_t reason)
{
    pthread_mutex_lock(&node->mutex);
    troupe_node_state_t from = (troupe_node_state_t)atomic_load(&node->state);
    bool is_changed = node_may_change(from, state);
    if (is_changed) {
        node->reason = reason;
        atomic_store(&node->state, (uint32_t)state);
        pthread_cond_broadcast(&node->changed);
    }
    pthread_mutex_unlock(&node->mutex);
    return is_changed;
}

/* The program is told under a lock of its own, which nothing else takes: otherwise it could hear of two
 * changes in the wrong order. */
void trp_node_set_state(trp_node_t *node, troupe_node_state_t state, troupe_err_t reason)
{
    TRP_ASSERT(node != NULL);
    const troupe_node_options_t *options = &node->settings.values.node;
    pthread_mutex_lock(&node->telling);
    if (node_change_state(node, state, reason)) {
        TRP_LOG(&node->log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "node.state", "state=%s reason=%s",
                troupe_node_state_name(state), troupe_err_name(reason));
        if (options->on_state != NULL) {
            options->on_state(&node->base, state, reason, options->on_state_user);
        }
    }
    pthread_mutex_unlock(&node->telling);
}

troupe_err_t trp_node_wait_state(trp_node_t *node, uint32_t mask, uint64_t deadline_ns,
                                 troupe_node_state_t *ret_state, troupe_err_t *ret_reason)
{
    struct timespec until = {(time_t)(deadline_ns / TRP_NS_PER_S),
                             (long)(deadline_ns % TRP_NS_PER_S)};
    int result = 0;
    pthread_mutex_lock(&node->mutex);
    uint32_t state = atomic_load(&node->state);
    while ((TRP_NODE_STATE_BIT(state) & mask) == 0 && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&node->changed, &node->mutex, &until);
        state = atomic_load(&node->state);
    }
    bool is_there = (TRP_NODE_STATE_BIT(state) & mask) != 0;
    *ret_state = (troupe_node_state_t)state;
    *ret_reason = node->reason;
    pthread_mutex_unlock(&node->mutex);
    return is_there ? TROUPE_OK : TROUPE_ETIMEOUT;
}

/* ---- public ------------------------------------------------------------------------------------ */

troupe_node_state_t troupe_node_state(const troupe_node_t *node)
{
    return node != NULL ? (troupe_node_state_t)atomic_load(&trp_node_of_const(node)->state)
                        : TROUPE_NODE_STOPPED;
}

bool troupe_node_is_up(const troupe_node_t *node)
{
    return troupe_node_state(node) == TROUPE_NODE_UP;
}

troupe_err_t troupe_node_wait_up(troupe_node_t *node, uint32_t timeout_ms)
{
    if (node == NULL) {
        return TROUPE_EINVAL;
    }
    /* Everything but the states on the way up. */
    uint32_t mask =
        ~(TRP_NODE_STATE_BIT(TROUPE_NODE_CREATED) | TRP_NODE_STATE_BIT(TROUPE_NODE_JOINING));
    uint64_t deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(timeout_ms));
    troupe_node_state_t state = TROUPE_NODE_CREATED;
    troupe_err_t reason = TROUPE_OK;
    troupe_err_t err = trp_node_wait_state(trp_node_of(node), mask, deadline, &state, &reason);
    if (err != TROUPE_OK || state == TROUPE_NODE_UP) {
        return err;
    }
    if (state == TROUPE_NODE_REFUSED) {
        return reason != TROUPE_OK ? reason : TROUPE_EREFUSED;
    }
    return state == TROUPE_NODE_DOWN ? TROUPE_EUNREACHABLE : TROUPE_ESTOPPED;
}
