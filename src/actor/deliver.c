/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/deliver.h"

#include <string.h>

#include "actor/answer.h"
#include "actor/children.h"
#include "actor/extra.h"
#include "actor/mailbox.h"
#include "actor/unborn.h"
#include "actor/watch.h"
#include "base/assert.h"

/* ---- to a dispatcher ------------------------------------------------------------------------- */

static void deliver_system_dead(trp_dispatcher_t *d, trp_message_t *message);

/* A task that is posted inside a callback or another task waits for its end: tasks never nest. Only
 * tasks and topics are for dispatchers: a reference that names one may come from anywhere. */
static void deliver_to_dispatcher(trp_dispatcher_t *d, trp_message_t *message)
{
    bool is_system = (message->flags & TRP_MESSAGE_SYSTEM) != 0;
    if ((message->flags & TRP_MESSAGE_TOPIC) != 0) {
        trp_runtime_t *runtime = d->endpoint.runtime;
        TRP_ASSERT(runtime->topic_fn != NULL);
        runtime->topic_fn(runtime->topic_context, d, message);
        return;
    }
    if (!is_system) {
        trp_drop(d, message, TROUPE_DROP_NO_ACTOR);
        return;
    }
    if (message->type != TRP_SYSTEM_TASK) {
        deliver_system_dead(d, message);
        return;
    }
    message->next = NULL;
    if (d->task_first == NULL) {
        d->task_first = message;
    } else {
        d->task_last->next = message;
    }
    d->task_last = message;
    if (d->current == NULL && !d->is_in_task) {
        trp_dispatcher_run_tasks(d);
    }
}

/* Up to the last that is there now: one that posts itself again has its next turn in the next round. */
void trp_dispatcher_run_tasks(trp_dispatcher_t *d)
{
    TRP_ASSERT(!d->is_in_task);
    const trp_message_t *last = d->task_last;
    d->is_in_task = true;
    for (bool is_last = false; !is_last && d->task_first != NULL;) {
        trp_message_t *message = d->task_first;
        is_last = message == last;
        d->task_first = message->next;
        trp_task_fn fn = NULL;
        memcpy(&fn, trp_message_extension(message), sizeof(fn));
        fn(d, trp_message_payload(message), message->size);
        trp_message_free(&d->endpoint.pool, message);
    }
    d->is_in_task = false;
}

/* ---- system messages ------------------------------------------------------------------------- */

/* What is done about a system message whose target has ended or never was. */
static void deliver_system_dead(trp_dispatcher_t *d, trp_message_t *message)
{
    troupe_ref_t sender = trp_message_sender(d, message);
    if (message->type == TRP_SYSTEM_WATCH) {
        trp_terminated_t terminated = {trp_dispatcher_ref(d, message->target), TROUPE_ENOACTOR};
        trp_system_send(d, sender, TRP_SYSTEM_TERMINATED, message->target, &terminated,
                        sizeof(terminated));
    }
    trp_drop(d, message, TROUPE_DROP_NO_ACTOR);
}

static void deliver_system(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    switch ((trp_system_kind_t)message->type) {
    case TRP_SYSTEM_WATCH:
        trp_watchers_add(d, cell, trp_message_sender(d, message));
        d->system.taken++;
        trp_message_free(&d->endpoint.pool, message);
        return;
    case TRP_SYSTEM_UNWATCH:
        trp_watchers_remove(cell, trp_message_sender(d, message));
        d->system.taken++;
        trp_message_free(&d->endpoint.pool, message);
        return;
    case TRP_SYSTEM_CHILD_ENDED:
        trp_children_ended(d, cell, message);
        return;
    case TRP_SYSTEM_POISON:
    case TRP_SYSTEM_TERMINATED:
    case TRP_SYSTEM_OFFLOADED:
    case TRP_SYSTEM_SELECT:
        trp_mailbox_append_system(d, cell, message);
        return;
    default:
        trp_mailbox_append_urgent(d, cell, message);
        return;
    }
}

/* ---- everything but the plain case ----------------------------------------------------------- */

