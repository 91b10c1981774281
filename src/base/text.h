/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Text: bounded formatting, numbers, foreign bytes made fit for logs, percent-encoding, suggestions.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_BASE_TEXT_H
#define TROUPE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/attr.h"

/* As snprintf, but returns the bytes that are in `out` (cut off to fit, always zero-terminated). */
size_t trp_text_format(char *out, size_t capacity, const char *format, ...) TRP_PRINTF(3, 4);

/* Copies a string, cut off to fit, always zero-terminated. Returns the bytes copied. */
size_t trp_text_copy(char *out, size_t capacity, const char *text);

/* What errno's number means, such as "Permission denied"; never NULL. Static: other than with strerror
 * no buffer is shared and no locale is asked. */
const char *trp_text_of_errno(int number);

/* A whole decimal number without sign or space. TROUPE_EINVAL when it is none or above `max`. */
troupe_err_t trp_text_parse_u64(const char *text, uint64_t max, uint64_t *ret_value);

/* Makes any bytes printable ASCII: \n, \t, \\, \" and \xHH; "..." at the end when they didn't fit.
 * Always zero-terminated; returns `out`, so that it can stand in an argument list. */
const char *trp_text_escape(char *out, size_t capacity, const void *data, size_t size);

/* Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool trp_text_is_utf8(const void *data, size_t size);

/* The most bytes that percent-encoding makes of `size`. */
#define TRP_TEXT_PERCENT_SIZE_MAX(size) ((size)*3)

/* Writes `data` with everything but letters, digits and -._~!$&'()+,;=:@ as %HH, and a zero. So what
 * means something in paths and patterns (/ * > # % ?) never stands unencoded. One meaning, one
 * encoding. TROUPE_ETOOBIG when `out` is too small for it. */
troupe_err_t trp_text_percent_encode(const void *data, size_t size, char *out, size_t capacity,
                                     size_t *ret_size);

/* Reads %HH (either case); other bytes stand for themselves. Adds no zero. TROUPE_EINVAL when a % is
 * not followed by two digits, TROUPE_ETOOBIG when `out` is too small. `out` may be `text` itself. */
troupe_err_t trp_text_percent_decode(const char *text, size_t size, void *out, size_t capacity,
                                     size_t *ret_size);

/* Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`; strings
 * longer than TRP_TEXT_DISTANCE_SIZE_MAX are as far apart as can be (SIZE_MAX). */
#define TRP_TEXT_DISTANCE_SIZE_MAX 64
size_t trp_text_distance(const char *a, const char *b);

/* The candidate that `word` most likely meant; NULL when none is near. */
const char *trp_text_suggest(const char *word, const char *const *candidates, size_t len);

#endif
