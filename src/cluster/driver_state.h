/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The driver's state, shared by its files. */

#ifndef TROUPE_CLUSTER_DRIVER_STATE_H
#define TROUPE_CLUSTER_DRIVER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/dispatcher.h"
#include "base/log.h"
#include "cluster/driver.h"
#include "net/link/link.h"

#define TRP_DRIVER_DIALS_MAX 128
/* A dial that stands is given up and begun anew after so long, since the link's back-off would find a
 * restarted seed too late. */
#define TRP_DRIVER_REDIAL_MS 1500

/* An address that is dialled without knowing who is there. */
typedef struct trp_driver_dial {
    char address[TROUPE_MEMBER_ADDRESS_SIZE];
    uint64_t at; /* When it was last begun. */
} trp_driver_dial_t;

/* What the subscription actor is told. */
typedef struct trp_subscribe_message {
    uint64_t node; /* The subscriber's reference. */
    uint64_t id;
    uint64_t mask; /* 0: no more. */
} trp_subscribe_message_t;

struct trp_cluster {
    trp_cluster_driver_options_t options;
    trp_runtime_t *runtime;
    trp_link_t *link;
    trp_log_t *log;
    troupe_type_t event_type;
    troupe_type_t subscribe_type;
    _Atomic uint64_t actor; /* Id of the subscription actor; 0: not yet. */
    pthread_mutex_t mutex;
    trp_cluster_core_t *core; /* Under the mutex; NULL before start. */
    bool is_stopped;          /* Under the mutex. */
    bool is_polled;           /* Under the mutex: a drain is on its way to the system dispatcher. */
    /* Of the system dispatcher. */
    trp_dispatcher_t *d; /* NULL: not attached. */
    trp_alarm_t alarm;
    trp_driver_dial_t dials[TRP_DRIVER_DIALS_MAX];
    size_t dials_len;
    struct subscribers *subscribers; /* The state of the actor; NULL while it isn't there. */
};

/* Does what the core wants, and sets the alarm. On the system dispatcher. */
void trp_driver_drain(trp_cluster_t *cluster, trp_dispatcher_t *d);

/* Acts on one output. On the system dispatcher. */
void trp_driver_act(trp_cluster_t *cluster, trp_dispatcher_t *d, const trp_output_t *output);

/* Writes a note of the core into the log. */
void trp_driver_log_note(trp_cluster_t *cluster, const trp_output_t *output);

/* Sends an event to the subscribers. On the system dispatcher. */
void trp_subscribers_tell(trp_cluster_t *cluster, trp_dispatcher_t *d,
                          const troupe_member_event_t *event);

/* Spawns the subscription actor. Not on a dispatcher. */
troupe_err_t trp_subscribers_start(trp_cluster_t *cluster);

#endif
