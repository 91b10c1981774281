/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Serves one client: a request, its answers, the next request. */

#include "node/admin_session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "node/admin_agent.h"
#include "node/admin_frame.h"
#include "node/admin_ops.h"

static uint64_t session_deadline(uint32_t timeout_ms)
{
    return trp_clock_add(trp_clock_now(), trp_clock_from_ms(timeout_ms));
}

/* ---- answering ---------------------------------------------------------------------------------- */

void trp_admin_reply_begin(trp_admin_session_t *session)
{
    trp_buf_clear(&session->out);
    trp_json_init(&session->json, &session->out);
    trp_json_object_begin(&session->json, NULL);
    trp_json_bool(&session->json, "ok", true);
}

static troupe_err_t session_write(trp_admin_session_t *session)
{
    return trp_admin_frame_write(session->fd, session->stop_fd,
                                 session_deadline(TRP_ADMIN_WRITE_MS), session->out.data,
                                 session->out.size);
}

troupe_err_t trp_admin_reply_send(trp_admin_session_t *session, bool has_more)
{
    if (has_more) {
        trp_json_bool(&session->json, "more", true);
    }
    trp_json_object_end(&session->json);
    troupe_err_t err = trp_json_finish(&session->json);
    return err == TROUPE_OK ? session_write(session) : trp_admin_refuse(session, err, NULL);
}

troupe_err_t trp_admin_refuse(trp_admin_session_t *session, troupe_err_t err, const char *text)
{
    TRP_ASSERT(err != TROUPE_OK);
    trp_buf_clear(&session->out);
    trp_json_init(&session->json, &session->out);
    trp_json_object_begin(&session->json, NULL);
    trp_json_bool(&session->json, "ok", false);
    trp_json_text(&session->json, "error", troupe_err_name(err));
    trp_json_text(&session->json, "text", text != NULL ? text : troupe_err_text(err));
    trp_json_object_end(&session->json);
    troupe_err_t written = trp_json_finish(&session->json);
    return written == TROUPE_OK ? session_write(session) : written;
}

void trp_admin_rows_begin(trp_admin_session_t *session, const char *key)
{
    trp_admin_reply_begin(session);
    trp_json_array_begin(&session->json, key);
}

troupe_err_t trp_admin_rows_next(trp_admin_session_t *session, const char *key)
{
    if (session->out.size < TRP_ADMIN_PAGE_SIZE) {
        return session->json.error;
    }
    trp_json_array_end(&session->json);
    troupe_err_t err = trp_admin_reply_send(session, true);
    trp_admin_rows_begin(session, key);
    return err;
}

troupe_err_t trp_admin_rows_end(trp_admin_session_t *session, bool is_cut)
{
    trp_json_array_end(&session->json);
    if (is_cut) {
        trp_json_bool(&session->json, "cut", true);
    }
    return trp_admin_reply_send(session, false);
}

/* ---- the agent ---------------------------------------------------------------------------------- */

static troupe_err_t session_open_agent(trp_admin_session_t *session)
{
    troupe_inbox_options_t options = TROUPE_INBOX_OPTIONS_INIT;
    options.queue_len_max = 4096;
    if (session->inbox != NULL) {
        return TROUPE_OK;
    }
    troupe_err_t err = troupe_inbox_open(&session->node->base, &options, &session->inbox);
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_admin_agent_spawn(session->node, troupe_inbox_ref(session->inbox), session->type,
                                &session->agent);
    if (err != TROUPE_OK) {
        troupe_inbox_close(&session->inbox);
    }
    return err;
}

static troupe_err_t session_send_order(trp_admin_session_t *session, const trp_admin_order_t *order)
{
    trp_buf_t body;
    trp_buf_init(&body, TRP_ADMIN_ORDER_SIZE_MAX);
    troupe_err_t err = trp_admin_order_write(order, &body);
    if (err == TROUPE_OK) {
        err = troupe_inbox_tell(session->inbox, session->agent, session->type, body.data, body.size,
                                TRP_ADMIN_WRITE_MS);
    }
    trp_buf_fini(&body);
    return err;
}

troupe_err_t trp_admin_order(trp_admin_session_t *session, const trp_admin_order_t *order)
{
    if (order->body.size > TRP_ADMIN_BODY_SIZE_MAX) {
        return TROUPE_ETOOBIG;
    }
    troupe_err_t err = session_open_agent(session);
    return err == TROUPE_OK ? session_send_order(session, order) : err;
}

/* Waits until the inbox has something, the client goes or the node stops. */
static troupe_err_t session_poll(const trp_admin_session_t *session, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = trp_clock_now();
        uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
        struct timespec wait = {(time_t)(left / TRP_NS_PER_S), (long)(left % TRP_NS_PER_S)};
        struct pollfd fds[3] = {{troupe_inbox_fd(session->inbox), POLLIN, 0},
                                {session->fd, POLLRDHUP, 0},
                                {session->stop_fd, POLLIN, 0}};
        int len = ppoll(fds, 3, deadline_ns == TRP_CLOCK_NEVER ? NULL : &wait, NULL);
        if (len < 0 && errno != EINTR) {
            return TROUPE_ESYSTEM;
        }
        if (len < 0) {
            continue;
        }
        if (fds[1].revents != 0 || fds[2].revents != 0) {
            return TROUPE_ECANCELED;
        }
        return len == 0 ? TROUPE_ETIMEOUT : TROUPE_OK;
    }
}

