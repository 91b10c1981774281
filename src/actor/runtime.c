/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/runtime.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actor/deliver.h"
#include "actor/events.h"
#include "actor/life.h"
#include "actor/offload.h"
#include "actor/outside.h"
#include "actor/spawn.h"
#include "actor/watchdog.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"

#define CEILING_DEFAULT ((size_t)1024 * 1024 * 1024)
#define THROUGHPUT_DEFAULT 64u
#define SLICE_NS_DEFAULT UINT64_C(1000000)
#define SLOW_RECEIVE_NS_DEFAULT UINT64_C(200000000)
#define OFFLOAD_THREADS_DEFAULT 4u
#define OFFLOAD_QUEUE_DEFAULT 4096u

/* ---- options and groups ---------------------------------------------------------------------- */

static uint32_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return 1;
    }
    int len = CPU_COUNT(&set);
    return len < 1 ? 1 : (uint32_t)len;
}

static void options_fill(trp_runtime_options_t *options)
{
    options->dispatchers = options->dispatchers == 0 ? processors() : options->dispatchers;
    options->ceiling = options->ceiling == 0 ? CEILING_DEFAULT : options->ceiling;
    options->throughput = options->throughput == 0 ? THROUGHPUT_DEFAULT : options->throughput;
    options->slice_ns = options->slice_ns == 0 ? SLICE_NS_DEFAULT : options->slice_ns;
    if (options->slow_receive_ns == 0) {
        options->slow_receive_ns = SLOW_RECEIVE_NS_DEFAULT;
    }
    if (options->offload_threads == 0) {
        options->offload_threads = OFFLOAD_THREADS_DEFAULT;
    }
    if (options->offload_queue_max == 0) {
        options->offload_queue_max = OFFLOAD_QUEUE_DEFAULT;
    }
}

static troupe_err_t group_add(trp_runtime_t *runtime, const char *name, uint32_t len)
{
    size_t size = strlen(name);
    if (size == 0 || size > TRP_GROUP_NAME_SIZE_MAX || len == 0) {
        return TROUPE_EINVAL;
    }
    if (runtime->groups_len == TRP_GROUPS_MAX || len > TRP_DISPATCHERS_MAX - runtime->len) {
        return TROUPE_EFULL;
    }
    for (uint32_t i = 0; i < runtime->groups_len; i++) {
        if (strcmp(runtime->groups[i].name, name) == 0) {
            return TROUPE_EEXIST;
        }
    }
    trp_group_t *group = &runtime->groups[runtime->groups_len++];
    memcpy(group->name, name, size + 1);
    group->first = runtime->len;
    group->len = len;
    runtime->len += len;
    return TROUPE_OK;
}

/* The default group is the first, the system's the last. */
static troupe_err_t groups_fill(trp_runtime_t *runtime)
{
    const trp_runtime_options_t *options = &runtime->options;
    troupe_err_t err = group_add(runtime, TRP_GROUP_DEFAULT, options->dispatchers);
    for (size_t i = 0; i < options->groups_len && err == TROUPE_OK; i++) {
        err = group_add(runtime, options->groups[i].name, options->groups[i].len);
    }
    return err == TROUPE_OK ? group_add(runtime, TRP_GROUP_SYSTEM, 1) : err;
}

/* ---- creating -------------------------------------------------------------------------------- */

static troupe_err_t shared_init(trp_runtime_t *runtime)
{
    uint64_t seed = 0;
    troupe_err_t err = trp_random_system(&seed, sizeof(seed));
    if (err == TROUPE_OK) {
        err = trp_depot_init(&runtime->depot, runtime->options.ceiling);
    }
    if (err == TROUPE_OK) {
        err = trp_names_init(&runtime->names, seed);
    }
    if (err == TROUPE_OK) {
        err = trp_types_init(&runtime->types, seed);
    }
    if (err == TROUPE_OK) {
        err = trp_events_create(&runtime->events);
    }
    if (err == TROUPE_OK && pthread_mutex_init(&runtime->endpoints_mutex, NULL) != 0) {
        err = TROUPE_ESYSTEM;
    }
    return err;
}

