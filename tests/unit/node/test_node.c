/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of a node's life: without links, several in one process, refusals, misuse. */

#include <troupe/troupe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"

static troupe_node_t *node_new(const troupe_node_options_t *options)
{
    troupe_node_t *node = NULL;
    REQUIRE_OK(troupe_node_create(options, &node));
    return node;
}

/* ---- states ------------------------------------------------------------------------------------ */

typedef struct states {
    _Atomic uint32_t len;
    troupe_node_state_t seen[16];
} states_t;

static void states_take(troupe_node_t *node, troupe_node_state_t state, troupe_err_t reason,
                        void *user)
{
    states_t *states = user;
    uint32_t at = atomic_fetch_add(&states->len, 1);
    CHECK_OK(reason);
    CHECK_NOT_NULL(node);
    if (at < 16) {
        states->seen[at] = state;
    }
}

static void a_node_without_links_is_up_once_started(void)
{
    states_t states;
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    memset(&states, 0, sizeof(states));
    options.on_state = states_take;
    options.on_state_user = &states;
    troupe_node_t *node = node_new(&options);
    CHECK_EQ_U64(troupe_node_state(node), TROUPE_NODE_CREATED);
    CHECK_ERR(troupe_node_wait_up(node, 1), TROUPE_ETIMEOUT);
    CHECK_OK(troupe_node_start(node));
    CHECK_OK(troupe_node_wait_up(node, 0));
    CHECK(troupe_node_is_up(node));
    CHECK_EQ_STR(troupe_node_address(node), "");
    CHECK_EQ_STR(troupe_node_cluster(node), "troupe");
    CHECK(troupe_node_uid(node) != 0);
    CHECK_ERR(troupe_node_start(node), TROUPE_EBUSY);
    CHECK_OK(troupe_node_stop(node, 5000));
    CHECK_OK(troupe_node_stop(node, 5000));
    CHECK_EQ_U64(troupe_node_state(node), TROUPE_NODE_STOPPED);
    CHECK_ERR(troupe_node_wait_up(node, 0), TROUPE_ESTOPPED);
    troupe_node_destroy(&node);
    CHECK_NULL(node);
    REQUIRE_EQ_U64(states.len, 4);
    CHECK_EQ_U64(states.seen[0], TROUPE_NODE_JOINING);
    CHECK_EQ_U64(states.seen[1], TROUPE_NODE_UP);
    CHECK_EQ_U64(states.seen[2], TROUPE_NODE_STOPPING);
    CHECK_EQ_U64(states.seen[3], TROUPE_NODE_STOPPED);
}

static void a_node_may_be_destroyed_at_any_time(void)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = node_new(&options);
    troupe_node_destroy(&node);
    node = node_new(&options);
    CHECK_OK(troupe_node_start(node));
    troupe_node_destroy(&node);
    troupe_node_destroy(&node);
    troupe_node_destroy(NULL);
}

static void a_node_that_leaves_is_to_be_stopped(void)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = node_new(&options);
    CHECK_OK(troupe_node_start(node));
    CHECK_OK(troupe_node_leave(node));
    CHECK_EQ_U64(troupe_node_state(node), TROUPE_NODE_LEFT);
    troupe_node_destroy(&node);
}

static void *stop_main(void *user)
{
    CHECK_OK(troupe_node_stop(user, 5000));
    return NULL;
}

static void two_threads_may_stop_one_node(void)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = node_new(&options);
    pthread_t threads[4];
    CHECK_OK(troupe_node_start(node));
    for (size_t i = 0; i < TRP_ARRAY_LEN(threads); i++) {
        REQUIRE(pthread_create(&threads[i], NULL, stop_main, node) == 0);
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    troupe_node_destroy(&node);
}

static void states_have_names(void)
{
    CHECK_EQ_STR(troupe_node_state_name(TROUPE_NODE_CREATED), "created");
    CHECK_EQ_STR(troupe_node_state_name(TROUPE_NODE_STOPPED), "stopped");
    CHECK_EQ_STR(troupe_node_state_name((troupe_node_state_t)99), "unknown");
}

/* ---- actors on it ------------------------------------------------------------------------------- */

static troupe_err_t echo_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    (void)state;
    return troupe_reply(self, message->type, message->body, message->size);
}

static const troupe_behavior_t echo_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "echo",
    .receive = echo_receive,
};

