/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Asks that wait for their reply. An ask is the sender of its message: its id has the bit TRP_SLOT_ASK
 * in the slot and a generation, so that a late reply is recognised and never meets a stranger. Slots
 * are reused first-in-first-out and retired when their generations are used up.
 *
 * Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_ASKS_H
#define TROUPE_ACTOR_ASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/ask.h>

#include "actor/alarm.h"
#include "actor/message.h"
#include "base/list.h"

#define TRP_ASK_CHUNK_BITS 10u
#define TRP_ASK_CHUNK_LEN (1u << TRP_ASK_CHUNK_BITS)
#define TRP_ASKS_MAX (1u << 20) /* Waiting at once on one dispatcher. */
#define TRP_ASK_CHUNKS (TRP_ASKS_MAX / TRP_ASK_CHUNK_LEN)

typedef struct trp_ask {
    uint64_t id;    /* Present id; its generation moves on as the ask ends. */
    uint64_t owner; /* The asker's id; 0: free. */
    troupe_reply_fn on_reply;
    void *context;
    uint64_t target_node;
    trp_alarm_t alarm;          /* Its deadline. */
    trp_node_link_t owner_link; /* In the asker's list. */
    uint32_t next_free;         /* Index + 1; 0 ends the list. */
    bool is_answered;           /* Its answer is in the asker's mailbox. */
} trp_ask_t;

typedef struct trp_asks {
    trp_ask_t *chunks[TRP_ASK_CHUNKS];
    uint32_t dispatcher;
    uint32_t fresh; /* Lowest index never used. */
    uint32_t free_first;
    uint32_t free_last;
    size_t len; /* In use. */
} trp_asks_t;

void trp_asks_init(trp_asks_t *asks, uint32_t dispatcher);
void trp_asks_fini(trp_asks_t *asks);

/* A new ask with its id set, all else zero or empty. NULL when all are in use or without memory. */
trp_ask_t *trp_asks_take(trp_asks_t *asks);
/* Ends an ask whose timer and link are out of use: its id is stale from now on. */
void trp_asks_put(trp_asks_t *asks, trp_ask_t *ask);

static inline trp_ask_t *trp_asks_at(trp_asks_t *asks, uint32_t index)
{
    return &asks->chunks[index >> TRP_ASK_CHUNK_BITS][index & (TRP_ASK_CHUNK_LEN - 1)];
}

static inline bool trp_id_is_ask(uint64_t id)
{
    return (trp_id_slot(id) & TRP_SLOT_ASK) != 0;
}

/* The ask of that id; NULL when it has ended. */
static inline trp_ask_t *trp_asks_find(trp_asks_t *asks, uint64_t id)
{
    uint32_t index = trp_id_slot(id) & (TRP_SLOT_ASK - 1);
    if (index >= asks->fresh) {
        return NULL;
    }
    trp_ask_t *ask = trp_asks_at(asks, index);
    return ask->id == id && ask->owner != 0 ? ask : NULL;
}

#endif
