/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The link thread's round: take what was handed over, send, receive, run timers, sleep when all that
 * found nothing. */

#include "net/link/loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "net/link/bulk_lane.h"
#include "net/link/conn.h"
#include "net/link/curve.h"
#include "net/link/deliver.h"
#include "net/link/pump.h"
#include "net/link/receive.h"
#include "net/link/router.h"
#include "net/link/session.h"
#include "net/link/socket.h"

#define LOOP_RECEIVE_BUDGET 64u /* ZeroMQ messages a round. */
#define LOOP_POLL_ROUNDS 32u    /* Busy rounds between two looks at monitors. */
#define LOOP_SLEEP_MS_MAX 1000
#define LOOP_BYE_MS 200 /* What ZeroMQ may take to send a good-bye. */

/* ---- timers ---------------------------------------------------------------------------------- */

void trp_timer_init(trp_timer_t *timer, void (*fire)(trp_link_t *link, void *owner), void *owner)
{
    trp_wheel_timer_init(&timer->timer);
    timer->fire = fire;
    timer->owner = owner;
}

void trp_timer_set(trp_link_t *link, trp_timer_t *timer, uint64_t delay_ns)
{
    trp_wheel_cancel(&link->wheel, &timer->timer);
    trp_wheel_add(&link->wheel, &timer->timer, trp_clock_add(link->now, delay_ns));
}

void trp_timer_cancel(trp_link_t *link, trp_timer_t *timer)
{
    trp_wheel_cancel(&link->wheel, &timer->timer);
}

static void loop_fire(trp_wheel_t *wheel, trp_wheel_timer_t *at, void *user)
{
    (void)wheel;
    trp_timer_t *timer = TRP_CONTAINER_OF(at, trp_timer_t, timer);
    timer->fire(user, timer->owner);
}

/* ---- what other threads give ----------------------------------------------------------------- */

static void loop_answer(trp_link_t *link, trp_command_t *command)
{
    trp_count_in_flight(link, &command->user, &command->system);
    (void)pthread_mutex_lock(&link->wait_mutex);
    bool is_abandoned = command->is_abandoned;
    command->is_done = true;
    (void)pthread_cond_broadcast(&link->wait_cond);
    (void)pthread_mutex_unlock(&link->wait_mutex);
    if (is_abandoned) {
        trp_free(command);
    }
}

static void loop_forget(trp_link_t *link, uint64_t uid)
{
    trp_peer_t *peer = trp_peers_find(&link->registry, uid);
    if (peer != NULL) {
        trp_session_bury(link, peer, TROUPE_DROP_NODE_UNREACHABLE);
    } else {
        trp_peers_ban(&link->registry, uid);
    }
    trp_peer_unref(&peer);
}

static void loop_command(trp_link_t *link, trp_command_t *command)
{
    switch (command->kind) {
    case TRP_COMMAND_DIAL:
        trp_dials_add(link, command->address, command->uid);
        break;
    case TRP_COMMAND_HANGUP:
        trp_dials_remove(link, command->address);
        break;
    case TRP_COMMAND_FORGET:
        loop_forget(link, command->uid);
        break;
    case TRP_COMMAND_COUNT:
        loop_answer(link, command);
        return; /* The caller frees it. */
    }
    trp_free(command);
}

static void loop_item(trp_link_t *link, trp_item_t *item)
{
    switch (item->kind) {
    case TRP_ITEM_FRAME:
        trp_pump_frame(link, TRP_CONTAINER_OF(item, trp_frame_t, item));
        break;
    case TRP_ITEM_BULK:
        trp_bulk_lane_push(link, TRP_CONTAINER_OF(item, trp_bulk_out_t, item));
        break;
    case TRP_ITEM_SERVICE:
        trp_service_send(link, TRP_CONTAINER_OF(item, trp_service_out_t, item));
        break;
    case TRP_ITEM_RECEIVED:
        trp_deliver_returned(link, TRP_CONTAINER_OF(item, trp_received_t, item));
        break;
    case TRP_ITEM_COMMAND:
        loop_command(link, TRP_CONTAINER_OF(item, trp_command_t, item));
        break;
    }
}

