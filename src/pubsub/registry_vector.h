/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Digests and version vectors.
 *
 * Thread rule: a registry belongs to its thread. */

#ifndef TROUPE_PUBSUB_REGISTRY_VECTOR_H
#define TROUPE_PUBSUB_REGISTRY_VECTOR_H

#include "pubsub/codec.h"
#include "pubsub/registry_state.h"

void trp_registry_send_digest(trp_registry_t *registry, const trp_registry_peer_t *peer);
void trp_registry_on_digest(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *digest);
void trp_registry_on_ranges(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *ranges);
void trp_registry_on_vector(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *vector, uint64_t now);

#endif
