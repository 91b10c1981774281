/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of interned atoms. */

#include "pubsub/atoms.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/hash.h"
#include "base/memory.h"

#define ATOMS_CAPACITY_MIN 64u

troupe_err_t trp_atoms_init(trp_atoms_t *atoms, uint32_t len_max, uint64_t seed)
{
    TRP_ASSERT(atoms != NULL);
    TRP_ASSERT(len_max <= TRP_ATOMS_LEN_MAX);
    memset(atoms, 0, sizeof(*atoms));
    atoms->seed = seed;
    atoms->len_max = len_max != 0 ? len_max : TRP_ATOMS_LEN_DEFAULT;
    atoms->entries = trp_calloc(ATOMS_CAPACITY_MIN, sizeof(*atoms->entries));
    atoms->buckets = trp_calloc((size_t)ATOMS_CAPACITY_MIN * 2, sizeof(*atoms->buckets));
    if (atoms->entries == NULL || atoms->buckets == NULL ||
        pthread_mutex_init(&atoms->lock, NULL) != 0) {
        trp_free(atoms->entries);
        trp_free(atoms->buckets);
        atoms->entries = NULL;
        atoms->buckets = NULL;
        return TROUPE_ENOMEM;
    }
    atoms->entry_capacity = ATOMS_CAPACITY_MIN;
    atoms->entry_len = 1;
    atoms->bucket_mask = ATOMS_CAPACITY_MIN * 2 - 1;
    return TROUPE_OK;
}

void trp_atoms_fini(trp_atoms_t *atoms)
{
    if (atoms->entries == NULL) {
        return;
    }
    for (uint32_t id = 1; id < atoms->entry_len; id++) {
        trp_free(atoms->entries[id].name);
    }
    trp_free(atoms->entries);
    trp_free(atoms->buckets);
    (void)pthread_mutex_destroy(&atoms->lock);
    memset(atoms, 0, sizeof(*atoms));
}

