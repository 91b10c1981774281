/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Letting seekers in: a member's part of joining.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_JOIN_ADMIT_H
#define TROUPE_CLUSTER_JOIN_ADMIT_H

#include "cluster/state.h"

/* A seeker called at this member: it becomes a joining member and is welcomed. Who had its address
 * before is down: an address has one process. */
void trp_join_admit(trp_cluster_core_t *core, const trp_item_t *seeker);

/* Welcomes a member that could not be answered when it called. */
void trp_join_welcome_late(trp_cluster_core_t *core, uint64_t uid);

#endif
