/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Making, starting, stopping and ending a link. */

#include "net/link/link.h"

#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "net/link/conn.h"
#include "net/link/deliver.h"
#include "net/link/ins.h"
#include "net/link/loop.h"
#include "net/link/outbox.h"
#include "net/link/router.h"
#include "net/link/socket.h"

/* Of the window: outstanding bytes at which senders are parked, and at which they go on. Twice the
 * window keeps one on its way while the next is filled. */
#define LINK_PARK_SHARE 2u
#define LINK_LOW_SHARE 1u

/* ---- options --------------------------------------------------------------------------------- */

static bool link_text_fits(const char *text, size_t size_max)
{
    return text != NULL && text[0] != '\0' && strlen(text) <= size_max;
}

static troupe_err_t link_check(const trp_link_options_t *options)
{
    bool is_whole = options->size == sizeof(*options) && options->uid != 0 &&
                    link_text_fits(options->cluster, TRP_LINK_CLUSTER_SIZE_MAX) &&
                    link_text_fits(options->name, TRP_LINK_NAME_SIZE_MAX) &&
                    options->listen != NULL && trp_address_is_valid(options->listen);
    bool has_address = options->advertise == NULL || trp_address_is_valid(options->advertise);
    bool has_keys = (options->public_key == NULL) == (options->secret_key == NULL);
    return is_whole && has_address && has_keys ? TROUPE_OK : TROUPE_EINVAL;
}

static troupe_err_t link_copy_keys(trp_link_t *link, const trp_link_options_t *options)
{
    link->has_curve = options->public_key != NULL;
    if (!link->has_curve) {
        return TROUPE_OK;
    }
    link->public_key = *options->public_key;
    link->secret_key = *options->secret_key;
    link->keys = trp_calloc(options->allow_len + 1, sizeof(*link->keys));
    if (link->keys == NULL) {
        return TROUPE_ENOMEM;
    }
    for (size_t i = 0; i < options->allow_len; i++) {
        const trp_link_allow_t *allow = &options->allow[i];
        /* Our own key in the list is good for a file that is the same on all nodes; it is let in, but
         * never taken for a peer's. */
        trp_key_entry_t *entry = &link->keys[link->keys_len++];
        entry->key = allow->public_key;
        const char *address = allow->address != NULL ? allow->address : "";
        (void)trp_text_copy(entry->address, sizeof(entry->address), address);
    }
    return TROUPE_OK;
}

static void link_copy_options(trp_link_t *link, const trp_link_options_t *options)
{
    link->options = *options;
    trp_link_options_t *own = &link->options;
    own->version = own->version != 0 ? own->version : TRP_LINK_VERSION;
    own->version_min = own->version_min != 0 ? own->version_min : TRP_LINK_VERSION_MIN;
    link->runtime = options->runtime;
    link->log = options->log;
    (void)trp_text_copy(link->cluster, sizeof(link->cluster), options->cluster);
    (void)trp_text_copy(link->name, sizeof(link->name), options->name);
    (void)trp_text_copy(link->listen, sizeof(link->listen), options->listen);
    const char *advertise = options->advertise != NULL ? options->advertise : options->listen;
    (void)trp_text_copy(link->advertise, sizeof(link->advertise), advertise);
    link->window = options->window != 0 ? options->window : TRP_LINK_WINDOW;
    link->queue_max =
        options->queue_size_max != 0 ? options->queue_size_max : TRP_LINK_QUEUE_SIZE_MAX;
    link->park_mark = LINK_PARK_SHARE * link->window;
    link->park_low = LINK_LOW_SHARE * link->window;
    uint32_t stall_ms = options->stall_ms != 0 ? options->stall_ms : TRP_LINK_STALL_MS;
    link->stall_ns = trp_clock_from_ms(stall_ms);
    link->connections_max = trp_router_connections_max(options->connections_max);
}

/* ---- making ---------------------------------------------------------------------------------- */

static troupe_err_t link_init_state(trp_link_t *link)
{
    uint64_t seed = 0;
    troupe_err_t err = trp_random_system(&seed, sizeof(seed));
    if (err != TROUPE_OK) {
        return err;
    }
    trp_random_seed(&link->random, seed);
    link->now = trp_clock_now();
    trp_wheel_init(&link->wheel, link->now);
    trp_list_init(&link->conns);
    trp_list_init(&link->graveyard);
    trp_list_init(&link->dials);
    trp_list_init(&link->ins_order);
    trp_list_init(&link->pump);
    trp_table_init(&link->ins, seed ^ 1u, TRP_LINK_INBOUND_MAX);
    trp_buf_init(&link->scratch, TRP_LINK_HELLO_SIZE_MAX);
    trp_handover_init(&link->handover, &link->own_waker);
    trp_listener_init(&link->listener_fd);
    link->epoll_fd = -1;
    link->own_waker.fd = -1;
    link->budget.size_max = TRP_LINK_REASSEMBLY_SIZE_MAX;
    link->budget.depot = link->runtime != NULL ? &link->runtime->depot : NULL;
    err = trp_frame_pool_init(&link->frames);
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_peers_init(&link->registry, seed ^ 2u);
    if (err != TROUPE_OK) {
        trp_frame_pool_fini(&link->frames);
        return err;
    }
    (void)pthread_mutex_init(&link->wait_mutex, NULL);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&link->wait_cond, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return TROUPE_OK;
}

