/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/outside.h"

#include <string.h>

#include <troupe/inbox.h>

#include "actor/deliver.h"
#include "actor/send.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"

bool trp_outside_is_inside(const trp_runtime_t *runtime)
{
    for (uint32_t i = 0; i < runtime->len; i++) {
        if (runtime->dispatchers[i]->has_thread &&
            pthread_equal(pthread_self(), runtime->dispatchers[i]->thread)) {
            return true;
        }
    }
    return false;
}

static void outside_inject(trp_runtime_t *runtime, uint32_t index, trp_message_t *message)
{
    TRP_ASSERT(index < runtime->len);
    trp_dispatcher_t *d = runtime->dispatchers[index];
    trp_injector_push(&d->injector, message);
    trp_waker_wake(&d->endpoint.waker);
}

void trp_runtime_inject(trp_runtime_t *runtime, trp_message_t *message)
{
    outside_inject(runtime, trp_id_dispatcher(message->target), message);
}

/* A cell from the depot; NULL at the ceiling or without memory. */
static trp_message_t *outside_cell(trp_runtime_t *runtime, uint32_t words, size_t size,
                                   bool is_system)
{
    size_t need = sizeof(trp_message_t) + words * sizeof(uint64_t) + size;
    uint32_t class_index = trp_pool_class(need);
    trp_message_t *message = trp_depot_take(&runtime->depot, class_index, is_system);
    if (message != NULL) {
        memset(message, 0, sizeof(*message));
        message->size = (uint32_t)size;
        message->flags = is_system ? TRP_MESSAGE_SYSTEM : 0;
        message->shape = (uint8_t)(class_index | words << 4);
    }
    return message;
}

static troupe_err_t task_inject(trp_runtime_t *runtime, uint32_t target_index,
                                const trp_task_t *task)
{
    if (!atomic_load_explicit(&runtime->is_running, memory_order_seq_cst)) {
        return TROUPE_ESTOPPED;
    }
    trp_message_t *message = outside_cell(runtime, TRP_TASK_WORDS, task->size, true);
    if (message == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_task_fill(message, task);
    message->target = trp_id_make(target_index, TRP_SLOT_DISPATCHER, 0);
    trp_runtime_inject(runtime, message);
    return TROUPE_OK;
}

/* Counted, so that the end of the node can wait for whoever saw it running: each task that was accepted
 * is either run or abandoned, and nobody waits for its answer in vain. Sequentially consistent, as is
 * the store of is_running in trp_runtime_stop: one of the two sees the other. */
troupe_err_t trp_runtime_post_task(trp_runtime_t *runtime, uint32_t target_index,
                                   const trp_task_t *task)
{
    TRP_ASSERT(task->size <= TRP_TASK_SIZE_MAX && target_index < runtime->len);
    atomic_fetch_add_explicit(&runtime->posting, 1, memory_order_seq_cst);
    troupe_err_t err = task_inject(runtime, target_index, task);
    atomic_fetch_sub_explicit(&runtime->posting, 1, memory_order_seq_cst);
    return err;
}

troupe_err_t trp_runtime_post(trp_runtime_t *runtime, uint32_t target_index, trp_task_fn fn,
                              const void *payload, size_t size)
{
    trp_task_t task = {fn, NULL, payload, size};
    return trp_runtime_post_task(runtime, target_index, &task);
}

/* ---- user messages --------------------------------------------------------------------------- */

/* Waits for room in front of the receiver's dispatcher. */
static troupe_err_t outside_wait(trp_dispatcher_t *d, uint64_t deadline_ns)
{
    if (TRP_LIKELY(trp_injector_has_room(&d->injector))) {
        return TROUPE_OK;
    }
    if (deadline_ns == 0 || trp_injector_wait(&d->injector, deadline_ns) != TROUPE_OK) {
        return TROUPE_EFULL;
    }
    return TROUPE_OK;
}

static trp_body_t *outside_body(trp_runtime_t *runtime, const trp_outside_letter_t *letter)
{
    trp_body_t *body = trp_body_new(&runtime->depot, letter->size, false);
    if (body != NULL) {
        body->type = letter->type.id;
        if (letter->size > 0) {
            memcpy(body->data, letter->body, letter->size);
        }
    }
    return body;
}

/* What is sent in an actor's name (an inbox's) goes by that actor's dispatcher, so that it keeps its order
 * with what the actor itself sends, its asks above all. What is sent in nobody's name takes the
 * shortest way; to other nodes it goes by one dispatcher, so that the order holds. */
#define OUTSIDE_DISPATCHER 0u

static uint32_t outside_way(const trp_runtime_t *runtime, const trp_outside_letter_t *letter)
{
    if (!troupe_ref_is_none(letter->from)) {
        return trp_id_dispatcher(letter->from.id);
    }
    bool is_local = letter->to.node == runtime->uid;
    return is_local ? trp_id_dispatcher(letter->to.id) : OUTSIDE_DISPATCHER;
}

static troupe_err_t outside_send_local(trp_runtime_t *runtime, const trp_outside_letter_t *letter)
{
    size_t room = TRP_POOL_BLOCK_MAX - sizeof(trp_message_t);
    bool is_shared = letter->size > room;
    trp_message_t *message =
        outside_cell(runtime, 0, is_shared ? sizeof(void *) : letter->size, false);
    if (message == NULL) {
        return TROUPE_EOVERLOAD;
    }
    message->target = letter->to.id;
    message->sender = letter->from.id;
    message->type = letter->type.id;
    if (is_shared) {
        trp_body_t *body = outside_body(runtime, letter);
        if (body == NULL) {
            trp_depot_put(&runtime->depot, message->shape & 15u, message);
            return TROUPE_EOVERLOAD;
        }
        message->flags |= TRP_MESSAGE_SHARED;
        message->size = (uint32_t)letter->size;
        memcpy(trp_message_payload(message), &body, sizeof(body));
    } else if (letter->size > 0) {
        memcpy(trp_message_payload(message), letter->body, letter->size);
    }
    atomic_fetch_add_explicit(&runtime->outside_made, 1, memory_order_relaxed);
    outside_inject(runtime, outside_way(runtime, letter), message);
    return TROUPE_OK;
}

typedef struct remote_order {
    troupe_ref_t to;
    uint64_t from;
    trp_body_t *body;
} remote_order_t;

static void remote_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    remote_order_t order;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    (void)!trp_send_shared(d, order.to, order.from, order.body);
    trp_body_unref(order.body);
}

