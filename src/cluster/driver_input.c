/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The driver: life, inputs, questions. What is done with outputs is in driver_act.c. */

#include "cluster/driver.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "cluster/driver_state.h"

/* ---- inputs ----------------------------------------------------------------------------------- */

/* Takes the core for one input; NULL when there is none (any more). Then the mutex isn't held. */
static trp_cluster_core_t *driver_enter(trp_cluster_t *cluster)
{
    pthread_mutex_lock(&cluster->mutex);
    if (cluster->core != NULL && !cluster->is_stopped) {
        return cluster->core;
    }
    pthread_mutex_unlock(&cluster->mutex);
    return NULL;
}

static void driver_leave(trp_cluster_t *cluster)
{
    pthread_mutex_unlock(&cluster->mutex);
}

static void driver_on_alarm(trp_dispatcher_t *d, trp_alarm_t *alarm)
{
    trp_cluster_t *cluster = TRP_CONTAINER_OF(alarm, trp_cluster_t, alarm);
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core != NULL) {
        trp_cluster_core_tick(core, trp_clock_now());
        driver_leave(cluster);
        trp_driver_drain(cluster, d);
    }
}

static void driver_on_service(void *context, trp_dispatcher_t *d, uint64_t uid, trp_view_t data)
{
    trp_cluster_t *cluster = context;
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core != NULL) {
        trp_cluster_core_message(core, trp_clock_now(), uid, data.data, data.size);
        driver_leave(cluster);
        trp_driver_drain(cluster, d);
    }
}

/* What a link event means to the core. */
static void driver_take_event(trp_cluster_core_t *core, const trp_link_event_t *event)
{
    uint64_t now = trp_clock_now();
    switch (event->kind) {
    case TRP_LINK_EVENT_UP:
        trp_cluster_core_peer_connected(core, now, event->uid, event->address);
        break;
    case TRP_LINK_EVENT_DIALLED:
        trp_cluster_core_peer_alias(core, now, event->uid, event->address);
        break;
    case TRP_LINK_EVENT_LOST:
    case TRP_LINK_EVENT_BYE:
    case TRP_LINK_EVENT_REPLACED:
        trp_cluster_core_peer_disconnected(core, now, event->uid);
        break;
    case TRP_LINK_EVENT_REFUSED:
    case TRP_LINK_EVENT_FAILED:
    case TRP_LINK_EVENT_STALLED:
    case TRP_LINK_EVENT_RESUMED:
        break;
    }
    /* The peer has taken us for removed; a session that ends so, or none that begins. */
    bool is_verdict = event->kind == TRP_LINK_EVENT_LOST ||
                      (event->kind == TRP_LINK_EVENT_REFUSED && !event->by_us);
    if (is_verdict && event->reason == TROUPE_ESTOPPED) {
        trp_cluster_core_refused(core, now);
    }
}

static void driver_on_link_event(void *context, trp_dispatcher_t *d, const trp_link_event_t *event)
{
    trp_cluster_t *cluster = context;
    const trp_cluster_hooks_t *hooks = &cluster->options.hooks;
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return;
    }
    driver_take_event(core, event);
    driver_leave(cluster);
    bool is_refusal = event->reason == TROUPE_ECLUSTER || event->reason == TROUPE_EVERSION ||
                      event->reason == TROUPE_EAUTH;
    /* A wrong key ends a connection before there is a handshake to refuse. */
    bool is_theirs = event->kind == TRP_LINK_EVENT_FAILED ||
                     (event->kind == TRP_LINK_EVENT_REFUSED && !event->by_us);
    if (is_theirs && is_refusal && hooks->on_refused != NULL) {
        hooks->on_refused(hooks->context, d, event->reason, event->address, event->text);
    }
    trp_driver_drain(cluster, d);
}

/* ---- draining --------------------------------------------------------------------------------- */

