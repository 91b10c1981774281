/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Output: tables for people, JSON for programs. */

#ifndef TROUPE_TOOL_PRINT_H
#define TROUPE_TOOL_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

/* A column: its title, and the field of the row that it shows. */
typedef struct print_column {
    const char *title;
    const char *key;
    bool is_number; /* To the right. */
} print_column_t;

/* Prints rows as a table; columns are as wide as they need. */
void print_table(const cJSON *rows, const print_column_t *columns, size_t len);

/* Prints a JSON value on one line. */
void print_json(const cJSON *value);

/* The field as text fit for a terminal: control bytes escaped, hexadecimal ones as \xHH, arrays with
 * commas, truth as yes or no. To free. */
char *print_cell(const cJSON *row, const char *key);

/* Writes the field's bytes as they are. */
void print_raw(const cJSON *row, const char *key);

#endif
