/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Shared bodies: written once, then immutable and shared by any number of messages, local receivers
 * and links. Reference-counted with atomics, since references are dropped on any thread. */

#ifndef TROUPE_ACTOR_BODY_H
#define TROUPE_ACTOR_BODY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>
#include <troupe/type.h>

typedef struct troupe_body trp_body_t;
typedef struct trp_depot trp_depot_t;

struct troupe_body {
    _Atomic uint32_t refs;
    uint16_t type;
    bool is_object;     /* `object` holds the value and `free_object` ends it. */
    trp_depot_t *depot; /* Whose ceiling it is charged to. */
    size_t size;        /* Bytes of `data`; 0 for objects. */
    size_t charge;      /* Bytes charged. */
    troupe_free_fn free_object;
    void *object;
    void (*release)(void *context); /* Not NULL: `external` is foreign memory, ended by this. */
    void *release_context;
    const uint8_t *external; /* Bytes that lie elsewhere (a link's frame); NULL: in `data`. */
    uint8_t data[];
};

static inline const uint8_t *trp_body_bytes(const trp_body_t *body)
{
    return body->external != NULL ? body->external : body->data;
}

static inline trp_body_t *trp_body_ref(trp_body_t *body)
{
    /* Relaxed: a new reference is made from one that is held. */
    atomic_fetch_add_explicit(&body->refs, 1, memory_order_relaxed);
    return body;
}

/* A new body with one reference and room for `size` bytes, all else zero. NULL at the ceiling or
 * without memory. Any thread. */
trp_body_t *trp_body_new(trp_depot_t *depot, size_t size, bool is_system);

/* Drops one reference; the last one ends the body. Any thread. */
void trp_body_unref(trp_body_t *body);

#endif
