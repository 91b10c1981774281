/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Alarms: a timer of a dispatcher's wheel with the function that it calls. Embedded in its owner; zeroed
 * memory is an alarm that is not set. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_ALARM_H
#define TROUPE_ACTOR_ALARM_H

#include <stdint.h>

#include "base/wheel.h"

typedef struct trp_dispatcher trp_dispatcher_t;
typedef struct trp_alarm trp_alarm_t;

struct trp_alarm {
    trp_wheel_timer_t timer;
    void (*fn)(trp_dispatcher_t *d, trp_alarm_t *alarm); /* Set by the owner. */
};

/* Sets an alarm for a monotonic time; one that is set already is moved. */
void trp_alarm_set(trp_dispatcher_t *d, trp_alarm_t *alarm, uint64_t deadline_ns);
void trp_alarm_cancel(trp_dispatcher_t *d, trp_alarm_t *alarm);

#endif
