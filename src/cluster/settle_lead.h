/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the two halves of settling share: taking part (settle.c) and proposing (settle_lead.c).
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_SETTLE_LEAD_H
#define TROUPE_CLUSTER_SETTLE_LEAD_H

#include "cluster/state.h"

/* The number that a member gets with its place in the change that adds it; every node computes the
 * same. */
static inline uint64_t trp_settle_up_number(uint64_t epoch, size_t place)
{
    return epoch << 16 | (uint64_t)place;
}

/* Adopts a change that is settled. ENOMEM; EPROTOCOL: its hash doesn't fit. */
troupe_err_t trp_settle_apply(trp_cluster_core_t *core, const trp_change_t *change);

/* Takes up a proposal that is higher than the one held, and accepts it; `passed_on` when it didn't come
 * from its proposer. Errors as above. */
troupe_err_t trp_settle_hold(trp_cluster_core_t *core, const trp_change_t *change, bool passed_on);

/* Forgets the proposal that is held. */
void trp_settle_drop_proposal(trp_cluster_core_t *core);

#endif
