/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A site: what pub/sub keeps on one dispatcher, and what the room's driver files share.
 *
 * Thread rule: a site belongs to its dispatcher; trp_pubsub_t's own fields are immutable after the
 * start or say otherwise. */

#ifndef TROUPE_PUBSUB_SITE_H
#define TROUPE_PUBSUB_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/deliver.h"
#include "actor/dispatcher.h"
#include "net/link/link.h"
#include "pubsub/pubsub.h"
#include "pubsub/replica.h"
#include "pubsub/subscription.h"

typedef struct trp_mediator trp_mediator_t;
typedef struct trp_confirm trp_confirm_t;
typedef struct trp_site trp_site_t;

struct trp_pubsub {
    trp_pubsub_options_t options;
    trp_runtime_t *runtime;
    trp_link_t *link;
    trp_atoms_t names;
    trp_directory_t directory;
    trp_mediator_t *mediator; /* The system dispatcher's alone. */
    _Atomic bool is_synced;
    pthread_mutex_t stats_lock;
    troupe_pubsub_stats_t stats; /* Under the lock; written once a second. */
};

/* An acknowledgement that is under way to an actor of this site. */
typedef struct trp_op {
    uint64_t token;
    uint64_t actor;
    uint64_t tag;
    troupe_topic_t topic;
    trp_subscription_t *subscription; /* To turn active; NULL: none, or it is gone. */
    uint32_t answer;                  /* troupe_pubsub_answer_t */
    bool is_silent;                   /* The actor wants no message. */
} trp_op_t;

struct trp_site {
    trp_pubsub_t *pubsub;
    trp_dispatcher_t *d;
    trp_replica_t replica;
    trp_map_t ops;        /* Token -> trp_op_t */
    trp_map_t confirms;   /* Token -> trp_confirm_t */
    uint32_t confirm_len; /* Open, waiting ones too. */
    uint64_t next_token;
    uint32_t next_confirm;
    trp_map_t rotations; /* Round robin: topic id << 32 | group id -> next. */
};

/* The site of a dispatcher; NULL when the node runs no pub/sub. */
static inline trp_site_t *trp_site_of(const trp_dispatcher_t *d)
{
    return d->ext[TRP_EXT_PUBSUB];
}

/* The node's pub/sub; NULL when it runs none. */
trp_pubsub_t *trp_pubsub_of(const troupe_node_t *node);

/* Whether the calling actor may use pub/sub, and its site. */
static inline troupe_err_t trp_site_get(const troupe_actor_t *self, trp_site_t **ret_site)
{
    *ret_site = trp_site_of(self->dispatcher);
    return TRP_LIKELY(*ret_site != NULL) ? TROUPE_OK : TROUPE_ENOTREADY;
}

/* ---- messages on their way (publish.c, expand.c) ---------------------------------------------- */

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
    uint64_t
        token; /* High half: of a confirmed publish, whom to answer. Low half: hash of a key. */
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
    return topic->name->id | topic->generation << TRP_TOPIC_ID_BITS;
}

/* publish.c: a cell with the publication's body, of `words` extension words behind the sender's; target
 * not set. NULL at the ceiling, which is counted as a drop. The caller counts it as made, unless it is
 * for a dispatcher: such a cell counts where it is expanded. */
trp_message_t *trp_publish_cell(trp_site_t *site, const trp_publication_t *what, uint32_t words);
/* Sends a routed cell to a dispatcher of this node. False when there was no room for it. */
bool trp_publish_routed(trp_site_t *site, const trp_replica_topic_t *topic, uint8_t replica,
                        const trp_publication_t *what, const trp_routing_words_t *words);
/* Where a publication goes: bits. */
typedef enum trp_scope {
    TRP_SCOPE_HERE = 1 << 0,   /* This node's dispatchers. */
    TRP_SCOPE_OTHERS = 1 << 1, /* Other nodes. */
    TRP_SCOPE_ALL = TRP_SCOPE_HERE | TRP_SCOPE_OTHERS,
} trp_scope_t;
/* To all plain subscribers in the scope; where there are none it is dropped. */
void trp_publish_all(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                     trp_scope_t scope);
/* Plain, to one dispatcher of this node. */
void trp_publish_near(trp_site_t *site, trp_replica_topic_t *topic, uint8_t replica,
                      const trp_publication_t *what);
