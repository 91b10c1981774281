/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of addresses as people write them. */

#include "node/address.h"

#include <string.h>

#include "support/check.h"

static void host_and_port_are_read(void)
{
    trp_node_address_t address;
    REQUIRE_OK(trp_node_address_parse("node-1.example_x:7001", &address));
    CHECK_EQ_STR(address.host, "node-1.example_x");
    CHECK_EQ_U64(address.port, 7001);
    REQUIRE_OK(trp_node_address_parse("[::1]:65535", &address));
    CHECK_EQ_STR(address.host, "::1");
    CHECK_EQ_U64(address.port, 65535);
    REQUIRE_OK(trp_node_address_parse("*:0", &address));
    CHECK_EQ_STR(address.host, "*");
}

static void what_is_no_address_is_refused(void)
{
    static const char *const wrong[] = {
        "",         "host",     "host:",      ":7001",        "host:65536", "host:-1",
        "host: 7",  "a b:7001", "::1:7001",   "[::1]7001",    "[zz]:7001",  "[]:7001",
        "a/b:7001", "*x:7001",  "host:7001 ", "tcp://h:7001", "h:0x10",
    };
    trp_node_address_t address;
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        if (!CHECK_ERR(trp_node_address_parse(wrong[i], &address), TROUPE_EINVAL)) {
            CHECK_FAIL("taken: %s", wrong[i]);
        }
    }
}

static void a_host_beyond_its_bound_is_refused(void)
{
    char text[300];
    trp_node_address_t address;
    memset(text, 'a', sizeof(text));
    memcpy(text + 256, ":1", 3);
    CHECK_ERR(trp_node_address_parse(text, &address), TROUPE_EINVAL);
    memcpy(text + 255, ":1", 3);
    CHECK_OK(trp_node_address_parse(text, &address));
}

static bool is_loopback(const char *text)
{
    trp_node_address_t address;
    REQUIRE_OK(trp_node_address_parse(text, &address));
    return trp_node_address_is_loopback(&address);
}

static void loopback_is_told_from_the_rest(void)
{
    CHECK(is_loopback("127.0.0.1:1"));
    CHECK(is_loopback("127.255.0.9:1"));
    CHECK(is_loopback("[::1]:1"));
    CHECK(is_loopback("localhost:1"));
    CHECK_FALSE(is_loopback("128.0.0.1:1"));
    CHECK_FALSE(is_loopback("0.0.0.0:1"));
    CHECK_FALSE(is_loopback("*:1"));
    CHECK_FALSE(is_loopback("[::]:1"));
    CHECK_FALSE(is_loopback("localhost.example:1"));
    CHECK_FALSE(is_loopback("127.0.0.1.example:1"));
}

static void wildcards_are_known(void)
{
    static const char *const all[] = {"*:1", "0.0.0.0:1", "[::]:1"};
    trp_node_address_t address;
    for (size_t i = 0; i < TRP_ARRAY_LEN(all); i++) {
        REQUIRE_OK(trp_node_address_parse(all[i], &address));
        CHECK(trp_node_address_is_wildcard(&address));
    }
    REQUIRE_OK(trp_node_address_parse("127.0.0.1:1", &address));
    CHECK_FALSE(trp_node_address_is_wildcard(&address));
}

static const check_case_t cases[] = {
    CHECK_CASE(host_and_port_are_read),
    CHECK_CASE(what_is_no_address_is_refused),
    CHECK_CASE(a_host_beyond_its_bound_is_refused),
    CHECK_CASE(loopback_is_told_from_the_rest),
    CHECK_CASE(wildcards_are_known),
};
CHECK_MAIN("node.address", cases)