static bool driver_next(trp_cluster_t *cluster, trp_output_t *output, uint64_t *ret_wakeup)
{
    bool is_there = false;
    pthread_mutex_lock(&cluster->mutex);
    if (cluster->core != NULL && !cluster->is_stopped) {
        is_there = trp_cluster_core_next(cluster->core, output);
        *ret_wakeup = trp_cluster_core_wakeup(cluster->core);
    }
    pthread_mutex_unlock(&cluster->mutex);
    return is_there;
}

void trp_driver_drain(trp_cluster_t *cluster, trp_dispatcher_t *d)
{
    trp_output_t output;
    uint64_t wakeup = TRP_CLOCK_NEVER;
    TRP_ASSERT(d == cluster->d);
    while (driver_next(cluster, &output, &wakeup)) {
        trp_driver_act(cluster, d, &output);
        trp_output_fini(&output);
    }
    if (wakeup == TRP_CLOCK_NEVER) {
        trp_alarm_cancel(d, &cluster->alarm);
    } else {
        trp_alarm_set(d, &cluster->alarm, wakeup);
    }
}

static void driver_drain_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_cluster_t *cluster = NULL;
    TRP_ASSERT(size == sizeof(cluster));
    memcpy(&cluster, payload, sizeof(cluster));
    pthread_mutex_lock(&cluster->mutex);
    cluster->is_polled = false;
    pthread_mutex_unlock(&cluster->mutex);
    if (cluster->d == d) {
        trp_driver_drain(cluster, d);
    }
}

/* Has the system dispatcher do what the core wants after an input from another thread. */
static troupe_err_t driver_poll(trp_cluster_t *cluster)
{
    pthread_mutex_lock(&cluster->mutex);
    bool is_polled = cluster->is_polled;
    cluster->is_polled = true;
    pthread_mutex_unlock(&cluster->mutex);
    if (is_polled) {
        return TROUPE_OK;
    }
    troupe_err_t err =
        trp_runtime_post(cluster->runtime, trp_runtime_system_index(cluster->runtime),
                         driver_drain_task, &cluster, sizeof(trp_cluster_t *));
    if (err != TROUPE_OK) {
        pthread_mutex_lock(&cluster->mutex);
        cluster->is_polled = false;
        pthread_mutex_unlock(&cluster->mutex);
    }
    return err;
}

/* ---- life ------------------------------------------------------------------------------------- */

static troupe_err_t driver_attach(void *context, trp_dispatcher_t *d)
{
    trp_cluster_t *cluster = context;
    d->ext[TRP_EXT_CLUSTER] = cluster;
    if (d->index == trp_runtime_system_index(cluster->runtime)) {
        cluster->d = d;
    }
    return TROUPE_OK;
}

static void driver_detach(void *context, trp_dispatcher_t *d)
{
    trp_cluster_t *cluster = context;
    d->ext[TRP_EXT_CLUSTER] = NULL;
    if (d->index == trp_runtime_system_index(cluster->runtime)) {
        trp_alarm_cancel(d, &cluster->alarm);
        cluster->d = NULL;
    }
}

static troupe_err_t driver_add_type(trp_cluster_t *cluster, const char *name, size_t size,
                                    troupe_type_t *ret_type)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = name;
    options.version = 1;
    options.fixed_size = size;
    return trp_types_register(&cluster->runtime->types, &options, ret_type);
}

static troupe_err_t driver_register(trp_cluster_t *cluster)
{
    trp_runtime_hook_t hook = {cluster, driver_attach, driver_detach};
    uint32_t system = trp_runtime_system_index(cluster->runtime);
    troupe_err_t err = driver_add_type(cluster, "troupe.cluster.event",
                                       sizeof(troupe_member_event_t), &cluster->event_type);
    if (err == TROUPE_OK) {
        err = driver_add_type(cluster, "troupe.cluster.subscribe", sizeof(trp_subscribe_message_t),
                              &cluster->subscribe_type);
    }
    if (err == TROUPE_OK) {
        err = trp_link_service_register(cluster->link, TRP_SERVICE_CLUSTER, system,
                                        driver_on_service, cluster);
    }
    if (err == TROUPE_OK) {
        err = trp_link_listen(cluster->link, system, driver_on_link_event, cluster);
    }
    return err == TROUPE_OK ? trp_runtime_add_hook(cluster->runtime, &hook) : err;
}

