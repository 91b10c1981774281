/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Atoms, the interned names: each topic, path, group and pattern of a node is one small number.
 *
 *     bytes --hash--> buckets [id, id, ...] --> entries[id] = {generation, name} --> bytes
 *
 * Names are reference-counted and freed with the last reference; the id then goes to the back of a
 * queue of free ids and comes back with another generation, so that a late message or a handle that
 * was closed never meets a stranger. Who wants to keep an unused name for a time holds a reference.
 *
 * Thread rule: any thread; a short lock inside. A name's fields but `refs` are immutable while the
 * caller holds a reference. */

#ifndef TROUPE_PUBSUB_ATOMS_H
#define TROUPE_PUBSUB_ATOMS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"

#define TRP_ATOM_SIZE_MAX 2048u
#define TRP_ATOMS_LEN_DEFAULT (1u << 21) /* A million topics, and their churn. */
#define TRP_ATOMS_LEN_MAX (1u << 23)

#define TRP_ATOMS_QUARANTINE 1024u /* Free ids that are kept waiting before one is used again. */

/* A name means nothing outside its space: topic "a" and group "a" are two names. */
typedef enum trp_space {
    TRP_SPACE_TOPIC = 0,
    TRP_SPACE_PATH = 1,
    TRP_SPACE_GROUP = 2,
    TRP_SPACE_PATTERN = 3,
    TRP_SPACE_COUNT
} trp_space_t;

typedef struct trp_atom {
    uint64_t hash;       /* Of space and bytes, keyed by the node's seed. */
    uint32_t id;         /* Never 0. */
    uint32_t generation; /* Never 0. */
    uint32_t refs;       /* Guarded by the lock. */
    uint16_t size;
    uint8_t space;
    uint8_t bytes[];
} trp_atom_t;

typedef struct trp_atoms_entry {
    trp_atom_t *name;    /* NULL: the id is free. */
    uint32_t generation; /* Of the name, or of the last one that had this id. */
    uint32_t next_free;
} trp_atoms_entry_t;

typedef struct trp_atoms {
    pthread_mutex_t lock;
    uint64_t seed;
    uint32_t len_max;
    uint32_t len;       /* Names alive. */
    uint32_t entry_len; /* Ids ever used, with id 0 that is none. */
    uint32_t entry_capacity;
    uint32_t free_first, free_last; /* Queue of free ids; 0: empty. */
    uint32_t free_len;
    trp_atoms_entry_t *entries;
    uint32_t *buckets; /* Open addressing, linear probing; 0: empty. */
    uint32_t bucket_mask;
} trp_atoms_t;

/* `len_max` 0 means TRP_ATOMS_LEN_DEFAULT. TROUPE_ENOMEM. */
troupe_err_t trp_atoms_init(trp_atoms_t *names, uint32_t len_max, uint64_t seed);

/* Frees all; names that are still referenced too. */
void trp_atoms_fini(trp_atoms_t *names);

/* Hash of a name, as its entry has it. Takes no lock. */
uint64_t trp_atoms_hash(const trp_atoms_t *names, trp_space_t space, trp_view_t bytes);

/* The name of these bytes with one more reference, made when there is none.
 * TROUPE_EINVAL: 0 or more than TRP_ATOM_SIZE_MAX bytes; TROUPE_EFULL; TROUPE_ENOMEM. */
troupe_err_t trp_atoms_intern(trp_atoms_t *names, trp_space_t space, trp_view_t bytes,
                              const trp_atom_t **ret_name);

/* As above, but TROUPE_ENOENT when there is none. */
troupe_err_t trp_atoms_find(trp_atoms_t *names, trp_space_t space, trp_view_t bytes,
                            const trp_atom_t **ret_name);

/* The name of that id and generation (0: whichever has the id) with one more reference; TROUPE_ENOENT
 * when it is gone. */
troupe_err_t trp_atoms_get(trp_atoms_t *names, uint32_t id, uint32_t generation,
                           const trp_atom_t **ret_name);

/* One more reference of a name that the caller holds. */
const trp_atom_t *trp_atoms_ref(trp_atoms_t *names, const trp_atom_t *name);

/* Drops a reference; nulls the pointer. NULL is allowed. */
void trp_atoms_unref(trp_atoms_t *names, const trp_atom_t **name_p);

uint32_t trp_atoms_len(trp_atoms_t *names);

static inline trp_view_t trp_atom_view(const trp_atom_t *name)
{
    return trp_view_make(name->bytes, name->size);
}

#endif
