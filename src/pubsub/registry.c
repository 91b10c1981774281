/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry's members, messages and time. */

#include "pubsub/registry.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "pubsub/registry_vector.h"

#define REGISTRY_TOMBSTONES_MAX 200000u
#define REGISTRY_ENTRIES_MAX (1u << 22)
#define REGISTRY_GOSSIP_NS TRP_NS_PER_S
#define REGISTRY_TOMBSTONE_NS (120 * TRP_NS_PER_S)

static void registry_default_u64(uint64_t *option, uint64_t value)
{
    *option = *option != 0 ? *option : value;
}

static void registry_default_u32(uint32_t *option, uint32_t value)
{
    *option = *option != 0 ? *option : value;
}

troupe_err_t trp_registry_init(trp_registry_t *registry, const trp_registry_options_t *options,
                               const trp_registry_sink_t *sink, trp_atoms_t *names, uint64_t now)
{
    TRP_ASSERT(options->self != 0);
    TRP_ASSERT(options->delta_len_max <= TRP_GOSSIP_ELEMENTS_MAX);
    TRP_ASSERT(options->delta_size_max <= TRP_GOSSIP_DELTA_SIZE_MAX);
    memset(registry, 0, sizeof(*registry));
    registry->options = *options;
    registry->sink = *sink;
    registry->names = names;
    registry_default_u64(&registry->options.gossip_interval_ns, REGISTRY_GOSSIP_NS);
    registry_default_u64(&registry->options.tombstone_ns, REGISTRY_TOMBSTONE_NS);
    registry_default_u32(&registry->options.delta_len_max, TRP_GOSSIP_ELEMENTS_MAX);
    registry_default_u32(&registry->options.delta_size_max, TRP_GOSSIP_DELTA_SIZE_MAX);
    registry_default_u32(&registry->options.tombstones_max, REGISTRY_TOMBSTONES_MAX);
    registry_default_u32(&registry->options.entries_max, REGISTRY_ENTRIES_MAX);
    trp_random_seed(&registry->random, options->seed);
    trp_bucket_init(&registry->own, names);
    trp_map_init(&registry->peer_map);
    trp_buf_init(&registry->out, TRP_GOSSIP_SIZE_MAX);
    registry->gossip_at = now + registry->options.gossip_interval_ns;
    /* All of it at once: from then on no message fails for want of memory. */
    return trp_buf_reserve(&registry->out, TRP_GOSSIP_SIZE_MAX);
}

void trp_registry_fini(trp_registry_t *registry)
{
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        trp_bucket_fini(&registry->peers[i]->bucket);
        trp_free(registry->peers[i]);
    }
    trp_free(registry->peers);
    trp_map_fini(&registry->peer_map);
    if (registry->names != NULL) {
        trp_bucket_fini(&registry->own);
    }
    trp_buf_fini(&registry->out);
    memset(registry, 0, sizeof(*registry));
}

/* ---- own entries ----------------------------------------------------------------------------- */

troupe_err_t trp_registry_set(trp_registry_t *registry, const trp_atom_t *name,
                              const trp_atom_t *group, uint32_t weight, uint64_t now)
{
    TRP_ASSERT(name != NULL);
    TRP_ASSERT(name->space != TRP_SPACE_GROUP);
    uint32_t bounded = weight < TRP_GOSSIP_WEIGHT_MAX ? weight : TRP_GOSSIP_WEIGHT_MAX;
    return trp_bucket_write(&registry->own, name, group, bounded, now);
}

uint32_t trp_registry_acked(const trp_registry_t *registry, uint64_t version, uint64_t *ret_missing,
                            uint32_t capacity, uint32_t *ret_missing_len)
{
    uint32_t acked = 0;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        const trp_registry_peer_t *peer = registry->peers[i];
        if (!peer->is_reachable) {
            continue;
        }
        if (peer->acked >= version) {
            acked++;
            continue;
        }
        if (missing < capacity) {
            ret_missing[missing] = peer->uid;
        }
        missing++;
    }
    *ret_missing_len = missing;
    return acked;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool registry_is_gone(const trp_registry_t *registry, uint64_t uid)
{
    for (uint32_t i = 0; i < TRP_REGISTRY_GONE_MAX; i++) {
        if (registry->gone[i] == uid) {
            return true;
        }
    }
    return false;
}

