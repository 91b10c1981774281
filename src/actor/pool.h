/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Pools of message memory: per-thread magazines in front of a depot that the node's threads share.
 *
 *      thread A            depot (mutex)            thread B
 *     [loaded ]  <---->  full:  [m][m][m]  <---->  [loaded ]
 *     [spare  ]          empty: [m][m]             [spare  ]
 *
 * Blocks that flow one way (A sends, B frees) come back as whole magazines, one lock per magazine, so
 * that a one-way flow allocates nothing in steady state (Bonwick, Adams: "Magazines and Vmem", 2001).
 * The depot also keeps the node's ceiling: what is out of it counts as in use. User messages are
 * refused at the ceiling until use is down to 80 % of it; system messages have 1/16 more.
 *
 * Thread rule: a pool belongs to its thread; the depot may be used by any. */

#ifndef TROUPE_ACTOR_POOL_H
#define TROUPE_ACTOR_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/attr.h"

#define TRP_POOL_CLASSES 11u       /* 64 B, 128 B, ... 64 KiB. */
#define TRP_POOL_BLOCK_MIN_BITS 6u /* Class 0 is one cache line. */
#define TRP_POOL_BLOCK_MAX (1u << (TRP_POOL_BLOCK_MIN_BITS + TRP_POOL_CLASSES - 1))
#define TRP_MAGAZINE_LEN_MAX 128u
#define TRP_POOL_PREFETCH 6u /* Blocks ahead that taking warms: they lie in the freer's cache. */

typedef struct trp_magazine {
    struct trp_magazine *next;
    uint32_t len;
    uint32_t capacity;
    void *items[TRP_MAGAZINE_LEN_MAX];
} trp_magazine_t;

typedef struct trp_depot_class {
    trp_magazine_t *full;
    trp_magazine_t *empty;
    void *loose; /* Single blocks given back by threads without a pool; linked through word 0. */
    char *cut;   /* The rest of the newest slab, which becomes a magazine at a time. */
    size_t cut_len;
} trp_depot_class_t;

typedef struct trp_depot {
    pthread_mutex_t mutex;
    trp_depot_class_t classes[TRP_POOL_CLASSES];
    void *slabs; /* All memory taken, linked through word 0 of each slab. */
    size_t ceiling;
    size_t slab_bytes;         /* Taken from the system. */
    _Atomic size_t used;       /* Out of the depot, plus bodies charged. */
    _Atomic bool is_shedding;  /* The ceiling was reached and use is not down to 80 % yet. */
    _Atomic uint64_t episodes; /* Times that shedding began. */
} trp_depot_t;

typedef struct trp_pool {
    trp_depot_t *depot;
    trp_magazine_t *loaded[TRP_POOL_CLASSES];
    trp_magazine_t *spare[TRP_POOL_CLASSES];
} trp_pool_t;

/* ---- depot ----------------------------------------------------------------------------------- */

troupe_err_t trp_depot_init(trp_depot_t *depot, size_t ceiling);
/* Frees every slab; all pools must have been closed. */
void trp_depot_fini(trp_depot_t *depot);

/* Charges or discharges memory that is not from the pools (large bodies). False at the ceiling. */
bool trp_depot_charge(trp_depot_t *depot, size_t size, bool is_system);
void trp_depot_discharge(trp_depot_t *depot, size_t size);

/* One block for a thread without a pool. NULL at the ceiling or without memory. */
void *trp_depot_take(trp_depot_t *depot, uint32_t class_index, bool is_system);
void trp_depot_put(trp_depot_t *depot, uint32_t class_index, void *block);

/* ---- pools ----------------------------------------------------------------------------------- */

troupe_err_t trp_pool_open(trp_pool_t *pool, trp_depot_t *depot);
/* Gives everything back to the depot. */
void trp_pool_close(trp_pool_t *pool);

void *trp_pool_take_slow(trp_pool_t *pool, uint32_t class_index, bool is_system);
void trp_pool_put_slow(trp_pool_t *pool, uint32_t class_index, void *block);

/* The smallest class whose blocks hold `size` bytes (at most TRP_POOL_BLOCK_MAX). */
static inline uint32_t trp_pool_class(size_t size)
{
    if (size <= (1u << TRP_POOL_BLOCK_MIN_BITS)) {
        return 0;
    }
    return 64u - (uint32_t)__builtin_clzll((unsigned long long)size - 1) - TRP_POOL_BLOCK_MIN_BITS;
}

static inline size_t trp_pool_block_size(uint32_t class_index)
{
    return (size_t)1 << (TRP_POOL_BLOCK_MIN_BITS + class_index);
}

/* A block of the class, not zeroed. NULL at the ceiling or without memory. */
static inline void *trp_pool_take(trp_pool_t *pool, uint32_t class_index, bool is_system)
{
    trp_magazine_t *magazine = pool->loaded[class_index];
    if (TRP_UNLIKELY(magazine->len == 0)) {
        return trp_pool_take_slow(pool, class_index, is_system);
    }
    uint32_t at = --magazine->len;
    if (at >= TRP_POOL_PREFETCH) {
        __builtin_prefetch(magazine->items[at - TRP_POOL_PREFETCH], 1, 3);
    }
    return magazine->items[at];
}

static inline void trp_pool_put(trp_pool_t *pool, uint32_t class_index, void *block)
{
    trp_magazine_t *magazine = pool->loaded[class_index];
    if (TRP_UNLIKELY(magazine->len == magazine->capacity)) {
        trp_pool_put_slow(pool, class_index, block);
        return;
    }
    magazine->items[magazine->len++] = block;
}

#endif
