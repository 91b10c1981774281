/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's log: levels by room, structured fields, one sink. Nothing here is process-wide: each node
 * has its own trp_log_t.
 *
 *     TRP_LOG(log, TROUPE_LOG_LINK, TROUPE_LOG_DEBUG, "peer.connected", "peer=%s attempt=%u", p, n);
 *
 * The format is a row of key=%... with one space between; each becomes a field. Bytes of a peer go
 * through trp_text_escape first.
 *
 * Thread rule: any thread; the sink is called on the thread that logs. */

#ifndef TROUPE_BASE_LOG_H
#define TROUPE_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/log.h>

#include "base/attr.h"

#define TRP_LOG_TEXT_SIZE_MAX 1024 /* Bytes of all fields of one record; more is cut off. */

typedef struct trp_log {
    troupe_log_fn sink; /* NULL: nothing is logged. */
    void *user;
    _Atomic uint8_t levels[TROUPE_LOG_ROOM_COUNT];
} trp_log_t;

/* One place that may log often: lets one record through an interval and counts the others. */
typedef struct trp_log_limit {
    _Atomic uint64_t open_ns; /* When the next record may pass. */
    _Atomic uint64_t suppressed;
} trp_log_limit_t;

void trp_log_init(trp_log_t *log, troupe_log_fn sink, void *user, troupe_log_level_t level);

/* Level of one room; may be changed while others log. */
void trp_log_set_level(trp_log_t *log, troupe_log_room_t room, troupe_log_level_t level);

/* Relaxed: a level is advice, it orders nothing. */
static inline bool trp_log_is_on(trp_log_t *log, troupe_log_room_t room, troupe_log_level_t level)
{
    return log != NULL && log->sink != NULL &&
           (uint8_t)level >= atomic_load_explicit(&log->levels[room], memory_order_relaxed);
}

/* Gives the record to the sink whatever the level is; use TRP_LOG. */
void trp_log_write(trp_log_t *log, troupe_log_room_t room, troupe_log_level_t level,
                   const char *event, const char *format, ...) TRP_COLD TRP_PRINTF(5, 6);

/* Whether a record may pass now; how many were held back since the last goes to ret_suppressed. */
bool trp_log_limit_pass(trp_log_limit_t *limit, uint64_t now_ns, uint64_t interval_ns,
                        uint64_t *ret_suppressed);

/* `log` may be NULL. The arguments are evaluated only when the record is wanted. */
#define TRP_LOG(log, room, level, event, ...)                                                      \
    do {                                                                                           \
        if (TRP_UNLIKELY(trp_log_is_on((log), (room), (level)))) {                                 \
            trp_log_write((log), (room), (level), (event), __VA_ARGS__);                           \
        }                                                                                          \
    } while (0)

/* As TRP_LOG, at most once a second for each `limit`; the record has a field "suppressed" with the
 * count of those held back. The format must be a literal and not empty. */
#define TRP_LOG_LIMITED(log, limit, now_ns, room, level, event, format, ...)                       \
    do {                                                                                           \
        uint64_t trp_log_held = 0;                                                                 \
        if (trp_log_is_on((log), (room), (level)) &&                                               \
            trp_log_limit_pass((limit), (now_ns), TRP_LOG_LIMIT_NS, &trp_log_held)) {              \
            trp_log_write((log), (room), (level), (event), format " suppressed=%llu", __VA_ARGS__, \
                          (unsigned long long)trp_log_held);                                       \
        }                                                                                          \
    } while (0)

#define TRP_LOG_LIMIT_NS UINT64_C(1000000000)

#endif
