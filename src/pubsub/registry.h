/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry: who has subscribers for what, on every member of the cluster. A pure state machine:
 * time, randomness and messages come in as arguments, everything it does goes out through the sink.
 *
 * Only a node itself tells of its bucket. Data of a bucket is taken from its owner's own link and from
 * nobody else, so no peer can add to, change or wipe what another one has registered. What other
 * members tell is only *how far* an owner's bucket has come (its version); a false hint costs one
 * question to the owner.
 *
 * How a change spreads:
 *   push    the owner sends what is new to every member at once (delta from..to);
 *   ack     a member answers when the change is in effect on its dispatchers;
 *   probe   the owner asks members that have not answered for a while (an empty delta);
 *   want    a member whose copy ends before `from` asks for what is missing: nothing is merged over
 *           a gap; the answer comes in chunks, each asked for;
 *   full    when the owner no longer has the tombstones in between, it tells everything, and what it
 *           did not tell again is swept at the end;
 *   digest  once an interval to one member: a hash of the version vector; only when it differs do the
 *           two exchange the vector (by hashed ranges when there are many members).
 *
 * Thread rule: a registry belongs to its thread. */

#ifndef TROUPE_PUBSUB_REGISTRY_H
#define TROUPE_PUBSUB_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"
#include "pubsub/bucket.h"
#include "pubsub/registry_delta.h"
#include "pubsub/registry_state.h"

troupe_err_t trp_registry_init(trp_registry_t *registry, const trp_registry_options_t *options,
                               const trp_registry_sink_t *sink, trp_atoms_t *names, uint64_t now);
void trp_registry_fini(trp_registry_t *registry);

/* ---- this node's own entries ----------------------------------------------------------------- */

/* Sets the weight of an entry of this node; spread by the next flush. TROUPE_ENOMEM. */
troupe_err_t trp_registry_set(trp_registry_t *registry, const trp_atom_t *name,
                              const trp_atom_t *group, uint32_t weight, uint64_t now);
/* The version that the changes made so far have. */
static inline uint64_t trp_registry_version(const trp_registry_t *registry)
{
    return registry->own.version;
}
/* Counts the reachable members that have acknowledged `version`; the uids of up to `capacity` others
 * go to ret_missing and their count to ret_missing_len. */
uint32_t trp_registry_acked(const trp_registry_t *registry, uint64_t version, uint64_t *ret_missing,
                            uint32_t capacity, uint32_t *ret_missing_len);

/* ---- members --------------------------------------------------------------------------------- */

/* TROUPE_EEXIST; TROUPE_EREFUSED for a uid that was removed; TROUPE_EFULL; TROUPE_ENOMEM. */
troupe_err_t trp_registry_add_node(trp_registry_t *registry, uint64_t uid, uint64_t now);
/* The node is gone for good, and its bucket with it. */
void trp_registry_remove_node(trp_registry_t *registry, uint64_t uid);
void trp_registry_set_reachable(trp_registry_t *registry, uint64_t uid, bool is_reachable,
                                uint64_t now);
/* Whether every reachable member's bucket has been taken in once. */
bool trp_registry_is_synced(const trp_registry_t *registry);
/* ---- messages and time ----------------------------------------------------------------------- */

/* Takes in a message of the member that the link says it is from. Errors are counted, and only told
 * for the log: TROUPE_EPROTOCOL, TROUPE_EREFUSED (forged, or a stranger), TROUPE_EFULL, ... */
troupe_err_t trp_registry_receive(trp_registry_t *registry, uint64_t peer, trp_view_t bytes,
                                  uint64_t now);
/* Says that the peer's changes up to `version` are in effect here. */
void trp_registry_ack(trp_registry_t *registry, uint64_t peer, uint64_t version);
/* Gossips, probes, prunes. Returns when it wants to be called again. */
uint64_t trp_registry_tick(trp_registry_t *registry, uint64_t now);

#endif