static void deliver_dead(trp_dispatcher_t *d, trp_message_t *message)
{
    trp_slot_t *entry = trp_slots_entry(&d->slots, trp_id_slot(message->target));
    bool was_alive = entry != NULL && entry->generation != trp_id_generation(message->target);
    trp_drop(d, message, was_alive ? TROUPE_DROP_STALE : TROUPE_DROP_NO_ACTOR);
}

void trp_deliver_other(trp_dispatcher_t *d, trp_message_t *message)
{
    uint32_t slot = trp_id_slot(message->target);
    TRP_ASSERT_DEBUG(trp_id_dispatcher(message->target) == d->index);
    if (slot == TRP_SLOT_DISPATCHER) {
        deliver_to_dispatcher(d, message);
        return;
    }
    bool is_system = (message->flags & TRP_MESSAGE_SYSTEM) != 0;
    if ((slot & TRP_SLOT_ASK) != 0) {
        if (is_system && message->type == TRP_SYSTEM_WATCH) {
            deliver_system_dead(d, message); /* An ask is no actor: it has ended, as it were. */
        } else {
            trp_answer_deliver(d, message);
        }
        return;
    }
    troupe_actor_t *cell = trp_cell_find(d, message->target);
    if (cell != NULL) {
        deliver_system(d, cell, message);
        return;
    }
    trp_slot_t *entry = trp_slots_entry(&d->slots, slot);
    uint32_t generation = trp_id_generation(message->target);
    if (entry != NULL && entry->actor == NULL && entry->generation == generation &&
        generation != 0) { /* 0: retired. */
        trp_unborn_add(d, message);
        return;
    }
    if (is_system) {
        deliver_system_dead(d, message);
    } else {
        deliver_dead(d, message);
    }
}

void trp_route_far(trp_dispatcher_t *d, uint32_t index, trp_message_t *message)
{
    if (TRP_UNLIKELY(index >= d->endpoint.runtime->len)) {
        if ((message->flags & TRP_MESSAGE_SYSTEM) != 0) {
            deliver_system_dead(d, message);
        } else {
            trp_drop(d, message, TROUPE_DROP_NO_ACTOR);
        }
        return;
    }
    if (TRP_UNLIKELY(trp_endpoint_put(&d->endpoint, index, message)) && d->current != NULL) {
        d->park_on = &d->endpoint.out[index]->parking;
        d->attention = true;
    }
}

/* ---- making and sending system messages ------------------------------------------------------ */

static void system_send_remote(trp_dispatcher_t *d, troupe_ref_t to, trp_system_kind_t kind,
                               uint64_t sender, trp_view_t body)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    trp_outgoing_t out = {
        .to = to,
        .sender = trp_dispatcher_ref(d, sender),
        .data = body.data,
        .size = body.size,
        .type = (uint16_t)kind,
        .is_system = true,
        .is_urgent = kind == TRP_SYSTEM_KILL,
    };
    trp_remote_verdict_t verdict = {false, TROUPE_DROP_UNKNOWN_NODE, NULL};
    d->system.made++;
    if (runtime->remote.send != NULL) {
        verdict = runtime->remote.send(runtime->remote.context, d, &out);
    }
    if (!verdict.is_sent) {
        d->system.dropped[verdict.reason]++;
    }
}

static TRP_NOINLINE TRP_COLD trp_message_t *reserve_take(trp_dispatcher_t *d, size_t size)
{
    trp_message_t *message = d->reserve;
    if (message == NULL || trp_pool_class(sizeof(*message) + size) != 0) {
        return NULL;
    }
    d->reserve = message->next;
    d->reserve_len--;
    *message = (trp_message_t){.size = (uint32_t)size, .flags = TRP_MESSAGE_SYSTEM};
    return message;
}

