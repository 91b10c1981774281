/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Finding the cluster, or forming it, and never a second one.
 *
 * A node without a cluster calls at its contacts (seeds, and peers known from earlier) again and again.
 * Whoever is a member welcomes it. Only the first of a node's own seeds, if that is the node itself,
 * may form a cluster (a *candidate*), and only when
 *  - it has listened for `form_wait`, in which members of a running cluster, who look for lost seeds
 *    every `dial_interval`, find it first;
 *  - every other contact has freshly promised not to form one itself, or has been silent for
 *    `seed_timeout`; and
 *  - it has promised nothing to another candidate.
 * A promise is given to one candidate at a time and lapses; a candidate gives it to candidates with a
 * lower address only, and then asks for none itself. So of candidates that see each other (lists in
 * different orders have different first seeds) the one with the lowest address forms the cluster.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_JOIN_H
#define TROUPE_CLUSTER_JOIN_H

#include "cluster/state.h"

/* Adds an address to call at; one that is there already, or past the bound, is left out. ENOMEM. */
troupe_err_t trp_join_add_contact(trp_cluster_core_t *core, const char *address, bool is_seed);
void trp_join_fini(trp_cluster_core_t *core);

/* Seeks or forms while there is no cluster; later looks for lost seeds. */
void trp_join_tick(trp_cluster_core_t *core);
uint64_t trp_join_wakeup(const trp_cluster_core_t *core);

void trp_join_on_connected(trp_cluster_core_t *core, uint64_t uid, const char *address);
/* Whoever was dialled at `address` is `uid`, whatever address it calls its own. */
void trp_join_on_alias(trp_cluster_core_t *core, uint64_t uid, const char *address);
void trp_join_on_disconnected(trp_cluster_core_t *core, uint64_t uid);
/* The contact at `address` is this node under another name. */
void trp_join_on_self(trp_cluster_core_t *core, const char *address);

void trp_join_on_seek(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                      trp_view_t items);
void trp_join_on_answer(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire);
void trp_join_on_announce(trp_cluster_core_t *core, uint64_t from, trp_view_t items);
void trp_join_on_welcome(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                         trp_view_t items);

#endif
