/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* CURVE key pairs and their files: one line of Z85 text each. */

#include "net/link/key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define KEY_FILE_MODE 0600
#define KEY_FILE_SIZE_MAX 256u

troupe_err_t trp_link_keygen(trp_link_key_t *ret_public, trp_link_key_t *ret_secret)
{
    return zmq_curve_keypair(ret_public->text, ret_secret->text) == 0 ? TROUPE_OK : TROUPE_ESYSTEM;
}

static bool key_is_valid(const trp_link_key_t *key)
{
    uint8_t bytes[32];
    return strlen(key->text) == TRP_LINK_KEY_SIZE && zmq_z85_decode(bytes, key->text) != NULL;
}

troupe_err_t trp_link_key_public(const trp_link_key_t *secret, trp_link_key_t *ret_public)
{
    if (!key_is_valid(secret)) {
        return TROUPE_EINVAL;
    }
    return zmq_curve_public(ret_public->text, secret->text) == 0 ? TROUPE_OK : TROUPE_EINVAL;
}

static bool key_write(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return true;
}

troupe_err_t trp_link_key_save(const char *path, const trp_link_key_t *key)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, KEY_FILE_MODE);
    if (fd < 0) {
        return errno == EEXIST ? TROUPE_EEXIST : TROUPE_ESYSTEM;
    }
    bool is_written = key_write(fd, key->text, strlen(key->text)) && key_write(fd, "\n", 1);
    bool is_closed = close(fd) == 0;
    if (!is_written || !is_closed) {
        (void)unlink(path);
        return TROUPE_ESYSTEM;
    }
    return TROUPE_OK;
}

/* Whether the open file is one that only its owner may read. */
static bool key_is_private(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

static troupe_err_t key_read(int fd, trp_link_key_t *ret_key)
{
    char text[KEY_FILE_SIZE_MAX];
    ssize_t size = read(fd, text, sizeof(text));
    if (size < (ssize_t)TRP_LINK_KEY_SIZE) {
        return size < 0 ? TROUPE_ESYSTEM : TROUPE_EINVAL;
    }
    trp_link_key_t key;
    memcpy(key.text, text, TRP_LINK_KEY_SIZE);
    key.text[TRP_LINK_KEY_SIZE] = '\0';
    /* White space may follow, nothing else. */
    for (ssize_t i = (ssize_t)TRP_LINK_KEY_SIZE; i < size; i++) {
        if (strchr(" \t\r\n", text[i]) == NULL) {
            return TROUPE_EINVAL;
        }
    }
    if (!key_is_valid(&key)) {
        return TROUPE_EINVAL;
    }
    *ret_key = key;
    return TROUPE_OK;
}

troupe_err_t trp_link_key_load(const char *path, bool is_secret, trp_link_key_t *ret_key)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? TROUPE_ENOENT : TROUPE_ESYSTEM;
    }
    troupe_err_t err = is_secret && !key_is_private(fd) ? TROUPE_EPERM : key_read(fd, ret_key);
    (void)close(fd);
    return err;
}
