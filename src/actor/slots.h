/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The slot table of a dispatcher: from the slot and generation of a reference to the actor.
 *
 *     chunks[slot >> 12] -> entries[slot & 4095] = {actor, generation, next free}
 *
 * Any thread may *lease* free slots (with their present generations) in batches, and so make a
 * reference to an actor of this dispatcher before the dispatcher has heard of it. A generation that is
 * an entry's present one, in an entry without an actor, is therefore *reserved*: nobody but a lease has
 * ever known it. Freed slots go to the back of the free list with the next generation; a slot whose
 * generations are used up is retired.
 *
 * Thread rule: look-up, bind and free belong to the owner dispatcher; leasing takes the mutex. The free
 * list's links are only touched under the mutex, `actor` and `generation` only by the owner. */

#ifndef TROUPE_ACTOR_SLOTS_H
#define TROUPE_ACTOR_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/actor.h>

#include "actor/message.h"

#define TRP_SLOT_CHUNK_BITS 12u
#define TRP_SLOT_CHUNK_LEN (1u << TRP_SLOT_CHUNK_BITS)
#define TRP_SLOTS_MAX TRP_SLOT_ASK /* Slots above are asks. */
#define TRP_SLOT_CHUNKS (TRP_SLOTS_MAX / TRP_SLOT_CHUNK_LEN)
#define TRP_LEASE_LEN 128u /* Slots a lease takes at once. */
#define TRP_GENERATION_MAX UINT32_MAX

typedef struct trp_slot {
    troupe_actor_t *actor;
    uint32_t generation;
    uint32_t next_free; /* Slot number; 0 ends the list. */
} trp_slot_t;

typedef struct trp_slots {
    trp_slot_t *_Atomic chunks[TRP_SLOT_CHUNKS];
    uint32_t dispatcher; /* Index, part of every id. */
    pthread_mutex_t mutex;
    uint32_t fresh;      /* Lowest slot never used. */
    uint32_t free_first; /* First in, first out. */
    uint32_t free_last;
    /* Owner's: slots freed and not yet put into the list. */
    uint32_t freed_len;
    uint32_t freed[TRP_LEASE_LEN];
} trp_slots_t;

/* Ids that one thread has leased from one dispatcher. */
typedef struct trp_lease {
    uint32_t len;
    uint64_t ids[TRP_LEASE_LEN];
} trp_lease_t;

troupe_err_t trp_slots_init(trp_slots_t *slots, uint32_t dispatcher);
void trp_slots_fini(trp_slots_t *slots);

/* Fills an empty lease. EFULL when no slot is left, ENOMEM. Any thread. */
troupe_err_t trp_slots_lease(trp_slots_t *slots, trp_lease_t *lease);
/* Puts a lease's ids back unused (their generations were never known to anybody). Any thread. */
void trp_slots_unlease(trp_slots_t *slots, trp_lease_t *lease);

/* The entry of a slot; NULL when no such slot was ever leased. Owner. */
static inline trp_slot_t *trp_slots_entry(trp_slots_t *slots, uint32_t slot)
{
    if (slot >= TRP_SLOTS_MAX) {
        return NULL;
    }
    /* Acquire: pairs with the release in slots_chunk_new, made by whoever leased. */
    trp_slot_t *chunk =
        atomic_load_explicit(&slots->chunks[slot >> TRP_SLOT_CHUNK_BITS], memory_order_acquire);
    return chunk == NULL ? NULL : &chunk[slot & (TRP_SLOT_CHUNK_LEN - 1)];
}

/* Frees the slot of an actor that has ended: its references are stale from now on. Owner. */
void trp_slots_free(trp_slots_t *slots, uint32_t slot);

#endif
