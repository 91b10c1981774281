/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Subscribing and unsubscribing on the subscriber's own dispatcher. */

#include "pubsub/subscribe.h"

#include <string.h>

#include "actor/send.h"
#include "base/assert.h"
#include "base/memory.h"
#include "pubsub/confirm.h"
#include "pubsub/tasks.h"

#define SUBSCRIBE_TIMEOUT_MS 5000u
#define SUBSCRIBE_QUEUE_LEN 1024u

/* ---- telling --------------------------------------------------------------------------------- */

/* Tells the mediator how many subscribers there are here now. */
static troupe_err_t subscribe_place(trp_site_t *site, const trp_atom_t *name,
                                    const trp_atom_t *group, const trp_place_message_t *wish)
{
    trp_place_message_t place = *wish;
    trp_atoms_t *names = &site->pubsub->names;
    place.name = trp_atoms_ref(names, name);
    place.group = group != NULL ? trp_atoms_ref(names, group) : NULL;
    place.weight = trp_subscription_count(&site->replica, name, group);
    place.replica = site->d->index;
    troupe_err_t err = trp_dispatcher_post(site->d, trp_runtime_system_index(site->pubsub->runtime),
                                           trp_mediator_place, &place, sizeof(place));
    if (err != TROUPE_OK) {
        trp_atoms_unref(names, &place.name);
        trp_atoms_unref(names, &place.group);
    }
    return err;
}

static void subscribe_tell(trp_site_t *site, const trp_op_t *op, const trp_acked_message_t *acked)
{
    troupe_pubsub_ack_t ack = {.tag = op->tag, .topic = op->topic, .answer = op->answer};
    if (op->is_silent || trp_cell_find(site->d, op->actor) == NULL) {
        return;
    }
    ack.error = acked->error;
    ack.nodes = acked->nodes;
    ack.missing_len = acked->missing_len;
    memcpy(ack.missing, acked->missing, sizeof(ack.missing));
    trp_letter_spec_t spec = {trp_dispatcher_ref(site->d, op->actor), 0, TROUPE_TYPE_PUBSUB_ACK,
                              &ack, sizeof(ack)};
    troupe_err_t err = trp_send(site->d, &spec);
    (void)err; /* At the ceiling it is counted as shed. */
}

/* ---- ops ------------------------------------------------------------------------------------- */

static trp_op_t *op_find(const trp_site_t *site, uint64_t token)
{
    const uint64_t *value = trp_map_find(&site->ops, token);
    return value != NULL ? (trp_op_t *)(uintptr_t)*value : NULL;
}

static troupe_err_t op_create(trp_site_t *site, const trp_op_t *wish, trp_op_t **ret_op)
{
    if (site->ops.len >= TRP_PUBSUB_OPS_MAX) {
        return TROUPE_EFULL;
    }
    trp_op_t *op = trp_alloc(sizeof(*op));
    if (op == NULL) {
        return TROUPE_ENOMEM;
    }
    *op = *wish;
    op->token = ++site->next_token;
    troupe_err_t err = trp_map_put(&site->ops, op->token, (uint64_t)(uintptr_t)op);
    if (err != TROUPE_OK) {
        trp_free(op);
        return err;
    }
    if (op->subscription != NULL) {
        op->subscription->op = op;
    }
    *ret_op = op;
    return TROUPE_OK;
}

static void op_free(trp_site_t *site, trp_op_t *op)
{
    if (op->subscription != NULL) {
        op->subscription->op = NULL;
    }
    (void)trp_map_remove(&site->ops, op->token, NULL);
    trp_free(op);
}

void trp_site_free_ops(trp_site_t *site)
{
    TRP_MAP_FOREACH(entry, &site->ops)
    {
        trp_free((trp_op_t *)(uintptr_t)entry->value);
    }
    trp_map_fini(&site->ops);
}

static void subscribe_wake(trp_site_t *site, const trp_atom_t *name)
{
    trp_replica_topic_t *topic = trp_replica_at(&site->replica, name->id, name->generation);
    if (topic != NULL) {
        trp_confirm_wake(site, topic);
    }
}

