/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/asks.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

_Static_assert(TRP_ASKS_MAX <= TRP_SLOT_ASK, "ask slots are the upper half of the slots");

void trp_asks_init(trp_asks_t *asks, uint32_t dispatcher)
{
    memset(asks, 0, sizeof(*asks));
    asks->dispatcher = dispatcher;
}

void trp_asks_fini(trp_asks_t *asks)
{
    for (uint32_t i = 0; i < TRP_ASK_CHUNKS; i++) {
        trp_free(asks->chunks[i]);
    }
}

static trp_ask_t *asks_take_fresh(trp_asks_t *asks)
{
    if (asks->fresh == TRP_ASKS_MAX) {
        return NULL;
    }
    trp_ask_t **chunk = &asks->chunks[asks->fresh >> TRP_ASK_CHUNK_BITS];
    if (*chunk == NULL) {
        *chunk = trp_calloc(TRP_ASK_CHUNK_LEN, sizeof(**chunk));
        if (*chunk == NULL) {
            return NULL;
        }
    }
    uint32_t index = asks->fresh++;
    trp_ask_t *ask = trp_asks_at(asks, index);
    ask->id = trp_id_make(asks->dispatcher, index | TRP_SLOT_ASK, 1);
    return ask;
}

trp_ask_t *trp_asks_take(trp_asks_t *asks)
{
    trp_ask_t *ask = NULL;
    if (asks->free_first != 0) {
        ask = trp_asks_at(asks, asks->free_first - 1);
        asks->free_first = ask->next_free;
        if (asks->free_first == 0) {
            asks->free_last = 0;
        }
    } else {
        ask = asks_take_fresh(asks);
    }
    if (ask != NULL) {
        asks->len++;
        ask->is_answered = false;
    }
    return ask;
}

void trp_asks_put(trp_asks_t *asks, trp_ask_t *ask)
{
    TRP_ASSERT_DEBUG(!trp_wheel_is_armed(&ask->alarm.timer));
    TRP_ASSERT_DEBUG(!trp_list_is_linked(&ask->owner_link));
    uint32_t slot = trp_id_slot(ask->id);
    uint32_t generation = trp_id_generation(ask->id);
    ask->owner = 0;
    asks->len--;
    if (generation == UINT32_MAX) {
        return; /* Retired. */
    }
    ask->id = trp_id_make(asks->dispatcher, slot, generation + 1);
    uint32_t number = (slot & (TRP_SLOT_ASK - 1)) + 1;
    ask->next_free = 0;
    if (asks->free_last == 0) {
        asks->free_first = number;
    } else {
        trp_asks_at(asks, asks->free_last - 1)->next_free = number;
    }
    asks->free_last = number;
}