static troupe_err_t life_init(trp_runtime_t *runtime)
{
    pthread_condattr_t attributes;
    (void)pthread_mutex_init(&runtime->life_mutex, NULL);
    if (pthread_condattr_init(&attributes) != 0) {
        return TROUPE_ESYSTEM;
    }
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&runtime->life_changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return failed == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

static troupe_err_t dispatchers_create(trp_runtime_t *runtime)
{
    for (uint32_t i = 0; i < runtime->len; i++) {
        troupe_err_t err = trp_dispatcher_create(runtime, i, &runtime->dispatchers[i]);
        if (err == TROUPE_OK) {
            runtime->endpoints[i] = &runtime->dispatchers[i]->endpoint;
            err = trp_endpoint_connect(runtime->endpoints[i]);
        }
        if (err != TROUPE_OK) {
            return err;
        }
    }
    atomic_store_explicit(&runtime->endpoints_len, runtime->len, memory_order_relaxed);
    return TROUPE_OK;
}

troupe_err_t trp_runtime_create(const trp_runtime_options_t *options, trp_runtime_t **ret_runtime)
{
    if (options->uid == 0) {
        return TROUPE_EINVAL;
    }
    trp_runtime_t *runtime = trp_calloc(1, sizeof(*runtime));
    if (runtime == NULL) {
        return TROUPE_ENOMEM;
    }
    runtime->uid = options->uid;
    runtime->options = *options;
    runtime->log = options->log;
    options_fill(&runtime->options);
    troupe_err_t err = groups_fill(runtime);
    if (err == TROUPE_OK) {
        err = life_init(runtime);
    }
    if (err == TROUPE_OK) {
        err = shared_init(runtime);
    }
    if (err == TROUPE_OK) {
        runtime->watchdog = trp_calloc(1, sizeof(*runtime->watchdog));
        err = runtime->watchdog == NULL ? TROUPE_ENOMEM : dispatchers_create(runtime);
    }
    if (err != TROUPE_OK) {
        trp_runtime_destroy(&runtime);
        return err;
    }
    runtime->options.groups = NULL; /* Borrowed for this call only. */
    runtime->options.groups_len = 0;
    *ret_runtime = runtime;
    return TROUPE_OK;
}

troupe_err_t trp_runtime_add_hook(trp_runtime_t *runtime, const trp_runtime_hook_t *hook)
{
    if (runtime->hooks_len == TRP_HOOKS_MAX) {
        return TROUPE_EFULL;
    }
    runtime->hooks[runtime->hooks_len++] = *hook;
    return TROUPE_OK;
}

void trp_runtime_set_remote(trp_runtime_t *runtime, const trp_remote_port_t *port)
{
    runtime->remote = *port;
}

void trp_runtime_set_topic_fn(trp_runtime_t *runtime, trp_topic_fn fn, void *context)
{
    runtime->topic_fn = fn;
    runtime->topic_context = context;
}

/* ---- guardians ------------------------------------------------------------------------------- */

static troupe_err_t guardian_receive(troupe_actor_t *self, void *state,
                                     const troupe_message_t *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TROUPE_OK; /* Nobody has business with a guardian; the message counts as taken. */
}

static const troupe_behavior_t guardian_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "troupe.guardian",
    .receive = guardian_receive,
};