static void check_echo(troupe_node_t *node)
{
    troupe_inbox_t *inbox = NULL;
    troupe_letter_t *letter = NULL;
    troupe_ref_t echo = troupe_ref_none();
    REQUIRE_OK(troupe_node_spawn(node, &echo_behavior, NULL, &echo));
    CHECK_EQ_U64(echo.node, troupe_node_uid(node));
    REQUIRE_OK(troupe_inbox_open(node, NULL, &inbox));
    REQUIRE_OK(troupe_inbox_ask(inbox, echo, TROUPE_TYPE_TEXT, "hello", 5, 5000, &letter));
    const troupe_message_t *message = troupe_letter_message(letter);
    CHECK_EQ_BYTES(message->body, message->size, "hello", 5);
    troupe_letter_free(&letter);
    troupe_inbox_close(&inbox);
}

static void several_nodes_live_in_one_process(void)
{
    troupe_node_t *nodes[4];
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    options.dispatchers = 1;
    for (size_t i = 0; i < TRP_ARRAY_LEN(nodes); i++) {
        nodes[i] = node_new(&options);
        CHECK_OK(troupe_node_start(nodes[i]));
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(nodes); i++) {
        check_echo(nodes[i]);
        for (size_t j = 0; j < i; j++) {
            CHECK(troupe_node_uid(nodes[i]) != troupe_node_uid(nodes[j]));
        }
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(nodes); i++) {
        CHECK_OK(troupe_node_stop(nodes[i], 5000));
        troupe_node_destroy(&nodes[i]);
    }
}

static troupe_err_t stopper_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    uint32_t err = (uint32_t)troupe_node_stop(troupe_actor_node(self), 1000);
    (void)state;
    (void)message;
    return troupe_reply(self, TROUPE_TYPE_BYTES, &err, sizeof(err));
}

static const troupe_behavior_t stopper_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "stopper",
    .receive = stopper_receive,
};

static void an_actor_can_not_stop_its_node(void)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = node_new(&options);
    troupe_inbox_t *inbox = NULL;
    troupe_letter_t *letter = NULL;
    troupe_ref_t stopper = troupe_ref_none();
    CHECK_OK(troupe_node_start(node));
    REQUIRE_OK(troupe_node_spawn(node, &stopper_behavior, NULL, &stopper));
    REQUIRE_OK(troupe_inbox_open(node, NULL, &inbox));
    REQUIRE_OK(troupe_inbox_ask(inbox, stopper, TROUPE_TYPE_TEXT, "", 0, 5000, &letter));
    CHECK_EQ_U64(*(const uint32_t *)troupe_letter_message(letter)->body, TROUPE_ETHREAD);
    troupe_letter_free(&letter);
    troupe_inbox_close(&inbox);
    troupe_node_destroy(&node);
}

