/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Counting the ZeroMQ messages that the process sends: what libzmq's own allocations are divided by.
 * The program defines zmq_msg_send and zmq_send itself and hands them on, so calls of libtroupe pass
 * here too. */

#ifndef TROUPE_BENCH_FRAME_COUNT_H
#define TROUPE_BENCH_FRAME_COUNT_H

#include <stdint.h>

/* ZeroMQ messages (parts of a multi-part message counted each) sent so far. Any thread. */
uint64_t bench_frame_total(void);

#endif
