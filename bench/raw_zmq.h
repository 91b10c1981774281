/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The baseline of links: ZeroMQ alone between two processes on loopback.
 *
 * A DEALER here sends one message at a time to a ROUTER in a worker process; that is what a program
 * without Troupe would write. One-way counts until the worker has the last message, in order; round
 * trips have one message under way. With CURVE both ends use fresh keys. */

#ifndef TROUPE_BENCH_RAW_ZMQ_H
#define TROUPE_BENCH_RAW_ZMQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "sample.h"
#include "worker.h"

#define BENCH_RAW_KIND "raw-zmq" /* The worker's kind. */

typedef struct bench_raw {
    bench_worker_t worker;
    void *zmq;    /* Context. */
    void *socket; /* DEALER. */
    size_t size;  /* Bytes a message; at least 8. */
    bool curve;
} bench_raw_t;

/* Starts the worker and connects. On failure nothing is left behind. */
bool bench_raw_open(bool curve, size_t size, bench_raw_t *ret_raw);
void bench_raw_close(bench_raw_t *raw);

/* Runs of bench_measure; the context is a bench_raw_t. The value of round trips is their median in
 * nanoseconds. */
bool bench_raw_run_oneway(void *raw, uint64_t messages, bench_sample_t *ret_sample);
bool bench_raw_run_roundtrip(void *raw, uint64_t messages, bench_sample_t *ret_sample);

/* The worker's main. */
int bench_raw_worker(int fd);

#endif
