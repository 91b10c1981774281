/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Routers: ordinary actors that forward what they get. Orders to a router come as messages of a type of
 * their own. The smallest mailbox is exact for routees of the router's dispatcher; for the others it is
 * what was sent to them since they last were seen idle, which the router can't know: they count as the
 * average of those it knows. */

#include <troupe/router.h>

#include <string.h>

#include "actor/deliver.h"
#include "actor/extra.h"
#include "actor/send.h"
#include "base/hash.h"
#include "base/memory.h"

#define ROUTER_ORDER_NAME "troupe.router.order"
#define ROUTER_ORDER_VERSION 1u

typedef struct router_order {
    troupe_ref_t routee;
    uint64_t is_removal;
} router_order_t;

typedef struct router_plan {
    troupe_route_t route;
    troupe_hash_key_fn hash_key;
    const troupe_behavior_t *behavior;
    size_t args_size;
    size_t routees_len; /* References behind this struct, or, for a pool, children to spawn. */
} router_plan_t;

typedef struct router {
    troupe_route_t route;
    troupe_hash_key_fn hash_key;
    troupe_type_t order_type;
    troupe_ref_t *routees;
    size_t len;
    size_t capacity;
    size_t next;
} router_t;

/* ---- routees --------------------------------------------------------------------------------- */

static size_t router_find(const router_t *router, troupe_ref_t routee)
{
    size_t at = 0;
    while (at < router->len && !troupe_ref_equal(router->routees[at], routee)) {
        at++;
    }
    return at;
}

static troupe_err_t router_grow(router_t *router)
{
    size_t capacity = router->capacity == 0 ? 8 : router->capacity * 2;
    troupe_ref_t *routees = trp_realloc(router->routees, capacity * sizeof(*routees));
    if (routees == NULL) {
        return TROUPE_ENOMEM;
    }
    router->routees = routees;
    router->capacity = capacity;
    return TROUPE_OK;
}

