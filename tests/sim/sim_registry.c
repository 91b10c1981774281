/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The registry on simulated nodes: members subscribe, unsubscribe, split, heal, leave and restart at
 * random over a network that loses, delays, doubles and reorders; once it is quiet every view equals
 * the truth, and an idle cluster exchanges digests only. TROUPE_TEST_SEED repeats a run. */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "pubsub/codec.h"
#include "pubsub/registry.h"
#include "support/check.h"

#define NODES_MAX 64
#define KEYS_MAX 4096
#define MS TRP_NS_PER_MS

typedef struct packet {
    struct packet *next;
    uint64_t at;
    uint64_t order;
    uint64_t from; /* Uids: a packet for an incarnation that is gone is dropped. */
    uint64_t to;
    size_t size;
    uint8_t data[];
} packet_t;

typedef struct world world_t;

typedef struct node {
    world_t *world;
    uint32_t index;
    uint64_t uid;
    bool is_up;
    trp_atoms_t names;
    trp_registry_t registry;
    trp_map_t truth; /* Key number -> weight of its own entries. */
    trp_map_t heard; /* hash(owner uid, name, group) -> weight, as the sink was told. */
} node_t;

struct world {
    trp_random_t random;
    uint64_t now;
    uint64_t order;
    packet_t *packets;
    node_t nodes[NODES_MAX];
    uint32_t node_len;
    uint32_t key_len;
    uint32_t name_size;
    uint64_t next_uid;
    bool is_cut[NODES_MAX][NODES_MAX];
    uint32_t loss; /* Per mille. */
    uint32_t doubling;
    uint64_t delay_max;
    uint64_t sent;
    uint64_t sent_bytes;
    size_t largest;
};

static node_t *world_find(world_t *world, uint64_t uid)
{
    for (uint32_t i = 0; i < world->node_len; i++) {
        if (world->nodes[i].is_up && world->nodes[i].uid == uid) {
            return &world->nodes[i];
        }
    }
    return NULL;
}

static void world_queue(world_t *world, uint64_t from, uint64_t to, trp_view_t bytes)
{
    packet_t *packet = trp_alloc(sizeof(*packet) + bytes.size);
    REQUIRE_NOT_NULL(packet);
    packet->at = world->now + MS + trp_random_below(&world->random, world->delay_max);
    packet->order = world->order++;
    packet->from = from;
    packet->to = to;
    packet->size = bytes.size;
    memcpy(packet->data, bytes.data, bytes.size);
    packet_t **place = &world->packets;
    while (*place != NULL && (*place)->at <= packet->at) {
        place = &(*place)->next;
    }
    packet->next = *place;
    *place = packet;
}

static void node_send(void *context, uint64_t peer, trp_view_t bytes)
{
    node_t *node = context;
    world_t *world = node->world;
    node_t *to = world_find(world, peer);
    world->sent++;
    world->sent_bytes += bytes.size;
    world->largest = bytes.size > world->largest ? bytes.size : world->largest;
    if (to == NULL || world->is_cut[node->index][to->index] ||
        trp_random_below(&world->random, 1000) < world->loss) {
        return;
    }
    world_queue(world, node->uid, peer, bytes);
    if (trp_random_below(&world->random, 1000) < world->doubling) {
        world_queue(world, node->uid, peer, bytes);
    }
}

static uint64_t entry_key(uint64_t owner, trp_view_t name, trp_view_t group)
{
    uint64_t key = trp_hash_bytes(name.data, name.size, owner);
    return (group.size > 0 ? trp_hash_bytes(group.data, group.size, key) : key) | 1;
}

static void node_entry(void *context, uint64_t owner, const trp_atom_t *name,
                       const trp_atom_t *group, uint32_t weight)
{
    node_t *node = context;
    trp_view_t group_view = group != NULL ? trp_atom_view(group) : trp_view_make(NULL, 0);
    uint64_t key = entry_key(owner, trp_atom_view(name), group_view);
    if (weight == 0) {
        CHECK(trp_map_remove(&node->heard, key, NULL));
    } else {
        CHECK_OK(trp_map_put(&node->heard, key, weight));
    }
}

static void node_received(void *context, uint64_t owner, uint64_t version)
{
    node_t *node = context;
    trp_registry_ack(&node->registry, owner, version);
}

