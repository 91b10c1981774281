/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads and writes length-prefixed frames with deadlines over a non-blocking stream socket. */

#include "node/admin_frame.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/clock.h"

/* Milliseconds to wait, rounded up so that the wait doesn't end before the deadline. */
static int admin_wait_ms(uint64_t deadline_ns)
{
    uint64_t now = trp_clock_now();
    if (deadline_ns == TRP_CLOCK_NEVER) {
        return -1;
    }
    if (deadline_ns <= now) {
        return 0;
    }
    uint64_t ms = (deadline_ns - now + TRP_NS_PER_MS - 1) / TRP_NS_PER_MS;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

troupe_err_t trp_admin_wait(int fd, short events, int stop_fd, uint64_t deadline_ns)
{
    for (;;) {
        /* poll passes over negative descriptors. */
        struct pollfd fds[2] = {{fd, events, 0}, {stop_fd, POLLIN, 0}};
        int len = poll(fds, 2, admin_wait_ms(deadline_ns));
        if (len < 0 && errno == EINTR) {
            continue;
        }
        if (len < 0) {
            return TROUPE_ESYSTEM;
        }
        if (fds[1].revents != 0) {
            return TROUPE_ECANCELED;
        }
        return len == 0 ? TROUPE_ETIMEOUT : TROUPE_OK;
    }
}

/* After a failed call: OK when it is to be made again. */
static troupe_err_t admin_io_error(int fd, short events, int stop_fd, uint64_t deadline_ns)
{
    if (errno == EINTR) {
        return TROUPE_OK;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return trp_admin_wait(fd, events, stop_fd, deadline_ns);
    }
    return errno == EPIPE || errno == ECONNRESET ? TROUPE_ESTOPPED : TROUPE_ESYSTEM;
}

static troupe_err_t admin_read_exact(int fd, int stop_fd, uint64_t deadline_ns, uint8_t *out,
                                     size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = recv(fd, out + done, size - done, MSG_DONTWAIT);
        if (got > 0) {
            done += (size_t)got;
            continue;
        }
        if (got == 0) {
            return TROUPE_ESTOPPED;
        }
        troupe_err_t err = admin_io_error(fd, POLLIN, stop_fd, deadline_ns);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t admin_write_all(int fd, int stop_fd, uint64_t deadline_ns, const uint8_t *data,
                                    size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t sent = send(fd, data + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            done += (size_t)sent;
            continue;
        }
        troupe_err_t err = admin_io_error(fd, POLLOUT, stop_fd, deadline_ns);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

troupe_err_t trp_admin_frame_read(int fd, int stop_fd, uint64_t deadline_ns, trp_buf_t *out)
{
    TRP_ASSERT(out != NULL);
    uint8_t head[sizeof(uint32_t)];
    trp_buf_clear(out);
    troupe_err_t err = admin_read_exact(fd, stop_fd, deadline_ns, head, sizeof(head));
    if (err != TROUPE_OK) {
        return err;
    }
    uint32_t size = trp_load_le32(head);
    if (size == 0 || size > out->limit) {
        return TROUPE_EPROTOCOL;
    }
    err = trp_buf_reserve(out, size);
    if (err != TROUPE_OK) {
        return err;
    }
    err = admin_read_exact(fd, stop_fd, deadline_ns, out->data, size);
    if (err == TROUPE_OK) {
        out->size = size;
    }
    return err;
}

troupe_err_t trp_admin_frame_write(int fd, int stop_fd, uint64_t deadline_ns, const void *data,
                                   size_t size)
{
    TRP_ASSERT(data != NULL);
    TRP_ASSERT(size > 0 && size <= UINT32_MAX);
    uint8_t head[sizeof(uint32_t)];
    trp_store_le32(head, (uint32_t)size);
    troupe_err_t err = admin_write_all(fd, stop_fd, deadline_ns, head, sizeof(head));
    return err == TROUPE_OK ? admin_write_all(fd, stop_fd, deadline_ns, data, size) : err;
}