static troupe_err_t router_enter(troupe_actor_t *self, router_t *router, troupe_ref_t routee)
{
    if (router_find(router, routee) < router->len) {
        return TROUPE_OK;
    }
    if (router->len >= TROUPE_ROUTEES_MAX) {
        return TROUPE_EFULL;
    }
    if (router->len == router->capacity) {
        troupe_err_t err = router_grow(router);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    router->routees[router->len++] = routee;
    return troupe_watch(self, routee);
}

/* Keeps the order of the others, so that a round robin stays one. */
static void router_leave(router_t *router, troupe_ref_t routee)
{
    size_t at = router_find(router, routee);
    if (at == router->len) {
        return;
    }
    router->len--;
    memmove(&router->routees[at], &router->routees[at + 1],
            (router->len - at) * sizeof(router->routees[0]));
    router->next = router->next > at ? router->next - 1 : router->next;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Rendezvous hashing: the routee whose hash with the key is the highest. A routee that goes moves only
 * its own keys (Thaler, Ravishankar, "A name-based mapping scheme for rendezvous", 1998). */
static size_t choose_by_hash(const router_t *router, uint64_t key)
{
    size_t best = 0;
    uint64_t best_score = 0;
    for (size_t i = 0; i < router->len; i++) {
        const troupe_ref_t *ref = &router->routees[i];
        uint64_t score = trp_hash_u64(trp_hash_u64(ref->node ^ trp_hash_u64(ref->id)) ^ key);
        if (i == 0 || score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static size_t choose_smallest(const troupe_actor_t *self, const router_t *router)
{
    trp_dispatcher_t *d = self->dispatcher;
    size_t best = router->next % router->len;
    uint64_t best_len = UINT64_MAX;
    for (size_t i = 0; i < router->len; i++) {
        size_t at = (router->next + i) % router->len;
        troupe_ref_t ref = router->routees[at];
        const troupe_actor_t *cell = ref.node == d->uid && trp_id_dispatcher(ref.id) == d->index
                                         ? trp_cell_find(d, ref.id)
                                         : NULL;
        uint64_t len = cell == NULL ? 1 : cell->mail_len * (uint64_t)2;
        if (len < best_len) {
            best = at;
            best_len = len;
        }
    }
    return best;
}

static size_t router_choose(troupe_actor_t *self, router_t *router, const troupe_message_t *message)
{
    switch (router->route) {
    case TROUPE_ROUTE_RANDOM:
        return (size_t)trp_random_below(&self->dispatcher->random, router->len);
    case TROUPE_ROUTE_CONSISTENT_HASH:
        return choose_by_hash(router, router->hash_key(message));
    case TROUPE_ROUTE_SMALLEST_MAILBOX: {
        size_t at = choose_smallest(self, router);
        router->next = at + 1;
        return at;
    }
    default:
        router->next = router->next >= router->len ? 0 : router->next;
        return router->next++;
    }
}

/* ---- the actor ------------------------------------------------------------------------------- */

static troupe_err_t router_fill(troupe_actor_t *self, router_t *router, const router_plan_t *plan)
{
    const unsigned char *tail = (const unsigned char *)(plan + 1);
    for (size_t i = 0; i < plan->routees_len; i++) {
        troupe_ref_t routee;
        troupe_err_t err = TROUPE_OK;
        if (plan->behavior != NULL) {
            troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
            options.args = plan->args_size > 0 ? tail : NULL;
            options.args_size = plan->args_size;
            err = troupe_spawn(self, plan->behavior, &options, &routee);
        } else {
            memcpy(&routee, tail + i * sizeof(routee), sizeof(routee));
        }
        if (err == TROUPE_OK) {
            err = router_enter(self, router, routee);
        }
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static void router_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    (void)self;
    (void)reason;
    router_t *router = state;
    trp_free(router->routees);
    router->routees = NULL;
}

static troupe_err_t router_init(troupe_actor_t *self, void *state, const void *args)
{
    router_t *router = state;
    const router_plan_t *plan = args;
    router->route = plan->route;
    router->hash_key = plan->hash_key;
    troupe_err_t err = trp_types_find(self->dispatcher->types, ROUTER_ORDER_NAME,
                                      strlen(ROUTER_ORDER_NAME), &router->order_type);
    err = err == TROUPE_OK ? router_fill(self, router, plan) : err;
    if (err != TROUPE_OK) {
        router_stop(self, state, err); /* Not called when init fails. */
    }
    return err;
}

static troupe_err_t router_obey(troupe_actor_t *self, router_t *router,
                                const troupe_message_t *message)
{
    router_order_t order;
    memcpy(&order, message->body, sizeof(order));
    if (order.is_removal == 0) {
        return router_enter(self, router, order.routee);
    }
    troupe_unwatch(self, order.routee);
    router_leave(router, order.routee);
    return TROUPE_OK;
}

static troupe_err_t router_broadcast(troupe_actor_t *self, router_t *router)
{
    trp_dispatcher_t *d = self->dispatcher;
    for (size_t i = 0; i + 1 < router->len; i++) {
        trp_send_copy(d, d->message, router->routees[i]);
    }
    return troupe_forward(self, router->routees[router->len - 1]);
}

static troupe_err_t router_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    router_t *router = state;
    if (message->type.id == router->order_type.id) {
        return router_obey(self, router, message);
    }
    if (router->len == 0) {
        return troupe_forward(self, troupe_ref_none());
    }
    if (router->route == TROUPE_ROUTE_BROADCAST) {
        return router_broadcast(self, router);
    }
    return troupe_forward(self, router->routees[router_choose(self, router, message)]);
}

static troupe_err_t router_signal(troupe_actor_t *self, void *state, const troupe_signal_t *signal)
{
    (void)self;
    if (signal->kind == TROUPE_SIGNAL_TERMINATED) {
        router_leave(state, signal->who);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t router_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "troupe.router",
    .state_size = sizeof(router_t),
    .init = router_init,
    .receive = router_receive,
    .signal = router_signal,
    .stop = router_stop,
};

/* ---- public ---------------------------------------------------------------------------------- */

static troupe_err_t options_check(const troupe_router_options_t *options)
{
    if (options == NULL || options->size != sizeof(*options) ||
        options->route < TROUPE_ROUTE_ROUND_ROBIN ||
        options->route > TROUPE_ROUTE_SMALLEST_MAILBOX ||
        options->routees_len > TROUPE_ROUTEES_MAX) {
        return TROUPE_EINVAL;
    }
    if ((options->route == TROUPE_ROUTE_CONSISTENT_HASH && options->hash_key == NULL) ||
        (options->behavior == NULL && options->routees == NULL && options->routees_len > 0) ||
        (options->behavior != NULL && options->routees != NULL)) {
        return TROUPE_EINVAL;
    }
    return TROUPE_OK;
}

static troupe_err_t order_type_register(troupe_actor_t *self, troupe_type_t *ret_type)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = ROUTER_ORDER_NAME;
    options.version = ROUTER_ORDER_VERSION;
    options.fixed_size = sizeof(router_order_t);
    return trp_types_register(self->dispatcher->types, &options, ret_type);
}

troupe_err_t troupe_router_spawn(troupe_actor_t *self, const troupe_router_options_t *options,
                                 troupe_ref_t *ret_ref)
{
    troupe_type_t order_type = {0};
    troupe_err_t err = options_check(options);
    if (err == TROUPE_OK) {
        err = order_type_register(self, &order_type);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    bool is_pool = options->behavior != NULL;
    size_t tail = is_pool ? options->args_size : options->routees_len * sizeof(troupe_ref_t);
    router_plan_t *plan = trp_calloc(1, sizeof(*plan) + tail);
    if (plan == NULL) {
        return TROUPE_ENOMEM;
    }
    plan->route = options->route;
    plan->hash_key = options->hash_key;
    plan->behavior = options->behavior;
    plan->args_size = options->args_size;
    plan->routees_len = options->routees_len;
    if (tail > 0) {
        memcpy(plan + 1, is_pool ? options->args : (const void *)options->routees, tail);
    }
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    spawn.name = options->name;
    spawn.args = plan;
    spawn.args_size = sizeof(*plan) + tail;
    err = troupe_spawn(self, &router_behavior, &spawn, ret_ref);
    trp_free(plan);
    return err;
}

static troupe_err_t order_send(troupe_actor_t *self, troupe_ref_t router, troupe_ref_t routee,
                               bool is_removal)
{
    troupe_type_t type = {0};
    router_order_t order = {routee, is_removal};
    troupe_err_t err = order_type_register(self, &type);
    return err == TROUPE_OK ? troupe_tell(self, router, type, &order, sizeof(order)) : err;
}

troupe_err_t troupe_router_add(troupe_actor_t *self, troupe_ref_t router, troupe_ref_t routee)
{
    return order_send(self, router, routee, false);
}

troupe_err_t troupe_router_remove(troupe_actor_t *self, troupe_ref_t router, troupe_ref_t routee)
{
    return order_send(self, router, routee, true);
}