static void groups_of_dispatchers_are_there(void)
{
    static const char *const groups[] = {"blocking=2", "noisy=1"};
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t ref = troupe_ref_none();
    options.dispatchers = 1;
    options.groups = (troupe_string_list_t){groups, 2};
    troupe_node_t *node = node_new(&options);
    CHECK_OK(troupe_node_start(node));
    spawn.group = "blocking";
    CHECK_OK(troupe_node_spawn(node, &echo_behavior, &spawn, &ref));
    spawn.group = "quiet";
    CHECK_ERR(troupe_node_spawn(node, &echo_behavior, &spawn, &ref), TROUPE_ENOENT);
    troupe_stats_t stats = {.size = sizeof(stats)};
    CHECK_OK(troupe_node_stats(node, 5000, &stats));
    CHECK_EQ_U64(stats.dispatchers, 5);
    troupe_node_destroy(&node);
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static void log_take(const troupe_log_record_t *record, void *user)
{
    char *out = user;
    if (strcmp(record->event, "node.options") == 0 && record->field_count > 0) {
        snprintf(out, 256, "%s", record->fields[0].value);
    }
}

static void options_that_can_not_work_are_refused(void)
{
    static const char *const seeds[] = {"nowhere"};
    char problem[256] = "";
    troupe_node_t *node = NULL;
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    options.log = log_take;
    options.log_user = problem;
    options.bind = "10.0.0.1:7001";
    CHECK_ERR(troupe_node_create(&options, &node), TROUPE_EPERM);
    CHECK_NOT_NULL(strstr(problem, "beyond loopback"));
    options.bind = "127.0.0.1:0";
    options.seeds = (troupe_string_list_t){seeds, 1};
    CHECK_ERR(troupe_node_create(&options, &node), TROUPE_ECONFIG);
    CHECK_NOT_NULL(strstr(problem, "cluster.seeds"));
    options.seeds.len = 0;
    options.probe_interval_ms = 1;
    CHECK_ERR(troupe_node_create(&options, &node), TROUPE_ECONFIG);
    CHECK_NOT_NULL(strstr(problem, "cluster.probe_interval_ms"));
    options.probe_interval_ms = 0;
    options.split_policy = (troupe_split_policy_t)17;
    CHECK_ERR(troupe_node_create(&options, &node), TROUPE_ECONFIG);
    CHECK_NULL(node);
}

static void options_of_another_size_are_refused(void)
{
    troupe_node_t *node = NULL;
    struct {
        troupe_node_options_t options;
        uint64_t tail;
    } newer;
    memset(&newer, 0, sizeof(newer));
    newer.options.size = sizeof(newer);
    CHECK_OK(troupe_node_create(&newer.options, &node));
    troupe_node_destroy(&node);
    newer.tail = 1;
    CHECK_ERR(troupe_node_create(&newer.options, &node), TROUPE_EINVAL);
    newer.options.size = 1;
    CHECK_ERR(troupe_node_create(&newer.options, &node), TROUPE_EINVAL);
    /* One of an older header: what it lacks has its default. */
    newer.options.size = offsetof(troupe_node_options_t, admin_socket);
    CHECK_OK(troupe_node_create(&newer.options, &node));
    troupe_node_destroy(&node);
    CHECK_ERR(troupe_node_create(NULL, &node), TROUPE_EINVAL);
    CHECK_ERR(troupe_node_create(&newer.options, NULL), TROUPE_EINVAL);
}

static void misuse_is_an_error(void)
{
    char key[TROUPE_KEY_SIZE];
    CHECK_ERR(troupe_node_start(NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_node_stop(NULL, 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_node_wait_up(NULL, 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_node_leave(NULL), TROUPE_EINVAL);
    CHECK_EQ_U64(troupe_node_uid(NULL), 0);
    CHECK_EQ_STR(troupe_node_address(NULL), "");
    CHECK_FALSE(troupe_node_is_up(NULL));
    CHECK_ERR(troupe_key_generate(NULL, key), TROUPE_EINVAL);
}

static void keys_are_made_in_pairs(void)
{
    char public_key[2][TROUPE_KEY_SIZE];
    char secret_key[2][TROUPE_KEY_SIZE];
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(troupe_key_generate(public_key[i], secret_key[i]));
        CHECK_EQ_U64(strlen(public_key[i]), TROUPE_KEY_SIZE - 1);
        CHECK_EQ_U64(strlen(secret_key[i]), TROUPE_KEY_SIZE - 1);
    }
    CHECK(strcmp(public_key[0], public_key[1]) != 0);
    CHECK(strcmp(secret_key[0], secret_key[1]) != 0);
}

static troupe_err_t create_once(void *user)
{
    troupe_node_t *node = NULL;
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    (void)user;
    options.bind = "127.0.0.1:0";
    options.dispatchers = 1;
    troupe_err_t err = troupe_node_create(&options, &node);
    troupe_node_destroy(&node);
    return err;
}

static void running_out_of_memory_is_an_error(void)
{
    CHECK_ALLOCATIONS(create_once, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_node_without_links_is_up_once_started),
    CHECK_CASE(a_node_may_be_destroyed_at_any_time),
    CHECK_CASE(a_node_that_leaves_is_to_be_stopped),
    CHECK_CASE(two_threads_may_stop_one_node),
    CHECK_CASE(states_have_names),
    CHECK_CASE(several_nodes_live_in_one_process),
    CHECK_CASE(an_actor_can_not_stop_its_node),
    CHECK_CASE(groups_of_dispatchers_are_there),
    CHECK_CASE(options_that_can_not_work_are_refused),
    CHECK_CASE(options_of_another_size_are_refused),
    CHECK_CASE(misuse_is_an_error),
    CHECK_CASE(keys_are_made_in_pairs),
    CHECK_CASE(running_out_of_memory_is_an_error),
};
CHECK_MAIN("node.node", cases)
