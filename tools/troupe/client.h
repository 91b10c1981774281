/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A connection to a running node's admin socket. */

#ifndef TROUPE_TOOL_CLIENT_H
#define TROUPE_TOOL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "tool.h"

typedef struct tool_client {
    int fd;
    trp_buf_t in;
} tool_client_t;

/* Writes the path that is used when none is given; `make_folder` makes its folder, for us alone. False
 * when it does not fit, or the folder is somebody else's. */
bool tool_socket_default(char *ret_path, size_t capacity, bool make_folder);

/* Connects. Says nothing; the caller complains with tool_client_complain. */
tool_exit_t tool_client_open(tool_client_t *client, const tool_args_t *args);
void tool_client_close(tool_client_t *client);
/* Says that no node answers, and where it was looked for. */
void tool_client_complain(const tool_args_t *args);

/* Sends a request, which is deleted. False when it could not be sent. */
bool tool_client_send(tool_client_t *client, cJSON *request);

/* Takes the next reply, for cJSON_Delete. What the node refuses is put into words on standard error.
 * `ret_reply` is NULL unless TOOL_OK is returned. */
tool_exit_t tool_client_receive(tool_client_t *client, uint32_t timeout_ms, cJSON **ret_reply);

/* A new request of that operation. */
cJSON *tool_request(const char *op);
/* Adds bytes as text, or in hexadecimal when they are none. */
void tool_request_add(cJSON *request, const char *key, const void *data, size_t size);

/* Opens, sends, takes one reply and closes; complains. */
tool_exit_t tool_call(const tool_args_t *args, cJSON *request, cJSON **ret_reply);

/* As tool_call, gathering the arrays under `key` of all replies into one (of the first reply). */
tool_exit_t tool_call_rows(const tool_args_t *args, cJSON *request, const char *key,
                           cJSON **ret_reply);

#endif
