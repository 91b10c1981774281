/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Holds: mail that waits on its receiver's dispatcher because an earlier message between the same two
 * actors has its body still under way in the bulk lane. Only that pair waits; everyone else's mail goes
 * on. A hold that begins while its pair is held already waits its turn behind it.
 *
 *     holds:   [stand-in 7, S -> T] -- held: S->T, S->T, stand-in 9 (S->T)
 *     arrived: [body 9]                     (came while its stand-in was held itself)
 *
 * Thread rule: the owner dispatcher. */

#ifndef TROUPE_LINK_HOLD_H
#define TROUPE_LINK_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "actor/body.h"
#include "base/list.h"
#include "base/view.h"
#include "net/link/wire.h"

typedef struct trp_link trp_link_t;
typedef struct trp_dispatcher trp_dispatcher_t;

/* An envelope put aside, with its body. */
typedef struct trp_held {
    trp_node_link_t link;
    trp_envelope_t envelope;
    bool is_first; /* See trp_link_topic_in_t. */
    uint32_t size; /* Of the body. */
    uint8_t body[];
} trp_held_t;

typedef struct trp_hold {
    trp_node_link_t link;
    uint64_t uid; /* The sending link's node. */
    uint64_t bulk_id;
    trp_envelope_t envelope; /* Of the stand-in. */
    bool is_first;
    bool
        is_wide; /* It is a publish, or one waits behind it: holds back all of its sender's mail. */
    trp_list_t held; /* Behind it, in order. */
} trp_hold_t;

typedef struct trp_arrived {
    trp_node_link_t link;
    uint64_t uid;
    uint64_t bulk_id;
    trp_body_t *body; /* Reference; NULL: it failed. */
} trp_arrived_t;

typedef struct trp_holds {
    trp_list_t list;
    trp_list_t arrived;
    uint32_t len;
} trp_holds_t;

void trp_holds_init(trp_holds_t *holds);
/* Counts what is still held as dropped. */
void trp_holds_fini(trp_holds_t *holds, trp_dispatcher_t *d, trp_link_t *link);

/* The hold that an envelope has to wait behind; NULL: none. */
trp_hold_t *trp_holds_match(trp_holds_t *holds, uint64_t uid, const trp_envelope_t *envelope);

/* Begins one. ENOMEM. */
troupe_err_t trp_holds_begin(trp_holds_t *holds, uint64_t uid, const trp_envelope_t *envelope,
                             uint64_t bulk_id, bool is_first);
/* Puts an envelope behind a hold. ENOMEM; EFULL: the node holds back too much. */
troupe_err_t trp_holds_add(trp_link_t *link, trp_hold_t *hold, const trp_envelope_t *envelope,
                           trp_view_t body, bool is_first);

/* Takes out the hold that waits for that body; NULL: none does (yet). Free with trp_free. */
trp_hold_t *trp_holds_end(trp_holds_t *holds, uint64_t uid, uint64_t bulk_id);
/* The next envelope that was held behind it; NULL: no more. Free with trp_held_free. */
trp_held_t *trp_hold_next(trp_hold_t *hold);
void trp_held_free(trp_link_t *link, trp_held_t *held);

/* A body has come before its stand-in was delivered: keeps a reference. ENOMEM. */
troupe_err_t trp_holds_keep(trp_holds_t *holds, uint64_t uid, uint64_t bulk_id, trp_body_t *body);
/* Whether it has; gives the reference away. */
bool trp_holds_take(trp_holds_t *holds, uint64_t uid, uint64_t bulk_id, trp_body_t **ret_body);

#endif
