/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Digests and version vectors: how two members find out that one of them has missed something. */

#include "pubsub/registry_vector.h"

#include <string.h>

#include "base/hash.h"
#include "pubsub/registry_delta.h"

#define VECTOR_DIRECT_MAX                                                                          \
    32u /* Members up to which the vector is sent without asking for ranges. */
#define VECTOR_RANGE_BITS 6u

_Static_assert(1u << VECTOR_RANGE_BITS == TRP_GOSSIP_RANGES, "a range is some bits of a hash");

static uint64_t vector_hash(uint64_t uid, uint64_t version)
{
    return trp_hash_u64(uid ^ trp_hash_u64(version + 1));
}

static uint32_t vector_range(uint64_t uid)
{
    return (uint32_t)(trp_hash_u64(uid) >> (64 - VECTOR_RANGE_BITS));
}

static bool vector_in_mask(uint64_t uid, uint64_t mask)
{
    return (mask >> vector_range(uid) & 1) != 0;
}

void trp_registry_send_digest(trp_registry_t *registry, const trp_registry_peer_t *peer)
{
    uint64_t hash = vector_hash(registry->options.self, registry->own.version);
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        hash ^= vector_hash(registry->peers[i]->uid, registry->peers[i]->bucket.version);
    }
    trp_buf_clear(&registry->out);
    if (trp_gossip_put_digest(&registry->out, hash, registry->peer_len + 1) == TROUPE_OK) {
        registry->counts.digests_sent++;
        trp_registry_send(registry, peer);
    }
}

static void vector_ranges(const trp_registry_t *registry, uint64_t hashes[TRP_GOSSIP_RANGES])
{
    memset(hashes, 0, TRP_GOSSIP_RANGES * sizeof(*hashes));
    uint64_t self = registry->options.self;
    hashes[vector_range(self)] ^= vector_hash(self, registry->own.version);
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        const trp_registry_peer_t *peer = registry->peers[i];
        hashes[vector_range(peer->uid)] ^= vector_hash(peer->uid, peer->bucket.version);
    }
}

static uint32_t vector_len(const trp_registry_t *registry, uint64_t mask)
{
    uint32_t len = vector_in_mask(registry->options.self, mask) ? 1 : 0;
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        len += vector_in_mask(registry->peers[i]->uid, mask) ? 1 : 0;
    }
    return len;
}

/* Sends the vector in the ranges of the mask; ranges that don't fit wait for the next digest. */
static void vector_send(trp_registry_t *registry, const trp_registry_peer_t *to, bool is_reply,
                        uint64_t mask)
{
    while (vector_len(registry, mask) > TRP_GOSSIP_VECTOR_LEN_MAX) {
        mask &= mask - 1;
    }
    trp_buf_t *out = &registry->out;
    trp_buf_clear(out);
    troupe_err_t err = trp_gossip_put_vector(out, is_reply, mask, vector_len(registry, mask));
    if (err == TROUPE_OK && vector_in_mask(registry->options.self, mask)) {
        err = trp_gossip_put_pair(out, registry->options.self, registry->own.version);
    }
    for (uint32_t i = 0; err == TROUPE_OK && i < registry->peer_len; i++) {
        const trp_registry_peer_t *peer = registry->peers[i];
        if (vector_in_mask(peer->uid, mask)) {
            err = trp_gossip_put_pair(out, peer->uid, peer->bucket.version);
        }
    }
    if (err == TROUPE_OK) {
        trp_registry_send(registry, to);
    }
}

void trp_registry_on_digest(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *digest)
{
    uint64_t hashes[TRP_GOSSIP_RANGES];
    uint64_t hash = 0;
    vector_ranges(registry, hashes);
    for (uint32_t i = 0; i < TRP_GOSSIP_RANGES; i++) {
        hash ^= hashes[i];
    }
    if (hash == digest->hash && digest->count == registry->peer_len + 1) {
        return;
    }
    if (registry->peer_len < VECTOR_DIRECT_MAX) {
        vector_send(registry, peer, false, UINT64_MAX);
        return;
    }
    trp_buf_clear(&registry->out);
    if (trp_gossip_put_ranges(&registry->out, hashes) == TROUPE_OK) {
        trp_registry_send(registry, peer);
    }
}

void trp_registry_on_ranges(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *ranges)
{
    uint64_t hashes[TRP_GOSSIP_RANGES];
    uint64_t mask = 0;
    vector_ranges(registry, hashes);
    for (uint32_t i = 0; i < TRP_GOSSIP_RANGES; i++) {
        if (hashes[i] != trp_gossip_range(ranges, i)) {
            mask |= UINT64_C(1) << i;
        }
    }
    if (mask != 0) {
        vector_send(registry, peer, false, mask);
    }
}

/* Another member says how far the bucket of `uid` has come. Returns whether we know of more. */
static bool vector_hint(trp_registry_t *registry, trp_registry_peer_t *from, uint64_t uid,
                        uint64_t version, uint64_t now)
{
    if (uid == registry->options.self) {
        if (version < registry->own.version) {
            trp_registry_probe(registry, from, now);
        }
        return false;
    }
    trp_registry_peer_t *peer = trp_registry_peer(registry, uid);
    if (peer == NULL) {
        return false;
    }
    if (version > peer->head) {
        peer->head = version;
    }
    if (version > peer->bucket.version) {
        trp_registry_want(registry, peer, now);
    }
    return version < peer->bucket.version;
}

void trp_registry_on_vector(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *vector, uint64_t now)
{
    bool is_news = vector->len < vector_len(registry, vector->mask);
    for (uint32_t i = 0; i < vector->len; i++) {
        uint64_t uid = 0;
        uint64_t version = 0;
        trp_gossip_pair(vector, i, &uid, &version);
        is_news = vector_hint(registry, peer, uid, version, now) || is_news;
    }
    if (is_news && !vector->is_reply) {
        vector_send(registry, peer, true, vector->mask);
    }
}