uint64_t trp_atoms_hash(const trp_atoms_t *atoms, trp_space_t space, trp_view_t bytes)
{
    return trp_hash_bytes(bytes.data, bytes.size, atoms->seed + (uint64_t)space);
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The bucket that holds the name, or the empty one where it belongs. */
static uint32_t atoms_probe(const trp_atoms_t *atoms, uint64_t hash, trp_space_t space,
                            trp_view_t bytes)
{
    uint32_t at = (uint32_t)hash & atoms->bucket_mask;
    while (atoms->buckets[at] != 0) {
        const trp_atom_t *name = atoms->entries[atoms->buckets[at]].name;
        if (name->hash == hash && name->space == (uint8_t)space &&
            trp_view_equal(trp_atom_view(name), bytes)) {
            break;
        }
        at = (at + 1) & atoms->bucket_mask;
    }
    return at;
}

/* Closes the hole at `hole`: whatever follows and may move back does, so that no mark is needed. */
static void atoms_close_hole(trp_atoms_t *atoms, uint32_t hole)
{
    uint32_t at = hole;
    for (;;) {
        at = (at + 1) & atoms->bucket_mask;
        if (atoms->buckets[at] == 0) {
            break;
        }
        uint32_t home = (uint32_t)atoms->entries[atoms->buckets[at]].name->hash;
        uint32_t distance = (at - home) & atoms->bucket_mask;
        if (distance >= ((at - hole) & atoms->bucket_mask)) {
            atoms->buckets[hole] = atoms->buckets[at];
            hole = at;
        }
    }
    atoms->buckets[hole] = 0;
}

/* Doubles both arrays; the buckets are always twice the entries, so half of them are empty. */
static troupe_err_t atoms_grow(trp_atoms_t *atoms)
{
    uint32_t capacity = atoms->entry_capacity * 2;
    size_t bucket_len = (size_t)capacity * 2;
    uint32_t *buckets = trp_calloc(bucket_len, sizeof(*buckets));
    if (buckets == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_atoms_entry_t *entries = trp_realloc(atoms->entries, capacity * sizeof(*entries));
    if (entries == NULL) {
        trp_free(buckets);
        return TROUPE_ENOMEM;
    }
    atoms->entries = entries;
    atoms->entry_capacity = capacity;
    trp_free(atoms->buckets);
    atoms->buckets = buckets;
    atoms->bucket_mask = (uint32_t)(bucket_len - 1);
    for (uint32_t id = 1; id < atoms->entry_len; id++) {
        const trp_atom_t *name = entries[id].name;
        if (name != NULL) {
            uint32_t at =
                atoms_probe(atoms, name->hash, (trp_space_t)name->space, trp_atom_view(name));
            buckets[at] = id;
        }
    }
    return TROUPE_OK;
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* The id that was freed longest ago, once enough of them wait or the table is at its end; a fresh one
 * before that. 0: no memory. */
static uint32_t atoms_take_id(trp_atoms_t *atoms)
{
    uint32_t id = atoms->free_first;
    bool is_last = atoms->entry_len > atoms->len_max;
    if (id != 0 && (is_last || atoms->free_len >= TRP_ATOMS_QUARANTINE)) {
        atoms->free_first = atoms->entries[id].next_free;
        atoms->free_last = atoms->free_first == 0 ? 0 : atoms->free_last;
        atoms->free_len--;
        return id;
    }
    if (atoms->entry_len == atoms->entry_capacity && atoms_grow(atoms) != TROUPE_OK) {
        return 0;
    }
    id = atoms->entry_len++;
    memset(&atoms->entries[id], 0, sizeof(atoms->entries[id]));
    return id;
}

static void atoms_give_id(trp_atoms_t *atoms, uint32_t id)
{
    atoms->entries[id].next_free = 0;
    if (atoms->free_last == 0) {
        atoms->free_first = id;
    } else {
        atoms->entries[atoms->free_last].next_free = id;
    }
    atoms->free_last = id;
    atoms->free_len++;
}

/* ---- atoms ----------------------------------------------------------------------------------- */

static troupe_err_t atoms_make(trp_atoms_t *atoms, uint64_t hash, trp_space_t space,
                               trp_view_t bytes, const trp_atom_t **ret_name)
{
    if (atoms->len >= atoms->len_max) {
        return TROUPE_EFULL;
    }
    trp_atom_t *name = trp_alloc(sizeof(*name) + bytes.size);
    if (name == NULL) {
        return TROUPE_ENOMEM;
    }
    uint32_t id = atoms_take_id(atoms);
    if (id == 0) {
        trp_free(name);
        return TROUPE_ENOMEM;
    }
    trp_atoms_entry_t *entry = &atoms->entries[id];
    entry->generation = entry->generation == UINT32_MAX ? 1 : entry->generation + 1;
    name->hash = hash;
    name->id = id;
    name->generation = entry->generation;
    name->refs = 1;
    name->size = (uint16_t)bytes.size;
    name->space = (uint8_t)space;
    memcpy(name->bytes, bytes.data, bytes.size);
    atoms->buckets[atoms_probe(atoms, hash, space, bytes)] = id;
    entry->name = name;
    atoms->len++;
    *ret_name = name;
    return TROUPE_OK;
}

static void atoms_drop(trp_atoms_t *atoms, trp_atom_t *name)
{
    uint32_t at = atoms_probe(atoms, name->hash, (trp_space_t)name->space, trp_atom_view(name));
    TRP_ASSERT(atoms->buckets[at] == name->id);
    atoms_close_hole(atoms, at);
    atoms->entries[name->id].name = NULL;
    atoms_give_id(atoms, name->id);
    atoms->len--;
    trp_free(name);
}

static troupe_err_t atoms_locked_intern(trp_atoms_t *atoms, trp_space_t space, trp_view_t bytes,
                                        uint64_t hash, const trp_atom_t **ret_name)
{
    uint32_t id = atoms->buckets[atoms_probe(atoms, hash, space, bytes)];
    if (id == 0) {
        return atoms_make(atoms, hash, space, bytes, ret_name);
    }
    atoms->entries[id].name->refs++;
    *ret_name = atoms->entries[id].name;
    return TROUPE_OK;
}

troupe_err_t trp_atoms_intern(trp_atoms_t *atoms, trp_space_t space, trp_view_t bytes,
                              const trp_atom_t **ret_name)
{
    TRP_ASSERT(space < TRP_SPACE_COUNT);
    if (bytes.size == 0 || bytes.size > TRP_ATOM_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    uint64_t hash = trp_atoms_hash(atoms, space, bytes);
    pthread_mutex_lock(&atoms->lock);
    troupe_err_t err = atoms_locked_intern(atoms, space, bytes, hash, ret_name);
    pthread_mutex_unlock(&atoms->lock);
    return err;
}

troupe_err_t trp_atoms_find(trp_atoms_t *atoms, trp_space_t space, trp_view_t bytes,
                            const trp_atom_t **ret_name)
{
    TRP_ASSERT(space < TRP_SPACE_COUNT);
    if (bytes.size == 0 || bytes.size > TRP_ATOM_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    uint64_t hash = trp_atoms_hash(atoms, space, bytes);
    pthread_mutex_lock(&atoms->lock);
    uint32_t id = atoms->buckets[atoms_probe(atoms, hash, space, bytes)];
    trp_atom_t *name = id != 0 ? atoms->entries[id].name : NULL;
    if (name != NULL) {
        name->refs++;
        *ret_name = name;
    }
    pthread_mutex_unlock(&atoms->lock);
    return name != NULL ? TROUPE_OK : TROUPE_ENOENT;
}

troupe_err_t trp_atoms_get(trp_atoms_t *atoms, uint32_t id, uint32_t generation,
                           const trp_atom_t **ret_name)
{
    pthread_mutex_lock(&atoms->lock);
    trp_atom_t *name = id < atoms->entry_len ? atoms->entries[id].name : NULL;
    if (name != NULL && (generation == 0 || name->generation == generation)) {
        name->refs++;
        *ret_name = name;
    } else {
        name = NULL;
    }
    pthread_mutex_unlock(&atoms->lock);
    return name != NULL ? TROUPE_OK : TROUPE_ENOENT;
}

/* The table's own, writable view of a name that the caller holds. */
static trp_atom_t *atoms_own(trp_atoms_t *atoms, const trp_atom_t *name)
{
    TRP_ASSERT(name->id < atoms->entry_len);
    trp_atom_t *own = atoms->entries[name->id].name;
    TRP_ASSERT(own == name);
    return own;
}

const trp_atom_t *trp_atoms_ref(trp_atoms_t *atoms, const trp_atom_t *name)
{
    TRP_ASSERT(name != NULL);
    pthread_mutex_lock(&atoms->lock);
    atoms_own(atoms, name)->refs++;
    pthread_mutex_unlock(&atoms->lock);
    return name;
}

void trp_atoms_unref(trp_atoms_t *atoms, const trp_atom_t **name_p)
{
    if (*name_p == NULL) {
        return;
    }
    pthread_mutex_lock(&atoms->lock);
    trp_atom_t *name = atoms_own(atoms, *name_p);
    TRP_ASSERT(name->refs > 0);
    name->refs--;
    if (name->refs == 0) {
        atoms_drop(atoms, name);
    }
    pthread_mutex_unlock(&atoms->lock);
    *name_p = NULL;
}

uint32_t trp_atoms_len(trp_atoms_t *atoms)
{
    pthread_mutex_lock(&atoms->lock);
    uint32_t len = atoms->len;
    pthread_mutex_unlock(&atoms->lock);
    return len;
}
