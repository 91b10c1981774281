/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A TCP forwarder for tests: between two nodes it can be cut, and made to swallow or hold what passes.
 * Thread rule: its own thread forwards; the rest is called by the test. */

#ifndef TROUPE_TESTS_LINK_PROXY_H
#define TROUPE_TESTS_LINK_PROXY_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

#define PROXY_PAIRS_MAX 64

typedef struct proxy_pair {
    int near; /* -1: free */
    int far;
} proxy_pair_t;

typedef struct proxy {
    int listener;
    char address[64];
    _Atomic uint16_t target_port;
    _Atomic bool is_held;     /* Nothing is read: what the peers send backs up. */
    _Atomic uint32_t cuts;    /* Wanted. */
    _Atomic uint32_t cut;     /* Done. */
    _Atomic bool is_refusing; /* New connections are closed at once. */
    _Atomic bool must_stop;
    _Atomic uint64_t accepted;
    pthread_t thread;
    proxy_pair_t pairs[PROXY_PAIRS_MAX];
} proxy_t;

static uint16_t proxy_port_of(const char *address)
{
    return (uint16_t)atoi(strrchr(address, ':') + 1);
}

static void proxy_close(proxy_pair_t *pair)
{
    /* A reset, not an orderly end: what is under way is gone. */
    struct linger hard = {1, 0};
    (void)setsockopt(pair->near, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    (void)setsockopt(pair->far, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    (void)close(pair->near);
    (void)close(pair->far);
    pair->near = -1;
}

static void proxy_accept(proxy_t *proxy)
{
    int near = accept(proxy->listener, NULL, NULL);
    if (near < 0) {
        return;
    }
    atomic_fetch_add(&proxy->accepted, 1);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(atomic_load(&proxy->target_port)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int far = atomic_load(&proxy->is_refusing) ? -1 : socket(AF_INET, SOCK_STREAM, 0);
    if (far < 0 || connect(far, (struct sockaddr *)&to, sizeof(to)) != 0) {
        (void)close(near);
        if (far >= 0) {
            (void)close(far);
        }
        return;
    }
    for (int i = 0; i < PROXY_PAIRS_MAX; i++) {
        if (proxy->pairs[i].near < 0) {
            proxy->pairs[i] = (proxy_pair_t){near, far};
            return;
        }
    }
    (void)close(near);
    (void)close(far);
}

/* Forwards what is there; false when one side has ended. */
static bool proxy_forward(int from, int to)
{
    static _Thread_local char bytes[65536];
    ssize_t size = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (size <= 0) {
        return false;
    }
    for (ssize_t at = 0; at < size;) {
        ssize_t sent = send(to, bytes + at, (size_t)(size - at), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
    }
    return true;
}

static void proxy_round(proxy_t *proxy)
{
    struct pollfd fds[1 + 2 * PROXY_PAIRS_MAX];
    proxy_pair_t *owners[1 + 2 * PROXY_PAIRS_MAX];
    nfds_t len = 0;
    fds[len++] = (struct pollfd){proxy->listener, POLLIN, 0};
    for (int i = 0; i < PROXY_PAIRS_MAX && !atomic_load(&proxy->is_held); i++) {
        proxy_pair_t *pair = &proxy->pairs[i];
        if (pair->near >= 0) {
            owners[len] = pair;
            fds[len++] = (struct pollfd){pair->near, POLLIN, 0};
            owners[len] = pair;
            fds[len++] = (struct pollfd){pair->far, POLLIN, 0};
        }
    }
    if (poll(fds, len, 5) <= 0) {
        return;
    }
    for (nfds_t i = 1; i < len; i++) {
        proxy_pair_t *pair = owners[i];
        if (fds[i].revents == 0 || pair->near < 0) {
            continue;
        }
        int to = fds[i].fd == pair->near ? pair->far : pair->near;
        if (!proxy_forward(fds[i].fd, to)) {
            proxy_close(pair);
        }
    }
    if (fds[0].revents != 0) {
        proxy_accept(proxy);
    }
}

static void proxy_cut_all(proxy_t *proxy)
{
    for (int i = 0; i < PROXY_PAIRS_MAX; i++) {
        if (proxy->pairs[i].near >= 0) {
            proxy_close(&proxy->pairs[i]);
        }
    }
}

static void *proxy_main(void *argument)
{
    proxy_t *proxy = argument;
    while (!atomic_load(&proxy->must_stop)) {
        uint32_t cuts = atomic_load(&proxy->cuts);
        if (cuts != atomic_load(&proxy->cut)) {
            proxy_cut_all(proxy);
            atomic_store(&proxy->cut, cuts);
        }
        proxy_round(proxy);
    }
    proxy_cut_all(proxy);
    return NULL;
}

static inline void proxy_open(proxy_t *proxy)
{
    memset(proxy, 0, sizeof(*proxy));
    for (int i = 0; i < PROXY_PAIRS_MAX; i++) {
        proxy->pairs[i].near = -1;
    }
    proxy->listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    REQUIRE(bind(proxy->listener, (struct sockaddr *)&at, sizeof(at)) == 0);
    REQUIRE(listen(proxy->listener, 64) == 0);
    REQUIRE(getsockname(proxy->listener, (struct sockaddr *)&at, &size) == 0);
    (void)snprintf(proxy->address, sizeof(proxy->address), "127.0.0.1:%u",
                   (unsigned)ntohs(at.sin_port));
    REQUIRE(pthread_create(&proxy->thread, NULL, proxy_main, proxy) == 0);
}

/* Breaks all connections, and returns when it is done. */
static inline void proxy_cut(proxy_t *proxy)
{
    uint32_t cuts = atomic_fetch_add(&proxy->cuts, 1) + 1;
    (void)CHECK_WAIT(atomic_load(&proxy->cut) == cuts, 10000);
}

static inline void proxy_end(proxy_t *proxy)
{
    atomic_store(&proxy->must_stop, true);
    (void)pthread_join(proxy->thread, NULL);
    (void)close(proxy->listener);
}

#endif
