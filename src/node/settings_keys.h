/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The keys of the settings: from options or from files. */

#ifndef TROUPE_NODE_SETTINGS_KEYS_H
#define TROUPE_NODE_SETTINGS_KEYS_H

#include <stdbool.h>

#include "node/settings.h"

/* Reads the node's own keys and the allow-list. ECONFIG with a problem; ENOMEM. */
troupe_err_t trp_settings_take_keys(trp_settings_t *settings, char *ret_problem);

/* False when the text isn't 40 characters of Z85. */
bool trp_settings_key_parse(const char *text, trp_link_key_t *ret_key);

/* Writes "key: text" to `out` and returns `err`. */
troupe_err_t trp_settings_problem(char *out, troupe_err_t err, const char *key, const char *text);

#endif
