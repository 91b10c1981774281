/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry by hand: one node, and what others send it. */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "pubsub/codec.h"
#include "pubsub/registry.h"
#include "support/check.h"

#define SELF UINT64_C(1)
#define PEER UINT64_C(2)
#define OTHER UINT64_C(3)
#define STRANGER UINT64_C(9)

static trp_atoms_t names;
static trp_registry_t registry;
static trp_buf_t buf;
static uint32_t sent;
static trp_gossip_t last; /* Head of the last message sent. */
static uint64_t last_to;
static uint32_t entries;
static uint64_t received;
static uint64_t now_ns;

static void on_send(void *context, uint64_t peer, trp_view_t bytes)
{
    trp_gossip_t gossip;
    (void)context;
    sent++;
    last_to = peer;
    if (trp_gossip_decode(bytes, &gossip) == TROUPE_OK) {
        last = gossip;
        trp_gossip_fini(&gossip);
    }
}

static void on_entry(void *context, uint64_t owner, const trp_atom_t *name, const trp_atom_t *group,
                     uint32_t weight)
{
    (void)context;
    (void)owner;
    (void)name;
    (void)group;
    entries += weight > 0 ? 1u : UINT32_MAX;
}

static void on_received(void *context, uint64_t owner, uint64_t version)
{
    (void)context;
    (void)owner;
    received = version;
}

static void on_acked(void *context)
{
    (void)context;
}

static troupe_err_t start_with(uint32_t entries_max)
{
    trp_registry_options_t options = {.self = SELF, .seed = 1, .entries_max = entries_max};
    trp_registry_sink_t sink = {NULL, on_send, on_entry, on_received, on_acked};
    memset(&registry, 0, sizeof(registry));
    trp_buf_init(&buf, TRP_GOSSIP_SIZE_MAX);
    sent = 0;
    entries = 0;
    received = 0;
    now_ns = 2;
    troupe_err_t err = trp_atoms_init(&names, 0, 1);
    if (err == TROUPE_OK) {
        err = trp_registry_init(&registry, &options, &sink, &names, 1);
    }
    return err;
}

static void start(void)
{
    REQUIRE_OK(start_with(0));
    REQUIRE_OK(trp_registry_add_node(&registry, PEER, 1));
}

static void finish(void)
{
    trp_registry_fini(&registry);
    trp_atoms_fini(&names);
    trp_buf_fini(&buf);
}

/* A delta of `len` plain entries named by their version, of which every `dead`-th is a tombstone. */
static void make_delta(uint64_t owner, uint64_t from, uint32_t len, uint64_t head, uint32_t dead)
{
    char name[32];
    trp_gossip_t delta = {.owner = owner, .from = from, .to = from + len, .head = head, .len = len};
    trp_buf_clear(&buf);
    REQUIRE_OK(trp_gossip_put_delta(&buf, &delta));
    for (uint32_t i = 1; i <= len; i++) {
        int size = snprintf(name, sizeof(name), "n%u", (unsigned)(from + i));
        trp_gossip_element_t element = {.name = {(const uint8_t *)name, (size_t)size},
                                        .version = from + i,
                                        .weight = dead != 0 && i % dead == 0 ? 0 : 1};
        REQUIRE_OK(trp_gossip_put_element(&buf, &element));
    }
}

static troupe_err_t receive(uint64_t from)
{
    return trp_registry_receive(&registry, from, trp_buf_view(&buf), now_ns);
}

static void a_delta_is_taken_from_its_owner(void)
{
    start();
    CHECK_EQ_U64(sent, 2); /* A want and a probe. */
    make_delta(PEER, 0, 5, 5, 0);
    CHECK_OK(receive(PEER));
    CHECK_EQ_U64(entries, 5);
    CHECK_EQ_U64(received, 5);
    CHECK_EQ_U64(registry.entry_len, 5);
    CHECK_OK(receive(PEER)); /* Once more changes nothing, but is acknowledged again. */
    CHECK_EQ_U64(entries, 5);
    trp_registry_remove_node(&registry, PEER);
    CHECK_EQ_U64(entries, 0);
    CHECK_EQ_U64(registry.entry_len, 0);
    finish();
}

