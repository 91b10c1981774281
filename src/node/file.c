/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads small files, bounded. */

#include "node/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/memory.h"

#define FILE_BLANKS " \t\r"

/* Closes and keeps errno, so that it can stand before the caller's message. */
static void file_close(int *fd)
{
    int saved = errno;
    if (*fd >= 0) {
        close(*fd);
    }
    errno = saved;
}

static troupe_err_t file_read_all(int fd, size_t size_max, char *out, size_t *ret_size)
{
    size_t size = 0;
    while (size < size_max) {
        ssize_t got = read(fd, out + size, size_max - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return TROUPE_ESYSTEM;
        }
        if (got == 0) {
            break;
        }
        size += (size_t)got;
    }
    out[size] = '\0';
    *ret_size = size;
    return TROUPE_OK;
}

static troupe_err_t file_read(const char *path, size_t size_max, mode_t forbidden, char **ret_text,
                              size_t *ret_size)
{
    TRP_ASSERT(path != NULL);
    TRP_CLEANUP(file_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) {
        return TROUPE_ESYSTEM;
    }
    if ((about.st_mode & forbidden) != 0) {
        return TROUPE_EPERM;
    }
    /* A file that says its size needs no more; pipes and the like don't say it. */
    bool is_sized = S_ISREG(about.st_mode) && (size_t)about.st_size < size_max;
    size_t room = is_sized ? (size_t)about.st_size + 1 : size_max;
    char *text = trp_alloc(room + 1);
    if (text == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = file_read_all(fd, room, text, ret_size);
    if (err != TROUPE_OK) {
        int saved = errno;
        trp_free(text);
        errno = saved;
        return err;
    }
    *ret_text = text;
    return TROUPE_OK;
}

troupe_err_t trp_file_read(const char *path, size_t size_max, char **ret_text, size_t *ret_size)
{
    return file_read(path, size_max, 0, ret_text, ret_size);
}

troupe_err_t trp_file_read_secret(const char *path, size_t size_max, char **ret_text,
                                  size_t *ret_size)
{
    return file_read(path, size_max, S_IRWXG | S_IRWXO, ret_text, ret_size);
}

char *trp_file_next_line(char **text_p)
{
    TRP_ASSERT(text_p != NULL);
    for (char *line = strsep(text_p, "\n"); line != NULL; line = strsep(text_p, "\n")) {
        line += strspn(line, FILE_BLANKS);
        /* A key may begin with #, but no key is one byte long or has a space in it. */
        bool is_comment = line[0] == '#' && (line[1] == '\0' || line[1] == ' ');
        size_t size = is_comment ? 0 : strlen(line);
        while (size > 0 && strchr(FILE_BLANKS, line[size - 1]) != NULL) {
            size -= 1;
        }
        line[size] = '\0';
        if (size > 0) {
            return line;
        }
    }
    return NULL;
}