static void remote_abandon(trp_dispatcher_t *d, void *payload, size_t size)
{
    remote_order_t order;
    (void)d;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    trp_body_unref(order.body);
}

static troupe_err_t outside_send_remote(trp_runtime_t *runtime, const trp_outside_letter_t *letter)
{
    remote_order_t order = {letter->to, letter->from.id, outside_body(runtime, letter)};
    if (order.body == NULL) {
        return TROUPE_EOVERLOAD;
    }
    trp_task_t task = {remote_task, remote_abandon, &order, sizeof(order)};
    troupe_err_t err = trp_runtime_post_task(runtime, outside_way(runtime, letter), &task);
    if (err != TROUPE_OK) {
        trp_body_unref(order.body);
    }
    return err;
}

troupe_err_t trp_outside_send(trp_runtime_t *runtime, const trp_outside_letter_t *letter)
{
    if (troupe_ref_is_none(letter->to) || (letter->body == NULL && letter->size > 0) ||
        (!troupe_ref_is_none(letter->from) && letter->from.node != runtime->uid)) {
        return TROUPE_EINVAL;
    }
    if (!trp_types_fits(&runtime->types, letter->type, letter->size)) {
        return trp_types_check(&runtime->types, letter->type, letter->size);
    }
    if (!atomic_load_explicit(&runtime->is_running, memory_order_acquire)) {
        return TROUPE_ESTOPPED;
    }
    bool is_local = letter->to.node == runtime->uid;
    uint32_t index = outside_way(runtime, letter);
    if (index >= runtime->len || (is_local && (trp_id_slot(letter->to.id) == TRP_SLOT_DISPATCHER ||
                                               trp_id_dispatcher(letter->to.id) >= runtime->len))) {
        return TROUPE_EINVAL;
    }
    troupe_err_t err = outside_wait(runtime->dispatchers[index], letter->deadline_ns);
    if (err != TROUPE_OK) {
        return err;
    }
    err = is_local ? outside_send_local(runtime, letter) : outside_send_remote(runtime, letter);
    if (err == TROUPE_EOVERLOAD) {
        atomic_fetch_add_explicit(&runtime->outside_refused, 1, memory_order_relaxed);
    }
    return err;
}

/* ---- system messages ------------------------------------------------------------------------- */

typedef struct system_order {
    troupe_ref_t to;
    uint16_t kind;
} system_order_t;

static void system_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    system_order_t order;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    trp_system_send(d, order.to, (trp_system_kind_t)order.kind, 0, NULL, 0);
}

troupe_err_t trp_outside_system(trp_runtime_t *runtime, troupe_ref_t to, uint16_t kind)
{
    system_order_t order = {to, kind};
    bool is_local = to.node == runtime->uid && trp_id_dispatcher(to.id) < runtime->len;
    uint32_t index = is_local ? trp_id_dispatcher(to.id) : OUTSIDE_DISPATCHER;
    return trp_runtime_post(runtime, index, system_task, &order, sizeof(order));
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* A port keeps nothing but the right to send: its messages take the receiver's injector, whose order is
 * that of the calls. */
struct troupe_port {
    trp_runtime_t *runtime;
};

troupe_err_t troupe_port_open(troupe_node_t *node, troupe_port_t **ret_port)
{
    if (node == NULL || ret_port == NULL) {
        return TROUPE_EINVAL;
    }
    troupe_port_t *port = trp_calloc(1, sizeof(*port));
    if (port == NULL) {
        return TROUPE_ENOMEM;
    }
    port->runtime = trp_node_runtime(node);
    *ret_port = port;
    return TROUPE_OK;
}

void troupe_port_close(troupe_port_t **port)
{
    if (port != NULL) {
        trp_free(*port);
        *port = NULL;
    }
}

troupe_err_t troupe_port_tell(troupe_port_t *port, troupe_ref_t to, troupe_ref_t from,
                              troupe_type_t type, const void *body, size_t size,
                              uint32_t timeout_ms)
{
    uint64_t deadline = timeout_ms == 0 ? 0 : trp_clock_now() + timeout_ms * TRP_NS_PER_MS;
    trp_outside_letter_t letter = {to, from, type, body, size, deadline};
    return port == NULL ? TROUPE_EINVAL : trp_outside_send(port->runtime, &letter);
}

void troupe_port_poison(troupe_port_t *port, troupe_ref_t who)
{
    (void)!trp_outside_system(port->runtime, who, TRP_SYSTEM_POISON);
}

void troupe_port_kill(troupe_port_t *port, troupe_ref_t who)
{
    (void)!trp_outside_system(port->runtime, who, TRP_SYSTEM_KILL);
}
