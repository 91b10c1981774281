/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Expanding: from one publication to the mailboxes of a dispatcher's subscribers.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_EXPAND_H
#define TROUPE_PUBSUB_EXPAND_H

#include "pubsub/outgoing.h"

/* To the plain and pattern subscribers of this dispatcher. Returns how many took it. */
uint32_t trp_expand_plain(trp_site_t *site, trp_replica_topic_t *topic,
                          const trp_publication_t *what);
/* To one subscriber of a list, whatever its state. True when it took it. */
bool trp_expand_one(trp_site_t *site, const trp_replica_topic_t *topic,
                    const trp_subscriber_t *subscriber, const trp_publication_t *what);
/* Whether a subscription of the topic (in the group, if one is given) is pending here. */
bool trp_expand_is_pending(trp_site_t *site, trp_replica_topic_t *topic, uint32_t group);

#endif
