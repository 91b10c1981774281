/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Deltas: what an owner tells of its bucket, and how a copy takes it in. */

#include "pubsub/registry_delta.h"

#include <string.h>

#include "base/assert.h"

/* ---- telling --------------------------------------------------------------------------------- */

/* How many entries from `at` on fit into one delta; the version they reach goes to delta->to. */
static void delta_measure(const trp_registry_t *registry, size_t at, trp_gossip_t *delta)
{
    const trp_bucket_t *own = &registry->own;
    size_t size = 0;
    delta->to = delta->from;
    for (; at < own->log_len && delta->len < registry->options.delta_len_max; at++) {
        const trp_registry_entry_t *entry = own->log[at].entry;
        if (entry == NULL) {
            continue;
        }
        size += trp_gossip_element_size(entry->name->size,
                                        entry->group != NULL ? entry->group->size : 0);
        if (size > registry->options.delta_size_max && delta->len > 0) {
            return;
        }
        delta->len++;
        delta->to = entry->version;
    }
    if (at == own->log_len) {
        delta->to = own->version;
    }
}

static troupe_err_t delta_put_entry(trp_buf_t *out, const trp_registry_entry_t *entry)
{
    trp_gossip_element_t element = {
        .name = trp_atom_view(entry->name),
        .group = entry->group != NULL ? trp_atom_view(entry->group) : trp_view_make(NULL, 0),
        .version = entry->version,
        .weight = entry->weight,
        .space = (trp_space_t)entry->name->space,
    };
    return trp_gossip_put_element(out, &element);
}

/* Encodes the entries after `delta->from` into the scratch buffer. */
static troupe_err_t delta_encode(trp_registry_t *registry, trp_gossip_t *delta)
{
    const trp_bucket_t *own = &registry->own;
    size_t at = trp_bucket_after(own, delta->from);
    delta->kind = TRP_GOSSIP_DELTA;
    delta->owner = registry->options.self;
    delta->head = own->version;
    delta->floor = own->floor;
    delta_measure(registry, at, delta);
    trp_buf_clear(&registry->out);
    troupe_err_t err = trp_gossip_put_delta(&registry->out, delta);
    for (uint32_t put = 0; err == TROUPE_OK && put < delta->len; at++) {
        TRP_ASSERT(at < own->log_len);
        if (own->log[at].entry != NULL) {
            err = delta_put_entry(&registry->out, own->log[at].entry);
            put++;
        }
    }
    return err;
}

void trp_registry_flush(trp_registry_t *registry, uint64_t now)
{
    trp_gossip_t delta;
    memset(&delta, 0, sizeof(delta));
    delta.from = registry->pushed;
    if (registry->pushed == registry->own.version) {
        return;
    }
    registry->pushed = registry->own.version;
    if (registry->peer_len == 0 || delta.from < registry->own.floor ||
        delta_encode(registry, &delta) != TROUPE_OK) {
        return; /* The probe finds out who misses what. */
    }
    for (uint32_t i = 0; i < registry->peer_len; i++) {
        trp_registry_peer_t *peer = registry->peers[i];
        if (peer->is_reachable) {
            trp_registry_send(registry, peer);
            peer->probe_at = now + registry->options.gossip_interval_ns;
        }
    }
}

void trp_registry_probe(trp_registry_t *registry, trp_registry_peer_t *peer, uint64_t now)
{
    trp_gossip_t delta;
    memset(&delta, 0, sizeof(delta));
    delta.from = registry->own.version;
    peer->probe_at = now + registry->options.gossip_interval_ns;
    if (delta_encode(registry, &delta) == TROUPE_OK) {
        trp_registry_send(registry, peer);
    }
}

