/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What other threads call: dialling, peers, counters, and registering before the start. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "net/link/loop.h"
#include "net/link/router.h"
#include "net/link/state.h"

#define API_WAIT_MS 1000u /* How long a caller waits for the link thread's count. */

/* ---- commands -------------------------------------------------------------------------------- */

static troupe_err_t api_command(trp_link_t *link, trp_command_kind_t kind, const char *address,
                                uint64_t uid)
{
    trp_command_t *command = trp_calloc(1, sizeof(*command));
    if (command == NULL) {
        return TROUPE_ENOMEM;
    }
    command->item = (trp_item_t){NULL, TRP_ITEM_COMMAND};
    command->kind = kind;
    command->uid = uid;
    (void)trp_text_copy(command->address, sizeof(command->address), address);
    trp_handover_push(&link->handover, &command->item);
    return TROUPE_OK;
}

troupe_err_t trp_link_dial(trp_link_t *link, const char *address, uint64_t uid)
{
    if (address == NULL || !trp_address_is_valid(address) || uid == link->options.uid) {
        return TROUPE_EINVAL;
    }
    if (uid != 0) {
        /* Known from now on, so that the caller may send at once. */
        trp_peer_t *peer = NULL;
        troupe_err_t err = trp_peers_get(&link->registry, link, uid, &peer);
        if (err != TROUPE_OK) {
            return err;
        }
        trp_peer_unref(&peer);
    }
    return api_command(link, TRP_COMMAND_DIAL, address, uid);
}

void trp_link_hangup(trp_link_t *link, const char *address)
{
    (void)api_command(link, TRP_COMMAND_HANGUP, address, 0);
}

void trp_link_forget(trp_link_t *link, uint64_t uid)
{
    (void)api_command(link, TRP_COMMAND_FORGET, "", uid);
}

/* ---- in flight ------------------------------------------------------------------------------- */

static struct timespec api_deadline(void)
{
    uint64_t end = trp_clock_add(trp_clock_now(), trp_clock_from_ms(API_WAIT_MS));
    return (struct timespec){(time_t)(end / TRP_NS_PER_S), (long)(end % TRP_NS_PER_S)};
}

/* Lets the link thread count, and waits for it: what it walks is its own. */
static void api_count(trp_link_t *link, uint64_t *ret_user, uint64_t *ret_system)
{
    trp_command_t *command = trp_calloc(1, sizeof(*command));
    if (command == NULL) {
        return;
    }
    command->item = (trp_item_t){NULL, TRP_ITEM_COMMAND};
    command->kind = TRP_COMMAND_COUNT;
    trp_handover_push(&link->handover, &command->item);
    struct timespec end = api_deadline();
    (void)pthread_mutex_lock(&link->wait_mutex);
    int rc = 0;
    while (!command->is_done && rc == 0) {
        rc = pthread_cond_timedwait(&link->wait_cond, &link->wait_mutex, &end);
    }
    bool is_done = command->is_done;
    *ret_user = command->user;
    *ret_system = command->system;
    command->is_abandoned = !is_done; /* The link thread frees it then. */
    (void)pthread_mutex_unlock(&link->wait_mutex);
    if (is_done) {
        trp_free(command);
    }
}

void trp_link_in_flight(trp_link_t *link, uint64_t *ret_user, uint64_t *ret_system)
{
    *ret_user = 0;
    *ret_system = 0;
    if (atomic_load(&link->is_running)) {
        api_count(link, ret_user, ret_system);
    } else {
        trp_count_in_flight(link, ret_user, ret_system);
    }
}

void trp_link_count(trp_link_t *link, troupe_flow_t *user, troupe_flow_t *system)
{
    troupe_flow_t *flows[2] = {user, system};
    for (uint32_t kind = 0; kind < 2; kind++) {
        flows[kind]->handed_over +=
            atomic_load_explicit(&link->handed_over[kind], memory_order_relaxed);
        for (uint32_t reason = 0; reason < TROUPE_DROP_LEN; reason++) {
            flows[kind]->dropped[reason] +=
                atomic_load_explicit(&link->dropped[kind][reason], memory_order_relaxed);
        }
    }
}

/* ---- peers ----------------------------------------------------------------------------------- */

