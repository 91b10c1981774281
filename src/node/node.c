/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The life of a node: makes the rooms, starts them in order, and stops them in order. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "node/admin.h"
#include "node/lookup.h"
#include "node/node_cluster.h"
#include "node/node_parts.h"
#include "node/node_private.h"

/* Shares of the time a stop may take, in percent; what a step leaves over goes to the next ones. */
#define NODE_LEAVE_SHARE 50u
#define NODE_USERS_SHARE 80u
#define NODE_SYSTEM_SHARE 95u

/* ---- signals ------------------------------------------------------------------------------------ */

/* Threads that the rooms make, now or later from these, take over that all signals are blocked: they
 * are the program's. */
static void node_block_signals(sigset_t *ret_before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, ret_before);
}

static void node_restore_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- create ------------------------------------------------------------------------------------- */

static void node_open_log(trp_node_t *node)
{
    const troupe_node_options_t *options = &node->settings.values.node;
    trp_log_init(&node->log, options->log, options->log_user, options->log_level);
    for (size_t i = 0; i < TROUPE_LOG_ROOM_COUNT; i++) {
        trp_log_set_level(&node->log, (troupe_log_room_t)i, node->settings.log_levels[i]);
    }
}

/* What is wrong with the options can only be told through the sink that they bring along. */
static void node_complain(const troupe_node_options_t *options, const char *problem)
{
    trp_log_t log;
    if (options->size < offsetof(troupe_node_options_t, log_level)) {
        return;
    }
    trp_log_init(&log, options->log, options->log_user, TROUPE_LOG_INFO);
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_ERROR, "node.options", "problem=%s", problem);
}

/* Deadlines are of the monotonic clock. These calls fail only for want of memory. */
static bool node_init_changed(pthread_cond_t *changed)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool is_good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return is_good;
}

static troupe_err_t node_init_state(trp_node_t *node)
{
    node->stop_error = TROUPE_OK;
    atomic_init(&node->state, TROUPE_NODE_CREATED);
    if (pthread_mutex_init(&node->mutex, NULL) != 0) {
        return TROUPE_ENOMEM;
    }
    if (pthread_mutex_init(&node->telling, NULL) != 0) {
        pthread_mutex_destroy(&node->mutex);
        return TROUPE_ENOMEM;
    }
    if (!node_init_changed(&node->changed)) {
        pthread_mutex_destroy(&node->telling);
        pthread_mutex_destroy(&node->mutex);
        return TROUPE_ENOMEM;
    }
    return TROUPE_OK;
}

static troupe_err_t node_draw_uid(trp_node_t *node)
{
    troupe_err_t err = TROUPE_OK;
    while (node->uid == 0 && err == TROUPE_OK) {
        err = trp_random_system(&node->uid, sizeof(node->uid));
    }
    return err;
}

/* The rooms, from the lowest up. What was made when one fails is ended by destroy. */
static troupe_err_t node_make_rooms(trp_node_t *node)
{
    troupe_err_t err = node_draw_uid(node);
    if (err == TROUPE_OK) {
        err = trp_node_make_runtime(node);
    }
    if (err == TROUPE_OK && node->settings.has_links) {
        err = trp_node_make_link(node);
    }
    if (err == TROUPE_OK) {
        err = trp_node_make_pubsub(node);
    }
    if (err == TROUPE_OK && node->settings.has_links) {
        err = trp_node_cluster_create(node, &node->cluster);
    }
    return err == TROUPE_OK ? trp_lookup_init(node) : err;
}

