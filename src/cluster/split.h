/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What becomes of members that stay unreachable: the split-brain decision.
 *
 * Once nothing about who is unreachable has changed for `stable_after`, every settled member judges for
 * itself whether its side can still win; if not, it stops, and starts anew as another incarnation. On a
 * side that may win, the reachable settled member with the lowest address asks all the others for their
 * vote. Each votes for one at a time, and only if it holds the same sets and doesn't know better about
 * those that are to be downed. Only votes count as the side, not hopes: a member that has silently gone
 * to the other side can't be counted on both.
 *
 * Newcomers follow; when every settled member is gone for good before they were settled themselves, the
 * cluster has ended, and they start anew.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_SPLIT_H
#define TROUPE_CLUSTER_SPLIT_H

#include "cluster/state.h"

void trp_split_init(trp_cluster_core_t *core);
void trp_split_fini(trp_cluster_core_t *core);
void trp_split_tick(trp_cluster_core_t *core);
uint64_t trp_split_wakeup(const trp_cluster_core_t *core);

void trp_split_on_poll(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                       trp_view_t items);
void trp_split_on_vote(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire);

#endif
