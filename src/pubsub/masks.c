/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Masks of dispatchers by topic. */

#include "pubsub/masks.h"

#include "base/assert.h"
#include "base/memory.h"

troupe_err_t trp_masks_reserve(trp_masks_t *masks, uint32_t id)
{
    TRP_ASSERT(id >> TRP_MASKS_CHUNK_BITS < TRP_MASKS_CHUNKS);
    trp_mask_t *_Atomic *place = &masks->chunks[id >> TRP_MASKS_CHUNK_BITS];
    if (atomic_load_explicit(place, memory_order_relaxed) != NULL) {
        return TROUPE_OK;
    }
    trp_mask_t *chunk = trp_calloc(TRP_MASKS_CHUNK_LEN, sizeof(*chunk));
    if (chunk == NULL) {
        return TROUPE_ENOMEM;
    }
    atomic_store_explicit(place, chunk, memory_order_release);
    return TROUPE_OK;
}

void trp_masks_fini(trp_masks_t *masks)
{
    for (size_t i = 0; i < TRP_MASKS_CHUNKS; i++) {
        trp_free(atomic_load_explicit(&masks->chunks[i], memory_order_relaxed));
        atomic_store_explicit(&masks->chunks[i], NULL, memory_order_relaxed);
    }
}
