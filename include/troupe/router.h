/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Routers: an actor that passes each message on to one or all of its routees. Since 0.1. */

#ifndef TROUPE_ROUTER_H
#define TROUPE_ROUTER_H

#include <troupe/actor.h>

TROUPE_BEGIN_DECLS

typedef enum troupe_route {
    TROUPE_ROUTE_ROUND_ROBIN = 1,
    TROUPE_ROUTE_RANDOM,
    TROUPE_ROUTE_BROADCAST,
    TROUPE_ROUTE_CONSISTENT_HASH, /* By `hash_key`; rendezvous hashing (Thaler, Ravishankar 1998). */
    TROUPE_ROUTE_SMALLEST_MAILBOX, /* Exact for routees of the router's dispatcher; of others the
                                     * length they last reported. */
} troupe_route_t;

/* The key of a message. Pure; runs in the router. */
typedef uint64_t (*troupe_hash_key_fn)(const troupe_message_t *message);

typedef struct troupe_router_options {
    size_t size; /* sizeof(troupe_router_options_t) */
    troupe_route_t route;
    const char *name;                  /* Of the router; NULL: made from its id. */
    const troupe_behavior_t *behavior; /* A pool: `routees_len` children of this behavior ... */
    const void *args;
    size_t args_size;
    const troupe_ref_t *routees; /* ... or a group of actors that exist (copied). */
    size_t routees_len;
    troupe_hash_key_fn hash_key; /* Required for TROUPE_ROUTE_CONSISTENT_HASH. */
} troupe_router_options_t;

#define TROUPE_ROUTER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(troupe_router_options_t), (troupe_route_t)0, 0, 0, 0, 0, 0, 0, 0                    \
    }

#define TROUPE_ROUTEES_MAX 65536

/* Spawns a router. Routees that end are taken out; without any, messages are dead letters. */
TROUPE_API troupe_err_t troupe_router_spawn(troupe_actor_t *self,
                                            const troupe_router_options_t *options,
                                            troupe_ref_t *ret_ref);
/* Adds or removes a routee of a running router. */
TROUPE_API troupe_err_t troupe_router_add(troupe_actor_t *self, troupe_ref_t router,
                                          troupe_ref_t routee);
TROUPE_API troupe_err_t troupe_router_remove(troupe_actor_t *self, troupe_ref_t router,
                                             troupe_ref_t routee);

TROUPE_END_DECLS

#endif