void trp_registry_on_want(trp_registry_t *registry, trp_registry_peer_t *peer,
                          const trp_gossip_t *want)
{
    trp_gossip_t delta;
    memset(&delta, 0, sizeof(delta));
    const trp_bucket_t *own = &registry->own;
    /* A copy that ends below the floor, and whose last full transfer began below it, may hold entries
     * whose tombstones are gone. A version that we never had belongs to nothing we know. */
    delta.is_full =
        (want->from < own->floor && want->floor < own->floor) || want->from > own->version;
    delta.from = delta.is_full ? 0 : want->from;
    delta.nonce = want->nonce;
    if (delta_encode(registry, &delta) == TROUPE_OK) {
        trp_registry_send(registry, peer);
    }
}

/* ---- taking in ------------------------------------------------------------------------------- */

void trp_registry_want(trp_registry_t *registry, trp_registry_peer_t *peer, uint64_t now)
{
    if (!peer->is_reachable || now < peer->want_until) {
        return;
    }
    registry->next_nonce = registry->next_nonce == UINT32_MAX ? 1 : registry->next_nonce + 1;
    peer->want_nonce = registry->next_nonce;
    peer->want_until = now + registry->options.gossip_interval_ns;
    trp_buf_clear(&registry->out);
    if (trp_gossip_put_want(&registry->out, peer->bucket.version, peer->bucket.floor,
                            peer->want_nonce) == TROUPE_OK) {
        trp_registry_send(registry, peer);
    }
}

static void delta_begin_full(trp_registry_peer_t *peer, const trp_gossip_t *delta)
{
    TRP_MAP_FOREACH(item, &peer->bucket.map)
    {
        trp_bucket_entry(item)->is_stale = true;
    }
    peer->bucket.version = 0;
    peer->bucket.floor = delta->floor;
    peer->is_sweeping = true;
}

/* One walk over the map, dropping stale entries. Backwards, since closing a hole moves later entries
 * forward; one that wraps round the end may be missed, so the caller walks until nothing is found. */
static size_t delta_sweep(trp_registry_t *registry, trp_registry_peer_t *peer)
{
    size_t dropped = 0;
    size_t at = peer->bucket.map.entries != NULL ? peer->bucket.map.mask + 1 : 0;
    while (at-- > 0) {
        const trp_map_entry_t *item = &peer->bucket.map.entries[at];
        if (item->key == 0 || !trp_bucket_entry(item)->is_stale) {
            continue;
        }
        trp_registry_entry_t *stale = trp_bucket_entry(item);
        registry->sink.entry(registry->sink.context, peer->uid, stale->name, stale->group, 0);
        trp_bucket_drop(&peer->bucket, stale);
        registry->entry_len--;
        dropped++;
    }
    return dropped;
}

/* Drops what the full transfer did not tell again. */
static void delta_end_full(trp_registry_t *registry, trp_registry_peer_t *peer)
{
    while (delta_sweep(registry, peer) > 0) {
    }
    peer->is_sweeping = false;
}

static troupe_err_t delta_intern(trp_registry_t *registry, const trp_gossip_element_t *element,
                                 const trp_atom_t **ret_name, const trp_atom_t **ret_group)
{
    /* A tombstone needs no new names: what was never heard of can't be taken away. */
    troupe_err_t (*intern)(trp_atoms_t *, trp_space_t, trp_view_t, const trp_atom_t **) =
        element->weight == 0 ? trp_atoms_find : trp_atoms_intern;
    troupe_err_t err = intern(registry->names, element->space, element->name, ret_name);
    if (err == TROUPE_OK && element->group.size > 0) {
        err = intern(registry->names, TRP_SPACE_GROUP, element->group, ret_group);
        if (err != TROUPE_OK) {
            trp_atoms_unref(registry->names, ret_name);
        }
    }
    return err;
}

