/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/watch.h"

#include <string.h>

#include "actor/deliver.h"
#include "actor/life.h"
#include "actor/slots.h"
#include "actor/system.h"
#include "base/assert.h"
#include "base/memory.h"

#define WATCHING_MAX (1u << 22) /* Of one actor. */

/* What one actor watches. */
typedef struct trp_watching {
    trp_table_entry_t entry;
    troupe_ref_t who; /* Key. */
} trp_watching_t;

static trp_watching_t *watching_of(trp_table_entry_t *entry)
{
    return entry == NULL ? NULL : TRP_CONTAINER_OF(entry, trp_watching_t, entry);
}

/* ---- the watched's side ---------------------------------------------------------------------- */

static void tell_terminated(trp_dispatcher_t *d, troupe_ref_t watcher, troupe_ref_t who,
                            troupe_err_t reason)
{
    trp_terminated_t terminated = {who, (uint64_t)reason};
    trp_system_send(d, watcher, TRP_SYSTEM_TERMINATED, who.id, &terminated, sizeof(terminated));
}

static bool watchers_grow(trp_watchers_t *watchers)
{
    uint32_t capacity = watchers->capacity == 0 ? 4 : watchers->capacity * 2;
    if (capacity > TRP_WATCHERS_MAX) {
        return false;
    }
    troupe_ref_t *refs = trp_realloc(watchers->refs, capacity * sizeof(*refs));
    if (refs == NULL) {
        return false;
    }
    watchers->refs = refs;
    watchers->capacity = capacity;
    return true;
}

/* The watcher's own table keeps it from asking twice, so there is no search here. */
void trp_watchers_add(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_ref_t watcher)
{
    trp_extra_t *extra = trp_extra_get(cell);
    if (extra == NULL ||
        (extra->watchers.len == extra->watchers.capacity && !watchers_grow(&extra->watchers))) {
        tell_terminated(d, watcher, trp_dispatcher_ref(d, cell->id), TROUPE_ENOMEM);
        return;
    }
    extra->watchers.refs[extra->watchers.len++] = watcher;
}

void trp_watchers_remove(troupe_actor_t *cell, troupe_ref_t watcher)
{
    if (cell->extra == NULL) {
        return;
    }
    trp_watchers_t *watchers = &cell->extra->watchers;
    for (uint32_t i = 0; i < watchers->len; i++) {
        if (troupe_ref_equal(watchers->refs[i], watcher)) {
            watchers->refs[i] = watchers->refs[--watchers->len];
            return;
        }
    }
}

/* ---- the watcher's side ---------------------------------------------------------------------- */

static trp_watching_t *watching_find(troupe_actor_t *cell, troupe_ref_t who)
{
    if (cell->extra == NULL || !cell->extra->has_watching) {
        return NULL;
    }
    return watching_of(trp_table_find(&cell->extra->watching, &who, sizeof(who)));
}

static void watching_remove(troupe_actor_t *cell, trp_watching_t *watching)
{
    trp_table_remove(&cell->extra->watching, &watching->entry);
    trp_free(watching);
}

troupe_err_t troupe_watch(troupe_actor_t *self, troupe_ref_t who)
{
    trp_dispatcher_t *d = self->dispatcher;
    trp_extra_t *extra = trp_extra_get(self);
    if (troupe_ref_is_none(who) || who.id == 0) {
        return TROUPE_EINVAL;
    }
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    if (watching_find(self, who) != NULL) {
        return TROUPE_OK;
    }
    if (!extra->has_watching) {
        trp_table_init(&extra->watching, trp_random_next(&d->random), WATCHING_MAX);
        extra->has_watching = true;
    }
    trp_watching_t *watching = trp_calloc(1, sizeof(*watching));
    if (watching == NULL) {
        return TROUPE_ENOMEM;
    }
    watching->who = who;
    troupe_err_t err =
        trp_table_add(&extra->watching, &watching->entry, &watching->who, sizeof(watching->who));
    if (err != TROUPE_OK) {
        trp_free(watching);
        return err;
    }
    trp_system_send(d, who, TRP_SYSTEM_WATCH, self->id, NULL, 0);
    return TROUPE_OK;
}

