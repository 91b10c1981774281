/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The mediator: the part of pub/sub that a node has once, on its system dispatcher. It keeps the
 * directory and the registry, tells the dispatchers of changes, and acknowledges subscriptions once
 * every dispatcher (and, if asked, every member) knows of them. No publish passes through it.
 *
 * Thread rule: the system dispatcher, but for what says otherwise. */

#ifndef TROUPE_PUBSUB_MEDIATOR_H
#define TROUPE_PUBSUB_MEDIATOR_H

#include "base/view.h"
#include "pubsub/site.h"

/* Made before the start; begins to work when the system dispatcher's hook attaches. */
troupe_err_t trp_mediator_create(trp_pubsub_t *pubsub, trp_mediator_t **ret_mediator);
void trp_mediator_destroy(trp_mediator_t **mediator_p);
void trp_mediator_attach(trp_mediator_t *mediator, trp_dispatcher_t *d);
void trp_mediator_detach(trp_mediator_t *mediator);

/* A control message of another node's mediator. */
void trp_mediator_receive(trp_mediator_t *mediator, uint64_t uid, trp_view_t bytes);

#endif
