/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The only door to the allocator. Every caller checks for NULL and returns TROUPE_ENOMEM; in the test
 * build each allocation can be made to fail, so that tests walk through every such path.
 *
 * Thread rule: any thread; the failure switch of the test build belongs to the calling thread. */

#ifndef TROUPE_BASE_MEMORY_H
#define TROUPE_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* `size` bytes, not zeroed; NULL when there are none. A size of 0 gives a block of one byte. */
void *trp_alloc(size_t size) TRP_MALLOC;

/* `len` elements of `size` bytes, zeroed; NULL also when the product overflows. */
void *trp_calloc(size_t len, size_t size) TRP_MALLOC;

/* As realloc: on NULL the old block is untouched and still the caller's. */
void *trp_realloc(void *block, size_t size) TRP_MUST_USE;

/* `size` bytes, not zeroed, aligned to `align`, a power of two and a multiple of sizeof(void *). */
void *trp_alloc_aligned(size_t align, size_t size) TRP_MALLOC;

/* The first `size` bytes of `text` (or up to its zero) as a new zero-terminated string. */
char *trp_strndup(const char *text, size_t size) TRP_MALLOC;

/* A zero-terminated string anew. */
char *trp_strdup(const char *text) TRP_MALLOC;

/* A new block with the same `size` bytes. */
void *trp_memdup(const void *data, size_t size) TRP_MALLOC;

/* Frees any of the above; NULL does nothing. */
void trp_free(void *block);

/* For TRP_CLEANUP on a `char *` or any pointer that trp_free frees: frees *block_p and nulls it. */
void trp_free_p(void *block_p);

#ifdef TRP_TESTING
/* The next `len` allocations of this thread succeed, all after them fail, until _fail_off. */
void trp_memory_fail_after(uint64_t len);

/* The next `len` allocations of this thread succeed, the one after them fails, the rest succeed. */
void trp_memory_fail_once(uint64_t len);

/* No more failures. Returns how many this thread has seen since the switch was set. */
uint64_t trp_memory_fail_off(void);

/* Blocks that the whole process has allocated and not yet freed. */
int64_t trp_memory_live(void);

/* Allocations that this thread has made so far. */
uint64_t trp_memory_allocs(void);
#endif

#endif
