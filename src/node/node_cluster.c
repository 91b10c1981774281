/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Binds the cluster to the node: members to topics, events to the node's state. */

#include "node/node_cluster.h"

#include <stdatomic.h>
#include <string.h>

#include "actor/dispatcher.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cluster/driver.h"
#include "node/node_parts.h"
#include "node/node_private.h"
#include "node/seeds.h"

/* A joining node becomes up when it has the others' subscriptions; it looks so often whether it has,
 * and doesn't wait for longer than this. */
#define CLUSTER_SYNC_LOOK_MS 10u
#define CLUSTER_SYNC_MAX_MS 5000u
#define CLUSTER_LEN_MARGIN 16u /* Members that may join between two looks at how many there are. */

struct trp_node_cluster {
    trp_node_t *node;
    trp_cluster_t *cluster;
    trp_store_t store; /* Seeds and their texts. */
    troupe_string_list_t seeds;
    const char *
        *late_seed; /* Where the first seed goes that is found later; NULL: not waited for. */
    _Atomic bool has_started;
    /* Of the system dispatcher. */
    trp_alarm_t sync;
    uint64_t sync_until;
};

_Static_assert((int)TROUPE_SPLIT_KEEP_MAJORITY == (int)TRP_QUORUM_MAJORITY, "same numbers");
_Static_assert((int)TROUPE_SPLIT_STATIC_QUORUM == (int)TRP_QUORUM_STATIC, "same numbers");
_Static_assert((int)TROUPE_SPLIT_KEEP_OLDEST == (int)TRP_QUORUM_OLDEST, "same numbers");
_Static_assert((int)TROUPE_SPLIT_DOWN_ALL == (int)TRP_QUORUM_DOWN_ALL, "same numbers");

/* ---- topics: on the system dispatcher ----------------------------------------------------------- */

static bool cluster_takes_part(const trp_node_cluster_t *own, const troupe_member_t *member)
{
    const char *role = own->node->settings.values.node.pubsub_role;
    return role == NULL || troupe_member_has_role(member, role);
}

static void cluster_tell_topics(trp_node_cluster_t *own, const troupe_member_event_t *event)
{
    trp_pubsub_t *pubsub = own->node->pubsub;
    const troupe_member_t *member = &event->member;
    if (pubsub == NULL || member->is_self || !cluster_takes_part(own, member)) {
        return;
    }
    switch ((troupe_member_event_kind_t)event->kind) {
    case TROUPE_MEMBER_EVENT_JOINED:
    case TROUPE_MEMBER_EVENT_WEAKLY_UP:
    case TROUPE_MEMBER_EVENT_UP:
        trp_pubsub_node_up(pubsub, member->uid);
        break;
    case TROUPE_MEMBER_EVENT_UNREACHABLE:
        trp_pubsub_node_reachable(pubsub, member->uid, false);
        break;
    case TROUPE_MEMBER_EVENT_REACHABLE:
        trp_pubsub_node_reachable(pubsub, member->uid, true);
        break;
    case TROUPE_MEMBER_EVENT_DOWN:
    case TROUPE_MEMBER_EVENT_REMOVED:
        trp_pubsub_node_gone(pubsub, member->uid);
        break;
    case TROUPE_MEMBER_EVENT_LEAVING: /* Its actors are still there. */
    case TROUPE_MEMBER_EVENT_EXITED:
    case TROUPE_MEMBER_EVENT_LEADER_CHANGED:
    case TROUPE_MEMBER_EVENT_OLDEST_CHANGED:
    case TROUPE_MEMBER_EVENT_SELF_REMOVED:
        break;
    }
}

static void cluster_on_sync_alarm(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_node_cluster_t *own = TRP_CONTAINER_OF(alarm, trp_node_cluster_t, sync);
    uint64_t now = trp_clock_now();
    bool is_synced = trp_pubsub_is_synced(own->node->pubsub);
    if (!is_synced && now < own->sync_until) {
        trp_alarm_set(d, alarm, now + trp_clock_from_ms(CLUSTER_SYNC_LOOK_MS));
        return;
    }
    TRP_LOG(is_synced ? NULL : &own->node->log, TROUPE_LOG_NODE, TROUPE_LOG_WARN,
            "node.topics_late", "waited_ms=%u", CLUSTER_SYNC_MAX_MS);
    /* Fails only when the node has stopped meanwhile. */
    (void)!trp_cluster_ready(own->cluster);
}

/* ---- the node's state: on the system dispatcher -------------------------------------------------- */

static void cluster_tell_self(trp_node_cluster_t *own, trp_dispatcher_t *d,
                              const troupe_member_event_t *event)
{
    if (event->kind == TROUPE_MEMBER_EVENT_JOINED && own->node->pubsub != NULL) {
        own->sync_until = trp_clock_now() + trp_clock_from_ms(CLUSTER_SYNC_MAX_MS);
        trp_alarm_set(d, &own->sync, trp_clock_now());
    } else if (event->kind == TROUPE_MEMBER_EVENT_UP) {
        trp_node_set_state(own->node, TROUPE_NODE_UP, TROUPE_OK);
    } else if (event->kind == TROUPE_MEMBER_EVENT_LEAVING) {
        trp_node_set_state(own->node, TROUPE_NODE_LEAVING, TROUPE_OK);
    }
}

