/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads requests by a table of fields. */

#include "node/admin_request.h"

#include <stddef.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/text.h"

typedef enum admin_kind {
    ADMIN_BYTES, /* trp_view_t */
    ADMIN_TEXT,  /* const char * */
    ADMIN_U32,
    ADMIN_BOOL,
} admin_kind_t;

typedef struct admin_field {
    const char *name;
    admin_kind_t kind;
    size_t offset;
    uint32_t max; /* Of numbers. */
    uint32_t bit; /* TRP_ADMIN_HAS_*, or 0. */
} admin_field_t;

static const admin_field_t admin_fields[] = {
    {"topic", ADMIN_BYTES, offsetof(trp_admin_request_t, topic), 0, TRP_ADMIN_HAS_TOPIC},
    {"group", ADMIN_BYTES, offsetof(trp_admin_request_t, group), 0, 0},
    {"body", ADMIN_BYTES, offsetof(trp_admin_request_t, body), 0, 0},
    {"target", ADMIN_TEXT, offsetof(trp_admin_request_t, target), 0, TRP_ADMIN_HAS_TARGET},
    {"node", ADMIN_TEXT, offsetof(trp_admin_request_t, node), 0, TRP_ADMIN_HAS_NODE},
    {"type", ADMIN_TEXT, offsetof(trp_admin_request_t, type), 0, 0},
    {"level", ADMIN_TEXT, offsetof(trp_admin_request_t, level), 0, TRP_ADMIN_HAS_LEVEL},
    {"room", ADMIN_TEXT, offsetof(trp_admin_request_t, room), 0, 0},
    {"timeout_ms", ADMIN_U32, offsetof(trp_admin_request_t, timeout_ms), TRP_ADMIN_TIMEOUT_MAX_MS,
     0},
    {"wait_ms", ADMIN_U32, offsetof(trp_admin_request_t, wait_ms), TRP_ADMIN_TIMEOUT_MAX_MS, 0},
    {"limit", ADMIN_U32, offsetof(trp_admin_request_t, limit), UINT32_MAX, 0},
    {"confirm", ADMIN_BOOL, offsetof(trp_admin_request_t, confirm), 0, 0},
    {"to_groups", ADMIN_BOOL, offsetof(trp_admin_request_t, to_groups), 0, 0},
    {"pattern", ADMIN_BOOL, offsetof(trp_admin_request_t, is_pattern), 0, 0},
};

static const struct {
    const char *name;
    uint32_t needs;
} admin_ops[] = {
#define ADMIN_OP_ROW(op, name, fields) {name, fields},
    TRP_ADMIN_OP_TABLE(ADMIN_OP_ROW)
#undef ADMIN_OP_ROW
};

/* A request on its way. */
typedef struct admin_parse {
    trp_store_t *store;
    trp_admin_request_t *request;
    char *problem;
    uint32_t has; /* TRP_ADMIN_HAS_* */
} admin_parse_t;

const char *trp_admin_op_name(trp_admin_op_t op)
{
    TRP_ASSERT((size_t)op < TRP_ARRAY_LEN(admin_ops));
    return admin_ops[op].name;
}

static troupe_err_t admin_refuse(admin_parse_t *parse, const char *field, const char *text)
{
    char shown[48];
    trp_text_escape(shown, sizeof(shown), field, strlen(field));
    trp_text_format(parse->problem, TRP_ADMIN_PROBLEM_SIZE, "field \"%s\" %s", shown, text);
    return TROUPE_EPROTOCOL;
}

/* ---- values ------------------------------------------------------------------------------------ */

static int admin_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static troupe_err_t admin_take_hex(admin_parse_t *parse, const admin_field_t *field,
                                   const char *text)
{
    size_t size = strlen(text);
    unsigned char *bytes = trp_store_take(parse->store, size / 2 + 1, 1);
    if (bytes == NULL) {
        return TROUPE_ENOMEM;
    }
    for (size_t i = 0; i + 1 < size; i += 2) {
        int high = admin_hex_digit(text[i]);
        int low = admin_hex_digit(text[i + 1]);
        if (high < 0 || low < 0) {
            return admin_refuse(parse, field->name, "isn't hexadecimal");
        }
        bytes[i / 2] = (unsigned char)(high << 4 | low);
    }
    if (size % 2 != 0) {
        return admin_refuse(parse, field->name, "isn't hexadecimal");
    }
    *(trp_view_t *)(void *)((char *)parse->request + field->offset) =
        trp_view_make(bytes, size / 2);
    return TROUPE_OK;
}

static troupe_err_t admin_take_string(admin_parse_t *parse, const admin_field_t *field,
                                      const cJSON *item, bool is_hex)
{
    if (!cJSON_IsString(item)) {
        return admin_refuse(parse, field->name, "must be a string");
    }
    if (is_hex) {
        return admin_take_hex(parse, field, item->valuestring);
    }
    size_t size = strlen(item->valuestring);
    const char *kept = trp_store_keep(parse->store, item->valuestring, size);
    if (kept == NULL) {
        return TROUPE_ENOMEM;
    }
    void *place = (char *)parse->request + field->offset;
    if (field->kind == ADMIN_BYTES) {
        *(trp_view_t *)place = trp_view_make(kept, size);
    } else {
        *(const char **)place = kept;
    }
    return TROUPE_OK;
}

