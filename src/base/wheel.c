/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The timing wheel. Two numbers say where it stands: `tick`, the last tick that has fired, and `base`,
 * against which timers are placed. `base` is tick + 1 at rest and equal to `tick` while that tick's
 * timers are being called. On every level above 0 the slot of base's own digit is empty: whoever
 * moves base there moves its timers down. */

#include "base/wheel.h"

#include "base/clock.h"

#define WHEEL_SLOT_MASK ((uint64_t)TRP_WHEEL_SLOTS - 1)
#define WHEEL_TICK_MASK ((UINT64_C(1) << TRP_WHEEL_TICK_BITS) - 1)

/* A slot in use: the first one that the wheel comes to. */
typedef struct wheel_place {
    unsigned level;
    unsigned slot;
    uint64_t start; /* Its first tick. */
} wheel_place_t;

void trp_wheel_init(trp_wheel_t *wheel, uint64_t now_ns)
{
    TRP_ASSERT(wheel != NULL);
    wheel->tick = now_ns >> TRP_WHEEL_TICK_BITS;
    wheel->base = wheel->tick + 1;
    wheel->len = 0;
    wheel->advancing = false;
    trp_list_init(&wheel->due);
    trp_list_init(&wheel->firing);
    for (unsigned level = 0; level < TRP_WHEEL_LEVELS; level++) {
        wheel->used[level] = 0;
        for (unsigned slot = 0; slot < TRP_WHEEL_SLOTS; slot++) {
            trp_list_init(&wheel->slots[level][slot]);
        }
    }
}

/* The first tick that begins at the deadline or after it: no timer fires early. */
static uint64_t wheel_tick_of(uint64_t deadline_ns)
{
    return (deadline_ns >> TRP_WHEEL_TICK_BITS) + ((deadline_ns & WHEEL_TICK_MASK) != 0);
}

static unsigned wheel_digit(uint64_t tick, unsigned level)
{
    return (unsigned)((tick >> (level * TRP_WHEEL_SLOT_BITS)) & WHEEL_SLOT_MASK);
}

static void wheel_place(trp_wheel_t *wheel, trp_wheel_timer_t *timer)
{
    uint64_t tick = wheel_tick_of(timer->deadline_ns);
    TRP_ASSERT_DEBUG(tick >= wheel->base);
    uint64_t differing = (tick ^ wheel->base) | 1;
    unsigned level = (63u - (unsigned)__builtin_clzll(differing)) / TRP_WHEEL_SLOT_BITS;
    unsigned slot = wheel_digit(tick, level);
    trp_list_push_back(&wheel->slots[level][slot], &timer->link);
    wheel->used[level] |= UINT64_C(1) << slot;
}

void trp_wheel_add(trp_wheel_t *wheel, trp_wheel_timer_t *timer, uint64_t deadline_ns)
{
    TRP_ASSERT(!trp_wheel_is_armed(timer));
    timer->deadline_ns = deadline_ns;
    wheel->len++;
    if (wheel_tick_of(deadline_ns) <= wheel->tick) {
        trp_list_push_back(&wheel->due, &timer->link);
        return;
    }
    wheel_place(wheel, timer);
}

/* The slot's bit stays: it only says "maybe", and wheel_find clears it when it comes by. */
void trp_wheel_cancel(trp_wheel_t *wheel, trp_wheel_timer_t *timer)
{
    if (!trp_wheel_is_armed(timer)) {
        return;
    }
    TRP_ASSERT(wheel->len > 0);
    trp_list_remove(&timer->link);
    wheel->len--;
}

/* The first slot of the level, from base on, that has a timer. */
static bool wheel_find_on_level(trp_wheel_t *wheel, unsigned level, unsigned *ret_slot)
{
    uint64_t candidates = wheel->used[level] & (UINT64_MAX << wheel_digit(wheel->base, level));
    while (candidates != 0) {
        unsigned slot = (unsigned)__builtin_ctzll(candidates);
        if (!trp_list_is_empty(&wheel->slots[level][slot])) {
            *ret_slot = slot;
            return true;
        }
        wheel->used[level] &= ~(UINT64_C(1) << slot);
        candidates &= candidates - 1;
    }
    return false;
}

