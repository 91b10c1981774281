/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Lists actors: a task on each dispatcher writes what it has into one buffer, in turn. */

#include "node/node_tree.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "actor/cell.h"
#include "actor/dispatcher.h"
#include "actor/names.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "node/node_private.h"

#define TREE_SIZE_MAX ((size_t)512 * 1024 * 1024)

/* Shared by the asker and the dispatchers. The last of them frees it: a dispatcher may come to its
 * task after the asker has given up. */
typedef struct tree_census {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    uint32_t waiting;
    uint32_t refs;
    uint32_t len;
    uint32_t len_max;
    bool is_cut;
    troupe_err_t error;
    trp_buf_t rows;
} tree_census_t;

/* ---- on the dispatchers ------------------------------------------------------------------------- */

static void census_unref(tree_census_t *census)
{
    pthread_mutex_lock(&census->mutex);
    census->refs -= 1;
    bool is_last = census->refs == 0;
    pthread_mutex_unlock(&census->mutex);
    if (is_last) {
        trp_buf_fini(&census->rows);
        pthread_cond_destroy(&census->answered);
        pthread_mutex_destroy(&census->mutex);
        trp_free(census);
    }
}

static troupe_err_t census_append_text(trp_buf_t *rows, const char *text)
{
    return trp_buf_append(rows, text, strlen(text) + 1);
}

static troupe_err_t census_add(tree_census_t *census, const troupe_actor_t *cell)
{
    char path[TROUPE_PATH_SIZE_MAX];
    troupe_err_t err = troupe_path(cell, path, sizeof(path));
    if (err != TROUPE_OK) {
        memcpy(path, "...", 4); /* Longer than a path can be written. */
    }
    const uint32_t numbers[] = {cell->dispatcher->index, cell->mail_len,
                                (uint32_t)troupe_children_len(cell), cell->flags};
    const char *behavior = cell->behavior->name != NULL ? cell->behavior->name : "";
    err = trp_buf_append(&census->rows, numbers, sizeof(numbers));
    if (err == TROUPE_OK) {
        err = census_append_text(&census->rows, path);
    }
    return err == TROUPE_OK ? census_append_text(&census->rows, behavior) : err;
}

static void census_walk(tree_census_t *census, trp_dispatcher_t *d)
{
    trp_slot_t *entry = NULL;
    for (uint32_t slot = 1; (entry = trp_slots_entry(&d->slots, slot)) != NULL; slot++) {
        if (entry->actor == NULL) {
            continue;
        }
        if (census->len == census->len_max || census->error != TROUPE_OK) {
            census->is_cut = true;
            return;
        }
        census->error = census_add(census, entry->actor);
        census->len += 1;
    }
}

static void census_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    tree_census_t *census = NULL;
    TRP_ASSERT(size == sizeof(census));
    memcpy(&census, payload, sizeof(census));
    pthread_mutex_lock(&census->mutex);
    census_walk(census, d);
    census->waiting -= 1;
    pthread_cond_signal(&census->answered);
    pthread_mutex_unlock(&census->mutex);
    census_unref(census);
}

/* ---- the asker ------------------------------------------------------------------------------------ */

static tree_census_t *census_new(uint32_t len_max)
{
    pthread_condattr_t attributes;
    tree_census_t *census = trp_calloc(1, sizeof(*census));
    if (census == NULL) {
        return NULL;
    }
    trp_buf_init(&census->rows, TREE_SIZE_MAX);
    census->error = TROUPE_OK;
    census->len_max = len_max;
    census->refs = 1;
    pthread_mutex_init(&census->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&census->answered, &attributes);
    pthread_condattr_destroy(&attributes);
    return census;
}

static troupe_err_t census_post(tree_census_t *census, trp_runtime_t *runtime)
{
    for (uint32_t i = 0; i < runtime->len; i++) {
        pthread_mutex_lock(&census->mutex);
        census->refs += 1;
        census->waiting += 1;
        pthread_mutex_unlock(&census->mutex);
        troupe_err_t err = trp_runtime_post(runtime, i, census_task, &census, sizeof(census));
        if (err != TROUPE_OK) {
            census_unref(census);
            return err;
        }
    }
    return TROUPE_OK;
}

/* Waits, and takes the rows over. */
static troupe_err_t census_await(tree_census_t *census, uint64_t deadline_ns, trp_tree_t *tree)
{
    struct timespec until = {(time_t)(deadline_ns / TRP_NS_PER_S),
                             (long)(deadline_ns % TRP_NS_PER_S)};
    int result = 0;
    size_t size = 0;
    pthread_mutex_lock(&census->mutex);
    while (census->waiting > 0 && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&census->answered, &census->mutex, &until);
    }
    troupe_err_t err = census->waiting > 0 ? TROUPE_ETIMEOUT : census->error;
    if (err == TROUPE_OK) {
        tree->memory = trp_buf_take(&census->rows, &size);
        tree->len = census->len;
        tree->is_cut = census->is_cut;
    }
    pthread_mutex_unlock(&census->mutex);
    return err;
}

static int tree_compare(const void *a, const void *b)
{
    return strcmp(((const trp_tree_row_t *)a)->path, ((const trp_tree_row_t *)b)->path);
}

/* Finds the rows in the memory that the dispatchers wrote. */
static troupe_err_t tree_index(trp_tree_t *tree)
{
    const uint8_t *at = tree->memory;
    tree->rows = trp_calloc(tree->len + 1, sizeof(*tree->rows));
    if (tree->rows == NULL) {
        return TROUPE_ENOMEM;
    }
    for (size_t i = 0; i < tree->len; i++) {
        uint32_t numbers[4];
        trp_tree_row_t *row = &tree->rows[i];
        memcpy(numbers, at, sizeof(numbers));
        row->dispatcher = numbers[0];
        row->mail = numbers[1];
        row->children = numbers[2];
        row->flags = numbers[3];
        row->path = (const char *)at + sizeof(numbers);
        row->behavior = row->path + strlen(row->path) + 1;
        at = (const uint8_t *)row->behavior + strlen(row->behavior) + 1;
    }
    qsort(tree->rows, tree->len, sizeof(*tree->rows), tree_compare);
    return TROUPE_OK;
}

troupe_err_t trp_node_tree(trp_node_t *node, uint32_t len_max, uint64_t deadline_ns,
                           trp_tree_t *ret_tree)
{
    TRP_ASSERT(len_max > 0 && len_max <= TRP_TREE_LEN_MAX);
    trp_tree_t tree = {NULL, 0, false, NULL};
    tree_census_t *census = census_new(len_max);
    if (census == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = census_post(census, node->base.runtime);
    if (err == TROUPE_OK) {
        err = census_await(census, deadline_ns, &tree);
    }
    census_unref(census);
    if (err == TROUPE_OK) {
        err = tree_index(&tree);
    }
    if (err != TROUPE_OK) {
        trp_tree_fini(&tree);
        return err;
    }
    *ret_tree = tree;
    return TROUPE_OK;
}

void trp_tree_fini(trp_tree_t *tree)
{
    trp_free(tree->rows);
    trp_free(tree->memory);
    tree->rows = NULL;
    tree->memory = NULL;
    tree->len = 0;
}
