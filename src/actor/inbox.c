/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Inboxes: an actor that hands what it gets to a queue that plain threads read. The queue has a mutex,
 * and an eventfd that is readable while it is not empty. */

#include <troupe/inbox.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "actor/answer.h"
#include "actor/deliver.h"
#include "actor/outside.h"
#include "actor/send.h"
#include "actor/spawn.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"

#define QUEUE_LEN_MAX_DEFAULT 65536u

struct troupe_letter {
    troupe_letter_t *next;
    troupe_message_t view;
    trp_message_t *message; /* Holds the body. */
    trp_depot_t *depot;
};

/* An ask of a plain thread that waits. Lives on its stack; linked while the inbox's actor lives. */
typedef struct inbox_ask {
    trp_node_link_t link;
    troupe_inbox_t *inbox;
    bool is_done;
    troupe_err_t err;
    troupe_letter_t *reply;
} inbox_ask_t;

struct troupe_inbox {
    trp_runtime_t *runtime;
    troupe_ref_t ref;
    uint32_t len_max;
    int fd;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* An ask is done, or the actor has stopped. */
    troupe_letter_t *first;
    troupe_letter_t *last;
    uint32_t len;
    bool is_stopped; /* The actor is gone. */
    trp_list_t asks;
};

typedef struct inbox_state {
    troupe_inbox_t *inbox;
} inbox_state_t;

/* ---- letters --------------------------------------------------------------------------------- */

/* Takes over the message that is being handled. NULL without memory. */
static troupe_letter_t *letter_take(trp_dispatcher_t *d, const troupe_message_t *view)
{
    troupe_letter_t *letter = trp_alloc(sizeof(*letter));
    if (letter == NULL) {
        return NULL;
    }
    *letter = (troupe_letter_t){NULL, *view, d->message, &d->endpoint.runtime->depot};
    d->fate = TRP_FATE_KEPT;
    return letter;
}

const troupe_message_t *troupe_letter_message(const troupe_letter_t *letter)
{
    return &letter->view;
}

void troupe_letter_free(troupe_letter_t **letter_p)
{
    troupe_letter_t *letter = letter_p == NULL ? NULL : *letter_p;
    if (letter == NULL) {
        return;
    }
    if ((letter->message->flags & TRP_MESSAGE_SHARED) != 0) {
        trp_message_drop_body(letter->message);
    }
    trp_depot_put(letter->depot, letter->message->shape & 15u, letter->message);
    trp_free(letter);
    *letter_p = NULL;
}

/* ---- the actor ------------------------------------------------------------------------------- */

static troupe_err_t inbox_init(troupe_actor_t *self, void *state, const void *args)
{
    (void)self;
    memcpy(&((inbox_state_t *)state)->inbox, args, sizeof(troupe_inbox_t *));
    return TROUPE_OK;
}

/* With the mutex held. */
static void inbox_push(troupe_inbox_t *inbox, troupe_letter_t *letter)
{
    uint64_t one = 1;
    if (inbox->first == NULL) {
        inbox->first = letter;
        ssize_t written = write(inbox->fd, &one, sizeof(one));
        (void)written;
    } else {
        inbox->last->next = letter;
    }
    inbox->last = letter;
    inbox->len++;
}

static troupe_err_t inbox_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    troupe_inbox_t *inbox = ((inbox_state_t *)state)->inbox;
    trp_dispatcher_t *d = self->dispatcher;
    troupe_letter_t *letter = letter_take(d, message);
    bool is_full = letter == NULL;
    if (!is_full) {
        pthread_mutex_lock(&inbox->mutex);
        is_full = inbox->len >= inbox->len_max;
        if (!is_full) {
            inbox_push(inbox, letter);
        }
        pthread_mutex_unlock(&inbox->mutex);
    }
    if (is_full) {
        trp_free(letter);
        d->fate = TRP_FATE_FREE;
        d->user.taken--;
        trp_dispatcher_drop(d, TROUPE_DROP_MAILBOX_FULL, troupe_self(self), message->sender,
                            message->type.id, NULL);
    }
    return TROUPE_OK;
}

