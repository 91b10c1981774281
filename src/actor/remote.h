/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The remote port: what the actor room asks of the room that reaches other nodes, and what it offers
 * to it. The link room registers a trp_remote_port_t with the runtime before the dispatchers start. */

#ifndef TROUPE_ACTOR_REMOTE_H
#define TROUPE_ACTOR_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/events.h>
#include <troupe/ref.h>
#include <troupe/stats.h>

#include "actor/body.h"

typedef struct trp_dispatcher trp_dispatcher_t;
typedef struct trp_runtime trp_runtime_t;
typedef struct trp_parking trp_parking_t;

/* A message on its way out. Borrowed for the call. */
typedef struct trp_outgoing {
    troupe_ref_t to;
    troupe_ref_t sender; /* May be none, and may be of a third node (forwarded). */
    const void *data;    /* Bytes of the body; NULL when `shared` holds it. */
    size_t size;
    trp_body_t *shared; /* A shared body: bytes, or an object that must be encoded. */
    uint16_t type;      /* User's type, or trp_system_kind when `is_system`. */
    bool is_system;
    bool is_urgent; /* A system message that overtakes user mail (kill, suspend, resume). */
} trp_outgoing_t;

typedef struct trp_remote_verdict {
    bool is_sent; /* False: dropped, for `reason`; the caller counts and reports it. */
    troupe_drop_t reason;
    trp_parking_t *parking; /* Not NULL: sent, but the sender is to be parked there. */
} trp_remote_verdict_t;

typedef struct trp_remote_port {
    void *context;
    /* Takes a message for another node into dispatcher `d`'s batch for it. On d's thread. Must not
     * block, and must not call back into the runtime but for pool and counters. */
    trp_remote_verdict_t (*send)(void *context, trp_dispatcher_t *d, const trp_outgoing_t *out);
    /* Hands over whatever batches `d` has open. On d's thread, at the end of each round of its loop
     * and before it sleeps. Cheap when nothing is open. */
    void (*flush)(void *context, trp_dispatcher_t *d);
    /* Adds the link room's part of the law of conservation: handed_over (acknowledged by peers),
     * in_flight (accepted by `send` and neither acknowledged nor dropped: counted by walking the link
     * queues and what is unacknowledged), and dropped (by reason, what was dropped after `send` had
     * accepted it). Any thread. */
    void (*account)(void *context, troupe_flow_t *user, troupe_flow_t *system);
} trp_remote_port_t;

#endif
