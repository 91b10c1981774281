/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The interposed allocator.
 *
 *    malloc() -> [whose return address?] -> this thread's slot -> __libc_malloc()
 *
 * Slots lie in a static table and are claimed by a thread's first call; a thread that finds the table
 * full counts in the last slot, with atomic adds. Slots are never given back, so that a thread's
 * calls stay counted after its end. */

#include "alloc_count.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOC_SANITIZED 1
#endif
#endif

enum { ALLOC_TROUPE, ALLOC_ZMQ, ALLOC_OTHER, ALLOC_OWNERS };

#define ALLOC_SLOTS 1024 /* Threads that count without sharing: more than any benchmark starts. */
#define ALLOC_RANGES_MAX 64
#define ALLOC_LINE 64

typedef struct alloc_slot {
    _Alignas(ALLOC_LINE) _Atomic uint64_t calls[ALLOC_OWNERS];
} alloc_slot_t;

/* Addresses of a loaded object's code, and who answers for the calls it makes. */
typedef struct alloc_range {
    uintptr_t begin, end;
    int owner;
} alloc_range_t;

static alloc_slot_t alloc_slots[ALLOC_SLOTS];
static alloc_range_t alloc_ranges[ALLOC_RANGES_MAX];
static atomic_size_t alloc_ranges_len;

bench_allocs_t bench_alloc_total(void)
{
    bench_allocs_t total = {0, 0, 0};
    for (size_t i = 0; i < ALLOC_SLOTS; i++) {
        _Atomic uint64_t *calls = alloc_slots[i].calls;
        total.troupe += atomic_load_explicit(&calls[ALLOC_TROUPE], memory_order_relaxed);
        total.zmq += atomic_load_explicit(&calls[ALLOC_ZMQ], memory_order_relaxed);
        total.other += atomic_load_explicit(&calls[ALLOC_OTHER], memory_order_relaxed);
    }
    return total;
}

static int alloc_owner_of_object(const char *path)
{
    static const char *const zmq[] = {"libzmq", "libsodium", "libstdc++", "libpgm", "libnorm"};
    if (path[0] == '\0' || strstr(path, "libtroupe") != NULL) {
        return ALLOC_TROUPE; /* The program itself has an empty name here. */
    }
    for (size_t i = 0; i < sizeof(zmq) / sizeof(zmq[0]); i++) {
        if (strstr(path, zmq[i]) != NULL) {
            return ALLOC_ZMQ;
        }
    }
    return ALLOC_OTHER;
}

static int alloc_note_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const int owner = alloc_owner_of_object(info->dlpi_name);
    size_t *len = context;
    (void)size;
    for (size_t i = 0; owner != ALLOC_OTHER && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
            *len < ALLOC_RANGES_MAX) {
            alloc_ranges[*len].begin = info->dlpi_addr + segment->p_vaddr;
            alloc_ranges[*len].end = alloc_ranges[*len].begin + segment->p_memsz;
            alloc_ranges[*len].owner = owner;
            (*len)++;
        }
    }
    return 0;
}

void bench_alloc_start(void)
{
    size_t len = 0;
    (void)dl_iterate_phdr(alloc_note_object, &len);
    /* Pairs with the acquire in alloc_count: the ranges are whole before anyone looks. */
    atomic_store_explicit(&alloc_ranges_len, len, memory_order_release);
}

#ifdef ALLOC_SANITIZED

bool bench_alloc_is_counted(void)
{
    return false;
}

#else

/* glibc's own names of what is interposed here; no header declares them. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t len, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *block);

#define ALLOC_EXPORT __attribute__((visibility("default")))
#define ALLOC_CALLER ((uintptr_t)__builtin_return_address(0))

static __thread alloc_slot_t *alloc_mine;
static atomic_size_t alloc_slots_len;

bool bench_alloc_is_counted(void)
{
    return true;
}

static alloc_slot_t *alloc_claim(void)
{
    size_t index = atomic_fetch_add_explicit(&alloc_slots_len, 1, memory_order_relaxed);
    if (index >= ALLOC_SLOTS) {
        index = ALLOC_SLOTS - 1;
    }
    alloc_mine = &alloc_slots[index];
    return alloc_mine;
}

static int alloc_owner_of(uintptr_t caller, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (caller >= alloc_ranges[i].begin && caller < alloc_ranges[i].end) {
            return alloc_ranges[i].owner;
        }
    }
    return ALLOC_OTHER;
}

static void alloc_count(uintptr_t caller)
{
    const size_t len = atomic_load_explicit(&alloc_ranges_len, memory_order_acquire);
    alloc_slot_t *slot = alloc_mine != NULL ? alloc_mine : alloc_claim();
    _Atomic uint64_t *calls;
    if (len == 0) {
        return;
    }
    calls = &slot->calls[alloc_owner_of(caller, len)];
    if (slot == &alloc_slots[ALLOC_SLOTS - 1]) {
        atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
        return;
    }
    /* The slot is this thread's alone: a plain add, made of two relaxed halves for the readers. */
    atomic_store_explicit(calls, atomic_load_explicit(calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

ALLOC_EXPORT void *malloc(size_t size)
{
    alloc_count(ALLOC_CALLER);
    return __libc_malloc(size);
}

ALLOC_EXPORT void *calloc(size_t len, size_t size)
{
    alloc_count(ALLOC_CALLER);
    return __libc_calloc(len, size);
}

ALLOC_EXPORT void *realloc(void *old, size_t size)
{
    alloc_count(ALLOC_CALLER);
    return __libc_realloc(old, size);
}

ALLOC_EXPORT void *memalign(size_t align, size_t size)
{
    alloc_count(ALLOC_CALLER);
    return __libc_memalign(align, size);
}

ALLOC_EXPORT void *aligned_alloc(size_t align, size_t size)
{
    alloc_count(ALLOC_CALLER);
    return __libc_memalign(align, size);
}

ALLOC_EXPORT int posix_memalign(void **ret_block, size_t align, size_t size)
{
    alloc_count(ALLOC_CALLER);
    *ret_block = __libc_memalign(align, size);
    return *ret_block == NULL && size != 0 ? ENOMEM : 0;
}

ALLOC_EXPORT void free(void *block)
{
    __libc_free(block);
}

#endif
