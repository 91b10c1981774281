/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the registry's own files share. */

#ifndef TROUPE_PUBSUB_REGISTRY_PARTS_H
#define TROUPE_PUBSUB_REGISTRY_PARTS_H

#include "pubsub/codec.h"
#include "pubsub/registry.h"

/* Sends what was encoded to the scratch buffer. */
void trp_registry_send(trp_registry_t *registry, const trp_registry_peer_t *peer);

/* Asks the peer for what our copy of its bucket misses, unless an answer is awaited already. */
void trp_registry_want(trp_registry_t *registry, trp_registry_peer_t *peer, uint64_t now);

/* Sends the newest version without elements, which the peer acknowledges or finds a gap before. */
void trp_registry_probe(trp_registry_t *registry, trp_registry_peer_t *peer, uint64_t now);

void trp_registry_on_want(trp_registry_t *registry, trp_registry_peer_t *peer,
                          const trp_gossip_t *want);
troupe_err_t trp_registry_on_delta(trp_registry_t *registry, trp_registry_peer_t *peer,
                                   const trp_gossip_t *delta, uint64_t now);

void trp_registry_send_digest(trp_registry_t *registry, const trp_registry_peer_t *peer);
void trp_registry_on_digest(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *digest);
void trp_registry_on_ranges(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *ranges);
void trp_registry_on_vector(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *vector, uint64_t now);

#endif
