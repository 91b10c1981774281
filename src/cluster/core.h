/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The cluster core: membership, failure detection, gossip, settling and split-brain decisions as one
 * plain state machine. It does no I/O, reads no clock and draws no randomness of its own: time and a
 * seed are passed in, so a run can be repeated exactly.
 *
 *     driver:  trp_cluster_core_<input>(core, now, ...);
 *              while (trp_cluster_core_next(core, &output)) { act on it; trp_output_fini(&output); }
 *              call trp_cluster_core_tick at trp_cluster_core_wakeup(core) at the latest
 *
 * A node is first known by address only: the core asks to connect, the driver tells peer_connected
 * with the uid that the link has authenticated, and from then on messages go by uid. `from` of a
 * message is the link's word, never the message's.
 *
 * `now` is monotonic nanoseconds. A step that comes later than asked for means that this process was
 * starved or stopped; the core then doesn't count the time it missed against anybody.
 *
 * Thread rule: a core belongs to its thread. */

#ifndef TROUPE_CLUSTER_CORE_H
#define TROUPE_CLUSTER_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/cluster.h>
#include <troupe/error.h>

#include "cluster/members.h"
#include "cluster/output.h"
#include "cluster/quorum.h"

typedef struct trp_cluster_core trp_cluster_core_t;

/* All in milliseconds; 0 takes the default. */
typedef struct trp_cluster_timings {
    uint32_t probe_interval_ms;  /* 500: one member is probed in each. */
    uint32_t probe_timeout_ms;   /* 200: then others are asked to probe too. */
    uint32_t suspicion_ms;       /* 1,000: least time from suspect to unreachable, before it is
                                    scaled by the logarithm of the members' number. */
    uint32_t gossip_interval_ms; /* 150: between rounds while there is news. */
    uint32_t stable_after_ms;    /* 3,000: unreachable for so long means down. */
    uint32_t seek_interval_ms;   /* 300: between two calls at the seeds. */
    uint32_t form_wait_ms;     /* 2,000: before a cluster is formed, so that a running one can find
                                    this seed first. */
    uint32_t seed_timeout_ms;  /* 5,000: a seed silent for so long counts as absent. */
    uint32_t dial_interval_ms; /* 500: members look for lost seeds that often. */
    uint32_t settle_resend_ms; /* 500 */
    uint32_t exit_linger_ms;   /* 400: between being settled out and stopping. */
    uint32_t leave_timeout_ms; /* 10,000: then it leaves without waiting. */
    uint32_t tombstone_ms;     /* 3,600,000 */
    uint32_t late_ms;          /* 250: a step later than this was starved. */
} trp_cluster_timings_t;

typedef struct trp_cluster_options {
    uint64_t uid; /* Random, not 0. */
    uint64_t random_seed;
    const char *address; /* What others dial. */
    const char *name;    /* May be NULL. */
    const char *const *roles;
    size_t roles_len;
    const char *const *seeds; /* The first may form a cluster alone if it is this node. */
    size_t seeds_len;
    const char *const *peers; /* Addresses known from an earlier run: asked before one is formed. */
    size_t peers_len;
    bool hold_ready;                /* Not to become up before trp_cluster_core_ready. */
    uint32_t form_quorum;           /* Seeds, self among them, that must agree to form; 0: 1. */
    uint32_t members_min;           /* Nobody becomes up before so many have joined; 0: 1. */
    uint32_t members_max;           /* 0: TRP_MEMBERS_MAX */
    trp_quorum_strategy_t strategy; /* 0: keep majority */
    uint32_t quorum_len;            /* Of static quorum. */
    trp_cluster_timings_t timings;
} trp_cluster_options_t;

/* Counters for the tools. */
typedef struct trp_cluster_stats {
    uint64_t messages_in;
    uint64_t messages_out;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t malformed; /* Could not be decoded. */
    uint64_t unknown;   /* Of a type or version not known here. */
    uint64_t foreign;   /* Of another cluster. */
    uint64_t spoofed;   /* Spoke for somebody else. */
    uint64_t fenced;    /* From nodes that are down or removed. */
    uint64_t probes;
    uint64_t probes_failed;
    uint64_t suspicions;
    uint64_t refutations;
    uint64_t syncs;
    uint64_t full_sets;     /* Vectors and whole sets sent because digests differed. */
    uint64_t starved;       /* Late steps. */
    uint64_t out_of_memory; /* News dropped for want of memory. */
} trp_cluster_stats_t;

