/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Text helpers. */

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

size_t trp_text_format(char *out, size_t capacity, const char *format, ...)
{
    TRP_ASSERT(capacity > 0);
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(out, capacity, format, args);
    va_end(args);
    if (wanted < 0) {
        out[0] = '\0';
        return 0;
    }
    return (size_t)wanted < capacity ? (size_t)wanted : capacity - 1;
}

size_t trp_text_copy(char *out, size_t capacity, const char *text)
{
    TRP_ASSERT(capacity > 0);
    size_t size = strnlen(text, capacity - 1);
    memcpy(out, text, size);
    out[size] = '\0';
    return size;
}

const char *trp_text_of_errno(int number)
{
    const char *text = strerrordesc_np(number);
    return text != NULL ? text : "unknown error";
}

troupe_err_t trp_text_parse_u64(const char *text, uint64_t max, uint64_t *ret_value)
{
    TRP_ASSERT(text != NULL);
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return TROUPE_EINVAL;
        }
        value = value * 10 + digit;
    }
    if (at == text || *at != '\0' || value > max) {
        return TROUPE_EINVAL;
    }
    *ret_value = value;
    return TROUPE_OK;
}

static char text_hex_digit(unsigned value)
{
    return "0123456789ABCDEF"[value & 0xf];
}

#define TEXT_ESCAPE_SIZE_MAX 4 /* \xHH */

/* How one byte is written; returns the bytes it takes. */
static size_t text_escape_byte(uint8_t byte, char out[TEXT_ESCAPE_SIZE_MAX])
{
    static const char plain[] = "\n\t\r\\\"";
    static const char names[] = "ntr\\\"";
    const char *special = byte != 0 ? strchr(plain, byte) : NULL;
    if (special != NULL) {
        out[0] = '\\';
        out[1] = names[special - plain];
        return 2;
    }
    if (byte >= 0x20 && byte < 0x7f) {
        out[0] = (char)byte;
        return 1;
    }
    out[0] = '\\';
    out[1] = 'x';
    out[2] = text_hex_digit(byte >> 4);
    out[3] = text_hex_digit(byte);
    return TEXT_ESCAPE_SIZE_MAX;
}

const char *trp_text_escape(char *out, size_t capacity, const void *data, size_t size)
{
    static const char dots[] = "...";
    TRP_ASSERT(capacity >= sizeof(dots));
    const uint8_t *bytes = data;
    size_t used = 0;
    size_t fits = 0; /* How much may stay when the dots must follow. */
    for (size_t i = 0; i < size; i++) {
        char escaped[TEXT_ESCAPE_SIZE_MAX];
        size_t escaped_size = text_escape_byte(bytes[i], escaped);
        if (used + escaped_size >= capacity) {
            memcpy(out + fits, dots, sizeof(dots));
            return out;
        }
        memcpy(out + used, escaped, escaped_size);
        used += escaped_size;
        if (used + sizeof(dots) <= capacity) {
            fits = used;
        }
    }
    out[used] = '\0';
    return out;
}

/* How many bytes the sequence that begins with `first` has; 0 when none begins so. */
static size_t text_utf8_size(uint8_t first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        return 3;
    }
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The second byte's range depends on the first: it keeps out overlong forms, surrogates, and what
 * lies beyond U+10FFFF. */
static bool text_utf8_second_fits(uint8_t first, uint8_t second)
{
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

static bool text_utf8_sequence_fits(const uint8_t *at, size_t size)
{
    if (size > 1 && !text_utf8_second_fits(at[0], at[1])) {
        return false;
    }
    for (size_t i = 2; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

bool trp_text_is_utf8(const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t left = size;
    while (left > 0) {
        size_t sequence = text_utf8_size(at[0]);
        if (sequence == 0 || sequence > left || !text_utf8_sequence_fits(at, sequence)) {
            return false;
        }
        at += sequence;
        left -= sequence;
    }
    return true;
}
