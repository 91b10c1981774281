/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Keys: the allow-list, asked by ZeroMQ through its authentication protocol (RFC 27/ZAP), and the choice
 * of the key that a dialled address is believed to have. */

#include "net/link/curve.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "net/link/events.h"
#include "net/link/socket.h"

#define CURVE_ZAP_ENDPOINT "inproc://zeromq.zap.01"
#define CURVE_ZAP_DOMAIN "troupe"

/* ---- sockets --------------------------------------------------------------------------------- */

troupe_err_t trp_curve_server(trp_link_t *link, void *router)
{
    if (!link->has_curve) {
        return TROUPE_OK;
    }
    int one = 1;
    if (zmq_setsockopt(router, ZMQ_CURVE_SERVER, &one, sizeof(one)) != 0 ||
        zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, link->secret_key.text, TRP_LINK_KEY_SIZE + 1) !=
            0 ||
        zmq_setsockopt(router, ZMQ_ZAP_DOMAIN, CURVE_ZAP_DOMAIN, strlen(CURVE_ZAP_DOMAIN)) != 0) {
        return TROUPE_EINVAL;
    }
    return TROUPE_OK;
}

/* The key of who listens at the address: the one that names it, else in turn one that names none. */
static const trp_key_entry_t *curve_key(const trp_link_t *link, const char *address, uint32_t turn)
{
    uint32_t free_len = 0;
    for (size_t i = 0; i < link->keys_len; i++) {
        if (strcmp(link->keys[i].address, address) == 0) {
            return &link->keys[i];
        }
        free_len += link->keys[i].address[0] == '\0';
    }
    if (free_len == 0) {
        return link->keys_len > 0 ? &link->keys[turn % link->keys_len] : NULL;
    }
    uint32_t skip = turn % free_len;
    for (size_t i = 0; i < link->keys_len; i++) {
        if (link->keys[i].address[0] == '\0' && skip-- == 0) {
            return &link->keys[i];
        }
    }
    return NULL;
}

troupe_err_t trp_curve_client(trp_link_t *link, void *dealer, trp_conn_t *conn)
{
    if (!link->has_curve) {
        return TROUPE_OK;
    }
    if (conn->server_key.text[0] == '\0') {
        uint32_t turn = conn->dial != NULL ? conn->dial->key_turn++ : 0;
        const trp_key_entry_t *entry = curve_key(link, conn->address, turn);
        if (entry == NULL) {
            return TROUPE_EAUTH;
        }
        conn->server_key = entry->key;
    }
    const size_t size = TRP_LINK_KEY_SIZE + 1;
    if (zmq_setsockopt(dealer, ZMQ_CURVE_SERVERKEY, conn->server_key.text, size) != 0 ||
        zmq_setsockopt(dealer, ZMQ_CURVE_PUBLICKEY, link->public_key.text, size) != 0 ||
        zmq_setsockopt(dealer, ZMQ_CURVE_SECRETKEY, link->secret_key.text, size) != 0) {
        return TROUPE_EINVAL;
    }
    return TROUPE_OK;
}

void trp_curve_learn(trp_link_t *link, const char *key, const char *address)
{
    for (size_t i = 0; i < link->keys_len; i++) {
        if (strcmp(link->keys[i].key.text, key) == 0 && link->keys[i].address[0] == '\0') {
            (void)trp_text_copy(link->keys[i].address, sizeof(link->keys[i].address), address);
            return;
        }
    }
}

/* ---- ZAP ------------------------------------------------------------------------------------- */

troupe_err_t trp_curve_open_zap(trp_link_t *link)
{
    if (!link->has_curve) {
        return TROUPE_OK;
    }
    link->zap = zmq_socket(link->context, ZMQ_REP);
    if (link->zap == NULL) {
        return TROUPE_ESYSTEM;
    }
    int zero = 0;
    (void)zmq_setsockopt(link->zap, ZMQ_LINGER, &zero, sizeof(zero));
    link->zap_watch = (trp_watch_t){TRP_WATCH_ZAP, NULL};
    if (zmq_bind(link->zap, CURVE_ZAP_ENDPOINT) != 0) {
        return TROUPE_ESYSTEM;
    }
    return trp_watch_add(link, link->zap, &link->zap_watch);
}

typedef struct curve_request {
    uint8_t id[64];
    size_t id_size;
    uint8_t key[32];
    bool has_key;
    bool is_curve;
} curve_request_t;

/* Notes what matters of the numbered part. */
static void curve_read_part(curve_request_t *request, uint32_t number, trp_view_t part)
{
    switch (number) {
    case 1:
        request->id_size = part.size < sizeof(request->id) ? part.size : sizeof(request->id);
        memcpy(request->id, part.data, request->id_size);
        break;
    case 5:
        request->is_curve = trp_view_equal_string(part, "CURVE");
        break;
    case 6:
        request->has_key = part.size == sizeof(request->key);
        if (request->has_key) {
            memcpy(request->key, part.data, sizeof(request->key));
        }
        break;
    default:
        break;
    }
}

static bool curve_read(trp_link_t *link, curve_request_t *request)
{
    memset(request, 0, sizeof(*request));
    bool has_more = true;
    for (uint32_t number = 0; has_more; number++) {
        zmq_msg_t part;
        (void)zmq_msg_init(&part);
        if (zmq_msg_recv(&part, link->zap, ZMQ_DONTWAIT) < 0) {
            (void)zmq_msg_close(&part);
            return false;
        }
        curve_read_part(request, number, trp_view_make(zmq_msg_data(&part), zmq_msg_size(&part)));
        has_more = zmq_msg_more(&part) != 0;
        (void)zmq_msg_close(&part);
    }
    return true;
}

static bool curve_is_allowed(const trp_link_t *link, const char *key)
{
    for (size_t i = 0; i < link->keys_len; i++) {
        if (strcmp(link->keys[i].key.text, key) == 0) {
            return true;
        }
    }
    return false;
}

static void curve_reply(trp_link_t *link, const curve_request_t *request, const char *user_id)
{
    const char *code = user_id != NULL ? "200" : "400";
    const char *text = user_id != NULL ? "OK" : "this key is not allowed";
    const char *user = user_id != NULL ? user_id : "";
    (void)zmq_send(link->zap, "1.0", 3, ZMQ_SNDMORE);
    (void)zmq_send(link->zap, request->id, request->id_size, ZMQ_SNDMORE);
    (void)zmq_send(link->zap, code, 3, ZMQ_SNDMORE);
    (void)zmq_send(link->zap, text, strlen(text), ZMQ_SNDMORE);
    (void)zmq_send(link->zap, user, strlen(user), ZMQ_SNDMORE);
    (void)zmq_send(link->zap, "", 0, 0);
}

void trp_curve_answer_zap(trp_link_t *link)
{
    curve_request_t request;
    while (curve_read(link, &request)) {
        char key[TRP_LINK_KEY_SIZE + 1] = "";
        bool is_allowed = request.is_curve && request.has_key &&
                          zmq_z85_encode(key, request.key, sizeof(request.key)) != NULL &&
                          curve_is_allowed(link, key);
        if (!is_allowed) {
            TRP_LOG_LIMITED(link->log, &link->log_limit, link->now, TROUPE_LOG_LINK,
                            TROUPE_LOG_WARN, "link.key.refused", "key=%s",
                            key[0] != '\0' ? key : "none");
            trp_events_refused_key(link, key);
        }
        curve_reply(link, &request, is_allowed ? key : NULL);
    }
}