static troupe_err_t guardians_spawn(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    const struct {
        const char *name;
        uint64_t *id;
    } guardians[] = {{"user", &runtime->guardian_user},
                     {"system", &runtime->guardian_system},
                     {"temp", &runtime->guardian_temp},
                     {"remote", &runtime->guardian_remote}};
    for (size_t i = 0; i < TRP_ARRAY_LEN(guardians); i++) {
        troupe_err_t err =
            trp_spawn_guardian(d, &guardian_behavior, guardians[i].name, guardians[i].id);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

void trp_guardian_ended(trp_runtime_t *runtime, uint64_t id)
{
    pthread_mutex_lock(&runtime->life_mutex);
    if (id == runtime->guardian_user) {
        runtime->is_user_ended = true;
    } else if (id == runtime->guardian_system) {
        runtime->is_system_ended = true;
    }
    pthread_cond_broadcast(&runtime->life_changed);
    pthread_mutex_unlock(&runtime->life_mutex);
}

/* ---- threads --------------------------------------------------------------------------------- */

static troupe_err_t dispatcher_attach(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    troupe_err_t err = TROUPE_OK;
    if (d->index == trp_runtime_system_index(runtime)) {
        err = guardians_spawn(d);
        trp_watchdog_start(d, runtime->watchdog, runtime->options.slow_receive_ns);
    }
    for (uint32_t i = 0; i < runtime->hooks_len && err == TROUPE_OK; i++) {
        err = runtime->hooks[i].attach(runtime->hooks[i].context, d);
        d->hooks_attached += err == TROUPE_OK ? 1 : 0;
    }
    return err;
}

static void dispatcher_detach(trp_dispatcher_t *d)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    trp_life_end_all(d);
    while (d->hooks_attached > 0) {
        d->hooks_attached--;
        runtime->hooks[d->hooks_attached].detach(runtime->hooks[d->hooks_attached].context, d);
    }
}

static void dispatcher_pin(const trp_dispatcher_t *d)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(d->index % processors(), &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *dispatcher_main(void *argument)
{
    trp_dispatcher_t *d = argument;
    trp_runtime_t *runtime = d->endpoint.runtime;
    if (runtime->options.pin_threads) {
        dispatcher_pin(d);
    }
    troupe_err_t err = dispatcher_attach(d);
    pthread_mutex_lock(&runtime->life_mutex);
    d->start_error = err;
    runtime->started++;
    pthread_cond_broadcast(&runtime->life_changed);
    pthread_mutex_unlock(&runtime->life_mutex);
    if (err == TROUPE_OK) {
        trp_dispatcher_run(d);
    }
    dispatcher_detach(d);
    return NULL;
}

/* The library's threads take no signals: those are the program's. */
static troupe_err_t dispatcher_start(trp_dispatcher_t *d)
{
    sigset_t all;
    sigset_t before;
    char name[16];
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&d->thread, NULL, dispatcher_main, d);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        return TROUPE_ESYSTEM;
    }
    d->has_thread = true;
    (void)snprintf(name, sizeof(name), "troupe-d%u", d->index % TRP_DISPATCHERS_MAX);
    (void)pthread_setname_np(d->thread, name);
    return TROUPE_OK;
}

static troupe_err_t threads_await(trp_runtime_t *runtime)
{
    troupe_err_t err = TROUPE_OK;
    pthread_mutex_lock(&runtime->life_mutex);
    while (runtime->started < runtime->len) {
        (void)pthread_cond_wait(&runtime->life_changed, &runtime->life_mutex);
    }
    for (uint32_t i = 0; i < runtime->len && err == TROUPE_OK; i++) {
        err = runtime->dispatchers[i]->start_error;
    }
    pthread_mutex_unlock(&runtime->life_mutex);
    return err;
}

troupe_err_t trp_runtime_start(trp_runtime_t *runtime)
{
    TRP_ASSERT(!atomic_load_explicit(&runtime->is_running, memory_order_relaxed));
    troupe_err_t err = trp_offload_create(runtime, runtime->options.offload_threads,
                                          runtime->options.offload_queue_max, &runtime->offload);
    /* The system's first: the guardians are there before any other dispatcher runs. */
    for (uint32_t i = runtime->len; i-- > 0 && err == TROUPE_OK;) {
        err = dispatcher_start(runtime->dispatchers[i]);
    }
    if (err == TROUPE_OK) {
        err = threads_await(runtime);
    }
    if (err == TROUPE_OK) {
        atomic_store_explicit(&runtime->is_running, true, memory_order_release);
        return TROUPE_OK;
    }
    trp_runtime_stop(runtime);
    return err;
}

/* ---- stopping -------------------------------------------------------------------------------- */

static troupe_err_t guardian_stop(trp_runtime_t *runtime, uint64_t guardian, const bool *is_ended,
                                  uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / TRP_NS_PER_S),
                                (long)(deadline_ns % TRP_NS_PER_S)};
    int result = 0;
    if (!atomic_load_explicit(&runtime->is_running, memory_order_acquire)) {
        return TROUPE_OK;
    }
    troupe_ref_t who = {runtime->uid, guardian};
    while (trp_outside_system(runtime, who, TRP_SYSTEM_KILL) == TROUPE_ENOMEM &&
           trp_clock_now() < deadline_ns) {
        (void)sched_yield();
    }
    pthread_mutex_lock(&runtime->life_mutex);
    while (!*is_ended && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&runtime->life_changed, &runtime->life_mutex, &deadline);
    }
    troupe_err_t err = *is_ended ? TROUPE_OK : TROUPE_ETIMEOUT;
    pthread_mutex_unlock(&runtime->life_mutex);
    return err;
}

troupe_err_t trp_runtime_stop_users(trp_runtime_t *runtime, uint64_t deadline_ns)
{
    return guardian_stop(runtime, runtime->guardian_user, &runtime->is_user_ended, deadline_ns);
}

