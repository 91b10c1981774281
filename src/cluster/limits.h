/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The bounds and tunables of the cluster core, in one place. */

#ifndef TROUPE_CLUSTER_LIMITS_H
#define TROUPE_CLUSTER_LIMITS_H

#include <troupe/cluster.h>

/* What a record may hold, without terminating zeros. */
#define TRP_ADDRESS_SIZE_MAX (TROUPE_MEMBER_ADDRESS_SIZE - 1)
#define TRP_NAME_SIZE_MAX (TROUPE_MEMBER_NAME_SIZE - 1)
#define TRP_ROLE_SIZE_MAX (TROUPE_MEMBER_ROLE_SIZE - 1)
#define TRP_ROLES_MAX TROUPE_MEMBER_ROLES_MAX

#define TRP_MEMBERS_MAX 4096  /* Default bound of the member table. */
#define TRP_TOMBS_MAX 4096    /* Removed uids that are remembered. */
#define TRP_RUMORS_MAX 8192   /* Pieces of news waiting to be passed on. */
#define TRP_CONTACTS_MAX 64   /* Seeds and known peers that a seeker dials. */
#define TRP_OUTPUTS_MAX 65536 /* Undrained outputs; sends are dropped at half of it. */
#define TRP_RELAYS_MAX 128    /* Indirect probes done for others at one time. */

#define TRP_MESSAGE_SIZE_MAX 4096 /* One encoded message. */
#define TRP_ITEMS_SIZE_MAX 3968   /* Its items; the rest is the head. */
#define TRP_PIGGYBACK_SIZE 512    /* News on the back of a probe. */
#define TRP_GOSSIP_SIZE 1400      /* News in a message of its own. */
#define TRP_ITEM_SIZE_MAX 2048    /* One item: a full record or a change of the settled set. */

#define TRP_CHANGE_MAX 48    /* Members added, and removed, by one change of the settled set. */
#define TRP_SET_PART_LEN 200 /* Uids in one part of a whole settled set. */
#define TRP_VECTOR_LEN 160   /* Versions in one part of a vector. */
#define TRP_WANTS_MAX 200    /* Records asked for in one message. */
#define TRP_RANGES 16        /* Ranges of the uid space that are hashed apart. */
#define TRP_POLL_LEN 100     /* Unreachable members listed in a poll. */

#define TRP_INDIRECT_LEN 3  /* Members asked to probe for us. */
#define TRP_GOSSIP_FANOUT 3 /* Members that hear news in one round. */
#define TRP_CONFIRM_MAX 4   /* Independent suspicions that still shorten the wait. */
#define TRP_HEALTH_MAX 8    /* Worst local health; 0 is the best. */

#endif
