/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The actor /system/cluster: it keeps who wants events, and watches them, so that a subscription ends
 * with its actor. It runs on the dispatcher of the driver, which reads its state to tell events. */

#include <string.h>

#include "actor/send.h"
#include "base/assert.h"
#include "base/memory.h"
#include "cluster/driver_state.h"

#define SUBSCRIBERS_MAX 1024

typedef struct subscriber {
    troupe_ref_t ref;
    uint32_t mask;
} subscriber_t;

typedef struct subscribers {
    trp_cluster_t *cluster;
    subscriber_t *items;
    size_t len;
} subscribers_t;

static size_t subscribers_find(const subscribers_t *list, troupe_ref_t ref)
{
    size_t at = 0;
    while (at < list->len && !troupe_ref_equal(list->items[at].ref, ref)) {
        at++;
    }
    return at;
}

static void subscribers_remove(subscribers_t *list, size_t at)
{
    TRP_ASSERT(at < list->len);
    list->len--;
    list->items[at] = list->items[list->len];
}

/* ---- telling ---------------------------------------------------------------------------------- */

static void subscribers_send(const trp_cluster_t *cluster, trp_dispatcher_t *d,
                             const subscriber_t *subscriber, const troupe_member_event_t *event)
{
    if ((subscriber->mask & TROUPE_MEMBER_EVENT_BIT(event->kind)) == 0) {
        return;
    }
    trp_letter_spec_t spec = {
        .to = subscriber->ref, .type = cluster->event_type, .body = event, .size = sizeof(*event)};
    (void)!trp_send(d, &spec); /* What can't be made is counted by the runtime. */
}

void trp_subscribers_tell(trp_cluster_t *cluster, trp_dispatcher_t *d,
                          const troupe_member_event_t *event)
{
    subscribers_t *list = cluster->subscribers;
    for (size_t i = 0; list != NULL && i < list->len; i++) {
        subscribers_send(cluster, d, &list->items[i], event);
    }
}

/* ---- the present state ------------------------------------------------------------------------ */

static void subscribers_tell_kind(const subscribers_t *list, trp_dispatcher_t *d,
                                  const subscriber_t *subscriber, troupe_member_event_t *event,
                                  troupe_member_event_kind_t kind)
{
    event->kind = (uint32_t)kind;
    subscribers_send(list->cluster, d, subscriber, event);
}

/* How one member came to be what it is. */
static void subscribers_tell_member(const subscribers_t *list, trp_dispatcher_t *d,
                                    const subscriber_t *subscriber, troupe_member_event_t *event)
{
    static const troupe_member_event_kind_t kinds[] = {
        [TROUPE_MEMBER_WEAKLY_UP] = TROUPE_MEMBER_EVENT_WEAKLY_UP,
        [TROUPE_MEMBER_UP] = TROUPE_MEMBER_EVENT_UP,
        [TROUPE_MEMBER_LEAVING] = TROUPE_MEMBER_EVENT_LEAVING,
        [TROUPE_MEMBER_EXITING] = TROUPE_MEMBER_EVENT_EXITED,
        [TROUPE_MEMBER_DOWN] = TROUPE_MEMBER_EVENT_DOWN,
    };
    uint32_t state = event->member.state;
    subscribers_tell_kind(list, d, subscriber, event, TROUPE_MEMBER_EVENT_JOINED);
    if (state > TROUPE_MEMBER_UP && event->member.up_number != 0) {
        subscribers_tell_kind(list, d, subscriber, event, TROUPE_MEMBER_EVENT_UP);
    }
    if (state < TRP_ARRAY_LEN(kinds) && kinds[state] != 0) {
        subscribers_tell_kind(list, d, subscriber, event, kinds[state]);
    }
    if (event->member.is_unreachable) {
        subscribers_tell_kind(list, d, subscriber, event, TROUPE_MEMBER_EVENT_UNREACHABLE);
    }
}

static void subscribers_tell_role(const subscribers_t *list, trp_dispatcher_t *d,
                                  const subscriber_t *subscriber, uint64_t uid,
                                  troupe_member_event_kind_t kind)
{
    troupe_member_event_t event;
    memset(&event, 0, sizeof(event));
    if (uid != 0 && trp_cluster_member(list->cluster, uid, &event.member) == TROUPE_OK) {
        subscribers_tell_kind(list, d, subscriber, &event, kind);
    }
}

