/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Deltas of buckets.
 *
 * Thread rule: a registry belongs to its thread. */

#ifndef TROUPE_PUBSUB_REGISTRY_DELTA_H
#define TROUPE_PUBSUB_REGISTRY_DELTA_H

#include "pubsub/codec.h"
#include "pubsub/registry_state.h"

/* Pushes what is new to every reachable member. */
void trp_registry_flush(trp_registry_t *registry, uint64_t now);

/* Asks the peer for what our copy of its bucket misses, unless an answer is awaited already. */
void trp_registry_want(trp_registry_t *registry, trp_registry_peer_t *peer, uint64_t now);

/* Sends the newest version without elements, which the peer acknowledges or finds a gap before. */
void trp_registry_probe(trp_registry_t *registry, trp_registry_peer_t *peer, uint64_t now);

void trp_registry_on_want(trp_registry_t *registry, trp_registry_peer_t *peer,
                          const trp_gossip_t *want);
troupe_err_t trp_registry_on_delta(trp_registry_t *registry, trp_registry_peer_t *peer,
                                   const trp_gossip_t *delta, uint64_t now);

#endif
