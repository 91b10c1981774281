/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Frames of the admin socket: 32 bits of size, little-endian, and that many bytes of JSON.
 *
 * Thread rule: any thread, one at a time for a descriptor. */

#ifndef TROUPE_NODE_ADMIN_FRAME_H
#define TROUPE_NODE_ADMIN_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/buf.h"

#define TRP_ADMIN_REQUEST_SIZE_MAX (256u * 1024u)
#define TRP_ADMIN_REPLY_SIZE_MAX (4u * 1024u * 1024u)

/* Reads one whole frame to `out`, which is cleared first and whose limit bounds it, by the deadline
 * (trp_clock_now). `stop_fd`, unless -1, ends the wait when it becomes readable. ETIMEOUT; ECANCELED:
 * by the stop; ESTOPPED: the other side has closed; EPROTOCOL: too large; ESYSTEM; ENOMEM. */
troupe_err_t trp_admin_frame_read(int fd, int stop_fd, uint64_t deadline_ns, trp_buf_t *out);

/* Writes one frame. As above. Raises no SIGPIPE. */
troupe_err_t trp_admin_frame_write(int fd, int stop_fd, uint64_t deadline_ns, const void *data,
                                   size_t size);

/* Waits until `fd` is ready for `events` (of poll) or has hung up. ETIMEOUT, ECANCELED, ESYSTEM. */
troupe_err_t trp_admin_wait(int fd, short events, int stop_fd, uint64_t deadline_ns);

#endif
