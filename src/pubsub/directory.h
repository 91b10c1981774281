/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The directory: a node's truth about its topics, from which each dispatcher's replica is fed.
 *
 *     topics[id] -> {name, handles, places: who wants it, patterns that match, snapshot, interest}
 *
 * A place is a cause to send somewhere: a dispatcher of this node with subscribers, or another node.
 * The mediator writes places; dispatchers *resolve* a topic on its first use and are then told of every
 * change (their bit is set in `interest`). Whoever does not use a topic never hears of it, so churn of
 * other topics costs a publisher nothing. A snapshot is built when it is first asked for.
 *
 * Thread rule: any thread; a short lock inside, never held while calling out. The mediator alone
 * writes places and sweeps. */

#ifndef TROUPE_PUBSUB_DIRECTORY_H
#define TROUPE_PUBSUB_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/pubsub.h>

#include "base/view.h"
#include "pubsub/topic.h"

troupe_err_t trp_directory_init(trp_directory_t *directory, trp_atoms_t *names, uint64_t seed);
void trp_directory_fini(trp_directory_t *directory);

/* ---- handles: any thread --------------------------------------------------------------------- */

troupe_err_t trp_directory_open(trp_directory_t *directory, trp_space_t space, trp_view_t bytes,
                                const troupe_topic_options_t *options, troupe_topic_t *ret_topic);
/* TROUPE_ENOENT when no such handle is open. */
troupe_err_t trp_directory_close(trp_directory_t *directory, troupe_topic_t topic);

/* ---- replicas: their own threads ------------------------------------------------------------- */

/* What a replica gets when it resolves: one reference of each. */
typedef struct trp_resolved {
    const trp_atom_t *name;
    trp_targets_t *targets;
} trp_resolved_t;

/* By name: interns it when it is new. Errors of trp_atoms_intern. */
troupe_err_t trp_directory_resolve(trp_directory_t *directory, uint8_t replica, trp_space_t space,
                                   trp_view_t bytes, trp_resolved_t *ret_resolved);
/* By id; generation 0: whichever has the id now. TROUPE_ENOENT when it is gone. */
troupe_err_t trp_directory_resolve_id(trp_directory_t *directory, uint8_t replica, uint32_t id,
                                      uint32_t generation, trp_resolved_t *ret_resolved);
/* The replica has dropped the topic. */
void trp_directory_forgotten(trp_directory_t *directory, uint8_t replica, uint32_t id,
                             uint32_t generation);

/* ---- the mediator ---------------------------------------------------------------------------- */

/* Sets the weight of a place of a topic or path. When replicas must hear of it, ret_change->targets is
 * not NULL. Nothing is changed on error: TROUPE_EFULL, TROUPE_ENOMEM. */
troupe_err_t trp_directory_place(trp_directory_t *directory, const trp_placing_t *placing,
                                 trp_change_t *ret_change);
/* Subscribers of the name and group on this node, over all dispatchers. */
uint32_t trp_directory_here(trp_directory_t *directory, const trp_atom_t *name,
                            const trp_atom_t *group);
/* The same for a pattern; every topic that it touches is reported. */
troupe_err_t trp_directory_place_pattern(trp_directory_t *directory, const trp_placing_t *placing,
                                         trp_change_fn on_change, void *context);
/* A member can or can't be reached: groups and paths avoid those that can't. */
troupe_err_t trp_directory_set_reachable(trp_directory_t *directory, uint64_t node,
                                         bool is_reachable, trp_change_fn on_change, void *context);
/* Some replica could not be told of a change: the sweep tells all of them again. */
void trp_directory_retry(trp_directory_t *directory, uint32_t id, uint32_t generation);
/* Looks at the next `budget` topics: retries what ran out of memory, and drops the records that nobody
 * has used for `idle_ns`, after their replicas have dropped them (targets NULL). */
void trp_directory_sweep(trp_directory_t *directory, uint64_t now, uint64_t idle_ns,
                         uint32_t budget, trp_change_fn on_change, void *context);

/* ---- questions: any thread ------------------------------------------------------------------- */

troupe_err_t trp_directory_count(trp_directory_t *directory, troupe_topic_t topic,
                                 troupe_topic_info_t *ret_info);
void trp_directory_visit(trp_directory_t *directory, troupe_topic_visit_fn visit, void *context);
uint32_t trp_directory_len(trp_directory_t *directory);

#endif