bool trp_loop_take(trp_link_t *link)
{
    trp_item_t *item = trp_handover_take(&link->handover);
    bool has_done = item != NULL;
    while (item != NULL) {
        trp_item_t *next = item->next;
        loop_item(link, item);
        item = next;
    }
    return has_done;
}

/* ---- what sockets tell ----------------------------------------------------------------------- */

static void loop_drain_waker(trp_link_t *link)
{
    uint64_t count = 0;
    ssize_t size = read(link->handover.waker->fd, &count, sizeof(count));
    (void)size; /* Nothing to read is as good. */
}

static void loop_listener(trp_link_t *link)
{
    trp_monitor_event_t event;
    while (trp_monitor_next(link->listener, &event)) {
        trp_router_on_event(link, &event);
    }
}

static void loop_watch(trp_link_t *link, trp_watch_t *watch)
{
    switch (watch->kind) {
    case TRP_WATCH_WAKER:
        loop_drain_waker(link);
        break;
    case TRP_WATCH_ROUTER:
        break; /* Every round looks at it. */
    case TRP_WATCH_LISTENER:
        loop_listener(link);
        break;
    case TRP_WATCH_ZAP:
        trp_curve_answer_zap(link);
        break;
    case TRP_WATCH_MONITOR:
        trp_conn_on_monitor(link, watch->socket);
        break;
    case TRP_WATCH_REPLY:
        trp_conn_on_reply(link, watch->socket);
        break;
    }
}

/* A watch whose connection is closed meanwhile is still there, as connections are freed later. */
static void loop_poll(trp_link_t *link, int timeout_ms)
{
    struct epoll_event events[TRP_LINK_POLL_MAX];
    int len = epoll_wait(link->epoll_fd, events, TRP_LINK_POLL_MAX, timeout_ms);
    atomic_store_explicit(&link->handover.waker->is_sleeping, false, memory_order_relaxed);
    link->now = trp_clock_now();
    for (int i = 0; i < len; i++) {
        loop_watch(link, events[i].data.ptr);
    }
}

/* ---- sleeping -------------------------------------------------------------------------------- */

static int loop_timeout_ms(trp_link_t *link)
{
    uint64_t next = trp_wheel_next(&link->wheel);
    uint64_t now = trp_clock_now();
    if (next == TRP_CLOCK_NEVER) {
        return LOOP_SLEEP_MS_MAX;
    }
    if (next <= now) {
        return 0;
    }
    uint64_t wait_ms = (next - now + TRP_NS_PER_MS - 1) / TRP_NS_PER_MS;
    return wait_ms > LOOP_SLEEP_MS_MAX ? LOOP_SLEEP_MS_MAX : (int)wait_ms;
}