static void cluster_on_event(void *context, trp_dispatcher_t *d, const troupe_member_event_t *event)
{
    trp_node_cluster_t *own = context;
    cluster_tell_topics(own, event);
    if (event->member.is_self) {
        cluster_tell_self(own, d, event);
    }
}

static void cluster_on_stop(void *context, trp_dispatcher_t *d, trp_stop_reason_t reason)
{
    trp_node_cluster_t *own = context;
    bool has_left = reason == TRP_STOP_LEFT;
    (void)d;
    trp_node_set_state(own->node, has_left ? TROUPE_NODE_LEFT : TROUPE_NODE_DOWN,
                       has_left ? TROUPE_OK : TROUPE_EUNREACHABLE);
}

static void cluster_on_refused(void *context, trp_dispatcher_t *d, troupe_err_t reason,
                               const char *address, const char *text)
{
    trp_node_cluster_t *own = context;
    (void)d;
    TRP_LOG(&own->node->log, TROUPE_LOG_NODE, TROUPE_LOG_ERROR, "node.refused",
            "by=%s reason=%s text=%s", address, troupe_err_name(reason), text);
    trp_node_set_state(own->node, TROUPE_NODE_REFUSED, reason);
}

/* ---- making ---------------------------------------------------------------------------------------- */

static void cluster_fill_options(trp_node_cluster_t *own, trp_cluster_options_t *core)
{
    const troupe_node_options_t *node = &own->node->settings.values.node;
    core->uid = own->node->uid;
    core->name = node->name;
    core->roles = node->roles.items;
    core->roles_len = node->roles.len;
    core->seeds = own->seeds.items;
    core->seeds_len = own->seeds.len;
    core->hold_ready = own->node->pubsub != NULL;
    core->form_quorum = node->form_quorum;
    core->members_min = node->members_min;
    core->strategy = (trp_quorum_strategy_t)node->split_policy;
    core->quorum_len = node->quorum_len;
    core->timings.probe_interval_ms = node->probe_interval_ms;
    core->timings.probe_timeout_ms = node->probe_timeout_ms;
    core->timings.suspicion_ms = node->suspicion_ms;
    core->timings.gossip_interval_ms = node->gossip_interval_ms;
    core->timings.stable_after_ms = node->stable_after_ms;
    core->timings.leave_timeout_ms = node->leave_timeout_ms;
}

/* The seeds. The core takes a node without any for the first of its cluster: when file or DNS may still
 * name some, it is not begun before they do. */
static troupe_err_t cluster_take_seeds(trp_node_cluster_t *own)
{
    troupe_err_t err = trp_seeds_gather(&own->node->settings, &own->store, &own->seeds);
    if (err != TROUPE_OK || own->seeds.len > 0 || !trp_seeds_may_change(&own->node->settings)) {
        return err;
    }
    own->late_seed = trp_store_take(&own->store, 1, sizeof(*own->late_seed));
    own->seeds = (troupe_string_list_t){own->late_seed, 1};
    return own->late_seed != NULL ? TROUPE_OK : TROUPE_ENOMEM;
}

static troupe_err_t cluster_attach(void *context, trp_dispatcher_t *d)
{
    (void)context;
    (void)d;
    return TROUPE_OK;
}

static void cluster_detach(void *context, trp_dispatcher_t *d)
{
    trp_node_cluster_t *own = context;
    if (d->index == trp_runtime_system_index(own->node->base.runtime)) {
        trp_alarm_cancel(d, &own->sync);
    }
}

static troupe_err_t cluster_make(trp_node_cluster_t *own)
{
    trp_cluster_driver_options_t options;
    memset(&options, 0, sizeof(options));
    options.runtime = own->node->base.runtime;
    options.link = own->node->link;
    options.log = &own->node->log;
    options.hooks =
        (trp_cluster_hooks_t){own, cluster_on_event, cluster_on_stop, cluster_on_refused};
    cluster_fill_options(own, &options.core);
    const trp_runtime_hook_t hook = {own, cluster_attach, cluster_detach};
    troupe_err_t err = trp_runtime_add_hook(own->node->base.runtime, &hook);
    return err == TROUPE_OK ? trp_cluster_create(&options, &own->cluster) : err;
}

troupe_err_t trp_node_cluster_create(trp_node_t *node, trp_node_cluster_t **ret_cluster)
{
    TRP_ASSERT(node->link != NULL);
    trp_node_cluster_t *own = trp_calloc(1, sizeof(*own));
    if (own == NULL) {
        return TROUPE_ENOMEM;
    }
    own->node = node;
    own->sync.fn = cluster_on_sync_alarm;
    trp_store_init(&own->store);
    troupe_err_t err = cluster_take_seeds(own);
    if (err == TROUPE_OK) {
        err = cluster_make(own);
    }
    if (err != TROUPE_OK) {
        trp_node_cluster_destroy(&own);
        return err;
    }
    *ret_cluster = own;
    return TROUPE_OK;
}

