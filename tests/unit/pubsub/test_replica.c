/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The directory and a dispatcher's replica of it: who is told what, and when a topic is forgotten. */

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "pubsub/directory.h"
#include "pubsub/subscription.h"
#include "support/check.h"

#define NODE_B UINT64_C(0xb0b)
#define NODE_C UINT64_C(0xcafe)

typedef struct world {
    trp_atoms_t names;
    trp_directory_t directory;
    trp_replica_t replicas[2];
    uint32_t changes; /* Told to somebody. */
    uint32_t forgets;
} world_t;

static world_t world;

static troupe_err_t world_init(void)
{
    memset(&world, 0, sizeof(world));
    troupe_err_t err = trp_atoms_init(&world.names, 1000, 1);
    if (err == TROUPE_OK) {
        err = trp_directory_init(&world.directory, &world.names, 1);
    }
    for (uint8_t i = 0; i < 2 && err == TROUPE_OK; i++) {
        err = trp_replica_init(&world.replicas[i], &world.directory, i);
    }
    return err;
}

static void world_fini(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (world.replicas[i].index != NULL) {
            trp_subscriptions_fini(&world.replicas[i]);
            trp_replica_fini(&world.replicas[i]);
        }
    }
    trp_directory_fini(&world.directory);
    if (world.names.entries != NULL) {
        CHECK_EQ_U64(trp_atoms_len(&world.names), 0);
    }
    trp_atoms_fini(&world.names);
}

/* What the mediator and the sites do with a change. */
static void on_change(void *context, const trp_change_t *change)
{
    trp_targets_t *targets = change->targets;
    (void)context;
    for (uint32_t i = 0; i < 2; i++) {
        if ((change->interest[0] >> i & 1) == 0) {
            continue;
        }
        world.changes++;
        if (targets == NULL) {
            world.forgets +=
                trp_replica_forget(&world.replicas[i], change->id, change->generation) ? 1 : 0;
        } else {
            (void)trp_replica_apply(&world.replicas[i], change->id, change->generation,
                                    trp_targets_ref(targets));
        }
    }
    trp_targets_unref(&targets);
}

static troupe_err_t place(trp_space_t space, const char *name, const char *group, uint64_t node,
                          uint32_t weight)
{
    const trp_atom_t *atom = NULL;
    const trp_atom_t *group_atom = NULL;
    trp_change_t change = {.targets = NULL};
    troupe_err_t err = trp_atoms_intern(&world.names, space, trp_view_from_string(name), &atom);
    if (err == TROUPE_OK && group != NULL) {
        err = trp_atoms_intern(&world.names, TRP_SPACE_GROUP, trp_view_from_string(group),
                               &group_atom);
    }
    if (err == TROUPE_OK) {
        /* Nodes below 2 are dispatchers of this one. */
        trp_placing_t placing = {.name = atom, .group = group_atom, .weight = weight};
        placing.node = node < 2 ? 0 : node;
        placing.replica = node < 2 ? (uint8_t)node : 0;
        if (space == TRP_SPACE_PATTERN) {
            err = trp_directory_place_pattern(&world.directory, &placing, on_change, NULL);
        } else {
            err = trp_directory_place(&world.directory, &placing, &change);
        }
    }
    if (change.targets != NULL) {
        on_change(NULL, &change);
    }
    trp_atoms_unref(&world.names, &atom);
    trp_atoms_unref(&world.names, &group_atom);
    return err;
}

static trp_replica_topic_t *resolve(uint32_t replica, const char *name)
{
    trp_replica_topic_t *topic = NULL;
    REQUIRE_OK(trp_replica_resolve(&world.replicas[replica], TRP_SPACE_TOPIC,
                                   trp_view_from_string(name), &topic));
    return topic;
}

static void a_replica_hears_of_the_topics_it_uses_and_of_no_others(void)
{
    REQUIRE_OK(world_init());
    trp_replica_topic_t *used = resolve(0, "used");
    CHECK_EQ_U64(used->flags, 0);
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, 0, 1));
    CHECK_EQ_U64(used->flags, TRP_REPLICA_HERE);
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, 1, 1));
    CHECK_EQ_U64(used->near_len, 1);
    CHECK_EQ_U64(used->near[0], 1);
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, NODE_B, 5));
    CHECK_EQ_U64(used->flags, TRP_REPLICA_HERE | TRP_REPLICA_NODES);
    CHECK_EQ_U64(used->targets->nodes[0], NODE_B);
    CHECK_EQ_U64(world.changes, 3);
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, NODE_B, 6)); /* More of the same. */
    CHECK_OK(place(TRP_SPACE_TOPIC, "other", NULL, 1, 1));
    CHECK_EQ_U64(world.changes, 3);
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, NODE_B, 0));
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, 1, 0));
    CHECK_OK(place(TRP_SPACE_TOPIC, "used", NULL, 0, 0));
    CHECK_EQ_U64(used->flags, 0);
    CHECK_EQ_U64(used->near_len, 0);
    CHECK_EQ_U64(resolve(1, "other")->flags, TRP_REPLICA_HERE);
    CHECK_OK(place(TRP_SPACE_TOPIC, "other", NULL, 1, 0));
    world_fini();
}

