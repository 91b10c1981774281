/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/spawn.h"

#include <string.h>

#include "actor/children.h"
#include "actor/deliver.h"
#include "actor/events.h"
#include "actor/extra.h"
#include "actor/unborn.h"
#include "base/assert.h"
#include "base/memory.h"

/* What the spawner wishes beyond the defaults, on its way to the actor's dispatcher. */
typedef struct spawn_spec {
    uint32_t mailbox_len_max;
    size_t mailbox_size_max;
    troupe_overflow_t overflow;
    troupe_supervision_t supervision;
    trp_spawn_waiter_t *waiter;
} spawn_spec_t;

#define STATE_SIZE_MAX ((size_t)1024 * 1024 * 1024) /* Of state, and of args. */
#define INLINE_ARGS_SIZE 128u /* Args of this size travel in the order itself. */

/* A spawn on its way: the payload of a task, cut off behind the args that it uses. */
typedef struct spawn_order {
    uint64_t id;
    uint64_t parent;
    const troupe_behavior_t *behavior;
    trp_name_t *name; /* Own (is_named) or the parent's. */
    spawn_spec_t *spec;
    void *large_args; /* Those that don't fit below; NULL: none. */
    uint32_t child_index;
    uint32_t args_size;
    bool is_named;
    unsigned char args[INLINE_ARGS_SIZE];
} spawn_order_t;

_Static_assert(sizeof(spawn_order_t) <= TRP_TASK_SIZE_MAX, "an order fits a task");

/* ---- waiters --------------------------------------------------------------------------------- */

void trp_spawn_waiter_init(trp_spawn_waiter_t *waiter)
{
    memset(waiter, 0, sizeof(*waiter));
    (void)pthread_mutex_init(&waiter->mutex, NULL);
    (void)pthread_cond_init(&waiter->done, NULL);
}

void trp_spawn_waiter_fini(trp_spawn_waiter_t *waiter)
{
    (void)pthread_cond_destroy(&waiter->done);
    (void)pthread_mutex_destroy(&waiter->mutex);
}

void trp_spawn_waiter_done(trp_spawn_waiter_t *waiter, troupe_err_t err)
{
    pthread_mutex_lock(&waiter->mutex);
    waiter->err = err;
    waiter->is_done = true;
    pthread_cond_signal(&waiter->done);
    pthread_mutex_unlock(&waiter->mutex);
}

troupe_err_t trp_spawn_waiter_wait(trp_spawn_waiter_t *waiter)
{
    pthread_mutex_lock(&waiter->mutex);
    while (!waiter->is_done) {
        (void)pthread_cond_wait(&waiter->done, &waiter->mutex);
    }
    troupe_err_t err = waiter->err;
    pthread_mutex_unlock(&waiter->mutex);
    return err;
}

/* ---- wishes ---------------------------------------------------------------------------------- */

static bool directive_is_known(troupe_directive_t directive)
{
    return (int)directive >= 0 && directive <= TROUPE_ESCALATE;
}

