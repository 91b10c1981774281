/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What an actor can ask about itself, and how it ends others. */

#include <troupe/actor.h>

#include "actor/children.h"
#include "actor/deliver.h"
#include "actor/extra.h"
#include "actor/names.h"

troupe_ref_t troupe_self(const troupe_actor_t *self)
{
    return trp_dispatcher_ref(self->dispatcher, self->id);
}

troupe_ref_t troupe_parent(const troupe_actor_t *self)
{
    return trp_dispatcher_ref(self->dispatcher, self->parent);
}

troupe_ref_t troupe_sender(const troupe_actor_t *self)
{
    trp_dispatcher_t *d = self->dispatcher;
    return d->message == NULL ? troupe_ref_none() : trp_message_sender(d, d->message);
}

size_t troupe_children_len(const troupe_actor_t *self)
{
    return self->extra == NULL ? 0 : self->extra->children.alive;
}

size_t troupe_children(const troupe_actor_t *self, troupe_ref_t *ret_refs, size_t capacity)
{
    size_t len = 0;
    uint32_t index = 0;
    uint64_t child = 0;
    if (self->extra == NULL) {
        return 0;
    }
    while (len < capacity && (child = trp_children_next(&self->extra->children, &index)) != 0) {
        ret_refs[len++] = trp_dispatcher_ref(self->dispatcher, child);
    }
    return len;
}

troupe_node_t *troupe_actor_node(const troupe_actor_t *self)
{
    return self->dispatcher->endpoint.runtime->node;
}

uint32_t troupe_dispatcher(const troupe_actor_t *self)
{
    return self->dispatcher->index;
}

uint64_t troupe_now(const troupe_actor_t *self)
{
    return self->dispatcher->now;
}

troupe_err_t troupe_path(const troupe_actor_t *self, char *ret_text, size_t capacity)
{
    bool is_named = (self->flags & TRP_CELL_NAMED) != 0;
    if (ret_text == NULL || capacity == 0) {
        return TROUPE_EINVAL;
    }
    return trp_names_format(self->name, is_named ? 0 : self->id, ret_text, capacity);
}

troupe_err_t troupe_lookup(troupe_actor_t *self, const char *path, troupe_ref_t *ret_ref)
{
    trp_dispatcher_t *d = self->dispatcher;
    uint64_t id = 0;
    troupe_err_t err = trp_names_resolve(&d->endpoint.runtime->names, path, &id);
    if (err == TROUPE_OK) {
        *ret_ref = trp_dispatcher_ref(d, id);
    }
    return err;
}

/* ---- ending ---------------------------------------------------------------------------------- */

void troupe_stop(troupe_actor_t *self)
{
    trp_dispatcher_t *d = self->dispatcher;
    d->must_stop = true;
    d->attention = true;
}

void troupe_poison(troupe_actor_t *self, troupe_ref_t who)
{
    trp_system_send(self->dispatcher, who, TRP_SYSTEM_POISON, self->id, NULL, 0);
}

void troupe_kill(troupe_actor_t *self, troupe_ref_t who)
{
    trp_system_send(self->dispatcher, who, TRP_SYSTEM_KILL, self->id, NULL, 0);
}
