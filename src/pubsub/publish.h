/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publishing to all.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_PUBLISH_H
#define TROUPE_PUBSUB_PUBLISH_H

#include "pubsub/outgoing.h"

/* Where a publication goes: bits. */
typedef enum trp_scope {
    TRP_SCOPE_HERE = 1 << 0,   /* This node's dispatchers. */
    TRP_SCOPE_OTHERS = 1 << 1, /* Other nodes. */
    TRP_SCOPE_ALL = TRP_SCOPE_HERE | TRP_SCOPE_OTHERS,
} trp_scope_t;
/* To all plain subscribers in the scope; where there are none it is dropped. */
void trp_publish_all(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                     trp_scope_t scope);

#endif
