/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Operations that send messages and pass on those that come, through the session's agent. */

#include <string.h>

#include "base/clock.h"
#include "node/admin_ops.h"

static uint64_t message_deadline(const trp_admin_request_t *request)
{
    uint64_t timeout_ms = (uint64_t)request->timeout_ms + request->wait_ms + TRP_ADMIN_GRACE_MS;
    return trp_clock_add(trp_clock_now(), trp_clock_from_ms(timeout_ms));
}

/* The order that a request makes, but for its kind. ETYPE: the type isn't registered here. */
static troupe_err_t message_order(trp_admin_session_t *session, const trp_admin_request_t *request,
                                  trp_admin_order_t *ret_order)
{
    troupe_type_t type = TROUPE_TYPE_TEXT;
    if (request->type != NULL &&
        troupe_type_find(&session->node->base, request->type, &type) != TROUPE_OK) {
        return TROUPE_ETYPE;
    }
    memset(ret_order, 0, sizeof(*ret_order));
    ret_order->type = type.id;
    ret_order->timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : TRP_ADMIN_TIMEOUT_MS;
    ret_order->wait_ms = request->wait_ms;
    ret_order->topic = request->topic;
    ret_order->group = request->group;
    ret_order->body = request->body;
    ret_order->flags = (uint8_t)((request->confirm ? TRP_ADMIN_FLAG_CONFIRM : 0) |
                                 (request->to_groups ? TRP_ADMIN_FLAG_GROUPS : 0) |
                                 (request->is_pattern ? TRP_ADMIN_FLAG_PATTERN : 0));
    return TROUPE_OK;
}

static troupe_err_t message_refuse(trp_admin_session_t *session, const trp_admin_request_t *request,
                                   troupe_err_t err)
{
    if (trp_admin_is_over(err)) {
        return err;
    }
    const char *text = NULL;
    if (err == TROUPE_ETYPE) {
        text = "no such message type is registered on the node, or the body doesn't fit it";
    } else if (err == TROUPE_ENOTREADY) {
        text = "the node takes no part in topics";
    } else if (err == TROUPE_ENOENT) {
        text = "no such actor";
    } else if (err == TROUPE_EINVAL && request->is_pattern) {
        text = "a pattern is words with dots between them; * is one whole word, > the last ones";
    } else if (err == TROUPE_EINVAL && request->target != NULL) {
        text = "neither a path (/user/x), an address (troupe://host:port/user/x) nor a reference";
    }
    return trp_admin_refuse(session, err, text);
}

/* ---- pub ------------------------------------------------------------------------------------------ */

troupe_err_t trp_admin_pub(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_admin_order_t order;
    trp_admin_note_t note;
    troupe_letter_t *letter = NULL;
    troupe_err_t err = message_order(session, request, &order);
    if (err == TROUPE_OK) {
        order.kind = TRP_ADMIN_ORDER_PUB;
        err = trp_admin_exchange(session, &order, message_deadline(request), &note, &letter);
    }
    if (err != TROUPE_OK) {
        return message_refuse(session, request, err);
    }
    trp_admin_reply_begin(session);
    if (request->confirm) {
        trp_json_u64(&session->json, "subscribers", note.subscribers);
        trp_json_u64(&session->json, "nodes", note.nodes);
    }
    troupe_letter_free(&letter);
    return trp_admin_reply_send(session, false);
}

/* ---- sub ------------------------------------------------------------------------------------------ */

static troupe_err_t message_send_published(trp_admin_session_t *session,
                                           const trp_admin_note_t *note, uint64_t lost)
{
    char sender[TROUPE_REF_TEXT_SIZE];
    trp_json_t *json = &session->json;
    trp_admin_reply_begin(session);
    trp_json_bytes(json, "topic", note->topic.data, note->topic.size);
    trp_json_bytes(json, "type", note->type.data, note->type.size);
    trp_json_bytes(json, "body", note->body.data, note->body.size);
    trp_json_text(json, "sender",
                  troupe_ref_is_none(note->sender) ? "" : troupe_ref_format(note->sender, sender));
    if (note->is_cut) {
        trp_json_bool(json, "cut", true);
    }
    if (lost > 0) {
        trp_json_u64(json, "lost_before", lost);
    }
    return trp_admin_reply_send(session, true);
}

