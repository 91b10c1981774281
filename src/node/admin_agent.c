/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Carries out orders. An order that fails is answered with its error; the agent itself never fails. */

#include "node/admin_agent.h"

#include <string.h>

#include <troupe/ask.h>
#include <troupe/lookup.h>
#include <troupe/pubsub.h>

#include "actor/runtime.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/memory.h"
#include "node/admin_wire.h"
#include "node/node_private.h"

typedef struct agent_args {
    trp_node_t *node;
    troupe_ref_t inbox;
    troupe_type_t type; /* Of orders and notes. */
} agent_args_t;

typedef struct agent {
    agent_args_t given;
    uint64_t messages; /* Passed on so far. */
    trp_buf_t out;
} agent_t;

static troupe_err_t agent_init(troupe_actor_t *self, void *state, const void *args)
{
    agent_t *agent = state;
    (void)self;
    memcpy(&agent->given, args, sizeof(agent->given));
    trp_buf_init(&agent->out, TRP_ADMIN_ORDER_SIZE_MAX);
    return TROUPE_OK;
}

static void agent_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    agent_t *agent = state;
    (void)self;
    (void)reason;
    trp_buf_fini(&agent->out);
}

/* ---- notes ------------------------------------------------------------------------------------- */

/* A note that can't be sent is lost: the client's deadline tells it. */
static void agent_note(troupe_actor_t *self, agent_t *agent, const trp_admin_note_t *note)
{
    troupe_err_t err = trp_admin_note_write(note, &agent->out);
    if (err == TROUPE_OK) {
        err = troupe_tell(self, agent->given.inbox, agent->given.type, agent->out.data,
                          agent->out.size);
    }
    TRP_LOG(err != TROUPE_OK ? &agent->given.node->log : NULL, TROUPE_LOG_NODE, TROUPE_LOG_DEBUG,
            "admin.note_lost", "error=%s", troupe_err_name(err));
}

static void agent_note_done(troupe_actor_t *self, agent_t *agent, troupe_err_t err)
{
    trp_admin_note_t note;
    memset(&note, 0, sizeof(note));
    note.kind = TRP_ADMIN_NOTE_DONE;
    note.error = (uint32_t)err;
    agent_note(self, agent, &note);
}

/* The body as bytes: objects are encoded, and what is longer than is shown is cut. */
static troupe_err_t agent_take_body(const agent_t *agent, const troupe_message_t *message,
                                    uint8_t *out, trp_admin_note_t *note)
{
    const trp_type_t *type =
        trp_types_at(&agent->given.node->base.runtime->types, message->type.id);
    size_t size = message->size;
    const char *name = troupe_type_name(&agent->given.node->base, message->type);
    note->type = trp_view_from_string(name != NULL ? name : "");
    note->sender = message->sender;
    if (type != NULL && type->encode != NULL) {
        troupe_err_t err = type->encode(message->body, out, TRP_ADMIN_BODY_SIZE_MAX, &size);
        if (err != TROUPE_OK || size > TRP_ADMIN_BODY_SIZE_MAX) {
            note->is_cut = true;
            return TROUPE_OK; /* What an encoder wrote in part means nothing. */
        }
        note->body = trp_view_make(out, size);
        return TROUPE_OK;
    }
    note->is_cut = size > TRP_ADMIN_BODY_SIZE_MAX;
    note->body = trp_view_make(message->body, note->is_cut ? TRP_ADMIN_BODY_SIZE_MAX : size);
    return TROUPE_OK;
}

