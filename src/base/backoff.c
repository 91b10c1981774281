/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Exponential back-off with jitter. */

#include "base/backoff.h"

#include "base/assert.h"

#define BACKOFF_DOUBLINGS_MAX 63 /* A shift by more is undefined. */

void trp_backoff_init(trp_backoff_t *backoff, uint64_t min_ns, uint64_t max_ns, double jitter)
{
    TRP_ASSERT(min_ns > 0 && min_ns <= max_ns);
    TRP_ASSERT(jitter >= 0.0 && jitter <= 1.0);
    *backoff = (trp_backoff_t){min_ns, max_ns, jitter, 0};
}

static uint64_t backoff_delay(const trp_backoff_t *backoff)
{
    uint32_t doublings = backoff->attempts;
    if (doublings > BACKOFF_DOUBLINGS_MAX || backoff->min_ns > backoff->max_ns >> doublings) {
        return backoff->max_ns;
    }
    return backoff->min_ns << doublings;
}

uint64_t trp_backoff_next(trp_backoff_t *backoff, trp_random_t *random)
{
    TRP_ASSERT(backoff->min_ns > 0);
    uint64_t delay = backoff_delay(backoff);
    if (backoff->attempts < UINT32_MAX) {
        backoff->attempts++;
    }
    double cut = (double)delay * backoff->jitter * trp_random_unit(random);
    uint64_t cut_ns = (uint64_t)cut;
    return cut_ns >= delay ? 0 : delay - cut_ns;
}
