/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Names and texts of errors, from the one table. */

#include <troupe/error.h>

const char *troupe_err_name(troupe_err_t err)
{
    switch (err) {
#define ERROR_NAME(name, number, text)                                                             \
    case name:                                                                                     \
        return #name;
        TROUPE_ERROR_TABLE(ERROR_NAME)
#undef ERROR_NAME
    }
    return "TROUPE_E?";
}

const char *troupe_err_text(troupe_err_t err)
{
    switch (err) {
#define ERROR_TEXT(name, number, text)                                                             \
    case name:                                                                                     \
        return text;
        TROUPE_ERROR_TABLE(ERROR_TEXT)
#undef ERROR_TEXT
    }
    return "an error of no known number";
}
