/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The allocator's door, and the failure switch of the test build. */

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#ifdef TRP_TESTING
#include <stdatomic.h>
#include <stdbool.h>

enum memory_mode { MEMORY_SOUND, MEMORY_FAIL_ONCE, MEMORY_FAIL_AFTER };

/* The switch of one thread. */
typedef struct memory_switch {
    enum memory_mode mode;
    uint64_t left;   /* Allocations that still succeed. */
    uint64_t failed; /* Since the switch was set. */
    uint64_t allocs; /* Ever. */
} memory_switch_t;

static _Thread_local memory_switch_t memory_switch;
static _Atomic int64_t memory_live;

static bool memory_must_fail(void)
{
    memory_switch_t *s = &memory_switch;
    s->allocs++;
    if (s->mode == MEMORY_SOUND) {
        return false;
    }
    if (s->left > 0) {
        s->left--;
        return false;
    }
    if (s->mode == MEMORY_FAIL_ONCE) {
        s->mode = MEMORY_SOUND;
    }
    s->failed++;
    return true;
}

static void *memory_count(void *block)
{
    if (block != NULL) {
        atomic_fetch_add_explicit(&memory_live, 1, memory_order_relaxed);
    }
    return block;
}

static void memory_uncount(const void *block)
{
    if (block != NULL) {
        atomic_fetch_sub_explicit(&memory_live, 1, memory_order_relaxed);
    }
}

static void memory_set(enum memory_mode mode, uint64_t left)
{
    memory_switch.mode = mode;
    memory_switch.left = left;
    memory_switch.failed = 0;
}

void trp_memory_fail_after(uint64_t len)
{
    memory_set(MEMORY_FAIL_AFTER, len);
}

void trp_memory_fail_once(uint64_t len)
{
    memory_set(MEMORY_FAIL_ONCE, len);
}

uint64_t trp_memory_fail_off(void)
{
    uint64_t failed = memory_switch.failed;
    memory_set(MEMORY_SOUND, 0);
    return failed;
}

int64_t trp_memory_live(void)
{
    return atomic_load_explicit(&memory_live, memory_order_relaxed);
}

uint64_t trp_memory_allocs(void)
{
    return memory_switch.allocs;
}
#else
#define memory_must_fail() (0)
#define memory_count(block) (block)
#define memory_uncount(block) ((void)(block))
#endif

static size_t memory_at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void *trp_alloc(size_t size)
{
    if (memory_must_fail()) {
        return NULL;
    }
    return memory_count(malloc(memory_at_least_one(size)));
}

void *trp_calloc(size_t len, size_t size)
{
    if (memory_must_fail()) {
        return NULL;
    }
    return memory_count(calloc(memory_at_least_one(len), memory_at_least_one(size)));
}

void *trp_realloc(void *block, size_t size)
{
    if (memory_must_fail()) {
        return NULL;
    }
    void *moved = realloc(block, memory_at_least_one(size));
    if (block == NULL) {
        return memory_count(moved);
    }
    return moved; /* The number of blocks is as before. */
}

void *trp_alloc_aligned(size_t align, size_t size)
{
    TRP_ASSERT(align >= sizeof(void *) && (align & (align - 1)) == 0);
    void *block = NULL;
    if (memory_must_fail() || posix_memalign(&block, align, memory_at_least_one(size)) != 0) {
        return NULL;
    }
    return memory_count(block);
}

char *trp_strndup(const char *text, size_t size)
{
    TRP_ASSERT(text != NULL);
    size_t len = strnlen(text, size);
    char *copy = trp_alloc(len + 1);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *trp_strdup(const char *text)
{
    TRP_ASSERT(text != NULL);
    return trp_strndup(text, strlen(text));
}

void *trp_memdup(const void *data, size_t size)
{
    void *copy = trp_alloc(size);
    if (copy != NULL && size > 0) {
        memcpy(copy, data, size);
    }
    return copy;
}

void trp_free(void *block)
{
    memory_uncount(block);
    free(block);
}

void trp_free_p(void *block_p)
{
    void *block = NULL;
    /* Copied as bytes: the caller's variable may be a pointer of any type. */
    memcpy(&block, block_p, sizeof(block));
    trp_free(block);
    memset(block_p, 0, sizeof(block));
}
