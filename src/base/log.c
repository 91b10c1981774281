/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's log: from a format to a record with fields, and the limiter. */

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"

#define LOG_FORMAT_SIZE_MAX 512 /* Bytes of a format; they are our own literals. */
#define LOG_SEPARATOR '\x1f'    /* Stands between fields while the text is being made. */

void trp_log_init(trp_log_t *log, troupe_log_fn sink, void *user, troupe_log_level_t level)
{
    TRP_ASSERT(log != NULL);
    log->sink = sink;
    log->user = user;
    for (size_t room = 0; room < TROUPE_LOG_ROOM_COUNT; room++) {
        atomic_init(&log->levels[room], (uint8_t)level);
    }
}

void trp_log_set_level(trp_log_t *log, troupe_log_room_t room, troupe_log_level_t level)
{
    TRP_ASSERT((size_t)room < TROUPE_LOG_ROOM_COUNT);
    /* Pairs with the relaxed load in trp_log_is_on: a level is advice, it orders nothing. */
    atomic_store_explicit(&log->levels[room], (uint8_t)level, memory_order_relaxed);
}

/* The format with the spaces between fields replaced, so that spaces in values divide nothing. */
static void log_mark_format(const char *format, char out[LOG_FORMAT_SIZE_MAX])
{
    size_t size = strlen(format);
    TRP_ASSERT(size < LOG_FORMAT_SIZE_MAX);
    for (size_t i = 0; i <= size; i++) {
        out[i] = format[i] == ' ' ? LOG_SEPARATOR : format[i];
    }
}

/* The last line of defence: whatever a caller forgot to escape leaves no mark in a log. */
static void log_make_printable(char *value)
{
    bool is_utf8 = trp_text_is_utf8(value, strlen(value));
    for (unsigned char *at = (unsigned char *)value; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7f || (*at >= 0x80 && !is_utf8)) {
            *at = '?';
        }
    }
}

/* Cuts "key=value<sep>key=value" into fields, in place. A piece without "=" belongs to no field: it
 * can only come from a separator in a value, and is dropped. */
static size_t log_split(char *text, troupe_log_field_t fields[TROUPE_LOG_FIELDS_MAX])
{
    static const char separator[] = {LOG_SEPARATOR, '\0'};
    size_t len = 0;
    char *rest = text;
    char *piece = NULL;
    while (len < TROUPE_LOG_FIELDS_MAX && (piece = strsep(&rest, separator)) != NULL) {
        char *equals = strchr(piece, '=');
        if (equals == NULL) {
            continue;
        }
        *equals = '\0';
        log_make_printable(equals + 1);
        fields[len++] = (troupe_log_field_t){piece, equals + 1};
    }
    return len;
}

void trp_log_write(trp_log_t *log, troupe_log_room_t room, troupe_log_level_t level,
                   const char *event, const char *format, ...)
{
    TRP_ASSERT(log->sink != NULL);
    char marked[LOG_FORMAT_SIZE_MAX];
    log_mark_format(format, marked);
    char text[TRP_LOG_TEXT_SIZE_MAX];
    va_list args;
    va_start(args, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* It differs from `format` in spaces only. */
    int size = vsnprintf(text, sizeof(text), marked, args);
#pragma GCC diagnostic pop
    va_end(args);
    troupe_log_field_t fields[TROUPE_LOG_FIELDS_MAX];
    size_t len = size < 0 ? 0 : log_split(text, fields);
    troupe_log_record_t record = {trp_clock_wall_ms(), level, room, event, fields, len};
    log->sink(&record, log->user);
}

bool trp_log_limit_pass(trp_log_limit_t *limit, uint64_t now_ns, uint64_t interval_ns,
                        uint64_t *ret_suppressed)
{
    TRP_ASSERT(limit != NULL);
    /* All relaxed: the numbers order nothing but themselves. Of several threads at the end of an
     * interval the one whose exchange succeeds passes. */
    uint64_t open = atomic_load_explicit(&limit->open_ns, memory_order_relaxed);
    if (now_ns < open || !atomic_compare_exchange_strong_explicit(
                             &limit->open_ns, &open, trp_clock_add(now_ns, interval_ns),
                             memory_order_relaxed, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&limit->suppressed, 1, memory_order_relaxed);
        return false;
    }
    *ret_suppressed = atomic_exchange_explicit(&limit->suppressed, 0, memory_order_relaxed);
    return true;
}
