/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Members' messages from a hostile peer: the codec must hold, and so must a core that takes the message
 * from one of its members. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/core.h"
#include "cluster/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_SELF 10
#define FUZZ_PEER 20
#define FUZZ_START (100 * TRP_NS_PER_S)

static void must(int held)
{
    if (!held) {
        abort();
    }
}

/* What can be read can be written, and reads the same. */
static void try_codec(trp_view_t message)
{
    trp_wire_t wire;
    trp_view_t view;
    trp_items_t items;
    trp_item_t item;
    uint8_t out[TRP_MESSAGE_SIZE_MAX];
    if (trp_wire_decode(message, &wire, &view) != TROUPE_OK) {
        return;
    }
    trp_items_clear(&items);
    while (trp_wire_next(&view, &item) == TROUPE_OK) {
        if (!trp_items_add(&items, &item, TRP_ITEMS_SIZE_MAX)) {
            break;
        }
    }
    size_t out_size = trp_wire_encode(&wire, &items, out);
    trp_wire_t again;
    trp_view_t again_view;
    must(trp_wire_decode(trp_view_make(out, out_size), &again, &again_view) == TROUPE_OK);
    must(again.type == wire.type && again.seq == wire.seq && again.to == wire.to);
    size_t len = 0;
    while (trp_wire_next(&again_view, &item) == TROUPE_OK) {
        len++;
    }
    must(len == items.len);
}

static void drain(trp_cluster_core_t *core)
{
    trp_output_t output;
    while (trp_cluster_core_next(core, &output)) {
        trp_output_fini(&output);
    }
}

/* Lets the peer in, as the fuzzer can't guess the cluster's id. */
static void admit_peer(trp_cluster_core_t *core)
{
    uint8_t out[TRP_MESSAGE_SIZE_MAX];
    trp_items_t items;
    trp_wire_t wire = {.type = TRP_WIRE_SEEK};
    trp_item_t item = {.kind = TRP_ITEM_MEMBER,
                       .uid = FUZZ_PEER,
                       .state = TROUPE_MEMBER_JOINING,
                       .incarnation = 1,
                       .flags = TRP_FLAG_READY};
    item.identity.uid = FUZZ_PEER;
    item.identity.address = trp_view_from_string("peer:1");
    item.identity.name = trp_view_from_string("peer");
    trp_items_clear(&items);
    must(trp_items_add(&items, &item, TRP_ITEMS_SIZE_MAX));
    size_t size = trp_wire_encode(&wire, &items, out);
    trp_cluster_core_peer_connected(core, FUZZ_START, FUZZ_PEER, "peer:1");
    trp_cluster_core_message(core, FUZZ_START, FUZZ_PEER, out, size);
    drain(core);
}

/* Puts the cluster's id into the message where it has one, so that more of it is reached. */
static size_t adopt_cluster(const trp_cluster_core_t *core, trp_view_t message,
                            uint8_t out[TRP_MESSAGE_SIZE_MAX])
{
    trp_wire_t wire;
    trp_view_t view;
    trp_items_t items;
    trp_item_t item;
    if (trp_wire_decode(message, &wire, &view) != TROUPE_OK) {
        return 0;
    }
    trp_items_clear(&items);
    while (trp_wire_next(&view, &item) == TROUPE_OK &&
           trp_items_add(&items, &item, TRP_ITEMS_SIZE_MAX)) {
    }
    wire.cluster = trp_cluster_core_cluster(core);
    return trp_wire_encode(&wire, &items, out);
}

static void try_core(trp_view_t message)
{
    uint8_t out[TRP_MESSAGE_SIZE_MAX];
    trp_cluster_core_t *core = NULL;
    trp_cluster_options_t options = {.uid = FUZZ_SELF, .random_seed = 1, .address = "self:1"};
    must(trp_cluster_core_create(&options, FUZZ_START, &core) == TROUPE_OK);
    trp_cluster_core_tick(core, FUZZ_START);
    admit_peer(core);
    trp_cluster_core_message(core, FUZZ_START, FUZZ_PEER, message.data, message.size);
    drain(core);
    size_t size = adopt_cluster(core, message, out);
    for (uint64_t step = 1; step < 40; step++) {
        uint64_t now = FUZZ_START + step * 100 * TRP_NS_PER_MS;
        if (size > 0 && step % 8 == 1) {
            trp_cluster_core_message(core, now, FUZZ_PEER, out, size);
        }
        trp_cluster_core_tick(core, now);
        drain(core);
    }
    trp_cluster_core_destroy(&core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_view_t message = trp_view_make(data, size);
    try_codec(message);
    try_core(message);
    return 0;
}