troupe_err_t trp_admin_await(trp_admin_session_t *session, uint64_t deadline_ns,
                             trp_admin_note_t *ret_note, troupe_letter_t **ret_letter)
{
    TRP_ASSERT(session->inbox != NULL);
    for (;;) {
        troupe_letter_t *letter = NULL;
        troupe_err_t err = troupe_inbox_receive(session->inbox, 0, &letter);
        if (err == TROUPE_EAGAIN) {
            err = session_poll(session, deadline_ns);
            if (err != TROUPE_OK) {
                return err;
            }
            continue;
        }
        if (err != TROUPE_OK) {
            return err;
        }
        const troupe_message_t *message = troupe_letter_message(letter);
        bool is_note = message->type.id == session->type.id &&
                       troupe_ref_equal(message->sender, session->agent);
        if (is_note && trp_admin_note_read(trp_view_make(message->body, message->size), ret_note) ==
                           TROUPE_OK) {
            *ret_letter = letter;
            return TROUPE_OK;
        }
        troupe_letter_free(&letter); /* Somebody else has written to the inbox. */
    }
}

bool trp_admin_is_over(troupe_err_t err)
{
    return err == TROUPE_ECANCELED;
}

troupe_err_t trp_admin_exchange(trp_admin_session_t *session, const trp_admin_order_t *order,
                                uint64_t deadline_ns, trp_admin_note_t *ret_note,
                                troupe_letter_t **ret_letter)
{
    troupe_letter_t *letter = NULL;
    troupe_err_t err = trp_admin_order(session, order);
    if (err == TROUPE_OK) {
        err = trp_admin_await(session, deadline_ns, ret_note, &letter);
    }
    if (err == TROUPE_OK && ret_note->error != TROUPE_OK) {
        err = (troupe_err_t)ret_note->error;
    }
    if (err == TROUPE_OK && ret_letter != NULL) {
        *ret_letter = letter;
        return TROUPE_OK;
    }
    troupe_letter_free(&letter);
    return err;
}

troupe_err_t trp_admin_resolve(trp_admin_session_t *session, const char *target,
                               uint32_t timeout_ms, troupe_ref_t *ret_ref)
{
    trp_admin_order_t order;
    trp_admin_note_t note;
    if (target[0] == '#') {
        return troupe_ref_parse(target, ret_ref);
    }
    if (target[0] == '/') {
        return troupe_node_lookup(&session->node->base, target, ret_ref);
    }
    memset(&order, 0, sizeof(order));
    order.kind = TRP_ADMIN_ORDER_LOOKUP;
    order.timeout_ms = timeout_ms;
    order.topic = trp_view_from_string(target);
    troupe_err_t err = trp_admin_exchange(
        session, &order, session_deadline(timeout_ms + TRP_ADMIN_GRACE_MS), &note, NULL);
    if (err == TROUPE_OK) {
        *ret_ref = note.sender;
    }
    return err;
}

/* ---- the session --------------------------------------------------------------------------------- */

static troupe_err_t session_serve(trp_admin_session_t *session)
{
    trp_store_t store;
    trp_admin_request_t request;
    char problem[TRP_ADMIN_PROBLEM_SIZE];
    troupe_err_t err = trp_admin_frame_read(session->fd, session->stop_fd,
                                            session_deadline(TRP_ADMIN_IDLE_MS), &session->in);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_store_init(&store);
    err = trp_admin_request_parse(session->in.data, session->in.size, &store, &request, problem);
    if (err == TROUPE_OK) {
        TRP_LOG(&session->node->log, TROUPE_LOG_NODE, TROUPE_LOG_DEBUG, "admin.request", "op=%s",
                trp_admin_op_name(request.op));
        err = trp_admin_ops_run(session, &request);
    } else {
        err = trp_admin_refuse(session, err, problem[0] != '\0' ? problem : NULL);
    }
    trp_store_fini(&store);
    return err;
}

static void session_close_agent(trp_admin_session_t *session)
{
    trp_admin_order_t order;
    if (session->inbox == NULL) {
        return;
    }
    memset(&order, 0, sizeof(order));
    order.kind = TRP_ADMIN_ORDER_END;
    (void)!session_send_order(session, &order); /* Fails when the node stops: then it ends so. */
    troupe_inbox_close(&session->inbox);
}

void trp_admin_session_run(trp_node_t *node, troupe_type_t type, int fd, int stop_fd)
{
    trp_admin_session_t session;
    memset(&session, 0, sizeof(session));
    session.node = node;
    session.type = type;
    session.fd = fd;
    session.stop_fd = stop_fd;
    trp_buf_init(&session.in, TRP_ADMIN_REQUEST_SIZE_MAX);
    trp_buf_init(&session.out, TRP_ADMIN_REPLY_SIZE_MAX);
    troupe_err_t err = TROUPE_OK;
    while (err == TROUPE_OK) {
        err = session_serve(&session);
    }
    if (err == TROUPE_EPROTOCOL) {
        (void)!trp_admin_refuse(&session, err, "the request is larger than 262144 bytes, or empty");
    }
    session_close_agent(&session);
    trp_buf_fini(&session.in);
    trp_buf_fini(&session.out);
}
