/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What mediators tell each other: decoding of any bytes, and a registry that is fed with them. Input is
 * a row of messages, each with its size before it in two bytes. */

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "pubsub/codec.h"
#include "pubsub/registry.h"

#define PEER UINT64_C(0x706565720000)
#define OTHER UINT64_C(0x6f746865)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static trp_registry_t registry;
static size_t entries;

static void on_send(void *context, uint64_t peer, trp_view_t bytes)
{
    trp_gossip_t gossip;
    (void)context;
    TRP_ASSERT(peer == PEER || peer == OTHER);
    TRP_ASSERT(bytes.size <= TRP_GOSSIP_SIZE_MAX);
    troupe_err_t err = trp_gossip_decode(bytes, &gossip);
    TRP_ASSERT(err == TROUPE_OK); /* We speak what we understand. */
    trp_gossip_fini(&gossip);
}

static void on_entry(void *context, uint64_t owner, const trp_atom_t *name, const trp_atom_t *group,
                     uint32_t weight)
{
    (void)context;
    (void)group;
    TRP_ASSERT(owner == PEER);
    TRP_ASSERT(name->space != TRP_SPACE_GROUP);
    entries += weight > 0 ? 1 : 0;
}

static void on_received(void *context, uint64_t owner, uint64_t version)
{
    (void)context;
    trp_registry_ack(&registry, owner, version);
}

static void on_acked(void *context)
{
    (void)context;
}

static void feed(trp_view_t input)
{
    uint64_t now = TRP_NS_PER_S;
    uint16_t len = 0;
    trp_view_t bytes;
    while (trp_view_take_u16(&input, &len) == TROUPE_OK) {
        if (trp_view_take_view(&input, len, &bytes) != TROUPE_OK) {
            bytes = input;
            input.size = 0;
        }
        troupe_err_t err = trp_registry_receive(&registry, PEER, bytes, now);
        TRP_ASSERT(err != TROUPE_EINTERNAL);
        (void)trp_registry_tick(&registry, now);
        now += 300 * TRP_NS_PER_MS;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_atoms_t names;
    trp_gossip_t gossip;
    trp_registry_options_t options = {.self = 1, .seed = 1, .entries_max = 100};
    trp_registry_sink_t sink = {NULL, on_send, on_entry, on_received, on_acked};
    if (trp_gossip_decode(trp_view_make(data, size), &gossip) == TROUPE_OK) {
        trp_gossip_fini(&gossip);
    }
    if (trp_atoms_init(&names, 1000, 1) != TROUPE_OK) {
        return 0;
    }
    if (trp_registry_init(&registry, &options, &sink, &names, 1) == TROUPE_OK &&
        trp_registry_add_node(&registry, PEER, 1) == TROUPE_OK &&
        trp_registry_add_node(&registry, OTHER, 1) == TROUPE_OK) {
        feed(trp_view_make(data, size));
        trp_registry_remove_node(&registry, PEER);
        TRP_ASSERT(registry.entry_len == 0);
    }
    trp_registry_fini(&registry);
    TRP_ASSERT(trp_atoms_len(&names) == 0);
    trp_atoms_fini(&names);
    return 0;
}
