/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publishing: from the publisher's dispatcher straight to the subscribers' dispatchers and nodes. */

#include <string.h>

#include "actor/events.h"
#include "actor/send.h"
#include "base/assert.h"
#include "base/text.h"
#include "pubsub/site.h"

/* ---- cells ----------------------------------------------------------------------------------- */

/* Bodies of the common sizes are copied without a call. */
static inline void publish_copy(void *to, const void *from, size_t size)
{
    if (TRP_LIKELY(size == 32)) {
        memcpy(to, from, 32);
    } else if (size > 0) {
        memcpy(to, from, size);
    }
}

trp_message_t *trp_publish_cell(trp_site_t *site, const trp_publication_t *what, uint32_t words)
{
    trp_dispatcher_t *d = site->d;
    bool is_foreign = what->sender_node != 0;
    size_t room = what->shared != NULL ? sizeof(what->shared) : what->size;
    trp_message_t *message =
        trp_message_take(&d->endpoint.pool, words + (is_foreign ? 1 : 0), room, false);
    if (TRP_UNLIKELY(message == NULL)) {
        d->user.made++;
        trp_events_overload(d);
        trp_dispatcher_drop(d, TROUPE_DROP_OVERLOAD, troupe_ref_none(), troupe_ref_none(),
                            what->type, NULL);
        return NULL;
    }
    message->sender = what->sender;
    message->size = what->size;
    message->type = what->type;
    if (TRP_UNLIKELY(is_foreign)) {
        message->flags |= TRP_MESSAGE_FOREIGN;
        trp_message_extension(message)[0] = what->sender_node;
    }
    if (TRP_UNLIKELY(what->shared != NULL)) {
        trp_body_t *body = trp_body_ref(what->shared);
        message->flags |= TRP_MESSAGE_SHARED;
        memcpy(trp_message_payload(message), &body, sizeof(body));
    } else {
        publish_copy(trp_message_payload(message), what->data, what->size);
    }
    return message;
}

void trp_publication_of(trp_message_t *message, trp_publication_t *ret_what,
                        trp_routing_words_t *ret_words)
{
    uint64_t *words = trp_message_extension(message);
    bool is_foreign = (message->flags & TRP_MESSAGE_FOREIGN) != 0;
    uint32_t first = is_foreign ? 1 : 0;
    ret_what->sender = message->sender;
    ret_what->sender_node = is_foreign ? words[0] : 0;
    ret_what->data = trp_message_payload(message);
    ret_what->shared = NULL;
    ret_what->size = message->size;
    ret_what->type = message->type;
    if ((message->flags & TRP_MESSAGE_SHARED) != 0) {
        memcpy(&ret_what->shared, ret_what->data, sizeof(ret_what->shared));
        ret_what->data = NULL;
    }
    memset(ret_words, 0, sizeof(*ret_words));
    if (trp_message_words(message) >= first + TRP_ROUTING_WORDS) {
        memcpy(ret_words, words + first, sizeof(*ret_words));
    }
}

/* Past the channel's high mark the publisher is parked after its receive. */
static void publish_put(trp_site_t *site, const trp_replica_topic_t *topic, uint8_t replica,
                        trp_message_t *message)
{
    message->target = trp_id_make(replica, TRP_SLOT_DISPATCHER, trp_topic_word(topic));
    message->flags |= TRP_MESSAGE_TOPIC;
    trp_route_far(site->d, replica, message);
}

void trp_publish_near(trp_site_t *site, trp_replica_topic_t *topic, uint8_t replica,
                      const trp_publication_t *what)
{
    TRP_ASSERT_DEBUG(replica != site->d->index);
    trp_message_t *message = trp_publish_cell(site, what, 0);
    if (TRP_LIKELY(message != NULL)) {
        publish_put(site, topic, replica, message);
    }
}

bool trp_publish_routed(trp_site_t *site, const trp_replica_topic_t *topic, uint8_t replica,
                        const trp_publication_t *what, const trp_routing_words_t *words)
{
    TRP_ASSERT_DEBUG(replica != site->d->index);
    trp_message_t *message = trp_publish_cell(site, what, TRP_ROUTING_WORDS);
    if (message == NULL) {
        return false;
    }
    uint32_t first = what->sender_node != 0 ? 1 : 0;
    memcpy(trp_message_extension(message) + first, words, sizeof(*words));
    publish_put(site, topic, replica, message);
    return true;
}

/* ---- dropping -------------------------------------------------------------------------------- */

void trp_publish_drop(trp_site_t *site, const trp_atom_t *name, const trp_publication_t *what,
                      troupe_drop_t reason)
{
    char text[TROUPE_EVENT_TEXT_SIZE];
    trp_dispatcher_t *d = site->d;
    trp_runtime_t *runtime = d->endpoint.runtime;
    d->user.made++;
    bool is_wanted = trp_events_wanted(d, TROUPE_EVENT_DEAD_LETTER) ||
                     trp_log_is_on(runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_INFO) ||
                     trp_id_is_ask(what->sender);
    if (!is_wanted ||
        (reason == TROUPE_DROP_NO_SUBSCRIBER && site->pubsub->options.no_dead_letters)) {
        d->user.dropped[reason]++;
        return;
    }
    /* The event escapes it; what has a zero inside is escaped before. */
    size_t size = name->size < sizeof(text) - 1 ? name->size : sizeof(text) - 1;
    if (memchr(name->bytes, 0, size) != NULL) {
        (void)trp_text_escape(text, sizeof(text), name->bytes, name->size);
    } else {
        memcpy(text, name->bytes, size);
        text[size] = '\0';
    }
    uint64_t node = what->sender_node != 0 ? what->sender_node : d->uid;
    troupe_ref_t sender = {what->sender == 0 ? 0 : node, what->sender};
    trp_dispatcher_drop(d, reason, troupe_ref_none(), sender, what->type, text);
}

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