/* With the mutex held. */
static void ask_done(inbox_ask_t *ask, troupe_err_t err, troupe_letter_t *reply)
{
    trp_list_remove(&ask->link);
    ask->err = err;
    ask->reply = reply;
    ask->is_done = true;
    pthread_cond_broadcast(&ask->inbox->changed);
}

static void inbox_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    (void)self;
    (void)reason;
    troupe_inbox_t *inbox = ((inbox_state_t *)state)->inbox;
    uint64_t one = 1;
    pthread_mutex_lock(&inbox->mutex);
    inbox->is_stopped = true;
    while (!trp_list_is_empty(&inbox->asks)) {
        trp_node_link_t *link = trp_list_first(&inbox->asks);
        ask_done(TRP_CONTAINER_OF(link, inbox_ask_t, link), TROUPE_ESTOPPED, NULL);
    }
    ssize_t written = write(inbox->fd, &one, sizeof(one)); /* Whoever polls is to look. */
    (void)written;
    pthread_cond_broadcast(&inbox->changed);
    pthread_mutex_unlock(&inbox->mutex);
}

static const troupe_behavior_t inbox_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "troupe.inbox",
    .state_size = sizeof(inbox_state_t),
    .init = inbox_init,
    .receive = inbox_receive,
    .stop = inbox_stop,
};

/* ---- opening and closing --------------------------------------------------------------------- */

static void inbox_free(troupe_inbox_t *inbox)
{
    while (inbox->first != NULL) {
        troupe_letter_t *letter = inbox->first;
        inbox->first = letter->next;
        troupe_letter_free(&letter);
    }
    (void)close(inbox->fd);
    (void)pthread_cond_destroy(&inbox->changed);
    (void)pthread_mutex_destroy(&inbox->mutex);
    trp_free(inbox);
}

static troupe_inbox_t *inbox_new(trp_runtime_t *runtime, uint32_t len_max)
{
    troupe_inbox_t *inbox = trp_calloc(1, sizeof(*inbox));
    if (inbox == NULL) {
        return NULL;
    }
    inbox->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (inbox->fd < 0) {
        trp_free(inbox);
        return NULL;
    }
    inbox->runtime = runtime;
    inbox->len_max = len_max == 0 ? QUEUE_LEN_MAX_DEFAULT : len_max;
    trp_list_init(&inbox->asks);
    (void)pthread_mutex_init(&inbox->mutex, NULL);
    (void)pthread_cond_init(&inbox->changed, NULL);
    return inbox;
}

