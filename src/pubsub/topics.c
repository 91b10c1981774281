/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Handles of topics, and questions about them. */

#include <string.h>

#include "pubsub/arrive.h"

static trp_pubsub_t *topics_pubsub(const troupe_node_t *node)
{
    const trp_runtime_t *runtime = node != NULL ? trp_node_runtime(node) : NULL;
    bool is_there = runtime != NULL && runtime->topic_fn == trp_arrive_topic_fn;
    return is_there ? runtime->topic_context : NULL;
}

troupe_err_t troupe_topic_open(troupe_node_t *node, const void *name, size_t name_size,
                               const troupe_topic_options_t *options, troupe_topic_t *ret_topic)
{
    trp_pubsub_t *pubsub = topics_pubsub(node);
    if (name == NULL || ret_topic == NULL ||
        (options != NULL && (options->size != sizeof(*options) ||
                             (unsigned)options->slow_node > TROUPE_SLOW_NODE_DROP))) {
        return TROUPE_EINVAL;
    }
    if (pubsub == NULL) {
        return TROUPE_ENOTREADY;
    }
    return trp_directory_open(&pubsub->directory, TRP_SPACE_TOPIC, trp_view_make(name, name_size),
                              options, ret_topic);
}

void troupe_topic_close(troupe_node_t *node, troupe_topic_t *topic)
{
    trp_pubsub_t *pubsub = topics_pubsub(node);
    if (pubsub != NULL && topic != NULL && topic->generation != 0) {
        troupe_err_t err = trp_directory_close(&pubsub->directory, *topic);
        (void)err; /* One that is closed already stays closed. */
        memset(topic, 0, sizeof(*topic));
    }
}

troupe_err_t troupe_topic_name(troupe_node_t *node, troupe_topic_t topic, void *ret_name,
                               size_t capacity, size_t *ret_size)
{
    trp_pubsub_t *pubsub = topics_pubsub(node);
    const trp_atom_t *name = NULL;
    if (pubsub == NULL) {
        return TROUPE_ENOTREADY;
    }
    if (topic.generation == 0 ||
        trp_atoms_get(&pubsub->names, topic.id, topic.generation, &name) != TROUPE_OK) {
        return TROUPE_ENOENT;
    }
    troupe_err_t err = name->size <= capacity ? TROUPE_OK : TROUPE_ETOOBIG;
    *ret_size = name->size;
    if (err == TROUPE_OK) {
        memcpy(ret_name, name->bytes, name->size);
    }
    trp_atoms_unref(&pubsub->names, &name);
    return err;
}

troupe_err_t troupe_topics_visit(troupe_node_t *node, troupe_topic_visit_fn visit, void *context)
{
    trp_pubsub_t *pubsub = topics_pubsub(node);
    if (pubsub == NULL) {
        return TROUPE_ENOTREADY;
    }
    trp_directory_visit(&pubsub->directory, visit, context);
    return TROUPE_OK;
}

troupe_err_t troupe_topic_count(troupe_node_t *node, troupe_topic_t topic,
                                troupe_topic_info_t *ret_info)
{
    trp_pubsub_t *pubsub = topics_pubsub(node);
    if (pubsub == NULL) {
        return TROUPE_ENOTREADY;
    }
    return topic.generation != 0 ? trp_directory_count(&pubsub->directory, topic, ret_info)
                                 : TROUPE_ENOENT;
}

troupe_err_t troupe_pubsub_stats(troupe_node_t *node, troupe_pubsub_stats_t *ret_stats)
{
    trp_pubsub_t *pubsub = topics_pubsub(node);
    if (ret_stats == NULL || ret_stats->size != sizeof(*ret_stats)) {
        return TROUPE_EINVAL;
    }
    if (pubsub == NULL) {
        return TROUPE_ENOTREADY;
    }
    pthread_mutex_lock(&pubsub->stats_lock);
    *ret_stats = pubsub->stats;
    pthread_mutex_unlock(&pubsub->stats_lock);
    ret_stats->size = sizeof(*ret_stats);
    return TROUPE_OK;
}

troupe_err_t troupe_message_topic(troupe_actor_t *self, troupe_topic_t *ret_topic)
{
    trp_site_t *site = NULL;
    const trp_atom_t *name = NULL;
    trp_message_t *message = self->dispatcher->message;
    troupe_err_t err = trp_site_get(self, &site);
    if (err != TROUPE_OK) {
        return err;
    }
    if (message == NULL || (message->flags & TRP_MESSAGE_PUBLISHED) == 0) {
        return TROUPE_ENOENT;
    }
    uint64_t word = trp_message_extension(message)[trp_message_words(message) - 1];
    err = trp_atoms_get(&site->pubsub->names, (uint32_t)word, (uint32_t)(word >> 32), &name);
    if (err == TROUPE_OK) {
        *ret_topic = trp_replica_handle(name);
        trp_atoms_unref(&site->pubsub->names, &name);
    }
    return err;
}
