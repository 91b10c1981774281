/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A dispatcher: one thread that owns its actors outright. No other thread ever touches its fields, but
 * for the waker, the injector, the slot leases and the few atomics that say so.
 *
 * Thread rule: owner, unless a function says otherwise. */

#ifndef TROUPE_ACTOR_DISPATCHER_H
#define TROUPE_ACTOR_DISPATCHER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/events.h>
#include <troupe/stats.h>

#include "actor/alarm.h"
#include "actor/asks.h"
#include "actor/cell.h"
#include "actor/cells.h"
#include "actor/endpoint.h"
#include "actor/injector.h"
#include "actor/runtime.h"
#include "actor/slots.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/wheel.h"

/* Cells of one line that each dispatcher keeps for system messages: a lost end or kill is an actor that
 * waits for ever. */
#define TRP_SYSTEM_RESERVE 256u

/* What upper rooms keep for each dispatcher. */
typedef enum trp_ext {
    TRP_EXT_LINK,
    TRP_EXT_PUBSUB,
    TRP_EXT_GATEWAY,
    TRP_EXT_CLUSTER,
    TRP_EXT_LEN,
} trp_ext_t;

/* What happens to the message being handled, instead of being freed. */
typedef enum trp_message_fate {
    TRP_FATE_FREE,
    TRP_FATE_FORWARD,
    TRP_FATE_STASH,
    TRP_FATE_KEPT, /* Somebody else owns it now. */
} trp_message_fate_t;

/* Counters of one kind of messages; only the owner writes. */
typedef struct trp_flow {
    uint64_t made;
    uint64_t received;
    uint64_t taken;
    uint64_t dropped[TROUPE_DROP_LEN];
} trp_flow_t;

/* A descriptor in the dispatcher's epoll set. */
typedef struct trp_poll trp_poll_t;
struct trp_poll {
    void (*fn)(trp_dispatcher_t *d, trp_poll_t *poll, uint32_t events);
    int fd;
};

struct trp_dispatcher {
    trp_endpoint_t endpoint; /* First: channels, pool, waker. */
    uint64_t uid;            /* The node's. */
    uint32_t index;
    uint32_t throughput;
    uint64_t slice_ns;
    trp_types_t *types;
    /* The run queue and the activation that is on. */
    troupe_actor_t *run_first;
    troupe_actor_t *run_last;
    troupe_actor_t *current; /* Whose callback runs; NULL between activations. */
    trp_message_t *message;  /* The message it handles; NULL in other callbacks. */
    trp_message_fate_t fate;
    bool must_stop; /* troupe_stop was called in this callback. */
    bool is_ending; /* The callback is `stop`: it can't spawn. */
    bool attention; /* Something must be looked at before the next message. */
    troupe_ref_t forward_to;
    trp_parking_t *park_on;    /* Where the current actor is to be parked. */
    size_t backlog;            /* Messages in all mailboxes. */
    uint32_t drain_next;       /* Whose channel is next while there is too much backlog. */
    trp_message_t *task_first; /* Posted to itself. */
    trp_message_t *task_last;
    bool is_in_task;
    trp_message_t *reserve; /* Cells for system messages when there is no memory. */
    uint32_t reserve_len;
    uint64_t now; /* Nanoseconds, read once a round. */
    trp_flow_t user;
    trp_flow_t system;
    uint64_t actors;
    uint64_t spawned;
    uint64_t parked;
    uint32_t place_next; /* Round robin of the default place. */
    trp_lease_t *leases; /* By dispatcher. */
    trp_slots_t slots;
    trp_cells_t cells;
    trp_asks_t asks;
    struct trp_unborn *unborn; /* Mail for leased slots whose spawn has not come yet. */
    trp_wheel_t wheel;
    uint64_t wheel_next; /* When to advance the wheel. */
    trp_random_t random;
    void *ext[TRP_EXT_LEN];
    int epoll_fd;
    uint32_t polls;     /* Descriptors in the epoll set besides the waker's. */
    uint64_t poll_next; /* When to look at them while busy. */
    trp_injector_t injector;
    pthread_t thread;
    _Atomic bool has_thread; /* Other threads ask whether they are this one. */
    uint32_t hooks_attached;
    _Atomic bool must_end;
    troupe_err_t start_error;
    /* For the watchdog, relaxed. */
    _Atomic uint64_t activations; /* Even: idle; odd: inside one. */
    _Atomic uint64_t active_id;
    const trp_name_t *_Atomic active_name;
};

/* ---- life (dispatcher_life.c) ------------------------------------------------------------------- */

troupe_err_t trp_dispatcher_create(trp_runtime_t *runtime, uint32_t index,
                                   trp_dispatcher_t **ret_dispatcher);
void trp_dispatcher_destroy(trp_dispatcher_t **dispatcher);
/* The thread's main function. */
void trp_dispatcher_run(trp_dispatcher_t *d);

/* Fills the reserve up as far as there is memory. */
void trp_dispatcher_fill_reserve(trp_dispatcher_t *d);

/* ---- for all rooms --------------------------------------------------------------------------- */

/* Runs fn on another dispatcher (or on this one, later), in order with this one's messages to it. */
troupe_err_t trp_dispatcher_post(trp_dispatcher_t *d, uint32_t target_index, trp_task_fn fn,
                                 const void *payload, size_t size);

troupe_err_t trp_dispatcher_post_task(trp_dispatcher_t *d, uint32_t target_index,
                                      const trp_task_t *task);

/* Lets go all actors that wait there. */
void trp_parking_release(trp_dispatcher_t *d, trp_parking_t *parking);

/* Adds, changes and removes descriptors of the epoll set. */
troupe_err_t trp_dispatcher_poll_add(trp_dispatcher_t *d, trp_poll_t *poll, uint32_t events);
troupe_err_t trp_dispatcher_poll_set(trp_dispatcher_t *d, trp_poll_t *poll, uint32_t events);
void trp_dispatcher_poll_remove(trp_dispatcher_t *d, trp_poll_t *poll);

/* The time from which a callback counts a delay. A round may be long, and its time old: reading the
 * coarse clock tells, at a fraction of what the exact one costs. */
static inline uint64_t trp_dispatcher_now(trp_dispatcher_t *d)
{
    if (TRP_UNLIKELY(trp_clock_coarse() > d->now)) {
        d->now = trp_clock_now();
    }
    return d->now;
}

static inline troupe_ref_t trp_dispatcher_ref(const trp_dispatcher_t *d, uint64_t id)
{
    return (troupe_ref_t){id == 0 ? 0 : d->uid, id};
}

/* Who sent a message, as a reference. */
static inline troupe_ref_t trp_message_sender(const trp_dispatcher_t *d, trp_message_t *message)
{
    if (TRP_UNLIKELY((message->flags & TRP_MESSAGE_FOREIGN) != 0)) {
        return (troupe_ref_t){trp_message_extension(message)[0], message->sender};
    }
    return trp_dispatcher_ref(d, message->sender);
}

static inline trp_flow_t *trp_dispatcher_flow(trp_dispatcher_t *d, bool is_system)
{
    return is_system ? &d->system : &d->user;
}

#endif
