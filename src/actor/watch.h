/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Death watch. The watched keeps its watchers, the watcher what it watches; a node's end is told to all
 * that watch one of its actors. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_WATCH_H
#define TROUPE_ACTOR_WATCH_H

#include "actor/extra.h"

#define TRP_WATCHERS_MAX (1u << 22) /* Of one actor. */

/* On the watched's side. Without memory for it the watcher is told of an end at once. */
void trp_watchers_add(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_ref_t watcher);
void trp_watchers_remove(troupe_actor_t *cell, troupe_ref_t watcher);

/* TRP_SYSTEM_TERMINATED out of the mailbox: told once, and not after unwatch. */
troupe_err_t trp_watch_terminated(trp_dispatcher_t *d, troupe_actor_t *cell,
                                  trp_message_t *message);
/* An actor ends: tells its watchers, and those it watches that it does so no longer. */
void trp_watch_end(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t reason);
/* A node has gone: all that watch an actor of it are told, and its watchers are forgotten. */
void trp_watch_node_down(trp_dispatcher_t *d, uint64_t node, troupe_err_t reason);

#endif
