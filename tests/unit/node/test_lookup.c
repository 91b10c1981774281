/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of addresses with paths and of the messages of the look-up service. */

#include "node/lookup.h"

#include <string.h>

#include <troupe/troupe.h>

#include "support/check.h"

static void addresses_are_taken_apart(void)
{
    trp_node_address_t address;
    const char *path = NULL;
    REQUIRE_OK(trp_lookup_parse("troupe://shop@10.0.0.1:7001/user/a%2Fb", &address, &path));
    CHECK_EQ_STR(address.host, "10.0.0.1");
    CHECK_EQ_U64(address.port, 7001);
    CHECK_EQ_STR(path, "/user/a%2Fb");
    REQUIRE_OK(trp_lookup_parse("troupe://[::1]:7/x@y:1/z", &address, &path));
    CHECK_EQ_STR(address.host, "::1");
    CHECK_EQ_STR(path, "/x@y:1/z");
}

static void what_is_no_address_is_refused(void)
{
    static const char *const wrong[] = {
        "",
        "/user/a",
        "troupe:/h:1/x",
        "troupe://h:1",
        "troupe:///x",
        "http://h:1/x",
        "troupe://a@b@c:1/x",
        "troupe://h/x",
        "troupe://@/x",
    };
    trp_node_address_t address;
    const char *path = NULL;
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK_ERR(trp_lookup_parse(wrong[i], &address, &path), TROUPE_EINVAL);
    }
    char text[TROUPE_ADDRESS_SIZE_MAX + 1];
    memset(text, 'x', sizeof(text));
    memcpy(text, "troupe://h:1/", 13);
    text[sizeof(text) - 1] = '\0';
    CHECK_ERR(trp_lookup_parse(text, &address, &path), TROUPE_EINVAL);
}

static troupe_err_t read_bytes(const char *data, size_t size, trp_lookup_message_t *message)
{
    return trp_lookup_read(trp_view_make(data, size), message);
}

static void messages_are_read_and_odd_ones_refused(void)
{
    static const char reply[] = "\2\7\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0";
    static char request[9 + TROUPE_PATH_SIZE_MAX] = "\1\3";
    trp_lookup_message_t message;
    REQUIRE_OK(read_bytes(reply, 25, &message));
    CHECK_EQ_U64(message.token, 7);
    CHECK_EQ_U64(message.error, 1);
    CHECK_EQ_U64(message.id, 5);
    for (size_t size = 0; size < 25; size++) {
        CHECK_ERR(read_bytes(reply, size, &message), TROUPE_EPROTOCOL);
    }
    memcpy(request + 9, "/user/x", 7);
    REQUIRE_OK(read_bytes(request, 16, &message));
    CHECK(trp_view_equal_string(message.path, "/user/x"));
    CHECK_OK(read_bytes(request, 9, &message));
    CHECK_ERR(read_bytes(request, sizeof(request), &message), TROUPE_EPROTOCOL);
    request[0] = 3;
    CHECK_ERR(read_bytes(request, 16, &message), TROUPE_EPROTOCOL);
}

/* ---- on a node without links ----------------------------------------------------------------------- */

typedef struct asker {
    troupe_ref_t customer;
} asker_t;

static troupe_err_t asker_found(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                                void *context)
{
    asker_t *asker = state;
    uint32_t err = (uint32_t)reply->error;
    (void)context;
    return troupe_tell(self, asker->customer, TROUPE_TYPE_BYTES, &err, sizeof(err));
}

static troupe_err_t asker_receive(troupe_actor_t *self, void *state,
                                  const troupe_message_t *message)
{
    asker_t *asker = state;
    char address[128];
    asker->customer = message->sender;
    memcpy(address, message->body, message->size);
    address[message->size] = '\0';
    troupe_err_t err = troupe_lookup_at(self, address, 5000, asker_found, NULL);
    if (err == TROUPE_OK) {
        return TROUPE_OK;
    }
    uint32_t number = (uint32_t)err;
    return troupe_reply(self, TROUPE_TYPE_BYTES, &number, sizeof(number));
}

static const troupe_behavior_t asker_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "asker",
    .state_size = sizeof(asker_t),
    .receive = asker_receive,
};

static uint32_t look_up(troupe_inbox_t *inbox, troupe_ref_t asker, const char *address)
{
    troupe_letter_t *letter = NULL;
    REQUIRE_OK(
        troupe_inbox_ask(inbox, asker, TROUPE_TYPE_TEXT, address, strlen(address), 10000, &letter));
    uint32_t err = *(const uint32_t *)troupe_letter_message(letter)->body;
    troupe_letter_free(&letter);
    return err;
}

static void a_node_without_links_knows_no_members(void)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = NULL;
    troupe_inbox_t *inbox = NULL;
    troupe_ref_t asker = troupe_ref_none();
    REQUIRE_OK(troupe_node_create(&options, &node));
    REQUIRE_OK(troupe_node_start(node));
    REQUIRE_OK(troupe_node_spawn(node, &asker_behavior, NULL, &asker));
    REQUIRE_OK(troupe_inbox_open(node, NULL, &inbox));
    CHECK_EQ_U64(look_up(inbox, asker, "troupe://h:1/user/x"), TROUPE_ENODE);
    CHECK_EQ_U64(look_up(inbox, asker, "/user/x"), TROUPE_EINVAL);
    troupe_inbox_close(&inbox);
    troupe_node_destroy(&node);
}

static const check_case_t cases[] = {
    CHECK_CASE(addresses_are_taken_apart),
    CHECK_CASE(what_is_no_address_is_refused),
    CHECK_CASE(messages_are_read_and_odd_ones_refused),
    CHECK_CASE(a_node_without_links_knows_no_members),
};
CHECK_MAIN("node.lookup", cases)
