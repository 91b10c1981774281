/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/send.h"

#include <string.h>

#include "actor/events.h"
#include "base/assert.h"

/* Bodies up to this size lie in their cell; larger ones in a shared body. */
#define INLINE_SIZE_MAX (TRP_POOL_BLOCK_MAX - sizeof(trp_message_t) - 2 * sizeof(uint64_t))

/* A call of memcpy costs more than a body of half a line. */
static inline void body_copy(void *to, const void *from, size_t size)
{
    if (TRP_LIKELY(size == 32)) {
        memcpy(to, from, 32);
    } else if (size > 0) {
        memcpy(to, from, size);
    }
}

/* ---- to other nodes -------------------------------------------------------------------------- */

static troupe_err_t send_remote(trp_dispatcher_t *d, const trp_outgoing_t *out)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    bool is_nobody = out->to.node == 0;
    trp_remote_verdict_t verdict = {
        false, is_nobody ? TROUPE_DROP_NO_ACTOR : TROUPE_DROP_UNKNOWN_NODE, NULL};
    d->user.made++;
    if (runtime->remote.send != NULL && !is_nobody) {
        verdict = runtime->remote.send(runtime->remote.context, d, out);
    }
    if (TRP_UNLIKELY(!verdict.is_sent)) {
        trp_dispatcher_drop(d, verdict.reason, out->to, out->sender, out->type, NULL);
    } else if (TRP_UNLIKELY(verdict.parking != NULL) && d->current != NULL) {
        d->park_on = verdict.parking;
        d->attention = true;
    }
    return TROUPE_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

static TRP_NOINLINE TRP_COLD troupe_err_t memory_refused(trp_dispatcher_t *d)
{
    trp_events_overload(d);
    return TROUPE_EOVERLOAD;
}

/* A message that can't be made is counted as made and dropped, as one that does not fit its type is. */
static TRP_NOINLINE TRP_COLD troupe_err_t send_refused(trp_dispatcher_t *d)
{
    d->user.made++;
    d->user.dropped[TROUPE_DROP_OVERLOAD]++;
    return memory_refused(d);
}

static troupe_err_t message_make_shared(trp_dispatcher_t *d, trp_body_t *body,
                                        trp_message_t **ret_message)
{
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, sizeof(body), false);
    if (message == NULL) {
        return send_refused(d);
    }
    message->flags |= TRP_MESSAGE_SHARED;
    message->size = (uint32_t)body->size;
    message->type = body->type;
    memcpy(trp_message_payload(message), &body, sizeof(body));
    *ret_message = message;
    return TROUPE_OK;
}

static TRP_NOINLINE troupe_err_t send_large(trp_dispatcher_t *d, const trp_letter_spec_t *spec)
{
    trp_body_t *body = trp_body_new(&d->endpoint.runtime->depot, spec->size, false);
    if (body == NULL) {
        return send_refused(d);
    }
    body->type = spec->type.id;
    memcpy(body->data, spec->body, spec->size);
    troupe_err_t err = trp_send_shared(d, spec->to, spec->sender, body);
    trp_body_unref(body);
    return err;
}

troupe_err_t trp_send(trp_dispatcher_t *d, const trp_letter_spec_t *spec)
{
    if (TRP_UNLIKELY(!trp_types_fits(d->types, spec->type, spec->size))) {
        return trp_send_misfit(d, spec);
    }
    if (TRP_UNLIKELY(spec->to.node != d->uid)) {
        trp_outgoing_t out = {
            .to = spec->to,
            .sender = trp_dispatcher_ref(d, spec->sender),
            .data = spec->body,
            .size = spec->size,
            .type = spec->type.id,
        };
        return send_remote(d, &out);
    }
    if (TRP_UNLIKELY(spec->size > INLINE_SIZE_MAX)) {
        return send_large(d, spec);
    }
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, spec->size, false);
    if (TRP_UNLIKELY(message == NULL)) {
        return send_refused(d);
    }
    d->user.made++;
    message->target = spec->to.id;
    message->sender = spec->sender;
    message->type = spec->type.id;
    body_copy(message + 1, spec->body, spec->size);
    trp_route(d, message);
    return TROUPE_OK;
}

/* An over-size or unknown message is never made, but a sender that ignores the error is not to lose it
 * silently either: it is counted as made and dropped. */
troupe_err_t trp_send_misfit(trp_dispatcher_t *d, const trp_letter_spec_t *spec)
{
    troupe_err_t err = trp_types_check(d->types, spec->type, spec->size);
    TRP_ASSERT(err != TROUPE_OK);
    troupe_drop_t reason = err == TROUPE_ETOOBIG ? TROUPE_DROP_OVERSIZE
                           : err == TROUPE_ETYPE ? TROUPE_DROP_UNKNOWN_TYPE
                                                 : TROUPE_DROP_BAD_BODY;
    d->user.made++;
    trp_dispatcher_drop(d, reason, spec->to, troupe_ref_none(), spec->type.id, NULL);
    return err;
}

troupe_err_t trp_send_shared(trp_dispatcher_t *d, troupe_ref_t to, uint64_t sender,
                             trp_body_t *body)
{
    if (to.node != d->uid) {
        trp_outgoing_t out = {
            .to = to,
            .sender = trp_dispatcher_ref(d, sender),
            .size = body->size,
            .shared = body,
            .type = body->type,
        };
        return send_remote(d, &out);
    }
    trp_message_t *message = NULL;
    troupe_err_t err = message_make_shared(d, body, &message);
    if (err != TROUPE_OK) {
        return err;
    }
    (void)trp_body_ref(body);
    d->user.made++;
    message->target = to.id;
    message->sender = sender;
    trp_route(d, message);
    return TROUPE_OK;
}

