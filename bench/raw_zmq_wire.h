/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the two sides of the raw ZeroMQ baseline say to each other over the order socket. */

#ifndef TROUPE_BENCH_RAW_ZMQ_WIRE_H
#define TROUPE_BENCH_RAW_ZMQ_WIRE_H

#include <stdint.h>

#define BENCH_RAW_KEY_SIZE 41 /* A CURVE key in Z85, with its zero. */

enum { BENCH_RAW_BIND = 1, BENCH_RAW_TAKE = 2, BENCH_RAW_BOUNCE = 3 };

typedef struct bench_raw_order {
    uint64_t curve; /* BIND only. */
    uint64_t count; /* BIND: bytes a message; else: messages to expect. */
} bench_raw_order_t;

typedef struct bench_raw_address {
    char endpoint[128];
    char server_key[BENCH_RAW_KEY_SIZE];
} bench_raw_address_t;

typedef struct bench_raw_answer {
    uint64_t end_ns; /* When the last message was there; both processes read the same clock. */
    uint64_t lost;
} bench_raw_answer_t;

#endif
