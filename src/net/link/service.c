/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Control services: small messages between the upper rooms of two nodes, on the control lane. */

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "net/link/receive.h"
#include "net/link/socket.h"

/* ---- sending --------------------------------------------------------------------------------- */

static troupe_err_t service_admit(trp_peer_t *peer, size_t size)
{
    if (trp_peer_state(peer) != TRP_LINK_UP) {
        return TROUPE_EUNREACHABLE;
    }
    uint64_t sent = atomic_load_explicit(&peer->service_sent, memory_order_relaxed);
    uint64_t seen = atomic_load_explicit(&peer->service_seen, memory_order_relaxed);
    return sent - seen + size <= TRP_LINK_CONTROL_QUEUE_MAX ? TROUPE_OK : TROUPE_EFULL;
}

static troupe_err_t service_give(trp_link_t *link, trp_peer_t *peer, uint32_t service,
                                 trp_view_t data)
{
    trp_service_out_t *out = trp_alloc(sizeof(*out) + TRP_WIRE_FRAME_SIZE + data.size);
    if (out == NULL) {
        return TROUPE_ENOMEM;
    }
    out->item = (trp_item_t){NULL, TRP_ITEM_SERVICE};
    out->peer = trp_peer_ref(peer);
    out->size = (uint32_t)(TRP_WIRE_FRAME_SIZE + data.size);
    trp_frame_header_t header = {
        .kind = TRP_FRAME_SERVICE, .lane = TRP_LANE_CONTROL, .sequence = service};
    trp_wire_put_frame(out->data, &header);
    if (data.size > 0) {
        memcpy(out->data + TRP_WIRE_FRAME_SIZE, data.data, data.size);
    }
    atomic_fetch_add_explicit(&peer->service_sent, data.size, memory_order_relaxed);
    trp_handover_push(&link->handover, &out->item);
    return TROUPE_OK;
}

troupe_err_t trp_link_control_send(trp_link_t *link, uint64_t uid, uint32_t service,
                                   const void *data, size_t size)
{
    TRP_ASSERT(service < TRP_LINK_SERVICES_MAX);
    if (size > TRP_LINK_SERVICE_SIZE_MAX) {
        return TROUPE_ETOOBIG;
    }
    trp_peer_t *peer = trp_peers_find(&link->registry, uid);
    if (peer == NULL) {
        return TROUPE_ENODE;
    }
    troupe_err_t err = service_admit(peer, size);
    if (err == TROUPE_OK) {
        err = service_give(link, peer, service, trp_view_make(data, size));
    }
    trp_peer_unref(&peer);
    return err;
}

void trp_service_send(trp_link_t *link, trp_service_out_t *out)
{
    (void)link;
    const trp_session_t *session = &out->peer->session;
    if (session->is_up) {
        (void)trp_socket_send(&session->conn->lanes[TRP_LANE_CONTROL], out->data, out->size);
    }
    trp_peer_unref(&out->peer);
    trp_free(out);
}

/* ---- receiving ------------------------------------------------------------------------------- */

typedef struct service_task {
    trp_link_service_fn fn;
    void *context;
    uint64_t uid;
    size_t size;
    uint8_t data[];
} service_task_t;

static void service_run(trp_dispatcher_t *d, void *payload, size_t size)
{
    (void)size;
    service_task_t *task = NULL;
    memcpy(&task, payload, sizeof(task));
    task->fn(task->context, d, task->uid, trp_view_make(task->data, task->size));
    trp_free(task);
}

static void service_post(trp_link_t *link, const trp_service_t *service, uint64_t uid,
                         trp_view_t data)
{
    service_task_t *task = trp_alloc(sizeof(*task) + data.size);
    if (task == NULL) {
        return; /* As if the connection had lost it: services repair that. */
    }
    task->fn = service->fn;
    task->context = service->context;
    task->uid = uid;
    task->size = data.size;
    if (data.size > 0) {
        memcpy(task->data, data.data, data.size);
    }
    if (trp_endpoint_post(&link->endpoint, service->dispatcher_index, service_run, &task,
                          sizeof(task)) != TROUPE_OK) {
        trp_free(task);
    }
}

void trp_service_dispatch(trp_link_t *link, trp_peer_t *peer, uint64_t service, trp_view_t data)
{
    if (service >= TRP_LINK_SERVICES_MAX || link->services[service].fn == NULL) {
        TRP_LOG_LIMITED(link->log, &link->log_limit, link->now, TROUPE_LOG_LINK, TROUPE_LOG_DEBUG,
                        "link.service.unknown", "service=%llu", (unsigned long long)service);
        return;
    }
    const trp_service_t *handler = &link->services[service];
    if (handler->dispatcher_index == TRP_LINK_ON_LINK_THREAD || !link->has_endpoint) {
        handler->fn(handler->context, NULL, peer->uid, data);
    } else {
        service_post(link, handler, peer->uid, data);
    }
}
