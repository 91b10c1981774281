/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of options in memory: finding, suggesting, showing. */

#include "node/option.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/text.h"
#include "node/option_table.h"
#include "node/option_value.h"

/* What people are told that a value is. */
#define OPTION_KIND_TEXT_TEXT "text"
#define OPTION_KIND_TEXT_SECRET "secret"
#define OPTION_KIND_TEXT_PATH "path"
#define OPTION_KIND_TEXT_ADDRESS "address"
#define OPTION_KIND_TEXT_BOOL "true or false"
#define OPTION_KIND_TEXT_U32 "number"
#define OPTION_KIND_TEXT_SIZE "size"
#define OPTION_KIND_TEXT_ENUM "choice"
#define OPTION_KIND_TEXT_LIST "list"
#define OPTION_KIND_TEXT_ADDRESSES "list of addresses"
#define OPTION_KIND_TEXT_MAP "map"

static const trp_option_t option_table[] = {
#define OPTION_ROW(key, kind, field, fallback, min, max, choices, help)                            \
    {{(key), OPTION_KIND_TEXT_##kind, (fallback), (choices), (help), (min), (max)},                \
     TRP_OPTION_##kind,                                                                            \
     offsetof(trp_option_values_t, field)},
    TRP_OPTION_TABLE(OPTION_ROW)
#undef OPTION_ROW
};

size_t trp_option_len(void)
{
    return TRP_ARRAY_LEN(option_table);
}

const trp_option_t *trp_option_at(size_t index)
{
    return index < TRP_ARRAY_LEN(option_table) ? &option_table[index] : NULL;
}

const trp_option_t *trp_option_find(const char *key)
{
    TRP_ASSERT(key != NULL);
    for (size_t i = 0; i < TRP_ARRAY_LEN(option_table); i++) {
        if (strcmp(option_table[i].about.key, key) == 0) {
            return &option_table[i];
        }
    }
    return NULL;
}

size_t trp_option_index(const trp_option_t *option)
{
    TRP_ASSERT(option >= option_table);
    TRP_ASSERT(option < option_table + TRP_ARRAY_LEN(option_table));
    return (size_t)(option - option_table);
}

bool trp_option_is_section(const char *key)
{
    TRP_ASSERT(key != NULL);
    size_t size = strlen(key);
    for (size_t i = 0; i < TRP_ARRAY_LEN(option_table); i++) {
        const char *other = option_table[i].about.key;
        if (strncmp(other, key, size) == 0 && other[size] == '.') {
            return true;
        }
    }
    return false;
}

static const char *option_last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

const char *trp_option_suggest(const char *key)
{
    TRP_ASSERT(key != NULL);
    const char *keys[TRP_ARRAY_LEN(option_table)];
    const char *parts[TRP_ARRAY_LEN(option_table)];
    for (size_t i = 0; i < TRP_ARRAY_LEN(option_table); i++) {
        keys[i] = option_table[i].about.key;
        parts[i] = option_last_part(keys[i]);
    }
    /* The right word in the wrong section first, then a slip in the whole, then one in the word. */
    const char *word = option_last_part(key);
    for (size_t i = 0; i < TRP_ARRAY_LEN(option_table); i++) {
        if (strcmp(parts[i], word) == 0) {
            return keys[i];
        }
    }
    const char *near = trp_text_suggest(key, keys, TRP_ARRAY_LEN(option_table));
    const char *part =
        near == NULL ? trp_text_suggest(word, parts, TRP_ARRAY_LEN(option_table)) : NULL;
    for (size_t i = 0; part != NULL && i < TRP_ARRAY_LEN(option_table); i++) {
        if (parts[i] == part) {
            return keys[i];
        }
    }
    return near;
}

bool trp_option_is_list(const trp_option_t *option)
{
    TRP_ASSERT(option != NULL);
    return option->kind == TRP_OPTION_LIST || option->kind == TRP_OPTION_ADDRESSES ||
           option->kind == TRP_OPTION_MAP;
}

const troupe_config_option_t *troupe_config_option(size_t index)
{
    const trp_option_t *option = trp_option_at(index);
    return option != NULL ? &option->about : NULL;
}

troupe_err_t troupe_config_variable(const char *key, char *ret_text, size_t capacity)
{
    static const char prefix[] = "TROUPE_";
    if (key == NULL || ret_text == NULL) {
        return TROUPE_EINVAL;
    }
    size_t size = strlen(key);
    if (sizeof(prefix) + size > capacity) {
        return TROUPE_ETOOBIG;
    }
    memcpy(ret_text, prefix, sizeof(prefix) - 1);
    for (size_t i = 0; i <= size; i++) {
        char c = key[i];
        bool is_lower = c >= 'a' && c <= 'z';
        ret_text[sizeof(prefix) - 1 + i] = is_lower ? (char)(c - 'a' + 'A') : c == '.' ? '_' : c;
    }
    return TROUPE_OK;
}

/* ---- showing ---------------------------------------------------------------------------------- */

static troupe_err_t option_copy(char *out, size_t capacity, const char *text)
{
    size_t size = strlen(text);
    if (size >= capacity) {
        return TROUPE_ETOOBIG;
    }
    memcpy(out, text, size + 1);
    return TROUPE_OK;
}

static troupe_err_t option_show_list(const troupe_string_list_t *list, char *out, size_t capacity)
{
    size_t used = 0;
    TRP_ASSERT(capacity > 0);
    out[0] = '\0';
    for (size_t i = 0; i < list->len; i++) {
        size_t left = capacity - used;
        troupe_err_t err = i > 0 ? option_copy(out + used, left, ",") : TROUPE_OK;
        used += i > 0 && err == TROUPE_OK ? 1 : 0;
        if (err == TROUPE_OK) {
            err = option_copy(out + used, capacity - used, list->items[i]);
        }
        if (err != TROUPE_OK) {
            return err;
        }
        used += strlen(list->items[i]);
    }
    return TROUPE_OK;
}

static troupe_err_t option_show_number(uint64_t number, char *out, size_t capacity)
{
    char text[24];
    trp_text_format(text, sizeof(text), "%" PRIu64, number);
    return option_copy(out, capacity, text);
}

static troupe_err_t option_show_choice(const trp_option_t *option, uint32_t number, char *out,
                                       size_t capacity)
{
    char text[TRP_OPTION_KEY_SIZE_MAX];
    trp_option_choice(option, number, text);
    return option_copy(out, capacity, text);
}

troupe_err_t trp_option_show(const trp_option_t *option, const trp_option_values_t *values,
                             char *ret_text, size_t capacity)
{
    TRP_ASSERT(option != NULL);
    TRP_ASSERT(values != NULL);
    const void *field = (const char *)values + option->offset;
    const char *text = NULL;
    switch (option->kind) {
    case TRP_OPTION_BOOL:
        return option_copy(ret_text, capacity, *(const bool *)field ? "true" : "false");
    case TRP_OPTION_U32:
        return option_show_number(*(const uint32_t *)field, ret_text, capacity);
    case TRP_OPTION_SIZE:
        return option_show_number(*(const uint64_t *)field, ret_text, capacity);
    case TRP_OPTION_ENUM:
        return option_show_choice(option, *(const uint32_t *)field, ret_text, capacity);
    case TRP_OPTION_LIST:
    case TRP_OPTION_ADDRESSES:
    case TRP_OPTION_MAP:
        return option_show_list(field, ret_text, capacity);
    case TRP_OPTION_SECRET:
        text = *(const char *const *)field;
        return option_copy(ret_text, capacity, text == NULL || text[0] == '\0' ? "" : "***");
    case TRP_OPTION_TEXT:
    case TRP_OPTION_PATH:
    case TRP_OPTION_ADDRESS:
        break;
    }
    text = *(const char *const *)field;
    return option_copy(ret_text, capacity, text != NULL ? text : "");
}
