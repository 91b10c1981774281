/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of requests of the admin socket. */

#include "node/admin_request.h"

#include <string.h>

#include "base/buf.h"
#include "support/check.h"

typedef struct fixture {
    trp_store_t store;
    trp_admin_request_t request;
    char problem[TRP_ADMIN_PROBLEM_SIZE];
} fixture_t;

static troupe_err_t parse(fixture_t *f, const char *text)
{
    trp_store_init(&f->store);
    return trp_admin_request_parse(text, strlen(text), &f->store, &f->request, f->problem);
}

static void a_request_is_read(void)
{
    fixture_t f;
    REQUIRE_OK(parse(&f, "{\"op\":\"pub\",\"topic\":\"orders\",\"body_hex\":\"00ff\",\"type\":"
                         "\"t\",\"confirm\":true,\"timeout_ms\":77,\"wait_ms\":5}"));
    CHECK_EQ_U64(f.request.op, TRP_ADMIN_PUB);
    CHECK(trp_view_equal_string(f.request.topic, "orders"));
    CHECK_EQ_BYTES(f.request.body.data, f.request.body.size, "\x00\xff", 2);
    CHECK_EQ_STR(f.request.type, "t");
    CHECK(f.request.confirm);
    CHECK_FALSE(f.request.to_groups);
    CHECK_EQ_U64(f.request.timeout_ms, 77);
    CHECK_EQ_U64(f.request.wait_ms, 5);
    trp_store_fini(&f.store);
}

static void what_is_not_given_has_its_default(void)
{
    fixture_t f;
    REQUIRE_OK(parse(&f, " {\"op\" : \"members\"} "));
    CHECK_EQ_U64(f.request.timeout_ms, TRP_ADMIN_TIMEOUT_MS);
    CHECK_EQ_U64(f.request.topic.size, 0);
    CHECK_NULL(f.request.target);
    CHECK_EQ_STR(trp_admin_op_name(f.request.op), "members");
    trp_store_fini(&f.store);
}

static void what_is_wrong_is_named(void)
{
    static const char *const wrong[][2] = {
        {"", "not well-formed JSON"},
        {"{", "not well-formed JSON"},
        {"[]", "a request is a JSON object"},
        {"5", "a request is a JSON object"},
        {"{}", "field \"op\" must be a string"},
        {"{\"op\":5}", "field \"op\" must be a string"},
        {"{\"op\":\"fly\"}", "field \"op\" is none that this node knows"},
        {"{\"op\":\"info\",\"tpoic\":\"x\"}", "field \"tpoic\" is none that this node knows"},
        {"{\"op\":\"info\",\"target_hex\":\"00\"}",
         "field \"target_hex\" is none that this node knows"},
        {"{\"op\":\"pub\"}", "field \"topic\" is missing"},
        {"{\"op\":\"ask\",\"topic\":\"x\"}", "field \"target\" is missing"},
        {"{\"op\":\"pub\",\"topic\":5}", "field \"topic\" must be a string"},
        {"{\"op\":\"pub\",\"topic\":\"x\",\"body_hex\":\"0\"}", "field \"body\" isn't hexadecimal"},
        {"{\"op\":\"pub\",\"topic\":\"x\",\"body_hex\":\"0g\"}",
         "field \"body\" isn't hexadecimal"},
        {"{\"op\":\"info\",\"confirm\":1}", "field \"confirm\" must be true or false"},
        {"{\"op\":\"info\",\"limit\":-1}", "field \"limit\" must be a number within its bounds"},
        {"{\"op\":\"info\",\"limit\":1e99}", "field \"limit\" must be a number within its bounds"},
        {"{\"op\":\"info\",\"timeout_ms\":600001}",
         "field \"timeout_ms\" must be a number within its bounds"},
    };
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        fixture_t f;
        CHECK_ERR(parse(&f, wrong[i][0]), TROUPE_EPROTOCOL);
        CHECK_EQ_STR(f.problem, wrong[i][1]);
        trp_store_fini(&f.store);
    }
}

static void deep_nesting_is_refused(void)
{
    fixture_t f;
    static char deep[100000];
    memset(deep, '[', sizeof(deep) - 1);
    CHECK_ERR(parse(&f, deep), TROUPE_EPROTOCOL);
    trp_store_fini(&f.store);
}

static troupe_err_t parse_once(void *user)
{
    fixture_t f;
    (void)user;
    troupe_err_t err = parse(&f, "{\"op\":\"ask\",\"target\":\"/user/a\",\"body_hex\":\"00\"}");
    trp_store_fini(&f.store);
    return err;
}

static void running_out_of_memory_is_an_error(void)
{
    CHECK_ALLOCATIONS(parse_once, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_request_is_read),
    CHECK_CASE(what_is_not_given_has_its_default),
    CHECK_CASE(what_is_wrong_is_named),
    CHECK_CASE(deep_nesting_is_refused),
    CHECK_CASE(running_out_of_memory_is_an_error),
};
CHECK_MAIN("node.admin_request", cases)
