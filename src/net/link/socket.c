/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* DEALERs and monitors. */

#include "net/link/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/assert.h"
#include "base/text.h"
#include "net/link/curve.h"

#define SOCKET_HEARTBEAT_MS 10000         /* Keeps what is between from dropping an idle link. */
#define SOCKET_HEARTBEAT_TIMEOUT_MS 30000 /* A stopped process may come back before it. */

/* ---- watching -------------------------------------------------------------------------------- */

troupe_err_t trp_watch_add_fd(trp_link_t *link, int fd, trp_watch_t *watch)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = watch}};
    return epoll_ctl(link->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

static int socket_fd(void *socket)
{
    int fd = -1;
    size_t size = sizeof(fd);
    return zmq_getsockopt(socket, ZMQ_FD, &fd, &size) == 0 ? fd : -1;
}

troupe_err_t trp_watch_add(trp_link_t *link, void *socket, trp_watch_t *watch)
{
    return trp_watch_add_fd(link, socket_fd(socket), watch);
}

void trp_watch_remove(trp_link_t *link, void *socket)
{
    (void)epoll_ctl(link->epoll_fd, EPOLL_CTL_DEL, socket_fd(socket), NULL);
}

/* ---- monitors -------------------------------------------------------------------------------- */

/* Receives one part; false when there is none. */
static bool socket_part(void *socket, uint8_t *out, size_t size)
{
    zmq_msg_t part;
    (void)zmq_msg_init(&part);
    bool is_there = zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) >= 0;
    if (is_there && out != NULL) {
        memset(out, 0, size);
        size_t have = zmq_msg_size(&part);
        memcpy(out, zmq_msg_data(&part), have < size ? have : size);
    }
    (void)zmq_msg_close(&part);
    return is_there;
}

static void *socket_monitor(trp_link_t *link, void *socket, int events)
{
    char name[64];
    (void)trp_text_format(name, sizeof(name), "inproc://monitor-%llu",
                          (unsigned long long)link->monitor_next++);
    if (zmq_socket_monitor(socket, name, events) != 0) {
        return NULL;
    }
    void *monitor = zmq_socket(link->context, ZMQ_PAIR);
    int zero = 0;
    if (monitor == NULL) {
        return NULL;
    }
    /* Without a mark the I/O thread never waits for us while it tells. */
    (void)zmq_setsockopt(monitor, ZMQ_RCVHWM, &zero, sizeof(zero));
    (void)zmq_setsockopt(monitor, ZMQ_LINGER, &zero, sizeof(zero));
    if (zmq_connect(monitor, name) != 0) {
        (void)zmq_close(monitor);
        return NULL;
    }
    /* ZeroMQ signals only to a reader that has found nothing before. */
    (void)socket_part(monitor, NULL, 0);
    return monitor;
}

bool trp_monitor_next(void *monitor, trp_monitor_event_t *ret_event)
{
    uint8_t bytes[6];
    if (!socket_part(monitor, bytes, sizeof(bytes))) {
        return false;
    }
    (void)socket_part(monitor, NULL, 0); /* The endpoint. */
    /* In the machine's own order: it comes from this process. */
    memcpy(&ret_event->event, bytes, sizeof(ret_event->event));
    memcpy(&ret_event->value, bytes + 2, sizeof(ret_event->value));
    return true;
}

/* ---- sending sockets ------------------------------------------------------------------------- */

static void socket_set(void *socket, int option, int value)
{
    int rc = zmq_setsockopt(socket, option, &value, sizeof(value));
    TRP_ASSERT(rc == 0);
}

static void socket_tune(void *dealer)
{
    socket_set(dealer, ZMQ_LINGER, 0);
    socket_set(dealer, ZMQ_SNDHWM, 0);         /* Our own bounds rule. */
    socket_set(dealer, ZMQ_RCVHWM, 16);        /* Only refusals come back. */
    socket_set(dealer, ZMQ_RECONNECT_IVL, -1); /* A new connection needs a new handshake. */
    socket_set(dealer, ZMQ_HANDSHAKE_IVL, (int)TRP_LINK_HANDSHAKE_MS);
    socket_set(dealer, ZMQ_HEARTBEAT_IVL, SOCKET_HEARTBEAT_MS);
    socket_set(dealer, ZMQ_HEARTBEAT_TIMEOUT, SOCKET_HEARTBEAT_TIMEOUT_MS);
    socket_set(dealer, ZMQ_TCP_KEEPALIVE, 1);
    int64_t size_max = TRP_LINK_HELLO_SIZE_MAX;
    (void)zmq_setsockopt(dealer, ZMQ_MAXMSGSIZE, &size_max, sizeof(size_max));
}

