/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The mediator: places, changes, members, time. */

#include "pubsub/mediator.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "pubsub/acks.h"
#include "pubsub/codec.h"
#include "pubsub/registry.h"
#include "pubsub/tasks.h"

#define MEDIATOR_TICK_NS (100 * TRP_NS_PER_MS) /* Upper bound between two looks at the registry. */
#define MEDIATOR_SWEEP_NS (250 * TRP_NS_PER_MS)
#define MEDIATOR_SWEEP_LEN 4096u /* Topics looked at in one sweep: all of a million in a minute. */
#define MEDIATOR_STATS_NS TRP_NS_PER_S

struct trp_mediator {
    trp_pubsub_t *pubsub;
    trp_dispatcher_t *d; /* NULL: not attached. */
    trp_registry_t registry;
    trp_acks_t acks;
    trp_alarm_t tick;
    trp_alarm_t flush;
    bool is_flush_set;
    uint64_t flushed_at;
    uint64_t sweep_at;
    uint64_t stats_at;
    trp_log_limit_t refused_limit;
};

/* ---- telling dispatchers ---------------------------------------------------------------------- */

/* Tells every site that uses the topic; each answers with `applied`. */
static void mediator_on_change(void *context, const trp_change_t *change)
{
    trp_mediator_t *mediator = context;
    trp_targets_t *targets = change->targets;
    trp_changed_message_t changed = {0, change->id, change->generation, targets == NULL};
    for (uint32_t i = 0; i < mediator->pubsub->runtime->len; i++) {
        if ((change->interest[i / 64] >> (i % 64) & 1) == 0) {
            continue;
        }
        changed.sequence = trp_acks_next(&mediator->acks);
        if (trp_dispatcher_post(mediator->d, i, trp_site_changed, &changed, sizeof(changed)) ==
            TROUPE_OK) {
            trp_acks_told(&mediator->acks, i, changed.sequence);
        } else if (targets != NULL) {
            trp_directory_retry(&mediator->pubsub->directory, change->id, change->generation);
        }
    }
    trp_targets_unref(&targets);
}

/* ---- places ----------------------------------------------------------------------------------- */

static troupe_err_t mediator_directory(trp_mediator_t *mediator, const trp_placing_t *placing)
{
    trp_directory_t *directory = &mediator->pubsub->directory;
    trp_change_t change;
    if (placing->name->space == TRP_SPACE_PATTERN) {
        return trp_directory_place_pattern(directory, placing, mediator_on_change, mediator);
    }
    troupe_err_t err = trp_directory_place(directory, placing, &change);
    if (change.targets != NULL) {
        mediator_on_change(mediator, &change);
    }
    return err;
}

static void mediator_flush_alarm(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_mediator_t *mediator = TRP_CONTAINER_OF(alarm, trp_mediator_t, flush);
    mediator->is_flush_set = false;
    mediator->flushed_at = d->now;
    trp_registry_flush(&mediator->registry, d->now);
}

/* Pushes the first change of a round at once; those behind it share one push a moment later. */
static void mediator_flush(trp_mediator_t *mediator)
{
    trp_dispatcher_t *d = mediator->d;
    if (mediator->is_flush_set) {
        return;
    }
    if (mediator->flushed_at == d->now) {
        mediator->is_flush_set = true;
        trp_alarm_set(d, &mediator->flush, d->now);
        return;
    }
    mediator->flushed_at = d->now;
    trp_registry_flush(&mediator->registry, d->now);
}

static troupe_err_t mediator_place(trp_mediator_t *mediator, const trp_place_message_t *place)
{
    trp_placing_t placing = {.name = place->name,
                             .group = place->group,
                             .replica = (uint8_t)place->replica,
                             .weight = place->weight};
    troupe_err_t err = mediator_directory(mediator, &placing);
    if (err != TROUPE_OK) {
        return err;
    }
    uint32_t here = trp_directory_here(&mediator->pubsub->directory, place->name, place->group);
    err = trp_registry_set(&mediator->registry, place->name, place->group, here, mediator->d->now);
    mediator_flush(mediator);
    return err;
}

