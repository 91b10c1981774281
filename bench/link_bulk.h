/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Large messages streaming to a peer, and what small ones suffer from it. */

#ifndef TROUPE_BENCH_LINK_BULK_H
#define TROUPE_BENCH_LINK_BULK_H

#include <stdbool.h>

#include "command.h"

#define BENCH_LINK_LARGE 65536 /* Bytes from which on a run begins with few messages. */

bool bench_link_bulk(bench_context_t *context);

#endif
