/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publications on their way: in cells to other dispatchers, in envelopes to other nodes.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_OUTGOING_H
#define TROUPE_PUBSUB_OUTGOING_H

#include <string.h>

#include "pubsub/site.h"

/* What is published. `shared` or bytes. */
typedef struct trp_publication {
    uint64_t sender;      /* Id. */
    uint64_t sender_node; /* 0: this node. */
    const void *data;
    trp_body_t *shared;
    uint32_t size;
    uint16_t type;
} trp_publication_t;

/* How a cell with TRP_MESSAGE_TOPIC is to be expanded, in extension words behind that of a foreign
 * sender. A plain publish has none of them. The number crosses links: 4 bits. */
typedef enum trp_route {
    TRP_ROUTE_PLAIN = 0,        /* To all plain subscribers here. */
    TRP_ROUTE_GROUP = 1 << 0,   /* To one member of a group here. */
    TRP_ROUTE_CONFIRM = 1 << 1, /* With a token to be answered. */
    TRP_ROUTE_WAIT = 1 << 2,    /* Waits for subscriptions that are pending. */
    TRP_ROUTE_HASHED = 1 << 3,  /* The member is chosen by the low half of the token. */
} trp_route_t;

/* The extension words of a routed cell. */
typedef struct trp_routing_words {
    uint32_t group; /* Id of its name. */
    uint8_t route;
    uint8_t hops; /* Times that another member was chosen because one was gone. */
    uint16_t reserved;
    uint64_t token;  /* High half: the confirmed publish to answer. Low half: hash of a key. */
    uint64_t origin; /* Uid of the node that asks; 0: this one. */
} trp_routing_words_t;

#define TRP_ROUTING_WORDS (sizeof(trp_routing_words_t) / sizeof(uint64_t))
_Static_assert(sizeof(trp_routing_words_t) == 24, "whole words");
#define TRP_ROUTE_HOPS_MAX 3u

/* The largest body that lies in its cell, whatever extension the cell has. */
#define TRP_PUBLISH_INLINE_MAX                                                                     \
    (TRP_POOL_BLOCK_MAX - sizeof(trp_message_t) - (TRP_ROUTING_WORDS + 2) * sizeof(uint64_t))

/* The publication that a cell holds, and its routing words (all 0 for a plain one). */
void trp_publication_of(trp_message_t *message, trp_publication_t *ret_what,
                        trp_routing_words_t *ret_words);

/* A topic in the low half of a cell's target: id and the low bits of its generation. */
#define TRP_TOPIC_ID_BITS 23u
_Static_assert(TRP_ATOMS_LEN_MAX <= 1u << TRP_TOPIC_ID_BITS, "a topic's id fits its bits");

static inline uint32_t trp_topic_word(const trp_replica_topic_t *topic)
{
    return topic->id | topic->generation << TRP_TOPIC_ID_BITS;
}

/* Counts and reports a cell that the ceiling refused. */
void trp_publish_refused(trp_dispatcher_t *d, const trp_publication_t *what) TRP_COLD;

/* Bodies of the common sizes are copied without a call. */
static inline void trp_publish_copy(void *to, const void *from, size_t size)
{
    if (TRP_LIKELY(size == 32)) {
        memcpy(to, from, 32);
    } else if (size > 0) {
        memcpy(to, from, size);
    }
}

/* A cell with the publication's body, of `words` extension words behind the sender's; target
 * not set. NULL at the ceiling, which is counted as a drop. The caller counts it as made, unless it is
 * for a dispatcher: such a cell counts where it is expanded. */
static inline trp_message_t *trp_publish_cell(trp_site_t *site, const trp_publication_t *what,
                                              uint32_t words)
{
    trp_dispatcher_t *d = site->d;
    bool is_foreign = what->sender_node != 0;
    size_t room = what->shared != NULL ? sizeof(what->shared) : what->size;
    trp_message_t *message =
        trp_message_take(&d->endpoint.pool, words + (is_foreign ? 1 : 0), room, false);
    if (TRP_UNLIKELY(message == NULL)) {
        trp_publish_refused(d, what);
        return NULL;
    }
    message->sender = what->sender;
    message->size = what->size;
    message->type = what->type;
    if (TRP_UNLIKELY(is_foreign)) {
        message->flags |= TRP_MESSAGE_FOREIGN;
        trp_message_extension(message)[0] = what->sender_node;
    }
    if (TRP_UNLIKELY(what->shared != NULL)) {
        trp_body_t *body = trp_body_ref(what->shared);
        message->flags |= TRP_MESSAGE_SHARED;
        memcpy(trp_message_payload(message), &body, sizeof(body));
    } else {
        trp_publish_copy(trp_message_payload(message), what->data, what->size);
    }
    return message;
}

/* Sends a routed cell to a dispatcher of this node. False when there was no room for it. */
bool trp_publish_routed(trp_site_t *site, const trp_replica_topic_t *topic, uint8_t replica,
                        const trp_publication_t *what, const trp_routing_words_t *words);
/* Plain, to one dispatcher of this node. */
void trp_publish_near(trp_site_t *site, trp_replica_topic_t *topic, uint8_t replica,
                      const trp_publication_t *what);
/* To another node; `words` NULL: plain. True when it is under way. */
bool trp_publish_remote(trp_site_t *site, const trp_replica_topic_t *topic, uint64_t node,
                        const trp_publication_t *what, const trp_routing_words_t *words);
/* Counts and reports a publication that reaches nobody. */
void trp_publish_drop(trp_site_t *site, const trp_atom_t *name, const trp_publication_t *what,
                      troupe_drop_t reason);

#endif
