/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publishing: from the publisher's dispatcher straight to the subscribers' dispatchers and nodes. */

#include "pubsub/publish.h"

#include <string.h>

#include "actor/events.h"
#include "actor/send.h"
#include "base/assert.h"
#include "pubsub/expand.h"

/* ---- to everybody ---------------------------------------------------------------------------- */

static void publish_near_all(trp_site_t *site, trp_replica_topic_t *topic,
                             const trp_publication_t *what)
{
    if (TRP_LIKELY((topic->flags & TRP_REPLICA_MANY) == 0)) {
        for (uint32_t i = 0; i < topic->near_len; i++) {
            trp_publish_near(site, topic, topic->near[i], what);
        }
        return;
    }
    const trp_targets_t *targets = topic->targets;
    for (uint32_t i = 0; i < targets->replica_len; i++) {
        if (targets->replicas[i] != site->d->index) {
            trp_publish_near(site, topic, targets->replicas[i], what);
        }
    }
}

void trp_publish_all(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                     trp_scope_t scope)
{
    bool is_reached = false;
    if ((scope & TRP_SCOPE_OTHERS) != 0 && (topic->flags & TRP_REPLICA_NODES) != 0) {
        for (uint32_t i = 0; i < topic->targets->node_len; i++) {
            (void)trp_publish_remote(site, topic, topic->targets->nodes[i], what, NULL);
        }
        is_reached = true;
    }
    if ((scope & TRP_SCOPE_HERE) != 0 && topic->near_len > 0) {
        publish_near_all(site, topic, what);
        is_reached = true;
    }
    if ((scope & TRP_SCOPE_HERE) != 0 && (topic->flags & TRP_REPLICA_HERE) != 0) {
        is_reached = trp_expand_plain(site, topic, what) > 0 || is_reached;
    }
    if (!is_reached) {
        trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
    }
}

/* ---- public ---------------------------------------------------------------------------------- */

static inline void publish_go(trp_site_t *site, trp_replica_topic_t *topic,
                              const trp_publication_t *what)
{
    if (TRP_LIKELY(topic->flags == TRP_REPLICA_HERE && topic->near_len == 0)) {
        if (TRP_UNLIKELY(trp_expand_plain(site, topic, what) == 0)) {
            trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
        }
        return;
    }
    if (TRP_LIKELY(topic->flags == 0 && topic->near_len == 1)) {
        trp_publish_near(site, topic, topic->near[0], what);
        return;
    }
    trp_publish_all(site, topic, what, TRP_SCOPE_ALL);
}

static TRP_NOINLINE troupe_err_t publish_misfit(trp_site_t *site, const troupe_actor_t *self,
                                                troupe_type_t type, size_t size)
{
    trp_letter_spec_t spec = {troupe_ref_none(), self->id, type, NULL, size};
    return trp_send_misfit(site->d, &spec);
}

/* A body that is too large for a cell: written once, shared by all receivers. */
static TRP_NOINLINE troupe_err_t publish_large(trp_site_t *site, trp_replica_topic_t *topic,
                                               trp_publication_t *what)
{
    trp_body_t *body = trp_body_new(&site->d->endpoint.runtime->depot, what->size, false);
    if (body == NULL) {
        trp_events_overload(site->d);
        return TROUPE_EOVERLOAD;
    }
    body->type = what->type;
    memcpy(body->data, what->data, what->size);
    what->data = NULL;
    what->shared = body;
    publish_go(site, topic, what);
    trp_body_unref(body);
    return TROUPE_OK;
}

static inline troupe_err_t publish_bytes(trp_site_t *site, troupe_actor_t *self,
                                         trp_replica_topic_t *topic, troupe_type_t type,
                                         trp_view_t body)
{
    if (TRP_UNLIKELY(!trp_types_fits(site->d->types, type, body.size))) {
        return publish_misfit(site, self, type, body.size);
    }
    trp_publication_t what = {self->id, 0, body.data, NULL, (uint32_t)body.size, type.id};
    if (TRP_UNLIKELY(body.size > TRP_PUBLISH_INLINE_MAX)) {
        return publish_large(site, topic, &what);
    }
    publish_go(site, topic, &what);
    return TROUPE_OK;
}

troupe_err_t troupe_publish(troupe_actor_t *self, troupe_topic_t handle, troupe_type_t type,
                            const void *body, size_t size)
{
    trp_site_t *site = trp_site_of(self->dispatcher);
    if (TRP_UNLIKELY(site == NULL)) {
        return TROUPE_ENOTREADY;
    }
    trp_replica_topic_t *topic = trp_replica_at(&site->replica, handle.id, handle.generation);
    if (TRP_UNLIKELY(topic == NULL)) {
        troupe_err_t err =
            trp_replica_resolve_id(&site->replica, handle.id, handle.generation, &topic);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return publish_bytes(site, self, topic, type, trp_view_make(body, size));
}

troupe_err_t troupe_publish_name(troupe_actor_t *self, const void *name, size_t name_size,
                                 troupe_type_t type, const void *body, size_t size)
{
    trp_site_t *site = trp_site_of(self->dispatcher);
    if (TRP_UNLIKELY(site == NULL)) {
        return TROUPE_ENOTREADY;
    }
    trp_view_t bytes = trp_view_make(name, name_size);
    trp_replica_topic_t *topic = trp_replica_find(&site->replica, TRP_SPACE_TOPIC, bytes);
    if (TRP_UNLIKELY(topic == NULL)) {
        troupe_err_t err = trp_replica_resolve(&site->replica, TRP_SPACE_TOPIC, bytes, &topic);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return publish_bytes(site, self, topic, type, trp_view_make(body, size));
}

troupe_err_t troupe_publish_shared(troupe_actor_t *self, troupe_topic_t handle, troupe_body_t *body)
{
    trp_site_t *site = NULL;
    trp_replica_topic_t *topic = NULL;
    troupe_err_t err = body != NULL ? trp_site_get(self, &site) : TROUPE_EINVAL;
    if (err == TROUPE_OK) {
        err = trp_replica_resolve_id(&site->replica, handle.id, handle.generation, &topic);
    }
    if (err == TROUPE_OK) {
        trp_publication_t what = {self->id, 0, NULL, body, (uint32_t)body->size, body->type};
        publish_go(site, topic, &what);
    }
    return err;
}