static troupe_err_t subscribers_tell_all(const subscribers_t *list, trp_dispatcher_t *d,
                                         const subscriber_t *subscriber)
{
    size_t len = 0;
    troupe_member_event_t event;
    if (trp_cluster_members(list->cluster, NULL, 0, &len) != TROUPE_OK || len == 0) {
        return TROUPE_OK; /* Not started yet: all is still to come. */
    }
    troupe_member_t *members = trp_calloc(len, sizeof(*members));
    if (members == NULL) {
        return TROUPE_ENOMEM;
    }
    /* The core moves only on this thread and by words of operators: what comes in between is told as
     * a change afterwards. */
    size_t there = 0;
    troupe_err_t err = trp_cluster_members(list->cluster, members, len, &there);
    for (size_t i = 0; err == TROUPE_OK && i < len && i < there; i++) {
        memset(&event, 0, sizeof(event));
        event.member = members[i];
        subscribers_tell_member(list, d, subscriber, &event);
    }
    trp_free(members);
    subscribers_tell_role(list, d, subscriber, trp_cluster_leader(list->cluster),
                          TROUPE_MEMBER_EVENT_LEADER_CHANGED);
    subscribers_tell_role(list, d, subscriber, trp_cluster_oldest(list->cluster),
                          TROUPE_MEMBER_EVENT_OLDEST_CHANGED);
    return TROUPE_OK;
}

/* ---- the actor -------------------------------------------------------------------------------- */

static troupe_err_t subscribers_init(troupe_actor_t *self, void *state, const void *args)
{
    subscribers_t *list = state;
    (void)self;
    memcpy(&list->cluster, args, sizeof(trp_cluster_t *));
    list->items = trp_calloc(SUBSCRIBERS_MAX, sizeof(*list->items));
    if (list->items == NULL) {
        return TROUPE_ENOMEM;
    }
    list->cluster->subscribers = list;
    return TROUPE_OK;
}

static troupe_err_t subscribers_add(troupe_actor_t *self, subscribers_t *list,
                                    const subscriber_t *subscriber)
{
    size_t at = subscribers_find(list, subscriber->ref);
    if (at == SUBSCRIBERS_MAX) {
        TRP_LOG(list->cluster->log, TROUPE_LOG_CLUSTER, TROUPE_LOG_ERROR, "cluster.subscribers",
                "reason=%s max=%d", "too many", SUBSCRIBERS_MAX);
        return TROUPE_OK;
    }
    troupe_err_t err = troupe_watch(self, subscriber->ref);
    if (err != TROUPE_OK) {
        return err;
    }
    list->len = at == list->len ? at + 1 : list->len;
    list->items[at] = *subscriber;
    return subscribers_tell_all(list, self->dispatcher, subscriber);
}

static troupe_err_t subscribers_receive(troupe_actor_t *self, void *state,
                                        const troupe_message_t *message)
{
    subscribers_t *list = state;
    trp_subscribe_message_t wish;
    if (message->type.id != list->cluster->subscribe_type.id || message->size != sizeof(wish)) {
        return TROUPE_OK;
    }
    memcpy(&wish, message->body, sizeof(wish));
    subscriber_t subscriber = {.ref = {wish.node, wish.id}, .mask = (uint32_t)wish.mask};
    if (wish.node != list->cluster->runtime->uid) {
        return TROUPE_OK; /* Events are for actors of this node. */
    }
    if (subscriber.mask != 0) {
        return subscribers_add(self, list, &subscriber);
    }
    size_t at = subscribers_find(list, subscriber.ref);
    if (at < list->len) {
        troupe_unwatch(self, subscriber.ref);
        subscribers_remove(list, at);
    }
    return TROUPE_OK;
}

static troupe_err_t subscribers_signal(troupe_actor_t *self, void *state,
                                       const troupe_signal_t *signal)
{
    subscribers_t *list = state;
    (void)self;
    if (signal->kind == TROUPE_SIGNAL_TERMINATED) {
        size_t at = subscribers_find(list, signal->who);
        if (at < list->len) {
            subscribers_remove(list, at);
        }
    }
    return TROUPE_OK;
}

static void subscribers_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    subscribers_t *list = state;
    (void)self;
    (void)reason;
    list->cluster->subscribers = NULL;
    trp_free(list->items);
    list->items = NULL;
}

static const troupe_behavior_t subscribers_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "cluster",
    .state_size = sizeof(subscribers_t),
    .init = subscribers_init,
    .receive = subscribers_receive,
    .signal = subscribers_signal,
    .stop = subscribers_stop,
};

troupe_err_t trp_subscribers_start(trp_cluster_t *cluster)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t ref = troupe_ref_none();
    options.name = "cluster";
    options.args = &cluster;
    options.args_size = sizeof(trp_cluster_t *);
    troupe_err_t err =
        trp_runtime_spawn_system(cluster->runtime, &subscribers_behavior, &options, &ref);
    if (err == TROUPE_OK) {
        /* Release: pairs with the acquire in trp_cluster_actor. */
        atomic_store_explicit(&cluster->actor, ref.id, memory_order_release);
    }
    return err;
}
