/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry of peers: who is known, and who is gone for good. */

#include "net/link/peer.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- references ------------------------------------------------------------------------------ */

void trp_peer_unref(trp_peer_t **peer_p)
{
    trp_peer_t *peer = *peer_p;
    *peer_p = NULL;
    /* Acquire and release: whoever is last sees what all others did with it. */
    if (peer != NULL && atomic_fetch_sub_explicit(&peer->refs, 1, memory_order_acq_rel) == 1) {
        TRP_ASSERT(peer->ordinary.first == NULL && peer->control.first == NULL);
        TRP_ASSERT(peer->bulk_out.first == NULL && peer->bulk_in.first == NULL);
        trp_free(peer);
    }
}

/* ---- the registry ---------------------------------------------------------------------------- */

troupe_err_t trp_peers_init(trp_peers_t *registry, uint64_t seed)
{
    trp_table_init(&registry->peers, seed, TRP_LINK_PEERS_MAX);
    registry->dead_len = 0;
    registry->dead_at = 0;
    return pthread_mutex_init(&registry->mutex, NULL) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

void trp_peers_fini(trp_peers_t *registry)
{
    TRP_ASSERT(trp_table_len(&registry->peers) == 0);
    trp_table_fini(&registry->peers);
    (void)pthread_mutex_destroy(&registry->mutex);
}

static trp_peer_t *registry_find(trp_peers_t *registry, uint64_t uid)
{
    trp_table_entry_t *entry = trp_table_find(&registry->peers, &uid, sizeof(uid));
    return entry != NULL ? TRP_CONTAINER_OF(entry, trp_peer_t, entry) : NULL;
}

trp_peer_t *trp_peers_find(trp_peers_t *registry, uint64_t uid)
{
    (void)pthread_mutex_lock(&registry->mutex);
    trp_peer_t *peer = registry_find(registry, uid);
    if (peer != NULL) {
        (void)trp_peer_ref(peer);
    }
    (void)pthread_mutex_unlock(&registry->mutex);
    return peer;
}

static bool registry_is_dead(const trp_peers_t *registry, uint64_t uid)
{
    for (uint32_t i = 0; i < registry->dead_len; i++) {
        if (registry->dead[i] == uid) {
            return true;
        }
    }
    return false;
}

bool trp_peers_is_dead(trp_peers_t *registry, uint64_t uid)
{
    (void)pthread_mutex_lock(&registry->mutex);
    bool is_dead = registry_is_dead(registry, uid);
    (void)pthread_mutex_unlock(&registry->mutex);
    return is_dead;
}

static trp_peer_t *peer_new(trp_link_t *link, uint64_t uid)
{
    trp_peer_t *peer = trp_alloc_aligned(TRP_CACHE_LINE, sizeof(*peer));
    if (peer == NULL) {
        return NULL;
    }
    memset(peer, 0, sizeof(*peer));
    peer->uid = uid;
    peer->link = link;
    atomic_init(&peer->refs, 1);
    atomic_init(&peer->state, (uint32_t)TRP_LINK_CONNECTING);
    atomic_init(&peer->is_stalled, true);
    atomic_init(&peer->epoch, 1);
    atomic_init(&peer->bulk_next, 1);
    trp_stream_init(&peer->ordinary);
    trp_stream_init(&peer->control);
    trp_bulk_queue_init(&peer->bulk_out);
    trp_bulk_set_init(&peer->bulk_in);
    return peer;
}

static troupe_err_t registry_get(trp_peers_t *registry, trp_link_t *link, uint64_t uid,
                                 trp_peer_t **ret_peer)
{
    trp_peer_t *peer = registry_find(registry, uid);
    if (peer == NULL) {
        if (registry_is_dead(registry, uid)) {
            return TROUPE_ESTOPPED;
        }
        peer = peer_new(link, uid);
        if (peer == NULL) {
            return TROUPE_ENOMEM;
        }
        troupe_err_t err =
            trp_table_add(&registry->peers, &peer->entry, &peer->uid, sizeof(peer->uid));
        if (err != TROUPE_OK) {
            trp_peer_unref(&peer);
            return err;
        }
    }
    *ret_peer = trp_peer_ref(peer);
    return TROUPE_OK;
}

troupe_err_t trp_peers_get(trp_peers_t *registry, trp_link_t *link, uint64_t uid,
                           trp_peer_t **ret_peer)
{
    TRP_ASSERT(uid != 0);
    (void)pthread_mutex_lock(&registry->mutex);
    troupe_err_t err = registry_get(registry, link, uid, ret_peer);
    (void)pthread_mutex_unlock(&registry->mutex);
    return err;
}

static void registry_ban(trp_peers_t *registry, uint64_t uid)
{
    if (registry_is_dead(registry, uid)) {
        return;
    }
    registry->dead[registry->dead_at] = uid;
    registry->dead_at = (registry->dead_at + 1) % TRP_LINK_DEAD_MAX;
    if (registry->dead_len < TRP_LINK_DEAD_MAX) {
        registry->dead_len++;
    }
}

void trp_peers_ban(trp_peers_t *registry, uint64_t uid)
{
    (void)pthread_mutex_lock(&registry->mutex);
    registry_ban(registry, uid);
    (void)pthread_mutex_unlock(&registry->mutex);
}

void trp_peers_bury(trp_peers_t *registry, trp_peer_t *peer)
{
    (void)pthread_mutex_lock(&registry->mutex);
    TRP_ASSERT(registry_find(registry, peer->uid) == peer);
    trp_table_remove(&registry->peers, &peer->entry);
    registry_ban(registry, peer->uid);
    (void)pthread_mutex_unlock(&registry->mutex);
    trp_peer_unref(&peer);
}

void trp_peers_visit(trp_peers_t *registry, void (*fn)(trp_peer_t *peer, void *context),
                     void *context)
{
    (void)pthread_mutex_lock(&registry->mutex);
    TRP_TABLE_FOREACH (entry, &registry->peers) {
        fn(TRP_CONTAINER_OF(entry, trp_peer_t, entry), context);
    }
    (void)pthread_mutex_unlock(&registry->mutex);
}

void trp_peers_describe(trp_peers_t *registry, trp_peer_t *peer, trp_view_t name,
                        trp_view_t address)
{
    (void)pthread_mutex_lock(&registry->mutex);
    (void)trp_text_escape(peer->name, sizeof(peer->name), name.data, name.size);
    (void)trp_text_escape(peer->address, sizeof(peer->address), address.data, address.size);
    (void)pthread_mutex_unlock(&registry->mutex);
}
