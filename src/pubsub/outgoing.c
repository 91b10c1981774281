/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Cells and envelopes of publications, and what becomes of those that reach nobody. */

#include "pubsub/outgoing.h"

#include <string.h>

#include "actor/events.h"
#include "base/assert.h"
#include "base/text.h"

/* ---- cells ----------------------------------------------------------------------------------- */

void trp_publish_refused(trp_dispatcher_t *d, const trp_publication_t *what)
{
    d->user.made++;
    trp_events_overload(d);
    trp_dispatcher_drop(d, TROUPE_DROP_OVERLOAD, troupe_ref_none(), troupe_ref_none(), what->type,
                        NULL);
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
static void outgoing_put(trp_site_t *site, const trp_replica_topic_t *topic, uint8_t replica,
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
        outgoing_put(site, topic, replica, message);
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
    outgoing_put(site, topic, replica, message);
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

/* ---- to other nodes -------------------------------------------------------------------------- */

static void outgoing_name(const trp_atom_t *name, trp_link_name_t *ret_name)
{
    ret_name->id = name->id;
    ret_name->generation = name->generation;
    ret_name->space = name->space;
    ret_name->bytes = trp_atom_view(name);
}

static troupe_ref_t outgoing_sender(const trp_site_t *site, const trp_publication_t *what)
{
    uint64_t node = what->sender_node != 0 ? what->sender_node : site->d->uid;
    return what->sender == 0 ? troupe_ref_none() : (troupe_ref_t){node, what->sender};
}

/* The group's name, with one reference. False when it is gone. */
static bool outgoing_group(trp_site_t *site, uint32_t id, trp_link_name_t *ret_name,
                           const trp_atom_t **ret_atom)
{
    if (trp_atoms_get(&site->pubsub->names, id, 0, ret_atom) != TROUPE_OK) {
        return false;
    }
    outgoing_name(*ret_atom, ret_name);
    return true;
}

static bool outgoing_done(trp_site_t *site, const trp_replica_topic_t *topic,
                          const trp_publication_t *what, trp_remote_verdict_t verdict)
{
    trp_dispatcher_t *d = site->d;
    if (TRP_UNLIKELY(!verdict.is_sent)) {
        trp_publish_drop(site, topic->name, what, verdict.reason);
        return false;
    }
    d->user.made++;
    if (TRP_UNLIKELY(verdict.parking != NULL) && d->current != NULL &&
        topic->targets->slow_node == TROUPE_SLOW_NODE_PARK) {
        d->park_on = verdict.parking;
        d->attention = true;
    }
    return true;
}

bool trp_publish_remote(trp_site_t *site, const trp_replica_topic_t *topic, uint64_t node,
                        const trp_publication_t *what, const trp_routing_words_t *words)
{
    trp_remote_verdict_t verdict = {false, TROUPE_DROP_UNKNOWN_NODE, NULL};
    const trp_atom_t *group = NULL;
    trp_link_publish_t publish = {.group = {0}};
    trp_link_t *link = site->pubsub->link;
    outgoing_name(topic->name, &publish.topic);
    if (words != NULL) {
        publish.route = words->route;
        publish.token = words->token;
        publish.has_token = (words->route & (TRP_ROUTE_CONFIRM | TRP_ROUTE_HASHED)) != 0;
        if ((words->route & TRP_ROUTE_GROUP) != 0 &&
            !outgoing_group(site, words->group, &publish.group, &group)) {
            verdict.reason = TROUPE_DROP_NO_SUBSCRIBER;
            link = NULL;
        }
    }
    publish.body.sender = outgoing_sender(site, what);
    publish.body.data = what->data;
    publish.body.shared = what->shared;
    publish.body.size = what->size;
    publish.body.type = what->type;
    if (TRP_LIKELY(link != NULL)) {
        verdict = trp_link_publish(link, site->d, node, &publish);
    }
    trp_atoms_unref(&site->pubsub->names, &group);
    return outgoing_done(site, topic, what, verdict);
}
