/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The walk over a received frame: checks every envelope's bounds and kind, takes in definitions, writes
 * this node's numbers over the peer's, and finds which dispatchers must see the frame. After it the
 * dispatchers may trust the frame's structure.
 *
 * Thread rule: the link thread (in tests, any one). */

#ifndef TROUPE_LINK_WALK_H
#define TROUPE_LINK_WALK_H

#include <stdint.h>

#include <troupe/error.h>

#include "net/link/numbers.h"
#include "net/link/topic.h"
#include "net/link/wire.h"

typedef struct trp_walk {
    trp_numbers_t *numbers;
    uint32_t dispatchers; /* Of this node. */
    /* Results. */
    uint64_t mask[TRP_LINK_MASK_WORDS]; /* Dispatchers that must see the frame. */
    uint32_t numbered;                  /* Envelopes that have a number. */
    uint32_t unknown_types;
    bool has_standins;
} trp_walk_t;

/* Walks over the envelopes in `data`, which is the frame after its header, and patches them. EPROTOCOL
 * when they are malformed: then nothing of the frame may be used. ENOMEM for definitions. */
troupe_err_t trp_walk_frame(trp_walk_t *walk, uint8_t *data, size_t size);

/* Where the dispatchers of one envelope go to: those of its target, or of its topic. */
void trp_walk_mask(const trp_walk_t *walk, const trp_envelope_t *envelope,
                   uint64_t ret_mask[TRP_LINK_MASK_WORDS]);

/* The first dispatcher of a mask: it counts what belongs to no one else. */
static inline uint32_t trp_walk_first(const uint64_t mask[TRP_LINK_MASK_WORDS])
{
    for (uint32_t word = 0; word < TRP_LINK_MASK_WORDS; word++) {
        if (mask[word] != 0) {
            return word * 64u + (uint32_t)__builtin_ctzll(mask[word]);
        }
    }
    return 0;
}

#endif