static void nobody_speaks_for_another(void)
{
    start();
    REQUIRE_OK(trp_registry_add_node(&registry, OTHER, 1));
    make_delta(PEER, 0, 5, 5, 0);
    CHECK_OK(receive(PEER));
    make_delta(PEER, 5, 5, 10, 1); /* All tombstones. */
    CHECK_ERR(receive(OTHER), TROUPE_EREFUSED);
    CHECK_ERR(receive(STRANGER), TROUPE_EREFUSED);
    CHECK_EQ_U64(entries, 5);
    CHECK_EQ_U64(registry.counts.refused_forged, 1);
    CHECK_EQ_U64(registry.counts.refused_stranger, 1);
    finish();
}

static void a_removed_node_is_heard_no_more(void)
{
    start();
    trp_registry_remove_node(&registry, PEER);
    make_delta(PEER, 0, 5, 5, 0);
    CHECK_ERR(receive(PEER), TROUPE_EREFUSED);
    CHECK_ERR(trp_registry_add_node(&registry, PEER, 3), TROUPE_EREFUSED);
    CHECK_EQ_U64(entries, 0);
    CHECK_ERR(trp_registry_add_node(&registry, OTHER, 3), TROUPE_OK);
    CHECK_ERR(trp_registry_add_node(&registry, OTHER, 3), TROUPE_EEXIST);
    finish();
}

static void nothing_is_merged_over_a_gap(void)
{
    start();
    make_delta(PEER, 0, 5, 5, 0);
    CHECK_OK(receive(PEER));
    make_delta(PEER, 7, 3, 10, 0);
    now_ns = 5 * TRP_NS_PER_S;
    sent = 0;
    CHECK_OK(receive(PEER));
    CHECK_EQ_U64(entries, 5);
    CHECK_EQ_U64(sent, 1);
    CHECK_EQ_U64(last.kind, TRP_GOSSIP_WANT);
    CHECK_EQ_U64(last.from, 5);
    CHECK_OK(receive(PEER)); /* An answer is awaited: it is not asked twice. */
    CHECK_EQ_U64(sent, 1);
    make_delta(PEER, 3, 7, 10, 0); /* Overlaps: what is new of it is taken. */
    CHECK_OK(receive(PEER));
    CHECK_EQ_U64(entries, 10);
    finish();
}

static void a_false_hint_costs_one_question(void)
{
    start();
    REQUIRE_OK(trp_registry_add_node(&registry, OTHER, 1));
    make_delta(PEER, 0, 5, 5, 0);
    CHECK_OK(receive(PEER));
    trp_buf_clear(&buf);
    REQUIRE_OK(trp_gossip_put_vector(&buf, true, UINT64_MAX, 1));
    REQUIRE_OK(trp_gossip_put_pair(&buf, PEER, 1000000));
    sent = 0;
    CHECK_OK(trp_registry_receive(&registry, OTHER, trp_buf_view(&buf), 3 * TRP_NS_PER_S));
    CHECK_EQ_U64(sent, 1);
    CHECK_EQ_U64(last.kind, TRP_GOSSIP_WANT);
    CHECK_EQ_U64(last_to, PEER);
    trp_gossip_t nothing = {.owner = PEER, .from = 5, .to = 5, .head = 5, .nonce = last.nonce};
    trp_buf_clear(&buf);
    REQUIRE_OK(trp_gossip_put_delta(&buf, &nothing));
    CHECK_OK(receive(PEER));
    CHECK_EQ_U64(trp_registry_peer(&registry, PEER)->head, 5);
    finish();
}

static void an_acknowledgement_of_what_was_never_said_is_ignored(void)
{
    uint64_t missing[2];
    uint32_t missing_len = 0;
    start();
    trp_buf_clear(&buf);
    REQUIRE_OK(trp_gossip_put_ack(&buf, 1000));
    CHECK_OK(receive(PEER));
    CHECK_EQ_U64(trp_registry_peer(&registry, PEER)->acked, 0);
    CHECK_EQ_U64(trp_registry_acked(&registry, 1, missing, 2, &missing_len), 0);
    CHECK_EQ_U64(missing_len, 1);
    CHECK_EQ_U64(missing[0], PEER);
    trp_registry_set_reachable(&registry, PEER, false, 3);
    CHECK_EQ_U64(trp_registry_acked(&registry, 1, missing, 2, &missing_len), 0);
    CHECK_EQ_U64(missing_len, 0);
    finish();
}

