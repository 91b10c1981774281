/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tables and JSON. */

#include "print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINT_COLUMNS_MAX 16
#define PRINT_CELL_MAX 100 /* Bytes of a cell in a table; more is cut off. */

void print_json(const cJSON *value)
{
    char *text = cJSON_PrintUnformatted(value);
    puts(text != NULL ? text : "null");
    free(text);
}

/* ---- bytes ------------------------------------------------------------------------------------- */

/* A string whose control bytes can't move the cursor or ring the bell. UTF-8 stays. */
static char *print_escaped(const char *text)
{
    size_t size = strlen(text);
    char *out = malloc(4 * size + 1);
    size_t used = 0;
    for (size_t i = 0; out != NULL && i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        /* C1 controls are two bytes in UTF-8: C2 80 to C2 9F. */
        bool is_c1 = c == 0xc2 && (unsigned char)text[i + 1] < 0xa0;
        if (c < ' ' || c == 127 || is_c1) {
            used += (size_t)snprintf(out + used, 5, "\\x%02x", c);
        } else {
            out[used] = text[i];
            used += 1;
        }
    }
    if (out != NULL) {
        out[used] = '\0';
    }
    return out;
}

static const char *print_hex_of(const cJSON *row, const char *key)
{
    char name[48];
    snprintf(name, sizeof(name), "%s_hex", key);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static int print_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static char *print_from_hex(const char *hex)
{
    size_t len = strlen(hex) / 2;
    char *out = malloc(4 * len + 1);
    size_t used = 0;
    for (size_t i = 0; out != NULL && i < len; i++) {
        int c = print_digit(hex[2 * i]) << 4 | print_digit(hex[2 * i + 1]);
        bool is_plain = c >= ' ' && c < 127 && c != '\\';
        used += (size_t)snprintf(out + used, 5, is_plain ? "%c" : "\\x%02x", c);
    }
    if (out != NULL) {
        out[used] = '\0';
    }
    return out;
}

/* ---- cells ------------------------------------------------------------------------------------- */

static char *print_list(const cJSON *list)
{
    size_t room = 1;
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        room += cJSON_IsString(item) ? strlen(item->valuestring) + 1 : 0;
    }
    char *joined = malloc(room);
    if (joined == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        if (cJSON_IsString(item)) {
            used += (size_t)snprintf(joined + used, room - used, "%s%s", used > 0 ? "," : "",
                                     item->valuestring);
        }
    }
    joined[used] = '\0';
    char *out = print_escaped(joined);
    free(joined);
    return out;
}

char *print_cell(const cJSON *row, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, key);
    if (item == NULL) {
        const char *hex = print_hex_of(row, key);
        return hex != NULL ? print_from_hex(hex) : strdup("");
    }
    if (cJSON_IsString(item)) {
        return print_escaped(item->valuestring);
    }
    if (cJSON_IsBool(item)) {
        return strdup(cJSON_IsTrue(item) ? "yes" : "no");
    }
    if (cJSON_IsArray(item)) {
        return print_list(item);
    }
    return cJSON_PrintUnformatted(item);
}

void print_raw(const cJSON *row, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, key);
    const char *hex = print_hex_of(row, key);
    if (cJSON_IsString(item)) {
        fputs(item->valuestring, stdout);
    }
    for (size_t i = 0; hex != NULL && hex[i] != '\0' && hex[i + 1] != '\0'; i += 2) {
        putchar(print_digit(hex[i]) << 4 | print_digit(hex[i + 1]));
    }
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* Letters rather than bytes: what UTF-8 continues with isn't counted. */
static size_t print_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static void print_padded(const char *text, size_t width, bool to_right, bool is_last)
{
    size_t own = print_width(text);
    size_t pad = own < width ? width - own : 0;
    if (to_right) {
        printf("%*s%s", (int)pad, "", text);
    } else {
        printf("%s%*s", text, is_last ? 0 : (int)pad, "");
    }
    fputs(is_last ? "\n" : "  ", stdout);
}

static char *print_table_cell(const cJSON *row, const print_column_t *column)
{
    char *cell = print_cell(row, column->key);
    if (cell != NULL && strlen(cell) > PRINT_CELL_MAX) {
        size_t end = PRINT_CELL_MAX - 3;
        /* It is longer than that. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        while (end > 0 && ((unsigned char)cell[end] & 0xc0) == 0x80) {
            end -= 1; /* Not in the middle of a letter. */
        }
        memcpy(cell + end, "...", sizeof("..."));
    }
    return cell;
}

static void print_widths(const cJSON *rows, const print_column_t *columns, size_t len,
                         size_t *ret_widths)
{
    for (size_t i = 0; i < len; i++) {
        ret_widths[i] = print_width(columns[i].title);
        for (const cJSON *row = rows->child; row != NULL; row = row->next) {
            char *cell = print_table_cell(row, &columns[i]);
            size_t width = cell != NULL ? print_width(cell) : 0;
            ret_widths[i] = width > ret_widths[i] ? width : ret_widths[i];
            free(cell);
        }
    }
}

void print_table(const cJSON *rows, const print_column_t *columns, size_t len)
{
    size_t widths[PRINT_COLUMNS_MAX];
    if (!cJSON_IsArray(rows) || len > PRINT_COLUMNS_MAX) {
        return;
    }
    print_widths(rows, columns, len, widths);
    for (size_t i = 0; i < len; i++) {
        print_padded(columns[i].title, widths[i], columns[i].is_number, i + 1 == len);
    }
    for (const cJSON *row = rows->child; row != NULL; row = row->next) {
        for (size_t i = 0; i < len; i++) {
            char *cell = print_table_cell(row, &columns[i]);
            print_padded(cell != NULL ? cell : "", widths[i], columns[i].is_number, i + 1 == len);
            free(cell);
        }
    }
}
