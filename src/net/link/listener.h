/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The listening descriptor, which ZeroMQ accepts from. The link makes it itself, so that it can turn
 * newcomers away without ending the connections that stand, as an unbind would.
 *
 * Thread rule: the link thread; before and after it, whoever opens and closes the link. */

#ifndef TROUPE_LINK_LISTENER_H
#define TROUPE_LINK_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

typedef struct trp_listener_fd {
    int fd;      /* Our copy; -1: none. ZeroMQ closes its own. */
    int reserve; /* Kept open to be given up when descriptors run out. */
} trp_listener_fd_t;

static inline void trp_listener_init(trp_listener_fd_t *listener)
{
    *listener = (trp_listener_fd_t){-1, -1};
}

/* Listens at "host:port". ret_fd is for ZeroMQ, to be closed by it; ret_port is the port that was bound.
 * EADDRINUSE; EPERM; EINVAL: no such address; ESYSTEM. */
troupe_err_t trp_listener_open(trp_listener_fd_t *listener, const char *address, int *ret_fd,
                               uint16_t *ret_port);
void trp_listener_close(trp_listener_fd_t *listener);

/* There are no descriptors left: accepts and closes who waits to be accepted, so that ZeroMQ does not
 * try in vain again and again. */
void trp_listener_turn_away(trp_listener_fd_t *listener);
/* Shuts down a connection that ZeroMQ has just accepted. */
void trp_listener_refuse(const trp_listener_fd_t *listener, int fd);

#endif
