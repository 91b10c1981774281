/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Percent-encoding: any bytes as a segment of a path. */

#include <string.h>

#include "base/assert.h"
#include "base/text.h"

/* What stands for itself. Not among them: / * > # % ? and quotes of any meaning in a shell path. */
static bool percent_is_plain(uint8_t byte)
{
    if ((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
        (byte >= 'A' && byte <= 'Z')) {
        return true;
    }
    return byte != 0 && strchr("-._~!$&'()+,;=:@", byte) != NULL;
}

troupe_err_t trp_text_percent_encode(const void *data, size_t size, char *out, size_t capacity,
                                     size_t *ret_size)
{
    static const char digits[] = "0123456789ABCDEF";
    TRP_ASSERT(data != NULL || size == 0);
    const uint8_t *bytes = data;
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        bool plain = percent_is_plain(bytes[i]);
        if (used + (plain ? 1 : 3) >= capacity) {
            return TROUPE_ETOOBIG;
        }
        if (plain) {
            out[used++] = (char)bytes[i];
            continue;
        }
        out[used++] = '%';
        out[used++] = digits[bytes[i] >> 4];
        out[used++] = digits[bytes[i] & 0xf];
    }
    if (used >= capacity) {
        return TROUPE_ETOOBIG;
    }
    out[used] = '\0';
    *ret_size = used;
    return TROUPE_OK;
}

/* The value of a digit; 16 when it is none. */
static unsigned percent_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    if (c >= 'a' && c <= 'f') {
        return (unsigned)(c - 'a') + 10;
    }
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* Reads one byte of the meaning; returns how many bytes of text it took, 0 when they are wrong. */
static size_t percent_read(const char *text, size_t size, uint8_t *ret_byte)
{
    if (text[0] != '%') {
        *ret_byte = (uint8_t)text[0];
        return 1;
    }
    if (size < 3) {
        return 0;
    }
    unsigned high = percent_digit(text[1]);
    unsigned low = percent_digit(text[2]);
    if (high > 15 || low > 15) {
        return 0;
    }
    *ret_byte = (uint8_t)(high << 4 | low);
    return 3;
}

troupe_err_t trp_text_percent_decode(const char *text, size_t size, void *out, size_t capacity,
                                     size_t *ret_size)
{
    TRP_ASSERT(text != NULL || size == 0);
    uint8_t *bytes = out;
    size_t used = 0;
    for (size_t i = 0; i < size;) {
        uint8_t byte = 0;
        size_t taken = percent_read(text + i, size - i, &byte);
        if (taken == 0) {
            return TROUPE_EINVAL;
        }
        if (used >= capacity) {
            return TROUPE_ETOOBIG;
        }
        bytes[used++] = byte;
        i += taken;
    }
    *ret_size = used;
    return TROUPE_OK;
}