static troupe_err_t agent_note_message(troupe_actor_t *self, agent_t *agent,
                                       const troupe_message_t *message, trp_admin_note_t *note)
{
    uint8_t *encoded = trp_alloc(TRP_ADMIN_BODY_SIZE_MAX);
    if (encoded == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = agent_take_body(agent, message, encoded, note);
    if (err == TROUPE_OK) {
        agent_note(self, agent, note);
    }
    trp_free(encoded);
    return err;
}

/* ---- orders ------------------------------------------------------------------------------------ */

static troupe_err_t agent_publish_confirmed(troupe_actor_t *self, const trp_admin_order_t *order,
                                            troupe_topic_t topic, troupe_body_t *body)
{
    troupe_confirm_options_t options = TROUPE_CONFIRM_OPTIONS_INIT;
    options.timeout_ms = order->timeout_ms;
    options.wait_ms = order->wait_ms;
    options.to_groups = (order->flags & TRP_ADMIN_FLAG_GROUPS) != 0;
    return troupe_publish_confirmed(self, topic, &options, body);
}

static troupe_err_t agent_publish_body(troupe_actor_t *self, const trp_admin_order_t *order,
                                       troupe_topic_t topic)
{
    troupe_body_t *body = NULL;
    troupe_type_t type = {order->type};
    troupe_err_t err = troupe_body_create(self, type, order->body.data, order->body.size, &body);
    if (err != TROUPE_OK) {
        return err;
    }
    if ((order->flags & TRP_ADMIN_FLAG_CONFIRM) != 0) {
        err = agent_publish_confirmed(self, order, topic, body);
    } else if ((order->flags & TRP_ADMIN_FLAG_GROUPS) != 0) {
        err = troupe_publish_to_groups(self, topic, TROUPE_ROUTING_DEFAULT, 0, body);
    } else {
        err = troupe_publish_shared(self, topic, body);
    }
    troupe_body_unref(&body);
    return err;
}

static troupe_err_t agent_publish(troupe_actor_t *self, const trp_admin_order_t *order)
{
    troupe_node_t *node = troupe_actor_node(self);
    troupe_topic_t topic;
    troupe_err_t err = troupe_topic_open(node, order->topic.data, order->topic.size, NULL, &topic);
    if (err != TROUPE_OK) {
        return err;
    }
    err = agent_publish_body(self, order, topic);
    troupe_topic_close(node, &topic);
    return err;
}

static troupe_err_t agent_subscribe(troupe_actor_t *self, const trp_admin_order_t *order)
{
    troupe_node_t *node = troupe_actor_node(self);
    troupe_subscribe_options_t options = TROUPE_SUBSCRIBE_OPTIONS_INIT;
    troupe_topic_t topic;
    options.with_topic = true;
    options.cluster = true;
    options.timeout_ms = order->timeout_ms;
    if (order->group.size > 0) {
        options.group = order->group.data;
        options.group_size = order->group.size;
    }
    if ((order->flags & TRP_ADMIN_FLAG_PATTERN) != 0) {
        return troupe_subscribe_pattern(self, order->topic.data, order->topic.size, &options);
    }
    troupe_err_t err = troupe_topic_open(node, order->topic.data, order->topic.size, NULL, &topic);
    if (err != TROUPE_OK) {
        return err;
    }
    err = troupe_subscribe(self, topic, &options);
    troupe_topic_close(node, &topic);
    return err;
}

static troupe_err_t agent_on_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                   void *context)
{
    agent_t *agent = state;
    trp_admin_note_t note;
    (void)context;
    memset(&note, 0, sizeof(note));
    note.kind = TRP_ADMIN_NOTE_REPLY;
    note.error = (uint32_t)reply->error;
    if (reply->error != TROUPE_OK) {
        agent_note(self, agent, &note);
        return TROUPE_OK;
    }
    troupe_err_t err = agent_note_message(self, agent, &reply->message, &note);
    if (err != TROUPE_OK) {
        agent_note_done(self, agent, err);
    }
    return TROUPE_OK;
}

static troupe_err_t agent_on_lookup(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                    void *context)
{
    agent_t *agent = state;
    trp_admin_note_t note;
    (void)context;
    memset(&note, 0, sizeof(note));
    note.kind = TRP_ADMIN_NOTE_REPLY;
    note.error = (uint32_t)reply->error;
    if (reply->error == TROUPE_OK) {
        TRP_ASSERT(reply->message.size == sizeof(note.sender));
        memcpy(&note.sender, reply->message.body, sizeof(note.sender));
    }
    agent_note(self, agent, &note);
    return TROUPE_OK;
}

static troupe_err_t agent_look_up(troupe_actor_t *self, const trp_admin_order_t *order)
{
    char address[TROUPE_ADDRESS_SIZE_MAX];
    if (order->topic.size >= sizeof(address)) {
        return TROUPE_EINVAL;
    }
    memcpy(address, order->topic.data, order->topic.size);
    address[order->topic.size] = '\0';
    return troupe_lookup_at(self, address, order->timeout_ms, agent_on_lookup, NULL);
}

static troupe_err_t agent_select(troupe_actor_t *self, const trp_admin_order_t *order)
{
    char pattern[TROUPE_PATH_SIZE_MAX];
    troupe_type_t type = {order->type};
    if (order->topic.size >= sizeof(pattern)) {
        return TROUPE_ETOOBIG;
    }
    memcpy(pattern, order->topic.data, order->topic.size);
    pattern[order->topic.size] = '\0';
    return troupe_tell_selection(self, pattern, type, order->body.data, order->body.size);
}

