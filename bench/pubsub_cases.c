/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of pub/sub benchmarks. */

#include "pubsub_cases.h"

#include <stddef.h>

const bench_case_t bench_pubsub_cases[] = {
    {"clients", "the stress: N clients, each with a topic of its own", bench_pubsub_clients},
    {"names", "what publishing by name costs more than by handle", bench_pubsub_names},
    {"fanout", "one topic with 1,000 local subscribers", bench_pubsub_fanout},
    {"hot-topics", "10 hot topics while 100,000 exist and 10 % of them churn a second",
     bench_pubsub_hot},
    {"random-topics", "publishing at random over 100,000 topics", bench_pubsub_random},
    {"idle", "processor time of a cluster that does nothing", bench_pubsub_idle},
    {NULL, NULL, NULL},
};
