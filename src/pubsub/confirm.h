/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Confirmed publishes on the publisher's dispatcher.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_CONFIRM_H
#define TROUPE_PUBSUB_CONFIRM_H

#include "pubsub/site.h"

/* The topic's targets or subscriptions have changed: what waits for that goes on. */
void trp_confirm_wake(trp_site_t *site, trp_replica_topic_t *topic);
/* Ends all without an answer, as the dispatcher ends. */
void trp_confirm_fini(trp_site_t *site);

#endif
