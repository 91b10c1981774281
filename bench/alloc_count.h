/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Counting calls of malloc by whose code makes them.
 *
 * The program defines malloc and its kin itself and hands them on to the C library, so every call in
 * the process passes here. The return address says whose call it is: libtroupe's (or this program's,
 * where the library is linked into it), libzmq's (with the C++ run-time and libsodium that it calls
 * through), or anybody else's. Each thread counts in words of its own; nothing is shared on the way.
 *
 * Under a sanitizer, which has its own malloc, nothing is counted and bench_alloc_is_counted says so:
 * then no figure of allocations is claimed. */

#ifndef TROUPE_BENCH_ALLOC_COUNT_H
#define TROUPE_BENCH_ALLOC_COUNT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_allocs {
    uint64_t troupe; /* Calls from libtroupe and this program. */
    uint64_t zmq;    /* Calls from libzmq, libsodium and the C++ run-time. */
    uint64_t other;  /* Calls from any other library. */
} bench_allocs_t;

/* Finds out where the libraries lie. Call it first thing in main; until then nothing is counted. */
void bench_alloc_start(void);

/* Whether calls are counted in this build. */
bool bench_alloc_is_counted(void);

/* The calls so far, of all threads. Any thread. */
bench_allocs_t bench_alloc_total(void);

#endif
