/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Merging what others say about members. Every field of a record only grows, so news may come in any
 * order, twice, or late; views that have heard the same are the same.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_MERGE_H
#define TROUPE_CLUSTER_MERGE_H

#include "cluster/state.h"

/* Merges all items that `from` sent; a malformed one ends it and is counted. */
void trp_merge_items(trp_cluster_core_t *core, uint64_t from, trp_view_t items);

/* Merges one record or status. */
void trp_merge_status(trp_cluster_core_t *core, uint64_t from, const trp_item_t *item);

#endif
