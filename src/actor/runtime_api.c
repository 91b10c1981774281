/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the runtime offers to plain threads: spawning, look-up, types, the news that a node has gone. */

#include <string.h>

#include <troupe/inbox.h>

#include "actor/answer.h"
#include "actor/deliver.h"
#include "actor/outside.h"
#include "actor/runtime.h"
#include "actor/spawn.h"
#include "actor/watch.h"
#include "base/assert.h"

/* ---- spawning ---------------------------------------------------------------------------- */

typedef struct outside_spawn {
    uint64_t guardian;
    const troupe_behavior_t *behavior;
    const troupe_spawn_options_t *options;
    trp_spawn_waiter_t *waiter;
} outside_spawn_t;

static void outside_spawn_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    outside_spawn_t order;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    troupe_actor_t *guardian = trp_cell_find(d, order.guardian);
    troupe_err_t err = TROUPE_ESTOPPED;
    if (guardian != NULL) {
        err = trp_spawn(guardian, order.behavior, order.options, order.waiter, &order.waiter->ref);
    }
    if (err != TROUPE_OK) {
        trp_spawn_waiter_done(order.waiter, err);
    }
}

static void outside_spawn_abandon(trp_dispatcher_t *d, void *payload, size_t size)
{
    outside_spawn_t order;
    (void)d;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    trp_spawn_waiter_done(order.waiter, TROUPE_ESTOPPED);
}

troupe_err_t trp_runtime_spawn(trp_runtime_t *runtime, uint64_t guardian,
                               const troupe_behavior_t *behavior,
                               const troupe_spawn_options_t *options, troupe_ref_t *ret_ref)
{
    if (trp_outside_is_inside(runtime)) {
        return TROUPE_ETHREAD;
    }
    trp_spawn_waiter_t waiter;
    trp_spawn_waiter_init(&waiter);
    outside_spawn_t order = {guardian, behavior, options, &waiter};
    trp_task_t task = {outside_spawn_task, outside_spawn_abandon, &order, sizeof(order)};
    troupe_err_t err = trp_runtime_post_task(runtime, trp_runtime_system_index(runtime), &task);
    if (err == TROUPE_OK) {
        err = trp_spawn_waiter_wait(&waiter);
    }
    if (err == TROUPE_OK && ret_ref != NULL) {
        *ret_ref = waiter.ref;
    }
    trp_spawn_waiter_fini(&waiter);
    return err;
}

troupe_err_t trp_runtime_spawn_system(trp_runtime_t *runtime, const troupe_behavior_t *behavior,
                                      const troupe_spawn_options_t *options, troupe_ref_t *ret_ref)
{
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    if (options != NULL) {
        spawn = *options;
    }
    spawn.group = TRP_GROUP_SYSTEM;
    return trp_runtime_spawn(runtime, runtime->guardian_system, behavior, &spawn, ret_ref);
}

troupe_err_t troupe_node_spawn(troupe_node_t *node, const troupe_behavior_t *behavior,
                               const troupe_spawn_options_t *options, troupe_ref_t *ret_ref)
{
    if (node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_runtime_t *runtime = trp_node_runtime(node);
    return trp_runtime_spawn(runtime, runtime->guardian_user, behavior, options, ret_ref);
}

troupe_err_t troupe_node_lookup(troupe_node_t *node, const char *path, troupe_ref_t *ret_ref)
{
    if (node == NULL || ret_ref == NULL) {
        return TROUPE_EINVAL;
    }
    trp_runtime_t *runtime = trp_node_runtime(node);
    uint64_t id = 0;
    troupe_err_t err = trp_names_resolve(&runtime->names, path, &id);
    if (err == TROUPE_OK) {
        *ret_ref = (troupe_ref_t){runtime->uid, id};
    }
    return err;
}

troupe_err_t troupe_type_register(troupe_node_t *node, const troupe_type_options_t *options,
                                  troupe_type_t *ret_type)
{
    if (node == NULL || ret_type == NULL) {
        return TROUPE_EINVAL;
    }
    return trp_types_register(&trp_node_runtime(node)->types, options, ret_type);
}

troupe_err_t troupe_type_find(troupe_node_t *node, const char *name, troupe_type_t *ret_type)
{
    if (node == NULL || name == NULL || ret_type == NULL) {
        return TROUPE_EINVAL;
    }
    return trp_types_find(&trp_node_runtime(node)->types, name, strlen(name), ret_type);
}

const char *troupe_type_name(troupe_node_t *node, troupe_type_t type)
{
    const trp_type_t *found = trp_types_at(&trp_node_runtime(node)->types, type.id);
    return found == NULL ? NULL : found->name;
}

/* ---- a node goes ----------------------------------------------------------------------------- */

typedef struct node_down {
    uint64_t uid;
    troupe_err_t reason;
} node_down_t;

static void node_down_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    node_down_t down;
    TRP_ASSERT(size == sizeof(down));
    memcpy(&down, payload, sizeof(down));
    trp_asks_node_down(d, down.uid, down.reason);
    trp_watch_node_down(d, down.uid, down.reason);
}

void trp_runtime_node_down(trp_runtime_t *runtime, uint64_t uid, troupe_err_t reason)
{
    node_down_t down = {uid, reason};
    for (uint32_t i = 0; i < runtime->len; i++) {
        (void)!trp_runtime_post(runtime, i, node_down_task, &down, sizeof(down));
    }
}
