/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The room's hooks in the link.
 *
 * Thread rule: before the link's start. */

#ifndef TROUPE_PUBSUB_REMOTE_H
#define TROUPE_PUBSUB_REMOTE_H

#include "pubsub/site.h"

/* Registers them; nothing when the node has no link. */
troupe_err_t trp_remote_register(trp_pubsub_t *pubsub);

#endif
