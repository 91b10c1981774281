/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Messages of plain threads: made from the depot, handed in through an injector. Thread rule: any. */

#ifndef TROUPE_ACTOR_OUTSIDE_H
#define TROUPE_ACTOR_OUTSIDE_H

#include "actor/dispatcher.h"

typedef struct trp_outside_letter {
    troupe_ref_t to;
    troupe_ref_t from; /* May be none; else of this node. */
    troupe_type_t type;
    const void *body;
    size_t size;
    uint64_t deadline_ns; /* Until when to wait for room. */
} trp_outside_letter_t;

/* Sends to this or another node. Errors as troupe_port_tell. */
troupe_err_t trp_outside_send(trp_runtime_t *runtime, const trp_outside_letter_t *letter);
/* Sends a system message without a body. ENOMEM, ESTOPPED. */
troupe_err_t trp_outside_system(trp_runtime_t *runtime, troupe_ref_t to, uint16_t kind);
/* True when the calling thread is one of the dispatchers. */
bool trp_outside_is_inside(const trp_runtime_t *runtime);

#endif
