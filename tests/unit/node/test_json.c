/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of the JSON writer: what it writes, a reader of another make takes. */

#include "node/json.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "support/check.h"

static const char *text_of(trp_buf_t *buf)
{
    REQUIRE_OK(trp_buf_append_u8(buf, 0));
    return (const char *)buf->data;
}

static void nested_values_have_their_commas(void)
{
    trp_buf_t buf;
    trp_json_t json;
    trp_buf_init(&buf, 4096);
    trp_json_init(&json, &buf);
    trp_json_object_begin(&json, NULL);
    trp_json_bool(&json, "ok", true);
    trp_json_array_begin(&json, "rows");
    trp_json_object_begin(&json, NULL);
    trp_json_u64(&json, "a", UINT64_MAX);
    trp_json_uid(&json, "b", 0x12ab);
    trp_json_object_end(&json);
    trp_json_object_begin(&json, NULL);
    trp_json_object_end(&json);
    trp_json_text(&json, NULL, "x");
    trp_json_array_end(&json);
    trp_json_bool(&json, "more", false);
    trp_json_object_end(&json);
    CHECK_OK(trp_json_finish(&json));
    CHECK_EQ_STR(text_of(&buf), "{\"ok\":true,\"rows\":[{\"a\":18446744073709551615,\"b\":"
                                "\"00000000000012ab\"},{},\"x\"],\"more\":false}");
    trp_buf_fini(&buf);
}

/* Writes the bytes and reads them again with cJSON. */
static void check_round_trip(const void *data, size_t size, bool is_text)
{
    trp_buf_t buf;
    trp_json_t json;
    trp_buf_init(&buf, 65536);
    trp_json_init(&json, &buf);
    trp_json_object_begin(&json, NULL);
    trp_json_bytes(&json, "x", data, size);
    trp_json_object_end(&json);
    CHECK_OK(trp_json_finish(&json));
    cJSON *root = cJSON_ParseWithLength((const char *)buf.data, buf.size);
    REQUIRE_NOT_NULL(root);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, is_text ? "x" : "x_hex");
    REQUIRE(cJSON_IsString(item));
    if (is_text) {
        CHECK_EQ_BYTES(item->valuestring, strlen(item->valuestring), data, size);
    } else {
        CHECK_EQ_U64(strlen(item->valuestring), 2 * size);
    }
    cJSON_Delete(root);
    trp_buf_fini(&buf);
}

static void every_text_comes_back(void)
{
    for (unsigned c = 1; c < 128; c++) {
        char text[3] = {'a', (char)c, 'b'};
        check_round_trip(text, 3, true);
    }
    check_round_trip("", 0, true);
    check_round_trip("gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\xad", 11, true);
}

static void bytes_that_are_no_text_are_hexadecimal(void)
{
    check_round_trip("\0", 1, false);
    check_round_trip("a\0b", 3, false);
    check_round_trip("\xff", 1, false);
    check_round_trip("\xc3", 1, false);
    trp_buf_t buf;
    trp_json_t json;
    trp_buf_init(&buf, 64);
    trp_json_init(&json, &buf);
    trp_json_object_begin(&json, NULL);
    trp_json_bytes(&json, "x", "\x01\xfe", 2);
    trp_json_object_end(&json);
    CHECK_EQ_STR(text_of(&buf), "{\"x_hex\":\"01fe\"}");
    trp_buf_fini(&buf);
}

static void the_first_error_is_kept(void)
{
    trp_buf_t buf;
    trp_json_t json;
    trp_buf_init(&buf, 8);
    trp_json_init(&json, &buf);
    trp_json_object_begin(&json, NULL);
    trp_json_text(&json, "key", "much too long");
    trp_json_u64(&json, "n", 1);
    trp_json_object_end(&json);
    CHECK_ERR(trp_json_finish(&json), TROUPE_ETOOBIG);
    trp_buf_fini(&buf);
}

static void brackets_that_do_not_match_abort(void)
{
    trp_buf_t buf;
    trp_json_t json;
    trp_buf_init(&buf, 64);
    trp_json_init(&json, &buf);
    CHECK_ABORTS(trp_json_object_end(&json));
    trp_json_object_begin(&json, NULL);
    CHECK_ABORTS((void)trp_json_finish(&json));
    trp_buf_fini(&buf);
}

static const check_case_t cases[] = {
    CHECK_CASE(nested_values_have_their_commas),        CHECK_CASE(every_text_comes_back),
    CHECK_CASE(bytes_that_are_no_text_are_hexadecimal), CHECK_CASE(the_first_error_is_kept),
    CHECK_CASE(brackets_that_do_not_match_abort),
};
CHECK_MAIN("node.json", cases)
