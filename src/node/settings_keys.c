/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads CURVE keys and allow-lists and refuses what can't work. */

#include "node/settings_keys.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"
#include "node/file.h"

bool trp_settings_key_parse(const char *text, trp_link_key_t *ret_key)
{
    /* The alphabet of Z85 (ZeroMQ RFC 32). */
    static const char z85[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              ".-:+=^!/*?&<>()[]{}@%$#";
    TRP_ASSERT(text != NULL);
    size_t size = strlen(text);
    if (size != TRP_LINK_KEY_SIZE || strspn(text, z85) != size) {
        return false;
    }
    memcpy(ret_key->text, text, size + 1);
    return true;
}

/* ---- the node's own ----------------------------------------------------------------------------- */

static troupe_err_t settings_load_own(trp_settings_t *settings, char *ret_problem)
{
    static const char key[] = "security.secret_key_file";
    troupe_err_t err =
        trp_link_key_load(settings->values.node.secret_key_file, true, &settings->secret_key);
    switch ((int)err) {
    case TROUPE_OK:
        settings->has_keys = true;
        return TROUPE_OK;
    case TROUPE_ENOENT:
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key,
                                    "there is no such file; `troupe keygen` makes one");
    case TROUPE_EPERM:
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key,
                                    "the file can be read by others; chmod 600 it");
    case TROUPE_EINVAL:
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key,
                                    "there is no key in the file; `troupe keygen` makes one");
    case TROUPE_ENOMEM:
        return err;
    default:
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key, "the file can't be read");
    }
}

static troupe_err_t settings_take_own(trp_settings_t *settings, char *ret_problem)
{
    const troupe_node_options_t *node = &settings->values.node;
    troupe_err_t err = TROUPE_OK;
    if (node->secret_key_file != NULL) {
        err = settings_load_own(settings, ret_problem);
    } else if (node->secret_key != NULL) {
        settings->has_keys = trp_settings_key_parse(node->secret_key, &settings->secret_key);
    }
    if (err != TROUPE_OK || (node->secret_key_file == NULL && node->secret_key == NULL)) {
        return err;
    }
    if (!settings->has_keys ||
        trp_link_key_public(&settings->secret_key, &settings->public_key) != TROUPE_OK) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "security.secret_key",
                                    "must be 40 characters of Z85, as `troupe keygen` makes them");
    }
    return TROUPE_OK;
}

/* ---- the allow-list ----------------------------------------------------------------------------- */

static troupe_err_t settings_allow(trp_settings_t *settings, const char *text, const char *key,
                                   char *ret_problem)
{
    trp_link_allow_t allow = {.address = NULL};
    if (!trp_settings_key_parse(text, &allow.public_key)) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key,
                                    "has an entry that isn't 40 characters of Z85");
    }
    if (settings->allowed_len == TRP_SETTINGS_KEYS_MAX) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key, "more than 65,536 keys");
    }
    settings->allowed[settings->allowed_len] = allow;
    settings->allowed_len += 1;
    return TROUPE_OK;
}

static troupe_err_t settings_read_allowed(trp_settings_t *settings, char *ret_problem)
{
    static const char key[] = "security.allowed_keys_file";
    char *text = NULL;
    size_t size = 0;
    troupe_err_t err = trp_file_read(settings->values.node.allowed_keys_file,
                                     TRP_SETTINGS_FILE_SIZE_MAX, &text, &size);
    if (err == TROUPE_ESYSTEM) {
        char problem[160];
        trp_text_format(problem, sizeof(problem), "the file can't be read: %s",
                        trp_text_of_errno(errno));
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, key, problem);
    }
    char *rest = text;
    for (const char *line = text; err == TROUPE_OK && line != NULL;) {
        line = trp_file_next_line(&rest);
        err = line != NULL ? settings_allow(settings, line, key, ret_problem) : TROUPE_OK;
    }
    trp_free(text);
    return err;
}

troupe_err_t trp_settings_take_keys(trp_settings_t *settings, char *ret_problem)
{
    const troupe_node_options_t *node = &settings->values.node;
    troupe_err_t err = settings_take_own(settings, ret_problem);
    bool has_list = node->allowed_keys.len > 0 || node->allowed_keys_file != NULL;
    if (err != TROUPE_OK || !has_list) {
        return err;
    }
    if (!settings->has_keys) {
        return trp_settings_problem(ret_problem, TROUPE_ECONFIG, "security.allowed_keys",
                                    "is of no use without a key; set security.secret_key_file");
    }
    settings->allowed =
        trp_store_take(&settings->store, TRP_SETTINGS_KEYS_MAX, sizeof(*settings->allowed));
    if (settings->allowed == NULL) {
        return TROUPE_ENOMEM;
    }
    for (size_t i = 0; i < node->allowed_keys.len && err == TROUPE_OK; i++) {
        err = settings_allow(settings, node->allowed_keys.items[i], "security.allowed_keys",
                             ret_problem);
    }
    if (err == TROUPE_OK && node->allowed_keys_file != NULL) {
        err = settings_read_allowed(settings, ret_problem);
    }
    return err;
}
