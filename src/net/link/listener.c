/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Listening on Linux: newcomers are kept out by a time-to-live that no packet has any more when it gets
 * here (IP_MINTTL, of RFC 5082's GTSM). Their requests are dropped by the kernel, at no cost to us, and
 * tried again by them. A socket filter would do the same; but each is a program that the kernel
 * compiles, and it frees those at leisure. */

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/text.h"
#include "net/link/limits.h"
#include "net/link/listener.h"

#define LISTENER_BACKLOG 256
#define LISTENER_TURN_AWAY_MAX 1024 /* Of a backlog, in one go. */
#define LISTENER_HOPS_NONE 255      /* Linux sends with 64; a packet of a router can't have more. */

/* ---- opening --------------------------------------------------------------------------------- */

/* Takes "host:port" apart; brackets around the host are dropped. */
static bool listener_split(const char *address, char *host, size_t host_size, char *port,
                           size_t port_size)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || (size_t)(colon - address) >= host_size) {
        return false;
    }
    const char *from = address;
    size_t size = (size_t)(colon - address);
    if (size >= 2 && from[0] == '[' && from[size - 1] == ']') {
        from++;
        size -= 2;
    }
    memcpy(host, from, size);
    host[size] = '\0';
    return trp_text_copy(port, port_size, colon + 1) == strlen(colon + 1);
}

static troupe_err_t listener_error(int code)
{
    switch (code) {
    case EADDRINUSE:
        return TROUPE_EADDRINUSE;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
        return TROUPE_EINVAL;
    case EACCES:
        return TROUPE_EPERM;
    default:
        return TROUPE_ESYSTEM;
    }
}

static troupe_err_t listener_listen(const struct addrinfo *info, int *ret_fd)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0) {
        return listener_error(errno);
    }
    int one = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, LISTENER_BACKLOG) != 0) {
        troupe_err_t err = listener_error(errno);
        (void)close(fd);
        return err;
    }
    *ret_fd = fd;
    return TROUPE_OK;
}

static troupe_err_t listener_port(int fd, uint16_t *ret_port)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof(at);
    if (getsockname(fd, (struct sockaddr *)&at, &size) != 0) {
        return TROUPE_ESYSTEM;
    }
    in_port_t port = at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                              : ((struct sockaddr_in *)&at)->sin_port;
    *ret_port = ntohs(port);
    return TROUPE_OK;
}

/* The socket for ZeroMQ, our copy of it, and the reserve. */
static troupe_err_t listener_keep(trp_listener_fd_t *listener, int fd)
{
    listener->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    listener->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (listener->fd < 0 || listener->reserve < 0) {
        trp_listener_close(listener);
        return TROUPE_ESYSTEM;
    }
    return TROUPE_OK;
}

troupe_err_t trp_listener_open(trp_listener_fd_t *listener, const char *address, int *ret_fd,
                               uint16_t *ret_port)
{
    TRP_ASSERT(listener->fd < 0);
    char host[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    char port[16];
    if (!listener_split(address, host, sizeof(host), port, sizeof(port))) {
        return TROUPE_EINVAL;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *infos = NULL;
    bool is_any = strcmp(host, "*") == 0;
    if (getaddrinfo(is_any ? NULL : host, port, &hints, &infos) != 0 || infos == NULL) {
        return TROUPE_EINVAL;
    }
    int fd = -1;
    troupe_err_t err = listener_listen(infos, &fd);
    freeaddrinfo(infos);
    if (err != TROUPE_OK) {
        return err;
    }
    err = listener_port(fd, ret_port);
    if (err == TROUPE_OK) {
        err = listener_keep(listener, fd);
    }
    if (err != TROUPE_OK) {
        (void)close(fd);
        return err;
    }
    *ret_fd = fd;
    return TROUPE_OK;
}

void trp_listener_close(trp_listener_fd_t *listener)
{
    if (listener->fd >= 0) {
        (void)close(listener->fd);
    }
    if (listener->reserve >= 0) {
        (void)close(listener->reserve);
    }
    trp_listener_init(listener);
}

/* ---- refusing -------------------------------------------------------------------------------- */

void trp_listener_turn_away(trp_listener_fd_t *listener)
{
    if (listener->fd < 0) {
        return;
    }
    if (listener->reserve >= 0) {
        (void)close(listener->reserve);
    }
    for (int i = 0; i < LISTENER_TURN_AWAY_MAX; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            break;
        }
        (void)close(fd);
    }
    listener->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void trp_listener_refuse(const trp_listener_fd_t *listener, int fd)
{
    uint16_t own = 0;
    uint16_t port = 0;
    /* ZeroMQ may have closed it meanwhile, and somebody else have got the number. */
    if (listener->fd >= 0 && listener_port(listener->fd, &own) == TROUPE_OK &&
        listener_port(fd, &port) == TROUPE_OK && port == own) {
        (void)shutdown(fd, SHUT_RDWR);
    }
}
