/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* ZeroMQ sockets of a link: the ROUTER that listens, the DEALERs that send, and their monitors.
 *
 * Descriptors of ZeroMQ sockets only say that something *may* have happened, and only once; whoever is
 * told reads until there is nothing left. Thread rule: the link thread. */

#ifndef TROUPE_LINK_SOCKET_H
#define TROUPE_LINK_SOCKET_H

#include "net/link/state.h"

/* ---- watching -------------------------------------------------------------------------------- */

troupe_err_t trp_watch_add_fd(trp_link_t *link, int fd, trp_watch_t *watch);
/* Watches a ZeroMQ socket's descriptor. */
troupe_err_t trp_watch_add(trp_link_t *link, void *socket, trp_watch_t *watch);
void trp_watch_remove(trp_link_t *link, void *socket);

/* ---- sending sockets ------------------------------------------------------------------------- */

/* Opens the DEALER of a lane to the connection's address. It connects by itself, and what is sent waits
 * for that. EINVAL: no address; ESYSTEM: no descriptors left. */
troupe_err_t trp_socket_open(trp_link_t *link, trp_socket_t *socket, const char *address);
void trp_socket_close(trp_link_t *link, trp_socket_t *socket);

/* Sends one message, copied. False when the socket has lost its connection. */
bool trp_socket_send(trp_socket_t *socket, const void *data, size_t size);
/* Sends a frame without copying it; ZeroMQ holds a reference meanwhile. */
bool trp_socket_send_frame(trp_socket_t *socket, trp_frame_t *frame);
/* Sends a chunk: its header, and bytes of a body, of which ZeroMQ holds a reference. */
bool trp_socket_send_chunk(trp_socket_t *socket, const trp_chunk_t *chunk, trp_body_t *body,
                           uint32_t size);

/* ---- the listening socket -------------------------------------------------------------------- */

/* Makes context, ROUTER, monitor and ZAP socket. */
troupe_err_t trp_router_open(trp_link_t *link);
void trp_router_close(trp_link_t *link);

/* Answers a connection of a peer, if it still stands. */
void trp_router_reply(trp_link_t *link, trp_view_t routing_id, const void *data, size_t size);

/* ---- monitors -------------------------------------------------------------------------------- */

typedef struct trp_monitor_event {
    uint16_t event; /* ZMQ_EVENT_* */
    uint32_t value;
} trp_monitor_event_t;

/* The next event; false when there is none. */
bool trp_monitor_next(void *monitor, trp_monitor_event_t *ret_event);

#endif
