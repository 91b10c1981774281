/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The one table of errors: enumerator, name and text come from the same lines.
 *
 * Errors come in two ranges. *Conditions* (below 100) are documented by the function that returns
 * them and are for its direct caller to handle. *Faults* (100 and above) say that the machine or the
 * program is in a state the caller can't mend; they are passed on unchanged.
 *
 * Thread rule: every function here may be called from any thread. Since 0.1. */

#ifndef TROUPE_ERROR_H
#define TROUPE_ERROR_H

#include <troupe/api.h>

TROUPE_BEGIN_DECLS

#define TROUPE_ERROR_TABLE(X)                                                                      \
    X(TROUPE_OK, 0, "success")                                                                     \
    X(TROUPE_EINVAL, 1, "an argument is not valid")                                                \
    X(TROUPE_ENOENT, 2, "no such entry")                                                           \
    X(TROUPE_EEXIST, 3, "the name or entry exists already")                                        \
    X(TROUPE_EFULL, 4, "a bounded queue or table is full")                                         \
    X(TROUPE_EOVERLOAD, 5, "the node's ceiling for message memory is reached")                     \
    X(TROUPE_ETOOBIG, 6, "the message is larger than its type or lane allows")                     \
    X(TROUPE_ETIMEOUT, 7, "the deadline passed")                                                   \
    X(TROUPE_ENOACTOR, 8, "no such actor: it never was, has stopped, or its slot has a new owner") \
    X(TROUPE_ENODE, 9, "no such node in the cluster")                                              \
    X(TROUPE_EUNREACHABLE, 10, "the node is down or can't be reached")                             \
    X(TROUPE_EREFUSED, 11, "the other side refused")                                               \
    X(TROUPE_ETYPE, 12, "the message type is unknown or not the one expected")                     \
    X(TROUPE_EBODY, 13, "the body could not be encoded or decoded")                                \
    X(TROUPE_ESTOPPED, 14, "the actor or node is stopping or has stopped")                         \
    X(TROUPE_ETHREAD, 15, "the call is not allowed on this thread")                                \
    X(TROUPE_EBUSY, 16, "the resource is in use")                                                  \
    X(TROUPE_ECANCELED, 17, "the operation was cancelled")                                         \
    X(TROUPE_EPROTOCOL, 18, "the other side broke the protocol")                                   \
    X(TROUPE_EVERSION, 19, "the other side speaks an incompatible version")                        \
    X(TROUPE_ECLUSTER, 20, "the other side belongs to a cluster of another name")                  \
    X(TROUPE_EAUTH, 21, "the other side's key is not allowed")                                     \
    X(TROUPE_ENOSUBSCRIBER, 22, "nobody is subscribed to the topic")                               \
    X(TROUPE_ECONFIG, 23, "the configuration is not valid")                                        \
    X(TROUPE_EAGAIN, 24, "nothing to be had now; try again later")                                 \
    X(TROUPE_EFAILED, 25, "the user's code reported a failure")                                    \
    X(TROUPE_EADDRINUSE, 26, "the address is in use")                                              \
    X(TROUPE_ENOTREADY, 27, "the node or the member is not ready yet")                             \
    X(TROUPE_EPERM, 28, "not permitted by the configuration")                                      \
    X(TROUPE_ENOMEM, 100, "out of memory")                                                         \
    X(TROUPE_ESYSTEM, 101, "a system call failed")                                                 \
    X(TROUPE_EINTERNAL, 102, "an internal invariant does not hold")

typedef enum TROUPE_MUST_USE_TYPE troupe_err {
#define TROUPE_ERROR_ENUM(name, number, text) name = (number),
    TROUPE_ERROR_TABLE(TROUPE_ERROR_ENUM)
#undef TROUPE_ERROR_ENUM
} troupe_err_t;

/* The enumerator's name, such as "TROUPE_EFULL"; "TROUPE_E?" for a number that is no error. Static. */
TROUPE_API const char *troupe_err_name(troupe_err_t err);

/* A sentence for people, without a full stop. Static. */
TROUPE_API const char *troupe_err_text(troupe_err_t err);

TROUPE_END_DECLS

#endif
