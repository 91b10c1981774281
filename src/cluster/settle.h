/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Settling: how the set of members that count in a split is changed, so that no two sides ever judge
 * by sets that have nothing to do with each other.
 *
 *     set of epoch n  --proposed-->  every live member of it holds the proposal  --settled-->  n + 1
 *
 * - The proposer is the settled member with the lowest address that isn't down. Should two propose, the
 *   higher (ballot, proposer) counts; who takes over from a proposer that is down goes on with its
 *   proposal if it holds it. A member accepts only the highest proposal that it knows, and all have to
 *   accept, so only one proposal of an epoch can be settled.
 * - No change is begun while a settled member is unreachable; newcomers are weakly up meanwhile.
 * - One change holds a bounded batch; the next may follow at once.
 * - A side of a split lives on only if it wins in the settled set and in the proposal that it holds.
 *   Whoever settled epoch n + 1 had it accepted by every member of n, so a side that still judges by n
 *   has to win in n + 1 too, and only one side can.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_SETTLE_H
#define TROUPE_CLUSTER_SETTLE_H

#include "cluster/state.h"

void trp_settle_init(trp_cluster_core_t *core);

/* The first set of a new cluster: self alone. ENOMEM. */
troupe_err_t trp_settle_form(trp_cluster_core_t *core);

/* News of a change, from its proposer or passed on by `from`. */
void trp_settle_on_proposed(trp_cluster_core_t *core, uint64_t from, const trp_change_t *change);
void trp_settle_on_settled(trp_cluster_core_t *core, uint64_t from, const trp_change_t *change);

/* `uid` holds the proposal that `change` names. */
void trp_settle_on_accepted(trp_cluster_core_t *core, uint64_t uid, const trp_change_t *change,
                            bool tell);

/* Sends the whole settled set to a member that is behind. */
void trp_settle_send_set(trp_cluster_core_t *core, uint64_t to);

/* Sends the proposal that is held, if there is one. */
void trp_settle_send_proposal(trp_cluster_core_t *core, uint64_t to);

/* `uid` knows a later settled set than this node does: it is asked at the end of the step. */
void trp_settle_note_behind(trp_cluster_core_t *core, uint64_t uid);

/* One part of a whole set. */
void trp_settle_on_set(trp_cluster_core_t *core, const trp_wire_t *wire, trp_view_t items);

/* The settled member with the lowest address that isn't down; NULL when none is known. */
trp_member_t *trp_settle_leader(const trp_cluster_core_t *core);

/* True when the uid is in the settled set or in the proposal. */
bool trp_settle_has(const trp_cluster_core_t *core, uint64_t uid);

/* True when a member that became up as `up_number` says was settled out again. */
bool trp_settle_is_out(const trp_cluster_core_t *core, uint64_t uid, uint64_t up_number);

/* ---- for the proposer -------------------------------------------------------------------------- */

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
