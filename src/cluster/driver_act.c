/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Acting on the core's outputs: links, watchers, subscribers, the log. */

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "cluster/driver_state.h"

/* ---- links ------------------------------------------------------------------------------------ */

static trp_driver_dial_t *act_find_dial(trp_cluster_t *cluster, const char *address)
{
    for (size_t i = 0; i < cluster->dials_len; i++) {
        if (strcmp(cluster->dials[i].address, address) == 0) {
            return &cluster->dials[i];
        }
    }
    return NULL;
}

/* Dials whoever is at an address, and begins anew what has gone on for long without success. */
static void act_dial(trp_cluster_t *cluster, const char *address)
{
    uint64_t now = trp_clock_now();
    trp_driver_dial_t *dial = act_find_dial(cluster, address);
    if (dial == NULL && cluster->dials_len < TRP_DRIVER_DIALS_MAX) {
        dial = &cluster->dials[cluster->dials_len];
        cluster->dials_len++;
        dial->at = now;
        (void)trp_text_copy(dial->address, sizeof(dial->address), address);
    } else if (dial != NULL) {
        if (now - dial->at < trp_clock_from_ms(TRP_DRIVER_REDIAL_MS)) {
            return;
        }
        dial->at = now;
        trp_link_hangup(cluster->link, address);
    }
    (void)!trp_link_dial(cluster->link, address, 0);
}

static void act_connect(trp_cluster_t *cluster, const trp_output_t *output)
{
    if (output->uid == 0) {
        act_dial(cluster, output->address);
        return;
    }
    (void)!trp_link_dial(cluster->link, output->address, output->uid);
}

static bool act_is_seed(const trp_cluster_t *cluster, const char *address)
{
    const trp_cluster_options_t *options = &cluster->options.core;
    for (size_t i = 0; i < options->seeds_len; i++) {
        if (strcmp(options->seeds[i], address) == 0) {
            return true;
        }
    }
    return false;
}

static bool act_has_member_at(trp_cluster_t *cluster, const char *address)
{
    pthread_mutex_lock(&cluster->mutex);
    bool has = trp_cluster_core_find_address(cluster->core, address) != NULL;
    pthread_mutex_unlock(&cluster->mutex);
    return has;
}

/* Who is removed isn't let in again; its address is dialled only if it is a seed's or another's now. */
static void act_disconnect(trp_cluster_t *cluster, const trp_output_t *output)
{
    const char *address = output->who->address;
    trp_link_forget(cluster->link, output->uid);
    if (!act_is_seed(cluster, address) && !act_has_member_at(cluster, address)) {
        trp_link_hangup(cluster->link, address);
        trp_driver_dial_t *dial = act_find_dial(cluster, address);
        if (dial != NULL) {
            *dial = cluster->dials[cluster->dials_len - 1];
            cluster->dials_len--;
        }
    }
}

/* ---- events ----------------------------------------------------------------------------------- */

static void act_fill_member(const trp_cluster_t *cluster, const trp_output_t *output,
                            troupe_member_t *member)
{
    const trp_identity_t *who = output->who;
    member->uid = output->uid;
    member->up_number = output->up_number;
    member->state = (uint32_t)output->state;
    member->incarnation = output->incarnation;
    member->is_self = output->uid == cluster->options.core.uid;
    member->is_unreachable = output->unreachable;
    if (who == NULL) {
        return;
    }
    (void)trp_text_copy(member->address, sizeof(member->address), who->address);
    (void)trp_text_copy(member->name, sizeof(member->name), who->name);
    member->roles_len = (uint8_t)who->roles_len;
    for (size_t i = 0; i < who->roles_len; i++) {
        (void)trp_text_copy(member->roles[i], sizeof(member->roles[i]), who->roles[i]);
    }
}

static void act_log_event(trp_cluster_t *cluster, const troupe_member_event_t *event)
{
    bool is_grave =
        event->kind == TROUPE_MEMBER_EVENT_DOWN || event->kind == TROUPE_MEMBER_EVENT_UNREACHABLE;
    TRP_LOG(cluster->log, TROUPE_LOG_CLUSTER, is_grave ? TROUPE_LOG_WARN : TROUPE_LOG_INFO,
            "cluster.event", "event=%s member=%s uid=%016llx state=%s",
            troupe_member_event_name((troupe_member_event_kind_t)event->kind),
            event->member.address, (unsigned long long)event->member.uid,
            troupe_member_state_name((troupe_member_state_t)event->member.state));
}

