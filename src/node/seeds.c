/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Gathers seeds, again and again until the node is up. */

#include "node/seeds.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <troupe/offload.h>
#include <troupe/timer.h>

#include "actor/runtime.h"
#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"
#include "node/address.h"
#include "node/file.h"
#include "node/node_cluster.h"
#include "node/node_private.h"

#define SEEDS_LOOK_MS 500u
#define SEEDS_TIMER_KEY 1u

typedef struct seeds_list {
    trp_store_t *store;
    const char *items[TRP_SEEDS_MAX];
    size_t len;
} seeds_list_t;

/* ---- gathering ----------------------------------------------------------------------------------- */

static troupe_err_t seeds_add(seeds_list_t *list, const char *text)
{
    trp_node_address_t address;
    if (list->len == TRP_SEEDS_MAX || trp_node_address_parse(text, &address) != TROUPE_OK) {
        return TROUPE_OK;
    }
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return TROUPE_OK;
        }
    }
    const char *kept = trp_store_keep(list->store, text, strlen(text));
    if (kept == NULL) {
        return TROUPE_ENOMEM;
    }
    list->items[list->len] = kept;
    list->len += 1;
    return TROUPE_OK;
}

static troupe_err_t seeds_add_file(seeds_list_t *list, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    troupe_err_t err = trp_file_read(path, TRP_SETTINGS_FILE_SIZE_MAX, &text, &size);
    if (err != TROUPE_OK) {
        return err == TROUPE_ENOMEM ? err : TROUPE_OK; /* It isn't there yet. */
    }
    char *rest = text;
    for (const char *line = trp_file_next_line(&rest); line != NULL && err == TROUPE_OK;
         line = trp_file_next_line(&rest)) {
        err = seeds_add(list, line);
    }
    trp_free(text);
    return err;
}

static int seeds_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Every node gets the addresses in another order: sorted they give one first seed. */
static troupe_err_t seeds_add_dns(seeds_list_t *list, const char *name)
{
    char texts[TRP_SEEDS_MAX][INET6_ADDRSTRLEN + sizeof("[]:65535")];
    trp_node_address_t address;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    size_t len = 0;
    troupe_err_t err = trp_node_address_parse(name, &address);
    TRP_ASSERT(err == TROUPE_OK); /* The settings were looked over. */
    if (getaddrinfo(address.host, NULL, &hints, &found) != 0) {
        return TROUPE_OK; /* Not known yet, or no name server answers. */
    }
    for (const struct addrinfo *info = found; info != NULL && len < TRP_SEEDS_MAX;
         info = info->ai_next) {
        char host[INET6_ADDRSTRLEN];
        if (getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), NULL, 0,
                        NI_NUMERICHOST) == 0) {
            trp_text_format(texts[len], sizeof(texts[len]),
                            info->ai_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, address.port);
            len += 1;
        }
    }
    freeaddrinfo(found);
    qsort(texts, len, sizeof(texts[0]), seeds_compare);
    for (size_t i = 0; i < len && err == TROUPE_OK; i++) {
        err = seeds_add(list, texts[i]);
    }
    return err;
}

troupe_err_t trp_seeds_gather(const trp_settings_t *settings, trp_store_t *store,
                              troupe_string_list_t *ret_seeds)
{
    const troupe_node_options_t *options = &settings->values.node;
    seeds_list_t list = {.store = store, .len = 0};
    troupe_err_t err = TROUPE_OK;
    for (size_t i = 0; i < options->seeds.len && err == TROUPE_OK; i++) {
        err = seeds_add(&list, options->seeds.items[i]);
    }
    if (err == TROUPE_OK && options->seeds_file != NULL) {
        err = seeds_add_file(&list, options->seeds_file);
    }
    if (err == TROUPE_OK && options->seeds_dns != NULL) {
        err = seeds_add_dns(&list, options->seeds_dns);
    }
    if (err != TROUPE_OK || list.len == 0) {
        *ret_seeds = (troupe_string_list_t){NULL, 0};
        return err;
    }
    const char **items = trp_store_take(store, list.len, sizeof(*items));
    if (items == NULL) {
        return TROUPE_ENOMEM;
    }
    memcpy(items, list.items, list.len * sizeof(*items));
    *ret_seeds = (troupe_string_list_t){items, list.len};
    return TROUPE_OK;
}

bool trp_seeds_may_change(const trp_settings_t *settings)
{
    return settings->values.node.seeds_file != NULL || settings->values.node.seeds_dns != NULL;
}

/* ---- looking again --------------------------------------------------------------------------------- */

typedef struct seeker {
    trp_node_t *node;
    bool is_looking;
} seeker_t;

/* One look, on a thread of the offload pool. */
typedef struct seeds_look {
    trp_node_t *node;
    trp_store_t store;
    troupe_string_list_t seeds;
} seeds_look_t;

static void seeds_look_free(seeds_look_t *look)
{
    trp_store_fini(&look->store);
    trp_free(look);
}

static troupe_err_t seeds_look_run(void *context)
{
    seeds_look_t *look = context;
    troupe_err_t err = trp_seeds_gather(&look->node->settings, &look->store, &look->seeds);
    if (err == TROUPE_OK && look->seeds.len > 0) {
        err = trp_node_cluster_seek(look->node->cluster, &look->seeds);
    }
    return err;
}

static troupe_err_t seeds_look_done(troupe_actor_t *self, void *state, troupe_err_t result,
                                    void *context)
{
    seeds_look_t *look = context;
    seeker_t *seeker = state;
    (void)result; /* An error now is another try at the next look. */
    if (self != NULL) {
        seeker->is_looking = false;
    }
    seeds_look_free(look);
    return TROUPE_OK;
}

/* One look at a time: a name server that takes long must not make them pile up. */
static void seeker_look(troupe_actor_t *self, seeker_t *seeker)
{
    seeds_look_t *look = seeker->is_looking ? NULL : trp_calloc(1, sizeof(*look));
    if (look == NULL) {
        return;
    }
    look->node = seeker->node;
    trp_store_init(&look->store);
    seeker->is_looking = troupe_offload(self, seeds_look_run, seeds_look_done, look) == TROUPE_OK;
    if (!seeker->is_looking) {
        seeds_look_free(look);
    }
}

static troupe_err_t seeker_init(troupe_actor_t *self, void *state, const void *args)
{
    seeker_t *seeker = state;
    memcpy(&seeker->node, args, sizeof(seeker->node));
    return troupe_timer_every(self, SEEDS_TIMER_KEY, SEEDS_LOOK_MS, TROUPE_TYPE_BYTES, NULL, 0);
}

static troupe_err_t seeker_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    seeker_t *seeker = state;
    troupe_node_state_t now = troupe_node_state(&seeker->node->base);
    (void)message; /* Only the timer sends. */
    if (now == TROUPE_NODE_JOINING || now == TROUPE_NODE_REFUSED) {
        seeker_look(self, seeker);
    } else {
        troupe_stop(self);
    }
    return TROUPE_OK;
}

static const troupe_behavior_t seeker_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "troupe.seeker",
    .state_size = sizeof(seeker_t),
    .init = seeker_init,
    .receive = seeker_receive,
};

troupe_err_t trp_seeds_seek(trp_node_t *node)
{
    troupe_ref_t ref = troupe_ref_none();
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.name = "seeker";
    options.args = &node;
    options.args_size = sizeof(node);
    return trp_runtime_spawn_system(node->base.runtime, &seeker_behavior, &options, &ref);
}
