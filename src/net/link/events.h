/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Telling the rooms above what happens on links, and the log with it.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_EVENTS_H
#define TROUPE_LINK_EVENTS_H

#include "net/link/state.h"

/* An event about a peer; name and address are filled in. `text` may be NULL. */
void trp_events_peer(trp_link_t *link, trp_link_event_kind_t kind, trp_peer_t *peer,
                     troupe_err_t reason, const char *text);

/* An address could not be reached, or whoever listens there refuses us. */
void trp_events_dial(trp_link_t *link, trp_link_event_kind_t kind, const char *address,
                     troupe_err_t reason, trp_view_t text);

/* It is known now who listens at an address that was dialled. */
void trp_events_dialled(trp_link_t *link, const char *address, uint64_t uid);

/* We refuse a peer. */
void trp_events_refused(trp_link_t *link, const trp_hello_t *hello, troupe_err_t reason,
                        const char *text);
void trp_events_refused_key(trp_link_t *link, const char *key);

#endif
