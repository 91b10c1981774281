/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the two processes of a link pair say to each other over the order socket. */

#ifndef TROUPE_BENCH_LINK_WIRE_H
#define TROUPE_BENCH_LINK_WIRE_H

#include <stdint.h>

#include <troupe/node.h>
#include <troupe/ref.h>

enum { BENCH_LINK_OPEN = 1, BENCH_LINK_ARM = 2, BENCH_LINK_WAIT = 3 };

/* Keys are empty without CURVE. */
typedef struct bench_link_open {
    uint64_t dispatchers;
    char secret_key[TROUPE_KEY_SIZE];
    char peer_key[TROUPE_KEY_SIZE]; /* The other's public key. */
} bench_link_open_t;

typedef struct bench_link_opened {
    char address[TROUPE_NODE_ADDRESS_SIZE];
    troupe_ref_t sink, echo, bulk_sink;
} bench_link_opened_t;

typedef struct bench_link_count {
    uint64_t count;
} bench_link_count_t;

/* Fills in keys, address and seed. `seed` may be NULL. `store` must outlive the node's creation. */
typedef struct bench_link_options {
    const char *allowed[1];
    const char *seeds[1];
} bench_link_options_t;

void bench_link_options(const bench_link_open_t *open, const char *seed,
                        bench_link_options_t *store, troupe_node_options_t *ret_options);

#endif
