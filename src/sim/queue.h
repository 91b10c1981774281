/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The queue of what is going to happen: a binary heap by time, and by order of entry for equal times, so
 * that runs repeat.
 *
 * Thread rule: belongs to its world. */

#ifndef TROUPE_SIM_QUEUE_H
#define TROUPE_SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#define TRP_SIM_EVENTS_MAX (16u * 1024u * 1024u)

typedef enum trp_sim_event_kind {
    TRP_SIM_MESSAGE = 1,
    TRP_SIM_WAKE = 2,
    TRP_SIM_CALL = 3,
} trp_sim_event_kind_t;

typedef struct trp_sim_event {
    uint64_t at;
    uint64_t order;
    trp_sim_event_kind_t kind;
    uint32_t node;
    uint32_t from;
    uint32_t life;  /* Of the node when the event was made: it isn't for a later life. */
    uint64_t token; /* WAKE: which one; CALL: the argument. */
    void (*call)(void *user, uint64_t arg);
    uint8_t *data; /* Owned. */
    size_t size;
} trp_sim_event_t;

typedef struct trp_sim_queue {
    trp_sim_event_t *items;
    size_t len;
    size_t capacity;
    uint64_t next_order;
} trp_sim_queue_t;

void trp_sim_queue_fini(trp_sim_queue_t *queue);

/* Adds an event; takes its data over on success only. EFULL, ENOMEM. */
troupe_err_t trp_sim_queue_push(trp_sim_queue_t *queue, const trp_sim_event_t *event);

/* Takes the earliest event that is due by `until`. */
bool trp_sim_queue_pop(trp_sim_queue_t *queue, uint64_t until, trp_sim_event_t *ret_event);

#endif
