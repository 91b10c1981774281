/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Copies options, puts the defaults in place and looks at what goes together. */

#include "node/settings.h"

#include <string.h>

#include <troupe/cluster.h>

#include "base/assert.h"
#include "base/text.h"
#include "node/settings_keys.h"

/* ---- one option at a time ---------------------------------------------------------------------- */

troupe_err_t trp_settings_problem(char *out, troupe_err_t err, const char *key, const char *text)
{
    trp_text_format(out, TRP_OPTION_PROBLEM_SIZE, "%s: %s", key, text);
    return err;
}

static troupe_err_t settings_adopt(trp_settings_t *settings, const troupe_node_options_t *options,
                                   char *ret_problem)
{
    trp_option_values_t from;
    memset(&from, 0, sizeof(from));
    memcpy(&from.node, options,
           options->size < sizeof(from.node) ? options->size : sizeof(from.node));
    settings->values.node = from.node;
    for (size_t i = 0; i < trp_option_len(); i++) {
        const trp_option_t *option = trp_option_at(i);
        char problem[TRP_OPTION_PROBLEM_SIZE];
        troupe_err_t err =
            trp_option_adopt(option, &from, &settings->values, &settings->store, problem);
        if (err == TROUPE_ECONFIG) {
            return trp_settings_problem(ret_problem, err, option->about.key, problem);
        }
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

/* Options of another version of the header: what this library doesn't know must be zero. */
static bool settings_size_is_good(const troupe_node_options_t *options)
{
    if (options->size < offsetof(troupe_node_options_t, seeds)) {
        return false;
    }
    const unsigned char *bytes = (const unsigned char *)options;
    for (size_t i = sizeof(*options); i < options->size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* ---- addresses --------------------------------------------------------------------------------- */

static troupe_err_t settings_take_addresses(trp_settings_t *settings, char *ret_problem)
{
    const troupe_node_options_t *node = &settings->values.node;
    settings->has_links = node->bind != NULL;
    if (!settings->has_links) {
        bool is_odd = node->advertise != NULL || node->seeds.len > 0 || node->seeds_file != NULL ||
                      node->seeds_dns != NULL;
        return is_odd ? trp_settings_problem(ret_problem, TROUPE_ECONFIG, "node.bind",
                                             "is needed with seeds or an advertised address; give "
                                             "host:port")
                      : TROUPE_OK;
    }
    troupe_err_t err = trp_node_address_parse(node->bind, &settings->bind);
    TRP_ASSERT(err == TROUPE_OK); /* Adopted above. */
    settings->advertise = settings->bind;
    if (node->advertise != NULL) {
        err = trp_node_address_parse(node->advertise, &settings->advertise);
        TRP_ASSERT(err == TROUPE_OK);
    }
    if (trp_node_address_is_wildcard(&settings->advertise)) {
        return trp_settings_problem(
            ret_problem, TROUPE_ECONFIG, "node.advertise",
            "is needed when bound to all addresses; give the host:port that "
            "other nodes dial");
    }
    return TROUPE_OK;
}

static troupe_err_t settings_check_exposure(const trp_settings_t *settings, char *ret_problem)
{
    bool is_exposed = settings->has_links && !trp_node_address_is_loopback(&settings->bind);
    if (!is_exposed || settings->has_keys || settings->values.node.insecure) {
        return TROUPE_OK;
    }
    return trp_settings_problem(ret_problem, TROUPE_EPERM, "node.bind",
                                "would listen beyond loopback without keys; set "
                                "security.secret_key_file (`troupe keygen`), or "
                                "security.insecure: true");
}

/* ---- groups and levels ------------------------------------------------------------------------- */

/* Splits "name=value"; the name goes to `ret_name`. */
static const char *settings_split(const char *pair, char *ret_name, size_t capacity)
{
    const char *equals = strchr(pair, '=');
    TRP_ASSERT(equals != NULL); /* Adopted as a pair. */
    size_t size = (size_t)(equals - pair);
    size = size < capacity ? size : capacity - 1;
    memcpy(ret_name, pair, size);
    ret_name[size] = '\0';
    return equals + 1;
}

static troupe_err_t settings_take_group(trp_settings_t *settings, const char *pair,
                                        char *ret_problem)
{
    char name[32];
    uint64_t threads = 0;
    const char *value = settings_split(pair, name, sizeof(name));
    if (trp_text_parse_u64(value, TRP_SETTINGS_THREADS_MAX, &threads) != TROUPE_OK ||
        threads == 0) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "dispatchers.groups",
                                    "a group has 1 to 120 threads");
    }
    bool is_taken = strcmp(name, "default") == 0 || strcmp(name, "system") == 0;
    for (size_t i = 0; i < settings->groups_len; i++) {
        is_taken = is_taken || strcmp(settings->groups[i].name, name) == 0;
    }
    if (is_taken) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "dispatchers.groups",
                                    "a group's name is taken; `default` and `system` are there");
    }
    const char *kept = trp_store_keep(&settings->store, name, strlen(name));
    if (kept == NULL) {
        return TROUPE_ENOMEM;
    }
    settings->groups[settings->groups_len] = (trp_settings_group_t){kept, (uint32_t)threads};
    settings->groups_len += 1;
    return TROUPE_OK;
}