/* `ret_is_done` is false when the answer comes later. */
static troupe_err_t agent_obey(troupe_actor_t *self, const trp_admin_order_t *order,
                               bool *ret_is_done)
{
    troupe_type_t type = {order->type};
    *ret_is_done = true;
    switch (order->kind) {
    case TRP_ADMIN_ORDER_PUB:
        *ret_is_done = (order->flags & TRP_ADMIN_FLAG_CONFIRM) == 0;
        return agent_publish(self, order);
    case TRP_ADMIN_ORDER_SUB:
        *ret_is_done = false;
        return agent_subscribe(self, order);
    case TRP_ADMIN_ORDER_TELL:
        return troupe_tell(self, order->to, type, order->body.data, order->body.size);
    case TRP_ADMIN_ORDER_LOOKUP:
        *ret_is_done = false;
        return agent_look_up(self, order);
    case TRP_ADMIN_ORDER_SELECT:
        return agent_select(self, order);
    case TRP_ADMIN_ORDER_ASK:
        *ret_is_done = false;
        return troupe_ask(self, order->to, type, order->body.data, order->body.size,
                          order->timeout_ms, agent_on_reply, NULL);
    case TRP_ADMIN_ORDER_END:
        *ret_is_done = false;
        troupe_stop(self);
        return TROUPE_OK;
    default:
        return TROUPE_EINVAL;
    }
}

static void agent_take_order(troupe_actor_t *self, agent_t *agent, const troupe_message_t *message)
{
    trp_admin_order_t order;
    bool is_done = true;
    troupe_err_t err = trp_admin_order_read(trp_view_make(message->body, message->size), &order);
    if (err == TROUPE_OK) {
        err = agent_obey(self, &order, &is_done);
    }
    if (is_done || err != TROUPE_OK) {
        agent_note_done(self, agent, err);
    }
}

/* ---- receiving ---------------------------------------------------------------------------------- */

static void agent_take_published(troupe_actor_t *self, agent_t *agent,
                                 const troupe_published_t *published)
{
    trp_admin_note_t note;
    memset(&note, 0, sizeof(note));
    note.kind = TRP_ADMIN_NOTE_DONE;
    /* That nobody took it is an answer, not an error. */
    note.error = published->error == TROUPE_ENOSUBSCRIBER ? TROUPE_OK : published->error;
    note.subscribers = published->subscribers;
    note.nodes = published->nodes;
    agent_note(self, agent, &note);
}

static void agent_take_message(troupe_actor_t *self, agent_t *agent,
                               const troupe_message_t *message)
{
    char name[TROUPE_TOPIC_SIZE_MAX];
    troupe_topic_t topic;
    trp_admin_note_t note;
    size_t size = 0;
    memset(&note, 0, sizeof(note));
    note.kind = TRP_ADMIN_NOTE_MESSAGE;
    agent->messages += 1;
    note.number = agent->messages;
    if (troupe_message_topic(self, &topic) == TROUPE_OK &&
        troupe_topic_name(troupe_actor_node(self), topic, name, sizeof(name), &size) == TROUPE_OK) {
        note.topic = trp_view_make(name, size);
    }
    /* Without memory it is a gap in the numbers, which the client is told of. */
    (void)!agent_note_message(self, agent, message, &note);
}

static troupe_err_t agent_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    agent_t *agent = state;
    bool is_order = message->type.id == agent->given.type.id &&
                    troupe_ref_equal(message->sender, agent->given.inbox);
    if (is_order) {
        agent_take_order(self, agent, message);
    } else if (message->type.id == TROUPE_TYPE_PUBLISHED.id &&
               message->size == sizeof(troupe_published_t)) {
        agent_take_published(self, agent, message->body);
    } else if (message->type.id == TROUPE_TYPE_PUBSUB_ACK.id &&
               message->size == sizeof(troupe_pubsub_ack_t)) {
        const troupe_pubsub_ack_t *ack = message->body;
        /* Members that were slow to answer hear of the subscription by gossip all the same. */
        troupe_err_t err = (troupe_err_t)ack->error;
        agent_note_done(self, agent, err == TROUPE_ETIMEOUT ? TROUPE_OK : err);
    } else {
        agent_take_message(self, agent, message);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t agent_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "troupe.admin_agent",
    .state_size = sizeof(agent_t),
    .init = agent_init,
    .receive = agent_receive,
    .stop = agent_stop,
};

troupe_err_t trp_admin_agent_spawn(trp_node_t *node, troupe_ref_t inbox, troupe_type_t type,
                                   troupe_ref_t *ret_agent)
{
    TRP_ASSERT(node != NULL);
    agent_args_t args = {node, inbox, type};
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.args = &args;
    options.args_size = sizeof(args);
    return trp_runtime_spawn_system(node->base.runtime, &agent_behavior, &options, ret_agent);
}