static void masks_show_the_dispatchers_with_plain_subscribers(void)
{
    REQUIRE_OK(world_init());
    CHECK_OK(place(TRP_SPACE_TOPIC, "a.b", NULL, 1, 1));
    CHECK_OK(place(TRP_SPACE_TOPIC, "a.b", "g", 0, 1));
    trp_replica_topic_t *topic = resolve(0, "a.b");
    trp_mask_t *mask = trp_masks_at(&world.directory.masks, topic->name->id);
    REQUIRE_NOT_NULL(mask);
    CHECK_EQ_U64(atomic_load(&mask->words[0]), 2);
    CHECK_OK(place(TRP_SPACE_PATTERN, "a.*", NULL, 0, 1));
    CHECK_EQ_U64(atomic_load(&mask->words[0]), 3);
    CHECK_OK(place(TRP_SPACE_TOPIC, "a.b", NULL, 1, 0));
    CHECK_OK(place(TRP_SPACE_PATTERN, "a.*", NULL, 0, 0));
    CHECK_EQ_U64(atomic_load(&mask->words[0]), 0);
    CHECK_OK(place(TRP_SPACE_TOPIC, "a.b", "g", 0, 0));
    world_fini();
}

static void patterns_reach_topics_that_come_before_and_after(void)
{
    REQUIRE_OK(world_init());
    trp_replica_topic_t *before = resolve(0, "orders.1");
    CHECK_OK(place(TRP_SPACE_PATTERN, "orders.*", NULL, 1, 1));
    trp_replica_topic_t *after = resolve(0, "orders.2");
    trp_replica_topic_t *other = resolve(0, "orders.2.x");
    CHECK_EQ_U64(before->near_len, 1);
    CHECK_EQ_U64(after->near_len, 1);
    CHECK_EQ_U64(other->near_len, 0);
    CHECK_EQ_U64(after->targets->pattern_len, 1);
    CHECK_OK(place(TRP_SPACE_PATTERN, "orders.*", NULL, NODE_B, 1));
    CHECK_EQ_U64(before->targets->node_len, 1);
    CHECK_OK(place(TRP_SPACE_PATTERN, "orders.*", NULL, 1, 0));
    CHECK_EQ_U64(before->near_len, 0);
    CHECK_EQ_U64(before->targets->pattern_len, 0); /* Nobody of this node. */
    CHECK_EQ_U64(before->targets->node_len, 1);
    CHECK_OK(place(TRP_SPACE_PATTERN, "orders.*", NULL, NODE_B, 0));
    CHECK_EQ_U64(after->targets->node_len, 0);
    world_fini();
}

static void groups_leave_out_members_that_cannot_be_reached(void)
{
    REQUIRE_OK(world_init());
    trp_replica_topic_t *topic = resolve(0, "work");
    CHECK_OK(place(TRP_SPACE_TOPIC, "work", "g", 1, 2));
    CHECK_OK(place(TRP_SPACE_TOPIC, "work", "g", NODE_B, 3));
    CHECK_OK(place(TRP_SPACE_TOPIC, "work", "g", NODE_C, 5));
    REQUIRE_EQ_U64(topic->targets->group_len, 1);
    const trp_target_group_t *group = &topic->targets->groups[0];
    CHECK_EQ_U64(group->weight, 10);
    CHECK_EQ_U64(group->local_weight, 2);
    CHECK_EQ_U64(topic->flags, 0); /* A plain publish goes nowhere. */
    uint32_t hits[3] = {0, 0, 0};
    for (uint32_t at = 0; at < group->weight; at++) {
        const trp_target_member_t *member = trp_targets_member(topic->targets, group, at);
        hits[member->node == 0 ? 0 : member->node == NODE_B ? 1 : 2]++;
    }
    CHECK_EQ_U64(hits[0], 2);
    CHECK_EQ_U64(hits[1], 3);
    CHECK_EQ_U64(hits[2], 5);
    CHECK_OK(trp_directory_set_reachable(&world.directory, NODE_C, false, on_change, NULL));
    CHECK_EQ_U64(topic->targets->groups[0].weight, 5);
    CHECK_OK(place(TRP_SPACE_TOPIC, "work", "g", 1, 0));
    CHECK_OK(place(TRP_SPACE_TOPIC, "work", "g", NODE_B, 0));
    CHECK_EQ_U64(topic->targets->groups[0].weight, 5); /* There is nobody else. */
    CHECK_OK(trp_directory_set_reachable(&world.directory, NODE_C, true, on_change, NULL));
    CHECK_EQ_U64(topic->targets->groups[0].weight, 5);
    CHECK_OK(place(TRP_SPACE_TOPIC, "work", "g", NODE_C, 0));
    CHECK_EQ_U64(topic->targets->group_len, 0);
    world_fini();
}

