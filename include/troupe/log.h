/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What a program needs to receive a node's log: levels, rooms, records, and two ready formats.
 *
 * Thread rule: the functions here may be called on any thread. Since 0.1. */

#ifndef TROUPE_LOG_H
#define TROUPE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/api.h>
#include <troupe/error.h>

TROUPE_BEGIN_DECLS

/* A record is passed on when its level is at least that of its room. */
typedef enum troupe_log_level {
    TROUPE_LOG_TRACE = 1,
    TROUPE_LOG_DEBUG = 2,
    TROUPE_LOG_INFO = 3,
    TROUPE_LOG_WARN = 4,
    TROUPE_LOG_ERROR = 5,
    TROUPE_LOG_OFF = 6 /* Only as a room's level: nothing passes. */
} troupe_log_level_t;

/* The rooms of the house, each with a level of its own; USER is for the program's own records. */
typedef enum troupe_log_room {
    TROUPE_LOG_BASE = 0,
    TROUPE_LOG_ACTOR = 1,
    TROUPE_LOG_LINK = 2,
    TROUPE_LOG_GATEWAY = 3,
    TROUPE_LOG_CLUSTER = 4,
    TROUPE_LOG_PUBSUB = 5,
    TROUPE_LOG_RELIABLE = 6,
    TROUPE_LOG_ENTITY = 7,
    TROUPE_LOG_RPC = 8,
    TROUPE_LOG_HUB = 9,
    TROUPE_LOG_NODE = 10,
    TROUPE_LOG_USER = 11
} troupe_log_room_t;

#define TROUPE_LOG_ROOM_COUNT 12
#define TROUPE_LOG_FIELDS_MAX 16

/* Both are printable text, never NULL. */
typedef struct troupe_log_field {
    const char *key;
    const char *value;
} troupe_log_field_t;

/* Everything in it is borrowed for the call of the sink. */
typedef struct troupe_log_record {
    uint64_t wall_ms; /* Since 1970. */
    troupe_log_level_t level;
    troupe_log_room_t room;
    const char *event; /* A fixed name, such as "peer.connected". */
    const troupe_log_field_t *fields;
    size_t field_count;
} troupe_log_record_t;

/* Receives the records. Called on any of the node's threads, on several at once; must not block and
 * must not call into the node. */
typedef void (*troupe_log_fn)(const troupe_log_record_t *record, void *user);

/* "trace" ... "off"; "?" for a number that is no level. Static. */
TROUPE_API const char *troupe_log_level_name(troupe_log_level_t level);

/* "base" ... "user"; "?" for a number that is no room. Static. */
TROUPE_API const char *troupe_log_room_name(troupe_log_room_t room);

/* The level or room of that name. TROUPE_ENOENT when there is none. */
TROUPE_API troupe_err_t troupe_log_level_parse(const char *name, troupe_log_level_t *ret_level);
TROUPE_API troupe_err_t troupe_log_room_parse(const char *name, troupe_log_room_t *ret_room);

/* Writes the record as one line without line end, cut off to fit and zero-terminated; returns its
 * bytes. Text: `2024-05-01T12:00:00.000Z info link peer.connected peer=a attempt=1`, values with
 * spaces or quotes in quotes. JSON: one object whose fields are all strings; 0 when it doesn't fit,
 * for half an object helps nobody. */
TROUPE_API size_t troupe_log_format_text(const troupe_log_record_t *record, char *out,
                                         size_t capacity);
TROUPE_API size_t troupe_log_format_json(const troupe_log_record_t *record, char *out,
                                         size_t capacity);

TROUPE_END_DECLS

#endif