static troupe_err_t admin_take_value(admin_parse_t *parse, const admin_field_t *field,
                                     const cJSON *item, bool is_hex)
{
    void *place = (char *)parse->request + field->offset;
    switch (field->kind) {
    case ADMIN_BOOL:
        if (!cJSON_IsBool(item)) {
            return admin_refuse(parse, field->name, "must be true or false");
        }
        *(bool *)place = cJSON_IsTrue(item);
        return TROUPE_OK;
    case ADMIN_U32:
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) ||
            item->valuedouble > (double)field->max) {
            return admin_refuse(parse, field->name, "must be a number within its bounds");
        }
        *(uint32_t *)place = (uint32_t)item->valuedouble;
        return TROUPE_OK;
    case ADMIN_BYTES:
    case ADMIN_TEXT:
        break;
    }
    return admin_take_string(parse, field, item, is_hex);
}

/* ---- fields ------------------------------------------------------------------------------------ */

static const admin_field_t *admin_find_field(const char *name, bool *ret_is_hex)
{
    for (size_t i = 0; i < TRP_ARRAY_LEN(admin_fields); i++) {
        const admin_field_t *field = &admin_fields[i];
        size_t size = strlen(field->name);
        *ret_is_hex = field->kind == ADMIN_BYTES && strncmp(name, field->name, size) == 0 &&
                      strcmp(name + size, "_hex") == 0;
        if (*ret_is_hex || strcmp(name, field->name) == 0) {
            return field;
        }
    }
    return NULL;
}

static troupe_err_t admin_take_op(admin_parse_t *parse, const cJSON *root)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, "op");
    if (!cJSON_IsString(item)) {
        return admin_refuse(parse, "op", "must be a string");
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(admin_ops); i++) {
        if (strcmp(item->valuestring, admin_ops[i].name) == 0) {
            parse->request->op = (trp_admin_op_t)i;
            return TROUPE_OK;
        }
    }
    return admin_refuse(parse, "op", "is none that this node knows");
}

static troupe_err_t admin_take_field(admin_parse_t *parse, const cJSON *item)
{
    bool is_hex = false;
    const char *name = item->string != NULL ? item->string : "";
    if (strcmp(name, "op") == 0) {
        return TROUPE_OK;
    }
    const admin_field_t *field = admin_find_field(name, &is_hex);
    if (field == NULL) {
        return admin_refuse(parse, name, "is none that this node knows");
    }
    troupe_err_t err = admin_take_value(parse, field, item, is_hex);
    parse->has |= err == TROUPE_OK ? field->bit : 0;
    return err;
}

static troupe_err_t admin_check_needs(admin_parse_t *parse)
{
    uint32_t missing = admin_ops[parse->request->op].needs & ~parse->has;
    for (size_t i = 0; i < TRP_ARRAY_LEN(admin_fields); i++) {
        if ((admin_fields[i].bit & missing) != 0) {
            return admin_refuse(parse, admin_fields[i].name, "is missing");
        }
    }
    return TROUPE_OK;
}

static troupe_err_t admin_parse_root(admin_parse_t *parse, const cJSON *root)
{
    if (!cJSON_IsObject(root)) {
        trp_text_copy(parse->problem, TRP_ADMIN_PROBLEM_SIZE, "a request is a JSON object");
        return TROUPE_EPROTOCOL;
    }
    troupe_err_t err = admin_take_op(parse, root);
    for (const cJSON *item = root->child; item != NULL && err == TROUPE_OK; item = item->next) {
        err = admin_take_field(parse, item);
    }
    return err == TROUPE_OK ? admin_check_needs(parse) : err;
}

troupe_err_t trp_admin_request_parse(const void *data, size_t size, trp_store_t *store,
                                     trp_admin_request_t *ret_request,
                                     char ret_problem[TRP_ADMIN_PROBLEM_SIZE])
{
    TRP_ASSERT(data != NULL);
    TRP_ASSERT(ret_request != NULL);
    trp_admin_request_t request;
    memset(&request, 0, sizeof(request));
    request.timeout_ms = TRP_ADMIN_TIMEOUT_MS;
    admin_parse_t parse = {store, &request, ret_problem, 0};
    ret_problem[0] = '\0';
    cJSON *root = cJSON_ParseWithLength(data, size);
    if (root == NULL) {
        trp_text_copy(ret_problem, TRP_ADMIN_PROBLEM_SIZE, "not well-formed JSON");
        return TROUPE_EPROTOCOL;
    }
    troupe_err_t err = admin_parse_root(&parse, root);
    cJSON_Delete(root);
    if (err == TROUPE_OK) {
        *ret_request = request;
    }
    return err;
}