static troupe_err_t options_check(const troupe_behavior_t *behavior,
                                  const troupe_spawn_options_t *options)
{
    if (behavior == NULL || behavior->size != sizeof(*behavior) || behavior->receive == NULL ||
        behavior->state_size > STATE_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    if (options == NULL) {
        return TROUPE_OK;
    }
    if (options->size != sizeof(*options) || options->args_size > STATE_SIZE_MAX ||
        (options->args == NULL && options->args_size != 0) ||
        options->overflow > TROUPE_OVERFLOW_DROP_OLDEST ||
        !directive_is_known(options->supervision.directive)) {
        return TROUPE_EINVAL;
    }
    return TROUPE_OK;
}

static bool options_are_plain(const troupe_spawn_options_t *options)
{
    const troupe_supervision_t *wish = options == NULL ? NULL : &options->supervision;
    return options == NULL ||
           (options->mailbox_len_max == 0 && options->mailbox_size_max == 0 &&
            options->overflow == TROUPE_OVERFLOW_DROP_NEWEST && (int)wish->directive == 0 &&
            !wish->all_for_one && wish->restarts_max == 0 && wish->window_ms == 0 &&
            wish->backoff_min_ms == 0 && wish->backoff_max_ms == 0);
}

/* *ret_spec is NULL when the defaults will do. */
static troupe_err_t spec_new(const troupe_spawn_options_t *options, trp_spawn_waiter_t *waiter,
                             spawn_spec_t **ret_spec)
{
    *ret_spec = NULL;
    if (options_are_plain(options) && waiter == NULL) {
        return TROUPE_OK;
    }
    spawn_spec_t *spec = trp_calloc(1, sizeof(*spec));
    if (spec == NULL) {
        return TROUPE_ENOMEM;
    }
    spec->waiter = waiter;
    if (options != NULL) {
        spec->mailbox_len_max = options->mailbox_len_max;
        spec->mailbox_size_max = options->mailbox_size_max;
        spec->overflow = options->overflow;
        spec->supervision = options->supervision;
    }
    *ret_spec = spec;
    return TROUPE_OK;
}

/* Moves the wishes into the new actor. */
static troupe_err_t spec_apply(troupe_actor_t *cell, spawn_spec_t *spec)
{
    trp_extra_t *extra = trp_extra_get(cell);
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    bool is_bounded = spec->mailbox_len_max != 0 || spec->mailbox_size_max != 0 ||
                      spec->overflow != TROUPE_OVERFLOW_DROP_NEWEST;
    cell->flags |= is_bounded ? TRP_CELL_BOUNDED : 0;
    extra->mailbox_len_max =
        spec->mailbox_len_max == 0 ? TRP_MAILBOX_LEN_MAX : spec->mailbox_len_max;
    extra->mailbox_size_max =
        spec->mailbox_size_max == 0 ? TRP_MAILBOX_SIZE_MAX : spec->mailbox_size_max;
    extra->overflow = spec->overflow;
    extra->supervision = spec->supervision;
    extra->waiter = spec->waiter;
    trp_free(spec);
    return TROUPE_OK;
}

/* ---- on the new actor's dispatcher ----------------------------------------------------------- */

/* The spawn can't be carried out: the parent is told, and the slot is given back. */
static void order_fail(trp_dispatcher_t *d, const spawn_order_t *order, troupe_err_t err)
{
    if (order->spec != NULL && order->spec->waiter != NULL) {
        trp_spawn_waiter_done(order->spec->waiter, err);
    }
    trp_free(order->spec);
    trp_free(order->large_args);
    trp_slots_free(&d->slots, trp_id_slot(order->id));
    trp_unborn_claim(d, order->id); /* Now stale: becomes dead letters. */
    trp_child_ended_t ended = {order->id, order->child_index, (uint32_t)err,
                               order->is_named ? order->name : NULL};
    trp_system_send(d, trp_dispatcher_ref(d, order->parent), TRP_SYSTEM_CHILD_ENDED, order->id,
                    &ended, sizeof(ended));
}

/* The args lie behind the state and live as long as the actor, for its restarts. */
static void cell_set_args(troupe_actor_t *cell, const spawn_order_t *order)
{
    if (order->args_size > 0) {
        cell->flags |= TRP_CELL_ARGS;
        memcpy(trp_cell_args(cell), order->large_args != NULL ? order->large_args : order->args,
               order->args_size);
    }
}

static troupe_actor_t *cell_new(trp_dispatcher_t *d, const spawn_order_t *order)
{
    size_t size = sizeof(troupe_actor_t) + order->behavior->state_size;
    if (order->args_size > 0) {
        size = sizeof(troupe_actor_t) + trp_cell_args_offset(order->behavior) + order->args_size;
    }
    troupe_actor_t *cell = trp_cells_take(&d->cells, size);
    if (cell == NULL) {
        return NULL;
    }
    memset(cell, 0, size);
    cell->id = order->id;
    cell->dispatcher = d;
    cell->receive = order->behavior->receive;
    cell->behavior = order->behavior;
    cell->flags = TRP_CELL_NEWBORN | (order->is_named ? TRP_CELL_NAMED : 0);
    cell->name = order->name;
    cell->parent = order->parent;
    cell->child_index = order->child_index;
    cell->cell_size = (uint32_t)size;
    cell_set_args(cell, order);
    return cell;
}

/* ENOMEM: nothing has happened, and what the order holds is still the caller's. */
static troupe_err_t order_carry_out(trp_dispatcher_t *d, const spawn_order_t *order)
{
    trp_slot_t *entry = trp_slots_entry(&d->slots, trp_id_slot(order->id));
    TRP_ASSERT(entry != NULL && entry->actor == NULL);
    TRP_ASSERT(entry->generation == trp_id_generation(order->id));
    troupe_actor_t *cell = cell_new(d, order);
    if (cell == NULL) {
        return TROUPE_ENOMEM;
    }
    if (order->spec != NULL && spec_apply(cell, order->spec) != TROUPE_OK) {
        trp_cells_put(&d->cells, cell, cell->cell_size);
        return TROUPE_ENOMEM;
    }
    trp_free(order->large_args);
    entry->actor = cell;
    d->actors++;
    d->spawned++;
    if (TRP_UNLIKELY(d->unborn->messages > 0)) {
        trp_unborn_claim(d, cell->id);
    }
    trp_schedule(d, cell);
    return TROUPE_OK;
}

static void order_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    TRP_ASSERT(size >= offsetof(spawn_order_t, args));
    troupe_err_t err = order_carry_out(d, payload);
    if (err != TROUPE_OK) {
        order_fail(d, payload, err);
    }
}

