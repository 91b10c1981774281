/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Worker processes: the program starts itself again and talks to its copy over a socket.
 *
 * What a benchmark needs on the other side of a link (a node with subscribers, a raw ZeroMQ peer) is
 * a *kind* of worker. Orders and answers are records with a tag, one a packet; both ends are the same
 * executable, so they are plain structs. The worker ends when its order socket closes, and dies with
 * its parent. */

#ifndef TROUPE_BENCH_WORKER_H
#define TROUPE_BENCH_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_WORKER_COMMAND "worker"  /* argv[1] of a worker; argv[2] is its kind. */
#define BENCH_WORKER_RECORD_MAX 32768u /* Bytes of a record's body. */
#define BENCH_WORKER_TIMEOUT_MS 60000  /* An answer that takes longer is a failure. */

typedef struct bench_worker {
    pid_t pid;
    int fd;
} bench_worker_t;

/* Starts a worker of that kind. */
bool bench_worker_start(const char *kind, bench_worker_t *ret_worker);

/* Closes its orders, waits for its end, kills it when that takes too long. Fine on a zeroed worker. */
void bench_worker_stop(bench_worker_t *worker);

/* Processor time in nanoseconds that the worker's process has used so far; 0 when not to be had. */
uint64_t bench_worker_cpu(const bench_worker_t *worker);

/* Both ends. */
bool bench_worker_send(int fd, uint32_t tag, const void *body, size_t size);
/* Takes a record of that tag and just that size. False (with a complaint) on anything else, and
 * (without) when the other end is closed. */
bool bench_worker_receive(int fd, uint32_t tag, void *ret_body, size_t size);
/* Takes any record of at most `capacity` bytes. */
bool bench_worker_receive_any(int fd, uint32_t *ret_tag, void *ret_body, size_t capacity,
                              size_t *ret_size);

/* Waits for the answer to an order that was sent. */
bool bench_worker_await(const bench_worker_t *worker, uint32_t tag, void *ret_answer,
                        size_t answer_size);

/* An order and its answer. */
bool bench_worker_ask(const bench_worker_t *worker, uint32_t tag, const void *order,
                      size_t order_size, void *ret_answer, size_t answer_size);

/* The worker's main: runs the kind with its order socket. Returns the exit status. */
int bench_worker_main(const char *kind);

#endif
