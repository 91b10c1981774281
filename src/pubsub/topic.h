/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The directory and its records: topics, patterns and their places. What functions of directory.h give
 * out is for all; the records are the directory's own files' alone.
 *
 * Thread rule: guarded by the directory's lock. */

#ifndef TROUPE_PUBSUB_TOPIC_H
#define TROUPE_PUBSUB_TOPIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "pubsub/atoms.h"
#include "pubsub/map.h"
#include "pubsub/masks.h"
#include "pubsub/pattern.h"
#include "pubsub/targets.h"

typedef struct trp_topic trp_topic_t;
typedef struct trp_pattern trp_pattern_t;
typedef struct trp_builder trp_builder_t;

typedef struct trp_directory {
    pthread_mutex_t lock;
    trp_atoms_t *names;   /* Borrowed. */
    trp_topic_t **topics; /* By the name's id. */
    uint32_t topic_capacity;
    uint32_t topic_len; /* Records. */
    uint32_t sweep_at;
    uint64_t version;       /* Of the newest snapshot. */
    trp_trie_t trie;        /* Its values are trp_pattern_t. */
    trp_map_t unreachable;  /* Uids of members that can't be reached now. */
    trp_builder_t *builder; /* Scratch memory, reused. */
    trp_masks_t masks;      /* For the link thread; see there. */
} trp_directory_t;

/* Where somebody wants a topic: on a dispatcher of this node, or on another node. */
typedef struct trp_placing {
    const trp_atom_t *name;  /* A topic, a path or a pattern. */
    const trp_atom_t *group; /* NULL: plain. */
    uint64_t node;           /* 0: this node. */
    uint8_t replica;         /* On this node. */
    uint32_t weight;         /* Subscribers there from now on; 0: none. */
} trp_placing_t;

/* News for the replicas in `interest`. The receiver owns one reference of `targets`. */
typedef struct trp_change {
    uint32_t id;
    uint32_t generation;
    trp_targets_t *targets; /* NULL: forget the topic. */
    uint64_t interest[TRP_REPLICA_WORDS];
} trp_change_t;

typedef void (*trp_change_fn)(void *context, const trp_change_t *change);

#define TRP_PLACES_MAX (1u << 16) /* Of one topic: nodes times groups. */

typedef struct trp_place {
    const trp_atom_t *group; /* Referenced; NULL: plain. */
    uint64_t node;           /* 0: this node. */
    uint32_t weight;         /* Not 0. */
    uint8_t replica;
} trp_place_t;

typedef struct trp_places {
    trp_place_t *items;
    uint32_t len;
    uint32_t capacity;
} trp_places_t;

struct trp_pattern {
    const trp_atom_t *name; /* Referenced. */
    trp_places_t places;    /* All plain. */
};

struct trp_topic {
    const trp_atom_t *name; /* Referenced. */
    trp_targets_t *targets; /* NULL: to be built when asked for. */
    trp_places_t places;
    trp_pattern_t **patterns; /* That match, whoever asks. */
    uint32_t pattern_len;
    uint32_t pattern_capacity;
    uint32_t handles;
    uint8_t slow_node;
    bool is_dirty; /* A change could not be built for want of memory; the sweep tries again. */
    uint64_t interest[TRP_REPLICA_WORDS];
    uint64_t unused_since; /* 0: in use when last looked at. */
};

/* Sets a weight; 0 takes the place out. The old weight goes to ret_old. */
troupe_err_t trp_places_set(trp_places_t *places, trp_atoms_t *names, const trp_placing_t *placing,
                            uint32_t *ret_old);
void trp_places_fini(trp_places_t *places, trp_atoms_t *names);

troupe_err_t trp_topic_add_pattern(trp_topic_t *topic, trp_pattern_t *pattern);
void trp_topic_remove_pattern(trp_topic_t *topic, const trp_pattern_t *pattern);

/* Writes the topic's masks from its places and patterns. */
void trp_topic_mask(trp_directory_t *directory, const trp_topic_t *topic);

/* The record of the name, made when there is none. */
troupe_err_t trp_directory_topic(trp_directory_t *directory, const trp_atom_t *name,
                                 trp_topic_t **ret_topic);
/* Generation 0: whichever has the id. */
trp_topic_t *trp_directory_find_topic(const trp_directory_t *directory, uint32_t id,
                                      uint32_t generation);
void trp_directory_drop_topic(trp_directory_t *directory, trp_topic_t *topic);

static inline bool trp_topic_has_interest(const trp_topic_t *topic)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < TRP_REPLICA_WORDS; i++) {
        any |= topic->interest[i];
    }
    return any != 0;
}

/* Makes the topic's snapshot anew. TROUPE_ENOMEM: the old one stays. */
troupe_err_t trp_builder_build(trp_directory_t *directory, trp_topic_t *topic);
troupe_err_t trp_builder_create(trp_builder_t **ret_builder);
void trp_builder_destroy(trp_builder_t **builder_p);

#endif