static void node_acked(void *context)
{
    (void)context;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void node_start(world_t *world, uint32_t index)
{
    node_t *node = &world->nodes[index];
    memset(node, 0, sizeof(*node));
    node->world = world;
    node->index = index;
    node->uid = world->next_uid++;
    node->is_up = true;
    trp_map_init(&node->truth);
    trp_map_init(&node->heard);
    REQUIRE_OK(trp_atoms_init(&node->names, 0, node->uid));
    trp_registry_options_t options = {.self = node->uid,
                                      .seed = trp_random_next(&world->random),
                                      .delta_len_max = 37,
                                      .tombstone_ns = 20 * TRP_NS_PER_S,
                                      .tombstones_max = 50};
    if (world->name_size > 0) {
        options.delta_len_max = 0;
    }
    trp_registry_sink_t sink = {node, node_send, node_entry, node_received, node_acked};
    REQUIRE_OK(trp_registry_init(&node->registry, &options, &sink, &node->names, world->now));
    for (uint32_t i = 0; i < world->node_len; i++) {
        node_t *other = &world->nodes[i];
        if (i != index && other->is_up) {
            CHECK_OK(trp_registry_add_node(&node->registry, other->uid, world->now));
            CHECK_OK(trp_registry_add_node(&other->registry, node->uid, world->now));
        }
    }
}

static void node_free(node_t *node)
{
    trp_registry_fini(&node->registry);
    CHECK_EQ_U64(trp_atoms_len(&node->names), 0);
    trp_atoms_fini(&node->names);
    trp_map_fini(&node->truth);
    trp_map_fini(&node->heard);
    node->is_up = false;
}

static void node_stop(world_t *world, uint32_t index)
{
    node_t *node = &world->nodes[index];
    uint64_t uid = node->uid;
    node_free(node);
    for (uint32_t i = 0; i < world->node_len; i++) {
        if (world->nodes[i].is_up) {
            trp_registry_remove_node(&world->nodes[i].registry, uid);
            CHECK_ERR(trp_registry_add_node(&world->nodes[i].registry, uid, world->now),
                      TROUPE_EREFUSED);
        }
    }
}

static void key_name(const world_t *world, uint32_t key, char *name, size_t capacity,
                     trp_view_t *ret_name, trp_view_t *ret_group)
{
    int len = snprintf(name, capacity, "topic.%u", key / 2);
    size_t size = (size_t)len;
    if (world->name_size > size) {
        memset(name + size, 'x', world->name_size - size);
        size = world->name_size;
    }
    *ret_name = trp_view_make(name, size);
    *ret_group = key % 2 == 1 ? trp_view_from_string("workers") : trp_view_make(NULL, 0);
}

static void node_set(node_t *node, uint32_t key, uint32_t weight)
{
    char bytes[TRP_ATOM_SIZE_MAX + 1];
    trp_view_t name;
    trp_view_t group;
    const trp_atom_t *name_atom = NULL;
    const trp_atom_t *group_atom = NULL;
    key_name(node->world, key, bytes, sizeof(bytes), &name, &group);
    REQUIRE_OK(trp_atoms_intern(&node->names, TRP_SPACE_TOPIC, name, &name_atom));
    if (group.size > 0) {
        REQUIRE_OK(trp_atoms_intern(&node->names, TRP_SPACE_GROUP, group, &group_atom));
    }
    CHECK_OK(trp_registry_set(&node->registry, name_atom, group_atom, weight, node->world->now));
    trp_atoms_unref(&node->names, &name_atom);
    trp_atoms_unref(&node->names, &group_atom);
    if (weight == 0) {
        (void)trp_map_remove(&node->truth, key + 1, NULL);
    } else {
        CHECK_OK(trp_map_put(&node->truth, key + 1, weight));
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void world_deliver(world_t *world)
{
    while (world->packets != NULL && world->packets->at <= world->now) {
        packet_t *packet = world->packets;
        world->packets = packet->next;
        node_t *to = world_find(world, packet->to);
        if (to != NULL) {
            troupe_err_t err = trp_registry_receive(
                &to->registry, packet->from, trp_view_make(packet->data, packet->size), world->now);
            CHECK(err == TROUPE_OK || err == TROUPE_EREFUSED);
        }
        trp_free(packet);
    }
}

static void world_run(world_t *world, uint64_t duration)
{
    uint64_t end = world->now + duration;
    while (world->now < end) {
        world->now += 5 * MS;
        world_deliver(world);
        for (uint32_t i = 0; i < world->node_len; i++) {
            if (world->nodes[i].is_up) {
                trp_registry_flush(&world->nodes[i].registry, world->now);
                (void)trp_registry_tick(&world->nodes[i].registry, world->now);
            }
        }
    }
}

static void world_init(world_t *world, uint32_t node_len, uint32_t key_len, uint64_t seed)
{
    memset(world, 0, sizeof(*world));
    trp_random_seed(&world->random, seed);
    world->now = TRP_NS_PER_S;
    world->node_len = node_len;
    world->key_len = key_len;
    world->next_uid = 1000;
    world->delay_max = 20 * MS;
    for (uint32_t i = 0; i < node_len; i++) {
        node_start(world, i);
    }
}

static void world_fini(world_t *world)
{
    for (uint32_t i = 0; i < world->node_len; i++) {
        if (world->nodes[i].is_up) {
            node_free(&world->nodes[i]);
        }
    }
    while (world->packets != NULL) {
        packet_t *next = world->packets->next;
        trp_free(world->packets);
        world->packets = next;
    }
}

/* Whether what `node` was told of `owner` is just what the owner has. */
static bool node_sees(node_t *node, node_t *owner)
{
    char bytes[TRP_ATOM_SIZE_MAX + 1];
    trp_registry_peer_t *peer = trp_registry_peer(&node->registry, owner->uid);
    if (peer == NULL || peer->bucket.live_len != owner->truth.len) {
        return false;
    }
    TRP_MAP_FOREACH(item, &owner->truth)
    {
        trp_view_t name;
        trp_view_t group;
        key_name(node->world, (uint32_t)item->key - 1, bytes, sizeof(bytes), &name, &group);
        const uint64_t *weight = trp_map_find(&node->heard, entry_key(owner->uid, name, group));
        if (weight == NULL || *weight != item->value) {
            return false;
        }
    }
    return true;
}

static bool world_is_true(world_t *world)
{
    for (uint32_t i = 0; i < world->node_len; i++) {
        size_t total = 0;
        for (uint32_t j = 0; j < world->node_len && world->nodes[i].is_up; j++) {
            if (i == j || !world->nodes[j].is_up) {
                continue;
            }
            if (!node_sees(&world->nodes[i], &world->nodes[j])) {
                return false;
            }
            total += world->nodes[j].truth.len;
        }
        if (world->nodes[i].is_up &&
            (world->nodes[i].heard.len != total || world->nodes[i].registry.entry_len != total)) {
            return false;
        }
    }
    return true;
}

static void world_heal(world_t *world)
{
    memset(world->is_cut, 0, sizeof(world->is_cut));
    for (uint32_t i = 0; i < world->node_len; i++) {
        for (uint32_t j = 0; j < world->node_len && world->nodes[i].is_up; j++) {
            if (i != j && world->nodes[j].is_up) {
                trp_registry_set_reachable(&world->nodes[i].registry, world->nodes[j].uid, true,
                                           world->now);
            }
        }
    }
}

static void world_cut(world_t *world, uint32_t a, uint32_t b)
{
    bool is_noticed = trp_random_below(&world->random, 2) == 0;
    world->is_cut[a][b] = true;
    world->is_cut[b][a] = true;
    if (is_noticed && world->nodes[a].is_up && world->nodes[b].is_up) {
        trp_registry_set_reachable(&world->nodes[a].registry, world->nodes[b].uid, false,
                                   world->now);
        trp_registry_set_reachable(&world->nodes[b].registry, world->nodes[a].uid, false,
                                   world->now);
    }
}

static void world_split(world_t *world)
{
    uint64_t side = trp_random_next(&world->random);
    for (uint32_t i = 0; i < world->node_len; i++) {
        for (uint32_t j = i + 1; j < world->node_len; j++) {
            if (((side >> (i % 64)) & 1) != ((side >> (j % 64)) & 1)) {
                world_cut(world, i, j);
            }
        }
    }
}

static void world_step(world_t *world)
{
    uint32_t index = (uint32_t)trp_random_below(&world->random, world->node_len);
    uint64_t what = trp_random_below(&world->random, 1000);
    node_t *node = &world->nodes[index];
    if (what < 6) {
        world_split(world);
    } else if (what < 16) {
        world_heal(world);
    } else if (what < 20 && node->is_up) {
        node_stop(world, index);
    } else if (what < 40 && !node->is_up) {
        node_start(world, index);
    } else if (node->is_up) {
        uint32_t key = (uint32_t)trp_random_below(&world->random, world->key_len);
        uint32_t weight = (uint32_t)trp_random_below(&world->random, 4);
        node_set(node, key, weight);
    }
    if (trp_random_below(&world->random, 3) == 0) {
        world_run(world, 5 * MS);
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void storm(uint32_t node_len, uint32_t steps, uint64_t seed)
{
    static world_t world;
    world_init(&world, node_len, 200, seed);
    world.loss = (uint32_t)trp_random_below(&world.random, 200);
    world.doubling = (uint32_t)trp_random_below(&world.random, 200);
    world.delay_max = (1 + trp_random_below(&world.random, 200)) * MS;
    for (uint32_t i = 0; i < steps; i++) {
        world_step(&world);
    }
    world_heal(&world);
    world.loss = 0;
    world_run(&world, 10 * TRP_NS_PER_S);
    if (!CHECK(world_is_true(&world))) {
        (void)fprintf(stderr, "  with seed %llu, %u nodes\n", (unsigned long long)seed, node_len);
    }
    for (uint32_t i = 0; i < world.node_len; i++) {
        if (world.nodes[i].is_up) {
            CHECK(trp_registry_is_synced(&world.nodes[i].registry));
            CHECK_EQ_U64(world.nodes[i].registry.own.tomb_len, 0);
        }
    }
    world_fini(&world);
}

static void all_views_equal_the_truth_once_it_is_quiet(void)
{
    uint64_t rounds = check_count(40, 1000);
    for (uint64_t i = 0; i < rounds; i++) {
        storm(3 + (uint32_t)(i % 3), 2000, check_seed() + i);
    }
}

static void many_nodes_find_out_by_ranges_what_they_miss(void)
{
    uint64_t rounds = check_count(2, 30);
    for (uint64_t i = 0; i < rounds; i++) {
        storm(48, 1500, check_seed() + 7 * i);
    }
}

static void an_idle_cluster_exchanges_digests_only(void)
{
    static world_t world;
    world_init(&world, 3, KEYS_MAX, check_seed());
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t key = 0; key < 1000; key++) {
            node_set(&world.nodes[i], key, 1);
        }
    }
    world_run(&world, 5 * TRP_NS_PER_S);
    CHECK(world_is_true(&world));
    world.sent = 0;
    world.sent_bytes = 0;
    world.largest = 0;
    world_run(&world, 100 * TRP_NS_PER_S);
    CHECK_LE_U64(world.sent, 303);
    CHECK_GE_U64(world.sent, 290);
    CHECK_LE_U64(world.largest, 64);
    world_fini(&world);
}

static void long_names_stay_below_a_control_frame(void)
{
    static world_t world;
    world_init(&world, 3, KEYS_MAX, check_seed());
    world.name_size = TRP_ATOM_SIZE_MAX;
    for (uint32_t key = 0; key < 2000; key++) {
        node_set(&world.nodes[0], key * 2, 1);
    }
    world_run(&world, 20 * TRP_NS_PER_S);
    CHECK(world_is_true(&world));
    CHECK_LE_U64(world.largest, TRP_GOSSIP_SIZE_MAX);
    /* What one subscription more costs does not depend on how many there are. */
    world.sent_bytes = 0;
    node_set(&world.nodes[0], 2001, 1);
    world_run(&world, 100 * MS);
    CHECK_LE_U64(world.sent_bytes, 3 * TRP_ATOM_SIZE_MAX);
    world_fini(&world);
}

static void a_hundred_restarts_leave_nothing_behind(void)
{
    static world_t world;
    world_init(&world, 3, 200, check_seed());
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t key = 0; key < 50; key++) {
            node_set(&world.nodes[2], key, 1);
        }
        world_run(&world, 200 * MS);
        node_stop(&world, 2);
        CHECK_EQ_U64(world.nodes[0].registry.entry_len, 0);
        node_start(&world, 2);
    }
    world_run(&world, 5 * TRP_NS_PER_S);
    CHECK(world_is_true(&world));
    CHECK_EQ_U64(trp_atoms_len(&world.nodes[0].names), 0);
    world_fini(&world);
}

static void what_a_member_missed_while_cut_off_is_told_after_the_tombstones_are_gone(void)
{
    static world_t world;
    world_init(&world, 3, 400, check_seed());
    for (uint32_t key = 0; key < 200; key++) {
        node_set(&world.nodes[0], key, 1);
    }
    world_run(&world, 2 * TRP_NS_PER_S);
    world_cut(&world, 0, 1);
    for (uint32_t key = 0; key < 150; key++) {
        node_set(&world.nodes[0], key, 0);
    }
    for (uint32_t key = 200; key < 300; key++) {
        node_set(&world.nodes[0], key, 2);
    }
    world_run(&world, 60 * TRP_NS_PER_S);
    CHECK_EQ_U64(world.nodes[0].registry.own.tomb_len, 0);
    CHECK_FALSE(world_is_true(&world));
    world_heal(&world);
    world_run(&world, 3 * TRP_NS_PER_S);
    CHECK(world_is_true(&world));
    world_fini(&world);
}

static const check_case_t cases[] = {
    CHECK_CASE(all_views_equal_the_truth_once_it_is_quiet),
    CHECK_CASE(many_nodes_find_out_by_ranges_what_they_miss),
    CHECK_CASE(an_idle_cluster_exchanges_digests_only),
    CHECK_CASE(long_names_stay_below_a_control_frame),
    CHECK_CASE(a_hundred_restarts_leave_nothing_behind),
    CHECK_CASE(what_a_member_missed_while_cut_off_is_told_after_the_tombstones_are_gone),
};

CHECK_MAIN("sim.registry", cases)
