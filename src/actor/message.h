/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The message cell: what mailboxes, channels and pools hold.
 *
 *   0        8        16       24     28   30    31    32              32 + 8 * words
 *   | next   | target | sender | size |type|flags|shape| extension ... | body (inline or pointer)
 *
 * A cell with a body of up to 32 bytes and no extension is one cache line, so that a message that
 * crosses threads moves one line. Thread rule: whoever holds the cell owns it. */

#ifndef TROUPE_ACTOR_MESSAGE_H
#define TROUPE_ACTOR_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/ref.h>

#include "base/attr.h"

/* Flags of a message. */
enum {
    TRP_MESSAGE_SYSTEM = 1 << 0,  /* `type` is a trp_system_kind, not a user's type. */
    TRP_MESSAGE_FOREIGN = 1 << 1, /* The sender is on another node: its uid is extension word 0. */
    TRP_MESSAGE_SHARED = 1 << 2,  /* The body is a pointer to a trp_body. */
    TRP_MESSAGE_TOPIC = 1 << 3,   /* For a dispatcher: to be expanded to a topic's subscribers. */
    TRP_MESSAGE_TIMER = 1 << 4,   /* Fired by a timer; extension words 0 and 1 are key and turn. */
    TRP_MESSAGE_TRACE = 1 << 5,   /* Two words of trace id, then one word of deadline. */
    TRP_MESSAGE_FAILED = 1 << 6,  /* Answer to an ask that failed: `size` is a troupe_err_t. */
    TRP_MESSAGE_PUBLISHED = 1 << 7, /* The last extension word is the topic it was published to. */
};

typedef struct trp_message {
    struct trp_message *next;
    uint64_t target; /* Id part of the receiver's reference. */
    uint64_t sender; /* Id part of the sender's; 0 is nobody. */
    uint32_t size;   /* Bytes of the body. */
    uint16_t type;
    uint8_t flags;
    uint8_t shape; /* Low nibble: pool class; high nibble: extension words. */
} trp_message_t;

_Static_assert(sizeof(trp_message_t) == 32, "the header of a message cell is half a cache line");

#define TRP_MESSAGE_WORDS_MAX 15u

static inline uint32_t trp_message_words(const trp_message_t *message)
{
    return (uint32_t)message->shape >> 4;
}

static inline uint64_t *trp_message_extension(trp_message_t *message)
{
    return (uint64_t *)(void *)(message + 1);
}

/* Where the inline body, or the pointer to the shared one, lies. */
static inline void *trp_message_payload(trp_message_t *message)
{
    return trp_message_extension(message) + trp_message_words(message);
}

/* ---- ids: dispatcher 8 | slot 24 | generation 32 --------------------------------------------- */

#define TRP_SLOT_BITS 24
#define TRP_SLOT_ASK (1u << 23) /* Slots with this bit are asks that wait for their reply. */
#define TRP_SLOT_DISPATCHER 0u  /* Slot 0 is the dispatcher itself. */

static inline uint64_t trp_id_make(uint32_t dispatcher, uint32_t slot, uint32_t generation)
{
    return (uint64_t)dispatcher << 56 | (uint64_t)slot << 32 | generation;
}

static inline uint32_t trp_id_dispatcher(uint64_t id)
{
    return (uint32_t)(id >> 56);
}

static inline uint32_t trp_id_slot(uint64_t id)
{
    return (uint32_t)(id >> 32) & ((1u << TRP_SLOT_BITS) - 1);
}

static inline uint32_t trp_id_generation(uint64_t id)
{
    return (uint32_t)id;
}

#endif
