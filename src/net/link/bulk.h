/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Bulk bodies: those too large for the ordinary lane. A stand-in keeps their place there; the body goes
 * in chunks through a lane of its own, several bodies taking turns, and is put together by the receiving
 * link. After a broken session a body that the receiver has not confirmed is sent again from its start;
 * the receiver skips what it has.
 *
 * Thread rule: the link thread (in tests, any one). */

#ifndef TROUPE_LINK_BULK_H
#define TROUPE_LINK_BULK_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "actor/body.h"
#include "net/link/handover.h"
#include "net/link/topic.h"
#include "net/link/wire.h"

typedef struct trp_peer trp_peer_t;

#define TRP_BULK_TURNS_MAX 8u /* Bodies that take turns; the others wait. */

/* ---- sending --------------------------------------------------------------------------------- */

typedef struct trp_bulk_out {
    trp_item_t item; /* On the way to the link thread. */
    struct trp_bulk_out *next;
    trp_peer_t *peer; /* Reference. */
    trp_body_t *body; /* Reference; bytes. */
    uint64_t id;
    uint64_t offset; /* Of the next chunk on this session. */
} trp_bulk_out_t;

/* Bodies not yet confirmed, oldest first. */
typedef struct trp_bulk_queue {
    trp_bulk_out_t *first;
    trp_bulk_out_t *last;
    trp_bulk_out_t *turn; /* Whose chunk comes next; NULL: the first. */
    uint32_t len;
} trp_bulk_queue_t;

void trp_bulk_queue_init(trp_bulk_queue_t *queue);
void trp_bulk_queue_push(trp_bulk_queue_t *queue, trp_bulk_out_t *out);

/* A chunk to send: `ret_bulk` and the header with the offset it has; the body's offset is moved on. */
bool trp_bulk_queue_next(trp_bulk_queue_t *queue, trp_bulk_out_t **ret_bulk, trp_chunk_t *ret_chunk,
                         uint32_t *ret_size);

/* Takes out the body of that id, which the receiver is done with; NULL: there is none. */
trp_bulk_out_t *trp_bulk_queue_end(trp_bulk_queue_t *queue, uint64_t id);
trp_bulk_out_t *trp_bulk_queue_pop(trp_bulk_queue_t *queue);

/* The session has ended: all bodies are to be sent from their start. */
void trp_bulk_queue_rewind(trp_bulk_queue_t *queue);

/* ---- receiving ------------------------------------------------------------------------------- */

typedef enum trp_bulk_state {
    TRP_BULK_OPEN = 1,
    TRP_BULK_WHOLE,
    TRP_BULK_FAILED,
    TRP_BULK_DONE, /* Given to the dispatchers; kept to know it again when it is sent twice. */
} trp_bulk_state_t;

typedef struct trp_bulk_in {
    struct trp_bulk_in *next;
    uint64_t id;
    uint64_t size;
    uint64_t have;    /* Bytes from its start. */
    trp_body_t *body; /* Reference. NULL before the first chunk and after it was given away. */
    trp_bulk_state_t state;
    bool has_standin;                   /* Its envelope has been seen. */
    uint16_t type;                      /* As the envelope says. */
    uint64_t mask[TRP_LINK_MASK_WORDS]; /* Dispatchers that wait for it. */
} trp_bulk_in_t;

typedef struct trp_bulk_set {
    trp_bulk_in_t *first;
    uint32_t len;
    size_t size; /* Bytes reserved by open and whole bodies. */
} trp_bulk_set_t;

/* Where the memory of bodies comes from, and how much of it all peers may take. */
typedef struct trp_bulk_budget {
    trp_depot_t *depot;
    size_t size_max;
    size_t used;
} trp_bulk_budget_t;

void trp_bulk_set_init(trp_bulk_set_t *set);
void trp_bulk_set_fini(trp_bulk_set_t *set, trp_bulk_budget_t *budget);

trp_bulk_in_t *trp_bulk_set_find(const trp_bulk_set_t *set, uint64_t id);

/* Takes the bytes of a chunk. When a body becomes whole or fails by it, or the chunk is of one that is
 * done, ret_bulk is set. EPROTOCOL: it contradicts itself or what came before; EFULL: too many. */
troupe_err_t trp_bulk_set_chunk(trp_bulk_set_t *set, trp_bulk_budget_t *budget,
                                const trp_chunk_t *chunk, trp_view_t bytes,
                                trp_bulk_in_t **ret_bulk);

/* A stand-in was seen; its dispatchers are noted. ret_bulk is set when the body is whole or has failed
 * already. EFULL; ENOMEM. */
troupe_err_t trp_bulk_set_standin(trp_bulk_set_t *set, const trp_standin_t *standin, uint16_t type,
                                  const uint64_t mask[TRP_LINK_MASK_WORDS],
                                  trp_bulk_in_t **ret_bulk);

/* Gives the body away (NULL: it has failed) and marks it as done. */
trp_body_t *trp_bulk_set_take(trp_bulk_set_t *set, trp_bulk_budget_t *budget, trp_bulk_in_t *bulk);

#endif
