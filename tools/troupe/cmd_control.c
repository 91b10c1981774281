/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The commands that change something: leave, down, log. */

#include <stdio.h>
#include <string.h>

#include "client.h"
#include "print.h"

static tool_exit_t control_finish(const tool_args_t *args, cJSON *request)
{
    cJSON *reply = NULL;
    tool_exit_t code = tool_call(args, request, &reply);
    if (code == TOOL_OK && args->is_json) {
        print_json(reply);
    }
    cJSON_Delete(reply);
    return code;
}

tool_exit_t tool_run_leave(const tool_args_t *args)
{
    cJSON *request = tool_request("leave");
    const char *node = tool_flag(args, "node");
    if (request != NULL && node != NULL) {
        tool_request_add(request, "node", node, strlen(node));
    }
    return control_finish(args, request);
}

tool_exit_t tool_run_down(const tool_args_t *args)
{
    cJSON *request = tool_request("down");
    if (request != NULL) {
        tool_request_add(request, "node", args->items[0], strlen(args->items[0]));
    }
    return control_finish(args, request);
}

tool_exit_t tool_run_log(const tool_args_t *args)
{
    cJSON *request = tool_request("log");
    const char *room = tool_flag(args, "room");
    if (request != NULL) {
        tool_request_add(request, "level", args->items[0], strlen(args->items[0]));
    }
    if (request != NULL && room != NULL) {
        tool_request_add(request, "room", room, strlen(room));
    }
    return control_finish(args, request);
}
