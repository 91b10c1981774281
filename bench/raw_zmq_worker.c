/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Raw ZeroMQ, the receiving side: a ROUTER in a process of its own. */

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "clock.h"
#include "raw_zmq.h"
#include "raw_zmq_wire.h"
#include "say.h"

#define RAW_IDENTITY_SIZE_MAX 64

typedef struct raw_worker {
    int fd;
    void *zmq;
    void *socket; /* ROUTER. */
    size_t size;
    unsigned char *body;
} raw_worker_t;

static bool raw_worker_secure(raw_worker_t *worker, bench_raw_address_t *address)
{
    char secret_key[BENCH_RAW_KEY_SIZE];
    const int server = 1;
    return zmq_curve_keypair(address->server_key, secret_key) == 0 &&
           zmq_setsockopt(worker->socket, ZMQ_CURVE_SERVER, &server, sizeof(server)) == 0 &&
           zmq_setsockopt(worker->socket, ZMQ_CURVE_SECRETKEY, secret_key, sizeof(secret_key)) == 0;
}

static bool raw_worker_bind(raw_worker_t *worker, const bench_raw_order_t *order)
{
    bench_raw_address_t address;
    size_t size = sizeof(address.endpoint);
    const int linger = 0;
    if (worker->body != NULL) {
        return false; /* Bound before. */
    }
    memset(&address, 0, sizeof(address));
    worker->size = (size_t)order->count;
    worker->body = calloc(1, worker->size);
    worker->zmq = zmq_ctx_new();
    worker->socket = worker->zmq != NULL ? zmq_socket(worker->zmq, ZMQ_ROUTER) : NULL;
    if (worker->body == NULL || worker->socket == NULL) {
        return false;
    }
    (void)zmq_setsockopt(worker->socket, ZMQ_LINGER, &linger, sizeof(linger));
    if ((order->curve != 0 && !raw_worker_secure(worker, &address)) ||
        zmq_bind(worker->socket, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt(worker->socket, ZMQ_LAST_ENDPOINT, address.endpoint, &size) != 0) {
        bench_complain("raw ZeroMQ worker: %s", zmq_strerror(zmq_errno()));
        return false;
    }
    return bench_worker_send(worker->fd, BENCH_RAW_BIND, &address, sizeof(address));
}

/* Takes one message into worker->body, its sender's identity into `identity`. */
static bool raw_worker_take(raw_worker_t *worker, char *identity, int *ret_identity_size)
{
    *ret_identity_size = zmq_recv(worker->socket, identity, RAW_IDENTITY_SIZE_MAX, 0);
    return *ret_identity_size > 0 &&
           zmq_recv(worker->socket, worker->body, worker->size, 0) == (int)worker->size;
}

static bool raw_worker_take_all(raw_worker_t *worker, uint64_t messages)
{
    bench_raw_answer_t answer = {0, 0};
    char identity[RAW_IDENTITY_SIZE_MAX];
    int identity_size;
    for (uint64_t i = 0; i < messages; i++) {
        uint64_t sequence;
        if (!raw_worker_take(worker, identity, &identity_size)) {
            return false;
        }
        memcpy(&sequence, worker->body, sizeof(sequence));
        answer.lost += sequence != i;
    }
    answer.end_ns = bench_clock_now();
    return bench_worker_send(worker->fd, BENCH_RAW_TAKE, &answer, sizeof(answer));
}

static bool raw_worker_bounce_all(raw_worker_t *worker, uint64_t messages)
{
    bench_raw_answer_t answer = {0, 0};
    char identity[RAW_IDENTITY_SIZE_MAX];
    int identity_size;
    for (uint64_t i = 0; i < messages; i++) {
        if (!raw_worker_take(worker, identity, &identity_size) ||
            zmq_send(worker->socket, identity, (size_t)identity_size, ZMQ_SNDMORE) < 0 ||
            zmq_send(worker->socket, worker->body, worker->size, 0) < 0) {
            return false;
        }
    }
    answer.end_ns = bench_clock_now();
    return bench_worker_send(worker->fd, BENCH_RAW_BOUNCE, &answer, sizeof(answer));
}

static bool raw_worker_obey(raw_worker_t *worker, uint32_t tag, const bench_raw_order_t *order)
{
    switch (tag) {
    case BENCH_RAW_BIND:
        return raw_worker_bind(worker, order);
    case BENCH_RAW_TAKE:
        return raw_worker_take_all(worker, order->count);
    case BENCH_RAW_BOUNCE:
        return raw_worker_bounce_all(worker, order->count);
    default:
        return false;
    }
}

int bench_raw_worker(int fd)
{
    raw_worker_t worker = {fd, NULL, NULL, 0, NULL};
    bench_raw_order_t order;
    uint32_t tag;
    size_t size;
    bool ok = true;
    while (ok && bench_worker_receive_any(fd, &tag, &order, sizeof(order), &size)) {
        ok = size == sizeof(order) && raw_worker_obey(&worker, tag, &order);
    }
    if (worker.socket != NULL) {
        (void)zmq_close(worker.socket);
    }
    if (worker.zmq != NULL) {
        (void)zmq_ctx_term(worker.zmq);
    }
    free(worker.body);
    return ok ? 0 : 1;
}