/* The subscription turns active in the moment in which its acknowledgement enters the mailbox. */
void trp_site_acked(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_acked_message_t acked;
    trp_site_t *site = trp_site_of(d);
    TRP_ASSERT(size == sizeof(acked));
    memcpy(&acked, payload, sizeof(acked));
    trp_op_t *op = site != NULL ? op_find(site, acked.token) : NULL;
    if (op == NULL) {
        return;
    }
    trp_subscription_t *subscription = op->subscription;
    subscribe_tell(site, op, &acked);
    if (subscription != NULL && subscription->state == TRP_SUBSCRIPTION_PENDING) {
        trp_subscription_activate(&site->replica, subscription);
        const trp_atom_t *name = trp_atoms_ref(&site->pubsub->names, subscription->name);
        op_free(site, op);
        subscribe_wake(site, name);
        trp_atoms_unref(&site->pubsub->names, &name);
        return;
    }
    op_free(site, op);
}

/* Fetches the newest snapshot of a topic that is used here, and says so. */
void trp_site_changed(trp_dispatcher_t *d, void *payload, size_t size)
{
    trp_changed_message_t changed;
    trp_resolved_t resolved;
    trp_site_t *site = trp_site_of(d);
    TRP_ASSERT(size == sizeof(changed));
    memcpy(&changed, payload, sizeof(changed));
    if (site == NULL) {
        return;
    }
    if (changed.must_forget) {
        (void)trp_replica_forget(&site->replica, changed.id, changed.generation);
    } else if (trp_replica_at(&site->replica, changed.id, changed.generation) != NULL &&
               trp_directory_resolve_id(&site->pubsub->directory, site->replica.number, changed.id,
                                        changed.generation, &resolved) == TROUPE_OK) {
        trp_replica_topic_t *topic =
            trp_replica_apply(&site->replica, changed.id, changed.generation, resolved.targets);
        trp_atoms_unref(&site->pubsub->names, &resolved.name);
        trp_confirm_wake(site, topic);
    }
    trp_applied_message_t applied = {changed.sequence, d->index};
    troupe_err_t err = trp_dispatcher_post(d, trp_runtime_system_index(site->pubsub->runtime),
                                           trp_mediator_applied, &applied, sizeof(applied));
    (void)err; /* The next one says as much. */
}

/* ---- removing -------------------------------------------------------------------------------- */

static void subscribe_remove(trp_site_t *site, trp_subscription_t *subscription)
{
    static const trp_place_message_t no_wish = {.token = 0};
    static const trp_acked_message_t canceled = {.error = TROUPE_ECANCELED};
    trp_op_t *op = subscription->op;
    if (op != NULL) {
        subscribe_tell(site, op, &canceled);
        op_free(site, op);
    }
    trp_atoms_t *names = &site->pubsub->names;
    const trp_atom_t *name = trp_atoms_ref(names, subscription->name);
    const trp_atom_t *group =
        subscription->group != NULL ? trp_atoms_ref(names, subscription->group) : NULL;
    trp_subscription_remove(&site->replica, subscription);
    troupe_err_t err = subscribe_place(site, name, group, &no_wish);
    (void)err; /* Publishes then still come here, and are counted as without a subscriber. */
    subscribe_wake(site, name);
    trp_atoms_unref(names, &name);
    trp_atoms_unref(names, &group);
}

void trp_site_ended_fn(void *context, trp_dispatcher_t *d, uint64_t id)
{
    (void)context;
    trp_site_t *site = trp_site_of(d);
    if (site == NULL || site->replica.subscription_len == 0) {
        return;
    }
    trp_subscription_t *subscription = trp_subscription_first(&site->replica, id);
    while (subscription != NULL) {
        trp_subscription_t *next = subscription->actor_next;
        trp_op_t *op = subscription->op;
        if (op != NULL) {
            op->is_silent = true; /* There is nobody left to be told. */
        }
        subscribe_remove(site, subscription);
        subscription = next;
    }
}

/* ---- the two calls --------------------------------------------------------------------------- */

/* What a call is about; the names are borrowed. */
typedef struct subscribe_call {
    trp_site_t *site;
    const troupe_actor_t *self;
    const troupe_subscribe_options_t *options;
    const trp_atom_t *name;
    const trp_atom_t *group;
    troupe_pubsub_answer_t answer;
    bool with_topic;
} subscribe_call_t;

