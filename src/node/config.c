/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A configuration: values, where each comes from, and what was wrong. */

#include "node/config_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"
#include "node/settings.h"

#define CONFIG_LINE_SIZE 640 /* Bytes of one line of errors. */

/* ---- errors ----------------------------------------------------------------------------------- */

void trp_config_begin(troupe_config_t *config)
{
    config->problems_len = 0;
    trp_buf_clear(&config->errors);
    trp_buf_clear(&config->warnings);
}

/* Adds a line and keeps the buffer zero-terminated. A line that no longer fits is left out: the first
 * ones are what matters. */
static void config_add_line(trp_buf_t *buf, const trp_config_place_t *place, const char *text)
{
    char line[CONFIG_LINE_SIZE];
    size_t size = 0;
    if (place->line > 0) {
        size = trp_text_format(line, sizeof(line), "%s:%u: %s\n", place->origin, place->line, text);
    } else {
        size = trp_text_format(line, sizeof(line), "%s: %s\n", place->origin, text);
    }
    line[size - 1] = '\n';
    if (trp_buf_reserve(buf, size + 1) == TROUPE_OK) {
        memcpy(buf->data + buf->size, line, size + 1);
        buf->size += size;
    }
}

troupe_err_t trp_config_complain(troupe_config_t *config, const trp_config_place_t *place,
                                 const char *format, ...)
{
    char text[CONFIG_LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    config->problems_len += 1;
    if (config->problems_len <= TRP_CONFIG_PROBLEMS_MAX) {
        config_add_line(&config->errors, place, text);
    }
    return TROUPE_ECONFIG;
}

void trp_config_warn(troupe_config_t *config, const trp_config_place_t *place, const char *format,
                     ...)
{
    char text[CONFIG_LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    config_add_line(&config->warnings, place, text);
}

troupe_err_t trp_config_complain_key(troupe_config_t *config, const trp_config_place_t *place,
                                     const char *key)
{
    char shown[TRP_OPTION_KEY_SIZE_MAX * 2];
    trp_text_escape(shown, sizeof(shown), key, strlen(key));
    const char *near = trp_option_suggest(key);
    if (near != NULL) {
        return trp_config_complain(config, place, "%s: unknown key; did you mean %s?", shown, near);
    }
    return trp_config_complain(config, place,
                               "%s: unknown key; `troupe node --help` lists all of them", shown);
}

troupe_err_t trp_config_verdict(const troupe_config_t *config)
{
    return config->problems_len == 0 ? TROUPE_OK : TROUPE_ECONFIG;
}

/* ---- values ----------------------------------------------------------------------------------- */

troupe_err_t trp_config_assign(troupe_config_t *config, const trp_config_place_t *place,
                               const trp_option_t *option, const char *const *items, size_t len)
{
    TRP_ASSERT(config != NULL);
    TRP_ASSERT(option != NULL);
    trp_config_mark_t *mark = &config->marks[trp_option_index(option)];
    trp_option_values_t scratch = config->values;
    bool is_weaker = place->source < mark->source;
    char problem[TRP_OPTION_PROBLEM_SIZE];
    /* A value that is overridden is checked all the same: the slip would come up one day. */
    troupe_err_t err = trp_option_assign(option, is_weaker ? &scratch : &config->values,
                                         &config->store, items, len, problem);
    if (err == TROUPE_ECONFIG) {
        return trp_config_complain(config, place, "%s: %s", option->about.key, problem);
    }
    if (err == TROUPE_OK && !is_weaker) {
        mark->source = place->source;
        mark->line = place->line;
    }
    return err;
}

static size_t config_split(char *text, const char *items[TROUPE_CONFIG_LIST_LEN_MAX])
{
    size_t len = 0;
    char *rest = text;
    for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ",")) {
        item += strspn(item, " ");
        if (len < TROUPE_CONFIG_LIST_LEN_MAX) {
            items[len] = item;
        }
        len += 1;
    }
    return len;
}

