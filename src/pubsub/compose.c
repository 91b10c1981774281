/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's pub/sub: its making, its sites, its members. */

#include "pubsub/pubsub.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "pubsub/answer.h"
#include "pubsub/arrive.h"
#include "pubsub/confirm.h"
#include "pubsub/mediator.h"
#include "pubsub/remote.h"
#include "pubsub/site.h"
#include "pubsub/subscribe.h"
#include "pubsub/tasks.h"

#define PUBSUB_TOMBSTONE_NS (120 * TRP_NS_PER_S)

/* ---- sites ----------------------------------------------------------------------------------- */

static troupe_err_t pubsub_attach(void *context, trp_dispatcher_t *d)
{
    trp_pubsub_t *pubsub = context;
    trp_site_t *site = trp_calloc(1, sizeof(*site));
    if (site == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = trp_replica_init(&site->replica, &pubsub->directory, (uint8_t)d->index);
    if (err != TROUPE_OK) {
        trp_free(site);
        return err;
    }
    site->pubsub = pubsub;
    site->d = d;
    trp_map_init(&site->ops);
    trp_map_init(&site->confirms);
    trp_map_init(&site->rotations);
    d->ext[TRP_EXT_PUBSUB] = site;
    if (d->index == trp_runtime_system_index(pubsub->runtime)) {
        trp_mediator_attach(pubsub->mediator, d);
    }
    return TROUPE_OK;
}

static void site_drop_held(trp_site_t *site)
{
    for (uint32_t i = 0; i < site->replica.chunk_len; i++) {
        trp_replica_topic_t *chunk = site->replica.chunks[i];
        for (uint32_t j = 0; chunk != NULL && j < TRP_REPLICA_CHUNK_LEN; j++) {
            if (chunk[j].waiting != NULL) {
                trp_answer_drop_held(site, &chunk[j]);
            }
        }
    }
}

static void pubsub_detach(void *context, trp_dispatcher_t *d)
{
    trp_pubsub_t *pubsub = context;
    trp_site_t *site = trp_site_of(d);
    if (d->index == trp_runtime_system_index(pubsub->runtime)) {
        trp_mediator_detach(pubsub->mediator);
    }
    d->ext[TRP_EXT_PUBSUB] = NULL;
    trp_confirm_fini(site);
    site_drop_held(site);
    trp_site_free_ops(site);
    trp_subscriptions_fini(&site->replica);
    trp_replica_fini(&site->replica);
    trp_map_fini(&site->rotations);
    trp_free(site);
}

/* ---- life ------------------------------------------------------------------------------------ */

static troupe_err_t pubsub_add_type(trp_pubsub_t *pubsub, const char *name, size_t size,
                                    troupe_type_t want)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    troupe_type_t type = {0};
    options.name = name;
    options.version = 1;
    options.fixed_size = size;
    troupe_err_t err = trp_types_register(&pubsub->runtime->types, &options, &type);
    if (err == TROUPE_OK && type.id != want.id) {
        return TROUPE_EINTERNAL;
    }
    return err;
}

static troupe_err_t pubsub_hook(trp_pubsub_t *pubsub)
{
    trp_runtime_hook_t hook = {pubsub, pubsub_attach, pubsub_detach};
    troupe_err_t err = pubsub_add_type(pubsub, "troupe.pubsub.ack", sizeof(troupe_pubsub_ack_t),
                                       TROUPE_TYPE_PUBSUB_ACK);
    if (err == TROUPE_OK) {
        err = pubsub_add_type(pubsub, "troupe.pubsub.published", sizeof(troupe_published_t),
                              TROUPE_TYPE_PUBLISHED);
    }
    if (err == TROUPE_OK) {
        err = trp_remote_register(pubsub);
    }
    if (err == TROUPE_OK) {
        err = trp_runtime_add_hook(pubsub->runtime, &hook);
    }
    if (err == TROUPE_OK) {
        trp_runtime_set_topic_fn(pubsub->runtime, trp_arrive_topic_fn, pubsub);
        pubsub->runtime->ended_fn = trp_site_ended_fn;
    }
    return err;
}