static void subscribe_make_op(const subscribe_call_t *call, trp_op_t *ret_op)
{
    memset(ret_op, 0, sizeof(*ret_op));
    ret_op->actor = call->self->id;
    ret_op->tag = call->options->tag;
    ret_op->topic = trp_replica_handle(call->name);
    ret_op->answer = (uint32_t)call->answer;
    ret_op->is_silent = call->options->no_ack;
}

static troupe_err_t subscribe_add(const subscribe_call_t *call, trp_subscription_t **ret_found,
                                  bool *ret_is_new)
{
    const troupe_subscribe_options_t *options = call->options;
    trp_subscribing_t subscribing = {
        .actor = call->self->id,
        .name = call->name,
        .group = call->group,
        .slow = (uint8_t)options->slow,
        .with_topic = call->with_topic,
        .queue_len_max = options->queue_len_max != 0 ? options->queue_len_max : SUBSCRIBE_QUEUE_LEN,
    };
    troupe_err_t err = trp_subscription_add(&call->site->replica, &subscribing, ret_found);
    *ret_is_new = err == TROUPE_OK;
    return err == TROUPE_EEXIST ? TROUPE_OK : err;
}

static troupe_err_t subscribe_enter(const subscribe_call_t *call)
{
    trp_site_t *site = call->site;
    trp_subscription_t *subscription = NULL;
    trp_op_t wish;
    trp_op_t *op = NULL;
    bool is_new = false;
    troupe_err_t err = subscribe_add(call, &subscription, &is_new);
    if (err != TROUPE_OK) {
        return err;
    }
    subscribe_make_op(call, &wish);
    wish.subscription = is_new ? subscription : NULL;
    err = op_create(site, &wish, &op);
    if (err == TROUPE_OK) {
        trp_place_message_t place = {.token = op->token, .is_cluster = call->options->cluster};
        place.timeout_ms =
            call->options->timeout_ms != 0 ? call->options->timeout_ms : SUBSCRIBE_TIMEOUT_MS;
        err = subscribe_place(site, call->name, call->group, &place);
    }
    if (err != TROUPE_OK) {
        if (op != NULL) {
            op_free(site, op);
        }
        if (is_new) {
            trp_subscription_remove(&site->replica, subscription);
        }
    }
    return err;
}

/* The acknowledgement goes behind what is queued already, and nothing comes after it. */
static troupe_err_t subscribe_leave(const subscribe_call_t *call)
{
    trp_acked_message_t acked = {.error = TROUPE_OK, .nodes = 1};
    trp_op_t op;
    trp_subscription_t *subscription =
        trp_subscription_find(&call->site->replica, call->self->id, call->name, call->group);
    if (subscription != NULL) {
        subscribe_remove(call->site, subscription);
    } else {
        acked.error = TROUPE_ENOENT;
    }
    subscribe_make_op(call, &op);
    subscribe_tell(call->site, &op, &acked);
    return TROUPE_OK;
}

