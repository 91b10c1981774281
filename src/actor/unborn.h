/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Mail for leased slots whose spawn has not come yet: a reference can reach a third dispatcher, and its
 * messages this one, before the spawn itself. Bounded. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_UNBORN_H
#define TROUPE_ACTOR_UNBORN_H

#include "actor/deliver.h"

#define TRP_UNBORN_LEN_MAX                                                                         \
    65536u /* Messages that wait on one dispatcher, for all slots together. */

typedef struct trp_unborn {
    trp_table_t by_id;
    size_t messages;
} trp_unborn_t;

troupe_err_t trp_unborn_init(trp_dispatcher_t *d);
void trp_unborn_fini(trp_dispatcher_t *d);
/* Keeps a message for an actor to come; past the bound it is dropped as "mailbox full". */
void trp_unborn_add(trp_dispatcher_t *d, trp_message_t *message);
/* Delivers what waits for the actor that has just been bound to its slot. */
void trp_unborn_claim(trp_dispatcher_t *d, uint64_t id);
/* Messages that wait, by kind. */
void trp_unborn_count(const trp_dispatcher_t *d, uint64_t *user, uint64_t *system);

#endif
