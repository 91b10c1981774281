/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Where `troupe node` puts its log: standard error or a file, as text or JSON lines. */

#ifndef TROUPE_TOOL_LOG_SINK_H
#define TROUPE_TOOL_LOG_SINK_H

#include <stdbool.h>

#include <troupe/log.h>

typedef struct log_sink {
    int fd;
    bool is_json;
    const char *path; /* NULL: standard error. Borrowed. */
} log_sink_t;

/* False: the file can't be opened; errno says why. */
bool log_sink_open(log_sink_t *sink, const char *path, bool is_json);
/* Opens the file anew under the same descriptor, after it was renamed. */
bool log_sink_reopen(log_sink_t *sink);
void log_sink_close(log_sink_t *sink);

/* A troupe_log_fn; `user` is the sink. Any thread. */
void log_sink_write(const troupe_log_record_t *record, void *user);

#endif