troupe_err_t troupe_inbox_open(troupe_node_t *node, const troupe_inbox_options_t *options,
                               troupe_inbox_t **ret_inbox)
{
    static const troupe_inbox_options_t defaults = TROUPE_INBOX_OPTIONS_INIT;
    options = options == NULL ? &defaults : options;
    if (node == NULL || ret_inbox == NULL || options->size != sizeof(*options)) {
        return TROUPE_EINVAL;
    }
    trp_runtime_t *runtime = trp_node_runtime(node);
    troupe_inbox_t *inbox = inbox_new(runtime, options->queue_len_max);
    if (inbox == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    spawn.name = options->name;
    spawn.args = &inbox;
    spawn.args_size = sizeof(inbox);
    troupe_err_t err =
        trp_runtime_spawn(runtime, runtime->guardian_user, &inbox_behavior, &spawn, &inbox->ref);
    if (err != TROUPE_OK) {
        inbox_free(inbox);
        return err;
    }
    *ret_inbox = inbox;
    return TROUPE_OK;
}

void troupe_inbox_close(troupe_inbox_t **inbox_p)
{
    troupe_inbox_t *inbox = inbox_p == NULL ? NULL : *inbox_p;
    if (inbox == NULL) {
        return;
    }
    *inbox_p = NULL;
    /* A kill that is not sent is an inbox that never ends. */
    while (trp_outside_system(inbox->runtime, inbox->ref, TRP_SYSTEM_KILL) == TROUPE_ENOMEM) {
        (void)sched_yield();
    }
    pthread_mutex_lock(&inbox->mutex);
    while (!inbox->is_stopped) {
        (void)pthread_cond_wait(&inbox->changed, &inbox->mutex);
    }
    pthread_mutex_unlock(&inbox->mutex);
    inbox_free(inbox);
}

troupe_ref_t troupe_inbox_ref(const troupe_inbox_t *inbox)
{
    return inbox->ref;
}

int troupe_inbox_fd(const troupe_inbox_t *inbox)
{
    return inbox->fd;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The descriptor stays readable once the actor has stopped, so that nobody waits for ever. */
static troupe_letter_t *inbox_pop(troupe_inbox_t *inbox, bool *ret_is_stopped)
{
    pthread_mutex_lock(&inbox->mutex);
    troupe_letter_t *letter = inbox->first;
    if (letter != NULL) {
        inbox->first = letter->next;
        inbox->len--;
        if (inbox->first == NULL && !inbox->is_stopped) {
            uint64_t count = 0;
            ssize_t got = read(inbox->fd, &count, sizeof(count));
            (void)got;
        }
    }
    *ret_is_stopped = inbox->is_stopped;
    pthread_mutex_unlock(&inbox->mutex);
    return letter;
}

static void inbox_wait(const troupe_inbox_t *inbox, uint64_t deadline_ns)
{
    uint64_t now = trp_clock_now();
    struct pollfd poll_fd = {.fd = inbox->fd, .events = POLLIN};
    if (now < deadline_ns) {
        uint64_t wait_ms = (deadline_ns - now + TRP_NS_PER_MS - 1) / TRP_NS_PER_MS;
        (void)poll(&poll_fd, 1, wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms);
    }
}

troupe_err_t troupe_inbox_receive(troupe_inbox_t *inbox, uint32_t timeout_ms,
                                  troupe_letter_t **ret_letter)
{
    if (inbox == NULL || ret_letter == NULL) {
        return TROUPE_EINVAL;
    }
    uint64_t deadline = trp_clock_now() + timeout_ms * TRP_NS_PER_MS;
    for (;;) {
        bool is_stopped = false;
        troupe_letter_t *letter = inbox_pop(inbox, &is_stopped);
        if (letter != NULL) {
            letter->next = NULL;
            *ret_letter = letter;
            return TROUPE_OK;
        }
        if (is_stopped) {
            return TROUPE_ESTOPPED;
        }
        if (trp_clock_now() >= deadline) {
            return timeout_ms == 0 ? TROUPE_EAGAIN : TROUPE_ETIMEOUT;
        }
        inbox_wait(inbox, deadline);
    }
}

/* ---- asking and telling ---------------------------------------------------------------------- */

typedef struct ask_order {
    inbox_ask_t *ask; /* Good as long as the inbox's actor lives. */
    uint64_t inbox_id;
    troupe_ref_t to;
    trp_body_t *body;
    uint32_t timeout_ms;
} ask_order_t;

static troupe_err_t inbox_replied(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                  void *context)
{
    (void)state;
    inbox_ask_t *ask = context;
    troupe_letter_t *letter = NULL;
    troupe_err_t err = reply->error;
    if (err == TROUPE_OK) {
        letter = letter_take(self->dispatcher, &reply->message);
        err = letter == NULL ? TROUPE_ENOMEM : TROUPE_OK;
    }
    pthread_mutex_t *mutex = &ask->inbox->mutex;
    pthread_mutex_lock(mutex);
    ask_done(ask, err, letter);
    pthread_mutex_unlock(mutex);
    return TROUPE_OK;
}

static void ask_refuse(inbox_ask_t *ask, troupe_err_t err)
{
    pthread_mutex_t *mutex = &ask->inbox->mutex;
    pthread_mutex_lock(mutex);
    if (!ask->is_done) {
        ask_done(ask, err, NULL);
    }
    pthread_mutex_unlock(mutex);
}

/* On the inbox's dispatcher. When the actor has stopped, its stop callback has answered the ask. */
static void ask_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    ask_order_t order;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    troupe_actor_t *cell = trp_cell_find(d, order.inbox_id);
    if (cell != NULL) {
        troupe_type_t type = {order.body->type};
        troupe_err_t err = troupe_ask(cell, order.to, type, order.body->data, order.body->size,
                                      order.timeout_ms, inbox_replied, order.ask);
        if (err != TROUPE_OK) {
            ask_refuse(order.ask, err);
        }
    }
    trp_body_unref(order.body);
}

/* The actor's stop has answered the ask, or will. */
static void ask_abandon(trp_dispatcher_t *d, void *payload, size_t size)
{
    ask_order_t order;
    (void)d;
    TRP_ASSERT(size == sizeof(order));
    memcpy(&order, payload, sizeof(order));
    trp_body_unref(order.body);
}

/* Enters the ask so that a stop of the actor answers it. */
static troupe_err_t ask_enter(troupe_inbox_t *inbox, inbox_ask_t *ask)
{
    pthread_mutex_lock(&inbox->mutex);
    troupe_err_t err = inbox->is_stopped ? TROUPE_ESTOPPED : TROUPE_OK;
    if (err == TROUPE_OK) {
        trp_list_push_back(&inbox->asks, &ask->link);
    }
    pthread_mutex_unlock(&inbox->mutex);
    return err;
}

static void ask_wait(troupe_inbox_t *inbox, inbox_ask_t *ask)
{
    pthread_mutex_lock(&inbox->mutex);
    while (!ask->is_done) {
        (void)pthread_cond_wait(&inbox->changed, &inbox->mutex);
    }
    pthread_mutex_unlock(&inbox->mutex);
}

static troupe_err_t ask_body(trp_runtime_t *runtime, troupe_type_t type, const void *body,
                             size_t size, trp_body_t **ret_body)
{
    if (!trp_types_fits(&runtime->types, type, size)) {
        return trp_types_check(&runtime->types, type, size);
    }
    trp_body_t *copy = trp_body_new(&runtime->depot, size, false);
    if (copy == NULL) {
        return TROUPE_EOVERLOAD;
    }
    copy->type = type.id;
    if (size > 0) {
        memcpy(copy->data, body, size);
    }
    *ret_body = copy;
    return TROUPE_OK;
}

troupe_err_t troupe_inbox_ask(troupe_inbox_t *inbox, troupe_ref_t to, troupe_type_t type,
                              const void *body, size_t size, uint32_t timeout_ms,
                              troupe_letter_t **ret_reply)
{
    if (inbox == NULL || ret_reply == NULL || troupe_ref_is_none(to) ||
        (body == NULL && size > 0)) {
        return TROUPE_EINVAL;
    }
    if (trp_outside_is_inside(inbox->runtime)) {
        return TROUPE_ETHREAD;
    }
    inbox_ask_t ask = {.inbox = inbox};
    ask_order_t order = {&ask, inbox->ref.id, to, NULL, timeout_ms};
    troupe_err_t err = ask_body(inbox->runtime, type, body, size, &order.body);
    if (err == TROUPE_OK) {
        err = ask_enter(inbox, &ask);
    }
    if (err == TROUPE_OK) {
        trp_task_t task = {ask_task, ask_abandon, &order, sizeof(order)};
        err = trp_runtime_post_task(inbox->runtime, trp_id_dispatcher(inbox->ref.id), &task);
        if (err != TROUPE_OK) {
            ask_refuse(&ask, err);
        }
    }
    if (err != TROUPE_OK) {
        if (order.body != NULL) {
            trp_body_unref(order.body);
        }
        return err;
    }
    ask_wait(inbox, &ask);
    if (ask.err == TROUPE_OK) {
        *ret_reply = ask.reply;
    }
    return ask.err;
}

troupe_err_t troupe_inbox_tell(troupe_inbox_t *inbox, troupe_ref_t to, troupe_type_t type,
                               const void *body, size_t size, uint32_t timeout_ms)
{
    uint64_t deadline = timeout_ms == 0 ? 0 : trp_clock_now() + timeout_ms * TRP_NS_PER_MS;
    if (inbox == NULL) {
        return TROUPE_EINVAL;
    }
    trp_outside_letter_t letter = {to, inbox->ref, type, body, size, deadline};
    return trp_outside_send(inbox->runtime, &letter);
}
