/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A JSON writer. */

#include "node/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"

void trp_json_init(trp_json_t *json, trp_buf_t *out)
{
    TRP_ASSERT(json != NULL);
    TRP_ASSERT(out != NULL);
    json->out = out;
    json->error = TROUPE_OK;
    json->depth = 0;
    json->has_members = 0;
}

static void json_put(trp_json_t *json, const void *data, size_t size)
{
    if (json->error == TROUPE_OK) {
        json->error = trp_buf_append(json->out, data, size);
    }
}

static void json_put_string(trp_json_t *json, const char *text)
{
    json_put(json, text, strlen(text));
}

/* The bytes up to the next one that must be escaped go in one piece. */
static void json_put_escaped(trp_json_t *json, const char *text, size_t size)
{
    size_t from = 0;
    json_put_string(json, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        char escape[8];
        if (c >= ' ' && c != '"' && c != '\\' && c != 127) {
            continue;
        }
        json_put(json, text + from, i - from);
        size_t len = trp_text_format(escape, sizeof(escape), "\\u%04x", c);
        json_put(json, escape, len);
        from = i + 1;
    }
    json_put(json, text + from, size - from);
    json_put_string(json, "\"");
}

/* The comma and the key before a member; `suffix` goes behind the key. */
static void json_put_key(trp_json_t *json, const char *key, const char *suffix)
{
    uint32_t bit = 1u << json->depth;
    if ((json->has_members & bit) != 0) {
        json_put_string(json, ",");
    }
    json->has_members |= bit;
    if (key != NULL) {
        json_put_string(json, "\"");
        json_put_string(json, key);
        json_put_string(json, suffix);
        json_put_string(json, "\":");
    }
}

static void json_open(trp_json_t *json, const char *key, const char *bracket)
{
    TRP_ASSERT(json->depth + 1 < TRP_JSON_DEPTH_MAX);
    json_put_key(json, key, "");
    json_put_string(json, bracket);
    json->depth += 1;
    json->has_members &= ~(1u << json->depth);
}

static void json_close(trp_json_t *json, const char *bracket)
{
    TRP_ASSERT(json->depth > 0);
    json->depth -= 1;
    json_put_string(json, bracket);
}

void trp_json_object_begin(trp_json_t *json, const char *key)
{
    json_open(json, key, "{");
}

void trp_json_object_end(trp_json_t *json)
{
    json_close(json, "}");
}

void trp_json_array_begin(trp_json_t *json, const char *key)
{
    json_open(json, key, "[");
}

void trp_json_array_end(trp_json_t *json)
{
    json_close(json, "]");
}

static void json_put_hex(trp_json_t *json, const unsigned char *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    json_put_string(json, "\"");
    for (size_t i = 0; i < size; i++) {
        char pair[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
        json_put(json, pair, sizeof(pair));
    }
    json_put_string(json, "\"");
}

void trp_json_bytes(trp_json_t *json, const char *key, const void *data, size_t size)
{
    bool is_text = size == 0 || (memchr(data, '\0', size) == NULL && trp_text_is_utf8(data, size));
    json_put_key(json, key, is_text ? "" : "_hex");
    if (is_text) {
        json_put_escaped(json, size > 0 ? data : "", size);
    } else {
        json_put_hex(json, data, size);
    }
}

void trp_json_text(trp_json_t *json, const char *key, const char *text)
{
    TRP_ASSERT(text != NULL);
    trp_json_bytes(json, key, text, strlen(text));
}

void trp_json_u64(trp_json_t *json, const char *key, uint64_t number)
{
    char text[24];
    size_t size = trp_text_format(text, sizeof(text), "%" PRIu64, number);
    json_put_key(json, key, "");
    json_put(json, text, size);
}

void trp_json_uid(trp_json_t *json, const char *key, uint64_t uid)
{
    char text[24];
    size_t size = trp_text_format(text, sizeof(text), "\"%016" PRIx64 "\"", uid);
    json_put_key(json, key, "");
    json_put(json, text, size);
}

void trp_json_bool(trp_json_t *json, const char *key, bool is_true)
{
    json_put_key(json, key, "");
    json_put_string(json, is_true ? "true" : "false");
}

troupe_err_t trp_json_finish(const trp_json_t *json)
{
    TRP_ASSERT(json->depth == 0);
    return json->error;
}
