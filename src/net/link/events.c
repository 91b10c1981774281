/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Events: logged once, then given to each listener, on its dispatcher or here. */

#include "net/link/events.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const char *const event_names[] = {
    [TRP_LINK_EVENT_UP] = "link.up",
    [TRP_LINK_EVENT_LOST] = "link.lost",
    [TRP_LINK_EVENT_REPLACED] = "link.replaced",
    [TRP_LINK_EVENT_BYE] = "link.bye",
    [TRP_LINK_EVENT_REFUSED] = "link.refused",
    [TRP_LINK_EVENT_FAILED] = "link.failed",
    [TRP_LINK_EVENT_STALLED] = "link.stalled",
    [TRP_LINK_EVENT_RESUMED] = "link.resumed",
    [TRP_LINK_EVENT_DIALLED] = "link.dialled",
};

/* What goes to a dispatcher: one copy of the event for each listener. */
typedef struct event_task {
    trp_link_event_fn fn;
    void *context;
    trp_link_event_t event;
} event_task_t;

static void event_run(trp_dispatcher_t *d, void *payload, size_t size)
{
    (void)size;
    event_task_t *task = NULL;
    memcpy(&task, payload, sizeof(task));
    task->fn(task->context, d, &task->event);
    trp_free(task);
}

static void event_post(trp_link_t *link, const trp_listener_t *listener,
                       const trp_link_event_t *event)
{
    event_task_t *task = trp_alloc(sizeof(*task));
    if (task == NULL) {
        return;
    }
    *task = (event_task_t){listener->fn, listener->context, *event};
    if (trp_endpoint_post(&link->endpoint, listener->dispatcher_index, event_run, &task,
                          sizeof(task)) != TROUPE_OK) {
        trp_free(task);
    }
}

static void event_log(trp_link_t *link, const trp_link_event_t *event)
{
    bool is_quiet = event->kind == TRP_LINK_EVENT_UP || event->kind == TRP_LINK_EVENT_BYE ||
                    event->kind == TRP_LINK_EVENT_RESUMED || event->kind == TRP_LINK_EVENT_DIALLED;
    troupe_log_level_t level = is_quiet ? TROUPE_LOG_INFO : TROUPE_LOG_WARN;
    TRP_LOG(link->log, TROUPE_LOG_LINK, level, event_names[event->kind],
            "peer=%s uid=%016llx address=%s reason=%s by=%s text=%s", event->name,
            (unsigned long long)event->uid, event->address, troupe_err_name(event->reason),
            event->by_us ? "us" : "them", event->text);
}

static void event_emit(trp_link_t *link, const trp_link_event_t *event)
{
    event_log(link, event);
    for (uint32_t i = 0; i < link->listeners_len; i++) {
        const trp_listener_t *listener = &link->listeners[i];
        if (listener->dispatcher_index == TRP_LINK_ON_LINK_THREAD || !link->has_endpoint) {
            listener->fn(listener->context, NULL, event);
        } else {
            event_post(link, listener, event);
        }
    }
}

void trp_events_peer(trp_link_t *link, trp_link_event_kind_t kind, trp_peer_t *peer,
                     troupe_err_t reason, const char *text)
{
    trp_link_event_t event = {.kind = kind, .reason = reason, .uid = peer->uid};
    (void)trp_text_copy(event.name, sizeof(event.name), peer->name);
    (void)trp_text_copy(event.address, sizeof(event.address), peer->address);
    (void)trp_text_copy(event.text, sizeof(event.text), text != NULL ? text : "");
    event_emit(link, &event);
}

void trp_events_dial(trp_link_t *link, trp_link_event_kind_t kind, const char *address,
                     troupe_err_t reason, trp_view_t text)
{
    trp_link_event_t event = {.kind = kind, .reason = reason};
    (void)trp_text_copy(event.address, sizeof(event.address), address);
    (void)trp_text_escape(event.text, sizeof(event.text), text.data, text.size);
    event_emit(link, &event);
}

void trp_events_dialled(trp_link_t *link, const char *address, uint64_t uid)
{
    trp_link_event_t event = {.kind = TRP_LINK_EVENT_DIALLED, .uid = uid};
    (void)trp_text_copy(event.address, sizeof(event.address), address);
    event_emit(link, &event);
}

void trp_events_refused(trp_link_t *link, const trp_hello_t *hello, troupe_err_t reason,
                        const char *text)
{
    trp_link_event_t event = {
        .kind = TRP_LINK_EVENT_REFUSED, .reason = reason, .uid = hello->uid, .by_us = true};
    (void)trp_text_escape(event.name, sizeof(event.name), hello->name.data, hello->name.size);
    (void)trp_text_escape(event.address, sizeof(event.address), hello->address.data,
                          hello->address.size);
    (void)trp_text_escape(event.text, sizeof(event.text), text, strlen(text));
    event_emit(link, &event);
}

void trp_events_refused_key(trp_link_t *link, const char *key)
{
    trp_link_event_t event = {
        .kind = TRP_LINK_EVENT_REFUSED, .reason = TROUPE_EAUTH, .by_us = true};
    (void)trp_text_format(event.text, sizeof(event.text), "key %s is not in the allow-list",
                          key[0] != '\0' ? key : "(none)");
    event_emit(link, &event);
}
