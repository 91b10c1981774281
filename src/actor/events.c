/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/events.h"

#include <string.h>

#include "actor/deliver.h"
#include "actor/extra.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

troupe_err_t trp_events_create(trp_event_hub_t **ret_hub)
{
    trp_event_hub_t *hub = trp_calloc(1, sizeof(*hub));
    if (hub == NULL) {
        return TROUPE_ENOMEM;
    }
    if (pthread_mutex_init(&hub->mutex, NULL) != 0) {
        trp_free(hub);
        return TROUPE_ESYSTEM;
    }
    *ret_hub = hub;
    return TROUPE_OK;
}

void trp_events_destroy(trp_event_hub_t **hub)
{
    if (*hub != NULL) {
        (void)pthread_mutex_destroy(&(*hub)->mutex);
        trp_free(*hub);
        *hub = NULL;
    }
}

/* ---- subscribing ----------------------------------------------------------------------------- */

/* With the mutex held. */
static void hub_update_mask(trp_event_hub_t *hub)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < hub->len; i++) {
        mask |= hub->subscribers[i].mask;
    }
    atomic_store_explicit(&hub->mask, mask, memory_order_relaxed);
}

static troupe_err_t hub_set(trp_event_hub_t *hub, uint64_t id, uint32_t mask)
{
    troupe_err_t err = TROUPE_OK;
    uint32_t at = 0;
    pthread_mutex_lock(&hub->mutex);
    while (at < hub->len && hub->subscribers[at].id != id) {
        at++;
    }
    if (mask == 0) {
        if (at < hub->len) {
            hub->subscribers[at] = hub->subscribers[--hub->len];
        }
    } else if (at < TRP_EVENT_SUBSCRIBERS_MAX) {
        hub->subscribers[at] = (trp_event_subscriber_t){id, mask};
        hub->len = at == hub->len ? at + 1 : hub->len;
    } else {
        err = TROUPE_EFULL;
    }
    hub_update_mask(hub);
    pthread_mutex_unlock(&hub->mutex);
    return err;
}

troupe_err_t troupe_events_subscribe(troupe_actor_t *self, uint32_t mask)
{
    trp_extra_t *extra = trp_extra_get(self);
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = hub_set(self->dispatcher->endpoint.runtime->events, self->id, mask);
    if (err == TROUPE_OK) {
        extra->is_event_subscriber = mask != 0;
    }
    return err;
}

void trp_events_forget(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if (cell->extra != NULL && cell->extra->is_event_subscriber) {
        cell->extra->is_event_subscriber = false;
        (void)!hub_set(d->endpoint.runtime->events, cell->id, 0);
    }
}

/* ---- raising --------------------------------------------------------------------------------- */

void trp_event_init(troupe_event_t *event, uint32_t kind, const void *text, size_t size)
{
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    if (text != NULL) {
        trp_text_escape(event->text, sizeof(event->text), text, size);
        event->text_size = (uint32_t)strlen(event->text);
    }
}

void trp_event_set_path(troupe_event_t *event, const troupe_actor_t *cell)
{
    char path[TROUPE_PATH_SIZE_MAX];
    if (troupe_path(cell, path, sizeof(path)) == TROUPE_OK) {
        event->text_size = (uint32_t)trp_text_copy(event->text, sizeof(event->text), path);
    }
}

/* An overload must be told though user messages are refused: it takes of the system's reserve. */
static void event_send(trp_dispatcher_t *d, const troupe_event_t *event, uint64_t to)
{
    bool is_overload = event->kind == TROUPE_EVENT_OVERLOAD;
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, sizeof(*event), is_overload);
    d->user.made++;
    if (message == NULL) {
        d->user.dropped[TROUPE_DROP_OVERLOAD]++;
        return;
    }
    message->target = to;
    message->sender = 0;
    message->type = TROUPE_TYPE_EVENT.id;
    message->flags = 0;
    memcpy(trp_message_payload(message), event, sizeof(*event));
    trp_route(d, message);
}

void trp_events_raise(trp_dispatcher_t *d, const troupe_event_t *event)
{
    trp_event_hub_t *hub = d->endpoint.runtime->events;
    trp_event_subscriber_t wanting[TRP_EVENT_SUBSCRIBERS_MAX];
    uint32_t len = 0;
    pthread_mutex_lock(&hub->mutex);
    for (uint32_t i = 0; i < hub->len; i++) {
        if ((hub->subscribers[i].mask & event->kind) != 0) {
            wanting[len++] = hub->subscribers[i];
        }
    }
    pthread_mutex_unlock(&hub->mutex);
    for (uint32_t i = 0; i < len; i++) { /* Not under the lock: sending may raise events. */
        event_send(d, event, wanting[i].id);
    }
}

void trp_events_failure(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t error)
{
    troupe_event_t event;
    trp_event_init(&event, TROUPE_EVENT_FAILURE, NULL, 0);
    event.target = trp_dispatcher_ref(d, cell->id);
    event.error = (uint16_t)error;
    trp_event_set_path(&event, cell);
    TRP_LOG(d->endpoint.runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_INFO, "actor.failed",
            "path=%s error=%s", event.text, troupe_err_name(error));
    if (trp_events_wanted(d, TROUPE_EVENT_FAILURE)) {
        trp_events_raise(d, &event);
    }
}

void trp_events_mailbox_full(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    troupe_event_t event;
    trp_event_init(&event, TROUPE_EVENT_MAILBOX_FULL, NULL, 0);
    event.target = trp_dispatcher_ref(d, cell->id);
    event.count = cell->mail_len;
    trp_event_set_path(&event, cell);
    TRP_LOG(d->endpoint.runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_WARN, "mailbox.full",
            "path=%s messages=%u bytes=%zu", event.text, cell->mail_len, cell->mail_size);
    if (trp_events_wanted(d, TROUPE_EVENT_MAILBOX_FULL)) {
        trp_events_raise(d, &event);
    }
}

void trp_events_overload(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    uint64_t episode = atomic_load_explicit(&runtime->depot.episodes, memory_order_relaxed);
    uint64_t told =
        atomic_exchange_explicit(&runtime->events->overload_episode, episode, memory_order_relaxed);
    if (told == episode) {
        return;
    }
    troupe_event_t event;
    trp_event_init(&event, TROUPE_EVENT_OVERLOAD, NULL, 0);
    event.count = atomic_load_explicit(&runtime->depot.used, memory_order_relaxed);
    if (d->current != NULL) {
        event.target = trp_dispatcher_ref(d, d->current->id);
        trp_event_set_path(&event, d->current);
    }
    TRP_LOG(runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_WARN, "node.overload",
            "bytes=%llu sender=%s", (unsigned long long)event.count, event.text);
    if (trp_events_wanted(d, TROUPE_EVENT_OVERLOAD)) {
        trp_events_raise(d, &event);
    }
}

void trp_events_overload_end(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    trp_event_hub_t *hub = runtime->events;
    uint64_t told = atomic_load_explicit(&hub->overload_episode, memory_order_relaxed);
    if (told == hub->overload_ended ||
        atomic_load_explicit(&runtime->depot.is_shedding, memory_order_relaxed)) {
        return;
    }
    hub->overload_ended = told;
    troupe_event_t event;
    trp_event_init(&event, TROUPE_EVENT_OVERLOAD, NULL, 0);
    TRP_LOG(runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_INFO, "node.overload_end", "episodes=%llu",
            (unsigned long long)told);
    if (trp_events_wanted(d, TROUPE_EVENT_OVERLOAD)) {
        trp_events_raise(d, &event);
    }
}
