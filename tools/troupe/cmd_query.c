/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The commands that ask a node what it knows. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "base/clock.h"
#include "client.h"
#include "print.h"

#define QUERY_TOPICS_LIMIT 10000u
#define QUERY_TREE_LIMIT 10000u
#define QUERY_RETRY_MS 20u

/* Asks, and prints the rows under `key` as a table or as a JSON array. */
static tool_exit_t query_rows(const tool_args_t *args, cJSON *request, const char *key,
                              const print_column_t *columns, size_t len)
{
    cJSON *reply = NULL;
    tool_exit_t code = tool_call_rows(args, request, key, &reply);
    if (code != TOOL_OK) {
        return code;
    }
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(reply, key);
    if (args->is_json) {
        print_json(rows);
    } else {
        print_table(rows, columns, len);
    }
    if (!args->is_json && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(reply, "cut"))) {
        fprintf(stderr, "troupe: there are more; see --limit\n");
    }
    cJSON_Delete(reply);
    return TOOL_OK;
}

tool_exit_t tool_run_members(const tool_args_t *args)
{
    static const print_column_t columns[] = {
        {"ADDRESS", "address", false},     {"UID", "uid", false},     {"STATE", "state", false},
        {"REACHABLE", "reachable", false}, {"ROLES", "roles", false}, {"MARKS", "marks", false},
        {"NAME", "name", false},
    };
    return query_rows(args, tool_request("members"), "members", columns, TRP_ARRAY_LEN(columns));
}

tool_exit_t tool_run_links(const tool_args_t *args)
{
    static const print_column_t columns[] = {
        {"ADDRESS", "address", false},    {"UID", "uid", false},
        {"STATE", "state", false},        {"STALLED", "is_stalled", false},
        {"RTT us", "rtt_us", true},       {"OUT msgs", "messages_out", true},
        {"OUT bytes", "bytes_out", true}, {"IN msgs", "messages_in", true},
        {"IN bytes", "bytes_in", true},   {"QUEUED", "queue_bytes", true},
        {"SESSIONS", "sessions", true},   {"DROPPED", "queue_full", true},
    };
    return query_rows(args, tool_request("links"), "links", columns, TRP_ARRAY_LEN(columns));
}

static cJSON *query_with_limit(const tool_args_t *args, const char *op, uint32_t fallback)
{
    cJSON *request = tool_request(op);
    if (request != NULL) {
        cJSON_AddNumberToObject(request, "limit", tool_flag_number(args, "limit", fallback));
    }
    return request;
}

tool_exit_t tool_run_topics(const tool_args_t *args)
{
    static const print_column_t columns[] = {
        {"TOPIC", "topic", false},
        {"HERE", "subscribers_here", true},
        {"ELSEWHERE", "subscribers_others", true},
        {"NODES", "nodes", true},
        {"GROUPS", "groups", true},
    };
    return query_rows(args, query_with_limit(args, "topics", QUERY_TOPICS_LIMIT), "topics", columns,
                      TRP_ARRAY_LEN(columns));
}

tool_exit_t tool_run_tree(const tool_args_t *args)
{
    static const print_column_t columns[] = {
        {"ACTOR", "path", false},           {"BEHAVIOR", "behavior", false},
        {"DISPATCHER", "dispatcher", true}, {"MAIL", "mail", true},
        {"CHILDREN", "children", true},     {"MARKS", "marks", false},
    };
    return query_rows(args, query_with_limit(args, "tree", QUERY_TREE_LIMIT), "actors", columns,
                      TRP_ARRAY_LEN(columns));
}

/* ---- one object -------------------------------------------------------------------------------- */

/* Prints the fields of an object, one a line. */
static void query_print_fields(const cJSON *object)
{
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        char *cell = print_cell(object, item->string);
        if (strcmp(item->string, "ok") != 0 && !cJSON_IsObject(item)) {
            printf("%-18s %s\n", item->string, cell != NULL ? cell : "");
        }
        free(cell);
    }
}

