/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The configuration of a command: from flags, environment and file. */

#ifndef TROUPE_TOOL_SETTINGS_H
#define TROUPE_TOOL_SETTINGS_H

#include <troupe/config.h>

#include "tool.h"

/* Loads and checks all of it; says on standard error what is wrong. `ret_config` is for
 * troupe_config_destroy. */
tool_exit_t tool_load_config(const tool_args_t *args, troupe_config_t **ret_config);

/* The value of an option as text, "" when there is none; into the caller's memory. */
const char *tool_config_text(const troupe_config_t *config, const char *key, char *out,
                             size_t capacity);
uint32_t tool_config_number(const troupe_config_t *config, const char *key);
bool tool_config_is_on(const troupe_config_t *config, const char *key);

#endif
