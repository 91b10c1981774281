/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sending by path: a path is a topic of its own space, whose only subscriber on a node is the actor
 * that was put under it. */

#include <string.h>

#include "actor/events.h"
#include "actor/send.h"
#include "base/assert.h"
#include "pubsub/expand.h"
#include "pubsub/group.h"
#include "pubsub/publish.h"

/* A call, whatever it is. */
typedef struct path_send {
    trp_view_t body;
    troupe_type_t type;
    trp_choice_t choice;
    bool local_affinity;
    bool is_all;
    bool exclude_self; /* With is_all. */
} path_send_t;

/* The node that is chosen, or 0 for this one. The path is registered somewhere. */
static uint64_t path_choose(trp_site_t *site, const trp_replica_topic_t *topic,
                            const path_send_t *send)
{
    const trp_targets_t *targets = topic->targets;
    uint32_t here = targets->replica_len > 0 ? 1 : 0;
    uint32_t nodes =
        targets->reachable_len > 0 || here > 0 ? targets->reachable_len : targets->node_len;
    if (here > 0 && (send->local_affinity || nodes == 0)) {
        return 0;
    }
    uint64_t which = (uint64_t)topic->name->id << 32;
    uint32_t chosen = trp_choose(site, &send->choice, which, here + nodes);
    return chosen < here ? 0 : targets->nodes[chosen - here];
}

static void path_send_one(trp_site_t *site, trp_replica_topic_t *topic,
                          const trp_publication_t *what, const path_send_t *send)
{
    if (topic->targets->replica_len + topic->targets->node_len == 0) {
        trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
        return;
    }
    uint64_t node = path_choose(site, topic, send);
    if (node != 0) {
        (void)trp_publish_remote(site, topic, node, what, NULL);
    } else if (topic->targets->replicas[0] != site->d->index) {
        trp_publish_near(site, topic, topic->targets->replicas[0], what);
    } else if (trp_expand_plain(site, topic, what) == 0) {
        trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
    }
}

static void path_go(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                    const path_send_t *send)
{
    if (send->is_all) {
        trp_publish_all(site, topic, what, send->exclude_self ? TRP_SCOPE_OTHERS : TRP_SCOPE_ALL);
    } else {
        path_send_one(site, topic, what, send);
    }
}

static troupe_err_t path_large(trp_site_t *site, trp_replica_topic_t *topic,
                               trp_publication_t *what, const path_send_t *send)
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
    path_go(site, topic, what, send);
    trp_body_unref(body);
    return TROUPE_OK;
}

static troupe_err_t path_send(troupe_actor_t *self, const char *path, const path_send_t *send)
{
    trp_site_t *site = NULL;
    trp_replica_topic_t *topic = NULL;
    troupe_err_t err = path != NULL ? trp_site_get(self, &site) : TROUPE_EINVAL;
    if (err == TROUPE_OK && !trp_types_fits(site->d->types, send->type, send->body.size)) {
        trp_letter_spec_t spec = {troupe_ref_none(), self->id, send->type, NULL, send->body.size};
        return trp_send_misfit(site->d, &spec);
    }
    if (err == TROUPE_OK) {
        err =
            trp_replica_resolve(&site->replica, TRP_SPACE_PATH, trp_view_from_string(path), &topic);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    trp_publication_t what = {self->id,     0, send->body.data, NULL, (uint32_t)send->body.size,
                              send->type.id};
    if (what.size > TRP_PUBLISH_INLINE_MAX) {
        return path_large(site, topic, &what, send);
    }
    path_go(site, topic, &what, send);
    return TROUPE_OK;
}

/* ---- public ---------------------------------------------------------------------------------- */

troupe_err_t troupe_send(troupe_actor_t *self, const char *path,
                         const troupe_send_options_t *options, troupe_type_t type, const void *body,
                         size_t size)
{
    troupe_send_options_t defaults = TROUPE_SEND_OPTIONS_INIT;
    const troupe_send_options_t *used = options != NULL ? options : &defaults;
    path_send_t send = {.body = {body, size}, .type = type};
    if (used->size != sizeof(*used) || (unsigned)used->routing > TROUPE_ROUTING_HASH) {
        return TROUPE_EINVAL;
    }
    send.choice.routing = used->routing;
    send.choice.key = used->key;
    send.local_affinity = used->local_affinity;
    return path_send(self, path, &send);
}

troupe_err_t troupe_send_all(troupe_actor_t *self, const char *path, bool exclude_self,
                             troupe_type_t type, const void *body, size_t size)
{
    path_send_t send = {.body = {body, size}, .type = type, .is_all = true};
    send.exclude_self = exclude_self;
    return path_send(self, path, &send);
}
