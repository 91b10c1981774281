/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/pool.h"

#include "base/assert.h"
#include "base/memory.h"

#define SLAB_SIZE ((size_t)256 * 1024) /* One trip to the system for this much. */
#define SLAB_HEAD TRP_CACHE_LINE       /* The link to the next slab, and alignment. */
#define SYSTEM_RESERVE_SHARE 16u       /* System messages may go 1/16 above the ceiling. */
#define SHED_END_NUM 4u                /* Shedding ends at 4/5 of the ceiling. */
#define SHED_END_DEN 5u

static uint32_t magazine_capacity(uint32_t class_index)
{
    size_t fit = (SLAB_SIZE / 4) / trp_pool_block_size(class_index);
    if (fit > TRP_MAGAZINE_LEN_MAX) {
        return TRP_MAGAZINE_LEN_MAX;
    }
    return fit < 2 ? 2 : (uint32_t)fit;
}

/* ---- depot ----------------------------------------------------------------------------------- */

troupe_err_t trp_depot_init(trp_depot_t *depot, size_t ceiling)
{
    *depot = (trp_depot_t){.ceiling = ceiling};
    return pthread_mutex_init(&depot->mutex, NULL) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

static void magazines_free(trp_magazine_t *magazine)
{
    while (magazine != NULL) {
        trp_magazine_t *next = magazine->next;
        trp_free(magazine);
        magazine = next;
    }
}

void trp_depot_fini(trp_depot_t *depot)
{
    for (uint32_t i = 0; i < TRP_POOL_CLASSES; i++) {
        magazines_free(depot->classes[i].full);
        magazines_free(depot->classes[i].empty);
    }
    while (depot->slabs != NULL) {
        void *slab = depot->slabs;
        depot->slabs = *(void **)slab;
        trp_free(slab);
    }
    (void)pthread_mutex_destroy(&depot->mutex);
}

static size_t depot_limit(const trp_depot_t *depot, bool is_system)
{
    return is_system ? depot->ceiling + depot->ceiling / SYSTEM_RESERVE_SHARE : depot->ceiling;
}

/* Counters are relaxed: they bound memory, they order nothing. */
bool trp_depot_charge(trp_depot_t *depot, size_t size, bool is_system)
{
    if (!is_system && atomic_load_explicit(&depot->is_shedding, memory_order_relaxed)) {
        return false;
    }
    size_t before = atomic_fetch_add_explicit(&depot->used, size, memory_order_relaxed);
    if (before + size <= depot_limit(depot, is_system)) {
        return true;
    }
    atomic_fetch_sub_explicit(&depot->used, size, memory_order_relaxed);
    if (!is_system && !atomic_exchange_explicit(&depot->is_shedding, true, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&depot->episodes, 1, memory_order_relaxed);
    }
    return false;
}

void trp_depot_discharge(trp_depot_t *depot, size_t size)
{
    size_t before = atomic_fetch_sub_explicit(&depot->used, size, memory_order_relaxed);
    TRP_ASSERT(before >= size);
    if (atomic_load_explicit(&depot->is_shedding, memory_order_relaxed) &&
        before - size <= depot->ceiling / SHED_END_DEN * SHED_END_NUM) {
        atomic_store_explicit(&depot->is_shedding, false, memory_order_relaxed);
    }
}

static trp_magazine_t *depot_magazine_new(uint32_t class_index)
{
    trp_magazine_t *magazine = trp_alloc(sizeof(*magazine));
    if (magazine != NULL) {
        magazine->next = NULL;
        magazine->len = 0;
        magazine->capacity = magazine_capacity(class_index);
    }
    return magazine;
}

static bool depot_slab_new(trp_depot_t *depot, uint32_t class_index)
{
    char *slab = trp_alloc_aligned(TRP_CACHE_LINE, SLAB_HEAD + SLAB_SIZE);
    if (slab == NULL) {
        return false;
    }
    *(void **)(void *)slab = depot->slabs;
    depot->slabs = slab;
    depot->slab_bytes += SLAB_SIZE;
    depot->classes[class_index].cut = slab + SLAB_HEAD;
    depot->classes[class_index].cut_len = SLAB_SIZE / trp_pool_block_size(class_index);
    return true;
}

/* Makes a magazine of new blocks. Called with the mutex held; false without memory. */
static bool depot_grow(trp_depot_t *depot, uint32_t class_index)
{
    trp_depot_class_t *class = &depot->classes[class_index];
    size_t block = trp_pool_block_size(class_index);
    if (class->cut_len == 0 && !depot_slab_new(depot, class_index)) {
        return false;
    }
    trp_magazine_t *magazine = depot_magazine_new(class_index);
    if (magazine == NULL) {
        return false;
    }
    size_t len = class->cut_len < magazine->capacity ? class->cut_len : magazine->capacity;
    for (size_t i = len; i-- > 0;) { /* Handed out from the end, so in rising addresses. */
        magazine->items[magazine->len++] = class->cut + i * block;
    }
    class->cut += len * block;
    class->cut_len -= len;
    magazine->next = class->full;
    class->full = magazine;
    return true;
}

/* Fills an empty magazine with single blocks that threads without a pool gave back: else what flows from
 * pools to such threads (inboxes) would never come back. Called with the mutex held. */
static bool depot_gather(trp_depot_t *depot, uint32_t class_index)
{
    trp_depot_class_t *class = &depot->classes[class_index];
    if (class->loose == NULL) {
        return false;
    }
    trp_magazine_t *magazine = class->empty;
    if (magazine != NULL) {
        class->empty = magazine->next;
    } else {
        magazine = depot_magazine_new(class_index);
        if (magazine == NULL) {
            return false;
        }
    }
    while (class->loose != NULL && magazine->len < magazine->capacity) {
        void *block = class->loose;
        class->loose = *(void **)block;
        magazine->items[magazine->len++] = block;
    }
    magazine->next = class->full;
    class->full = magazine;
    return true;
}

/* Takes a magazine with blocks out and charges them. NULL at the ceiling or without memory. */
static trp_magazine_t *depot_take_full(trp_depot_t *depot, uint32_t class_index, bool is_system)
{
    trp_depot_class_t *class = &depot->classes[class_index];
    trp_magazine_t *magazine = NULL;
    pthread_mutex_lock(&depot->mutex);
    if (class->full != NULL || depot_gather(depot, class_index) || depot_grow(depot, class_index)) {
        size_t charge = class->full->len * trp_pool_block_size(class_index);
        if (trp_depot_charge(depot, charge, is_system)) {
            magazine = class->full;
            class->full = magazine->next;
            magazine->next = NULL;
        }
    }
    pthread_mutex_unlock(&depot->mutex);
    return magazine;
}

static void depot_put_full(trp_depot_t *depot, uint32_t class_index, trp_magazine_t *magazine)
{
    trp_depot_class_t *class = &depot->classes[class_index];
    size_t charge = magazine->len * trp_pool_block_size(class_index);
    pthread_mutex_lock(&depot->mutex);
    magazine->next = class->full;
    class->full = magazine;
    pthread_mutex_unlock(&depot->mutex);
    trp_depot_discharge(depot, charge);
}

static trp_magazine_t *depot_take_empty(trp_depot_t *depot, uint32_t class_index)
{
    trp_depot_class_t *class = &depot->classes[class_index];
    pthread_mutex_lock(&depot->mutex);
    trp_magazine_t *magazine = class->empty;
    if (magazine != NULL) {
        class->empty = magazine->next;
    }
    pthread_mutex_unlock(&depot->mutex);
    if (magazine == NULL) {
        return depot_magazine_new(class_index);
    }
    magazine->next = NULL;
    return magazine;
}

static void depot_put_empty(trp_depot_t *depot, uint32_t class_index, trp_magazine_t *magazine)
{
    TRP_ASSERT(magazine->len == 0);
    trp_depot_class_t *class = &depot->classes[class_index];
    pthread_mutex_lock(&depot->mutex);
    magazine->next = class->empty;
    class->empty = magazine;
    pthread_mutex_unlock(&depot->mutex);
}

void *trp_depot_take(trp_depot_t *depot, uint32_t class_index, bool is_system)
{
    TRP_ASSERT(class_index < TRP_POOL_CLASSES);
    size_t block = trp_pool_block_size(class_index);
    if (!trp_depot_charge(depot, block, is_system)) {
        return NULL;
    }
    trp_depot_class_t *class = &depot->classes[class_index];
    void *item = NULL;
    pthread_mutex_lock(&depot->mutex);
    if (class->loose != NULL) {
        item = class->loose;
        class->loose = *(void **)item;
    } else if (class->full != NULL || depot_grow(depot, class_index)) {
        item = class->full->items[--class->full->len];
        if (class->full->len == 0) {
            trp_magazine_t *empty = class->full;
            class->full = empty->next;
            empty->next = class->empty;
            class->empty = empty;
        }
    }
    pthread_mutex_unlock(&depot->mutex);
    if (item == NULL) {
        trp_depot_discharge(depot, block);
    }
    return item;
}

void trp_depot_put(trp_depot_t *depot, uint32_t class_index, void *block)
{
    TRP_ASSERT(class_index < TRP_POOL_CLASSES);
    trp_depot_class_t *class = &depot->classes[class_index];
    pthread_mutex_lock(&depot->mutex);
    *(void **)block = class->loose;
    class->loose = block;
    pthread_mutex_unlock(&depot->mutex);
    trp_depot_discharge(depot, trp_pool_block_size(class_index));
}

/* ---- pools ----------------------------------------------------------------------------------- */

/* What lies in a pool's magazines counts as in use: nobody else can have it. */
troupe_err_t trp_pool_open(trp_pool_t *pool, trp_depot_t *depot)
{
    *pool = (trp_pool_t){.depot = depot};
    for (uint32_t i = 0; i < TRP_POOL_CLASSES; i++) {
        pool->loaded[i] = depot_take_empty(depot, i);
        pool->spare[i] = depot_take_empty(depot, i);
        if (pool->loaded[i] == NULL || pool->spare[i] == NULL) {
            trp_pool_close(pool);
            return TROUPE_ENOMEM;
        }
    }
    return TROUPE_OK;
}

/* Empties a magazine block by block: its blocks were charged to whoever took them. */
static void pool_close_magazine(trp_pool_t *pool, uint32_t class_index, trp_magazine_t *magazine)
{
    if (magazine == NULL) {
        return;
    }
    while (magazine->len > 0) {
        trp_depot_put(pool->depot, class_index, magazine->items[--magazine->len]);
    }
    depot_put_empty(pool->depot, class_index, magazine);
}

void trp_pool_close(trp_pool_t *pool)
{
    for (uint32_t i = 0; i < TRP_POOL_CLASSES; i++) {
        pool_close_magazine(pool, i, pool->loaded[i]);
        pool_close_magazine(pool, i, pool->spare[i]);
        pool->loaded[i] = NULL;
        pool->spare[i] = NULL;
    }
}

void *trp_pool_take_slow(trp_pool_t *pool, uint32_t class_index, bool is_system)
{
    trp_magazine_t *magazine = pool->loaded[class_index];
    TRP_ASSERT(magazine->len == 0);
    if (pool->spare[class_index]->len > 0) {
        pool->loaded[class_index] = pool->spare[class_index];
        pool->spare[class_index] = magazine;
    } else {
        trp_magazine_t *full = depot_take_full(pool->depot, class_index, is_system);
        if (full == NULL) {
            return NULL;
        }
        pool->loaded[class_index] = full;
        depot_put_empty(pool->depot, class_index, magazine);
    }
    magazine = pool->loaded[class_index];
    return magazine->items[--magazine->len];
}

void trp_pool_put_slow(trp_pool_t *pool, uint32_t class_index, void *block)
{
    trp_magazine_t *magazine = pool->loaded[class_index];
    TRP_ASSERT(magazine->len == magazine->capacity);
    trp_magazine_t *spare = pool->spare[class_index];
    if (spare->len == 0) {
        pool->loaded[class_index] = spare;
        pool->spare[class_index] = magazine;
    } else {
        trp_magazine_t *empty = depot_take_empty(pool->depot, class_index);
        if (empty == NULL) {
            trp_depot_put(pool->depot, class_index, block);
            return;
        }
        depot_put_full(pool->depot, class_index, magazine);
        pool->loaded[class_index] = empty;
    }
    magazine = pool->loaded[class_index];
    magazine->items[magazine->len++] = block;
}