troupe_err_t trp_cluster_create(const trp_cluster_driver_options_t *options,
                                trp_cluster_t **ret_cluster)
{
    TRP_ASSERT(options->runtime != NULL);
    TRP_ASSERT(options->link != NULL);
    trp_cluster_t *cluster = trp_calloc(1, sizeof(*cluster));
    if (cluster == NULL) {
        return TROUPE_ENOMEM;
    }
    if (pthread_mutex_init(&cluster->mutex, NULL) != 0) {
        trp_free(cluster);
        return TROUPE_ENOMEM;
    }
    cluster->options = *options;
    cluster->runtime = options->runtime;
    cluster->link = options->link;
    cluster->log = options->log;
    cluster->alarm.fn = driver_on_alarm;
    atomic_init(&cluster->actor, 0);
    troupe_err_t err = driver_register(cluster);
    if (err != TROUPE_OK) {
        /* What was registered is never called: neither runtime nor link will start. */
        trp_cluster_destroy(&cluster);
        return err;
    }
    *ret_cluster = cluster;
    return TROUPE_OK;
}

troupe_err_t trp_cluster_start(trp_cluster_t *cluster)
{
    trp_cluster_options_t options = cluster->options.core;
    trp_cluster_core_t *core = NULL;
    options.address = trp_link_address(cluster->link);
    troupe_err_t err = trp_random_system(&options.random_seed, sizeof(options.random_seed));
    if (err == TROUPE_OK) {
        err = trp_subscribers_start(cluster);
    }
    if (err == TROUPE_OK) {
        err = trp_cluster_core_create(&options, trp_clock_now(), &core);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    pthread_mutex_lock(&cluster->mutex);
    TRP_ASSERT(cluster->core == NULL);
    cluster->core = core;
    trp_cluster_core_tick(core, trp_clock_now());
    pthread_mutex_unlock(&cluster->mutex);
    return driver_poll(cluster);
}

/* The last messages go out from here: the system dispatcher may have no time left. */
void trp_cluster_stop(trp_cluster_t *cluster)
{
    trp_output_t output;
    uint64_t wakeup = 0;
    if (cluster == NULL) {
        return;
    }
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return;
    }
    trp_cluster_core_stop(core, trp_clock_now());
    driver_leave(cluster);
    while (driver_next(cluster, &output, &wakeup)) {
        if (output.kind == TRP_OUTPUT_SEND) {
            (void)!trp_link_control_send(cluster->link, output.uid, TRP_SERVICE_CLUSTER,
                                         output.data, output.size);
        }
        trp_output_fini(&output);
    }
    pthread_mutex_lock(&cluster->mutex);
    cluster->is_stopped = true;
    pthread_mutex_unlock(&cluster->mutex);
}

void trp_cluster_destroy(trp_cluster_t **cluster_p)
{
    trp_cluster_t *cluster = *cluster_p;
    *cluster_p = NULL;
    if (cluster == NULL) {
        return;
    }
    trp_cluster_core_destroy(&cluster->core);
    (void)pthread_mutex_destroy(&cluster->mutex);
    trp_free(cluster);
}

/* ---- words from other threads ----------------------------------------------------------------- */

troupe_err_t trp_cluster_leave(trp_cluster_t *cluster)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return TROUPE_ENOTREADY;
    }
    trp_cluster_core_leave(core, trp_clock_now());
    driver_leave(cluster);
    return driver_poll(cluster);
}

troupe_err_t trp_cluster_ready(trp_cluster_t *cluster)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return TROUPE_ENOTREADY;
    }
    trp_cluster_core_ready(core, trp_clock_now());
    driver_leave(cluster);
    return driver_poll(cluster);
}

