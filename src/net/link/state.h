/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The inside of a link: what the files of this room share. Private to the room.
 *
 * Thread rule: the link thread, unless a field or function says otherwise. */

#ifndef TROUPE_LINK_STATE_H
#define TROUPE_LINK_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/runtime.h"
#include "base/log.h"
#include "base/random.h"
#include "base/wheel.h"
#include "net/link/frame.h"
#include "net/link/handover.h"
#include "net/link/hello.h"
#include "net/link/link.h"
#include "net/link/listener.h"
#include "net/link/parts.h"
#include "net/link/peer.h"

#define TRP_LINK_LISTENERS_MAX 8u
#define TRP_LINK_POLL_MAX 64 /* Descriptors looked at in one go. */

/* ---- the link -------------------------------------------------------------------------------- */

typedef struct trp_service {
    trp_link_service_fn fn;
    void *context;
    uint32_t dispatcher_index;
} trp_service_t;

typedef struct trp_listener {
    trp_link_event_fn fn;
    void *context;
    uint32_t dispatcher_index;
} trp_listener_t;

typedef struct trp_key_entry {
    trp_link_key_t key;
    char address[TRP_LINK_ADDRESS_SIZE_MAX + 1]; /* Where it was last seen; empty: not known. */
} trp_key_entry_t;

struct trp_link {
    /* ---- fixed after create and start ---- */
    trp_link_options_t options; /* Strings copied below. */
    trp_runtime_t *runtime;
    trp_log_t *log;
    char cluster[TRP_LINK_CLUSTER_SIZE_MAX + 1];
    char name[TRP_LINK_NAME_SIZE_MAX + 1];
    char listen[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    char advertise[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    bool has_curve;
    trp_link_key_t public_key;
    trp_link_key_t secret_key;
    trp_key_entry_t *keys;
    size_t keys_len;
    uint64_t window;
    uint64_t queue_max;
    uint64_t park_mark; /* Outstanding bytes that park, and at which they go on. */
    uint64_t park_low;
    uint64_t stall_ns;
    trp_service_t services[TRP_LINK_SERVICES_MAX];
    trp_listener_t listeners[TRP_LINK_LISTENERS_MAX];
    uint32_t listeners_len;
    trp_link_section_t sections[TRP_LINK_SECTIONS_MAX];
    uint32_t sections_len;
    trp_link_topic_hooks_t topics;
    /* ---- any thread ---- */
    trp_handover_t handover;
    trp_frame_pool_t frames;
    trp_peers_t registry;
    _Atomic bool is_running;
    _Atomic bool must_stop;
    _Atomic uint64_t held_size;      /* Mail held back behind bulk bodies, all dispatchers. */
    _Atomic uint64_t handed_over[2]; /* User and system; the link thread writes. */
    _Atomic uint64_t dropped[2][TROUPE_DROP_LEN];
    pthread_mutex_t wait_mutex; /* For callers that wait for a command. */
    pthread_cond_t wait_cond;
    pthread_t thread;
    bool has_thread;
    /* ---- the link thread's own ---- */
    trp_waker_t own_waker; /* Without a runtime. */
    trp_endpoint_t endpoint;
    bool has_endpoint;
    void *context;
    void *router;
    void *listener; /* The ROUTER's monitor. */
    void *zap;
    trp_listener_fd_t listener_fd;
    trp_watch_t waker_watch, router_watch, listener_watch, zap_watch;
    int epoll_fd;
    uint64_t monitor_next; /* For monitors' names. */
    uint64_t now;
    trp_wheel_t wheel;
    trp_random_t random;
    trp_list_t conns;
    trp_list_t graveyard; /* Closed, to be freed at the end of the round. */
    trp_list_t dials;
    uint32_t dials_len;
    trp_table_t ins;
    trp_list_t ins_order;
    uint32_t pending_len;
    trp_list_t pump; /* Peers with something to send. */
    trp_received_t *received_free;
    uint32_t received_out; /* With dispatchers. */
    trp_bulk_budget_t budget;
    uint32_t connections; /* Inbound TCP connections. */
    uint32_t connections_max;
    trp_log_limit_t log_limit;
    trp_buf_t scratch; /* For handshakes. */
};

/* ---- small helpers --------------------------------------------------------------------------- */

static inline void trp_link_count_drop(trp_link_t *link, bool is_system, troupe_drop_t reason,
                                       uint64_t n)
{
    trp_counter_add(&link->dropped[is_system][reason], n);
}

/* Arms or moves a timer; (re)init before the first use. */
void trp_timer_init(trp_timer_t *timer, void (*fire)(trp_link_t *link, void *owner), void *owner);
void trp_timer_set(trp_link_t *link, trp_timer_t *timer, uint64_t delay_ns);
void trp_timer_cancel(trp_link_t *link, trp_timer_t *timer);

static inline bool trp_timer_is_set(const trp_timer_t *timer)
{
    return trp_wheel_is_armed(&timer->timer);
}

#endif