static void link_free(trp_link_t *link)
{
    trp_peers_fini(&link->registry);
    trp_frame_pool_fini(&link->frames);
    trp_table_fini(&link->ins);
    trp_buf_fini(&link->scratch);
    (void)pthread_mutex_destroy(&link->wait_mutex);
    (void)pthread_cond_destroy(&link->wait_cond);
    memset(&link->secret_key, 0, sizeof(link->secret_key));
    trp_free(link->keys);
    trp_free(link);
}

static void link_account(void *context, troupe_flow_t *user, troupe_flow_t *system)
{
    uint64_t in_flight[2] = {0, 0};
    trp_link_in_flight(context, &in_flight[0], &in_flight[1]);
    user->in_flight += in_flight[0];
    system->in_flight += in_flight[1];
    trp_link_count(context, user, system);
}

/* Registers with the runtime as its way to other nodes. */
static troupe_err_t link_join_runtime(trp_link_t *link)
{
    if (link->runtime == NULL) {
        return TROUPE_OK;
    }
    trp_runtime_hook_t hook = {link, trp_outbox_attach, trp_outbox_detach};
    troupe_err_t err = trp_runtime_add_hook(link->runtime, &hook);
    if (err == TROUPE_OK) {
        trp_remote_port_t port = {link, trp_outbox_send, trp_outbox_flush, link_account};
        trp_runtime_set_remote(link->runtime, &port);
    }
    return err;
}

troupe_err_t trp_link_create(const trp_link_options_t *options, trp_link_t **ret_link)
{
    troupe_err_t err = link_check(options);
    if (err != TROUPE_OK) {
        return err;
    }
    trp_link_t *link = trp_alloc_aligned(TRP_CACHE_LINE, sizeof(*link));
    if (link == NULL) {
        return TROUPE_ENOMEM;
    }
    memset(link, 0, sizeof(*link));
    link_copy_options(link, options);
    err = link_init_state(link);
    if (err != TROUPE_OK) {
        trp_free(link);
        return err;
    }
    err = link_copy_keys(link, options);
    if (err == TROUPE_OK) {
        err = link_join_runtime(link);
    }
    if (err != TROUPE_OK) {
        link_free(link);
        return err;
    }
    *ret_link = link;
    return TROUPE_OK;
}

/* ---- starting -------------------------------------------------------------------------------- */

static troupe_err_t link_open_waker(trp_link_t *link)
{
    if (link->runtime == NULL) {
        troupe_err_t err = trp_waker_init(&link->own_waker);
        link->handover.waker = &link->own_waker;
        return err;
    }
    troupe_err_t err = trp_endpoint_open(&link->endpoint, link->runtime);
    link->has_endpoint = err == TROUPE_OK;
    if (err == TROUPE_OK) {
        link->handover.waker = &link->endpoint.waker;
    }
    return err;
}

static troupe_err_t link_open(trp_link_t *link)
{
    link->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (link->epoll_fd < 0) {
        return TROUPE_ESYSTEM;
    }
    troupe_err_t err = link_open_waker(link);
    if (err != TROUPE_OK) {
        return err;
    }
    link->waker_watch = (trp_watch_t){TRP_WATCH_WAKER, NULL};
    err = trp_watch_add_fd(link, link->handover.waker->fd, &link->waker_watch);
    if (err == TROUPE_OK) {
        err = trp_router_open(link);
    }
    if (err == TROUPE_OK) {
        err = trp_router_bind(link);
    }
    return err;
}

static void link_close(trp_link_t *link)
{
    trp_in_drop_peer(link, NULL);
    trp_router_close(link);
    trp_listener_close(&link->listener_fd);
    if (link->epoll_fd >= 0) {
        (void)close(link->epoll_fd);
        link->epoll_fd = -1;
    }
    trp_waker_fini(&link->own_waker);
}

troupe_err_t trp_link_start(trp_link_t *link)
{
    TRP_ASSERT(!link->has_thread);
    if (!link->has_curve && !link->options.insecure_ok && !trp_router_is_loopback(link->listen)) {
        return TROUPE_EPERM;
    }
    troupe_err_t err = link_open(link);
    if (err == TROUPE_OK) {
        atomic_store(&link->is_running, true);
        err = pthread_create(&link->thread, NULL, trp_loop_main, link) == 0 ? TROUPE_OK
                                                                            : TROUPE_ESYSTEM;
    }
    link->has_thread = err == TROUPE_OK;
    if (err != TROUPE_OK) {
        atomic_store(&link->is_running, false);
        link_close(link);
        if (link->has_endpoint) {
            trp_endpoint_close(&link->endpoint);
            link->has_endpoint = false;
        }
    }
    return err;
}

/* ---- ending ---------------------------------------------------------------------------------- */

void trp_link_stop(trp_link_t *link)
{
    if (!link->has_thread) {
        return;
    }
    atomic_store(&link->must_stop, true);
    trp_waker_wake(link->handover.waker);
    (void)pthread_join(link->thread, NULL);
    atomic_store(&link->is_running, false);
    link->has_thread = false;
    link_close(link);
}

void trp_link_destroy(trp_link_t **link_p)
{
    trp_link_t *link = *link_p;
    *link_p = NULL;
    if (link == NULL) {
        return;
    }
    trp_link_stop(link);
    trp_link_end(link);
    if (link->has_endpoint) {
        trp_endpoint_close(&link->endpoint);
    }
    link_free(link);
}

const char *trp_link_address(const trp_link_t *link)
{
    return link->advertise;
}

const char *trp_link_bound(const trp_link_t *link)
{
    return link->listen;
}
