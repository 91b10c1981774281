/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Where a node finds its cluster: the seeds of the options, of a file, and of DNS.
 *
 * What is there at the start decides who may found a cluster (the first seed); file and DNS are looked
 * at again, by an actor with offloaded work, for as long as the node isn't up.
 *
 * Thread rule: each function says. */

#ifndef TROUPE_NODE_SEEDS_H
#define TROUPE_NODE_SEEDS_H

#include <stdbool.h>

#include <troupe/error.h>
#include <troupe/node.h>

#include "node/settings.h"
#include "node/store.h"

typedef struct trp_node trp_node_t;

#define TRP_SEEDS_MAX TRP_SETTINGS_SEEDS_MAX

/* All seeds in order: options, file, DNS by address; each once. What can't be read or isn't an address
 * is left out. Blocks on disk and network. ENOMEM. */
troupe_err_t trp_seeds_gather(const trp_settings_t *settings, trp_store_t *store,
                              troupe_string_list_t *ret_seeds);

/* True when there is a file or a name to look at. */
bool trp_seeds_may_change(const trp_settings_t *settings);

/* Spawns the actor that looks again. Not on a dispatcher. */
troupe_err_t trp_seeds_seek(trp_node_t *node);

#endif