/* To another node; `words` NULL: plain. True when it is under way. */
bool trp_publish_remote(trp_site_t *site, const trp_replica_topic_t *topic, uint64_t node,
                        const trp_publication_t *what, const trp_routing_words_t *words);
/* Counts and reports a publication that reaches nobody. */
void trp_publish_drop(trp_site_t *site, const trp_atom_t *name, const trp_publication_t *what,
                      troupe_drop_t reason);

/* expand.c: to the plain and pattern subscribers of this dispatcher. Returns how many took it. */
uint32_t trp_expand_plain(trp_site_t *site, trp_replica_topic_t *topic,
                          const trp_publication_t *what);
/* To one subscriber of a list, whatever its state. True when it took it. */
bool trp_expand_one(trp_site_t *site, const trp_replica_topic_t *topic,
                    const trp_subscriber_t *subscriber, const trp_publication_t *what);
/* Whether a subscription of the topic (in the group, if one is given) is pending here. */
bool trp_expand_is_pending(trp_site_t *site, trp_replica_topic_t *topic, uint32_t group);
/* A routed or plain publication has reached this dispatcher. */
void trp_expand(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                const trp_routing_words_t *words);
void trp_expand_topic_fn(void *context, trp_dispatcher_t *d, trp_message_t *message);

/* group.c: gives it to a member of a group on this dispatcher, or to another that is there. */
uint32_t trp_group_take(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                        const trp_routing_words_t *words);
/* A publication to a group has come from another node: to a member of this one. */
void trp_group_here(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                    const trp_routing_words_t *words);
typedef struct trp_choice {
    troupe_routing_t routing;
    uint64_t key;
} trp_choice_t;
/* One of a group's members. */
const trp_target_member_t *trp_group_choose(trp_site_t *site, const trp_replica_topic_t *topic,
                                            const trp_target_group_t *group,
                                            const trp_choice_t *choice);
/* Sends to a chosen member, with words that say how. True when it is under way; ret_taken is 1 when it
 * was taken at once. */
bool trp_group_send(trp_site_t *site, trp_replica_topic_t *topic, const trp_target_member_t *member,
                    const trp_publication_t *what, const trp_routing_words_t *words);
/* A number below `len`, by routing; `which` tells apart what is rotated over. */
uint32_t trp_choose(trp_site_t *site, const trp_choice_t *choice, uint64_t which, uint32_t len);

/* The words of a publication to one member of a group; `group` is left to be set. */
void trp_group_words(const trp_site_t *site, const trp_choice_t *choice,
                     trp_routing_words_t *ret_words);

/* path.c */
typedef struct trp_path_send {
    trp_view_t body;
    troupe_type_t type;
    trp_choice_t choice;
    bool local_affinity;
    bool is_all;
    bool exclude_self; /* With is_all. */
} trp_path_send_t;
troupe_err_t trp_path_send(troupe_actor_t *self, const char *path, const trp_path_send_t *send);

/* subscribe.c */
#define TRP_PUBSUB_OPS_MAX (1u << 20) /* Acknowledgements under way on one dispatcher. */
void trp_site_changed(trp_dispatcher_t *d, void *payload, size_t size);
void trp_site_acked(trp_dispatcher_t *d, void *payload, size_t size);
void trp_site_ended_fn(void *context, trp_dispatcher_t *d, uint64_t id);
void trp_site_free_ops(trp_site_t *site);

/* confirm.c */
void trp_confirm_answer(trp_site_t *site, const trp_routing_words_t *words, uint32_t taken);
void trp_confirm_answered(trp_dispatcher_t *d, void *payload, size_t size);
void trp_confirm_hold(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                      const trp_routing_words_t *words);
/* The topic's targets or subscriptions have changed: what waits for that goes on. */
void trp_confirm_wake(trp_site_t *site, trp_replica_topic_t *topic);
void trp_confirm_fini(trp_site_t *site);

/* remote.c */
troupe_err_t trp_remote_register(trp_pubsub_t *pubsub);

#endif