void trp_system_send(trp_dispatcher_t *d, troupe_ref_t to, trp_system_kind_t kind, uint64_t sender,
                     const void *body, size_t size)
{
    if (to.node != d->uid) {
        system_send_remote(d, to, kind, sender, (trp_view_t){body, size});
        return;
    }
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, size, true);
    d->system.made++;
    if (TRP_UNLIKELY(message == NULL)) {
        message = reserve_take(d, size);
    }
    if (message == NULL) {
        trp_dispatcher_drop_system(d, TROUPE_DROP_NO_MEMORY);
        return;
    }
    message->target = to.id;
    message->sender = sender;
    message->type = (uint16_t)kind;
    if (size > 0) {
        memcpy(trp_message_payload(message), body, size);
    }
    trp_route(d, message);
}

/* ---- from links ------------------------------------------------------------------------------ */

static uint64_t *origin_counter(trp_flow_t *flow, trp_origin_t origin)
{
    return origin == TRP_ORIGIN_RECEIVED ? &flow->received : &flow->made;
}

/* A cell for what came in, with its sender and body set; NULL without memory. */
static trp_message_t *incoming_cell(trp_dispatcher_t *d, const trp_incoming_t *in, bool is_system)
{
    bool is_foreign = in->sender.node != d->uid && in->sender.node != 0;
    bool is_shared = in->shared != NULL;
    size_t size = is_shared ? sizeof(in->shared) : in->size;
    trp_message_t *message =
        trp_message_take(&d->endpoint.pool, is_foreign ? 1 : 0, size, is_system);
    if (message == NULL) {
        return NULL;
    }
    message->target = in->target;
    message->sender = in->sender.id;
    message->type = in->type;
    if (is_foreign) {
        message->flags |= TRP_MESSAGE_FOREIGN;
        trp_message_extension(message)[0] = in->sender.node;
    }
    if (is_shared) {
        trp_body_t *body = trp_body_ref(in->shared);
        message->flags |= TRP_MESSAGE_SHARED;
        message->size = (uint32_t)body->size;
        memcpy(trp_message_payload(message), &body, sizeof(body));
    } else if (size > 0) {
        memcpy(trp_message_payload(message), in->data, size);
    }
    return message;
}

void trp_deliver_user(trp_dispatcher_t *d, const trp_incoming_t *in)
{
    (*origin_counter(&d->user, in->origin))++;
    TRP_ASSERT_DEBUG(trp_id_dispatcher(in->target) == d->index);
    trp_message_t *message = incoming_cell(d, in, false);
    if (TRP_UNLIKELY(message == NULL)) {
        trp_dispatcher_drop(d, TROUPE_DROP_OVERLOAD, trp_dispatcher_ref(d, in->target), in->sender,
                            in->type, NULL);
        return;
    }
    trp_deliver(d, message);
}

/* What another node may tell an actor of this one, and the size of its body. */
static bool system_is_foreign_kind(trp_system_kind_t kind, size_t size)
{
    switch (kind) {
    case TRP_SYSTEM_WATCH:
    case TRP_SYSTEM_UNWATCH:
    case TRP_SYSTEM_KILL:
    case TRP_SYSTEM_POISON:
        return size == 0;
    case TRP_SYSTEM_TERMINATED:
        return size == sizeof(trp_terminated_t);
    case TRP_SYSTEM_ASK_FAILED:
        return size == sizeof(uint64_t);
    default:
        return false;
    }
}

void trp_deliver_system(trp_dispatcher_t *d, const trp_incoming_t *in, trp_system_kind_t kind)
{
    (*origin_counter(&d->system, in->origin))++;
    uint32_t slot = trp_id_slot(in->target);
    bool is_ask = (slot & TRP_SLOT_ASK) != 0;
    if (slot == TRP_SLOT_DISPATCHER || !system_is_foreign_kind(kind, in->size) ||
        is_ask != (kind == TRP_SYSTEM_ASK_FAILED)) {
        trp_dispatcher_drop_system(d, TROUPE_DROP_PROTOCOL);
        return;
    }
    trp_message_t *message = incoming_cell(d, in, true);
    if (message == NULL) {
        trp_dispatcher_drop_system(d, TROUPE_DROP_NO_MEMORY);
        return;
    }
    message->type = (uint16_t)kind;
    trp_deliver(d, message);
}