static uint64_t api_read(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void api_describe(trp_peer_t *peer, trp_link_peer_info_t *info)
{
    memset(info, 0, sizeof(*info));
    info->uid = peer->uid;
    info->state = trp_peer_state(peer);
    (void)trp_text_copy(info->name, sizeof(info->name), peer->name);
    (void)trp_text_copy(info->address, sizeof(info->address), peer->address);
    info->is_stalled = info->state == TRP_LINK_UP && atomic_load(&peer->is_stalled);
    info->bytes_out = api_read(&peer->bytes_out);
    info->frames_out = api_read(&peer->frames_out);
    info->messages_out = api_read(&peer->messages_out);
    info->bytes_in = api_read(&peer->bytes_in);
    info->frames_in = api_read(&peer->frames_in);
    info->messages_in = api_read(&peer->messages_in);
    info->queue_bytes = api_read(&peer->outstanding) + api_read(&peer->bulk_outstanding);
    info->credit_bytes = api_read(&peer->credit);
    info->rtt_ns = api_read(&peer->rtt_ns);
    info->sessions = api_read(&peer->sessions);
    info->unknown_types = api_read(&peer->unknown_types);
    info->queue_full = api_read(&peer->queue_full);
    info->protocol_errors = api_read(&peer->protocol_errors);
}

typedef struct api_list {
    trp_link_peer_info_t *infos;
    size_t capacity;
    size_t len;
    uint64_t uid; /* The only one to describe; 0: all. */
} api_list_t;

static void api_add(trp_peer_t *peer, void *context)
{
    api_list_t *list = context;
    if (list->uid != 0 && list->uid != peer->uid) {
        return;
    }
    if (list->len < list->capacity) {
        api_describe(peer, &list->infos[list->len]);
    }
    list->len++;
}

size_t trp_link_peers(trp_link_t *link, trp_link_peer_info_t *ret_infos, size_t capacity)
{
    api_list_t list = {ret_infos, capacity, 0, 0};
    trp_peers_visit(&link->registry, api_add, &list);
    return list.len;
}

troupe_err_t trp_link_peer(trp_link_t *link, uint64_t uid, trp_link_peer_info_t *ret_info)
{
    api_list_t list = {ret_info, 1, 0, uid};
    if (uid != 0) {
        trp_peers_visit(&link->registry, api_add, &list);
    }
    return list.len == 1 ? TROUPE_OK : TROUPE_ENODE;
}

/* ---- registering ----------------------------------------------------------------------------- */

troupe_err_t trp_link_listen(trp_link_t *link, uint32_t dispatcher_index, trp_link_event_fn fn,
                             void *context)
{
    TRP_ASSERT(!link->has_thread);
    if (link->listeners_len == TRP_LINK_LISTENERS_MAX) {
        return TROUPE_EFULL;
    }
    link->listeners[link->listeners_len++] = (trp_listener_t){fn, context, dispatcher_index};
    return TROUPE_OK;
}

troupe_err_t trp_link_add_section(trp_link_t *link, const trp_link_section_t *section)
{
    TRP_ASSERT(!link->has_thread);
    for (uint32_t i = 0; i < link->sections_len; i++) {
        if (strcmp(link->sections[i].name, section->name) == 0) {
            return TROUPE_EEXIST;
        }
    }
    if (link->sections_len == TRP_LINK_SECTIONS_MAX) {
        return TROUPE_EFULL;
    }
    link->sections[link->sections_len++] = *section;
    return TROUPE_OK;
}

troupe_err_t trp_link_service_register(trp_link_t *link, uint32_t service,
                                       uint32_t dispatcher_index, trp_link_service_fn fn,
                                       void *context)
{
    TRP_ASSERT(!link->has_thread);
    if (service >= TRP_LINK_SERVICES_MAX || fn == NULL) {
        return TROUPE_EINVAL;
    }
    if (link->services[service].fn != NULL) {
        return TROUPE_EEXIST;
    }
    link->services[service] = (trp_service_t){fn, context, dispatcher_index};
    return TROUPE_OK;
}

void trp_link_set_topic_hooks(trp_link_t *link, const trp_link_topic_hooks_t *hooks)
{
    TRP_ASSERT(!link->has_thread);
    link->topics = *hooks;
}