static tool_exit_t query_object(const tool_args_t *args, const char *op,
                                void (*print)(const cJSON *reply))
{
    cJSON *reply = NULL;
    tool_exit_t code = tool_call(args, tool_request(op), &reply);
    if (code != TOOL_OK) {
        return code;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(reply, "ok");
    if (args->is_json) {
        print_json(reply);
    } else {
        print(reply);
    }
    cJSON_Delete(reply);
    return TOOL_OK;
}

tool_exit_t tool_run_info(const tool_args_t *args)
{
    return query_object(args, "info", query_print_fields);
}

/* ---- statistics -------------------------------------------------------------------------------- */

static double query_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void query_print_flow(const cJSON *reply, const char *key)
{
    static const char *const parts[] = {"made", "received", "taken", "handed_over", "in_flight"};
    const cJSON *flow = cJSON_GetObjectItemCaseSensitive(reply, key);
    const cJSON *dropped = cJSON_GetObjectItemCaseSensitive(flow, "dropped");
    double lost = 0;
    printf("%s messages\n", key);
    for (size_t i = 0; i < TRP_ARRAY_LEN(parts); i++) {
        printf("  %-24s %16.0f\n", parts[i], query_number(flow, parts[i]));
    }
    for (const cJSON *item = dropped != NULL ? dropped->child : NULL; item != NULL;
         item = item->next) {
        lost += item->valuedouble;
        if (item->valuedouble > 0) {
            printf("  dropped: %-15s %16.0f\n", item->string, item->valuedouble);
        }
    }
    double in = query_number(flow, "made") + query_number(flow, "received");
    double out = query_number(flow, "taken") + query_number(flow, "handed_over") + lost +
                 query_number(flow, "in_flight");
    printf("  %-24s %16.0f\n  made + received = taken + handed over + dropped + in flight: %s\n",
           "dropped", lost, in == out ? "holds" : "moving");
}

static void query_print_stats(const cJSON *reply)
{
    query_print_flow(reply, "user");
    query_print_flow(reply, "system");
    query_print_fields(reply);
}

tool_exit_t tool_run_stats(const tool_args_t *args)
{
    return query_object(args, "stats", query_print_stats);
}

/* ---- ping -------------------------------------------------------------------------------------- */

static void query_rest(void)
{
    struct timespec rest = {0, QUERY_RETRY_MS * 1000000};
    nanosleep(&rest, NULL);
}

/* One ping, without a word when nobody is there. */
static tool_exit_t query_ping_once(const tool_args_t *args, cJSON **ret_reply)
{
    tool_client_t client;
    *ret_reply = NULL;
    cJSON *request = tool_request("ping");
    if (request == NULL) {
        return TOOL_FAILED;
    }
    cJSON_AddNumberToObject(request, "timeout_ms", args->timeout_ms);
    if (args->len > 0) {
        tool_request_add(request, "node", args->items[0], strlen(args->items[0]));
    }
    tool_exit_t code = tool_client_open(&client, args);
    if (code != TOOL_OK) {
        cJSON_Delete(request);
        return code;
    }
    code = tool_client_send(&client, request) ? TOOL_OK : TOOL_UNREACHABLE;
    if (code == TOOL_OK) {
        code = tool_client_receive(&client, args->timeout_ms, ret_reply);
    }
    tool_client_close(&client);
    return code;
}

static bool query_is_up(const cJSON *reply)
{
    const cJSON *state = cJSON_GetObjectItemCaseSensitive(reply, "state");
    return cJSON_IsString(state) && strcmp(state->valuestring, "up") == 0;
}

/* Pings until the node is up. */
static tool_exit_t query_ping_until_up(const tool_args_t *args, cJSON **ret_reply)
{
    uint64_t deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(args->timeout_ms));
    for (;;) {
        tool_exit_t code = query_ping_once(args, ret_reply);
        if (code == TOOL_OK && query_is_up(*ret_reply)) {
            return TOOL_OK;
        }
        bool is_over = trp_clock_now() >= deadline;
        if (is_over || (code != TOOL_OK && code != TOOL_UNREACHABLE)) {
            bool is_there = code == TOOL_OK;
            cJSON_Delete(*ret_reply);
            *ret_reply = NULL;
            if (is_there) {
                tool_complain("the node is there, but not up");
            }
            return is_there ? TOOL_TIMEOUT : code;
        }
        cJSON_Delete(*ret_reply);
        query_rest();
    }
}

static void query_print_ping(const tool_args_t *args, const cJSON *reply, uint64_t taken_ns)
{
    char *state = print_cell(reply, "state");
    char *node = print_cell(reply, "node");
    double us = (double)taken_ns / 1000;
    const cJSON *rtt = cJSON_GetObjectItemCaseSensitive(reply, "rtt_us");
    if (args->is_json) {
        printf("{\"node\":\"%s\",\"state\":\"%s\",\"rtt_us\":%.1f}\n", node != NULL ? node : "",
               state != NULL ? state : "", cJSON_IsNumber(rtt) ? rtt->valuedouble : us);
    } else {
        printf("%s %s in %.1f us\n", node != NULL ? node : "", state != NULL ? state : "",
               cJSON_IsNumber(rtt) ? rtt->valuedouble : us);
    }
    free(node);
    free(state);
}

tool_exit_t tool_run_ping(const tool_args_t *args)
{
    uint32_t count = tool_flag_number(args, "count", 1);
    bool until_up = tool_flag(args, "up") != NULL;
    for (uint32_t i = 0; i < count; i++) {
        cJSON *reply = NULL;
        uint64_t begin = trp_clock_now();
        tool_exit_t code =
            until_up ? query_ping_until_up(args, &reply) : query_ping_once(args, &reply);
        if (code == TOOL_UNREACHABLE) {
            tool_client_complain(args);
        }
        if (code != TOOL_OK) {
            return code;
        }
        query_print_ping(args, reply, trp_clock_now() - begin);
        cJSON_Delete(reply);
    }
    return TOOL_OK;
}
