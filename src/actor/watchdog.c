/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/watchdog.h"

#include <string.h>

#include "actor/dispatcher.h"
#include "actor/events.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#define LOOKS_PER_BOUND 2u

static void watchdog_report(trp_dispatcher_t *d, const trp_dispatcher_t *stuck, uint64_t turn,
                            uint64_t held_ns)
{
    troupe_event_t event;
    trp_event_init(&event, TROUPE_EVENT_SLOW_RECEIVE, NULL, 0);
    uint64_t id = atomic_load_explicit(&stuck->active_id, memory_order_relaxed);
    const trp_name_t *name = atomic_load_explicit(&stuck->active_name, memory_order_relaxed);
    /* Acquire and look again: the name is that of the activation that is on, published before it, and
     * not one that is being made just now. */
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&stuck->activations, memory_order_relaxed) != turn) {
        return;
    }
    uint64_t child_id = name != NULL && name->id == id ? 0 : id;
    char path[TROUPE_PATH_SIZE_MAX];
    if (trp_names_format(name, child_id, path, sizeof(path)) != TROUPE_OK) {
        path[0] = '\0';
    }
    event.text_size = (uint32_t)trp_text_copy(event.text, sizeof(event.text), path);
    event.target = trp_dispatcher_ref(d, id);
    event.count = held_ns;
    TRP_LOG(d->endpoint.runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_WARN, "receive.slow",
            "path=%s dispatcher=%u held_ms=%llu", event.text, stuck->index,
            (unsigned long long)(held_ns / TRP_NS_PER_MS));
    if (trp_events_wanted(d, TROUPE_EVENT_SLOW_RECEIVE)) {
        trp_events_raise(d, &event);
    }
}

/* An odd count is an activation that is on; the same odd count for the whole bound is a slow one. */
static void watchdog_look(trp_dispatcher_t *d, trp_watchdog_t *watchdog, uint32_t index)
{
    const trp_dispatcher_t *other = d->endpoint.runtime->dispatchers[index];
    /* Acquire: pairs with the release in activation_mark. The name that is read while the count stays
     * the same is that of the actor that runs; names that are released later wait in the limbo for the
     * next sweep, which is ours. */
    uint64_t turn = atomic_load_explicit(&other->activations, memory_order_acquire);
    if (turn % 2 == 0 || turn != watchdog->seen[index]) {
        watchdog->seen[index] = turn;
        watchdog->since_ns[index] = d->now;
        watchdog->is_told[index] = false;
        return;
    }
    uint64_t held_ns = d->now - watchdog->since_ns[index];
    if (held_ns >= watchdog->bound_ns && !watchdog->is_told[index]) {
        watchdog->is_told[index] = true;
        watchdog_report(d, other, turn, held_ns);
    }
}

static void watchdog_fired(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_watchdog_t *watchdog = TRP_CONTAINER_OF(alarm, trp_watchdog_t, alarm);
    trp_names_sweep(&d->endpoint.runtime->names);
    trp_events_overload_end(d);
    for (uint32_t i = 0; i < d->endpoint.runtime->len; i++) {
        if (i != d->index) {
            watchdog_look(d, watchdog, i);
        }
    }
    trp_alarm_set(d, alarm, d->now + watchdog->period_ns);
}

void trp_watchdog_start(trp_dispatcher_t *d, trp_watchdog_t *watchdog, uint64_t bound_ns)
{
    memset(watchdog, 0, sizeof(*watchdog));
    watchdog->alarm.fn = watchdog_fired;
    watchdog->bound_ns = bound_ns;
    watchdog->period_ns = bound_ns / LOOKS_PER_BOUND;
    trp_alarm_set(d, &watchdog->alarm, d->now + watchdog->period_ns);
}
