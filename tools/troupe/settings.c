/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Loads configurations. */

#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/text.h"

/* Passes errors and warnings on to standard error. Returns whether there was an error. */
static bool settings_tell(const troupe_config_t *config, troupe_err_t err)
{
    fputs(troupe_config_warnings(config), stderr);
    fputs(troupe_config_errors(config), stderr);
    if (err != TROUPE_OK && err != TROUPE_ECONFIG) {
        tool_complain("the configuration can't be loaded: %s", troupe_err_text(err));
    }
    return err != TROUPE_OK;
}

static bool settings_set_flag(troupe_config_t *config, const char *pair)
{
    char key[128];
    size_t size = strcspn(pair, "=");
    if (size >= sizeof(key)) {
        size = sizeof(key) - 1;
    }
    memcpy(key, pair, size);
    key[size] = '\0';
    const char *value = pair + strcspn(pair, "=") + 1;
    return !settings_tell(config, troupe_config_set(config, TROUPE_CONFIG_FLAG, key, value));
}

/* All sources, so that all that is wrong is told at once. */
static bool settings_load(const tool_args_t *args, troupe_config_t *config)
{
    const char *path = tool_flag(args, "config");
    bool is_good = true;
    for (size_t i = 0; i < args->options_len; i++) {
        is_good = settings_set_flag(config, args->options[i]) && is_good;
    }
    const char *const *environment = (const char *const *)environ;
    is_good =
        !settings_tell(config, troupe_config_load_environment(config, environment)) && is_good;
    if (path != NULL) {
        is_good = !settings_tell(config, troupe_config_load_file(config, path)) && is_good;
    }
    return is_good && !settings_tell(config, troupe_config_check(config));
}

tool_exit_t tool_load_config(const tool_args_t *args, troupe_config_t **ret_config)
{
    troupe_config_t *config = NULL;
    troupe_err_t err = troupe_config_create(&config);
    if (err != TROUPE_OK) {
        tool_complain("%s", troupe_err_text(err));
        return TOOL_FAILED;
    }
    if (!settings_load(args, config)) {
        troupe_config_destroy(&config);
        return TOOL_USAGE;
    }
    *ret_config = config;
    return TOOL_OK;
}

const char *tool_config_text(const troupe_config_t *config, const char *key, char *out,
                             size_t capacity)
{
    if (troupe_config_get(config, key, out, capacity, NULL) != TROUPE_OK) {
        out[0] = '\0';
    }
    return out;
}

uint32_t tool_config_number(const troupe_config_t *config, const char *key)
{
    char text[32];
    uint64_t number = 0;
    tool_config_text(config, key, text, sizeof(text));
    return trp_text_parse_u64(text, UINT32_MAX, &number) == TROUPE_OK ? (uint32_t)number : 0;
}

bool tool_config_is_on(const troupe_config_t *config, const char *key)
{
    char text[8];
    return strcmp(tool_config_text(config, key, text, sizeof(text)), "true") == 0;
}
