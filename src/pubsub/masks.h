/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Which dispatchers of this node have subscribers of a topic, for the one thread that has no replica:
 * the link's, which must know where a publish of another node goes before it can hand it over.
 *
 *     chunks[id / 4096][id % 4096] -> a bit for each dispatcher with plain or pattern subscribers
 *
 * Thread rule: the directory writes, under its lock; any thread reads. A mask is set before the
 * subscriber is told, so a publish that comes after its acknowledgement finds it. */

#ifndef TROUPE_PUBSUB_MASKS_H
#define TROUPE_PUBSUB_MASKS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/attr.h"
#include "pubsub/atoms.h"
#include "pubsub/targets.h"

#define TRP_MASKS_CHUNK_BITS 12u
#define TRP_MASKS_CHUNK_LEN (1u << TRP_MASKS_CHUNK_BITS)
#define TRP_MASKS_CHUNKS ((TRP_ATOMS_LEN_MAX >> TRP_MASKS_CHUNK_BITS) + 1)

typedef struct trp_mask {
    _Atomic uint64_t words[TRP_REPLICA_WORDS];
} trp_mask_t;

typedef struct trp_masks {
    trp_mask_t *_Atomic chunks[TRP_MASKS_CHUNKS];
} trp_masks_t;

/* Makes sure that the id has a mask. TROUPE_ENOMEM. Under the directory's lock. */
troupe_err_t trp_masks_reserve(trp_masks_t *masks, uint32_t id);
void trp_masks_fini(trp_masks_t *masks);

/* The mask of that id; NULL when it never had one. */
static inline trp_mask_t *trp_masks_at(trp_masks_t *masks, uint32_t id)
{
    if (TRP_UNLIKELY(id >> TRP_MASKS_CHUNK_BITS >= TRP_MASKS_CHUNKS)) {
        return NULL;
    }
    /* Acquire: pairs with the release in reserve; the chunk is zeroed before it is seen. */
    trp_mask_t *chunk =
        atomic_load_explicit(&masks->chunks[id >> TRP_MASKS_CHUNK_BITS], memory_order_acquire);
    return chunk != NULL ? &chunk[id & (TRP_MASKS_CHUNK_LEN - 1)] : NULL;
}

#endif
