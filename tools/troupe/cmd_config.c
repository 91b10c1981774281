/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Shows the configuration in force, or describes all options for the documentation. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <troupe/config.h>

#include "settings.h"
#include "tool.h"

#define CONFIG_VALUE_SIZE 65536

static const char *config_source_name(troupe_config_source_t source)
{
    static const char *const names[] = {"default", "file", "environment", "flag"};
    return names[source];
}

/* ---- in force ----------------------------------------------------------------------------------- */

static void config_print(const char *key, const char *value, const char *source)
{
    printf("%-30s %-24s %s\n", key, value, source);
}

static void config_add_json(cJSON *out, const char *key, const char *value, const char *source)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "key", key);
    cJSON_AddStringToObject(row, "value", value);
    cJSON_AddStringToObject(row, "source", source);
    cJSON_AddItemToArray(out, row);
}

static void config_show(const tool_args_t *args, const troupe_config_t *config, char *value)
{
    cJSON *rows = args->is_json ? cJSON_CreateArray() : NULL;
    bool is_changed_only = tool_flag(args, "changed") != NULL;
    for (size_t i = 0; troupe_config_option(i) != NULL; i++) {
        troupe_config_source_t source = TROUPE_CONFIG_DEFAULT;
        const char *key = troupe_config_option(i)->key;
        if (troupe_config_get(config, key, value, CONFIG_VALUE_SIZE, &source) != TROUPE_OK ||
            (is_changed_only && source == TROUPE_CONFIG_DEFAULT)) {
            continue;
        }
        if (rows != NULL) {
            config_add_json(rows, key, value, config_source_name(source));
        } else {
            config_print(key, value, config_source_name(source));
        }
    }
    char *text = rows != NULL ? cJSON_PrintUnformatted(rows) : NULL;
    if (text != NULL) {
        puts(text);
    }
    free(text);
    cJSON_Delete(rows);
}

/* ---- documentation ------------------------------------------------------------------------------- */

/* Text in a cell of a table. */
static void config_print_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            putchar('\\');
        }
        putchar(*text);
    }
}

static void config_describe(const troupe_config_option_t *option)
{
    char variable[128] = "";
    if (troupe_config_variable(option->key, variable, sizeof(variable)) != TROUPE_OK) {
        return;
    }
    printf("| `%s` | ", option->key);
    config_print_cell(option->choices[0] != '\0' ? option->choices : option->kind);
    if (option->max > option->min && option->choices[0] == '\0' &&
        strcmp(option->kind, "true or false") != 0) {
        printf(", %llu to %llu", (unsigned long long)option->min, (unsigned long long)option->max);
    }
    printf(" | %s%s%s | ", option->default_text[0] != '\0' ? "`" : "", option->default_text,
           option->default_text[0] != '\0' ? "`" : "");
    config_print_cell(option->help);
    printf(" |\n");
}

static size_t config_section_size(const char *key)
{
    return strcspn(key, ".");
}

/* A table for each section. */
static void config_describe_all(void)
{
    const char *section = "";
    for (size_t i = 0; troupe_config_option(i) != NULL; i++) {
        const troupe_config_option_t *option = troupe_config_option(i);
        size_t size = config_section_size(option->key);
        if (size != config_section_size(section) || memcmp(section, option->key, size) != 0) {
            section = option->key;
            printf("%s### %.*s\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
                   i > 0 ? "\n" : "", (int)size, section);
        }
        config_describe(option);
    }
}

tool_exit_t tool_run_config(const tool_args_t *args)
{
    if (tool_flag(args, "markdown") != NULL) {
        config_describe_all();
        return TOOL_OK;
    }
    troupe_config_t *config = NULL;
    char *value = malloc(CONFIG_VALUE_SIZE);
    tool_exit_t code = value != NULL ? tool_load_config(args, &config) : TOOL_FAILED;
    if (code == TOOL_OK) {
        config_show(args, config, value);
    }
    troupe_config_destroy(&config);
    free(value);
    return code;
}
