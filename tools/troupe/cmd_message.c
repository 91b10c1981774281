/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The commands that send messages and print those that come. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "print.h"

#define MESSAGE_BODY_SIZE_MAX (64u * 1024u)

/* ---- bodies ------------------------------------------------------------------------------------ */

/* The body's bytes: the second argument, or standard input. False, with words, when they can't be had. */
static bool message_body(const tool_args_t *args, char **ret_data, size_t *ret_size)
{
    bool is_given = args->len > 1 && strcmp(args->items[1], "-") != 0;
    char *data = malloc(MESSAGE_BODY_SIZE_MAX + 1);
    if (data == NULL) {
        tool_complain("out of memory");
        return false;
    }
    size_t size = 0;
    if (is_given) {
        size = strlen(args->items[1]);
        memcpy(data, args->items[1], size <= MESSAGE_BODY_SIZE_MAX ? size : 0);
    } else {
        size = fread(data, 1, MESSAGE_BODY_SIZE_MAX + 1, stdin);
    }
    if (size > MESSAGE_BODY_SIZE_MAX || (!is_given && ferror(stdin))) {
        tool_complain(size > MESSAGE_BODY_SIZE_MAX ? "the body is larger than 65536 bytes"
                                                   : "standard input can't be read");
        free(data);
        return false;
    }
    *ret_data = data;
    *ret_size = size;
    return true;
}

/* A request with the body, type and time-out of the arguments; NULL, with words, when it can't be made. */
static cJSON *message_request(const tool_args_t *args, const char *op, const char *key)
{
    char *body = NULL;
    size_t size = 0;
    if (!message_body(args, &body, &size)) {
        return NULL;
    }
    cJSON *request = tool_request(op);
    if (request != NULL) {
        const char *type = tool_flag(args, "type");
        tool_request_add(request, key, args->items[0], strlen(args->items[0]));
        tool_request_add(request, "body", body, size);
        cJSON_AddNumberToObject(request, "timeout_ms", args->timeout_ms);
        if (type != NULL) {
            cJSON_AddStringToObject(request, "type", type);
        }
    }
    free(body);
    return request;
}

/* ---- sending ----------------------------------------------------------------------------------- */

static tool_exit_t message_print_confirmed(const tool_args_t *args, const cJSON *reply)
{
    const cJSON *subscribers = cJSON_GetObjectItemCaseSensitive(reply, "subscribers");
    const cJSON *nodes = cJSON_GetObjectItemCaseSensitive(reply, "nodes");
    if (!cJSON_IsNumber(subscribers) || !cJSON_IsNumber(nodes)) {
        return TOOL_OK;
    }
    if (!args->is_json) {
        printf("taken by %.0f subscribers on %.0f nodes\n", subscribers->valuedouble,
               nodes->valuedouble);
    }
    return subscribers->valuedouble > 0 ? TOOL_OK : TOOL_FAILED;
}

static tool_exit_t message_finish(const tool_args_t *args, cJSON *request)
{
    cJSON *reply = NULL;
    tool_exit_t code = request != NULL ? tool_call(args, request, &reply) : TOOL_FAILED;
    if (code == TOOL_OK && args->is_json) {
        print_json(reply);
    }
    if (code == TOOL_OK) {
        code = message_print_confirmed(args, reply);
    }
    cJSON_Delete(reply);
    return code;
}

tool_exit_t tool_run_pub(const tool_args_t *args)
{
    cJSON *request = message_request(args, "pub", "topic");
    uint32_t wait_ms = tool_flag_number(args, "wait", 0);
    if (request == NULL) {
        return TOOL_FAILED;
    }
    cJSON_AddBoolToObject(request, "confirm", tool_flag(args, "confirm") != NULL || wait_ms > 0);
    cJSON_AddBoolToObject(request, "to_groups", tool_flag(args, "groups") != NULL);
    cJSON_AddNumberToObject(request, "wait_ms", wait_ms);
    return message_finish(args, request);
}

tool_exit_t tool_run_tell(const tool_args_t *args)
{
    return message_finish(args, message_request(args, "tell", "target"));
}

tool_exit_t tool_run_ask(const tool_args_t *args)
{
    cJSON *request = message_request(args, "ask", "target");
    cJSON *reply = NULL;
    tool_exit_t code = request != NULL ? tool_call(args, request, &reply) : TOOL_FAILED;
    if (code == TOOL_OK && args->is_json) {
        print_json(reply);
    } else if (code == TOOL_OK) {
        print_raw(reply, "body");
        putchar('\n');
    }
    cJSON_Delete(reply);
    return code;
}

/* ---- receiving --------------------------------------------------------------------------------- */

static void message_print(const tool_args_t *args, const cJSON *reply)
{
    if (args->is_json) {
        print_json(reply);
    } else if (tool_flag(args, "raw") != NULL) {
        print_raw(reply, "body");
        putchar('\n');
    } else {
        char *topic = print_cell(reply, "topic");
        char *body = print_cell(reply, "body");
        printf("%s: %s\n", topic != NULL ? topic : "", body != NULL ? body : "");
        free(body);
        free(topic);
    }
    fflush(stdout);
}

static cJSON *message_sub_request(const tool_args_t *args)
{
    cJSON *request = tool_request("sub");
    const char *group = tool_flag(args, "group");
    if (request == NULL) {
        return NULL;
    }
    tool_request_add(request, "topic", args->items[0], strlen(args->items[0]));
    cJSON_AddBoolToObject(request, "pattern", tool_flag(args, "pattern") != NULL);
    if (group != NULL) {
        tool_request_add(request, "group", group, strlen(group));
    }
    return request;
}

/* Prints messages until there were enough. */
static tool_exit_t message_receive_all(const tool_args_t *args, tool_client_t *client)
{
    uint32_t left = tool_flag_number(args, "count", 0);
    bool is_bounded = left > 0;
    /* Without --count there is no hurry: it ends by SIGINT. */
    uint32_t timeout_ms = is_bounded ? args->timeout_ms : 0;
    while (!is_bounded || left > 0) {
        cJSON *reply = NULL;
        tool_exit_t code = tool_client_receive(client, timeout_ms, &reply);
        if (code != TOOL_OK) {
            return code;
        }
        cJSON_DeleteItemFromObjectCaseSensitive(reply, "ok");
        cJSON_DeleteItemFromObjectCaseSensitive(reply, "more");
        message_print(args, reply);
        cJSON_Delete(reply);
        if (ferror(stdout)) {
            return TOOL_FAILED;
        }
        left -= is_bounded ? 1 : 0;
    }
    return TOOL_OK;
}

tool_exit_t tool_run_sub(const tool_args_t *args)
{
    tool_client_t client;
    cJSON *reply = NULL;
    cJSON *request = message_sub_request(args);
    if (request == NULL) {
        return TOOL_FAILED;
    }
    tool_exit_t code = tool_client_open(&client, args);
    if (code != TOOL_OK) {
        tool_client_complain(args);
        cJSON_Delete(request);
        return code;
    }
    code = tool_client_send(&client, request) ? TOOL_OK : TOOL_UNREACHABLE;
    if (code == TOOL_OK) {
        code = tool_client_receive(&client, args->timeout_ms, &reply);
    }
    cJSON_Delete(reply);
    if (code == TOOL_OK) {
        fputs("subscribed\n", stderr); /* Scripts wait for this line. */
        code = message_receive_all(args, &client);
    }
    tool_client_close(&client);
    return code;
}
