/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Mail held back behind bulk bodies. */

#include "net/link/hold.h"

#include <string.h>

#include "actor/dispatcher.h"
#include "base/assert.h"
#include "base/memory.h"
#include "net/link/state.h"

void trp_holds_init(trp_holds_t *holds)
{
    trp_list_init(&holds->list);
    trp_list_init(&holds->arrived);
    holds->len = 0;
}

/* Counts one message that was never delivered. */
static void hold_count_lost(trp_dispatcher_t *d, const trp_envelope_t *envelope, bool is_first)
{
    if (envelope->kind == TRP_ENVELOPE_TOPIC && !is_first) {
        return; /* Another dispatcher counts it. */
    }
    trp_flow_t *flow = trp_dispatcher_flow(d, envelope->kind == TRP_ENVELOPE_SYSTEM);
    flow->received++;
    flow->dropped[TROUPE_DROP_STOPPED]++;
}

void trp_holds_fini(trp_holds_t *holds, trp_dispatcher_t *d, trp_link_t *link)
{
    trp_node_link_t *at = NULL;
    while ((at = trp_list_pop_front(&holds->list)) != NULL) {
        trp_hold_t *hold = TRP_CONTAINER_OF(at, trp_hold_t, link);
        hold_count_lost(d, &hold->envelope, hold->is_first);
        trp_held_t *held = NULL;
        while ((held = trp_hold_next(hold)) != NULL) {
            hold_count_lost(d, &held->envelope, held->is_first);
            trp_held_free(link, held);
        }
        trp_free(hold);
    }
    while ((at = trp_list_pop_front(&holds->arrived)) != NULL) {
        trp_arrived_t *arrived = TRP_CONTAINER_OF(at, trp_arrived_t, link);
        if (arrived->body != NULL) {
            trp_body_unref(arrived->body);
        }
        trp_free(arrived);
    }
    holds->len = 0;
}

static uint64_t hold_sender_node(uint64_t uid, const trp_envelope_t *envelope)
{
    return (envelope->flags & TRP_ENVELOPE_FOREIGN) != 0 ? envelope->sender_node : uid;
}

/* Whether two envelopes may be between the same two actors: a publish may be for any receiver. */
static bool hold_is_same_pair(const trp_hold_t *hold, uint64_t uid, const trp_envelope_t *envelope)
{
    bool is_same_sender =
        hold->envelope.sender == envelope->sender &&
        hold_sender_node(hold->uid, &hold->envelope) == hold_sender_node(uid, envelope);
    return is_same_sender && (hold->is_wide || hold->envelope.target == envelope->target ||
                              envelope->kind == TRP_ENVELOPE_TOPIC);
}

trp_hold_t *trp_holds_match(trp_holds_t *holds, uint64_t uid, const trp_envelope_t *envelope)
{
    /* The last one: what it waits behind is before it. */
    for (trp_node_link_t *at = holds->list.head.prev; at != &holds->list.head; at = at->prev) {
        trp_hold_t *hold = TRP_CONTAINER_OF(at, trp_hold_t, link);
        if (hold->uid == uid && hold_is_same_pair(hold, uid, envelope)) {
            return hold;
        }
    }
    return NULL;
}

troupe_err_t trp_holds_begin(trp_holds_t *holds, uint64_t uid, const trp_envelope_t *envelope,
                             uint64_t bulk_id, bool is_first)
{
    trp_hold_t *hold = trp_calloc(1, sizeof(*hold));
    if (hold == NULL) {
        return TROUPE_ENOMEM;
    }
    hold->uid = uid;
    hold->bulk_id = bulk_id;
    hold->envelope = *envelope;
    hold->is_first = is_first;
    hold->is_wide = envelope->kind == TRP_ENVELOPE_TOPIC;
    trp_list_init(&hold->held);
    trp_list_push_back(&holds->list, &hold->link);
    holds->len++;
    return TROUPE_OK;
}

troupe_err_t trp_holds_add(trp_link_t *link, trp_hold_t *hold, const trp_envelope_t *envelope,
                           trp_view_t body, bool is_first)
{
    size_t size = sizeof(trp_held_t) + body.size;
    uint64_t before = atomic_fetch_add_explicit(&link->held_size, size, memory_order_relaxed);
    trp_held_t *held = before < TRP_LINK_REASSEMBLY_SIZE_MAX ? trp_alloc(size) : NULL;
    if (held == NULL) {
        atomic_fetch_sub_explicit(&link->held_size, size, memory_order_relaxed);
        return before < TRP_LINK_REASSEMBLY_SIZE_MAX ? TROUPE_ENOMEM : TROUPE_EFULL;
    }
    trp_list_link_init(&held->link);
    held->envelope = *envelope;
    held->is_first = is_first;
    held->size = (uint32_t)body.size;
    if (body.size > 0) {
        memcpy(held->body, body.data, body.size);
    }
    trp_list_push_back(&hold->held, &held->link);
    hold->is_wide = hold->is_wide || envelope->kind == TRP_ENVELOPE_TOPIC;
    return TROUPE_OK;
}

trp_hold_t *trp_holds_end(trp_holds_t *holds, uint64_t uid, uint64_t bulk_id)
{
    TRP_LIST_FOREACH (at, &holds->list) {
        trp_hold_t *hold = TRP_CONTAINER_OF(at, trp_hold_t, link);
        if (hold->uid == uid && hold->bulk_id == bulk_id) {
            trp_list_remove(&hold->link);
            TRP_ASSERT(holds->len > 0);
            holds->len--;
            return hold;
        }
    }
    return NULL;
}

trp_held_t *trp_hold_next(trp_hold_t *hold)
{
    trp_node_link_t *at = trp_list_pop_front(&hold->held);
    return at != NULL ? TRP_CONTAINER_OF(at, trp_held_t, link) : NULL;
}

void trp_held_free(trp_link_t *link, trp_held_t *held)
{
    atomic_fetch_sub_explicit(&link->held_size, sizeof(*held) + held->size, memory_order_relaxed);
    trp_free(held);
}

troupe_err_t trp_holds_keep(trp_holds_t *holds, uint64_t uid, uint64_t bulk_id, trp_body_t *body)
{
    trp_arrived_t *arrived = trp_calloc(1, sizeof(*arrived));
    if (arrived == NULL) {
        return TROUPE_ENOMEM;
    }
    arrived->uid = uid;
    arrived->bulk_id = bulk_id;
    arrived->body = body != NULL ? trp_body_ref(body) : NULL;
    trp_list_push_back(&holds->arrived, &arrived->link);
    return TROUPE_OK;
}

bool trp_holds_take(trp_holds_t *holds, uint64_t uid, uint64_t bulk_id, trp_body_t **ret_body)
{
    TRP_LIST_FOREACH_SAFE (at, &holds->arrived) {
        trp_arrived_t *arrived = TRP_CONTAINER_OF(at, trp_arrived_t, link);
        if (arrived->uid == uid && arrived->bulk_id == bulk_id) {
            *ret_body = arrived->body;
            trp_list_remove(&arrived->link);
            trp_free(arrived);
            return true;
        }
    }
    return false;
}
