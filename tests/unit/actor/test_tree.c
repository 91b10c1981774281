/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Supervision as a property: random trees, random failures, and a model that says who must live, how
 * often each was born and stopped.
 *
 * The model knows the tree: each node's directive, and whether it is all for one. A failure of a node is
 * applied to the model by the rules of <troupe/actor.h>; then the runtime, once quiet, must agree. */

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "support/runtime.h"

#define NODES 24u
#define RESTARTS_MAX 3u

typedef struct node {
    uint32_t parent; /* Itself: the root. */
    uint32_t children[NODES];
    uint32_t children_len;
    troupe_supervision_t supervision; /* Of its children. */
    uint32_t place;
    troupe_ref_t ref; /* Of its present life. */
    _Atomic uint64_t inits;
    _Atomic uint64_t stops;
    /* The model. */
    bool is_alive;
    uint64_t model_inits;
    uint64_t model_stops;
    uint32_t restarts; /* In its supervisor's book. */
} node_t;

static stage_t stage;
static node_t nodes[NODES];
static uint32_t nodes_len;
static trp_random_t random_source;

/* ---- the actors ------------------------------------------------------------------------------ */

typedef struct tree_state {
    uint32_t index;
} tree_state_t;

static const troupe_behavior_t tree_behavior;

static troupe_err_t tree_spawn(troupe_actor_t *self, uint32_t index)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.args = &index;
    options.args_size = sizeof(index);
    options.place = TROUPE_PLACE(nodes[index].place);
    options.supervision = nodes[index].supervision;
    return troupe_spawn(self, &tree_behavior, &options, &nodes[index].ref);
}

static troupe_err_t tree_init(troupe_actor_t *self, void *state, const void *args)
{
    tree_state_t *tree = state;
    memcpy(&tree->index, args, sizeof(tree->index));
    node_t *node = &nodes[tree->index];
    atomic_fetch_add(&node->inits, 1);
    for (uint32_t i = 0; i < node->children_len; i++) {
        CHECK_OK(tree_spawn(self, node->children[i]));
    }
    return TROUPE_OK;
}

static troupe_err_t tree_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    (void)self;
    (void)state;
    return message->type.id == TROUPE_TYPE_TEXT.id ? TROUPE_EFAILED : TROUPE_OK;
}

static void tree_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    node_t *node = &nodes[((tree_state_t *)state)->index];
    (void)reason;
    CHECK_EQ_U64(troupe_children_len(self), 0);
    atomic_fetch_add(&node->stops, 1);
}

static const troupe_behavior_t tree_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.tree",
    .state_size = sizeof(tree_state_t),
    .init = tree_init,
    .receive = tree_receive,
    .stop = tree_stop,
};

/* ---- the model ------------------------------------------------------------------------------- */

static void model_born(uint32_t index)
{
    nodes[index].is_alive = true;
    nodes[index].model_inits++;
    for (uint32_t i = 0; i < nodes[index].children_len; i++) {
        nodes[nodes[index].children[i]].restarts = 0; /* A new child, unknown to the books. */
        model_born(nodes[index].children[i]);
    }
}

static void model_end(uint32_t index)
{
    if (!nodes[index].is_alive) {
        return;
    }
    for (uint32_t i = 0; i < nodes[index].children_len; i++) {
        model_end(nodes[index].children[i]);
    }
    nodes[index].is_alive = false;
    nodes[index].model_stops++;
}

static void model_restart(uint32_t index)
{
    model_end(index);
    model_born(index);
}

static void model_apply(uint32_t index, troupe_directive_t directive)
{
    if (directive == TROUPE_RESTART) {
        model_restart(index);
    } else if (directive == TROUPE_STOP) {
        model_end(index);
    }
}

static void model_fail(uint32_t index)
{
    node_t *node = &nodes[index];
    if (node->parent == index) { /* The guardian restarts, and has had enough at its own bound. */
        model_restart(index);
        return;
    }
    node_t *parent = &nodes[node->parent];
    troupe_directive_t directive = parent->supervision.directive;
    if (directive == TROUPE_ESCALATE) {
        model_fail(node->parent);
        return;
    }
    if (directive == TROUPE_RESTART && ++node->restarts > RESTARTS_MAX) {
        directive = TROUPE_STOP;
    }
    if (!parent->supervision.all_for_one) {
        model_apply(index, directive);
        return;
    }
    for (uint32_t i = 0; i < parent->children_len; i++) {
        if (nodes[parent->children[i]].is_alive) {
            model_apply(parent->children[i], directive);
        }
    }
}

/* ---- the test -------------------------------------------------------------------------------- */

static void tree_make(void)
{
    memset(nodes, 0, sizeof(nodes));
    nodes_len = 2 + (uint32_t)trp_random_below(&random_source, NODES - 1);
    for (uint32_t i = 0; i < nodes_len; i++) {
        node_t *node = &nodes[i];
        node->place = (uint32_t)trp_random_below(&random_source, STAGE_DISPATCHERS);
        node->parent = i == 0 ? 0 : (uint32_t)trp_random_below(&random_source, i);
        /* Escalations up to the root would use up the guardian's patience: the root decides itself. */
        uint64_t directives = i == 0 ? 3 : 4;
        node->supervision.directive =
            (troupe_directive_t)(1 + trp_random_below(&random_source, directives));
        node->supervision.all_for_one = trp_random_below(&random_source, 3) == 0;
        node->supervision.restarts_max = RESTARTS_MAX;
        if (i > 0) {
            node_t *parent = &nodes[node->parent];
            parent->children[parent->children_len++] = i;
        }
    }
}

