/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The directory: which child name of which actor is whom, and how paths are made and read.
 *
 * Every actor that has a name, or has had a child, owns a trp_name_t that points to its parent's. A
 * parent outlives its children, so the chain is good as long as the actor lives. Unnamed actors are
 * called "$<id in hexadecimal>". Names that leave the directory wait in a limbo for the watchdog, the
 * one reader on another thread, which frees them.
 *
 * Thread rule: any thread; one mutex. Not on the path of a message. */

#ifndef TROUPE_ACTOR_NAMES_H
#define TROUPE_ACTOR_NAMES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/actor.h>

#include "base/table.h"

#define TRP_NAMES_MAX ((size_t)16 * 1024 * 1024)
#define TRP_PATH_DEPTH_MAX 64u

typedef struct trp_name {
    const struct trp_name *parent; /* NULL: a child of the root (/user, /system, ...). */
    struct trp_name *limbo_next;
    uint64_t id;      /* Whose name it is. */
    const char *text; /* Raw, not percent-encoded; NULL: unnamed. */
    uint32_t size;    /* Bytes of text. */
} trp_name_t;

typedef struct trp_names {
    pthread_mutex_t mutex;
    trp_table_t table; /* By parent and text. */
    trp_table_t by_id;
    trp_name_t *limbo;
    bool is_closing; /* The limbo is kept for the end: actors may end before their children do. */
} trp_names_t;

troupe_err_t trp_names_init(trp_names_t *names, uint64_t seed);
void trp_names_fini(trp_names_t *names);

/* Makes a name for `id` under `parent`; `text` may be NULL for an unnamed actor. EEXIST; EINVAL: empty,
 * too long, or starting with '$'; ENOMEM; EFULL. */
troupe_err_t trp_names_add(trp_names_t *names, const trp_name_t *parent, uint64_t id,
                           const char *text, trp_name_t **ret_name);
/* Takes a name out, so that it can be used again, and nulls the pointer. NULL is allowed. */
void trp_names_remove(trp_names_t *names, trp_name_t **name);
/* Frees what waits in the limbo. The watchdog alone. */
void trp_names_sweep(trp_names_t *names);
/* From now on nothing is swept. */
void trp_names_close(trp_names_t *names);

/* Writes the name of that child (TROUPE_NAME_SIZE_MAX + 1 bytes); false when it has none. */
bool trp_names_child_text(trp_names_t *names, uint64_t parent_id, uint64_t id, char *ret_text);

/* Reads a path from the root: all components must be known. An unnamed last component ("$...") gives
 * its id without a look. ENOENT, EINVAL. */
troupe_err_t trp_names_resolve(trp_names_t *names, const char *path, uint64_t *ret_id);

/* Reads one component of a path: percent-decodes to `out` (TROUPE_NAME_SIZE_MAX + 1 bytes) and moves
 * *path_p behind it and its slash. EINVAL: empty or malformed; ENOENT at the end of the path. */
troupe_err_t trp_names_component(const char **path_p, char *out, size_t *ret_size);

/* Writes the path of the owner of `name`, with "/$id" of an unnamed child behind it when `child_id` is
 * not 0. `name` may be NULL for the root. ETOOBIG when it does not fit. */
troupe_err_t trp_names_format(const trp_name_t *name, uint64_t child_id, char *ret_text,
                              size_t capacity);

/* True when `text` matches `pattern`, in which `*` is any run of bytes and `?` any one. */
bool trp_names_match(const char *pattern, const char *text);

#endif