static troupe_err_t settings_take_groups(trp_settings_t *settings, char *ret_problem)
{
    const troupe_string_list_t *pairs = &settings->values.node.groups;
    uint32_t threads = settings->values.node.dispatchers;
    if (pairs->len > TRP_SETTINGS_GROUPS_MAX) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "dispatchers.groups",
                                    "more than 14 groups");
    }
    settings->groups = trp_store_take(&settings->store, pairs->len + 1, sizeof(*settings->groups));
    if (settings->groups == NULL) {
        return TROUPE_ENOMEM;
    }
    for (size_t i = 0; i < pairs->len; i++) {
        troupe_err_t err = settings_take_group(settings, pairs->items[i], ret_problem);
        if (err != TROUPE_OK) {
            return err;
        }
        threads += settings->groups[i].threads;
    }
    return threads <= TRP_SETTINGS_THREADS_MAX
               ? TROUPE_OK
               : trp_settings_problem(ret_problem, TROUPE_ECONFIG, "dispatchers.groups",
                                      "more than 120 threads in all groups together");
}

static troupe_err_t settings_take_level(trp_settings_t *settings, const char *pair,
                                        char *ret_problem)
{
    char name[32];
    const char *value = settings_split(pair, name, sizeof(name));
    troupe_log_room_t room = TROUPE_LOG_BASE;
    troupe_log_level_t level = TROUPE_LOG_INFO;
    if (troupe_log_room_parse(name, &room) != TROUPE_OK) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "log.levels",
                                    "no such room; base, actor, link, gateway, cluster, pubsub, "
                                    "reliable, entity, rpc, hub, node or user");
    }
    if (troupe_log_level_parse(value, &level) != TROUPE_OK) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "log.levels",
                                    "no such level; trace, debug, info, warn, error or off");
    }
    settings->log_levels[room] = level;
    return TROUPE_OK;
}

static troupe_err_t settings_take_levels(trp_settings_t *settings, char *ret_problem)
{
    const troupe_string_list_t *pairs = &settings->values.node.log_levels;
    for (size_t i = 0; i < TROUPE_LOG_ROOM_COUNT; i++) {
        settings->log_levels[i] = settings->values.node.log_level;
    }
    for (size_t i = 0; i < pairs->len; i++) {
        troupe_err_t err = settings_take_level(settings, pairs->items[i], ret_problem);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t settings_check_names(const trp_settings_t *settings, char *ret_problem)
{
    const troupe_node_options_t *node = &settings->values.node;
    if (node->name != NULL && strlen(node->name) >= TROUPE_MEMBER_NAME_SIZE) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "node.name",
                                    "is longer than 63 bytes");
    }
    if (strlen(node->cluster_name) > TRP_SETTINGS_CLUSTER_SIZE_MAX) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "cluster.name",
                                    "is longer than 63 bytes");
    }
    bool is_good = node->roles.len <= TROUPE_MEMBER_ROLES_MAX;
    for (size_t i = 0; is_good && i < node->roles.len; i++) {
        is_good = strlen(node->roles.items[i]) < TROUPE_MEMBER_ROLE_SIZE;
    }
    return is_good ? TROUPE_OK
                   : trp_settings_problem(ret_problem, TROUPE_ECONFIG, "cluster.roles",
                                          "at most 16 roles of 63 bytes");
}

static troupe_err_t settings_check_cluster(const trp_settings_t *settings, char *ret_problem)
{
    const troupe_node_options_t *node = &settings->values.node;
    if (node->split_policy == TROUPE_SPLIT_STATIC_QUORUM && node->quorum_len == 0) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "cluster.quorum",
                                    "is needed with static-quorum; more than half of the members");
    }
    if (node->seeds.len > TRP_SETTINGS_SEEDS_MAX) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "cluster.seeds",
                                    "more than 64 seeds; a few are enough");
    }
    if (node->probe_timeout_ms >= node->probe_interval_ms) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "cluster.probe_timeout_ms",
                                    "must be shorter than cluster.probe_interval_ms");
    }
    return TROUPE_OK;
}

/* ---- life -------------------------------------------------------------------------------------- */

static troupe_err_t settings_fill(trp_settings_t *settings, const troupe_node_options_t *options,
                                  char *ret_problem)
{
    troupe_err_t err = settings_adopt(settings, options, ret_problem);
    if (err == TROUPE_OK) {
        err = settings_take_addresses(settings, ret_problem);
    }
    if (err == TROUPE_OK) {
        err = trp_settings_take_keys(settings, ret_problem);
    }
    if (err == TROUPE_OK) {
        err = settings_check_exposure(settings, ret_problem);
    }
    if (err == TROUPE_OK) {
        err = settings_take_groups(settings, ret_problem);
    }
    if (err == TROUPE_OK) {
        err = settings_take_levels(settings, ret_problem);
    }
    if (err == TROUPE_OK) {
        err = settings_check_names(settings, ret_problem);
    }
    return err == TROUPE_OK ? settings_check_cluster(settings, ret_problem) : err;
}

troupe_err_t trp_settings_init(trp_settings_t *settings, const troupe_node_options_t *options,
                               char ret_problem[TRP_OPTION_PROBLEM_SIZE])
{
    TRP_ASSERT(settings != NULL);
    TRP_ASSERT(options != NULL);
    ret_problem[0] = '\0';
    memset(settings, 0, sizeof(*settings));
    if (!settings_size_is_good(options)) {
        return trp_settings_problem(ret_problem, TROUPE_EINVAL, "options",
                                    "the size is none that this version knows");
    }
    trp_store_init(&settings->store);
    troupe_err_t err = settings_fill(settings, options, ret_problem);
    if (err != TROUPE_OK) {
        trp_settings_fini(settings);
    }
    return err;
}

void trp_settings_fini(trp_settings_t *settings)
{
    TRP_ASSERT(settings != NULL);
    trp_store_fini(&settings->store);
}