void trp_send_on(trp_dispatcher_t *d, trp_message_t *message, troupe_ref_t to)
{
    TRP_ASSERT((message->flags & TRP_MESSAGE_SYSTEM) == 0);
    message->flags &= (uint8_t)~TRP_MESSAGE_TIMER;
    if (to.node == d->uid) {
        message->target = to.id;
        trp_route(d, message);
        return;
    }
    trp_outgoing_t out = {
        .to = to,
        .sender = trp_message_sender(d, message),
        .data = trp_message_payload(message),
        .size = message->size,
        .type = message->type,
    };
    if ((message->flags & TRP_MESSAGE_SHARED) != 0) {
        memcpy(&out.shared, out.data, sizeof(out.shared));
        out.data = NULL;
    }
    d->user.made--; /* The same message goes on: send_remote counts it again. */
    (void)send_remote(d, &out);
    trp_message_free(&d->endpoint.pool, message);
}

void trp_send_copy(trp_dispatcher_t *d, trp_message_t *message, troupe_ref_t to)
{
    size_t block = trp_pool_block_size(message->shape & 15u);
    trp_message_t *copy = trp_pool_take(&d->endpoint.pool, message->shape & 15u, false);
    d->user.made++;
    if (copy == NULL) {
        trp_dispatcher_drop(d, TROUPE_DROP_OVERLOAD, to, troupe_ref_none(), message->type, NULL);
        return;
    }
    memcpy(copy, message, block);
    if ((copy->flags & TRP_MESSAGE_SHARED) != 0) {
        trp_body_t *body = NULL;
        memcpy(&body, trp_message_payload(copy), sizeof(body));
        (void)trp_body_ref(body);
    }
    trp_send_on(d, copy, to);
}

/* ---- public ---------------------------------------------------------------------------------- */

static TRP_NOINLINE troupe_err_t tell_any(troupe_actor_t *self, troupe_ref_t to, troupe_type_t type,
                                          const void *body, size_t size)
{
    trp_letter_spec_t spec = {to, self->id, type, body, size};
    return trp_send(self->dispatcher, &spec);
}

/* The plain case at once: an actor of this node, a body that fits its cell, a block at hand. */
troupe_err_t troupe_tell(troupe_actor_t *self, troupe_ref_t to, troupe_type_t type,
                         const void *body, size_t size)
{
    trp_dispatcher_t *d = self->dispatcher;
    if (TRP_UNLIKELY(to.node != d->uid || !trp_types_fits(d->types, type, size) ||
                     size > INLINE_SIZE_MAX)) {
        return tell_any(self, to, type, body, size);
    }
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, size, false);
    if (TRP_UNLIKELY(message == NULL)) {
        return send_refused(d);
    }
    d->user.made++;
    message->target = to.id;
    message->sender = self->id;
    message->type = type.id;
    body_copy(message + 1, body, size);
    trp_route(d, message);
    return TROUPE_OK;
}

troupe_err_t troupe_tell_object(troupe_actor_t *self, troupe_ref_t to, troupe_type_t type,
                                void **object)
{
    trp_dispatcher_t *d = self->dispatcher;
    const trp_type_t *found = trp_types_at(d->types, type.id);
    if (found == NULL) {
        return TROUPE_ETYPE;
    }
    if (found->encode == NULL || object == NULL || *object == NULL) {
        return TROUPE_EINVAL;
    }
    trp_body_t *body = trp_body_new(&d->endpoint.runtime->depot, 0, false);
    if (body == NULL) {
        return send_refused(d);
    }
    body->type = type.id;
    body->is_object = true;
    body->object = *object;
    troupe_err_t err = trp_send_shared(d, to, self->id, body);
    if (err == TROUPE_OK) {
        body->free_object = found->free_object;
        *object = NULL;
    }
    trp_body_unref(body);
    return err;
}

troupe_err_t troupe_body_create(troupe_actor_t *self, troupe_type_t type, const void *data,
                                size_t size, troupe_body_t **ret_body)
{
    trp_dispatcher_t *d = self->dispatcher;
    if (!trp_types_fits(d->types, type, size)) {
        return trp_types_check(d->types, type, size);
    }
    trp_body_t *body = trp_body_new(&d->endpoint.runtime->depot, size, false);
    if (body == NULL) {
        return memory_refused(d);
    }
    body->type = type.id;
    if (size > 0) {
        memcpy(body->data, data, size);
    }
    *ret_body = body;
    return TROUPE_OK;
}

troupe_body_t *troupe_body_ref(troupe_body_t *body)
{
    return trp_body_ref(body);
}

void troupe_body_unref(troupe_body_t **body)
{
    if (*body != NULL) {
        trp_body_unref(*body);
        *body = NULL;
    }
}

troupe_err_t troupe_tell_shared(troupe_actor_t *self, troupe_ref_t to, troupe_body_t *body)
{
    return body == NULL ? TROUPE_EINVAL : trp_send_shared(self->dispatcher, to, self->id, body);
}

troupe_err_t troupe_forward(troupe_actor_t *self, troupe_ref_t to)
{
    trp_dispatcher_t *d = self->dispatcher;
    if (d->message == NULL) {
        return TROUPE_EAGAIN;
    }
    if (d->fate != TRP_FATE_FREE) {
        return TROUPE_EBUSY;
    }
    /* Sent after the callback has returned: until then it reads the body. */
    d->fate = TRP_FATE_FORWARD;
    d->forward_to = to;
    return TROUPE_OK;
}

troupe_err_t troupe_reply(troupe_actor_t *self, troupe_type_t type, const void *body, size_t size)
{
    troupe_ref_t to = troupe_sender(self);
    if (troupe_ref_is_none(to)) {
        return TROUPE_ENOENT;
    }
    return troupe_tell(self, to, type, body, size);
}