static void act_event(trp_cluster_t *cluster, trp_dispatcher_t *d, const trp_output_t *output)
{
    const trp_cluster_hooks_t *hooks = &cluster->options.hooks;
    troupe_member_event_t event;
    memset(&event, 0, sizeof(event));
    event.kind = (uint32_t)output->event;
    act_fill_member(cluster, output, &event.member);
    act_log_event(cluster, &event);
    /* Telling twice is telling once: who left was never down, and who is down is removed later. */
    bool is_gone =
        output->event == TROUPE_MEMBER_EVENT_DOWN || output->event == TROUPE_MEMBER_EVENT_REMOVED;
    if (is_gone && !event.member.is_self) {
        trp_runtime_node_down(cluster->runtime, output->uid, TROUPE_EUNREACHABLE);
    }
    if (hooks->on_event != NULL) {
        hooks->on_event(hooks->context, d, &event);
    }
    trp_subscribers_tell(cluster, d, &event);
}

static void act_stop_self(trp_cluster_t *cluster, trp_dispatcher_t *d, const trp_output_t *output)
{
    const trp_cluster_hooks_t *hooks = &cluster->options.hooks;
    bool has_left = output->stop == TRP_STOP_LEFT;
    TRP_LOG(cluster->log, TROUPE_LOG_CLUSTER, has_left ? TROUPE_LOG_INFO : TROUPE_LOG_WARN,
            "cluster.stopped", "reason=%s", trp_stop_reason_name(output->stop));
    if (hooks->on_stop != NULL) {
        hooks->on_stop(hooks->context, d, output->stop);
    }
}

/* ---- the log ---------------------------------------------------------------------------------- */

static troupe_log_level_t act_note_level(trp_note_t note)
{
    switch (note) {
    case TRP_NOTE_SUSPECT:
    case TRP_NOTE_REFUTED:
        return TROUPE_LOG_DEBUG;
    case TRP_NOTE_REPLACED:
    case TRP_NOTE_SEED_IS_SELF:
        return TROUPE_LOG_INFO;
    case TRP_NOTE_STARVED:
    case TRP_NOTE_INDIRECT_ONLY:
    case TRP_NOTE_BLOCKED:
    case TRP_NOTE_OTHER_CLUSTER:
    case TRP_NOTE_SPOOFED:
    case TRP_NOTE_WAITING_SEED:
    case TRP_NOTE_FULL:
        break;
    }
    return TROUPE_LOG_WARN;
}

void trp_driver_log_note(trp_cluster_t *cluster, const trp_output_t *output)
{
    TRP_LOG(cluster->log, TROUPE_LOG_CLUSTER, act_note_level(output->note), "cluster.note",
            "note=%s member=%s uid=%016llx count=%llu", trp_note_name(output->note),
            output->who == NULL ? "" : output->who->address, (unsigned long long)output->uid,
            (unsigned long long)output->count);
}

/* ---- outputs ---------------------------------------------------------------------------------- */

void trp_driver_act(trp_cluster_t *cluster, trp_dispatcher_t *d, const trp_output_t *output)
{
    switch (output->kind) {
    case TRP_OUTPUT_SEND:
        /* What can't be sent is lost, as on any network: the core counts on it. */
        (void)!trp_link_control_send(cluster->link, output->uid, TRP_SERVICE_CLUSTER, output->data,
                                     output->size);
        break;
    case TRP_OUTPUT_CONNECT:
        act_connect(cluster, output);
        break;
    case TRP_OUTPUT_DISCONNECT:
        act_disconnect(cluster, output);
        break;
    case TRP_OUTPUT_EVENT:
        act_event(cluster, d, output);
        break;
    case TRP_OUTPUT_DOWNED:
        TRP_LOG(cluster->log, TROUPE_LOG_CLUSTER, TROUPE_LOG_WARN, "cluster.downed",
                "member=%s uid=%016llx", output->who->address, (unsigned long long)output->uid);
        break;
    case TRP_OUTPUT_STOP_SELF:
        act_stop_self(cluster, d, output);
        break;
    case TRP_OUTPUT_NOTE:
        trp_driver_log_note(cluster, output);
        break;
    case TRP_OUTPUT_LOST:
        TRP_LOG(cluster->log, TROUPE_LOG_CLUSTER, TROUPE_LOG_ERROR, "cluster.events_lost",
                "reason=%s", "no memory");
        break;
    }
}