void trp_mediator_place(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_place_message_t place;
    trp_site_t *site = trp_site_of(d);
    TRP_ASSERT(size == sizeof(place));
    memcpy(&place, payload, sizeof(place));
    if (site == NULL) {
        return; /* The node stops; its names go with it. */
    }
    trp_mediator_t *mediator = site->pubsub->mediator;
    troupe_err_t err = mediator_place(mediator, &place);
    if (place.token != 0) {
        trp_ack_wish_t wish = {
            .kind = place.is_cluster ? TRP_ACK_CLUSTER : TRP_ACK_NODE,
            .token = place.token,
            .replica = place.replica,
            .version = trp_registry_version(&mediator->registry),
            .deadline = trp_clock_add(d->now, trp_clock_from_ms(place.timeout_ms)),
            .error = err,
        };
        trp_acks_add(&mediator->acks, &wish);
    }
    trp_atoms_unref(&site->pubsub->names, &place.name);
    trp_atoms_unref(&site->pubsub->names, &place.group);
}

void trp_mediator_applied(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_applied_message_t applied;
    trp_site_t *site = trp_site_of(d);
    TRP_ASSERT(size == sizeof(applied));
    memcpy(&applied, payload, sizeof(applied));
    if (site != NULL) {
        trp_acks_applied(&site->pubsub->mediator->acks, applied.replica, applied.sequence);
    }
}

/* ---- acknowledging ----------------------------------------------------------------------------- */

/* The answer to a wish: to a site of this node, or to the owner of a bucket that is in effect now. */
static void mediator_on_ack(void *context, const trp_ack_t *ack)
{
    trp_mediator_t *mediator = context;
    if (ack->wish.kind == TRP_ACK_PEER) {
        trp_registry_ack(&mediator->registry, ack->wish.token, ack->wish.version);
        return;
    }
    trp_acked_message_t acked = {.token = ack->wish.token, .error = (uint32_t)ack->wish.error};
    acked.nodes = ack->nodes + 1;
    acked.missing_len = ack->missing_len;
    memcpy(acked.missing, ack->missing, sizeof(acked.missing));
    troupe_err_t err =
        trp_dispatcher_post(mediator->d, ack->wish.replica, trp_site_acked, &acked, sizeof(acked));
    (void)err; /* Without memory for 200 bytes in the reserve the subscriber waits for ever. */
}

static uint32_t mediator_count_acked(void *context, uint64_t version, uint64_t *ret_missing,
                                     uint32_t capacity, uint32_t *ret_missing_len)
{
    const trp_mediator_t *mediator = context;
    return trp_registry_acked(&mediator->registry, version, ret_missing, capacity, ret_missing_len);
}

/* ---- the registry's sink ------------------------------------------------------------------------ */

static void mediator_send(void *context, uint64_t peer, trp_view_t bytes)
{
    trp_mediator_t *mediator = context;
    if (mediator->pubsub->link != NULL) {
        troupe_err_t err = trp_link_control_send(mediator->pubsub->link, peer, TRP_SERVICE_PUBSUB,
                                                 bytes.data, bytes.size);
        (void)err; /* The registry asks again for what does not come. */
    }
}

static void mediator_entry(void *context, uint64_t owner, const trp_atom_t *name,
                           const trp_atom_t *group, uint32_t weight)
{
    trp_mediator_t *mediator = context;
    trp_placing_t placing = {.name = name, .group = group, .node = owner, .weight = weight};
    troupe_err_t err = mediator_directory(mediator, &placing);
    if (err != TROUPE_OK) {
        TRP_LOG(mediator->pubsub->options.log, TROUPE_LOG_PUBSUB, TROUPE_LOG_ERROR,
                "registry.entry_lost", "owner=%llx error=%s", (unsigned long long)owner,
                troupe_err_name(err));
    }
}