/* Passes messages on until the client goes or the node stops: what else ends it is an error. */
static troupe_err_t message_stream(trp_admin_session_t *session)
{
    uint64_t last = 0;
    troupe_err_t err = TROUPE_OK;
    while (err == TROUPE_OK) {
        troupe_letter_t *letter = NULL;
        trp_admin_note_t note;
        err = trp_admin_await(session, TRP_CLOCK_NEVER, &note, &letter);
        if (err == TROUPE_OK && note.kind == TRP_ADMIN_NOTE_MESSAGE) {
            uint64_t lost = note.number > last + 1 ? note.number - last - 1 : 0;
            last = note.number;
            err = message_send_published(session, &note, lost);
        }
        troupe_letter_free(&letter);
    }
    return err;
}

troupe_err_t trp_admin_sub(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_admin_order_t order;
    trp_admin_note_t note;
    troupe_letter_t *letter = NULL;
    troupe_err_t err = message_order(session, request, &order);
    if (err == TROUPE_OK) {
        order.kind = TRP_ADMIN_ORDER_SUB;
        err = trp_admin_exchange(session, &order, message_deadline(request), &note, &letter);
    }
    troupe_letter_free(&letter);
    if (err != TROUPE_OK) {
        return message_refuse(session, request, err);
    }
    trp_admin_reply_begin(session);
    trp_json_bool(&session->json, "subscribed", true);
    err = trp_admin_reply_send(session, true);
    return err == TROUPE_OK ? message_stream(session) : err;
}

/* ---- tell and ask ----------------------------------------------------------------------------------- */

/* The order for an actor, with its reference looked up. */
static troupe_err_t message_order_to(trp_admin_session_t *session,
                                     const trp_admin_request_t *request,
                                     trp_admin_order_t *ret_order)
{
    troupe_err_t err = message_order(session, request, ret_order);
    if (err != TROUPE_OK) {
        return err;
    }
    return trp_admin_resolve(session, request->target, ret_order->timeout_ms, &ret_order->to);
}

/* A path that may name many. */
static bool message_is_selection(const char *target)
{
    return target[0] == '/' && strpbrk(target, "*?") != NULL;
}

troupe_err_t trp_admin_tell(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_admin_order_t order;
    trp_admin_note_t note;
    troupe_letter_t *letter = NULL;
    troupe_err_t err = TROUPE_OK;
    if (message_is_selection(request->target)) {
        err = message_order(session, request, &order);
        order.kind = TRP_ADMIN_ORDER_SELECT;
        order.topic = trp_view_from_string(request->target);
    } else {
        err = message_order_to(session, request, &order);
        order.kind = TRP_ADMIN_ORDER_TELL;
    }
    if (err == TROUPE_OK) {
        err = trp_admin_exchange(session, &order, message_deadline(request), &note, &letter);
    }
    troupe_letter_free(&letter);
    if (err != TROUPE_OK) {
        return message_refuse(session, request, err);
    }
    trp_admin_reply_begin(session);
    return trp_admin_reply_send(session, false);
}

troupe_err_t trp_admin_ask(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_admin_order_t order;
    trp_admin_note_t note;
    troupe_letter_t *letter = NULL;
    troupe_err_t err = message_order_to(session, request, &order);
    if (err == TROUPE_OK) {
        order.kind = TRP_ADMIN_ORDER_ASK;
        err = trp_admin_exchange(session, &order, message_deadline(request), &note, &letter);
    }
    if (err != TROUPE_OK) {
        return message_refuse(session, request, err);
    }
    trp_admin_reply_begin(session);
    trp_json_bytes(&session->json, "type", note.type.data, note.type.size);
    trp_json_bytes(&session->json, "body", note.body.data, note.body.size);
    troupe_letter_free(&letter);
    return trp_admin_reply_send(session, false);
}
