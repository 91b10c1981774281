/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The listening socket: addresses, and how many connections it takes.
 *
 * Thread rule: the link thread; what takes no link may be called on any. */

#ifndef TROUPE_LINK_ROUTER_H
#define TROUPE_LINK_ROUTER_H

#include "net/link/socket.h"

/* "host:port", with brackets around an IPv6 host. */
bool trp_address_is_valid(const char *address);
bool trp_router_is_loopback(const char *address);

/* Inbound connections to take: as wanted, and never more than descriptors allow. */
uint32_t trp_router_connections_max(uint32_t wanted);

/* Listens at the address in `listen`; sets the ports there and in `advertise` that were 0. Errors of
 * trp_listener_open. */
troupe_err_t trp_router_bind(trp_link_t *link);

/* The ROUTER's monitor has told something. */
void trp_router_on_event(trp_link_t *link, const trp_monitor_event_t *event);

#endif