static troupe_err_t delta_apply_named(trp_registry_t *registry, trp_registry_peer_t *peer,
                                      const trp_gossip_element_t *element, const trp_atom_t *name,
                                      const trp_atom_t *group)
{
    const trp_registry_entry_t *entry = trp_bucket_find(&peer->bucket, name, group);
    uint32_t old = entry != NULL ? entry->weight : 0;
    if (old == 0 && element->weight != 0 && registry->entry_len >= registry->options.entries_max) {
        return TROUPE_EFULL;
    }
    troupe_err_t err =
        trp_bucket_copy(&peer->bucket, name, group, element->weight, element->version);
    if (err != TROUPE_OK) {
        return err;
    }
    registry->entry_len += old == 0 && element->weight != 0 ? 1 : 0;
    registry->entry_len -= old != 0 && element->weight == 0 ? 1 : 0;
    if (old != element->weight) {
        registry->sink.entry(registry->sink.context, peer->uid, name, group, element->weight);
    }
    return TROUPE_OK;
}

static troupe_err_t delta_apply(trp_registry_t *registry, trp_registry_peer_t *peer,
                                const trp_gossip_element_t *element)
{
    const trp_atom_t *name = NULL;
    const trp_atom_t *group = NULL;
    troupe_err_t err = delta_intern(registry, element, &name, &group);
    if (err == TROUPE_ENOENT) {
        return TROUPE_OK;
    }
    if (err != TROUPE_OK) {
        return err;
    }
    err = delta_apply_named(registry, peer, element, name, group);
    trp_atoms_unref(registry->names, &name);
    trp_atoms_unref(registry->names, &group);
    return err;
}

/* Takes the elements that are newer than the copy. Stops where there is no room: the copy then ends
 * there, and the rest is asked for again later. */
static troupe_err_t delta_take(trp_registry_t *registry, trp_registry_peer_t *peer,
                               const trp_gossip_t *delta)
{
    trp_gossip_element_t element;
    for (uint32_t i = 0; i < delta->len; i++) {
        trp_gossip_element(delta, i, &element);
        if (element.version <= peer->bucket.version) {
            continue;
        }
        troupe_err_t err = delta_apply(registry, peer, &element);
        if (err != TROUPE_OK) {
            registry->counts.refused_full++;
            return err;
        }
        registry->counts.elements_received++;
        peer->bucket.version = element.version;
    }
    peer->bucket.version = delta->to;
    return TROUPE_OK;
}

/* The copy has grown to delta->to without a gap. */
static void delta_taken(trp_registry_t *registry, trp_registry_peer_t *peer,
                        const trp_gossip_t *delta, uint64_t now)
{
    if (peer->is_sweeping && delta->to == delta->head) {
        delta_end_full(registry, peer);
    }
    if (peer->bucket.version < peer->head) {
        trp_registry_want(registry, peer, now);
    } else {
        peer->is_synced = true;
    }
    if (!peer->is_sweeping) {
        registry->sink.received(registry->sink.context, peer->uid, peer->bucket.version);
    }
}

troupe_err_t trp_registry_on_delta(trp_registry_t *registry, trp_registry_peer_t *peer,
                                   const trp_gossip_t *delta, uint64_t now)
{
    bool is_answer = delta->nonce != 0 && delta->nonce == peer->want_nonce && peer->want_until != 0;
    if (delta->owner != peer->uid) {
        registry->counts.refused_forged++;
        return TROUPE_EREFUSED;
    }
    if (delta->is_full && !is_answer) {
        return TROUPE_OK; /* A late copy of an old answer. */
    }
    if (is_answer) {
        /* The owner's word replaces what others hinted at. */
        peer->want_until = 0;
        peer->head = delta->head;
    } else if (delta->head > peer->head) {
        peer->head = delta->head;
    }
    if (delta->is_full) {
        delta_begin_full(peer, delta);
    }
    if (delta->from > peer->bucket.version) {
        trp_registry_want(registry, peer, now);
        return TROUPE_OK;
    }
    if (delta->to < peer->bucket.version) {
        return TROUPE_OK;
    }
    troupe_err_t err = delta_take(registry, peer, delta);
    if (err == TROUPE_OK) {
        delta_taken(registry, peer, delta, now);
    }
    return err;
}