static void loop_sleep(trp_link_t *link)
{
    atomic_store_explicit(&link->handover.waker->is_sleeping, true, memory_order_relaxed);
    /* Pairs with the fence in trp_waker_wake: either the giver sees the flag, or we see what it gave. */
    atomic_thread_fence(memory_order_seq_cst);
    bool has_work = !trp_handover_is_empty(&link->handover) ||
                    atomic_load_explicit(&link->must_stop, memory_order_relaxed) ||
                    (link->has_endpoint && trp_endpoint_wants_room(&link->endpoint));
    loop_poll(link, has_work ? 0 : loop_timeout_ms(link));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool loop_round(trp_link_t *link)
{
    link->now = trp_clock_now();
    bool has_done = trp_loop_take(link);
    has_done = trp_pump_run(link) || has_done;
    has_done = trp_receive_run(link, LOOP_RECEIVE_BUDGET) || has_done;
    has_done = trp_wheel_advance(&link->wheel, link->now, loop_fire, link) > 0 || has_done;
    if (link->has_endpoint) {
        (void)trp_endpoint_flush(&link->endpoint);
    }
    trp_conn_bury(link);
    return has_done;
}

/* ---- stopping -------------------------------------------------------------------------------- */

typedef struct loop_waiting {
    uint64_t frames;
} loop_waiting_t;

static void loop_count_waiting(trp_peer_t *peer, void *context)
{
    loop_waiting_t *waiting = context;
    bool can_send = peer->session.is_up && !atomic_load(&peer->is_stalled);
    if (can_send && (peer->ordinary.first != NULL || peer->control.first != NULL ||
                     peer->bulk_out.first != NULL)) {
        waiting->frames++;
    }
}

/* Whether a peer that takes mail still has to acknowledge some. */
static bool loop_has_waiting(trp_link_t *link)
{
    loop_waiting_t waiting = {0};
    trp_peers_visit(&link->registry, loop_count_waiting, &waiting);
    return waiting.frames > 0 || !trp_handover_is_empty(&link->handover);
}

static void loop_bye(trp_peer_t *peer, void *context)
{
    (void)context;
    if (!peer->session.is_up) {
        return;
    }
    uint8_t frame[TRP_WIRE_FRAME_SIZE];
    trp_frame_header_t header = {.kind = TRP_FRAME_BYE, .lane = TRP_LANE_CONTROL};
    trp_wire_put_frame(frame, &header);
    trp_socket_t *socket = &peer->session.conn->lanes[TRP_LANE_CONTROL];
    int linger = LOOP_BYE_MS;
    (void)zmq_setsockopt(socket->dealer, ZMQ_LINGER, &linger, sizeof(linger));
    (void)trp_socket_send(socket, frame, sizeof(frame));
}

typedef struct loop_first {
    trp_peer_t *peer; /* Reference. */
} loop_first_t;

static void loop_take_first(trp_peer_t *peer, void *context)
{
    loop_first_t *first = context;
    if (first->peer == NULL) {
        first->peer = trp_peer_ref(peer);
    }
}

static void loop_bury_peers(trp_link_t *link)
{
    for (;;) {
        loop_first_t first = {NULL};
        trp_peers_visit(&link->registry, loop_take_first, &first);
        if (first.peer == NULL) {
            return;
        }
        trp_session_bury(link, first.peer, TROUPE_DROP_NODE_UNREACHABLE);
        trp_peer_unref(&first.peer);
    }
}

/* Whether a session stands. */
static void loop_count_up(trp_peer_t *peer, void *context)
{
    loop_waiting_t *waiting = context;
    waiting->frames += peer->session.is_up;
}

/* Says good-bye and waits shortly for the peers to take it: they end their sessions then. */
static void loop_say_bye(trp_link_t *link)
{
    trp_peers_visit(&link->registry, loop_bye, NULL);
    uint64_t end = trp_clock_add(trp_clock_now(), trp_clock_from_ms(LOOP_BYE_MS));
    for (;;) {
        loop_waiting_t waiting = {0};
        trp_peers_visit(&link->registry, loop_count_up, &waiting);
        if (waiting.frames == 0 || trp_clock_now() >= end) {
            return;
        }
        (void)loop_round(link);
        loop_poll(link, 1);
    }
}

static void loop_finish(trp_link_t *link)
{
    uint64_t end = trp_clock_add(trp_clock_now(), trp_clock_from_ms(TRP_LINK_FLUSH_MS));
    while (loop_has_waiting(link) && trp_clock_now() < end) {
        if (!loop_round(link)) {
            loop_poll(link, 1);
        }
    }
    loop_say_bye(link);
    trp_dials_close(link);
    loop_bury_peers(link);
    trp_conn_close_peer(link, NULL);
    trp_conn_bury(link);
    while (link->has_endpoint && trp_endpoint_flush(&link->endpoint) && trp_clock_now() < end) {
        loop_poll(link, 1);
    }
}

void trp_link_end(trp_link_t *link)
{
    (void)trp_loop_take(link);
    loop_bury_peers(link);
    trp_conn_bury(link);
    trp_deliver_fini(link);
}

void *trp_loop_main(void *argument)
{
    trp_link_t *link = argument;
    (void)pthread_setname_np(pthread_self(), "troupe-link");
    uint32_t busy = 0;
    while (!atomic_load_explicit(&link->must_stop, memory_order_acquire)) {
        if (!loop_round(link)) {
            loop_sleep(link);
            busy = 0;
        } else if (++busy == LOOP_POLL_ROUNDS) {
            loop_poll(link, 0);
            busy = 0;
        }
    }
    loop_finish(link);
    return NULL;
}
