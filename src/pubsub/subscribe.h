/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What a site does as its actors and its dispatcher end.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_SUBSCRIBE_H
#define TROUPE_PUBSUB_SUBSCRIBE_H

#include "pubsub/site.h"

#define TRP_PUBSUB_OPS_MAX (1u << 20) /* Acknowledgements under way on one dispatcher. */

/* The runtime's: an actor of this dispatcher has ended. */
void trp_site_ended_fn(void *context, trp_dispatcher_t *d, uint64_t id);
void trp_site_free_ops(trp_site_t *site);

#endif