void troupe_unwatch(troupe_actor_t *self, troupe_ref_t who)
{
    trp_watching_t *watching = watching_find(self, who);
    if (watching == NULL) {
        return;
    }
    trp_dispatcher_t *d = self->dispatcher;
    watching_remove(self, watching);
    trp_system_send(d, who, TRP_SYSTEM_UNWATCH, self->id, NULL, 0);
}

troupe_err_t trp_watch_terminated(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    trp_terminated_t terminated;
    TRP_ASSERT(message->size == sizeof(terminated));
    memcpy(&terminated, trp_message_payload(message), sizeof(terminated));
    /* A peer may speak for its own actors only. */
    troupe_ref_t sender = trp_message_sender(d, message);
    bool is_credible = sender.node == terminated.who.node || sender.node == 0 ||
                       (message->flags & TRP_MESSAGE_FOREIGN) == 0;
    trp_watching_t *watching = watching_find(cell, terminated.who);
    if (watching == NULL || !is_credible) {
        return TROUPE_OK; /* Unwatched since, or told already. */
    }
    watching_remove(cell, watching);
    uint64_t reason = terminated.reason <= TROUPE_EINTERNAL ? terminated.reason : TROUPE_EFAILED;
    return trp_signal(d, cell, TROUPE_SIGNAL_TERMINATED, terminated.who, (troupe_err_t)reason);
}

void trp_watch_end(trp_dispatcher_t *d, troupe_actor_t *cell, troupe_err_t reason)
{
    trp_extra_t *extra = cell->extra;
    if (extra == NULL) {
        return;
    }
    troupe_ref_t self = trp_dispatcher_ref(d, cell->id);
    for (uint32_t i = 0; i < extra->watchers.len; i++) {
        tell_terminated(d, extra->watchers.refs[i], self, reason);
    }
    extra->watchers.len = 0;
    if (!extra->has_watching) {
        return;
    }
    TRP_TABLE_FOREACH (entry, &extra->watching) {
        trp_watching_t *watching = watching_of(entry);
        trp_system_send(d, watching->who, TRP_SYSTEM_UNWATCH, cell->id, NULL, 0);
        watching_remove(cell, watching);
    }
    trp_table_fini(&extra->watching);
    extra->has_watching = false;
}

/* ---- a node goes ----------------------------------------------------------------------------- */

static void cell_node_down(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t node,
                           troupe_err_t reason)
{
    trp_watchers_t *watchers = &cell->extra->watchers;
    for (uint32_t i = 0; i < watchers->len;) {
        if (watchers->refs[i].node == node) {
            watchers->refs[i] = watchers->refs[--watchers->len];
        } else {
            i++;
        }
    }
    if (!cell->extra->has_watching) {
        return;
    }
    TRP_TABLE_FOREACH (entry, &cell->extra->watching) {
        troupe_ref_t who = watching_of(entry)->who;
        if (who.node == node) {
            trp_terminated_t terminated = {who, (uint64_t)reason};
            trp_system_send(d, trp_dispatcher_ref(d, cell->id), TRP_SYSTEM_TERMINATED, 0,
                            &terminated, sizeof(terminated));
        }
    }
}

/* Walks all actors: a node's end is rare, and an index of remote watches would cost every watch. */
void trp_watch_node_down(trp_dispatcher_t *d, uint64_t node, troupe_err_t reason)
{
    for (uint32_t slot = 1;; slot++) {
        trp_slot_t *entry = trp_slots_entry(&d->slots, slot);
        if (entry == NULL) {
            return;
        }
        if (entry->actor != NULL && entry->actor->extra != NULL) {
            cell_node_down(d, entry->actor, node, reason);
        }
    }
}
