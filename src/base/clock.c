/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The system's clocks. */

#include "base/clock.h"

#include <time.h>

/* Neither clock can fail on Linux: both exist since long before the oldest kernel that we run on. */

uint64_t trp_clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * TRP_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t trp_clock_coarse(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * TRP_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t trp_clock_wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / TRP_NS_PER_MS;
}
