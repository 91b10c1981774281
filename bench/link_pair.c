/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* This process's side of a link pair. */

#include "link_pair.h"

#include <stdio.h>
#include <string.h>

#include "frame_count.h"
#include "link_wire.h"
#include "say.h"

bench_counts_t bench_counts_now(void)
{
    const bench_counts_t counts = {bench_alloc_total(), bench_frame_total()};
    return counts;
}

void bench_link_options(const bench_link_open_t *open, const char *seed,
                        bench_link_options_t *store, troupe_node_options_t *ret_options)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    options.cluster_name = "bench";
    options.bind = "127.0.0.1:0";
    if (open->secret_key[0] != '\0') {
        store->allowed[0] = open->peer_key;
        options.secret_key = open->secret_key;
        options.allowed_keys.items = store->allowed;
        options.allowed_keys.len = 1;
    }
    if (seed != NULL) {
        store->seeds[0] = seed;
        options.seeds.items = store->seeds;
        options.seeds.len = 1;
    }
    *ret_options = options;
}

/* Keys for both ends, each allowing the other; none without CURVE. */
static bool link_make_keys(bool curve, bench_link_open_t *mine, bench_link_open_t *theirs)
{
    if (!curve) {
        return true;
    }
    if (troupe_key_generate(theirs->peer_key, mine->secret_key) != TROUPE_OK ||
        troupe_key_generate(mine->peer_key, theirs->secret_key) != TROUPE_OK) {
        bench_complain("no CURVE keys to be had");
        return false;
    }
    return true;
}

static bool link_open_nodes(bench_link_pair_t *pair, const bench_link_open_t *mine,
                            const bench_link_open_t *theirs)
{
    troupe_node_options_t options;
    bench_link_options_t store;
    bench_link_opened_t opened;
    troupe_err_t err;
    if (!bench_worker_start(BENCH_LINK_KIND, &pair->worker) ||
        !bench_worker_ask(&pair->worker, BENCH_LINK_OPEN, theirs, sizeof(*theirs), &opened,
                          sizeof(opened))) {
        return false;
    }
    bench_link_options(mine, opened.address, &store, &options);
    if (!bench_node_open(&options, mine->dispatchers, &pair->node)) {
        return false;
    }
    err = troupe_node_wait_up(pair->node.node, BENCH_LINK_UP_TIMEOUT_MS);
    if (err != TROUPE_OK) {
        bench_complain("the node did not join that of the worker: %s", troupe_err_text(err));
        return false;
    }
    pair->sink = opened.sink;
    pair->echo = opened.echo;
    pair->bulk_sink = opened.bulk_sink;
    return true;
}

bool bench_link_open(uint64_t dispatchers, bool curve, bench_link_pair_t *ret_pair)
{
    bench_link_open_t mine, theirs;
    memset(ret_pair, 0, sizeof(*ret_pair));
    memset(&mine, 0, sizeof(mine));
    memset(&theirs, 0, sizeof(theirs));
    mine.dispatchers = theirs.dispatchers = dispatchers;
    if (!link_make_keys(curve, &mine, &theirs) || !link_open_nodes(ret_pair, &mine, &theirs)) {
        bench_link_close(ret_pair);
        return false;
    }
    return true;
}

void bench_link_close(bench_link_pair_t *pair)
{
    bench_node_close(&pair->node);
    bench_worker_stop(&pair->worker);
}

bool bench_link_arm(bench_link_pair_t *pair, uint64_t count, bench_link_answer_t *ret_answer)
{
    const bench_link_count_t order = {count};
    return bench_worker_ask(&pair->worker, BENCH_LINK_ARM, &order, sizeof(order), ret_answer,
                            sizeof(*ret_answer));
}

bool bench_link_wait(bench_link_pair_t *pair, bench_link_answer_t *ret_answer)
{
    const bench_link_count_t order = {0};
    return bench_worker_ask(&pair->worker, BENCH_LINK_WAIT, &order, sizeof(order), ret_answer,
                            sizeof(*ret_answer));
}