static troupe_err_t pubsub_init(trp_pubsub_t *pubsub)
{
    uint64_t seed = 0;
    troupe_err_t err = trp_random_system(&seed, sizeof(seed));
    if (err == TROUPE_OK) {
        err = trp_atoms_init(&pubsub->names, pubsub->options.names_max, seed);
    }
    if (err == TROUPE_OK) {
        err = trp_directory_init(&pubsub->directory, &pubsub->names, seed);
    }
    if (err == TROUPE_OK) {
        err = trp_mediator_create(pubsub, &pubsub->mediator);
    }
    return err;
}

troupe_err_t trp_pubsub_create(const trp_pubsub_options_t *options, trp_pubsub_t **ret_pubsub)
{
    TRP_ASSERT(options->runtime != NULL);
    if ((unsigned)options->routing > TROUPE_ROUTING_HASH) {
        return TROUPE_EINVAL;
    }
    trp_pubsub_t *pubsub = trp_calloc(1, sizeof(*pubsub));
    if (pubsub == NULL) {
        return TROUPE_ENOMEM;
    }
    if (pthread_mutex_init(&pubsub->stats_lock, NULL) != 0) {
        trp_free(pubsub);
        return TROUPE_ESYSTEM;
    }
    pubsub->options = *options;
    pubsub->runtime = options->runtime;
    pubsub->link = options->link;
    if (pubsub->options.names_max > TRP_ATOMS_LEN_MAX) {
        pubsub->options.names_max = TRP_ATOMS_LEN_MAX;
    }
    if (pubsub->options.tombstone_ns == 0) {
        pubsub->options.tombstone_ns = PUBSUB_TOMBSTONE_NS;
    }
    atomic_init(&pubsub->is_synced, true);
    troupe_err_t err = pubsub_init(pubsub);
    if (err == TROUPE_OK) {
        err = pubsub_hook(pubsub);
    }
    if (err != TROUPE_OK) {
        trp_pubsub_destroy(&pubsub);
        return err;
    }
    *ret_pubsub = pubsub;
    return TROUPE_OK;
}

void trp_pubsub_destroy(trp_pubsub_t **pubsub_p)
{
    trp_pubsub_t *pubsub = *pubsub_p;
    *pubsub_p = NULL;
    if (pubsub == NULL) {
        return;
    }
    trp_mediator_destroy(&pubsub->mediator);
    trp_directory_fini(&pubsub->directory);
    trp_atoms_fini(&pubsub->names);
    (void)pthread_mutex_destroy(&pubsub->stats_lock);
    trp_free(pubsub);
}

/* ---- members --------------------------------------------------------------------------------- */

static void pubsub_node(trp_pubsub_t *pubsub, uint64_t uid, trp_node_change_t what)
{
    trp_node_message_t message = {uid, (uint8_t)what};
    if (uid == pubsub->runtime->uid) {
        return;
    }
    troupe_err_t err = trp_runtime_post(pubsub->runtime, trp_runtime_system_index(pubsub->runtime),
                                        trp_mediator_node, &message, sizeof(message));
    if (err != TROUPE_OK) {
        TRP_LOG(pubsub->options.log, TROUPE_LOG_PUBSUB, TROUPE_LOG_ERROR, "pubsub.node_lost",
                "node=%llx change=%u error=%s", (unsigned long long)uid, (unsigned)what,
                troupe_err_name(err));
    }
}

void trp_pubsub_node_up(trp_pubsub_t *pubsub, uint64_t uid)
{
    atomic_store_explicit(&pubsub->is_synced, false, memory_order_release);
    pubsub_node(pubsub, uid, TRP_NODE_UP);
}

void trp_pubsub_node_gone(trp_pubsub_t *pubsub, uint64_t uid)
{
    pubsub_node(pubsub, uid, TRP_NODE_GONE);
}

void trp_pubsub_node_reachable(trp_pubsub_t *pubsub, uint64_t uid, bool is_reachable)
{
    pubsub_node(pubsub, uid, is_reachable ? TRP_NODE_REACHABLE : TRP_NODE_UNREACHABLE);
}

bool trp_pubsub_is_synced(trp_pubsub_t *pubsub)
{
    return atomic_load_explicit(&pubsub->is_synced, memory_order_acquire);
}
