/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Options: the table in memory, and how text becomes a value of an option.
 *
 * Thread rule: pure functions over the caller's memory. */

#ifndef TROUPE_NODE_OPTION_H
#define TROUPE_NODE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/config.h>
#include <troupe/error.h>
#include <troupe/node.h>

#include "node/store.h"

#define TRP_OPTION_KEY_SIZE_MAX 64  /* Bytes of a key with its zero; longer ones are unknown. */
#define TRP_OPTION_PROBLEM_SIZE 256 /* Bytes of "what is wrong; what to do". */

/* What a configuration fills in. The fields beside `node` are for the node program. */
typedef struct trp_option_values {
    troupe_node_options_t node;
    uint32_t stop_timeout_ms;
    uint32_t join_timeout_ms;
    bool rejoin;
    bool exit_when_refused;
    uint32_t log_format;
    const char *log_file;
} trp_option_values_t;

typedef enum trp_option_kind {
    TRP_OPTION_TEXT,
    TRP_OPTION_SECRET,
    TRP_OPTION_PATH,
    TRP_OPTION_ADDRESS,
    TRP_OPTION_BOOL,
    TRP_OPTION_U32,
    TRP_OPTION_SIZE,
    TRP_OPTION_ENUM,
    TRP_OPTION_LIST,
    TRP_OPTION_ADDRESSES,
    TRP_OPTION_MAP,
} trp_option_kind_t;

typedef struct trp_option {
    troupe_config_option_t about;
    trp_option_kind_t kind;
    size_t offset; /* Of the field in trp_option_values_t. */
} trp_option_t;

size_t trp_option_len(void);
const trp_option_t *trp_option_at(size_t index);

/* The option of that key, or NULL. */
const trp_option_t *trp_option_find(const char *key);
size_t trp_option_index(const trp_option_t *option);

/* True when some option's key begins with `key` and a dot. */
bool trp_option_is_section(const char *key);

/* The key that `key` most likely meant, in whole or by its last part; NULL when none is near. */
const char *trp_option_suggest(const char *key);

/* True for lists and maps. */
bool trp_option_is_list(const trp_option_t *option);

/* Sets the option from `len` elements (one, unless it is a list). ECONFIG: `ret_problem` says why, in
 * words for people; ENOMEM. The value is unchanged on error. */
troupe_err_t trp_option_assign(const trp_option_t *option, trp_option_values_t *values,
                               trp_store_t *store, const char *const *items, size_t len,
                               char ret_problem[TRP_OPTION_PROBLEM_SIZE]);

/* Writes the value as text, elements separated by commas. ETOOBIG. */
troupe_err_t trp_option_show(const trp_option_t *option, const trp_option_values_t *values,
                             char *ret_text, size_t capacity);

/* Copies the option from `from` to `to`, with the default of the table where it is unset, by the same
 * rules as trp_option_assign. `to` begins zeroed. */
troupe_err_t trp_option_adopt(const trp_option_t *option, const trp_option_values_t *from,
                              trp_option_values_t *to, trp_store_t *store,
                              char ret_problem[TRP_OPTION_PROBLEM_SIZE]);

/* A number with an optional unit: 65536, 64KiB, "64 MiB", 1GiB. EINVAL. */
troupe_err_t trp_option_parse_size(const char *text, uint64_t *ret_size);

#endif
