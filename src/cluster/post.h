/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sending: composes messages, with news on their back, and puts them into the output queue.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_POST_H
#define TROUPE_CLUSTER_POST_H

#include "cluster/state.h"

/* Sends a message if there is a connection to `to`; else asks for one if `to` is a member. True when
 * it was sent. The cluster's id is filled in; `items` may be NULL. */
bool trp_post_send(trp_cluster_core_t *core, uint64_t to, const trp_wire_t *wire,
                   const trp_items_t *items);

/* The same with the digest, the epoch and as much news as fits `news_size`. */
bool trp_post_send_news(trp_cluster_core_t *core, uint64_t to, const trp_wire_t *wire,
                        size_t news_size);

/* A message with this node's own record as its item. */
bool trp_post_send_self(trp_cluster_core_t *core, uint64_t to, const trp_wire_t *wire);

/* A message of nothing but its type. */
bool trp_post_send_plain(trp_cluster_core_t *core, uint64_t to, trp_wire_type_t type);

/* A plain message to every connected member but those that are down. */
void trp_post_send_all(trp_cluster_core_t *core, trp_wire_type_t type);

/* Says good-bye to all and ends this incarnation. */
void trp_post_stop(trp_cluster_core_t *core, trp_stop_reason_t reason);

/* Sends news to some members at random, when it is time. */
void trp_post_tick(trp_cluster_core_t *core);

/* Items about a member. */
void trp_post_status_item(const trp_member_t *member, trp_item_t *ret_item);
void trp_post_member_item(const trp_member_t *member, trp_item_t *ret_item);
/* An item that says that `uid` is removed. */
void trp_post_removed_item(uint64_t uid, trp_item_t *ret_item);

/* Chooses up to `len` connected members at random, without self, `except` and who is unreachable or
 * no longer live. Returns how many. */
size_t trp_post_choose(trp_cluster_core_t *core, uint64_t except, uint64_t *ret_uids, size_t len);

#endif
