/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A parking: the actors of one dispatcher that wait until something ahead of them has room again (a
 * channel to another dispatcher, a link to another node). The root of parking is never an actor, so no
 * cycle of waiting can form. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_PARKING_H
#define TROUPE_ACTOR_PARKING_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>

typedef struct trp_parking {
    troupe_actor_t *first; /* Linked through the cells' park_next. */
    troupe_actor_t *last;
    uint32_t len;
} trp_parking_t;

static inline void trp_parking_init(trp_parking_t *parking)
{
    *parking = (trp_parking_t){NULL, NULL, 0};
}

#endif