static troupe_err_t subscribe_run(subscribe_call_t *call)
{
    const troupe_subscribe_options_t *options = call->options;
    trp_atoms_t *names = &call->site->pubsub->names;
    if (options->group != NULL) {
        troupe_err_t err =
            trp_atoms_intern(names, TRP_SPACE_GROUP,
                             trp_view_make(options->group, options->group_size), &call->group);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    bool is_leaving =
        call->answer == TROUPE_PUBSUB_UNSUBSCRIBED || call->answer == TROUPE_PUBSUB_REMOVED;
    troupe_err_t err = is_leaving ? subscribe_leave(call) : subscribe_enter(call);
    trp_atoms_unref(names, &call->group);
    return err;
}

/* ---- public ---------------------------------------------------------------------------------- */

static const troupe_subscribe_options_t subscribe_defaults = TROUPE_SUBSCRIBE_OPTIONS_INIT;

static troupe_err_t subscribe_begin(const troupe_actor_t *self,
                                    const troupe_subscribe_options_t *options,
                                    troupe_pubsub_answer_t answer, subscribe_call_t *ret_call)
{
    memset(ret_call, 0, sizeof(*ret_call));
    ret_call->self = self;
    ret_call->options = options != NULL ? options : &subscribe_defaults;
    ret_call->answer = answer;
    ret_call->with_topic = ret_call->options->with_topic;
    if (ret_call->options->size != sizeof(*options) ||
        (unsigned)ret_call->options->slow > TROUPE_SLOW_KEEP_LATEST) {
        return TROUPE_EINVAL;
    }
    return trp_site_get(self, &ret_call->site);
}

static troupe_err_t subscribe_topic(const troupe_actor_t *self, troupe_topic_t handle,
                                    const troupe_subscribe_options_t *options,
                                    troupe_pubsub_answer_t answer)
{
    subscribe_call_t call;
    trp_replica_topic_t *topic = NULL;
    troupe_err_t err = subscribe_begin(self, options, answer, &call);
    if (err == TROUPE_OK) {
        err = handle.generation == 0 ? TROUPE_ENOENT
                                     : trp_replica_resolve_id(&call.site->replica, handle.id,
                                                              handle.generation, &topic);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    call.name = topic->name;
    return subscribe_run(&call);
}

troupe_err_t troupe_subscribe(troupe_actor_t *self, troupe_topic_t topic,
                              const troupe_subscribe_options_t *options)
{
    return subscribe_topic(self, topic, options, TROUPE_PUBSUB_SUBSCRIBED);
}

troupe_err_t troupe_unsubscribe(troupe_actor_t *self, troupe_topic_t topic,
                                const troupe_subscribe_options_t *options)
{
    return subscribe_topic(self, topic, options, TROUPE_PUBSUB_UNSUBSCRIBED);
}

static troupe_err_t subscribe_pattern(const troupe_actor_t *self, trp_view_t pattern,
                                      const troupe_subscribe_options_t *options,
                                      troupe_pubsub_answer_t answer)
{
    subscribe_call_t call;
    troupe_err_t err = subscribe_begin(self, options, answer, &call);
    if (err == TROUPE_OK) {
        err = call.options->group != NULL ? TROUPE_EINVAL : trp_pattern_check(pattern);
    }
    if (err == TROUPE_OK) {
        err = trp_atoms_intern(&call.site->pubsub->names, TRP_SPACE_PATTERN, pattern, &call.name);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    call.with_topic = true;
    err = subscribe_run(&call);
    trp_atoms_unref(&call.site->pubsub->names, &call.name);
    return err;
}

troupe_err_t troupe_subscribe_pattern(troupe_actor_t *self, const void *pattern,
                                      size_t pattern_size,
                                      const troupe_subscribe_options_t *options)
{
    return subscribe_pattern(self, trp_view_make(pattern, pattern_size), options,
                             TROUPE_PUBSUB_SUBSCRIBED);
}

troupe_err_t troupe_unsubscribe_pattern(troupe_actor_t *self, const void *pattern,
                                        size_t pattern_size,
                                        const troupe_subscribe_options_t *options)
{
    return subscribe_pattern(self, trp_view_make(pattern, pattern_size), options,
                             TROUPE_PUBSUB_UNSUBSCRIBED);
}

static troupe_err_t subscribe_path(const troupe_actor_t *self,
                                   const troupe_subscribe_options_t *options,
                                   troupe_pubsub_answer_t answer)
{
    char path[TROUPE_PATH_SIZE_MAX + 1];
    subscribe_call_t call;
    trp_replica_topic_t *topic = NULL;
    troupe_err_t err = subscribe_begin(self, options, answer, &call);
    if (err == TROUPE_OK && call.options->group != NULL) {
        err = TROUPE_EINVAL;
    }
    if (err == TROUPE_OK) {
        err = troupe_path(self, path, sizeof(path));
    }
    if (err == TROUPE_OK) {
        err = trp_replica_resolve(&call.site->replica, TRP_SPACE_PATH, trp_view_from_string(path),
                                  &topic);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    call.name = topic->name;
    return subscribe_run(&call);
}

troupe_err_t troupe_put(troupe_actor_t *self, const troupe_subscribe_options_t *options)
{
    return subscribe_path(self, options, TROUPE_PUBSUB_PUT);
}

troupe_err_t troupe_remove(troupe_actor_t *self, const troupe_subscribe_options_t *options)
{
    return subscribe_path(self, options, TROUPE_PUBSUB_REMOVED);
}
