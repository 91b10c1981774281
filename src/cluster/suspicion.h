/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Suspicion: the time between a failed probe and "unreachable", in which the suspect may speak up. One
 * voice alone has to wait long; each further member that suspects independently shortens the wait, so a
 * single node with bad ears convinces nobody.
 *
 * Every node lets its own clock run out: "unreachable" is never taken over from others.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_SUSPICION_H
#define TROUPE_CLUSTER_SUSPICION_H

#include "cluster/state.h"

/* `by` suspects `member` in that incarnation. `tell` passes it on: not when this node has heard nobody,
 * for then it is more likely the one that is cut off. */
void trp_suspicion_confirm(trp_cluster_core_t *core, trp_member_t *member, uint32_t incarnation,
                           uint64_t by, bool tell);

/* Turns suspects whose time has run out into unreachable ones. */
void trp_suspicion_tick(trp_cluster_core_t *core);

/* How long a suspicion lasts with `confirmed_len` voices among `live_len` live members, of which
 * `reachable_len` besides this node could still confirm it. */
uint64_t trp_suspicion_time(uint64_t base, size_t live_len, size_t reachable_len,
                            size_t confirmed_len);

#endif
