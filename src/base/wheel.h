/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Hierarchical timing wheel. Time is cut into ticks of 2^20 ns (1.05 ms); each level has 64 slots, and
 * a slot of one level spans all 64 slots of the level below:
 *
 *     level 0   |.|.|T|.| ...   64 slots of 1 tick
 *     level 1   |.|T|.|.| ...   64 slots of 64 ticks
 *     level 2   ...             64 slots of 4,096 ticks
 *
 * A timer lies on the level of the highest digit (to base 64) in which its tick differs from the
 * present one, and moves down as the present comes nearer; eight levels hold every 64-bit time. A bit
 * per slot finds the next one in use. Adding and cancelling are O(1) and allocate nothing.
 *
 * A timer never fires early, and fires with the first advance that is a tick or more after its
 * deadline. Once cancelled it never fires, also when it was due in the very advance that is running.
 *
 * Thread rule: a wheel and its timers belong to one thread. */

#ifndef TROUPE_BASE_WHEEL_H
#define TROUPE_BASE_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define TRP_WHEEL_TICK_BITS 20 /* 2^20 ns a tick. */
#define TRP_WHEEL_SLOT_BITS 6
#define TRP_WHEEL_SLOTS (1u << TRP_WHEEL_SLOT_BITS)
#define TRP_WHEEL_LEVELS 8 /* 8 * 6 bits of ticks of 20 bits: more than 64. */

/* Embedded in its owner, found again with TRP_CONTAINER_OF. Zeroed memory is a timer not armed. */
typedef struct trp_wheel_timer {
    trp_node_link_t link;
    uint64_t deadline_ns;
} trp_wheel_timer_t;

typedef struct trp_wheel {
    uint64_t tick; /* Every timer up to this tick has fired or is in `due`. */
    uint64_t base; /* Timers in slots are placed relative to it; see wheel.c. */
    size_t len;    /* Timers armed. */
    bool advancing;
    trp_list_t due;    /* Armed when their time had already come; the next advance fires them. */
    trp_list_t firing; /* Taken out of a slot by the advance that is running. */
    uint64_t used[TRP_WHEEL_LEVELS]; /* A bit a slot: 0 means surely empty. */
    trp_list_t slots[TRP_WHEEL_LEVELS][TRP_WHEEL_SLOTS];
} trp_wheel_t;

/* Called for a timer that has fired and is no longer armed: it may be armed again or freed, and
 * others may be added or cancelled; trp_wheel_advance must not be called. */
typedef void (*trp_wheel_fire_fn)(trp_wheel_t *wheel, trp_wheel_timer_t *timer, void *user);

void trp_wheel_init(trp_wheel_t *wheel, uint64_t now_ns);

static inline void trp_wheel_timer_init(trp_wheel_timer_t *timer)
{
    trp_list_link_init(&timer->link);
    timer->deadline_ns = 0;
}

static inline bool trp_wheel_is_armed(const trp_wheel_timer_t *timer)
{
    return trp_list_is_linked(&timer->link);
}

static inline size_t trp_wheel_len(const trp_wheel_t *wheel)
{
    return wheel->len;
}

/* Arms a timer that is not armed. A deadline in the past fires with the next advance. */
void trp_wheel_add(trp_wheel_t *wheel, trp_wheel_timer_t *timer, uint64_t deadline_ns);

/* Disarms; does nothing when the timer is not armed. */
void trp_wheel_cancel(trp_wheel_t *wheel, trp_wheel_timer_t *timer);

/* When to call advance next, in nanoseconds of the same clock: never later than the next timer must
 * fire, now and then earlier (to move timers down). TRP_CLOCK_NEVER (UINT64_MAX) with no timer. */
uint64_t trp_wheel_next(trp_wheel_t *wheel);

/* Fires what is due at `now_ns`, in the order of ticks. Returns how many fired. A time before that of
 * the last advance counts as that one. */
size_t trp_wheel_advance(trp_wheel_t *wheel, uint64_t now_ns, trp_wheel_fire_fn fire, void *user);

#endif