troupe_err_t trp_cluster_join(trp_cluster_t *cluster, const char *const *addresses, size_t len)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return TROUPE_ENOTREADY;
    }
    trp_cluster_core_join(core, trp_clock_now(), addresses, len);
    driver_leave(cluster);
    return driver_poll(cluster);
}

typedef troupe_err_t (*driver_word_fn)(trp_cluster_core_t *core, uint64_t now, uint64_t uid);

/* An operator's word about a member. */
static troupe_err_t driver_say(trp_cluster_t *cluster, uint64_t uid, driver_word_fn word)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return TROUPE_ENOTREADY;
    }
    troupe_err_t err = word(core, trp_clock_now(), uid);
    driver_leave(cluster);
    if (err != TROUPE_OK) {
        return err == TROUPE_ENOENT ? TROUPE_ENODE : err;
    }
    return driver_poll(cluster);
}

troupe_err_t trp_cluster_down(trp_cluster_t *cluster, uint64_t uid)
{
    return driver_say(cluster, uid, trp_cluster_core_down);
}

troupe_err_t trp_cluster_leave_member(trp_cluster_t *cluster, uint64_t uid)
{
    return driver_say(cluster, uid, trp_cluster_core_leave_member);
}

/* ---- questions -------------------------------------------------------------------------------- */

troupe_err_t trp_cluster_members(trp_cluster_t *cluster, troupe_member_t *ret_members,
                                 size_t capacity, size_t *ret_len)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return TROUPE_ENOTREADY;
    }
    size_t len = trp_cluster_core_len(core);
    for (size_t i = 0; i < len && i < capacity; i++) {
        trp_cluster_core_view(core, trp_cluster_core_at(core, i), &ret_members[i]);
    }
    driver_leave(cluster);
    *ret_len = len;
    return TROUPE_OK;
}

troupe_err_t trp_cluster_member(trp_cluster_t *cluster, uint64_t uid, troupe_member_t *ret_member)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return TROUPE_ENOTREADY;
    }
    const trp_member_t *member = trp_cluster_core_find(core, uid);
    if (member != NULL) {
        trp_cluster_core_view(core, member, ret_member);
    }
    driver_leave(cluster);
    return member == NULL ? TROUPE_ENODE : TROUPE_OK;
}

uint64_t trp_cluster_leader(trp_cluster_t *cluster)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return 0;
    }
    uint64_t uid = trp_cluster_core_leader(core);
    driver_leave(cluster);
    return uid;
}

uint64_t trp_cluster_oldest(trp_cluster_t *cluster)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return 0;
    }
    uint64_t uid = trp_cluster_core_oldest(core);
    driver_leave(cluster);
    return uid;
}

uint32_t trp_cluster_health(trp_cluster_t *cluster)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    if (core == NULL) {
        return 0;
    }
    uint32_t health = trp_cluster_core_health(core);
    driver_leave(cluster);
    return health;
}

void trp_cluster_stats(trp_cluster_t *cluster, trp_cluster_stats_t *ret_stats)
{
    trp_cluster_core_t *core = driver_enter(cluster);
    memset(ret_stats, 0, sizeof(*ret_stats));
    if (core != NULL) {
        *ret_stats = *trp_cluster_core_stats(core);
        driver_leave(cluster);
    }
}

troupe_type_t trp_cluster_event_type(const trp_cluster_t *cluster)
{
    return cluster->event_type;
}

troupe_type_t trp_cluster_subscribe_type(const trp_cluster_t *cluster)
{
    return cluster->subscribe_type;
}

troupe_ref_t trp_cluster_actor(const trp_cluster_t *cluster)
{
    /* Acquire: pairs with the release in trp_subscribers_start. */
    uint64_t id = atomic_load_explicit(&cluster->actor, memory_order_acquire);
    return (troupe_ref_t){id == 0 ? 0 : cluster->runtime->uid, id};
}

trp_cluster_t *trp_cluster_of(const trp_dispatcher_t *d)
{
    return d->ext[TRP_EXT_CLUSTER];
}
