/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The event stream of a node: who wants which kinds, and raising them. Raising a kind that nobody wants
 * costs one relaxed load. Thread rule: raising belongs to dispatchers; the hub has a mutex. */

#ifndef TROUPE_ACTOR_EVENTS_H
#define TROUPE_ACTOR_EVENTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <troupe/events.h>

#include "actor/dispatcher.h"

#define TRP_EVENT_SUBSCRIBERS_MAX 256u

typedef struct trp_event_subscriber {
    uint64_t id;
    uint32_t mask;
} trp_event_subscriber_t;

struct trp_event_hub {
    _Atomic uint32_t mask; /* Kinds that anybody wants. */
    pthread_mutex_t mutex;
    uint32_t len;
    trp_event_subscriber_t subscribers[TRP_EVENT_SUBSCRIBERS_MAX];
    trp_log_limit_t dead_letter_limit;
    _Atomic uint64_t overload_episode; /* The last one that was told. */
    uint64_t overload_ended;           /* The last one whose end was told: the watchdog's. */
};

troupe_err_t trp_events_create(trp_event_hub_t **ret_hub);
void trp_events_destroy(trp_event_hub_t **hub);

static inline bool trp_events_wanted(const trp_dispatcher_t *d, uint32_t kind)
{
    return (atomic_load_explicit(&d->endpoint.runtime->events->mask, memory_order_relaxed) &
            kind) != 0;
}

/* Sends the event to all that want its kind. */
void trp_events_raise(trp_dispatcher_t *d, const troupe_event_t *event);
/* An event with its kind set, all else zero, and `text` (may be NULL) escaped into it. */
void trp_event_init(troupe_event_t *event, uint32_t kind, const void *text, size_t size);

void trp_events_failure(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t error);
void trp_events_mailbox_full(trp_dispatcher_t *d, troupe_actor_t *cell);
/* The ceiling refused a message: told once an episode. */
void trp_events_overload(trp_dispatcher_t *d);
/* Tells that an episode is over. The watchdog looks now and then. */
void trp_events_overload_end(trp_dispatcher_t *d);
/* An actor ends: it wants nothing any more. */
void trp_events_forget(trp_dispatcher_t *d, troupe_actor_t *cell);

/* Writes the actor's path into the event's text. */
void trp_event_set_path(troupe_event_t *event, const troupe_actor_t *cell);

#endif
