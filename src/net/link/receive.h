/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What comes in on the ROUTER: whose it is, what it is, and to whom it goes.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_RECEIVE_H
#define TROUPE_LINK_RECEIVE_H

#include "net/link/state.h"

/* Takes up to `budget` messages. True when there may be more. */
bool trp_receive_run(trp_link_t *link, uint32_t budget);

/* Gives a message of a service to its handler. */
void trp_service_dispatch(trp_link_t *link, trp_peer_t *peer, uint64_t service, trp_view_t data);

/* Sends, or drops when there is no session, what another thread has given. */
void trp_service_send(trp_link_t *link, trp_service_out_t *out);

#endif