static void mediator_received(void *context, uint64_t owner, uint64_t version)
{
    trp_mediator_t *mediator = context;
    trp_ack_wish_t wish = {.kind = TRP_ACK_PEER, .token = owner, .version = version};
    trp_acks_add(&mediator->acks, &wish);
}

static void mediator_acked(void *context)
{
    trp_mediator_t *mediator = context;
    trp_acks_check(&mediator->acks, mediator->d != NULL ? mediator->d->now : 0);
}

/* ---- members and messages ----------------------------------------------------------------------- */

static void mediator_synced(trp_mediator_t *mediator)
{
    atomic_store_explicit(&mediator->pubsub->is_synced, trp_registry_is_synced(&mediator->registry),
                          memory_order_release);
}

static void mediator_up(trp_mediator_t *mediator, uint64_t uid)
{
    troupe_err_t err = trp_registry_add_node(&mediator->registry, uid, mediator->d->now);
    if (err != TROUPE_OK && err != TROUPE_EEXIST) {
        TRP_LOG(mediator->pubsub->options.log, TROUPE_LOG_PUBSUB, TROUPE_LOG_WARN,
                "registry.node_refused", "node=%llx error=%s", (unsigned long long)uid,
                troupe_err_name(err));
    }
}

static void mediator_reachable(trp_mediator_t *mediator, uint64_t uid, bool is_reachable)
{
    trp_registry_set_reachable(&mediator->registry, uid, is_reachable, mediator->d->now);
    troupe_err_t err = trp_directory_set_reachable(&mediator->pubsub->directory, uid, is_reachable,
                                                   mediator_on_change, mediator);
    (void)err; /* Groups may then still choose it; what is sent to it is counted. */
}

void trp_mediator_node(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_node_message_t message;
    trp_site_t *site = trp_site_of(d);
    TRP_ASSERT(size == sizeof(message));
    memcpy(&message, payload, sizeof(message));
    if (site == NULL) {
        return;
    }
    trp_mediator_t *mediator = site->pubsub->mediator;
    switch ((trp_node_change_t)message.what) {
    case TRP_NODE_UP:
        mediator_up(mediator, message.uid);
        break;
    case TRP_NODE_GONE:
        trp_registry_remove_node(&mediator->registry, message.uid);
        mediator_reachable(mediator, message.uid, true);
        break;
    case TRP_NODE_REACHABLE:
    case TRP_NODE_UNREACHABLE:
        mediator_reachable(mediator, message.uid, message.what == TRP_NODE_REACHABLE);
        break;
    }
    mediator_synced(mediator);
}

void trp_mediator_receive(trp_mediator_t *mediator, uint64_t uid, trp_view_t bytes)
{
    trp_dispatcher_t *d = mediator->d;
    if (d == NULL) {
        return;
    }
    troupe_err_t err = trp_registry_receive(&mediator->registry, uid, bytes, d->now);
    if (err != TROUPE_OK) {
        TRP_LOG_LIMITED(mediator->pubsub->options.log, &mediator->refused_limit, d->now,
                        TROUPE_LOG_PUBSUB, TROUPE_LOG_WARN, "registry.refused",
                        "node=%llx error=%s", (unsigned long long)uid, troupe_err_name(err));
    }
    mediator_synced(mediator);
}

/* ---- time --------------------------------------------------------------------------------------- */

