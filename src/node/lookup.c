/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Looks up actors of other members. */

#include "node/lookup.h"

#include <string.h>

#include "actor/answer.h"
#include "actor/deliver.h"
#include "actor/names.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "net/link/link.h"
#include "node/node_private.h"

#define LOOKUP_TYPE_NAME "troupe.lookup"
#define LOOKUP_SCHEME "troupe://"
#define LOOKUP_REQUEST_SIZE_MAX (1u + 8u + TROUPE_PATH_SIZE_MAX)
#define LOOKUP_REPLY_SIZE (1u + 3u * 8u)

/* What the service passes on to the actor when a reply has come. */
typedef struct lookup_found {
    uint64_t token;
    uint64_t node;
    uint64_t id;
    uint64_t error;
} lookup_found_t;

typedef struct lookup_waiting {
    uint64_t token; /* 0: nobody waits here. */
    troupe_ref_t asker;
    uint64_t node; /* Who was asked: nobody else may answer. */
} lookup_waiting_t;

typedef struct lookup {
    trp_node_t *node;
    uint64_t token_last;
    lookup_waiting_t *waiting; /* By token % TRP_LOOKUP_WAITING_MAX. */
} lookup_t;

/* ---- reading ------------------------------------------------------------------------------------- */

troupe_err_t trp_lookup_parse(const char *text, trp_node_address_t *ret_address,
                              const char **ret_path)
{
    char host[TRP_NODE_ADDRESS_HOST_SIZE + sizeof(":65535")];
    size_t prefix = sizeof(LOOKUP_SCHEME) - 1;
    TRP_ASSERT(text != NULL);
    if (strncmp(text, LOOKUP_SCHEME, prefix) != 0 ||
        strnlen(text, TROUPE_ADDRESS_SIZE_MAX) == TROUPE_ADDRESS_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    const char *begin = text + prefix;
    const char *slash = strchr(begin, '/');
    if (slash == NULL || strlen(slash) >= TROUPE_PATH_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    const char *at = memchr(begin, '@', (size_t)(slash - begin));
    begin = at != NULL ? at + 1 : begin;
    size_t size = (size_t)(slash - begin);
    if (size >= sizeof(host)) {
        return TROUPE_EINVAL;
    }
    memcpy(host, begin, size);
    host[size] = '\0';
    *ret_path = slash;
    return trp_node_address_parse(host, ret_address);
}

troupe_err_t trp_lookup_read(trp_view_t data, trp_lookup_message_t *ret_message)
{
    trp_lookup_message_t message;
    memset(&message, 0, sizeof(message));
    troupe_err_t err = trp_view_take_u8(&data, &message.kind);
    if (err == TROUPE_OK) {
        err = trp_view_take_u64(&data, &message.token);
    }
    if (err == TROUPE_OK && message.kind == TRP_LOOKUP_REPLY) {
        err = trp_view_take_u64(&data, &message.error);
        if (err == TROUPE_OK) {
            err = trp_view_take_u64(&data, &message.id);
        }
    } else if (err == TROUPE_OK && message.kind == TRP_LOOKUP_REQUEST) {
        err = trp_view_take_view(&data, data.size, &message.path);
    }
    bool is_known = message.kind == TRP_LOOKUP_REQUEST || message.kind == TRP_LOOKUP_REPLY;
    if (err != TROUPE_OK || !is_known || data.size > 0 ||
        message.path.size >= TROUPE_PATH_SIZE_MAX) {
        return TROUPE_EPROTOCOL;
    }
    *ret_message = message;
    return TROUPE_OK;
}

/* ---- the service ----------------------------------------------------------------------------------- */

static troupe_err_t lookup_resolve(trp_node_t *node, trp_view_t path, uint64_t *ret_id)
{
    char text[TROUPE_PATH_SIZE_MAX];
    if (path.size > 0 && memchr(path.data, '\0', path.size) != NULL) {
        return TROUPE_EINVAL;
    }
    memcpy(text, path.size > 0 ? (const char *)path.data : "", path.size);
    text[path.size] = '\0';
    return trp_names_resolve(&node->base.runtime->names, text, ret_id);
}

static void lookup_serve(trp_node_t *node, uint64_t uid, const trp_lookup_message_t *request)
{
    uint8_t reply[LOOKUP_REPLY_SIZE];
    uint64_t id = 0;
    troupe_err_t err = lookup_resolve(node, request->path, &id);
    reply[0] = TRP_LOOKUP_REPLY;
    trp_store_le64(reply + 1, request->token);
    trp_store_le64(reply + 9, (uint64_t)err);
    trp_store_le64(reply + 17, id);
    /* A reply that can't be sent is a lookup that times out. */
    (void)!trp_link_control_send(node->link, uid, TRP_SERVICE_LOOKUP, reply, sizeof(reply));
}

static void lookup_on_service(void *context, trp_dispatcher_t *d, uint64_t uid, trp_view_t data)
{
    trp_node_t *node = context;
    trp_lookup_message_t message;
    if (trp_lookup_read(data, &message) != TROUPE_OK) {
        TRP_LOG(&node->log, TROUPE_LOG_NODE, TROUPE_LOG_DEBUG, "lookup.malformed",
                "peer=%016llx size=%zu", (unsigned long long)uid, data.size);
        return;
    }
    if (message.kind == TRP_LOOKUP_REQUEST) {
        lookup_serve(node, uid, &message);
        return;
    }
    lookup_found_t found = {message.token, uid, message.id, message.error};
    trp_incoming_t in;
    memset(&in, 0, sizeof(in));
    in.target = node->lookup.id;
    in.data = &found;
    in.size = sizeof(found);
    in.type = node->lookup_type.id;
    in.origin = TRP_ORIGIN_MADE;
    trp_deliver_user(d, &in);
}

/* ---- the actor ----------------------------------------------------------------------------------------- */

static troupe_err_t lookup_init(troupe_actor_t *self, void *state, const void *args)
{
    lookup_t *lookup = state;
    (void)self;
    memcpy(&lookup->node, args, sizeof(lookup->node));
    lookup->waiting = trp_calloc(TRP_LOOKUP_WAITING_MAX, sizeof(*lookup->waiting));
    return lookup->waiting != NULL ? TROUPE_OK : TROUPE_ENOMEM;
}

static void lookup_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    lookup_t *lookup = state;
    (void)self;
    (void)reason;
    trp_free(lookup->waiting);
    lookup->waiting = NULL;
}

static void lookup_answer(troupe_actor_t *self, const lookup_t *lookup, troupe_ref_t asker,
                          troupe_err_t err, troupe_ref_t ref)
{
    if (err == TROUPE_OK) {
        err = troupe_tell(self, asker, lookup->node->lookup_type, &ref, sizeof(ref));
    }
    if (err != TROUPE_OK) {
        trp_answer_fail(self->dispatcher, asker, err);
    }
}

/* Asks the member; its answer comes by the service. */
static troupe_err_t lookup_ask_member(lookup_t *lookup, uint64_t uid, const char *path,
                                      troupe_ref_t asker)
{
    uint8_t request[LOOKUP_REQUEST_SIZE_MAX];
    size_t size = strlen(path);
    TRP_ASSERT(size < TROUPE_PATH_SIZE_MAX);
    lookup->token_last += 1;
    request[0] = TRP_LOOKUP_REQUEST;
    trp_store_le64(request + 1, lookup->token_last);
    memcpy(request + 9, path, size); /* NOLINT(bugprone-not-null-terminated-result): by size. */
    troupe_err_t err =
        trp_link_control_send(lookup->node->link, uid, TRP_SERVICE_LOOKUP, request, 9 + size);
    if (err == TROUPE_OK) {
        lookup->waiting[lookup->token_last % TRP_LOOKUP_WAITING_MAX] =
            (lookup_waiting_t){lookup->token_last, asker, uid};
    }
    return err;
}

static void lookup_begin(troupe_actor_t *self, lookup_t *lookup, const troupe_message_t *message)
{
    char text[TROUPE_ADDRESS_SIZE_MAX];
    trp_node_address_t address;
    const char *path = NULL;
    uint64_t uid = 0;
    uint64_t id = 0;
    troupe_err_t err = TROUPE_EINVAL;
    if (message->size < sizeof(text)) {
        memcpy(text, message->body, message->size);
        text[message->size] = '\0';
        err = trp_lookup_parse(text, &address, &path);
    }
    if (err == TROUPE_OK) {
        err = trp_node_find_member(lookup->node, &address, &uid);
    }
    if (err == TROUPE_OK && uid != lookup->node->uid) {
        err = lookup_ask_member(lookup, uid, path, message->sender);
        if (err == TROUPE_OK) {
            return;
        }
    } else if (err == TROUPE_OK) {
        err = lookup_resolve(lookup->node, trp_view_from_string(path), &id);
    }
    lookup_answer(self, lookup, message->sender, err, (troupe_ref_t){uid, id});
}

static void lookup_end(troupe_actor_t *self, lookup_t *lookup, const lookup_found_t *found)
{
    lookup_waiting_t *waiting = &lookup->waiting[found->token % TRP_LOOKUP_WAITING_MAX];
    if (found->token == 0 || waiting->token != found->token || waiting->node != found->node) {
        return; /* It has given way to a newer one, or somebody answers what he wasn't asked. */
    }
    waiting->token = 0;
    troupe_err_t err = found->error == TROUPE_OK ? TROUPE_OK : TROUPE_ENOENT;
    lookup_answer(self, lookup, waiting->asker, err, (troupe_ref_t){found->node, found->id});
}

static troupe_err_t lookup_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    lookup_t *lookup = state;
    if (message->type.id != lookup->node->lookup_type.id) {
        return TROUPE_OK;
    }
    if (!troupe_ref_is_none(message->sender)) {
        lookup_begin(self, lookup, message);
    } else if (message->size == sizeof(lookup_found_t)) {
        lookup_end(self, lookup, message->body);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t lookup_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "troupe.lookup",
    .state_size = sizeof(lookup_t),
    .init = lookup_init,
    .receive = lookup_receive,
    .stop = lookup_stop,
};

/* ---- life ---------------------------------------------------------------------------------------------- */

troupe_err_t trp_lookup_init(trp_node_t *node)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = LOOKUP_TYPE_NAME;
    options.size_max = TROUPE_ADDRESS_SIZE_MAX;
    troupe_err_t err = troupe_type_register(&node->base, &options, &node->lookup_type);
    if (err != TROUPE_OK || node->link == NULL) {
        return err;
    }
    return trp_link_service_register(node->link, TRP_SERVICE_LOOKUP,
                                     trp_runtime_system_index(node->base.runtime),
                                     lookup_on_service, node);
}

troupe_err_t trp_lookup_start(trp_node_t *node)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.name = "lookup";
    options.args = &node;
    options.args_size = sizeof(node);
    return trp_runtime_spawn_system(node->base.runtime, &lookup_behavior, &options, &node->lookup);
}

troupe_err_t troupe_lookup_at(troupe_actor_t *self, const char *address, uint32_t timeout_ms,
                              troupe_reply_fn on_reply, void *context)
{
    trp_node_address_t parsed;
    const char *path = NULL;
    if (self == NULL || address == NULL || on_reply == NULL) {
        return TROUPE_EINVAL;
    }
    troupe_err_t err = trp_lookup_parse(address, &parsed, &path);
    if (err != TROUPE_OK) {
        return err;
    }
    const trp_node_t *node = trp_node_of(troupe_actor_node(self));
    return troupe_ask(self, node->lookup, node->lookup_type, address, strlen(address), timeout_ms,
                      on_reply, context);
}
