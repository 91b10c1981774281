/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Time. Only drivers call this; pure cores get the time passed in, so that a simulator can replace it.
 *
 * Thread rule: any thread. */

#ifndef TROUPE_BASE_CLOCK_H
#define TROUPE_BASE_CLOCK_H

#include <stdint.h>

#define TRP_NS_PER_US UINT64_C(1000)
#define TRP_NS_PER_MS UINT64_C(1000000)
#define TRP_NS_PER_S UINT64_C(1000000000)
#define TRP_CLOCK_NEVER UINT64_MAX

/* Monotonic nanoseconds; not comparable between machines. */
uint64_t trp_clock_now(void);

/* The same as of the last tick of the system, some milliseconds ago: several times cheaper. */
uint64_t trp_clock_coarse(void);

/* Milliseconds since 1970, for people and logs; may jump. */
uint64_t trp_clock_wall_ms(void);

/* a + b, and TRP_CLOCK_NEVER instead of an overflow. */
static inline uint64_t trp_clock_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? TRP_CLOCK_NEVER : a + b;
}

/* Milliseconds as nanoseconds, with TRP_CLOCK_NEVER instead of an overflow. */
static inline uint64_t trp_clock_from_ms(uint64_t ms)
{
    return ms > UINT64_MAX / TRP_NS_PER_MS ? TRP_CLOCK_NEVER : ms * TRP_NS_PER_MS;
}

#endif
