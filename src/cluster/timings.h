/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The core's timings as it works with them. What each is for stands in core.h. */

#ifndef TROUPE_CLUSTER_TIMINGS_H
#define TROUPE_CLUSTER_TIMINGS_H

#include <stdint.h>

/* The timings in nanoseconds, defaults filled in. */
typedef struct trp_timings {
    uint64_t probe_interval;
    uint64_t probe_timeout;
    uint64_t suspicion;
    uint64_t gossip_interval;
    uint64_t stable_after;
    uint64_t seek_interval;
    uint64_t form_wait;
    uint64_t seed_timeout;
    uint64_t dial_interval;
    uint64_t settle_resend;
    uint64_t exit_linger;
    uint64_t leave_timeout;
    uint64_t tombstone;
    uint64_t late;
} trp_timings_t;

#endif