static void entries_beyond_the_bound_are_refused_and_counted(void)
{
    REQUIRE_OK(start_with(3));
    REQUIRE_OK(trp_registry_add_node(&registry, PEER, 1));
    make_delta(PEER, 0, 5, 5, 0);
    CHECK_ERR(receive(PEER), TROUPE_EFULL);
    CHECK_EQ_U64(entries, 3);
    CHECK_EQ_U64(registry.counts.refused_full, 1);
    CHECK_EQ_U64(trp_registry_peer(&registry, PEER)->bucket.version, 3);
    finish();
}

static void tombstones_go_once_every_member_has_them(void)
{
    const trp_atom_t *name = NULL;
    start();
    REQUIRE_OK(trp_atoms_intern(&names, TRP_SPACE_TOPIC, trp_view_from_string("t"), &name));
    CHECK_OK(trp_registry_set(&registry, name, NULL, 1, 1));
    CHECK_OK(trp_registry_set(&registry, name, NULL, 1, 1)); /* No change, no version. */
    CHECK_EQ_U64(trp_registry_version(&registry), 1);
    CHECK_OK(trp_registry_set(&registry, name, NULL, 0, 1));
    trp_atoms_unref(&names, &name);
    (void)trp_registry_tick(&registry, 2);
    CHECK_EQ_U64(registry.own.tomb_len, 1);
    CHECK_EQ_U64(trp_atoms_len(&names), 1);
    trp_registry_flush(&registry, 2);
    trp_buf_clear(&buf);
    REQUIRE_OK(trp_gossip_put_ack(&buf, 2));
    CHECK_OK(receive(PEER));
    (void)trp_registry_tick(&registry, 3);
    CHECK_EQ_U64(registry.own.tomb_len, 0);
    CHECK_EQ_U64(trp_atoms_len(&names), 0);
    /* One who begins below them is told everything. */
    trp_buf_clear(&buf);
    REQUIRE_OK(trp_gossip_put_want(&buf, 1, 0, 5));
    CHECK_OK(receive(PEER));
    CHECK_EQ_U64(last.kind, TRP_GOSSIP_DELTA);
    CHECK(last.is_full);
    CHECK_EQ_U64(last.floor, 2);
    finish();
}

static void tombstones_go_after_their_time_too(void)
{
    const trp_atom_t *name = NULL;
    start();
    REQUIRE_OK(trp_atoms_intern(&names, TRP_SPACE_TOPIC, trp_view_from_string("t"), &name));
    CHECK_OK(trp_registry_set(&registry, name, NULL, 1, 1));
    CHECK_OK(trp_registry_set(&registry, name, NULL, 0, 1));
    trp_atoms_unref(&names, &name);
    (void)trp_registry_tick(&registry, 119 * TRP_NS_PER_S);
    CHECK_EQ_U64(registry.own.tomb_len, 1);
    (void)trp_registry_tick(&registry, 121 * TRP_NS_PER_S);
    CHECK_EQ_U64(registry.own.tomb_len, 0);
    finish();
}

static troupe_err_t step_registry(void *user)
{
    const trp_atom_t *name = NULL;
    (void)user;
    troupe_err_t err = start_with(0);
    if (err == TROUPE_OK) {
        err = trp_registry_add_node(&registry, PEER, 1);
    }
    if (err == TROUPE_OK) {
        err = trp_atoms_intern(&names, TRP_SPACE_TOPIC, trp_view_from_string("t"), &name);
    }
    if (err == TROUPE_OK) {
        err = trp_registry_set(&registry, name, NULL, 1, 1);
        trp_atoms_unref(&names, &name);
    }
    finish();
    return err;
}

static void the_registry_survives_failing_allocations(void)
{
    CHECK_ALLOCATIONS(step_registry, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_delta_is_taken_from_its_owner),
    CHECK_CASE(nobody_speaks_for_another),
    CHECK_CASE(a_removed_node_is_heard_no_more),
    CHECK_CASE(nothing_is_merged_over_a_gap),
    CHECK_CASE(a_false_hint_costs_one_question),
    CHECK_CASE(an_acknowledgement_of_what_was_never_said_is_ignored),
    CHECK_CASE(entries_beyond_the_bound_are_refused_and_counted),
    CHECK_CASE(tombstones_go_once_every_member_has_them),
    CHECK_CASE(tombstones_go_after_their_time_too),
    CHECK_CASE(the_registry_survives_failing_allocations),
};

CHECK_MAIN("pubsub.registry", cases)
