/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Writes log records. A record is one write, so that records of several threads don't mix and no lock
 * is needed. */

#include "log_sink.h"

#include <fcntl.h>
#include <unistd.h>

#define LOG_LINE_SIZE 4096

static int sink_open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
}

bool log_sink_open(log_sink_t *sink, const char *path, bool is_json)
{
    sink->is_json = is_json;
    sink->path = path;
    sink->fd = path != NULL ? sink_open_file(path) : STDERR_FILENO;
    return sink->fd >= 0;
}

bool log_sink_reopen(log_sink_t *sink)
{
    if (sink->path == NULL) {
        return true;
    }
    int fd = sink_open_file(sink->path);
    if (fd < 0) {
        return false;
    }
    /* Other threads go on writing to the same number, to the old file or to the new one. */
    bool is_moved = dup3(fd, sink->fd, O_CLOEXEC) >= 0;
    close(fd);
    return is_moved;
}

void log_sink_close(log_sink_t *sink)
{
    if (sink->path != NULL && sink->fd >= 0) {
        close(sink->fd);
    }
    sink->fd = -1;
}

void log_sink_write(const troupe_log_record_t *record, void *user)
{
    const log_sink_t *sink = user;
    char line[LOG_LINE_SIZE];
    size_t size = sink->is_json ? troupe_log_format_json(record, line, sizeof(line) - 1)
                                : troupe_log_format_text(record, line, sizeof(line) - 1);
    if (size == 0) {
        return;
    }
    line[size] = '\n';
    /* Nobody is there to be told when this fails. */
    ssize_t written = write(sink->fd, line, size + 1);
    (void)written;
}