troupe_err_t trp_runtime_stop_system(trp_runtime_t *runtime, uint64_t deadline_ns)
{
    return guardian_stop(runtime, runtime->guardian_system, &runtime->is_system_ended, deadline_ns);
}

static void outbox_free(trp_dispatcher_t *d, trp_channel_t *channel)
{
    trp_message_t *message = NULL;
    while ((message = channel->outbox_head) != NULL) {
        channel->outbox_head = message->next;
        trp_leftover_free(d, message);
    }
    channel->outbox_tail = NULL;
    channel->outbox_len = 0;
}

/* Frees what a dispatcher that has ended will not take any more, so that bodies and jobs in it end and
 * whoever waits for a task is told. The outboxes of `producers` endpoints have no owner any more. */
static void leftovers_free(trp_dispatcher_t *d, uint32_t producers)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    trp_message_t *message = NULL;
    while ((message = trp_injector_pop(&d->injector)) != NULL) {
        trp_leftover_free(d, message);
    }
    uint32_t len = atomic_load_explicit(&runtime->endpoints_len, memory_order_acquire);
    for (uint32_t from = 0; from < len; from++) {
        trp_channel_t *channel =
            __atomic_load_n(&runtime->channels[from][d->index], __ATOMIC_ACQUIRE);
        while (channel != NULL && trp_channel_poll(channel) > 0) {
            trp_leftover_free(d, trp_channel_peek(channel, 0));
            trp_channel_release(channel, 1);
        }
        if (channel != NULL && from < producers) {
            outbox_free(d, channel);
        }
    }
    while ((message = d->task_first) != NULL) {
        d->task_first = message->next;
        trp_leftover_free(d, message);
    }
}

static void leftovers_free_all(trp_runtime_t *runtime, uint32_t producers)
{
    for (uint32_t i = 0; i < runtime->len; i++) {
        if (runtime->dispatchers[i] != NULL) {
            leftovers_free(runtime->dispatchers[i], producers);
        }
    }
}

void trp_runtime_stop(trp_runtime_t *runtime)
{
    /* Sequentially consistent: pairs with trp_runtime_post_task. */
    atomic_store_explicit(&runtime->is_running, false, memory_order_seq_cst);
    trp_names_close(&runtime->names);
    if (runtime->offload != NULL) {
        trp_offload_stop(runtime->offload);
    }
    for (uint32_t i = 0; i < runtime->len; i++) {
        trp_dispatcher_t *d = runtime->dispatchers[i];
        if (d != NULL) {
            atomic_store_explicit(&d->must_end, true, memory_order_release);
            trp_waker_wake(&d->endpoint.waker);
        }
    }
    for (uint32_t i = 0; i < runtime->len; i++) {
        trp_dispatcher_t *d = runtime->dispatchers[i];
        if (d != NULL && d->has_thread) {
            (void)pthread_join(d->thread, NULL);
            d->has_thread = false;
        }
    }
    while (atomic_load_explicit(&runtime->posting, memory_order_seq_cst) > 0) {
        (void)sched_yield();
    }
    leftovers_free_all(runtime, runtime->len);
}

void trp_runtime_destroy(trp_runtime_t **runtime_p)
{
    trp_runtime_t *runtime = *runtime_p;
    if (runtime == NULL) {
        return;
    }
    *runtime_p = NULL;
    trp_runtime_stop(runtime);
    leftovers_free_all(runtime, TRP_ENDPOINTS_MAX);
    trp_offload_destroy(&runtime->offload);
    for (uint32_t i = 0; i < runtime->len; i++) {
        trp_dispatcher_destroy(&runtime->dispatchers[i]);
    }
    for (uint32_t from = 0; from < TRP_ENDPOINTS_MAX; from++) {
        for (uint32_t to = 0; to < runtime->len; to++) {
            trp_free(runtime->channels[from][to]);
        }
    }
    trp_free(runtime->watchdog);
    trp_events_destroy(&runtime->events);
    trp_types_fini(&runtime->types);
    trp_names_fini(&runtime->names);
    trp_depot_fini(&runtime->depot);
    (void)pthread_mutex_destroy(&runtime->endpoints_mutex);
    (void)pthread_cond_destroy(&runtime->life_changed);
    (void)pthread_mutex_destroy(&runtime->life_mutex);
    trp_free(runtime);
}
