/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Exponential back-off with jitter: how long to wait before the next attempt.
 *
 * Thread rule: a back-off belongs to its thread. */

#ifndef TROUPE_BASE_BACKOFF_H
#define TROUPE_BASE_BACKOFF_H

#include <stdint.h>

#include "base/random.h"

typedef struct trp_backoff {
    uint64_t min_ns;   /* The first delay, before jitter. */
    uint64_t max_ns;   /* No delay is longer, jitter included. */
    double jitter;     /* 0..1: the delay is drawn from [d * (1 - jitter), d]. */
    uint32_t attempts; /* Since the last reset. */
} trp_backoff_t;

void trp_backoff_init(trp_backoff_t *backoff, uint64_t min_ns, uint64_t max_ns, double jitter);

/* The next delay: min, 2 min, 4 min ... max, each with jitter. */
uint64_t trp_backoff_next(trp_backoff_t *backoff, trp_random_t *random);

/* After a success: the next delay is the first again. */
static inline void trp_backoff_reset(trp_backoff_t *backoff)
{
    backoff->attempts = 0;
}

#endif