troupe_err_t trp_config_assign_text(troupe_config_t *config, const trp_config_place_t *place,
                                    const trp_option_t *option, const char *text)
{
    const char *items[TROUPE_CONFIG_LIST_LEN_MAX];
    char copy[TROUPE_CONFIG_TEXT_SIZE_MAX + 1];
    size_t size = strlen(text);
    if (size > TROUPE_CONFIG_TEXT_SIZE_MAX) {
        return trp_config_complain(config, place, "%s: the value is longer than %u bytes",
                                   option->about.key, TROUPE_CONFIG_TEXT_SIZE_MAX);
    }
    if (!trp_option_is_list(option)) {
        return trp_config_assign(config, place, option, &text, 1);
    }
    memcpy(copy, text, size + 1);
    size_t len = size == 0 ? 0 : config_split(copy, items);
    if (len > TROUPE_CONFIG_LIST_LEN_MAX) {
        return trp_config_complain(config, place, "%s: more than %u elements", option->about.key,
                                   TROUPE_CONFIG_LIST_LEN_MAX);
    }
    return trp_config_assign(config, place, option, items, len);
}

/* ---- life ------------------------------------------------------------------------------------- */

static troupe_err_t config_set_defaults(troupe_config_t *config)
{
    static const trp_config_place_t place = {TROUPE_CONFIG_DEFAULT, "default", 0};
    for (size_t i = 0; i < trp_option_len(); i++) {
        const trp_option_t *option = trp_option_at(i);
        troupe_err_t err =
            trp_config_assign_text(config, &place, option, option->about.default_text);
        TRP_ASSERT(err != TROUPE_ECONFIG); /* The table's own defaults are good. */
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

troupe_err_t troupe_config_create(troupe_config_t **ret_config)
{
    if (ret_config == NULL) {
        return TROUPE_EINVAL;
    }
    TRP_CLEANUP(troupe_config_destroy) troupe_config_t *config = trp_calloc(1, sizeof(*config));
    if (config == NULL) {
        return TROUPE_ENOMEM;
    }
    config->values.node.size = sizeof(config->values.node);
    trp_store_init(&config->store);
    trp_buf_init(&config->errors, TRP_CONFIG_PROBLEMS_SIZE_MAX);
    trp_buf_init(&config->warnings, TRP_CONFIG_PROBLEMS_SIZE_MAX);
    config->marks = trp_store_take(&config->store, trp_option_len(), sizeof(*config->marks));
    if (config->marks == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = config_set_defaults(config);
    if (err != TROUPE_OK) {
        return err;
    }
    *ret_config = config;
    config = NULL;
    return TROUPE_OK;
}

void troupe_config_destroy(troupe_config_t **config)
{
    if (config == NULL || *config == NULL) {
        return;
    }
    trp_buf_fini(&(*config)->errors);
    trp_buf_fini(&(*config)->warnings);
    trp_store_fini(&(*config)->store);
    trp_free(*config);
    *config = NULL;
}

/* ---- sources ---------------------------------------------------------------------------------- */

troupe_err_t troupe_config_set(troupe_config_t *config, troupe_config_source_t source,
                               const char *key, const char *value)
{
    if (config == NULL || key == NULL || value == NULL || source > TROUPE_CONFIG_FLAG) {
        return TROUPE_EINVAL;
    }
    trp_config_begin(config);
    trp_config_place_t place = {source, "command line", 0};
    const trp_option_t *option = trp_option_find(key);
    if (option == NULL) {
        return trp_config_complain_key(config, &place, key);
    }
    return trp_config_assign_text(config, &place, option, value);
}

/* The option whose variable this is, or NULL; `size` is that of the variable's name. */
static const trp_option_t *config_find_variable(const char *name, size_t size)
{
    for (size_t i = 0; i < trp_option_len(); i++) {
        char variable[TRP_OPTION_KEY_SIZE_MAX + sizeof("TROUPE_")];
        troupe_err_t err =
            troupe_config_variable(trp_option_at(i)->about.key, variable, sizeof(variable));
        TRP_ASSERT(err == TROUPE_OK);
        if (strlen(variable) == size && memcmp(variable, name, size) == 0) {
            return trp_option_at(i);
        }
    }
    return NULL;
}

/* Warns when an unknown TROUPE_ variable looks like a slip: its words, as a key, are near to one. */
static void config_warn_variable(troupe_config_t *config, const trp_config_place_t *place,
                                 const char *name, size_t size)
{
    char key[TRP_OPTION_KEY_SIZE_MAX];
    size_t prefix = sizeof("TROUPE_") - 1;
    if (size - prefix >= sizeof(key)) {
        return;
    }
    for (size_t i = prefix; i < size; i++) {
        char c = name[i];
        key[i - prefix] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    key[size - prefix] = '\0';
    char *underscore = strchr(key, '_');
    if (underscore == NULL) {
        return;
    }
    *underscore = '.';
    const char *near = trp_option_suggest(key);
    char variable[TRP_OPTION_KEY_SIZE_MAX + sizeof("TROUPE_")];
    if (near != NULL && troupe_config_variable(near, variable, sizeof(variable)) == TROUPE_OK) {
        trp_config_warn(config, place, "%.*s: no option; did you mean %s?", (int)size, name,
                        variable);
    }
}

troupe_err_t troupe_config_load_environment(troupe_config_t *config, const char *const *environment)
{
    if (config == NULL || environment == NULL) {
        return TROUPE_EINVAL;
    }
    trp_config_begin(config);
    trp_config_place_t place = {TROUPE_CONFIG_ENVIRONMENT, "environment", 0};
    for (const char *const *entry = environment; *entry != NULL; entry++) {
        size_t size = strcspn(*entry, "=");
        if (strncmp(*entry, "TROUPE_", 7) != 0 || (*entry)[size] != '=') {
            continue;
        }
        const trp_option_t *option = config_find_variable(*entry, size);
        if (option == NULL) {
            config_warn_variable(config, &place, *entry, size);
            continue;
        }
        troupe_err_t err = trp_config_assign_text(config, &place, option, *entry + size + 1);
        if (err != TROUPE_OK && err != TROUPE_ECONFIG) {
            return err;
        }
    }
    return trp_config_verdict(config);
}

troupe_err_t troupe_config_check(troupe_config_t *config)
{
    if (config == NULL) {
        return TROUPE_EINVAL;
    }
    trp_config_begin(config);
    trp_settings_t settings;
    char problem[TRP_OPTION_PROBLEM_SIZE];
    troupe_err_t err = trp_settings_init(&settings, &config->values.node, problem);
    if (err == TROUPE_OK) {
        trp_settings_fini(&settings);
        return TROUPE_OK;
    }
    if (err == TROUPE_ENOMEM) {
        return err;
    }
    trp_config_place_t place = {TROUPE_CONFIG_FILE, "configuration", 0};
    return trp_config_complain(config, &place, "%s", problem);
}

/* ---- looking ---------------------------------------------------------------------------------- */

static const char *config_text(const trp_buf_t *buf)
{
    return buf->size > 0 ? (const char *)buf->data : "";
}

const char *troupe_config_errors(const troupe_config_t *config)
{
    return config != NULL ? config_text(&config->errors) : "";
}

const char *troupe_config_warnings(const troupe_config_t *config)
{
    return config != NULL ? config_text(&config->warnings) : "";
}

const troupe_node_options_t *troupe_config_node_options(const troupe_config_t *config)
{
    return config != NULL ? &config->values.node : NULL;
}

troupe_err_t troupe_config_get(const troupe_config_t *config, const char *key, char *ret_text,
                               size_t capacity, troupe_config_source_t *ret_source)
{
    if (config == NULL || key == NULL || ret_text == NULL || capacity == 0) {
        return TROUPE_EINVAL;
    }
    const trp_option_t *option = trp_option_find(key);
    if (option == NULL) {
        return TROUPE_ENOENT;
    }
    if (ret_source != NULL) {
        *ret_source = config->marks[trp_option_index(option)].source;
    }
    return trp_option_show(option, &config->values, ret_text, capacity);
}
