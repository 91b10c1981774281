/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Settings: a node's options copied, with the defaults in place, looked over and taken apart. What the
 * other rooms are started with.
 *
 * Thread rule: immutable after init. */

#ifndef TROUPE_NODE_SETTINGS_H
#define TROUPE_NODE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/log.h>
#include <troupe/node.h>

#include "net/link/link.h"
#include "node/address.h"
#include "node/option.h"
#include "node/store.h"

#define TRP_SETTINGS_GROUPS_MAX 14u   /* What the runtime has room for besides its own two. */
#define TRP_SETTINGS_THREADS_MAX 120u /* Dispatchers of all groups. */
#define TRP_SETTINGS_CLUSTER_SIZE_MAX 63u
#define TRP_SETTINGS_SEEDS_MAX 64u
#define TRP_SETTINGS_KEYS_MAX 65536u
#define TRP_SETTINGS_FILE_SIZE_MAX (4u * 1024u * 1024u)

typedef struct trp_settings_group {
    const char *name;
    uint32_t threads;
} trp_settings_group_t;

typedef struct trp_settings {
    trp_store_t store;
    trp_option_values_t values;
    bool has_links;
    bool has_keys;
    trp_node_address_t bind;
    trp_node_address_t advertise; /* As given, or the bound one. */
    trp_settings_group_t *groups;
    size_t groups_len;
    trp_link_key_t public_key;
    trp_link_key_t secret_key;
    trp_link_allow_t *allowed; /* Of the list and of the file. */
    size_t allowed_len;
    troupe_log_level_t log_levels[TROUPE_LOG_ROOM_COUNT];
} trp_settings_t;

/* EINVAL: the struct's size is unknown; ECONFIG, EPERM: `ret_problem` says what and what to do, as
 * "key: ..."; ENOMEM. On error there is nothing to fini. */
troupe_err_t trp_settings_init(trp_settings_t *settings, const troupe_node_options_t *options,
                               char ret_problem[TRP_OPTION_PROBLEM_SIZE]);
void trp_settings_fini(trp_settings_t *settings);

#endif