static const int socket_events = ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_CONNECT_RETRIED;

static troupe_err_t socket_connect(trp_link_t *link, trp_socket_t *socket, const char *address)
{
    char endpoint[TRP_LINK_ADDRESS_SIZE_MAX + 16];
    (void)trp_text_format(endpoint, sizeof(endpoint), "tcp://%s", address);
    socket_tune(socket->dealer);
    socket_set(socket->dealer, ZMQ_IPV6, strchr(address, '[') != NULL);
    troupe_err_t err = trp_curve_client(link, socket->dealer, socket->conn);
    if (err != TROUPE_OK) {
        return err;
    }
    socket->monitor = socket_monitor(link, socket->dealer, socket_events);
    socket->monitor_watch = (trp_watch_t){TRP_WATCH_MONITOR, socket};
    if (socket->monitor == NULL ||
        trp_watch_add(link, socket->monitor, &socket->monitor_watch) != TROUPE_OK) {
        return TROUPE_ESYSTEM;
    }
    return zmq_connect(socket->dealer, endpoint) == 0 ? TROUPE_OK : TROUPE_EINVAL;
}

troupe_err_t trp_socket_open(trp_link_t *link, trp_socket_t *socket, const char *address)
{
    TRP_ASSERT(socket->dealer == NULL);
    TRP_ASSERT(socket->conn != NULL);
    socket->dealer = zmq_socket(link->context, ZMQ_DEALER);
    if (socket->dealer == NULL) {
        return TROUPE_ESYSTEM;
    }
    troupe_err_t err = socket_connect(link, socket, address);
    if (err == TROUPE_OK && socket->lane == TRP_LANE_CONTROL) {
        (void)socket_part(socket->dealer, NULL, 0); /* As with monitors: so that it signals. */
        socket->reply_watch = (trp_watch_t){TRP_WATCH_REPLY, socket};
        err = trp_watch_add(link, socket->dealer, &socket->reply_watch);
    }
    if (err != TROUPE_OK) {
        trp_socket_close(link, socket);
    }
    return err;
}

