/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Two clusters of one name: they can only have come about when a first seed was started while it could
 * not reach a running cluster for longer than `seed_timeout`. When their members meet, the weaker
 * cluster gives way: its members stop, start anew and join the stronger one.
 *
 * A cluster's strength is the number of its settled members that are reachable; of two equal ones the
 * lower id gives way.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_HEAL_H
#define TROUPE_CLUSTER_HEAL_H

#include "cluster/state.h"

/* Tells a node that there is a cluster here. */
void trp_heal_announce(trp_cluster_core_t *core, uint64_t to);

/* A member of another cluster has announced it. */
void trp_heal_on_announce(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                          trp_view_t items);

/* A member of this cluster has found a stronger one. */
void trp_heal_on_yield(trp_cluster_core_t *core, uint64_t from);

/* Counts and tells of another cluster, not too often. */
void trp_heal_note_other(trp_cluster_core_t *core, uint64_t uid, uint64_t cluster);

#endif