/* Checks and copies the options. EINVAL: no uid, no address or a text out of bounds; ENOMEM. */
troupe_err_t trp_cluster_core_create(const trp_cluster_options_t *options, uint64_t now,
                                     trp_cluster_core_t **ret_core);
void trp_cluster_core_destroy(trp_cluster_core_t **core_p);

/* ---- inputs ----------------------------------------------------------------------------------- */

void trp_cluster_core_tick(trp_cluster_core_t *core, uint64_t now);
void trp_cluster_core_message(trp_cluster_core_t *core, uint64_t now, uint64_t from,
                              const void *data, size_t size);
/* A session to `uid` stands; `address` is the one it calls its own. */
void trp_cluster_core_peer_connected(trp_cluster_core_t *core, uint64_t now, uint64_t uid,
                                     const char *address);
void trp_cluster_core_peer_disconnected(trp_cluster_core_t *core, uint64_t now, uint64_t uid);
/* Whoever was dialled at `address` turned out to be `uid`, which may be this node itself. */
void trp_cluster_core_peer_alias(trp_cluster_core_t *core, uint64_t now, uint64_t uid,
                                 const char *address);
/* A peer's link refuses this incarnation, since it was declared down there. */
void trp_cluster_core_refused(trp_cluster_core_t *core, uint64_t now);
/* Further addresses to seek the cluster at; those past the bound are left out. */
void trp_cluster_core_join(trp_cluster_core_t *core, uint64_t now, const char *const *addresses,
                           size_t len);
/* Leaves; TRP_OUTPUT_STOP_SELF follows. */
void trp_cluster_core_leave(trp_cluster_core_t *core, uint64_t now);
/* Stops at once, with a good-bye to all: nobody has to wait for this node any more. */
void trp_cluster_core_stop(trp_cluster_core_t *core, uint64_t now);
/* Lets a held member become up. */
void trp_cluster_core_ready(trp_cluster_core_t *core, uint64_t now);
/* An operator's word that a member is down, or shall leave. ENOENT: no such member; EPERM: down is
 * not for oneself. */
troupe_err_t trp_cluster_core_down(trp_cluster_core_t *core, uint64_t now, uint64_t uid);
troupe_err_t trp_cluster_core_leave_member(trp_cluster_core_t *core, uint64_t now, uint64_t uid);

/* ---- outputs ---------------------------------------------------------------------------------- */

/* Takes the next output; the caller ends it with trp_output_fini. False when there is none. */
bool trp_cluster_core_next(trp_cluster_core_t *core, trp_output_t *ret_output);
/* When trp_cluster_core_tick is to be called; TRP_CLOCK_NEVER: not before another input. */
uint64_t trp_cluster_core_wakeup(const trp_cluster_core_t *core);

/* ---- questions -------------------------------------------------------------------------------- */

/* True from its welcome until it is stopped. */
bool trp_cluster_core_is_member(const trp_cluster_core_t *core);
size_t trp_cluster_core_len(const trp_cluster_core_t *core);
/* Members in order of uid, self among them; borrowed until the next input. */
const trp_member_t *trp_cluster_core_at(const trp_cluster_core_t *core, size_t index);
/* NULL when there is none. */
const trp_member_t *trp_cluster_core_find(const trp_cluster_core_t *core, uint64_t uid);
const trp_member_t *trp_cluster_core_find_address(const trp_cluster_core_t *core,
                                                  const char *address);
uint64_t trp_cluster_core_uid(const trp_cluster_core_t *core);
uint64_t trp_cluster_core_cluster(const trp_cluster_core_t *core);
/* 0 when there is none. */
uint64_t trp_cluster_core_leader(const trp_cluster_core_t *core);
uint64_t trp_cluster_core_oldest(const trp_cluster_core_t *core);
/* Equal on two nodes when their views are: members, states, reachability, settled set. */
uint64_t trp_cluster_core_digest(trp_cluster_core_t *core);
/* The epoch of the settled set and its length; 0 before there is one. */
uint64_t trp_cluster_core_epoch(const trp_cluster_core_t *core);
size_t trp_cluster_core_settled_len(const trp_cluster_core_t *core);
bool trp_cluster_core_is_settled(const trp_cluster_core_t *core, uint64_t uid);
/* 0: this process keeps up well, up to TRP_HEALTH_MAX: it is starved. */
uint32_t trp_cluster_core_health(const trp_cluster_core_t *core);
const trp_cluster_stats_t *trp_cluster_core_stats(const trp_cluster_core_t *core);
/* Fills a public view of a member. */
void trp_cluster_core_view(const trp_cluster_core_t *core, const trp_member_t *member,
                           troupe_member_t *ret_view);

#endif
