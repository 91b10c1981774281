/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What is known of this machine and process. */

#ifndef TROUPE_BENCH_HOST_H
#define TROUPE_BENCH_HOST_H

#include <stdint.h>

#define BENCH_HOST_TEXT_SIZE_MAX 256

typedef struct bench_host {
    char os[BENCH_HOST_TEXT_SIZE_MAX];        /* Distribution and kernel. */
    char processor[BENCH_HOST_TEXT_SIZE_MAX]; /* Model name. */
    uint32_t processors;                      /* Online. */
    double clock_mhz;                         /* As the kernel reports it; 0: not known. */
} bench_host_t;

void bench_host_read(bench_host_t *ret_host);

/* Bytes of memory that the process `pid` holds (0: this one); 0 when not to be had. */
uint64_t bench_host_memory(int pid);

/* Threads of the process `pid` (0: this one); 0 when not to be had. */
uint32_t bench_host_threads(int pid);

#endif
