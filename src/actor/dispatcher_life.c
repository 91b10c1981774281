/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Dispatchers are made and ended, on the thread that starts and ends the node. */

#include "actor/dispatcher.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "actor/unborn.h"
#include "base/clock.h"
#include "base/memory.h"

void trp_dispatcher_fill_reserve(trp_dispatcher_t *d)
{
    while (d->reserve_len < TRP_SYSTEM_RESERVE) {
        trp_message_t *message = trp_pool_take(&d->endpoint.pool, 0, true);
        if (message == NULL) {
            return;
        }
        message->next = d->reserve;
        d->reserve = message;
        d->reserve_len++;
    }
}

static troupe_err_t dispatcher_open(trp_dispatcher_t *d)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = NULL}};
    troupe_err_t err = trp_pool_open(&d->endpoint.pool, &d->endpoint.runtime->depot);
    if (err == TROUPE_OK) {
        err = trp_unborn_init(d);
    }
    if (err == TROUPE_OK) {
        err = trp_waker_init(&d->endpoint.waker);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    trp_dispatcher_fill_reserve(d);
    if (d->reserve_len < TRP_SYSTEM_RESERVE) {
        return TROUPE_ENOMEM;
    }
    d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (d->epoll_fd < 0 ||
        epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, d->endpoint.waker.fd, &event) != 0) {
        return TROUPE_ESYSTEM;
    }
    return TROUPE_OK;
}

troupe_err_t trp_dispatcher_create(trp_runtime_t *runtime, uint32_t index,
                                   trp_dispatcher_t **ret_dispatcher)
{
    trp_dispatcher_t *d = trp_alloc_aligned(TRP_CACHE_LINE, sizeof(*d));
    if (d == NULL) {
        return TROUPE_ENOMEM;
    }
    memset(d, 0, sizeof(*d));
    uint64_t seed = 0;
    d->endpoint.runtime = runtime;
    d->endpoint.index = index;
    d->endpoint.waker.fd = -1;
    d->epoll_fd = -1;
    d->uid = runtime->uid;
    d->index = index;
    d->throughput = runtime->options.throughput;
    d->slice_ns = runtime->options.slice_ns;
    d->types = &runtime->types;
    d->now = trp_clock_now();
    trp_cells_init(&d->cells);
    trp_asks_init(&d->asks, index);
    trp_wheel_init(&d->wheel, d->now);
    d->wheel_next = TRP_CLOCK_NEVER;
    d->leases = trp_calloc(runtime->len, sizeof(*d->leases));
    troupe_err_t err = trp_random_system(&seed, sizeof(seed));
    trp_random_seed(&d->random, seed);
    if (err == TROUPE_OK) {
        err = trp_slots_init(&d->slots, index);
    }
    if (err == TROUPE_OK) {
        err = trp_injector_init(&d->injector);
    }
    if (err == TROUPE_OK) {
        err = d->leases == NULL ? TROUPE_ENOMEM : dispatcher_open(d);
    }
    if (err != TROUPE_OK) {
        trp_dispatcher_destroy(&d);
        return err;
    }
    *ret_dispatcher = d;
    return TROUPE_OK;
}

void trp_dispatcher_destroy(trp_dispatcher_t **d_p)
{
    trp_dispatcher_t *d = *d_p;
    if (d == NULL) {
        return;
    }
    *d_p = NULL;
    if (d->epoll_fd >= 0) {
        (void)close(d->epoll_fd);
    }
    trp_unborn_fini(d);
    while (d->reserve != NULL) {
        trp_message_t *message = d->reserve;
        d->reserve = message->next;
        trp_pool_put(&d->endpoint.pool, 0, message);
    }
    trp_waker_fini(&d->endpoint.waker);
    trp_injector_fini(&d->injector);
    trp_asks_fini(&d->asks);
    trp_slots_fini(&d->slots);
    trp_cells_fini(&d->cells);
    trp_pool_close(&d->endpoint.pool);
    trp_free(d->leases);
    trp_free(d);
}