static void unused_topics_are_forgotten_in_two_steps(void)
{
    troupe_topic_t handle;
    REQUIRE_OK(world_init());
    CHECK_OK(trp_directory_open(&world.directory, TRP_SPACE_TOPIC, trp_view_from_string("kept"),
                                NULL, &handle));
    (void)resolve(0, "idle");
    (void)resolve(1, "idle");
    (void)resolve(0, "kept");
    CHECK_EQ_U64(trp_directory_len(&world.directory), 2);
    trp_directory_sweep(&world.directory, 1000, 100, 1000, on_change, NULL);
    trp_directory_sweep(&world.directory, 1050, 100, 1000, on_change, NULL);
    CHECK_EQ_U64(world.forgets, 0);
    trp_directory_sweep(&world.directory, 1100, 100, 1000, on_change, NULL);
    CHECK_EQ_U64(world.forgets, 2);
    CHECK_EQ_U64(trp_directory_len(&world.directory), 2);
    trp_directory_sweep(&world.directory, 1101, 100, 1000, on_change, NULL);
    CHECK_EQ_U64(trp_directory_len(&world.directory), 1);
    CHECK_EQ_U64(trp_atoms_len(&world.names), 1);
    CHECK_OK(trp_directory_close(&world.directory, handle));
    CHECK_ERR(trp_directory_close(&world.directory, handle), TROUPE_ENOENT);
    for (uint64_t now = 2000; now < 2400; now += 100) {
        trp_directory_sweep(&world.directory, now, 100, 1000, on_change, NULL);
    }
    CHECK_EQ_U64(trp_directory_len(&world.directory), 0);
    CHECK_EQ_U64(trp_atoms_len(&world.names), 0);
    CHECK_NULL(trp_replica_at(&world.replicas[0], handle.id, handle.generation));
    world_fini();
}

static void an_older_snapshot_never_replaces_a_newer_one(void)
{
    REQUIRE_OK(world_init());
    trp_replica_topic_t *topic = resolve(0, "t");
    CHECK_OK(place(TRP_SPACE_TOPIC, "t", NULL, 0, 1));
    trp_targets_t *old = trp_targets_ref(topic->targets);
    CHECK_OK(place(TRP_SPACE_TOPIC, "t", NULL, 1, 1));
    CHECK_EQ_U64(topic->near_len, 1);
    (void)trp_replica_apply(&world.replicas[0], topic->name->id, topic->generation, old);
    CHECK_EQ_U64(topic->near_len, 1);
    CHECK_OK(place(TRP_SPACE_TOPIC, "t", NULL, 0, 0));
    CHECK_OK(place(TRP_SPACE_TOPIC, "t", NULL, 1, 0));
    world_fini();
}

/* ---- subscriptions --------------------------------------------------------------------------- */

