/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's message types. Registering takes a mutex; looking one up by id is a plain array access: an
 * entry is complete before its id is given out, and never changes. */

#ifndef TROUPE_ACTOR_TYPES_H
#define TROUPE_ACTOR_TYPES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/type.h>

#include "base/attr.h"
#include "base/table.h"

typedef struct trp_type {
    trp_table_entry_t entry;
    char *name;
    uint64_t version;
    size_t size_max;
    size_t fixed_size; /* 0: any size up to size_max. */
    troupe_encode_fn encode;
    troupe_decode_fn decode;
    troupe_free_fn free_object;
    uint16_t id;
} trp_type_t;

/* What sending has to know, in one load: `len` sizes from size_min on fit; 0: none does. */
typedef struct trp_type_rule {
    uint32_t size_min;
    uint32_t len;
} trp_type_rule_t;

typedef struct trp_types {
    pthread_mutex_t mutex;
    trp_table_t by_name;
    _Atomic uint32_t len; /* Ids below are valid. */
    trp_type_rule_t rules[TROUPE_TYPES_MAX];
    trp_type_t *types[TROUPE_TYPES_MAX];
} trp_types_t;

/* What fails is ended by trp_types_fini like what has succeeded. */
troupe_err_t trp_types_init(trp_types_t *types, uint64_t seed);
void trp_types_fini(trp_types_t *types);
troupe_err_t trp_types_register(trp_types_t *types, const troupe_type_options_t *options,
                                troupe_type_t *ret_type);
troupe_err_t trp_types_find(trp_types_t *types, const char *name, size_t size,
                            troupe_type_t *ret_type);

/* NULL when there is no such type. Any thread. */
static inline const trp_type_t *trp_types_at(trp_types_t *types, uint16_t id)
{
    /* Acquire: pairs with the release at registration. */
    return id < atomic_load_explicit(&types->len, memory_order_acquire) ? types->types[id] : NULL;
}

/* Why a body of `size` bytes does not fit the type: ETYPE, ETOOBIG, EINVAL; OK when it does. */
troupe_err_t trp_types_check(trp_types_t *types, troupe_type_t type, size_t size);

/* True when a body of `size` bytes may be sent as that type. */
static inline bool trp_types_fits(const trp_types_t *types, troupe_type_t type, size_t size)
{
    if (TRP_UNLIKELY(type.id >= TROUPE_TYPES_MAX)) {
        return false;
    }
    const trp_type_rule_t *rule = &types->rules[type.id];
    return size - rule->size_min < rule->len;
}

#endif
