/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Records as lines: text for people, JSON for machines; names of levels and rooms. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <troupe/log.h>

#include "base/attr.h"
#include "base/text.h"

static const char *const log_level_names[] = {"?",    "trace", "debug", "info",
                                              "warn", "error", "off"};
static const char *const log_room_names[] = {"base",    "actor",  "link",     "gateway",
                                             "cluster", "pubsub", "reliable", "entity",
                                             "rpc",     "hub",    "node",     "user"};

_Static_assert(TRP_ARRAY_LEN(log_room_names) == TROUPE_LOG_ROOM_COUNT, "each room has a name");
_Static_assert(TRP_ARRAY_LEN(log_level_names) == TROUPE_LOG_OFF + 1, "each level has a name");

const char *troupe_log_level_name(troupe_log_level_t level)
{
    return (size_t)level < TRP_ARRAY_LEN(log_level_names) ? log_level_names[level] : "?";
}

const char *troupe_log_room_name(troupe_log_room_t room)
{
    return (size_t)room < TRP_ARRAY_LEN(log_room_names) ? log_room_names[room] : "?";
}

troupe_err_t troupe_log_level_parse(const char *name, troupe_log_level_t *ret_level)
{
    if (name == NULL || ret_level == NULL) {
        return TROUPE_EINVAL;
    }
    for (size_t i = TROUPE_LOG_TRACE; i < TRP_ARRAY_LEN(log_level_names); i++) {
        if (strcmp(name, log_level_names[i]) == 0) {
            *ret_level = (troupe_log_level_t)i;
            return TROUPE_OK;
        }
    }
    return TROUPE_ENOENT;
}

troupe_err_t troupe_log_room_parse(const char *name, troupe_log_room_t *ret_room)
{
    if (name == NULL || ret_room == NULL) {
        return TROUPE_EINVAL;
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(log_room_names); i++) {
        if (strcmp(name, log_room_names[i]) == 0) {
            *ret_room = (troupe_log_room_t)i;
            return TROUPE_OK;
        }
    }
    return TROUPE_ENOENT;
}

/* A line being made; what doesn't fit is cut off and remembered. */
typedef struct log_line {
    char *out;
    size_t capacity;
    size_t size;
    bool is_cut;
} log_line_t;

static void log_line_put(log_line_t *line, char c)
{
    if (line->size + 1 >= line->capacity) {
        line->is_cut = true;
        return;
    }
    line->out[line->size++] = c;
    line->out[line->size] = '\0';
}

static void log_line_puts(log_line_t *line, const char *text)
{
    for (; *text != '\0'; text++) {
        log_line_put(line, *text);
    }
}

/* In quotes; the record's text has no control characters, unless a program made it: those become
 * question marks, which both formats can carry. */
static void log_line_quote(log_line_t *line, const char *text)
{
    log_line_put(line, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            log_line_put(line, '\\');
        }
        log_line_put(line, (unsigned char)*text < 0x20 ? '?' : *text);
    }
    log_line_put(line, '"');
}

#define LOG_TIME_SIZE 40

static void log_line_time(log_line_t *line, uint64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    char day[LOG_TIME_SIZE] = "?";
    if (gmtime_r(&seconds, &parts) != NULL) {
        (void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &parts);
    }
    char text[LOG_TIME_SIZE + 8];
    (void)trp_text_format(text, sizeof(text), "%s.%03uZ", day, (unsigned)(wall_ms % 1000));
    log_line_puts(line, text);
}

static bool log_needs_quotes(const char *value)
{
    return value[0] == '\0' || value[strcspn(value, " \"\\=")] != '\0';
}

static bool log_line_init(log_line_t *line, char *out, size_t capacity)
{
    if (out == NULL || capacity == 0) {
        return false;
    }
    out[0] = '\0';
    *line = (log_line_t){out, capacity, 0, false};
    return true;
}

size_t troupe_log_format_text(const troupe_log_record_t *record, char *out, size_t capacity)
{
    log_line_t line;
    if (record == NULL || !log_line_init(&line, out, capacity)) {
        return 0;
    }
    log_line_time(&line, record->wall_ms);
    log_line_put(&line, ' ');
    log_line_puts(&line, troupe_log_level_name(record->level));
    log_line_put(&line, ' ');
    log_line_puts(&line, troupe_log_room_name(record->room));
    log_line_put(&line, ' ');
    log_line_puts(&line, record->event);
    for (size_t i = 0; i < record->field_count; i++) {
        const troupe_log_field_t *field = &record->fields[i];
        log_line_put(&line, ' ');
        log_line_puts(&line, field->key);
        log_line_put(&line, '=');
        if (log_needs_quotes(field->value)) {
            log_line_quote(&line, field->value);
        } else {
            log_line_puts(&line, field->value);
        }
    }
    return line.size;
}

static void log_line_member(log_line_t *line, const char *key, const char *value)
{
    log_line_put(line, ',');
    log_line_quote(line, key);
    log_line_put(line, ':');
    log_line_quote(line, value);
}

size_t troupe_log_format_json(const troupe_log_record_t *record, char *out, size_t capacity)
{
    log_line_t line;
    if (record == NULL || !log_line_init(&line, out, capacity)) {
        return 0;
    }
    log_line_puts(&line, "{\"time\":\"");
    log_line_time(&line, record->wall_ms);
    log_line_put(&line, '"');
    log_line_member(&line, "level", troupe_log_level_name(record->level));
    log_line_member(&line, "room", troupe_log_room_name(record->room));
    log_line_member(&line, "event", record->event);
    for (size_t i = 0; i < record->field_count; i++) {
        log_line_member(&line, record->fields[i].key, record->fields[i].value);
    }
    log_line_put(&line, '}');
    if (line.is_cut) {
        out[0] = '\0';
        return 0;
    }
    return line.size;
}
