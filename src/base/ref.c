/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* References as text: "#", 16 hexadecimal digits of the node, ".", 16 of the id. */

#include <troupe/ref.h>

#include "base/assert.h"

#define REF_DIGITS 16
#define REF_DOT (1 + REF_DIGITS)
#define REF_END (REF_DOT + 1 + REF_DIGITS)

_Static_assert(REF_END + 1 <= TROUPE_REF_TEXT_SIZE, "a reference's text must fit");

static void ref_put_hex(uint64_t value, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < REF_DIGITS; i++) {
        out[REF_DIGITS - 1 - i] = digits[(value >> (4 * i)) & 0xf];
    }
}

/* Lower case only: one reference has one text. Stops at a zero, for that is no digit. */
static troupe_err_t ref_get_hex(const char *text, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < REF_DIGITS; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9') {
            value = value << 4 | (uint64_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        } else {
            return TROUPE_EINVAL;
        }
    }
    *ret_value = value;
    return TROUPE_OK;
}

const char *troupe_ref_format(troupe_ref_t ref, char text[TROUPE_REF_TEXT_SIZE])
{
    TRP_ASSERT(text != NULL);
    text[0] = '#';
    ref_put_hex(ref.node, text + 1);
    text[REF_DOT] = '.';
    ref_put_hex(ref.id, text + REF_DOT + 1);
    text[REF_END] = '\0';
    return text;
}

troupe_err_t troupe_ref_parse(const char *text, troupe_ref_t *ret_ref)
{
    if (text == NULL || ret_ref == NULL || text[0] != '#') {
        return TROUPE_EINVAL;
    }
    troupe_ref_t ref = {0, 0};
    if (ref_get_hex(text + 1, &ref.node) != TROUPE_OK || text[REF_DOT] != '.' ||
        ref_get_hex(text + REF_DOT + 1, &ref.id) != TROUPE_OK || text[REF_END] != '\0') {
        return TROUPE_EINVAL;
    }
    if (ref.node == 0 && ref.id != 0) {
        return TROUPE_EINVAL;
    }
    *ret_ref = ref;
    return TROUPE_OK;
}
