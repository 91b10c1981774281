/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include <troupe/ask.h>

#include <string.h>

#include "actor/answer.h"
#include "actor/extra.h"
#include "actor/mailbox.h"
#include "actor/send.h"
#include "base/assert.h"
#include "base/clock.h"

static trp_ask_t *ask_of_link(trp_node_link_t *link)
{
    return TRP_CONTAINER_OF(link, trp_ask_t, owner_link);
}

/* Takes an ask out of everything and makes its id stale. */
static void ask_end(trp_dispatcher_t *d, trp_ask_t *ask)
{
    trp_wheel_cancel(&d->wheel, &ask->alarm.timer);
    trp_list_remove(&ask->owner_link);
    trp_asks_put(&d->asks, ask);
}

/* ---- answers come in ------------------------------------------------------------------------- */

static void ask_answered(trp_dispatcher_t *d, trp_ask_t *ask, trp_message_t *message)
{
    troupe_actor_t *cell = trp_cell_find(d, ask->owner);
    TRP_ASSERT(cell != NULL); /* An actor that ends takes its asks with it. */
    trp_wheel_cancel(&d->wheel, &ask->alarm.timer);
    ask->is_answered = true;
    trp_mailbox_append_answer(d, cell, message);
}

static void failure_make(trp_message_t *message, uint64_t ask_id, troupe_err_t error)
{
    message->target = ask_id;
    message->sender = 0;
    message->type = 0;
    message->flags = TRP_MESSAGE_SYSTEM | TRP_MESSAGE_FAILED;
    message->size = (uint32_t)error;
}

/* Puts a failure into the asker's mailbox. Without memory the time-out tries again a tick later. */
static void ask_failed(trp_dispatcher_t *d, trp_ask_t *ask, troupe_err_t error)
{
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, 0, true);
    if (message == NULL) {
        trp_alarm_set(d, &ask->alarm, d->now + TRP_NS_PER_MS);
        return;
    }
    d->system.made++;
    failure_make(message, ask->id, error);
    ask_answered(d, ask, message);
}

static void ask_timed_out(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    ask_failed(d, TRP_CONTAINER_OF(alarm, trp_ask_t, alarm), TROUPE_ETIMEOUT);
}

/* The failure that another node or dispatcher reports, as a local one. */
static void failure_unpack(trp_message_t *message)
{
    uint64_t error = TROUPE_EFAILED;
    if (message->size == sizeof(error)) {
        memcpy(&error, trp_message_payload(message), sizeof(error));
    }
    bool is_known = error > TROUPE_OK && error <= TROUPE_EINTERNAL;
    failure_make(message, message->target, is_known ? (troupe_err_t)error : TROUPE_EFAILED);
}

void trp_answer_deliver(trp_dispatcher_t *d, trp_message_t *message)
{
    trp_ask_t *ask = trp_asks_find(&d->asks, message->target);
    if (ask == NULL || ask->is_answered) {
        trp_drop(d, message, TROUPE_DROP_LATE_REPLY);
        return;
    }
    bool is_system = (message->flags & TRP_MESSAGE_SYSTEM) != 0;
    if (is_system && (message->flags & TRP_MESSAGE_FAILED) == 0) {
        if (message->type != TRP_SYSTEM_ASK_FAILED) {
            trp_drop(d, message, TROUPE_DROP_PROTOCOL);
            return;
        }
        failure_unpack(message);
    }
    ask_answered(d, ask, message);
}

void trp_answer_fail(trp_dispatcher_t *d, troupe_ref_t asker, troupe_err_t error)
{
    uint64_t body = (uint64_t)error;
    trp_system_send(d, asker, TRP_SYSTEM_ASK_FAILED, 0, &body, sizeof(body));
}

troupe_err_t trp_answer_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_ask_t *ask = trp_asks_find(&d->asks, message->target);
    bool is_failure = (message->flags & TRP_MESSAGE_FAILED) != 0;
    if (ask == NULL) { /* The asker restarted since. */
        trp_dispatcher_flow(d, is_failure)->dropped[TROUPE_DROP_LATE_REPLY]++;
        return TROUPE_OK;
    }
    TRP_ASSERT(ask->owner == cell->id);
    troupe_reply_fn on_reply = ask->on_reply;
    void *context = ask->context;
    ask_end(d, ask);
    trp_dispatcher_flow(d, is_failure)->taken++;
    troupe_reply_t reply = {.error = TROUPE_OK};
    if (is_failure) {
        reply.error = (troupe_err_t)message->size;
        return on_reply(cell, cell->state, &reply, context);
    }
    reply.message = trp_message_view(d, message);
    d->message = message;
    d->fate = TRP_FATE_FREE;
    troupe_err_t err = on_reply(cell, cell->state, &reply, context);
    return err;
}

/* ---- ends ------------------------------------------------------------------------------------ */

void trp_asks_cancel(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    if (cell->extra == NULL) {
        return;
    }
    while (!trp_list_is_empty(&cell->extra->asks)) {
        ask_end(d, ask_of_link(trp_list_first(&cell->extra->asks)));
    }
}

void trp_asks_node_down(trp_dispatcher_t *d, uint64_t node, troupe_err_t reason)
{
    for (uint32_t i = 0; i < d->asks.fresh; i++) {
        trp_ask_t *ask = trp_asks_at(&d->asks, i);
        if (ask->owner != 0 && !ask->is_answered && ask->target_node == node) {
            ask_failed(d, ask, reason);
        }
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

static troupe_err_t ask_open(trp_dispatcher_t *d, troupe_actor_t *self, uint64_t target_node,
                             trp_ask_t **ret_ask)
{
    trp_extra_t *extra = trp_extra_get(self);
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    if ((self->flags & TRP_CELL_STOPPING) != 0) {
        return TROUPE_ESTOPPED;
    }
    trp_ask_t *ask = trp_asks_take(&d->asks);
    if (ask == NULL) {
        return TROUPE_EFULL;
    }
    ask->owner = self->id;
    ask->target_node = target_node;
    trp_list_push_back(&extra->asks, &ask->owner_link);
    *ret_ask = ask;
    return TROUPE_OK;
}

troupe_err_t troupe_ask(troupe_actor_t *self, troupe_ref_t to, troupe_type_t type, const void *body,
                        size_t size, uint32_t timeout_ms, troupe_reply_fn on_reply, void *context)
{
    if (self == NULL || on_reply == NULL || timeout_ms == 0 ||
        timeout_ms > TROUPE_ASK_TIMEOUT_MAX_MS) {
        return TROUPE_EINVAL;
    }
    trp_dispatcher_t *d = self->dispatcher;
    trp_ask_t *ask = NULL;
    troupe_err_t err = ask_open(d, self, to.node, &ask);
    if (err != TROUPE_OK) {
        return err;
    }
    ask->on_reply = on_reply;
    ask->context = context;
    ask->alarm.fn = ask_timed_out;
    trp_alarm_set(d, &ask->alarm, trp_dispatcher_now(d) + timeout_ms * TRP_NS_PER_MS);
    trp_letter_spec_t spec = {to, ask->id, type, body, size};
    err = trp_send(d, &spec);
    if (err != TROUPE_OK) {
        ask_end(d, ask);
    }
    return err;
}
