/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The watchdog: an alarm of the system dispatcher that looks whether another dispatcher has been in one
 * activation for too long, and says which actor it is. It is also the one that frees names in limbo,
 * since it is the one reader of names on a thread that does not own them.
 * Thread rule: the system dispatcher. */

#ifndef TROUPE_ACTOR_WATCHDOG_H
#define TROUPE_ACTOR_WATCHDOG_H

#include "actor/alarm.h"
#include "actor/endpoint.h"

typedef struct trp_watchdog {
    trp_alarm_t alarm;
    uint64_t period_ns;
    uint64_t bound_ns;
    uint64_t seen[TRP_DISPATCHERS_MAX];     /* The activation that was on. */
    uint64_t since_ns[TRP_DISPATCHERS_MAX]; /* Since when. */
    bool is_told[TRP_DISPATCHERS_MAX];
} trp_watchdog_t;

/* Starts on the system dispatcher's thread. */
void trp_watchdog_start(trp_dispatcher_t *d, trp_watchdog_t *watchdog, uint64_t bound_ns);

#endif
