/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/names.h"

#include <string.h>

#include "base/assert.h"
#include "base/text.h"

#define UNNAMED_MARK '$'

/* A name with text, as the directory has it. An unnamed one is a bare trp_name_t: trees of actors have
 * many of those. */
typedef struct name_entry {
    trp_name_t name;
    trp_table_entry_t by_text;
    trp_table_entry_t by_id;
    uint64_t parent_id; /* The key: this and the text behind it. */
    char text[];
} name_entry_t;

static name_entry_t *entry_of(trp_name_t *name)
{
    return TRP_CONTAINER_OF(name, name_entry_t, name);
}

/* The bytes under which a name is in the directory. */
static size_t name_key_size(size_t text_size)
{
    return sizeof(uint64_t) + text_size;
}

/* With the mutex held (or alone). */
static void names_leave(trp_names_t *names, name_entry_t *entry)
{
    trp_table_remove(&names->table, &entry->by_text);
    trp_table_remove(&names->by_id, &entry->by_id);
}

static troupe_err_t names_enter(trp_names_t *names, name_entry_t *entry)
{
    troupe_err_t err = trp_table_add(&names->table, &entry->by_text, &entry->parent_id,
                                     name_key_size(entry->name.size));
    if (err != TROUPE_OK) {
        return err;
    }
    err = trp_table_add(&names->by_id, &entry->by_id, &entry->name.id, sizeof(entry->name.id));
    if (err != TROUPE_OK) {
        trp_table_remove(&names->table, &entry->by_text);
    }
    return err;
}

