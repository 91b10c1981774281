/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The core's state, one struct a concern. Private to the files of the core: everybody else sees
 * core.h. A concern's struct is written by its own file only; others read.
 *
 * Thread rule: belongs to the core's thread. */

#ifndef TROUPE_CLUSTER_STATE_H
#define TROUPE_CLUSTER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/random.h"
#include "cluster/core.h"
#include "cluster/limits.h"
#include "cluster/members.h"
#include "cluster/output.h"
#include "cluster/rumors.h"
#include "cluster/timings.h"
#include "cluster/tombs.h"
#include "cluster/uids.h"
#include "cluster/wire.h"

/* Two clocks. `now` is the core's time: it stands still while this process is starved, so nobody is
 * blamed for time in which we didn't listen. `raw` is the caller's: promises to others are in it. */
typedef struct trp_time {
    uint64_t now;
    uint64_t raw;
    uint64_t skipped; /* raw - now */
    uint64_t wakeup;  /* raw time of the next tick that was asked for. */
} trp_time_t;

/* One member is probed at a time. */
typedef struct trp_probe {
    bool active;
    bool sent;  /* A ping went out: there was a connection. */
    bool asked; /* Others were asked. */
    uint64_t target;
    uint64_t seq;
    uint64_t started_at;
    uint64_t ask_at;
    uint64_t end_at;
    uint32_t nacks_due; /* Members asked, and how many of them have said that they are there. */
    uint32_t nacks;
} trp_probe_t;

/* A probe done for another member. */
typedef struct trp_relay {
    bool active;
    uint64_t origin;
    uint64_t origin_seq;
    uint64_t target;
    uint64_t seq;
    uint64_t until;
} trp_relay_t;

typedef struct trp_detector {
    trp_probe_t probe;
    trp_relay_t relays[TRP_RELAYS_MAX];
    size_t relays_len; /* Active ones. */
    uint64_t next_probe_at;
    uint64_t next_seq;
    uint64_t heard_at; /* When any member last sent anything. */
    uint32_t health;
    uint64_t *order; /* Uids in random order, gone through from `order_next`. */
    size_t order_len;
    size_t order_next;
    size_t order_capacity;
    uint64_t knock_next;   /* The unreachable members are knocked at in turn, from this uid on. */
    uint64_t suspicion_at; /* The earliest suspect_until of all; NEVER when nobody is suspected. */
} trp_detector_t;

typedef struct trp_settle {
    trp_uids_t settled;
    uint64_t epoch;    /* 0: no settled set yet. */
    trp_change_t last; /* The change that made it, for passing on; epoch 0: it came whole. */
    bool has_proposal;
    trp_change_t change;  /* The proposal, */
    trp_uids_t proposed;  /* and the set it leads to. */
    uint64_t ballot_seen; /* Highest of the epoch. */
    uint64_t proposed_at; /* When it was taken up here. */
    uint64_t resend_at;
    uint64_t checked_at;
    bool accept_came; /* A member has accepted since the last check. */
    uint64_t blocked_note_at;
    uint64_t ghost_since; /* The set has held uids that nobody here knows since; NEVER: none. */
    uint64_t ghost_at;    /* When others are asked about them again. */
    uint64_t behind_of;   /* A member that knows a later epoch; 0: nobody. */
    trp_uids_t partial;   /* A whole set that arrives in parts, */
    uint64_t partial_epoch;
    uint64_t partial_hash;
} trp_settle_t;

/* A node that a seeker calls at. */
typedef struct trp_contact {
    char *address;     /* Owned. */
    uint64_t uid;      /* 0: not connected. */
    uint64_t alias_of; /* Who was found there under another address; 0: nobody. */
    bool is_seed;
    bool is_self;
    bool promised;        /* Its last answer was a promise. */
    uint64_t answered_at; /* When it last answered, in the core's time; 0: never. */
    uint64_t asked_raw;   /* Raw time of the question that it last answered. */
} trp_contact_t;

typedef enum trp_phase {
    TRP_PHASE_SEEKING = 1,
    TRP_PHASE_MEMBER = 2,
    TRP_PHASE_STOPPED = 3,
} trp_phase_t;

typedef struct trp_join {
    trp_contact_t contacts[TRP_CONTACTS_MAX];
    size_t contacts_len;
    bool is_candidate; /* First of its own seeds. */
    uint64_t started_at;
    uint64_t seek_at;
    uint64_t noted_at;
    uint64_t promised_to;    /* Uid of the candidate we won't compete with; 0: nobody. */
    uint64_t promised_until; /* Raw. */
    uint64_t dial_at;        /* As a member: when to look for lost seeds. */
    uint64_t welcome_until;  /* Until then the whole picture must have come. */
} trp_join_t;

typedef struct trp_split {
    uint64_t fingerprint; /* Of who is unreachable, and of the sets; 0: nobody is. */
    uint64_t since;       /* The fingerprint hasn't changed since. */
    uint64_t first_since; /* Somebody has been unreachable since. */
    uint64_t retry_at;
    bool polling;
    uint64_t poll_seq;
    uint64_t poll_until;
    trp_uids_t asked;
    trp_uids_t votes;
    trp_uids_t targets;
    uint64_t orphan_since; /* No settled member has been known to live since; NEVER: one is. */
    uint64_t voted_for;    /* To whom this node has given its vote; 0: nobody. */
    uint64_t voted_until;  /* Raw. */
} trp_split_t;

struct trp_cluster_core {
    trp_phase_t phase;
    trp_time_t time;
    trp_timings_t timings;
    trp_random_t random;
    trp_quorum_strategy_t strategy;
    uint32_t quorum_len;
    uint32_t form_quorum;
    uint32_t members_min;

    uint64_t cluster; /* Id of the cluster; 0 while seeking. */
    trp_members_t members;
    trp_member_t *self; /* In the table. */
    trp_tombs_t tombs;
    trp_uids_t connected; /* Uids with a session, members or not. */
    trp_outputs_t outputs;
    trp_rumors_t rumors;
    uint64_t gossip_at; /* NEVER while there is no news. */
    uint32_t round;
    trp_items_t items; /* Scratch of the message being made. */

    trp_detector_t detector;
    trp_settle_t settle;
    trp_join_t join;
    trp_split_t split;

    bool leaving; /* Asked to leave. */
    uint64_t leave_until;
    uint64_t finish_at; /* Settled out: when to stop; NEVER otherwise. */

    uint64_t leader; /* As last told. */
    uint64_t oldest;
    uint64_t changed_at; /* When the view last changed. */
    uint64_t sync_at;    /* No repair is begun before. */
    bool digest_is_stale;
    bool roles_are_stale; /* Leader and oldest are to be looked up anew. */
    uint64_t digest;
    uint64_t ranges[TRP_RANGES];
    uint64_t spoof_noted_at;
    uint64_t other_noted_at;
    trp_cluster_stats_t stats;
};

#endif
