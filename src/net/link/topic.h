/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Topic envelopes: how a publish crosses to another node, and what the room that knows topics registers
 * for it. Names (topics, groups, paths) cross once for each peer and are numbers afterwards: the sender's
 * own id of the name is the number; the receiving link maps it to an id of its own node.
 *
 * Counting: a topic envelope is one user message on its way. The sending room counts it as made when
 * trp_link_publish has taken it; the link counts it as handed over, or as dropped by the link. On the
 * receiving node `deliver` counts it as received and taken, and what is made of it as made. */

#ifndef TROUPE_LINK_TOPIC_H
#define TROUPE_LINK_TOPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/ref.h>

#include "actor/body.h"
#include "actor/remote.h"
#include "base/view.h"

typedef struct trp_link trp_link_t;

#define TRP_LINK_ROUTES 16u /* `route` is a number below it, for the rooms above. */

/* A name with this node's id for it. */
typedef struct trp_link_name {
    uint32_t id;         /* Below TRP_LINK_NAMES_MAX. */
    uint32_t generation; /* Another one under the same id is another name; not 0. */
    uint8_t space;       /* For the rooms above. */
    trp_view_t bytes;    /* Read only when the peer doesn't know the name yet. */
} trp_link_name_t;

/* A publish to another node. Borrowed for the call. */
typedef struct trp_link_publish {
    trp_link_name_t topic;
    trp_link_name_t group; /* id 0: none. */
    uint8_t route;
    bool has_token;
    uint64_t token;      /* For the receiving room. */
    trp_outgoing_t body; /* sender, data or shared, size, type; `to` is not used. */
} trp_link_publish_t;

/* Puts a publish into dispatcher `d`'s batch for node `uid`, in order with its other messages to that
 * node. On d's thread. The verdict is as that of trp_remote_port_t.send. */
trp_remote_verdict_t trp_link_publish(trp_link_t *link, trp_dispatcher_t *d, uint64_t uid,
                                      const trp_link_publish_t *publish);

/* A publish that has come. Borrowed for the call. */
typedef struct trp_link_topic_in {
    uint64_t uid;   /* The node it came from. */
    uint32_t topic; /* This node's ids, as `define` gave them. */
    uint32_t group; /* 0: none. */
    uint8_t route;
    bool is_first; /* This dispatcher is the first of those that get it: it counts the envelope. */
    bool has_token;
    uint64_t token;
    troupe_ref_t sender;
    uint16_t type;   /* This node's. */
    bool is_dropped; /* It can't be delivered: unknown type, bad body, lost ... (count a drop). */
    troupe_drop_t reason; /* Why. */
    trp_view_t body;      /* The bytes as they came. */
    /* Borrowed; reference it to keep it. Not NULL for large bodies, and for types with a codec: then it
     * holds the object that was decoded. NULL: `body` is the body. */
    trp_body_t *shared;
} trp_link_topic_in_t;

#define TRP_LINK_MASK_WORDS 2u /* Dispatchers, a bit each. */

typedef struct trp_link_topic_hooks {
    void *context;
    /* The id that this node gives the name; 0 when it has no room (publishes to it are dropped). On
     * the link thread; may lock shortly. */
    uint32_t (*define)(void *context, uint64_t uid, uint8_t space, trp_view_t name);
    /* The peer has another name under that number now, or is gone: `id` is no longer used. */
    void (*undefine)(void *context, uint64_t uid, uint32_t id);
    /* Sets the bits of the dispatchers that must see a publish; NULL: all. On the link thread. With no
     * bit set the first dispatcher gets it. */
    void (*mask)(void *context, uint32_t topic, uint32_t group, uint8_t route,
                 uint64_t ret_mask[TRP_LINK_MASK_WORDS]);
    /* Delivers to this dispatcher's subscribers. On d's thread. */
    void (*deliver)(void *context, trp_dispatcher_t *d, const trp_link_topic_in_t *in);
} trp_link_topic_hooks_t;

/* Before start. */
void trp_link_set_topic_hooks(trp_link_t *link, const trp_link_topic_hooks_t *hooks);

#endif