static troupe_err_t registry_reserve(trp_registry_t *registry)
{
    if (registry->peer_len < registry->peer_capacity) {
        return TROUPE_OK;
    }
    uint32_t capacity = registry->peer_capacity == 0 ? 8 : registry->peer_capacity * 2;
    trp_registry_peer_t **peers =
        trp_realloc(registry->peers, capacity * sizeof(trp_registry_peer_t *));
    if (peers == NULL) {
        return TROUPE_ENOMEM;
    }
    registry->peers = peers;
    registry->peer_capacity = capacity;
    return TROUPE_OK;
}

static troupe_err_t registry_make_peer(trp_registry_t *registry, uint64_t uid,
                                       trp_registry_peer_t **ret_peer)
{
    troupe_err_t err = registry_reserve(registry);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_registry_peer_t *peer = trp_calloc(1, sizeof(*peer));
    if (peer == NULL) {
        return TROUPE_ENOMEM;
    }
    err = trp_map_put(&registry->peer_map, uid, (uint64_t)(uintptr_t)peer);
    if (err != TROUPE_OK) {
        trp_free(peer);
        return err;
    }
    peer->uid = uid;
    trp_bucket_init(&peer->bucket, registry->names);
    registry->peers[registry->peer_len++] = peer;
    *ret_peer = peer;
    return TROUPE_OK;
}

troupe_err_t trp_registry_add_node(trp_registry_t *registry, uint64_t uid, uint64_t now)
{
    TRP_ASSERT(uid != 0);
    TRP_ASSERT(uid != registry->options.self);
    trp_registry_peer_t *peer = NULL;
    if (trp_registry_peer(registry, uid) != NULL) {
        return TROUPE_EEXIST;
    }
    if (registry_is_gone(registry, uid)) {
        return TROUPE_EREFUSED;
    }
    if (registry->peer_len >= TRP_REGISTRY_NODES_MAX) {
        return TROUPE_EFULL;
    }
    troupe_err_t err = registry_make_peer(registry, uid, &peer);
    if (err != TROUPE_OK) {
        return err;
    }
    peer->is_reachable = true;
    trp_registry_want(registry, peer, now);
    trp_registry_probe(registry, peer, now);
    registry->sink.acked(registry->sink.context);
    return TROUPE_OK;
}

void trp_registry_remove_node(trp_registry_t *registry, uint64_t uid)
{
    trp_registry_peer_t *peer = trp_registry_peer(registry, uid);
    if (peer == NULL) {
        return;
    }
    TRP_MAP_FOREACH(item, &peer->bucket.map)
    {
        const trp_registry_entry_t *entry = trp_bucket_entry(item);
        registry->sink.entry(registry->sink.context, uid, entry->name, entry->group, 0);
    }
    registry->entry_len -= peer->bucket.live_len;
    (void)trp_map_remove(&registry->peer_map, uid, NULL);
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        if (registry->peers[i] == peer) {
            registry->peer_len--;
            registry->peers[i] = registry->peers[registry->peer_len];
            break;
        }
    }
    trp_bucket_fini(&peer->bucket);
    trp_free(peer);
    registry->gone[registry->gone_at] = uid;
    registry->gone_at = (registry->gone_at + 1) % TRP_REGISTRY_GONE_MAX;
    registry->sink.acked(registry->sink.context);
}

void trp_registry_set_reachable(trp_registry_t *registry, uint64_t uid, bool is_reachable,
                                uint64_t now)
{
    trp_registry_peer_t *peer = trp_registry_peer(registry, uid);
    if (peer == NULL || peer->is_reachable == is_reachable) {
        return;
    }
    peer->is_reachable = is_reachable;
    if (is_reachable) {
        peer->want_until = 0;
        trp_registry_want(registry, peer, now);
        trp_registry_probe(registry, peer, now);
    }
    registry->sink.acked(registry->sink.context);
}

bool trp_registry_is_synced(const trp_registry_t *registry)
{
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        if (registry->peers[i]->is_reachable && !registry->peers[i]->is_synced) {
            return false;
        }
    }
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void registry_on_ack(trp_registry_t *registry, trp_registry_peer_t *peer,
                            const trp_gossip_t *ack)
{
    /* Nobody can have what was never published. */
    if (ack->to > peer->acked && ack->to <= registry->own.version) {
        peer->acked = ack->to;
        registry->sink.acked(registry->sink.context);
    }
}