static bool tree_is_as_the_model(void)
{
    for (uint32_t i = 0; i < nodes_len; i++) {
        if (atomic_load(&nodes[i].inits) != nodes[i].model_inits ||
            atomic_load(&nodes[i].stops) != nodes[i].model_stops) {
            return false;
        }
    }
    return true;
}

/* Spawns on their way are no messages, so that quiet alone does not say that all are born. */
static void tree_check(uint64_t step)
{
    STAGE_QUIET(&stage);
    (void)CHECK_WAIT(tree_is_as_the_model(), STAGE_PATIENCE_MS);
    STAGE_QUIET(&stage);
    uint64_t alive = 4; /* The guardians. */
    for (uint32_t i = 0; i < nodes_len; i++) {
        const node_t *node = &nodes[i];
        alive += node->is_alive;
        if (atomic_load(&node->inits) != node->model_inits ||
            atomic_load(&node->stops) != node->model_stops) {
            CHECK_FAIL("step %" PRIu64 ", node %u: born %" PRIu64 " (model %" PRIu64
                       "), stopped %" PRIu64 " (model %" PRIu64 ")",
                       step, i, atomic_load(&node->inits), node->model_inits,
                       atomic_load(&node->stops), node->model_stops);
        }
    }
    CHECK_EQ_U64(stage_stats(&stage).actors, alive);
}

static void one_failure(uint64_t step)
{
    uint32_t index = (uint32_t)trp_random_below(&random_source, nodes_len);
    if (!nodes[index].is_alive) {
        return;
    }
    REQUIRE_OK(troupe_port_tell(stage.port, nodes[index].ref, troupe_ref_none(), TROUPE_TYPE_TEXT,
                                "", 0, STAGE_PATIENCE_MS));
    model_fail(index);
    tree_check(step);
}

static void one_tree(void)
{
    uint32_t root = 0;
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    tree_make();
    stage_open(&stage, NULL);
    options.args = &root;
    options.args_size = sizeof(root);
    options.supervision = nodes[0].supervision;
    REQUIRE_OK(troupe_node_spawn(&stage.node, &tree_behavior, &options, &nodes[0].ref));
    model_born(0);
    tree_check(0);
    for (uint64_t step = 1; step <= 12; step++) {
        one_failure(step);
    }
    model_end(0);
    stage_close(&stage);
    for (uint32_t i = 0; i < nodes_len; i++) {
        CHECK_EQ_U64(atomic_load(&nodes[i].stops), nodes[i].model_stops);
    }
}

static void after_each_failure_the_tree_is_as_the_model_says(void)
{
    trp_random_seed(&random_source, check_seed());
    for (uint64_t round = 0; round < check_count(60, 5000); round++) {
        one_tree();
    }
}

/* All that should be there: the guardians, and what was born and not stopped. */
static uint64_t tree_lives(void)
{
    uint64_t lives = 4;
    for (uint32_t i = 0; i < nodes_len; i++) {
        lives += atomic_load(&nodes[i].inits) - atomic_load(&nodes[i].stops);
    }
    return lives;
}

/* Many failures at once: no model says what comes out, but these hold: what was born was stopped or
 * lives, and all that live answer. */
static void storms_of_failures_leave_a_whole_tree(void)
{
    trp_random_seed(&random_source, check_seed());
    for (uint64_t round = 0; round < check_count(30, 2000); round++) {
        uint32_t root = 0;
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        tree_make();
        stage_open(&stage, NULL);
        options.args = &root;
        options.args_size = sizeof(root);
        options.supervision = nodes[0].supervision;
        REQUIRE_OK(troupe_node_spawn(&stage.node, &tree_behavior, &options, &nodes[0].ref));
        STAGE_QUIET(&stage);
        for (int storm = 0; storm < 5; storm++) {
            troupe_ref_t refs[NODES]; /* As of now: they change as soon as the first has failed. */
            for (uint32_t i = 0; i < nodes_len; i++) {
                refs[i] = nodes[i].ref;
            }
            for (uint32_t i = 1; i < nodes_len; i++) {
                uint32_t index = 1 + (uint32_t)trp_random_below(&random_source, nodes_len - 1);
                troupe_ref_t ref = refs[index];
                if (trp_random_below(&random_source, 8) == 0) {
                    troupe_port_kill(stage.port, ref);
                } else {
                    (void)!troupe_port_tell(stage.port, ref, troupe_ref_none(), TROUPE_TYPE_TEXT,
                                            "", 0, STAGE_PATIENCE_MS);
                }
            }
            STAGE_QUIET(&stage);
            CHECK_EVENTUALLY(stage_stats(&stage).actors == tree_lives(), STAGE_PATIENCE_MS);
            CHECK_EQ_U64(stage_stats(&stage).user.in_flight, 0); /* Nobody is left suspended. */
        }
        stage_close(&stage);
        for (uint32_t i = 0; i < nodes_len; i++) {
            CHECK_EQ_U64(atomic_load(&nodes[i].inits), atomic_load(&nodes[i].stops));
        }
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(after_each_failure_the_tree_is_as_the_model_says),
    CHECK_CASE(storms_of_failures_leave_a_whole_tree),
};

CHECK_MAIN("actor.tree", cases)
