/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Talks to the admin socket. */

#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "node/admin_frame.h"

#define CLIENT_SEND_MS 5000u
#define CLIENT_GRACE_MS 1000u /* The node's own deadline comes first: its answer says more. */

/* ---- where ------------------------------------------------------------------------------------- */

/* In /tmp anybody could have made the folder: it must be a folder, ours, and closed to others. */
static bool client_folder_is_ours(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool tool_socket_default(char *ret_path, size_t capacity, bool make_folder)
{
    /* The environment is read before there are threads, and written nowhere. */
    const char *given = getenv("TROUPE_ADMIN_SOCKET"); /* NOLINT(concurrency-mt-unsafe) */
    const char *runtime = getenv("XDG_RUNTIME_DIR");   /* NOLINT(concurrency-mt-unsafe) */
    char folder[64];
    if (given != NULL && given[0] != '\0') {
        return (size_t)snprintf(ret_path, capacity, "%s", given) < capacity;
    }
    if (runtime != NULL && runtime[0] == '/') {
        return (size_t)snprintf(ret_path, capacity, "%s/troupe.sock", runtime) < capacity;
    }
    snprintf(folder, sizeof(folder), "/tmp/troupe-%u", (unsigned)geteuid());
    if (make_folder && mkdir(folder, S_IRWXU) != 0 && errno != EEXIST) {
        return false;
    }
    if (make_folder && !client_folder_is_ours(folder)) {
        return false;
    }
    return (size_t)snprintf(ret_path, capacity, "%s/troupe.sock", folder) < capacity;
}

static bool client_address(const tool_args_t *args, struct sockaddr_un *ret_address)
{
    memset(ret_address, 0, sizeof(*ret_address));
    ret_address->sun_family = AF_UNIX;
    size_t capacity = sizeof(ret_address->sun_path);
    if (args->socket == NULL) {
        return tool_socket_default(ret_address->sun_path, capacity, false);
    }
    return (size_t)snprintf(ret_address->sun_path, capacity, "%s", args->socket) < capacity;
}

void tool_client_complain(const tool_args_t *args)
{
    struct sockaddr_un address;
    if (client_address(args, &address)) {
        tool_complain("no node answers at %s (%s); is it running? another one: --socket PATH",
                      address.sun_path, trp_text_of_errno(errno));
    } else {
        tool_complain("the path of the admin socket is longer than %zu bytes",
                      sizeof(address.sun_path) - 1);
    }
}

/* Only our own node, or root's, is believed: bodies may be secrets. */
static bool client_peer_is_trusted(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return false;
    }
    bool is_trusted = peer.uid == geteuid() || peer.uid == 0 || geteuid() == 0;
    errno = is_trusted ? 0 : EPERM;
    return is_trusted;
}

tool_exit_t tool_client_open(tool_client_t *client, const tool_args_t *args)
{
    struct sockaddr_un address;
    trp_buf_init(&client->in, TRP_ADMIN_REPLY_SIZE_MAX);
    client->fd = -1;
    if (!client_address(args, &address)) {
        return TOOL_UNREACHABLE;
    }
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_open = client->fd >= 0 &&
                   connect(client->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                   client_peer_is_trusted(client->fd);
    if (!is_open) {
        int saved = errno;
        tool_client_close(client);
        errno = saved;
        return TOOL_UNREACHABLE;
    }
    return TOOL_OK;
}

void tool_client_close(tool_client_t *client)
{
    if (client->fd >= 0) {
        close(client->fd);
    }
    client->fd = -1;
    trp_buf_fini(&client->in);
}

/* ---- requests ---------------------------------------------------------------------------------- */

cJSON *tool_request(const char *op)
{
    cJSON *request = cJSON_CreateObject();
    if (request == NULL || cJSON_AddStringToObject(request, "op", op) == NULL) {
        cJSON_Delete(request);
        return NULL;
    }
    return request;
}

static void request_add_hex(cJSON *request, const char *key, const unsigned char *data, size_t size)
{
    char name[32];
    char *text = malloc(2 * size + 1);
    if (text == NULL) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    }
    snprintf(name, sizeof(name), "%s_hex", key);
    cJSON_AddStringToObject(request, name, text);
    free(text);
}

void tool_request_add(cJSON *request, const char *key, const void *data, size_t size)
{
    if (size > 0 && (memchr(data, '\0', size) != NULL || !trp_text_is_utf8(data, size))) {
        request_add_hex(request, key, data, size);
        return;
    }
    char *text = malloc(size + 1);
    if (text == NULL) {
        return;
    }
    memcpy(text, size > 0 ? data : "", size);
    text[size] = '\0';
    cJSON_AddStringToObject(request, key, text);
    free(text);
}