troupe_err_t troupe_node_create(const troupe_node_options_t *options, troupe_node_t **ret_node)
{
    char problem[TRP_OPTION_PROBLEM_SIZE];
    if (options == NULL || ret_node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_node_t *node = trp_calloc(1, sizeof(*node));
    if (node == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = trp_settings_init(&node->settings, options, problem);
    if (err != TROUPE_OK) {
        node_complain(options, problem);
        trp_free(node);
        return err;
    }
    node_open_log(node);
    err = node_init_state(node);
    if (err != TROUPE_OK) {
        trp_settings_fini(&node->settings);
        trp_free(node);
        return err;
    }
    troupe_node_t *made = &node->base;
    sigset_t signals;
    node_block_signals(&signals);
    err = node_make_rooms(node);
    node_restore_signals(&signals);
    if (err != TROUPE_OK) {
        troupe_node_destroy(&made);
        return err;
    }
    *ret_node = made;
    return TROUPE_OK;
}

/* ---- start -------------------------------------------------------------------------------------- */

static bool node_is_dispatcher(const trp_node_t *node)
{
    pid_t self = gettid();
    for (uint32_t i = 0; i < node->base.runtime->len; i++) {
        if (node->threads[i] == self) {
            return true;
        }
    }
    return false;
}

static troupe_err_t node_start_rooms(trp_node_t *node)
{
    troupe_err_t err = trp_runtime_start(node->base.runtime);
    if (err != TROUPE_OK) {
        return err;
    }
    node->has_runtime_started = true;
    err = trp_lookup_start(node);
    if (err == TROUPE_OK && node->link != NULL) {
        err = trp_link_start(node->link);
        node->has_link_started = err == TROUPE_OK;
    }
    if (err == TROUPE_OK && node->settings.values.node.admin_socket != NULL) {
        err = trp_admin_open(node, &node->admin);
    }
    if (err == TROUPE_OK) {
        trp_node_set_state(node, TROUPE_NODE_JOINING, TROUPE_OK);
    }
    if (err == TROUPE_OK && node->cluster != NULL) {
        err = trp_node_cluster_start(node->cluster);
    } else if (err == TROUPE_OK) {
        trp_node_set_state(node, TROUPE_NODE_UP, TROUPE_OK);
    }
    return err;
}

troupe_err_t troupe_node_start(troupe_node_t *public_node)
{
    if (public_node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_node_t *node = trp_node_of(public_node);
    if (node->started_ms != 0) {
        return TROUPE_EBUSY;
    }
    node->started_ms = trp_clock_wall_ms();
    TRP_LOG(&node->log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "node.start", "uid=%016llx cluster=%s",
            (unsigned long long)node->uid, node->settings.values.node.cluster_name);
    sigset_t signals;
    node_block_signals(&signals);
    troupe_err_t err = node_start_rooms(node);
    node_restore_signals(&signals);
    if (err != TROUPE_OK) {
        TRP_LOG(&node->log, TROUPE_LOG_NODE, TROUPE_LOG_ERROR, "node.start_failed", "error=%s",
                troupe_err_name(err));
        (void)!troupe_node_stop(public_node, 0);
    }
    return err;
}

/* ---- stop --------------------------------------------------------------------------------------- */

static uint64_t node_share(uint64_t begin_ns, uint32_t timeout_ms, uint32_t percent)
{
    return begin_ns + trp_clock_from_ms(timeout_ms) / 100 * percent;
}

/* Keeps the first error and goes on. */
static void node_note(trp_node_t *node, troupe_err_t *first, troupe_err_t err, const char *step)
{
    if (err != TROUPE_OK) {
        TRP_LOG(&node->log, TROUPE_LOG_NODE, TROUPE_LOG_WARN, "node.stop_cut_short",
                "step=%s error=%s", step, troupe_err_name(err));
        *first = *first == TROUPE_OK ? err : *first;
    }
}

static troupe_err_t node_stop_rooms(trp_node_t *node, uint32_t timeout_ms)
{
    uint64_t begin = trp_clock_now();
    troupe_err_t err = TROUPE_OK;
    trp_admin_close(&node->admin);
    if (node->cluster != NULL && node->has_link_started) {
        node_note(node, &err,
                  trp_node_cluster_leave_and_wait(node->cluster,
                                                  node_share(begin, timeout_ms, NODE_LEAVE_SHARE)),
                  "leave");
    }
    trp_node_set_state(node, TROUPE_NODE_STOPPING, TROUPE_OK);
    if (node->has_runtime_started) {
        node_note(node, &err,
                  trp_runtime_stop_users(node->base.runtime,
                                         node_share(begin, timeout_ms, NODE_USERS_SHARE)),
                  "users");
        trp_node_cluster_stop(node->cluster);
        node_note(node, &err,
                  trp_runtime_stop_system(node->base.runtime,
                                          node_share(begin, timeout_ms, NODE_SYSTEM_SHARE)),
                  "system");
    }
    if (node->has_link_started) {
        trp_link_stop(node->link);
    }
    if (node->has_runtime_started) {
        trp_runtime_stop(node->base.runtime);
    }
    return err;
}

/* True for the one caller that is to stop the node; the others wait for it. */
static bool node_begin_stop(trp_node_t *node)
{
    pthread_mutex_lock(&node->mutex);
    bool is_first = !node->is_stop_begun;
    node->is_stop_begun = true;
    while (!is_first && !node->is_stop_done) {
        pthread_cond_wait(&node->changed, &node->mutex);
    }
    pthread_mutex_unlock(&node->mutex);
    return is_first;
}

troupe_err_t troupe_node_stop(troupe_node_t *public_node, uint32_t timeout_ms)
{
    if (public_node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_node_t *node = trp_node_of(public_node);
    if (node_is_dispatcher(node)) {
        return TROUPE_ETHREAD;
    }
    if (!node_begin_stop(node)) {
        return node->stop_error;
    }
    troupe_err_t err = node_stop_rooms(node, timeout_ms);
    pthread_mutex_lock(&node->mutex);
    node->stop_error = err;
    node->is_stop_done = true;
    pthread_cond_broadcast(&node->changed);
    pthread_mutex_unlock(&node->mutex);
    trp_node_set_state(node, TROUPE_NODE_STOPPED, err);
    return err;
}

void troupe_node_destroy(troupe_node_t **public_node)
{
    if (public_node == NULL || *public_node == NULL) {
        return;
    }
    trp_node_t *node = trp_node_of(*public_node);
    if (node->started_ms != 0) {
        (void)!troupe_node_stop(*public_node, 0);
    }
    trp_node_cluster_destroy(&node->cluster);
    trp_pubsub_destroy(&node->pubsub);
    trp_link_destroy(&node->link);
    trp_runtime_destroy(&node->base.runtime);
    pthread_cond_destroy(&node->changed);
    pthread_mutex_destroy(&node->telling);
    pthread_mutex_destroy(&node->mutex);
    trp_settings_fini(&node->settings);
    trp_free(node);
    *public_node = NULL;
}

/* ---- questions ------------------------------------------------------------------------------------ */

uint64_t troupe_node_uid(const troupe_node_t *node)
{
    return node != NULL ? trp_node_of_const(node)->uid : 0;
}

const char *troupe_node_address(const troupe_node_t *node)
{
    const trp_node_t *own = node != NULL ? trp_node_of_const(node) : NULL;
    return own != NULL && own->has_link_started ? trp_link_address(own->link) : "";
}

const char *troupe_node_cluster(const troupe_node_t *node)
{
    return node != NULL ? trp_node_of_const(node)->settings.values.node.cluster_name : "";
}

troupe_err_t troupe_node_leave(troupe_node_t *node)
{
    if (node == NULL) {
        return TROUPE_EINVAL;
    }
    trp_node_t *own = trp_node_of(node);
    if (own->cluster != NULL) {
        return trp_node_cluster_leave(own->cluster);
    }
    trp_node_set_state(own, TROUPE_NODE_LEFT, TROUPE_OK);
    return TROUPE_OK;
}
