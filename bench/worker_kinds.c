/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The kinds of workers that exist. */

#include <string.h>

#include "actor_cases.h"
#include "link_pair.h"
#include "pubsub_place.h"
#include "raw_zmq.h"
#include "say.h"
#include "worker.h"

#define WORKER_ORDERS_FD 3 /* Where bench_worker_start puts the order socket. */

static const struct {
    const char *kind;
    int (*run)(int fd);
} worker_kinds[] = {
    {BENCH_RAW_KIND, bench_raw_worker},
    {BENCH_PUBSUB_KIND, bench_place_worker},
    {BENCH_LINK_KIND, bench_link_worker},
    {BENCH_ACTOR_MEMORY_KIND, bench_actor_memory_worker},
};

int bench_worker_main(const char *kind)
{
    for (size_t i = 0; i < sizeof(worker_kinds) / sizeof(worker_kinds[0]); i++) {
        if (strcmp(worker_kinds[i].kind, kind) == 0) {
            return worker_kinds[i].run(WORKER_ORDERS_FD);
        }
    }
    bench_complain("no worker of the kind '%s'", kind);
    return 2;
}