bool tool_client_send(tool_client_t *client, cJSON *request)
{
    char *text = cJSON_PrintUnformatted(request);
    cJSON_Delete(request);
    if (text == NULL) {
        return false;
    }
    size_t size = strlen(text);
    troupe_err_t err = TROUPE_ETOOBIG;
    if (size <= TRP_ADMIN_REQUEST_SIZE_MAX) {
        uint64_t deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(CLIENT_SEND_MS));
        err = trp_admin_frame_write(client->fd, -1, deadline, text, size);
    } else {
        tool_complain("the request is larger than %u bytes", TRP_ADMIN_REQUEST_SIZE_MAX);
    }
    free(text);
    return err == TROUPE_OK;
}

/* ---- replies ----------------------------------------------------------------------------------- */

static tool_exit_t client_judge(const cJSON *reply)
{
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(reply, "ok"))) {
        return TOOL_OK;
    }
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(reply, "text");
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(reply, "error");
    tool_complain("%s", cJSON_IsString(text) ? text->valuestring : "the node refused");
    bool is_timeout = cJSON_IsString(error) && strcmp(error->valuestring, "TROUPE_ETIMEOUT") == 0;
    return is_timeout ? TOOL_TIMEOUT : TOOL_FAILED;
}

tool_exit_t tool_client_receive(tool_client_t *client, uint32_t timeout_ms, cJSON **ret_reply)
{
    uint64_t deadline = TRP_CLOCK_NEVER;
    *ret_reply = NULL;
    if (timeout_ms > 0) {
        deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(timeout_ms + CLIENT_GRACE_MS));
    }
    troupe_err_t err = trp_admin_frame_read(client->fd, -1, deadline, &client->in);
    if (err == TROUPE_ETIMEOUT) {
        tool_complain("the node did not answer in time");
        return TOOL_TIMEOUT;
    }
    if (err != TROUPE_OK) {
        tool_complain("the node has closed the connection");
        return TOOL_UNREACHABLE;
    }
    cJSON *reply = cJSON_ParseWithLength((const char *)client->in.data, client->in.size);
    if (reply == NULL) {
        tool_complain("the node's answer is no JSON");
        return TOOL_FAILED;
    }
    tool_exit_t code = client_judge(reply);
    if (code == TOOL_OK) {
        *ret_reply = reply;
    } else {
        cJSON_Delete(reply);
    }
    return code;
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* Moves the rows of `more` behind those of `reply`. */
static void client_append_rows(cJSON *reply, cJSON *more, const char *key)
{
    cJSON *rows = cJSON_GetObjectItemCaseSensitive(reply, key);
    cJSON *further = cJSON_GetObjectItemCaseSensitive(more, key);
    while (cJSON_IsArray(rows) && cJSON_IsArray(further) && further->child != NULL) {
        cJSON_AddItemToArray(rows, cJSON_DetachItemViaPointer(further, further->child));
    }
}

static bool client_has_more(const cJSON *reply)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(reply, "more"));
}

static tool_exit_t client_exchange(tool_client_t *client, const tool_args_t *args, cJSON *request,
                                   const char *key, cJSON **ret_reply)
{
    if (!tool_client_send(client, request)) {
        return TOOL_FAILED;
    }
    tool_exit_t code = tool_client_receive(client, args->timeout_ms, ret_reply);
    bool has_more = code == TOOL_OK && key != NULL && client_has_more(*ret_reply);
    while (has_more) {
        cJSON *more = NULL;
        code = tool_client_receive(client, args->timeout_ms, &more);
        has_more = code == TOOL_OK && client_has_more(more);
        if (code == TOOL_OK) {
            client_append_rows(*ret_reply, more, key);
        }
        cJSON_Delete(more);
    }
    if (code != TOOL_OK) {
        cJSON_Delete(*ret_reply);
        *ret_reply = NULL;
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive(*ret_reply, "more");
    }
    return code;
}

tool_exit_t tool_call_rows(const tool_args_t *args, cJSON *request, const char *key,
                           cJSON **ret_reply)
{
    tool_client_t client;
    *ret_reply = NULL;
    if (request == NULL) {
        tool_complain("out of memory");
        return TOOL_FAILED;
    }
    tool_exit_t code = tool_client_open(&client, args);
    if (code != TOOL_OK) {
        tool_client_complain(args);
        cJSON_Delete(request);
        return code;
    }
    code = client_exchange(&client, args, request, key, ret_reply);
    tool_client_close(&client);
    return code;
}

tool_exit_t tool_call(const tool_args_t *args, cJSON *request, cJSON **ret_reply)
{
    return tool_call_rows(args, request, NULL, ret_reply);
}
