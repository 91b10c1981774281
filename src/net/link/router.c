/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The listening socket: where it listens, and for how many. ZeroMQ accepts whatever comes, and tries
 * again and again when descriptors run out; so the link counts connections, ends those beyond its bound,
 * and turns newcomers away itself when there are no descriptors. */

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/text.h"
#include "net/link/router.h"
#include "net/link/socket.h"

/* ---- addresses ------------------------------------------------------------------------------- */

bool trp_router_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strncmp(address, "localhost:", 10) == 0 ||
           strncmp(address, "[::1]:", 6) == 0;
}

/* The colon before the port; NULL when there is none. */
static const char *address_colon(const char *address)
{
    const char *colon = strrchr(address, ':');
    return colon != NULL && colon != address && colon[1] != '\0' ? colon : NULL;
}

bool trp_address_is_valid(const char *address)
{
    uint64_t port = 0;
    const char *colon = address_colon(address);
    return colon != NULL && strlen(address) <= TRP_LINK_ADDRESS_SIZE_MAX &&
           trp_text_parse_u64(colon + 1, UINT16_MAX, &port) == TROUPE_OK;
}

/* Puts the port that was bound in the place of port 0. */
static void address_set_port(char *address, size_t size, const char *port)
{
    char *colon = strrchr(address, ':');
    TRP_ASSERT(colon != NULL);
    if (strcmp(colon, ":0") == 0) {
        size_t used = (size_t)(colon + 1 - address);
        (void)trp_text_copy(colon + 1, size - used, port);
    }
}

/* ---- binding --------------------------------------------------------------------------------- */

troupe_err_t trp_router_bind(trp_link_t *link)
{
    int fd = -1;
    uint16_t port = 0;
    troupe_err_t err = trp_listener_open(&link->listener_fd, link->listen, &fd, &port);
    if (err != TROUPE_OK) {
        return err;
    }
    char endpoint[TRP_LINK_ADDRESS_SIZE_MAX + 16];
    (void)trp_text_format(endpoint, sizeof(endpoint), "tcp://%s", link->listen);
    if (zmq_setsockopt(link->router, ZMQ_USE_FD, &fd, sizeof(fd)) != 0 ||
        zmq_bind(link->router, endpoint) != 0) {
        (void)close(fd);
        trp_listener_close(&link->listener_fd);
        return TROUPE_EINVAL;
    }
    char text[8];
    (void)trp_text_format(text, sizeof(text), "%u", (unsigned)port);
    address_set_port(link->listen, sizeof(link->listen), text);
    address_set_port(link->advertise, sizeof(link->advertise), text);
    return TROUPE_OK;
}

/* ---- how many -------------------------------------------------------------------------------- */

uint32_t trp_router_connections_max(uint32_t wanted)
{
    struct rlimit limit = {0, 0};
    uint64_t files = 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        files = limit.rlim_cur;
    }
    /* Half is for others: our own connections, files, clients. */
    uint64_t max = files / 2 > TRP_LINK_INBOUND_MAX ? TRP_LINK_INBOUND_MAX : files / 2;
    return wanted != 0 && wanted < max ? wanted : (uint32_t)max;
}

/* One connection more than there is room for. */
static void router_refuse(trp_link_t *link, int fd)
{
    trp_listener_refuse(&link->listener_fd, fd);
    TRP_LOG_LIMITED(link->log, &link->log_limit, link->now, TROUPE_LOG_LINK, TROUPE_LOG_WARN,
                    "link.full", "connections=%u max=%u", link->connections, link->connections_max);
}

static void router_closed(trp_link_t *link)
{
    if (link->connections > 0) {
        link->connections--;
    }
}

void trp_router_on_event(trp_link_t *link, const trp_monitor_event_t *event)
{
    switch (event->event) {
    case ZMQ_EVENT_ACCEPTED:
        link->connections++;
        if (link->connections > link->connections_max) {
            router_refuse(link, (int)event->value);
        }
        break;
    case ZMQ_EVENT_ACCEPT_FAILED:
        trp_listener_turn_away(&link->listener_fd);
        break;
    case ZMQ_EVENT_DISCONNECTED:
        router_closed(link);
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        TRP_LOG_LIMITED(link->log, &link->log_limit, link->now, TROUPE_LOG_LINK, TROUPE_LOG_WARN,
                        "link.handshake.failed", "event=%u code=%u", (unsigned)event->event,
                        (unsigned)event->value);
        break;
    default:
        break;
    }
}
