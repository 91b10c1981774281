/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Assertions that stay on in release: they state what only a fault of our own can break. */

#ifndef TROUPE_BASE_ASSERT_H
#define TROUPE_BASE_ASSERT_H

#include "base/attr.h"

/* Writes what failed to standard error and aborts. Any thread. */
_Noreturn void trp_assert_fail(const char *text, const char *file, int line) TRP_COLD;

/* One condition each; never on a peer's input, an allocation or a system call. */
#define TRP_ASSERT(cond) (TRP_LIKELY(cond) ? (void)0 : trp_assert_fail(#cond, __FILE__, __LINE__))

/* For the hottest paths: checked in debug and test builds, promised to nobody in release. */
#ifdef NDEBUG
#define TRP_ASSERT_DEBUG(cond) ((void)sizeof(cond))
#else
#define TRP_ASSERT_DEBUG(cond) TRP_ASSERT(cond)
#endif

#endif
