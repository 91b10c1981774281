/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Repair by push and pull: two members whose digests differ compare the hashes of the ranges of the
 * uid space, then the versions inside the ranges that differ, and give each other the records that the
 * other lacks. While digests are equal nothing but the digest goes over the wire.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_SYNC_H
#define TROUPE_CLUSTER_SYNC_H

#include "cluster/state.h"

/* A member has shown its digest and epoch: begins a repair with it when they differ, unless the
 * difference is so fresh that gossip will mend it. */
void trp_sync_compare(trp_cluster_core_t *core, uint64_t with, uint64_t digest, uint64_t epoch);

/* Begins a repair at once. */
void trp_sync_begin(trp_cluster_core_t *core, uint64_t with);

void trp_sync_on_sync(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                      trp_view_t items);
void trp_sync_on_vector(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                        trp_view_t items);
/* Answers what was asked for; the records themselves are merged by the caller. */
void trp_sync_on_wants(trp_cluster_core_t *core, uint64_t from, trp_view_t items);

#endif