/* The node ends before the actor has begun. */
static void order_abandon(trp_dispatcher_t *d, void *payload, size_t size)
{
    spawn_order_t *order = payload;
    TRP_ASSERT(size >= offsetof(spawn_order_t, args));
    if (order->spec != NULL && order->spec->waiter != NULL) {
        trp_spawn_waiter_done(order->spec->waiter, TROUPE_ESTOPPED);
    }
    trp_free(order->spec);
    trp_free(order->large_args);
    if (order->is_named) {
        trp_names_remove(&d->endpoint.runtime->names, &order->name);
    }
}

/* ---- on the spawner's dispatcher ------------------------------------------------------------- */

troupe_err_t trp_spawn_lease(trp_dispatcher_t *d, uint32_t index, uint64_t *ret_id)
{
    trp_lease_t *lease = &d->leases[index];
    if (lease->len == 0) {
        troupe_err_t err = trp_slots_lease(&d->endpoint.runtime->dispatchers[index]->slots, lease);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    *ret_id = lease->ids[--lease->len];
    return TROUPE_OK;
}

/* An id that was leased and never became known goes back into the lease. */
static void lease_return(trp_dispatcher_t *d, uint64_t id)
{
    trp_lease_t *lease = &d->leases[trp_id_dispatcher(id)];
    TRP_ASSERT(lease->len < TRP_LEASE_LEN);
    lease->ids[lease->len++] = id;
}

static const trp_group_t *group_find(const trp_runtime_t *runtime, const char *name)
{
    for (uint32_t i = 0; i < runtime->groups_len; i++) {
        if (strcmp(runtime->groups[i].name, name) == 0) {
            return &runtime->groups[i];
        }
    }
    return NULL;
}

static troupe_err_t place_choose(trp_dispatcher_t *d, const troupe_spawn_options_t *options,
                                 uint32_t *ret_index)
{
    uint32_t place = options == NULL ? TROUPE_PLACE_DEFAULT : options->place;
    if (place == TROUPE_PLACE_SAME) {
        *ret_index = d->index;
        return TROUPE_OK;
    }
    const trp_runtime_t *runtime = d->endpoint.runtime;
    const trp_group_t *group = options == NULL || options->group == NULL
                                   ? &runtime->groups[0]
                                   : group_find(runtime, options->group);
    if (group == NULL) {
        return TROUPE_ENOENT;
    }
    if (place == TROUPE_PLACE_DEFAULT) {
        *ret_index = group->first + d->place_next++ % group->len;
        return TROUPE_OK;
    }
    uint32_t wanted = place - TROUPE_PLACE(0);
    if (wanted >= group->len) {
        return TROUPE_ENOENT;
    }
    *ret_index = group->first + wanted;
    return TROUPE_OK;
}

/* A parent has a name node of its own, since its children's names point to it. */
static troupe_err_t parent_prepare(trp_dispatcher_t *d, troupe_actor_t *parent)
{
    if (trp_extra_get(parent) == NULL) {
        return TROUPE_ENOMEM;
    }
    if ((parent->flags & TRP_CELL_NAMED) != 0) {
        return TROUPE_OK;
    }
    trp_name_t *own = NULL;
    troupe_err_t err =
        trp_names_add(&d->endpoint.runtime->names, parent->name, parent->id, NULL, &own);
    if (err == TROUPE_OK) {
        parent->name = own;
        parent->flags |= TRP_CELL_NAMED;
    }
    return err;
}

static troupe_err_t order_name(trp_dispatcher_t *d, troupe_actor_t *parent,
                               const troupe_spawn_options_t *options, spawn_order_t *order)
{
    order->name = parent->name;
    if (options == NULL || options->name == NULL) {
        return TROUPE_OK;
    }
    order->is_named = true;
    return trp_names_add(&d->endpoint.runtime->names, parent->name, order->id, options->name,
                         &order->name);
}

static troupe_err_t order_set_args(const troupe_spawn_options_t *options, spawn_order_t *order)
{
    if (options == NULL || options->args_size == 0) {
        return TROUPE_OK;
    }
    if (options->args_size <= INLINE_ARGS_SIZE) {
        memcpy(order->args, options->args, options->args_size);
    } else {
        order->large_args = trp_memdup(options->args, options->args_size);
        if (order->large_args == NULL) {
            return TROUPE_ENOMEM;
        }
    }
    order->args_size = (uint32_t)options->args_size;
    return TROUPE_OK;
}

/* Sends the order, or carries it out here. The child is entered first: its end may come at once. */
static troupe_err_t order_send(trp_dispatcher_t *d, troupe_actor_t *parent, spawn_order_t *order)
{
    trp_children_t *children = &parent->extra->children;
    troupe_err_t err = trp_children_add(children, order->id, &order->child_index);
    if (err != TROUPE_OK) {
        return err;
    }
    uint32_t index = trp_id_dispatcher(order->id);
    if (index == d->index) {
        err = order_carry_out(d, order);
    } else {
        size_t inline_size = order->large_args == NULL ? order->args_size : 0;
        trp_task_t task = {order_task, order_abandon, order,
                           offsetof(spawn_order_t, args) + inline_size};
        err = trp_dispatcher_post_task(d, index, &task);
    }
    if (err != TROUPE_OK) {
        (void)trp_children_remove(children, order->id, order->child_index);
    }
    return err;
}

/* Gives the order its name, args and wishes and sends it; nothing is left of it on an error. */
static troupe_err_t order_fill(trp_dispatcher_t *d, troupe_actor_t *parent,
                               const troupe_spawn_options_t *options, trp_spawn_waiter_t *waiter,
                               spawn_order_t *order)
{
    troupe_err_t err = order_name(d, parent, options, order);
    if (err != TROUPE_OK) {
        return err;
    }
    err = order_set_args(options, order);
    if (err == TROUPE_OK) {
        err = spec_new(options, waiter, &order->spec);
    }
    if (err == TROUPE_OK) {
        err = order_send(d, parent, order);
    }
    if (err != TROUPE_OK) {
        trp_free(order->spec);
        trp_free(order->large_args);
        if (order->is_named) {
            trp_names_remove(&d->endpoint.runtime->names, &order->name);
        }
    }
    return err;
}

troupe_err_t trp_spawn(troupe_actor_t *parent, const troupe_behavior_t *behavior,
                       const troupe_spawn_options_t *options, trp_spawn_waiter_t *waiter,
                       troupe_ref_t *ret_ref)
{
    trp_dispatcher_t *d = parent->dispatcher;
    uint32_t index = 0;
    troupe_err_t err = options_check(behavior, options);
    if (err == TROUPE_OK && ((parent->flags & TRP_CELL_STOPPING) != 0 || d->is_ending)) {
        err = TROUPE_ESTOPPED;
    }
    if (err == TROUPE_OK) {
        err = parent_prepare(d, parent);
    }
    if (err == TROUPE_OK) {
        err = place_choose(d, options, &index);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    spawn_order_t order;
    memset(&order, 0, offsetof(spawn_order_t, args));
    order.parent = parent->id;
    order.behavior = behavior;
    err = trp_spawn_lease(d, index, &order.id);
    if (err != TROUPE_OK) {
        return err;
    }
    err = order_fill(d, parent, options, waiter, &order);
    if (err != TROUPE_OK) {
        lease_return(d, order.id);
        return err;
    }
    if (ret_ref != NULL) {
        *ret_ref = trp_dispatcher_ref(d, order.id);
    }
    return TROUPE_OK;
}

troupe_err_t troupe_spawn(troupe_actor_t *self, const troupe_behavior_t *behavior,
                          const troupe_spawn_options_t *options, troupe_ref_t *ret_ref)
{
    return trp_spawn(self, behavior, options, NULL, ret_ref);
}

troupe_err_t trp_spawn_guardian(trp_dispatcher_t *d, const troupe_behavior_t *behavior,
                                const char *name, uint64_t *ret_id)
{
    spawn_order_t order;
    memset(&order, 0, offsetof(spawn_order_t, args));
    order.behavior = behavior;
    order.is_named = true;
    troupe_err_t err = trp_spawn_lease(d, d->index, &order.id);
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_names_add(&d->endpoint.runtime->names, NULL, order.id, name, &order.name);
    if (err != TROUPE_OK) {
        lease_return(d, order.id);
        return err;
    }
    err = order_carry_out(d, &order);
    if (err != TROUPE_OK) {
        trp_names_remove(&d->endpoint.runtime->names, &order.name);
        lease_return(d, order.id);
        return err;
    }
    *ret_id = order.id;
    return TROUPE_OK;
}
