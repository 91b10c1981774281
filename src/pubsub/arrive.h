/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publications that have reached a dispatcher.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_ARRIVE_H
#define TROUPE_PUBSUB_ARRIVE_H

#include "pubsub/outgoing.h"

/* A plain or routed publication is for this dispatcher. */
void trp_arrive(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                const trp_routing_words_t *words);

/* The runtime's: a cell with TRP_MESSAGE_TOPIC. */
void trp_arrive_topic_fn(void *context, trp_dispatcher_t *d, trp_message_t *message);

#endif
