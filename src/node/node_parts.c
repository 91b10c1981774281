/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Makes the rooms of a node from its settings. */

#include "node/node_parts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor/dispatcher.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"

/* On each dispatcher's thread, as it starts. */
static troupe_err_t node_note_thread(void *context, trp_dispatcher_t *d)
{
    trp_node_t *node = context;
    node->threads[d->index] = gettid();
    return TROUPE_OK;
}

static void node_forget_thread(void *context, trp_dispatcher_t *d)
{
    (void)context; /* The number stays: a stop may come from there until the very end. */
    (void)d;
}

troupe_err_t trp_node_make_runtime(trp_node_t *node)
{
    const troupe_node_options_t *own = &node->settings.values.node;
    trp_group_options_t groups[TRP_SETTINGS_GROUPS_MAX];
    TRP_ASSERT(node->settings.groups_len <= TRP_SETTINGS_GROUPS_MAX);
    for (size_t i = 0; i < node->settings.groups_len; i++) {
        groups[i].name = node->settings.groups[i].name;
        groups[i].len = node->settings.groups[i].threads;
    }
    trp_runtime_options_t options;
    memset(&options, 0, sizeof(options));
    options.uid = node->uid;
    options.dispatchers = own->dispatchers;
    options.groups = groups;
    options.groups_len = node->settings.groups_len;
    options.ceiling = own->memory_size_max;
    options.throughput = own->throughput;
    options.slice_ns = own->slice_us * TRP_NS_PER_US;
    options.slow_receive_ns = trp_clock_from_ms(own->slow_receive_ms);
    options.offload_threads = own->offload_threads;
    options.offload_queue_max = own->offload_queue_len_max;
    options.pin_threads = own->pin_threads;
    options.log = &node->log;
    troupe_err_t err = trp_runtime_create(&options, &node->base.runtime);
    if (err != TROUPE_OK) {
        return err;
    }
    node->base.runtime->node = &node->base;
    node->threads =
        trp_store_take(&node->settings.store, node->base.runtime->len, sizeof(*node->threads));
    const trp_runtime_hook_t hook = {node, node_note_thread, node_forget_thread};
    return node->threads != NULL ? trp_runtime_add_hook(node->base.runtime, &hook) : TROUPE_ENOMEM;
}

/* host:port as the link takes it; brackets around an IPv6 host. */
static void node_format_address(const trp_node_address_t *address, char *out, size_t capacity)
{
    bool is_v6 = strchr(address->host, ':') != NULL;
    trp_text_format(out, capacity, is_v6 ? "[%s]:%u" : "%s:%u", address->host, address->port);
}

troupe_err_t trp_node_make_link(trp_node_t *node)
{
    const trp_settings_t *settings = &node->settings;
    const troupe_node_options_t *own = &settings->values.node;
    char bind[TROUPE_NODE_ADDRESS_SIZE];
    trp_link_options_t options = TRP_LINK_OPTIONS_INIT;
    node_format_address(&settings->bind, bind, sizeof(bind));
    options.runtime = node->base.runtime;
    options.log = &node->log;
    options.uid = node->uid;
    options.cluster = own->cluster_name;
    options.name = own->name != NULL ? own->name : bind;
    options.listen = bind;
    options.advertise = own->advertise;
    options.public_key = settings->has_keys ? &settings->public_key : NULL;
    options.secret_key = settings->has_keys ? &settings->secret_key : NULL;
    options.allow = settings->allowed;
    options.allow_len = settings->allowed_len;
    options.insecure_ok = own->insecure;
    options.window = (uint32_t)own->link_window;
    options.queue_size_max = (uint32_t)own->link_queue_size_max;
    options.stall_ms = own->link_stall_ms;
    options.connections_max = own->link_connections_max;
    return trp_link_create(&options, &node->link);
}

bool trp_node_has_pubsub_role(const trp_node_t *node, const char *const *roles, size_t len)
{
    const char *role = node->settings.values.node.pubsub_role;
    bool has_role = role == NULL;
    for (size_t i = 0; i < len; i++) {
        has_role = has_role || strcmp(roles[i], role) == 0;
    }
    return has_role;
}

troupe_err_t trp_node_make_pubsub(trp_node_t *node)
{
    const troupe_node_options_t *own = &node->settings.values.node;
    if (!trp_node_has_pubsub_role(node, own->roles.items, own->roles.len)) {
        return TROUPE_OK;
    }
    trp_pubsub_options_t options;
    memset(&options, 0, sizeof(options));
    options.runtime = node->base.runtime;
    options.link = node->link;
    options.log = &node->log;
    options.names_max = own->pubsub_names_max;
    options.gossip_interval_ns = trp_clock_from_ms(own->pubsub_gossip_interval_ms);
    options.tombstone_ns = trp_clock_from_ms(own->pubsub_tombstone_ms);
    options.routing = (troupe_routing_t)own->pubsub_routing;
    options.no_dead_letters = own->pubsub_no_dead_letters;
    return trp_pubsub_create(&options, &node->pubsub);
}
