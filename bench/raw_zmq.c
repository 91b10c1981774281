/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Raw ZeroMQ, the sending side. */

#include "raw_zmq.h"

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "clock.h"
#include "raw_zmq_wire.h"
#include "say.h"

static bool raw_complain(const char *what)
{
    bench_complain("raw ZeroMQ: %s: %s", what, zmq_strerror(zmq_errno()));
    return false;
}

/* Client keys for this socket, the worker's public key as the one to trust. */
static bool raw_secure(void *socket, const char *server_key)
{
    char public_key[BENCH_RAW_KEY_SIZE], secret_key[BENCH_RAW_KEY_SIZE];
    if (zmq_curve_keypair(public_key, secret_key) != 0) {
        return raw_complain("no CURVE key pair");
    }
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_key, BENCH_RAW_KEY_SIZE) != 0 ||
        zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, public_key, BENCH_RAW_KEY_SIZE) != 0 ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret_key, BENCH_RAW_KEY_SIZE) != 0) {
        return raw_complain("CURVE keys refused");
    }
    return true;
}

static bool raw_connect(bench_raw_t *raw)
{
    const bench_raw_order_t order = {raw->curve ? 1u : 0u, raw->size};
    const int linger = 0;
    bench_raw_address_t address;
    if (!bench_worker_ask(&raw->worker, BENCH_RAW_BIND, &order, sizeof(order), &address,
                          sizeof(address))) {
        return false;
    }
    raw->zmq = zmq_ctx_new();
    raw->socket = raw->zmq != NULL ? zmq_socket(raw->zmq, ZMQ_DEALER) : NULL;
    if (raw->socket == NULL) {
        return raw_complain("no socket");
    }
    (void)zmq_setsockopt(raw->socket, ZMQ_LINGER, &linger, sizeof(linger));
    if (raw->curve && !raw_secure(raw->socket, address.server_key)) {
        return false;
    }
    if (zmq_connect(raw->socket, address.endpoint) != 0) {
        return raw_complain("connect");
    }
    return true;
}

bool bench_raw_open(bool curve, size_t size, bench_raw_t *ret_raw)
{
    bench_raw_t raw = {{0, -1}, NULL, NULL, size, curve};
    if (!bench_worker_start(BENCH_RAW_KIND, &raw.worker) || !raw_connect(&raw)) {
        bench_raw_close(&raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

void bench_raw_close(bench_raw_t *raw)
{
    if (raw->socket != NULL) {
        (void)zmq_close(raw->socket);
        raw->socket = NULL;
    }
    if (raw->zmq != NULL) {
        (void)zmq_ctx_term(raw->zmq);
        raw->zmq = NULL;
    }
    bench_worker_stop(&raw->worker);
}

static bool raw_send_all(bench_raw_t *raw, unsigned char *body, uint64_t messages)
{
    for (uint64_t i = 0; i < messages; i++) {
        memcpy(body, &i, sizeof(i)); /* Both ends are this program on this machine. */
        if (zmq_send(raw->socket, body, raw->size, 0) < 0) {
            return raw_complain("send");
        }
    }
    return true;
}

bool bench_raw_run_oneway(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    bench_raw_t *raw = context;
    const bench_raw_order_t order = {0, messages};
    unsigned char *body = calloc(1, raw->size);
    bench_raw_answer_t answer;
    uint64_t start;
    bool ok;
    if (body == NULL) {
        return false;
    }
    ok = bench_worker_send(raw->worker.fd, BENCH_RAW_TAKE, &order, sizeof(order));
    start = bench_clock_now();
    ok = ok && raw_send_all(raw, body, messages) &&
         bench_worker_receive(raw->worker.fd, BENCH_RAW_TAKE, &answer, sizeof(answer));
    free(body);
    if (!ok) {
        return false;
    }
    ret_sample->messages = messages;
    ret_sample->elapsed_ns = answer.end_ns - start;
    ret_sample->lost = answer.lost;
    return true;
}

static bool raw_bounce(bench_raw_t *raw, unsigned char *body, uint64_t messages,
                       bench_histogram_t *histogram)
{
    uint64_t before = bench_clock_now();
    for (uint64_t i = 0; i < messages; i++) {
        uint64_t now;
        if (zmq_send(raw->socket, body, raw->size, 0) < 0 ||
            zmq_recv(raw->socket, body, raw->size, 0) != (int)raw->size) {
            return raw_complain("round trip");
        }
        now = bench_clock_now();
        bench_histogram_record(histogram, now - before);
        before = now;
    }
    return true;
}

bool bench_raw_run_roundtrip(void *context, uint64_t messages, bench_sample_t *ret_sample)
{
    bench_raw_t *raw = context;
    const bench_raw_order_t order = {0, messages};
    unsigned char *body = calloc(1, raw->size);
    bench_histogram_t *histogram = calloc(1, sizeof(*histogram));
    const uint64_t start = bench_clock_now();
    bench_raw_answer_t answer;
    bool ok = body != NULL && histogram != NULL &&
              bench_worker_send(raw->worker.fd, BENCH_RAW_BOUNCE, &order, sizeof(order)) &&
              raw_bounce(raw, body, messages, histogram) &&
              bench_worker_receive(raw->worker.fd, BENCH_RAW_BOUNCE, &answer, sizeof(answer));
    if (ok) {
        ret_sample->messages = messages;
        ret_sample->elapsed_ns = bench_clock_now() - start;
        bench_sample_set(ret_sample, (double)bench_histogram_quantile(histogram, 0.5));
        ret_sample->lost = answer.lost;
    }
    free(histogram);
    free(body);
    return ok;
}