void trp_socket_close(trp_link_t *link, trp_socket_t *socket)
{
    if (socket->monitor != NULL) {
        trp_watch_remove(link, socket->monitor);
        (void)zmq_socket_monitor(socket->dealer, NULL, 0);
        (void)zmq_close(socket->monitor);
        socket->monitor = NULL;
    }
    if (socket->dealer != NULL) {
        if (socket->lane == TRP_LANE_CONTROL) {
            trp_watch_remove(link, socket->dealer);
        }
        (void)zmq_close(socket->dealer);
        socket->dealer = NULL;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

/* On success ZeroMQ has the message. */
static bool socket_send_message(trp_socket_t *socket, zmq_msg_t *message, int flags)
{
    if (zmq_msg_send(message, socket->dealer, ZMQ_DONTWAIT | flags) >= 0) {
        return true;
    }
    (void)zmq_msg_close(message);
    return false;
}

bool trp_socket_send(trp_socket_t *socket, const void *data, size_t size)
{
    zmq_msg_t message;
    if (socket->dealer == NULL || zmq_msg_init_size(&message, size) != 0) {
        return false;
    }
    memcpy(zmq_msg_data(&message), data, size);
    return socket_send_message(socket, &message, 0);
}

static void socket_free_frame(void *data, void *hint)
{
    (void)data;
    TRP_HANDOFF_TAKE(hint);
    trp_frame_unref(hint);
}

bool trp_socket_send_frame(trp_socket_t *socket, trp_frame_t *frame)
{
    zmq_msg_t message;
    if (socket->dealer == NULL) {
        return false;
    }
    trp_frame_ref(frame);
    if (zmq_msg_init_data(&message, frame->data, frame->size, socket_free_frame, frame) != 0) {
        trp_frame_unref(frame);
        return false;
    }
    TRP_HANDOFF_GIVE(frame);
    return socket_send_message(socket, &message, 0);
}

static void socket_free_body(void *data, void *hint)
{
    (void)data;
    TRP_HANDOFF_TAKE(hint);
    trp_body_unref(hint);
}

bool trp_socket_send_chunk(trp_socket_t *socket, const trp_chunk_t *chunk, trp_body_t *body,
                           uint32_t size)
{
    zmq_msg_t head;
    zmq_msg_t bytes;
    if (socket->dealer == NULL || zmq_msg_init_size(&head, TRP_WIRE_CHUNK_SIZE) != 0) {
        return false;
    }
    trp_wire_put_chunk(zmq_msg_data(&head), chunk);
    /* ZeroMQ only reads it, but has no const. */
    uint8_t *data = (uint8_t *)(uintptr_t)trp_body_bytes(body) + chunk->offset;
    (void)trp_body_ref(body);
    if (zmq_msg_init_data(&bytes, data, size, socket_free_body, body) != 0) {
        trp_body_unref(body);
        (void)zmq_msg_close(&head);
        return false;
    }
    TRP_HANDOFF_GIVE(body);
    if (!socket_send_message(socket, &head, ZMQ_SNDMORE)) {
        (void)zmq_msg_close(&bytes);
        return false;
    }
    return socket_send_message(socket, &bytes, 0);
}

/* ---- the listening socket -------------------------------------------------------------------- */

static const int router_events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED |
                                 ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

static troupe_err_t router_tune(trp_link_t *link)
{
    socket_set(link->router, ZMQ_LINGER, 0);
    socket_set(link->router, ZMQ_SNDHWM, 16); /* Refusals only; more to one peer are dropped. */
    socket_set(link->router, ZMQ_HANDSHAKE_IVL, (int)TRP_LINK_HANDSHAKE_MS);
    socket_set(link->router, ZMQ_HEARTBEAT_IVL, SOCKET_HEARTBEAT_MS);
    socket_set(link->router, ZMQ_HEARTBEAT_TIMEOUT, SOCKET_HEARTBEAT_TIMEOUT_MS);
    socket_set(link->router, ZMQ_TCP_KEEPALIVE, 1);
    socket_set(link->router, ZMQ_IPV6, strchr(link->listen, '[') != NULL);
    int64_t size_max = TRP_LINK_MESSAGE_SIZE_MAX;
    (void)zmq_setsockopt(link->router, ZMQ_MAXMSGSIZE, &size_max, sizeof(size_max));
    return trp_curve_server(link, link->router);
}

troupe_err_t trp_router_open(trp_link_t *link)
{
    link->context = zmq_ctx_new();
    if (link->context == NULL) {
        return TROUPE_ESYSTEM;
    }
    /* A DEALER, its monitor and the monitor's other end, for each lane and attempt. */
    (void)zmq_ctx_set(link->context, ZMQ_MAX_SOCKETS, 16384);
    (void)zmq_ctx_set(link->context, ZMQ_BLOCKY, 0);
    troupe_err_t err = trp_curve_open_zap(link);
    if (err != TROUPE_OK) {
        return err;
    }
    link->router = zmq_socket(link->context, ZMQ_ROUTER);
    if (link->router == NULL) {
        return TROUPE_ESYSTEM;
    }
    err = router_tune(link);
    if (err != TROUPE_OK) {
        return err;
    }
    link->listener = socket_monitor(link, link->router, router_events);
    link->router_watch = (trp_watch_t){TRP_WATCH_ROUTER, NULL};
    link->listener_watch = (trp_watch_t){TRP_WATCH_LISTENER, NULL};
    if (link->listener == NULL ||
        trp_watch_add(link, link->listener, &link->listener_watch) != TROUPE_OK) {
        return TROUPE_ESYSTEM;
    }
    return trp_watch_add(link, link->router, &link->router_watch);
}

void trp_router_close(trp_link_t *link)
{
    if (link->listener != NULL) {
        (void)zmq_socket_monitor(link->router, NULL, 0);
        (void)zmq_close(link->listener);
    }
    if (link->router != NULL) {
        (void)zmq_close(link->router);
    }
    if (link->zap != NULL) {
        (void)zmq_close(link->zap);
    }
    if (link->context != NULL) {
        while (zmq_ctx_term(link->context) != 0 && errno == EINTR) {
        }
    }
    link->listener = NULL;
    link->router = NULL;
    link->zap = NULL;
    link->context = NULL;
}

void trp_router_reply(trp_link_t *link, trp_view_t routing_id, const void *data, size_t size)
{
    if (zmq_send(link->router, routing_id.data, routing_id.size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) {
        (void)zmq_send(link->router, data, size, ZMQ_DONTWAIT);
    }
}