static void subscriptions_are_found_and_end_with_their_actor(void)
{
    REQUIRE_OK(world_init());
    trp_replica_t *replica = &world.replicas[0];
    trp_random_t random;
    char name[32];
    static bool truth[50][20];
    memset(truth, 0, sizeof(truth));
    trp_random_seed(&random, check_seed());
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t actor = (uint32_t)trp_random_below(&random, 50);
        uint32_t which = (uint32_t)trp_random_below(&random, 20);
        (void)snprintf(name, sizeof(name), "t%u", (unsigned)which);
        trp_replica_topic_t *topic = resolve(0, name);
        trp_subscription_t *found = trp_subscription_find(replica, actor + 1, topic->name, NULL);
        REQUIRE((found != NULL) == truth[actor][which]);
        if (found == NULL) {
            trp_subscribing_t in = {.actor = actor + 1, .name = topic->name};
            REQUIRE_OK(trp_subscription_add(replica, &in, &found));
            trp_subscription_activate(replica, found);
            CHECK_ERR(trp_subscription_add(replica, &in, &found), TROUPE_EEXIST);
        } else {
            trp_subscription_remove(replica, found);
        }
        truth[actor][which] = !truth[actor][which];
    }
    uint64_t total = 0;
    for (uint32_t actor = 0; actor < 50; actor++) {
        uint32_t want = 0;
        uint32_t have = 0;
        for (uint32_t which = 0; which < 20; which++) {
            want += truth[actor][which] ? 1 : 0;
        }
        for (trp_subscription_t *at = trp_subscription_first(replica, actor + 1); at != NULL;
             at = at->actor_next) {
            trp_subscribers_t *list = trp_subscription_list(replica, at->name, NULL);
            CHECK_EQ_PTR(trp_subscriber_subscription(&trp_subscribers_items(list)[at->at]), at);
            have++;
        }
        CHECK_EQ_U64(have, want);
        total += want;
    }
    CHECK_EQ_U64(replica->subscription_len, total);
    world_fini();
}

static troupe_err_t step_use(void *user)
{
    trp_replica_topic_t *topic = NULL;
    trp_subscription_t *subscription = NULL;
    (void)user;
    troupe_err_t err = world_init();
    if (err == TROUPE_OK) {
        err = trp_replica_resolve(&world.replicas[0], TRP_SPACE_TOPIC, trp_view_from_string("t.1"),
                                  &topic);
    }
    if (err == TROUPE_OK) {
        trp_subscribing_t in = {.actor = 7, .name = topic->name};
        err = trp_subscription_add(&world.replicas[0], &in, &subscription);
    }
    if (err == TROUPE_OK) {
        err = place(TRP_SPACE_TOPIC, "t.1", NULL, 0, 1);
    }
    if (err == TROUPE_OK) {
        err = place(TRP_SPACE_TOPIC, "t.1", "g", NODE_B, 1);
    }
    if (err == TROUPE_OK) {
        err = place(TRP_SPACE_PATTERN, "t.*", NULL, NODE_B, 1);
    }
    world_fini();
    return err;
}

static void using_a_topic_survives_failing_allocations(void)
{
    CHECK_ALLOCATIONS(step_use, NULL);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool visit_count(const troupe_topic_info_t *info, void *context)
{
    uint32_t *count = context;
    (*count)++;
    return info->name_size > 0 && *count < 3;
}

static void questions_see_places_by_node_and_group(void)
{
    troupe_topic_t handle;
    troupe_topic_info_t info;
    uint32_t count = 0;
    REQUIRE_OK(world_init());
    CHECK_OK(trp_directory_open(&world.directory, TRP_SPACE_TOPIC, trp_view_from_string("q"), NULL,
                                &handle));
    CHECK_OK(place(TRP_SPACE_TOPIC, "q", NULL, 0, 2));
    CHECK_OK(place(TRP_SPACE_TOPIC, "q", "g", 1, 3));
    CHECK_OK(place(TRP_SPACE_TOPIC, "q", "g", NODE_B, 4));
    CHECK_OK(place(TRP_SPACE_TOPIC, "q", "h", NODE_B, 5));
    CHECK_OK(trp_directory_count(&world.directory, handle, &info));
    CHECK_EQ_U64(info.subscribers_here, 5);
    CHECK_EQ_U64(info.subscribers_others, 9);
    CHECK_EQ_U64(info.nodes, 2);
    CHECK_EQ_U64(info.groups, 2);
    for (uint32_t i = 0; i < 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "more.%u", (unsigned)i);
        CHECK_OK(place(TRP_SPACE_TOPIC, name, NULL, NODE_C, 1));
    }
    trp_directory_visit(&world.directory, visit_count, &count);
    CHECK_EQ_U64(count, 3);
    world_fini();
}

static const check_case_t cases[] = {
    CHECK_CASE(a_replica_hears_of_the_topics_it_uses_and_of_no_others),
    CHECK_CASE(masks_show_the_dispatchers_with_plain_subscribers),
    CHECK_CASE(patterns_reach_topics_that_come_before_and_after),
    CHECK_CASE(groups_leave_out_members_that_cannot_be_reached),
    CHECK_CASE(unused_topics_are_forgotten_in_two_steps),
    CHECK_CASE(an_older_snapshot_never_replaces_a_newer_one),
    CHECK_CASE(subscriptions_are_found_and_end_with_their_actor),
    CHECK_CASE(using_a_topic_survives_failing_allocations),
    CHECK_CASE(questions_see_places_by_node_and_group),
};

CHECK_MAIN("pubsub.replica", cases)
