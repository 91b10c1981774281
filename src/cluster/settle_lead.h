/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What moves settling on: proposing, and clearing away who is gone. Taking part is in settle.h.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_SETTLE_LEAD_H
#define TROUPE_CLUSTER_SETTLE_LEAD_H

#include "cluster/state.h"

/* Moves what can be moved: removes who is gone, settles, proposes. */
void trp_settle_tick(trp_cluster_core_t *core);

/* When trp_settle_tick is next needed. */
uint64_t trp_settle_wakeup(const trp_cluster_core_t *core);

#endif
