/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Handing messages out to the concerns.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_CORE_DISPATCH_H
#define TROUPE_CLUSTER_CORE_DISPATCH_H

#include "base/view.h"
#include "cluster/state.h"

/* Decodes a message and acts on it. */
void trp_core_dispatch(trp_cluster_core_t *core, uint64_t from, trp_view_t message);

/* Tells a node that it is no member any more, if that is so; true when it was. */
bool trp_core_fence(trp_cluster_core_t *core, uint64_t uid);

#endif