static troupe_err_t cluster_begin(trp_node_cluster_t *own)
{
    troupe_err_t err = trp_cluster_start(own->cluster);
    /* Release: pairs with the acquire of whoever stops the node. */
    atomic_store_explicit(&own->has_started, err == TROUPE_OK, memory_order_release);
    return err;
}

static bool cluster_has_begun(const trp_node_cluster_t *own)
{
    return atomic_load_explicit(&own->has_started, memory_order_acquire);
}

troupe_err_t trp_node_cluster_start(trp_node_cluster_t *own)
{
    troupe_err_t err = own->late_seed == NULL ? cluster_begin(own) : TROUPE_OK;
    if (err == TROUPE_OK && trp_seeds_may_change(&own->node->settings)) {
        err = trp_seeds_seek(own->node);
    }
    return err;
}

troupe_err_t trp_node_cluster_seek(trp_node_cluster_t *own, const troupe_string_list_t *seeds)
{
    TRP_ASSERT(seeds->len > 0);
    if (!cluster_has_begun(own)) {
        TRP_ASSERT(own->late_seed != NULL);
        own->late_seed[0] = trp_store_keep(&own->store, seeds->items[0], strlen(seeds->items[0]));
        troupe_err_t err = own->late_seed[0] != NULL ? cluster_begin(own) : TROUPE_ENOMEM;
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return trp_cluster_join(own->cluster, seeds->items, seeds->len);
}

/* ---- leaving ----------------------------------------------------------------------------------------- */

troupe_err_t trp_node_cluster_leave(trp_node_cluster_t *own)
{
    if (cluster_has_begun(own)) {
        return trp_cluster_leave(own->cluster);
    }
    trp_node_set_state(own->node, TROUPE_NODE_LEFT, TROUPE_OK); /* It never was a member. */
    return TROUPE_OK;
}

troupe_err_t trp_node_cluster_leave_and_wait(trp_node_cluster_t *own, uint64_t deadline_ns)
{
    uint32_t mask = TRP_NODE_STATE_BIT(TROUPE_NODE_LEFT) | TRP_NODE_STATE_BIT(TROUPE_NODE_DOWN);
    troupe_node_state_t state = TROUPE_NODE_CREATED;
    troupe_err_t reason = TROUPE_OK;
    if (!cluster_has_begun(own)) {
        return TROUPE_OK;
    }
    if (deadline_ns <= trp_clock_now()) {
        return TROUPE_ETIMEOUT;
    }
    troupe_err_t err = trp_cluster_leave(own->cluster);
    if (err == TROUPE_OK) {
        err = trp_node_wait_state(own->node, mask, deadline_ns, &state, &reason);
    }
    return err;
}

void trp_node_cluster_stop(trp_node_cluster_t *own)
{
    if (own != NULL) {
        trp_cluster_stop(own->cluster);
    }
}

void trp_node_cluster_destroy(trp_node_cluster_t **cluster_p)
{
    trp_node_cluster_t *own = *cluster_p;
    *cluster_p = NULL;
    if (own == NULL) {
        return;
    }
    trp_cluster_destroy(&own->cluster);
    trp_store_fini(&own->store);
    trp_free(own);
}

/* ---- questions and words ------------------------------------------------------------------------------ */

troupe_err_t trp_node_cluster_members(trp_node_cluster_t *own, troupe_member_t **ret_members,
                                      size_t *ret_len)
{
    troupe_member_t *members = NULL;
    size_t capacity = 0;
    size_t len = 0;
    do {
        trp_free(members);
        capacity = len + CLUSTER_LEN_MARGIN;
        members = trp_calloc(capacity, sizeof(*members));
        if (members == NULL) {
            return TROUPE_ENOMEM;
        }
        troupe_err_t err = trp_cluster_members(own->cluster, members, capacity, &len);
        if (err != TROUPE_OK) {
            trp_free(members);
            return err;
        }
    } while (len > capacity);
    *ret_members = members;
    *ret_len = len;
    return TROUPE_OK;
}

uint64_t trp_node_cluster_leader(trp_node_cluster_t *own)
{
    return trp_cluster_leader(own->cluster);
}

uint64_t trp_node_cluster_oldest(trp_node_cluster_t *own)
{
    return trp_cluster_oldest(own->cluster);
}

troupe_err_t trp_node_cluster_down(trp_node_cluster_t *own, uint64_t uid)
{
    return trp_cluster_down(own->cluster, uid);
}

troupe_err_t trp_node_cluster_leave_member(trp_node_cluster_t *own, uint64_t uid)
{
    return trp_cluster_leave_member(own->cluster, uid);
}
