/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/slots.h"

#include "base/assert.h"
#include "base/memory.h"

troupe_err_t trp_slots_init(trp_slots_t *slots, uint32_t dispatcher)
{
    for (uint32_t i = 0; i < TRP_SLOT_CHUNKS; i++) {
        atomic_init(&slots->chunks[i], NULL);
    }
    slots->dispatcher = dispatcher;
    slots->fresh = 1; /* Slot 0 is the dispatcher itself. */
    slots->free_first = 0;
    slots->free_last = 0;
    slots->freed_len = 0;
    return pthread_mutex_init(&slots->mutex, NULL) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

void trp_slots_fini(trp_slots_t *slots)
{
    for (uint32_t i = 0; i < TRP_SLOT_CHUNKS; i++) {
        trp_free(atomic_load_explicit(&slots->chunks[i], memory_order_relaxed));
    }
    (void)pthread_mutex_destroy(&slots->mutex);
}

static trp_slot_t *slots_at(trp_slots_t *slots, uint32_t slot)
{
    trp_slot_t *entry = trp_slots_entry(slots, slot);
    TRP_ASSERT(entry != NULL);
    return entry;
}

static bool slots_chunk_new(trp_slots_t *slots, uint32_t chunk_index)
{
    trp_slot_t *chunk = trp_calloc(TRP_SLOT_CHUNK_LEN, sizeof(*chunk));
    if (chunk == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < TRP_SLOT_CHUNK_LEN; i++) {
        chunk[i].generation = 1;
    }
    /* Release: pairs with the acquire in trp_slots_entry. */
    atomic_store_explicit(&slots->chunks[chunk_index], chunk, memory_order_release);
    return true;
}

/* With the mutex held. 0 when there is none. */
static uint32_t slots_take_fresh(trp_slots_t *slots)
{
    if (slots->fresh >= TRP_SLOTS_MAX) {
        return 0;
    }
    uint32_t chunk_index = slots->fresh >> TRP_SLOT_CHUNK_BITS;
    if (trp_slots_entry(slots, slots->fresh) == NULL && !slots_chunk_new(slots, chunk_index)) {
        return 0;
    }
    return slots->fresh++;
}

static uint32_t slots_take_freed(trp_slots_t *slots)
{
    uint32_t slot = slots->free_first;
    if (slot != 0) {
        slots->free_first = slots_at(slots, slot)->next_free;
        if (slots->free_first == 0) {
            slots->free_last = 0;
        }
    }
    return slot;
}

troupe_err_t trp_slots_lease(trp_slots_t *slots, trp_lease_t *lease)
{
    TRP_ASSERT(lease->len == 0);
    pthread_mutex_lock(&slots->mutex);
    while (lease->len < TRP_LEASE_LEN) {
        uint32_t slot = slots_take_freed(slots);
        if (slot == 0) {
            slot = slots_take_fresh(slots);
        }
        if (slot == 0) {
            break;
        }
        uint32_t generation = slots_at(slots, slot)->generation;
        lease->ids[lease->len++] = trp_id_make(slots->dispatcher, slot, generation);
    }
    bool is_used_up = slots->fresh >= TRP_SLOTS_MAX;
    pthread_mutex_unlock(&slots->mutex);
    if (lease->len > 0) {
        return TROUPE_OK;
    }
    return is_used_up ? TROUPE_EFULL : TROUPE_ENOMEM;
}

/* With the mutex held. */
static void slots_append(trp_slots_t *slots, uint32_t slot)
{
    slots_at(slots, slot)->next_free = 0;
    if (slots->free_last == 0) {
        slots->free_first = slot;
    } else {
        slots_at(slots, slots->free_last)->next_free = slot;
    }
    slots->free_last = slot;
}

void trp_slots_unlease(trp_slots_t *slots, trp_lease_t *lease)
{
    pthread_mutex_lock(&slots->mutex);
    while (lease->len > 0) {
        slots_append(slots, trp_id_slot(lease->ids[--lease->len]));
    }
    pthread_mutex_unlock(&slots->mutex);
}

static void slots_flush_freed(trp_slots_t *slots)
{
    pthread_mutex_lock(&slots->mutex);
    for (uint32_t i = 0; i < slots->freed_len; i++) {
        slots_append(slots, slots->freed[i]);
    }
    pthread_mutex_unlock(&slots->mutex);
    slots->freed_len = 0;
}

void trp_slots_free(trp_slots_t *slots, uint32_t slot)
{
    trp_slot_t *entry = slots_at(slots, slot);
    entry->actor = NULL;
    if (entry->generation == TRP_GENERATION_MAX) {
        entry->generation = 0; /* Retired: no reference has generation 0. */
        return;
    }
    entry->generation++;
    slots->freed[slots->freed_len++] = slot;
    if (slots->freed_len == TRP_LEASE_LEN) {
        slots_flush_freed(slots);
    }
}