static troupe_err_t registry_take(trp_registry_t *registry, trp_registry_peer_t *peer,
                                  const trp_gossip_t *gossip, uint64_t now)
{
    switch (gossip->kind) {
    case TRP_GOSSIP_DIGEST:
        trp_registry_on_digest(registry, peer, gossip);
        return TROUPE_OK;
    case TRP_GOSSIP_RANGE_HASHES:
        trp_registry_on_ranges(registry, peer, gossip);
        return TROUPE_OK;
    case TRP_GOSSIP_VECTOR:
        trp_registry_on_vector(registry, peer, gossip, now);
        return TROUPE_OK;
    case TRP_GOSSIP_WANT:
        trp_registry_on_want(registry, peer, gossip);
        return TROUPE_OK;
    case TRP_GOSSIP_DELTA:
        return trp_registry_on_delta(registry, peer, gossip, now);
    case TRP_GOSSIP_ACK:
        registry_on_ack(registry, peer, gossip);
        return TROUPE_OK;
    }
    return TROUPE_EPROTOCOL;
}

troupe_err_t trp_registry_receive(trp_registry_t *registry, uint64_t uid, trp_view_t bytes,
                                  uint64_t now)
{
    trp_gossip_t gossip;
    trp_registry_peer_t *peer = trp_registry_peer(registry, uid);
    registry->counts.bytes_received += bytes.size;
    if (peer == NULL) {
        registry->counts.refused_stranger++;
        return TROUPE_EREFUSED;
    }
    troupe_err_t err = trp_gossip_decode(bytes, &gossip);
    if (err != TROUPE_OK) {
        registry->counts.refused_malformed++;
        return err;
    }
    err = registry_take(registry, peer, &gossip, now);
    trp_gossip_fini(&gossip);
    return err;
}

void trp_registry_ack(trp_registry_t *registry, uint64_t uid, uint64_t version)
{
    const trp_registry_peer_t *peer = trp_registry_peer(registry, uid);
    if (peer == NULL) {
        return;
    }
    trp_buf_clear(&registry->out);
    if (trp_gossip_put_ack(&registry->out, version) == TROUPE_OK) {
        trp_registry_send(registry, peer);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

/* One digest to one member that can be reached, chosen at random. */
static void registry_gossip(trp_registry_t *registry)
{
    uint32_t reachable = 0;
    const trp_registry_peer_t *chosen = NULL;
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        if (!registry->peers[i]->is_reachable) {
            continue;
        }
        reachable++;
        if (trp_random_below(&registry->random, reachable) == 0) {
            chosen = registry->peers[i];
        }
    }
    if (chosen != NULL) {
        trp_registry_send_digest(registry, chosen);
    }
}

/* The newest version that every member has, reachable or not. */
static uint64_t registry_acked_by_all(const trp_registry_t *registry)
{
    uint64_t version = registry->own.version;
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        if (registry->peers[i]->acked < version) {
            version = registry->peers[i]->acked;
        }
    }
    return version;
}

static uint64_t registry_tick_peer(trp_registry_t *registry, trp_registry_peer_t *peer,
                                   uint64_t now)
{
    uint64_t next = UINT64_MAX;
    if (!peer->is_reachable) {
        return next;
    }
    if (peer->acked < registry->own.version) {
        if (now >= peer->probe_at) {
            trp_registry_probe(registry, peer, now);
        }
        next = peer->probe_at;
    }
    if (peer->bucket.version < peer->head || !peer->is_synced) {
        trp_registry_want(registry, peer, now);
        next = peer->want_until < next ? peer->want_until : next;
    }
    return next;
}

uint64_t trp_registry_tick(trp_registry_t *registry, uint64_t now)
{
    if (now >= registry->gossip_at) {
        registry_gossip(registry);
        registry->gossip_at = now + registry->options.gossip_interval_ns;
    }
    uint64_t next = registry->gossip_at;
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        uint64_t peer_next = registry_tick_peer(registry, registry->peers[i], now);
        next = peer_next < next ? peer_next : next;
    }
    trp_bucket_prune(&registry->own, registry_acked_by_all(registry), now,
                     registry->options.tombstone_ns, registry->options.tombstones_max);
    return next;
}