/* A level's timers all come before those of the levels above, so the lowest level in use decides. */
static bool wheel_find(trp_wheel_t *wheel, wheel_place_t *ret_place)
{
    for (unsigned level = 0; level < TRP_WHEEL_LEVELS; level++) {
        unsigned slot = 0;
        if (wheel_find_on_level(wheel, level, &slot)) {
            unsigned shift = level * TRP_WHEEL_SLOT_BITS;
            uint64_t block = (wheel->base >> shift) & ~WHEEL_SLOT_MASK;
            *ret_place = (wheel_place_t){level, slot, (block | slot) << shift};
            return true;
        }
    }
    return false;
}

uint64_t trp_wheel_next(trp_wheel_t *wheel)
{
    if (wheel->len == 0) {
        return TRP_CLOCK_NEVER;
    }
    if (!trp_list_is_empty(&wheel->due)) {
        return wheel->tick << TRP_WHEEL_TICK_BITS;
    }
    wheel_place_t place;
    if (!wheel_find(wheel, &place) || place.start > UINT64_MAX >> TRP_WHEEL_TICK_BITS) {
        return TRP_CLOCK_NEVER;
    }
    return place.start << TRP_WHEEL_TICK_BITS;
}

/* Calls for all timers in `firing`. Each is unlinked before its call, so the call may free it; what
 * the call cancels is taken out of the list and so isn't called any more. */
static size_t wheel_fire(trp_wheel_t *wheel, trp_wheel_fire_fn fire, void *user)
{
    size_t fired = 0;
    trp_node_link_t *link = NULL;
    while ((link = trp_list_pop_front(&wheel->firing)) != NULL) {
        wheel->len--;
        fired++;
        fire(wheel, TRP_CONTAINER_OF(link, trp_wheel_timer_t, link), user);
    }
    return fired;
}

/* Moves base to the start of a slot above level 0 and its timers down. */
static void wheel_cascade(trp_wheel_t *wheel, const wheel_place_t *place)
{
    trp_list_t moving;
    trp_list_init(&moving);
    trp_list_append(&moving, &wheel->slots[place->level][place->slot]);
    wheel->used[place->level] &= ~(UINT64_C(1) << place->slot);
    wheel->base = place->start;
    trp_node_link_t *link = NULL;
    while ((link = trp_list_pop_front(&moving)) != NULL) {
        wheel_place(wheel, TRP_CONTAINER_OF(link, trp_wheel_timer_t, link));
    }
}

/* Takes the timers of a slot of level 0, whose tick has come, into `firing`. */
static void wheel_collect(trp_wheel_t *wheel, const wheel_place_t *place)
{
    wheel->base = place->start;
    wheel->tick = place->start;
    wheel->used[0] &= ~(UINT64_C(1) << place->slot);
    trp_list_append(&wheel->firing, &wheel->slots[0][place->slot]);
}

size_t trp_wheel_advance(trp_wheel_t *wheel, uint64_t now_ns, trp_wheel_fire_fn fire, void *user)
{
    TRP_ASSERT(!wheel->advancing);
    TRP_ASSERT(fire != NULL);
    uint64_t target = now_ns >> TRP_WHEEL_TICK_BITS;
    if (target < wheel->tick) {
        target = wheel->tick;
    }
    wheel->advancing = true;
    trp_list_append(&wheel->firing, &wheel->due);
    size_t fired = wheel_fire(wheel, fire, user);
    wheel_place_t place;
    /* A slot that begins with target + 1 moves down too, for base ends there. */
    while (wheel_find(wheel, &place) && place.start <= target + (place.level > 0)) {
        if (place.level > 0) {
            wheel_cascade(wheel, &place);
            continue;
        }
        wheel_collect(wheel, &place);
        fired += wheel_fire(wheel, fire, user);
    }
    wheel->tick = target;
    wheel->base = target + 1;
    wheel->advancing = false;
    return fired;
}
