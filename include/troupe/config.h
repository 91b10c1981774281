/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Configuration: a node's options from a YAML file, the environment and the command line.
 *
 * One table describes every option; files, variables, flags, help and documentation all follow from
 * it. `cluster.name` is the key `name` under `cluster` in a file, TROUPE_CLUSTER_NAME in the
 * environment, --cluster.name=... on the command line. A stronger source wins whatever the order of
 * loading: defaults < file < environment < flags. All errors of a source are gathered, each a line
 * "origin: key: what is wrong; what to do". docs/configuration.md has all of it.
 *
 * Thread rule: a configuration belongs to one thread at a time. Since 0.1. */

#ifndef TROUPE_CONFIG_H
#define TROUPE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/api.h>
#include <troupe/error.h>
#include <troupe/node.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_config troupe_config_t;

#define TROUPE_CONFIG_FILE_SIZE_MAX (1024u * 1024u)
#define TROUPE_CONFIG_DEPTH_MAX 16       /* Nesting in a file. */
#define TROUPE_CONFIG_LIST_LEN_MAX 4096  /* Elements of one list. */
#define TROUPE_CONFIG_TEXT_SIZE_MAX 4096 /* Bytes of one value. */

/* Where a value comes from, the weakest first. */
typedef enum troupe_config_source {
    TROUPE_CONFIG_DEFAULT = 0,
    TROUPE_CONFIG_FILE = 1,
    TROUPE_CONFIG_ENVIRONMENT = 2,
    TROUPE_CONFIG_FLAG = 3,
} troupe_config_source_t;

/* One option, as the table has it. All strings are static. */
typedef struct troupe_config_option {
    const char *key;
    const char *kind;         /* "text", "number", "size", "list", ... */
    const char *default_text; /* "" when there is none. */
    const char *choices;      /* "text|json"; "" when any value is good. */
    const char *help;
    uint64_t min; /* Of numbers and sizes. */
    uint64_t max;
} troupe_config_option_t;

/* The table. NULL past its end. */
TROUPE_API const troupe_config_option_t *troupe_config_option(size_t index);
/* Writes the environment's name of a key. TROUPE_ETOOBIG. */
TROUPE_API troupe_err_t troupe_config_variable(const char *key, char *ret_text, size_t capacity);

TROUPE_API troupe_err_t troupe_config_create(troupe_config_t **ret_config);
TROUPE_API void troupe_config_destroy(troupe_config_t **config);

/* ECONFIG: troupe_config_errors says what and where; good lines have taken effect. ENOMEM. */
TROUPE_API troupe_err_t troupe_config_load_file(troupe_config_t *config, const char *path);
/* The same from memory; `origin` stands for the file's name. */
TROUPE_API troupe_err_t troupe_config_load_text(troupe_config_t *config, const char *origin,
                                                const char *text, size_t size);
/* Takes the TROUPE_* variables of a list like `environ`, which ends with NULL. One that is none of the
 * table is no error, for others may set such names too, but a warning when it looks like a slip. */
TROUPE_API troupe_err_t troupe_config_load_environment(troupe_config_t *config,
                                                       const char *const *environment);
/* Sets one option from text; elements of a list are separated by commas. */
TROUPE_API troupe_err_t troupe_config_set(troupe_config_t *config, troupe_config_source_t source,
                                          const char *key, const char *value);
/* Looks at what goes together, and reads key files. Call it after all sources. */
TROUPE_API troupe_err_t troupe_config_check(troupe_config_t *config);

/* What was wrong, and what looked odd, a line each; "" when all was well. Valid until the next call. */
TROUPE_API const char *troupe_config_errors(const troupe_config_t *config);
TROUPE_API const char *troupe_config_warnings(const troupe_config_t *config);

/* The options for troupe_node_create, valid as long as the configuration; sink and callbacks are the
 * caller's to set in a copy. */
TROUPE_API const troupe_node_options_t *troupe_config_node_options(const troupe_config_t *config);
/* Writes the value in force as text (secrets as "***"), and where it comes from. ENOENT, ETOOBIG. */
TROUPE_API troupe_err_t troupe_config_get(const troupe_config_t *config, const char *key,
                                          char *ret_text, size_t capacity,
                                          troupe_config_source_t *ret_source);

TROUPE_END_DECLS

#endif