troupe_err_t trp_names_init(trp_names_t *names, uint64_t seed)
{
    trp_table_init(&names->table, seed, TRP_NAMES_MAX);
    trp_table_init(&names->by_id, seed, TRP_NAMES_MAX);
    names->limbo = NULL;
    names->is_closing = false;
    return pthread_mutex_init(&names->mutex, NULL) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

static void names_free_limbo(trp_names_t *names)
{
    while (names->limbo != NULL) {
        trp_name_t *name = names->limbo;
        names->limbo = name->limbo_next;
        trp_free(name);
    }
}

void trp_names_fini(trp_names_t *names)
{
    TRP_TABLE_FOREACH (entry, &names->table) {
        name_entry_t *named = TRP_CONTAINER_OF(entry, name_entry_t, by_text);
        names_leave(names, named);
        trp_free(named);
    }
    trp_table_fini(&names->table);
    trp_table_fini(&names->by_id);
    names_free_limbo(names);
    (void)pthread_mutex_destroy(&names->mutex);
}

static troupe_err_t name_check(const char *text, size_t *ret_size)
{
    size_t size = text == NULL ? 0 : strlen(text);
    if (text != NULL && (size == 0 || size > TROUPE_NAME_SIZE_MAX || text[0] == UNNAMED_MARK)) {
        return TROUPE_EINVAL;
    }
    *ret_size = size;
    return TROUPE_OK;
}

static troupe_err_t unnamed_new(const trp_name_t *parent, uint64_t id, trp_name_t **ret_name)
{
    trp_name_t *name = trp_alloc(sizeof(*name));
    if (name == NULL) {
        return TROUPE_ENOMEM;
    }
    *name = (trp_name_t){.parent = parent, .id = id};
    *ret_name = name;
    return TROUPE_OK;
}

troupe_err_t trp_names_add(trp_names_t *names, const trp_name_t *parent, uint64_t id,
                           const char *text, trp_name_t **ret_name)
{
    size_t size = 0;
    troupe_err_t err = name_check(text, &size);
    if (err != TROUPE_OK) {
        return err;
    }
    if (text == NULL) {
        return unnamed_new(parent, id, ret_name);
    }
    name_entry_t *entry = trp_calloc(1, sizeof(*entry) + size + 1);
    if (entry == NULL) {
        return TROUPE_ENOMEM;
    }
    memcpy(entry->text, text, size);
    entry->name =
        (trp_name_t){.parent = parent, .id = id, .text = entry->text, .size = (uint32_t)size};
    entry->parent_id = parent == NULL ? 0 : parent->id;
    pthread_mutex_lock(&names->mutex);
    err = names_enter(names, entry);
    pthread_mutex_unlock(&names->mutex);
    if (err != TROUPE_OK) {
        trp_free(entry);
        return err;
    }
    *ret_name = &entry->name;
    return TROUPE_OK;
}

void trp_names_remove(trp_names_t *names, trp_name_t **name_p)
{
    trp_name_t *name = *name_p;
    if (name == NULL) {
        return;
    }
    *name_p = NULL;
    pthread_mutex_lock(&names->mutex);
    if (name->text != NULL) {
        names_leave(names, entry_of(name));
    }
    name->limbo_next = names->limbo;
    names->limbo = name;
    pthread_mutex_unlock(&names->mutex);
}

void trp_names_sweep(trp_names_t *names)
{
    pthread_mutex_lock(&names->mutex);
    trp_names_t swept = {.limbo = names->is_closing ? NULL : names->limbo};
    names->limbo = names->is_closing ? names->limbo : NULL;
    pthread_mutex_unlock(&names->mutex);
    names_free_limbo(&swept);
}

void trp_names_close(trp_names_t *names)
{
    pthread_mutex_lock(&names->mutex);
    names->is_closing = true;
    pthread_mutex_unlock(&names->mutex);
}

bool trp_names_child_text(trp_names_t *names, uint64_t parent_id, uint64_t id, char *ret_text)
{
    pthread_mutex_lock(&names->mutex);
    trp_table_entry_t *entry = trp_table_find(&names->by_id, &id, sizeof(id));
    const name_entry_t *named = entry == NULL ? NULL : TRP_CONTAINER_OF(entry, name_entry_t, by_id);
    bool is_found = named != NULL && named->parent_id == parent_id;
    if (is_found) {
        memcpy(ret_text, named->text, (size_t)named->name.size + 1);
    }
    pthread_mutex_unlock(&names->mutex);
    return is_found;
}

/* ---- reading paths --------------------------------------------------------------------------- */

troupe_err_t trp_names_component(const char **path_p, char *out, size_t *ret_size)
{
    const char *path = *path_p;
    if (*path == '\0') {
        return TROUPE_ENOENT;
    }
    size_t raw = strcspn(path, "/");
    troupe_err_t err = trp_text_percent_decode(path, raw, out, TROUPE_NAME_SIZE_MAX, ret_size);
    if (err != TROUPE_OK || *ret_size == 0 || memchr(out, '\0', *ret_size) != NULL) {
        return TROUPE_EINVAL;
    }
    out[*ret_size] = '\0';
    path += raw;
    *path_p = *path == '/' ? path + 1 : path;
    return TROUPE_OK;
}

/* Reads the hexadecimal id of an unnamed actor. */
static troupe_err_t unnamed_parse(const char *text, uint64_t *ret_id)
{
    uint64_t id = 0;
    size_t len = strlen(text);
    if (len == 0 || len > 16) {
        return TROUPE_EINVAL;
    }
    for (; *text != '\0'; text++) {
        const char *digits = "0123456789abcdef";
        const char *at = strchr(digits, *text);
        if (at == NULL) {
            return TROUPE_EINVAL;
        }
        id = id << 4 | (uint64_t)(at - digits);
    }
    *ret_id = id;
    return TROUPE_OK;
}

/* The child of `parent_id` that is called `text`. */
static troupe_err_t names_find(trp_names_t *names, uint64_t parent_id, const char *text,
                               size_t size, uint64_t *ret_id)
{
    if (text[0] == UNNAMED_MARK) {
        return unnamed_parse(text + 1, ret_id);
    }
    char key[sizeof(uint64_t) + TROUPE_NAME_SIZE_MAX];
    memcpy(key, &parent_id, sizeof(parent_id));
    memcpy(key + sizeof(parent_id), text, size);
    pthread_mutex_lock(&names->mutex);
    trp_table_entry_t *entry = trp_table_find(&names->table, key, name_key_size(size));
    if (entry != NULL) {
        *ret_id = TRP_CONTAINER_OF(entry, name_entry_t, by_text)->name.id;
    }
    pthread_mutex_unlock(&names->mutex);
    return entry == NULL ? TROUPE_ENOENT : TROUPE_OK;
}

troupe_err_t trp_names_resolve(trp_names_t *names, const char *path, uint64_t *ret_id)
{
    if (path == NULL || path[0] != '/' || path[1] == '\0') {
        return TROUPE_EINVAL;
    }
    path++;
    uint64_t id = 0;
    for (uint32_t depth = 0; *path != '\0'; depth++) {
        char text[TROUPE_NAME_SIZE_MAX + 1];
        size_t size = 0;
        troupe_err_t err =
            depth == TRP_PATH_DEPTH_MAX ? TROUPE_EINVAL : trp_names_component(&path, text, &size);
        if (err == TROUPE_OK) {
            err = names_find(names, id, text, size, &id);
        }
        if (err != TROUPE_OK) {
            return err;
        }
    }
    *ret_id = id;
    return TROUPE_OK;
}

/* ---- writing paths --------------------------------------------------------------------------- */

static troupe_err_t component_append(const char *data, size_t size, char *text, size_t capacity,
                                     size_t *used)
{
    if (*used + 2 > capacity) {
        return TROUPE_ETOOBIG;
    }
    text[(*used)++] = '/';
    size_t written = 0;
    troupe_err_t err =
        trp_text_percent_encode(data, size, text + *used, capacity - *used, &written);
    *used += written;
    return err;
}

static troupe_err_t unnamed_append(uint64_t id, char *text, size_t capacity, size_t *used)
{
    char unnamed[24];
    size_t size = trp_text_format(unnamed, sizeof(unnamed), "/$%llx", (unsigned long long)id);
    if (*used + size + 1 > capacity) {
        return TROUPE_ETOOBIG;
    }
    memcpy(text + *used, unnamed, size + 1);
    *used += size;
    return TROUPE_OK;
}

troupe_err_t trp_names_format(const trp_name_t *name, uint64_t child_id, char *ret_text,
                              size_t capacity)
{
    const trp_name_t *chain[TRP_PATH_DEPTH_MAX];
    size_t depth = 0;
    size_t used = 0;
    for (; name != NULL; name = name->parent) {
        if (depth == TRP_PATH_DEPTH_MAX) {
            return TROUPE_ETOOBIG;
        }
        chain[depth++] = name;
    }
    troupe_err_t err = TROUPE_OK;
    while (depth-- > 0 && err == TROUPE_OK) {
        name = chain[depth];
        err = name->text != NULL
                  ? component_append(name->text, name->size, ret_text, capacity, &used)
                  : unnamed_append(name->id, ret_text, capacity, &used);
    }
    if (err == TROUPE_OK && child_id != 0) {
        err = unnamed_append(child_id, ret_text, capacity, &used);
    }
    return err;
}

bool trp_names_match(const char *pattern, const char *text)
{
    const char *star = NULL; /* The last star, and where it began to match. */
    const char *from = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}
