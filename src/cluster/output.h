/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the core wants done: messages to send, connections to make, events to tell. The driver takes
 * them off after every step.
 *
 * Thread rule: a queue belongs to its thread. */

#ifndef TROUPE_CLUSTER_OUTPUT_H
#define TROUPE_CLUSTER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/cluster.h>

#include "cluster/identity.h"

typedef enum trp_output_kind {
    TRP_OUTPUT_SEND = 1,   /* `data` to the connected node `uid`, on its control lane. */
    TRP_OUTPUT_CONNECT,    /* Dial `address`, unless that is under way or done; `uid` is the member
                              that is there, 0: whoever answers. */
    TRP_OUTPUT_DISCONNECT, /* `uid` is removed: close its link and stop dialling. */
    TRP_OUTPUT_EVENT,      /* `event` about `who`, whose fields are as they were at that moment. */
    TRP_OUTPUT_DOWNED,     /* The split-brain strategy has decided that `who` is down. */
    TRP_OUTPUT_STOP_SELF,  /* This incarnation has ended, see `stop`. Nothing follows. */
    TRP_OUTPUT_NOTE,       /* For the log: `note`, about `uid` or `who` where there is one. */
    TRP_OUTPUT_LOST,       /* Events were lost for want of memory: look at all members anew. */
} trp_output_kind_t;

typedef enum trp_stop_reason {
    TRP_STOP_LEFT = 1,  /* It left of its own will: the node may stop. */
    TRP_STOP_DOWNED,    /* Others have downed it: start anew with a new uid. */
    TRP_STOP_SPLIT,     /* It was on the losing side of a split: start anew with a new uid. */
    TRP_STOP_JOIN_LOST, /* The cluster that welcomed it is gone: start anew with a new uid. */
    TRP_STOP_YIELDED,   /* Its cluster gives way to a stronger one: start anew with a new uid. */
} trp_stop_reason_t;

typedef enum trp_note {
    TRP_NOTE_STARVED = 1,   /* Called late: this process or machine is short of time. count: ms. */
    TRP_NOTE_INDIRECT_ONLY, /* `uid` answers others, but not us. */
    TRP_NOTE_SUSPECT,       /* `uid` is suspected. */
    TRP_NOTE_REFUTED,       /* Others suspected this node, and it has said that it lives. */
    TRP_NOTE_BLOCKED,       /* `uid` keeps members from becoming up or leaving. */
    TRP_NOTE_OTHER_CLUSTER, /* `uid` belongs to another cluster of the same name. count: its id. */
    TRP_NOTE_SPOOFED,       /* `uid` spoke for another; refused. */
    TRP_NOTE_WAITING_SEED,  /* This node may not form a cluster and no seed answers. */
    TRP_NOTE_REPLACED,      /* `uid` was started anew at its address. */
    TRP_NOTE_SEED_IS_SELF,  /* A seed under another name is this node itself. */
    TRP_NOTE_FULL,          /* The member table is full: `uid` was not let in. */
} trp_note_t;

typedef struct trp_output {
    trp_output_kind_t kind;
    troupe_member_event_kind_t event;
    trp_stop_reason_t stop;
    trp_note_t note;
    uint64_t uid;
    uint64_t count;
    trp_identity_t *who; /* One reference, or NULL. */
    troupe_member_state_t state;
    uint32_t incarnation;
    uint64_t up_number;
    bool unreachable;
    uint8_t *data; /* Owned, of SEND. */
    size_t size;
    char *address; /* Owned, of CONNECT. */
} trp_output_t;

typedef struct trp_outputs {
    trp_output_t *items; /* A ring. */
    size_t first;
    size_t len;
    size_t capacity;
    uint64_t dropped_sends;
    bool events_lost;
} trp_outputs_t;

void trp_outputs_fini(trp_outputs_t *outputs);

/* Adds one and takes over what it owns, also when it has to drop it. Sends and connects are dropped at
 * half of the bound, which acts as a lossy network does; an event that can't be kept is made up for by
 * TRP_OUTPUT_LOST. */
void trp_outputs_push(trp_outputs_t *outputs, trp_output_t *output);

/* Takes the oldest; the caller then owns it. False when there is none. */
bool trp_outputs_pop(trp_outputs_t *outputs, trp_output_t *ret_output);

/* Frees what an output owns. */
void trp_output_fini(trp_output_t *output);

const char *trp_note_name(trp_note_t note);
const char *trp_stop_reason_name(trp_stop_reason_t reason);

#endif