static void mediator_stats(trp_mediator_t *mediator)
{
    trp_pubsub_t *pubsub = mediator->pubsub;
    const trp_registry_t *registry = &mediator->registry;
    const trp_registry_counts_t *counts = &registry->counts;
    uint64_t names = trp_atoms_len(&pubsub->names);
    uint64_t topics = trp_directory_len(&pubsub->directory);
    pthread_mutex_lock(&pubsub->stats_lock);
    troupe_pubsub_stats_t *stats = &pubsub->stats;
    stats->names = names;
    stats->topics = topics;
    stats->entries = registry->own.live_len + registry->entry_len;
    stats->tombstones = registry->own.tomb_len;
    stats->deltas_received = counts->elements_received;
    stats->digests_sent = counts->digests_sent;
    stats->gossip_bytes_sent = counts->bytes_sent;
    stats->gossip_bytes_received = counts->bytes_received;
    stats->refused = counts->refused_malformed + counts->refused_forged + counts->refused_stranger +
                     counts->refused_full;
    pthread_mutex_unlock(&pubsub->stats_lock);
}

static void mediator_tick(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_mediator_t *mediator = TRP_CONTAINER_OF(alarm, trp_mediator_t, tick);
    trp_pubsub_t *pubsub = mediator->pubsub;
    uint64_t next = trp_registry_tick(&mediator->registry, d->now);
    trp_acks_check(&mediator->acks, d->now);
    if (d->now >= mediator->sweep_at) {
        mediator->sweep_at = d->now + MEDIATOR_SWEEP_NS;
        trp_directory_sweep(&pubsub->directory, d->now, pubsub->options.tombstone_ns,
                            MEDIATOR_SWEEP_LEN, mediator_on_change, mediator);
    }
    if (d->now >= mediator->stats_at) {
        mediator->stats_at = d->now + MEDIATOR_STATS_NS;
        mediator_stats(mediator);
    }
    bool is_idle = mediator->acks.len == 0;
    uint64_t soon = d->now + (is_idle ? MEDIATOR_SWEEP_NS : MEDIATOR_TICK_NS);
    trp_alarm_set(d, &mediator->tick, next < soon ? next : soon);
}

/* ---- life --------------------------------------------------------------------------------------- */

troupe_err_t trp_mediator_create(trp_pubsub_t *pubsub, trp_mediator_t **ret_mediator)
{
    trp_mediator_t *mediator = trp_calloc(1, sizeof(*mediator));
    if (mediator == NULL) {
        return TROUPE_ENOMEM;
    }
    uint64_t seed = 0;
    uint64_t now = trp_clock_now();
    troupe_err_t err = trp_random_system(&seed, sizeof(seed));
    trp_registry_options_t options = {
        .self = pubsub->runtime->uid,
        .seed = seed,
        .gossip_interval_ns = pubsub->options.gossip_interval_ns,
        .tombstone_ns = pubsub->options.tombstone_ns,
    };
    trp_registry_sink_t sink = {mediator, mediator_send, mediator_entry, mediator_received,
                                mediator_acked};
    trp_acks_sink_t acks = {mediator, mediator_on_ack, mediator_count_acked};
    mediator->pubsub = pubsub;
    mediator->tick.fn = mediator_tick;
    mediator->flush.fn = mediator_flush_alarm;
    trp_acks_init(&mediator->acks, &acks);
    if (err == TROUPE_OK) {
        err = trp_registry_init(&mediator->registry, &options, &sink, &pubsub->names, now);
    }
    if (err != TROUPE_OK) {
        trp_free(mediator);
        return err;
    }
    *ret_mediator = mediator;
    return TROUPE_OK;
}

void trp_mediator_destroy(trp_mediator_t **mediator_p)
{
    trp_mediator_t *mediator = *mediator_p;
    if (mediator != NULL) {
        trp_acks_fini(&mediator->acks);
        trp_registry_fini(&mediator->registry);
        trp_free(mediator);
        *mediator_p = NULL;
    }
}

void trp_mediator_attach(trp_mediator_t *mediator, trp_dispatcher_t *d)
{
    mediator->d = d;
    trp_alarm_set(d, &mediator->tick, d->now);
}

void trp_mediator_detach(trp_mediator_t *mediator)
{
    trp_alarm_cancel(mediator->d, &mediator->tick);
    trp_alarm_cancel(mediator->d, &mediator->flush);
    mediator->d = NULL;
}
