/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Operations that look at this node alone. */

#include <string.h>
#include <unistd.h>

#include <troupe/pubsub.h>
#include <troupe/stats.h>
#include <troupe/version.h>

#include "actor/cell.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/clock.h"
#include "node/admin_ops.h"
#include "node/node_tree.h"

#define LOOK_TREE_LIMIT 10000u

/* ---- info ---------------------------------------------------------------------------------------- */

troupe_err_t trp_admin_info(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_json_t *json = &session->json;
    const trp_node_t *node = session->node;
    const troupe_node_options_t *options = &node->settings.values.node;
    (void)request;
    trp_admin_reply_begin(session);
    trp_json_text(json, "version", troupe_version_text());
    trp_json_text(json, "state", troupe_node_state_name(troupe_node_state(&node->base)));
    trp_json_text(json, "cluster", options->cluster_name);
    trp_json_text(json, "name", options->name != NULL ? options->name : "");
    trp_json_text(json, "address", troupe_node_address(&node->base));
    trp_json_uid(json, "uid", node->uid);
    trp_json_u64(json, "pid", (uint64_t)getpid());
    trp_json_u64(json, "uptime_ms", trp_clock_wall_ms() - node->started_ms);
    trp_json_u64(json, "dispatchers", node->base.runtime->len);
    trp_json_bool(json, "encrypted", node->settings.has_keys);
    return trp_admin_reply_send(session, false);
}

/* ---- topics -------------------------------------------------------------------------------------- */

/* The topics are copied first: the visitor runs under a lock of the pub/sub room and must not write to
 * a socket. */
typedef struct look_topics {
    trp_buf_t rows;
    uint32_t len;
    uint32_t limit; /* 0: none. */
    bool is_cut;
    troupe_err_t error;
} look_topics_t;

static bool look_visit_topic(const troupe_topic_info_t *info, void *context)
{
    look_topics_t *topics = context;
    const uint64_t numbers[] = {info->subscribers_here, info->subscribers_others, info->nodes,
                                info->groups};
    if (topics->limit > 0 && topics->len == topics->limit) {
        topics->is_cut = true;
        return false;
    }
    topics->error = trp_buf_append(&topics->rows, numbers, sizeof(numbers));
    if (topics->error == TROUPE_OK) {
        topics->error = trp_buf_append_block(&topics->rows, info->name, info->name_size);
    }
    topics->len += 1;
    return topics->error == TROUPE_OK;
}

static troupe_err_t look_send_topic(trp_admin_session_t *session, trp_view_t *rows)
{
    uint64_t numbers[4];
    trp_view_t name;
    const uint8_t *data = NULL;
    trp_json_t *json = &session->json;
    troupe_err_t err = trp_view_take(rows, sizeof(numbers), &data);
    if (err == TROUPE_OK) {
        err = trp_view_take_block(rows, TROUPE_TOPIC_SIZE_MAX, &name);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    memcpy(numbers, data, sizeof(numbers));
    trp_json_object_begin(json, NULL);
    trp_json_bytes(json, "topic", name.data, name.size);
    trp_json_u64(json, "subscribers_here", numbers[0]);
    trp_json_u64(json, "subscribers_others", numbers[1]);
    trp_json_u64(json, "nodes", numbers[2]);
    trp_json_u64(json, "groups", numbers[3]);
    trp_json_object_end(json);
    return trp_admin_rows_next(session, "topics");
}

troupe_err_t trp_admin_topics(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    look_topics_t topics = {.limit = request->limit, .error = TROUPE_OK};
    trp_buf_init(&topics.rows, (size_t)1024 * 1024 * 1024);
    troupe_err_t err = troupe_topics_visit(&session->node->base, look_visit_topic, &topics);
    err = err == TROUPE_OK ? topics.error : err;
    if (err != TROUPE_OK) {
        trp_buf_fini(&topics.rows);
        return trp_admin_refuse(session, err, NULL);
    }
    trp_view_t rows = trp_buf_view(&topics.rows);
    trp_admin_rows_begin(session, "topics");
    while (rows.size > 0 && err == TROUPE_OK) {
        err = look_send_topic(session, &rows);
    }
    trp_buf_fini(&topics.rows);
    return err == TROUPE_OK ? trp_admin_rows_end(session, topics.is_cut) : err;
}

/* ---- statistics ------------------------------------------------------------------------------------ */

static void look_flow(trp_json_t *json, const char *key, const troupe_flow_t *flow)
{
    trp_json_object_begin(json, key);
    trp_json_u64(json, "made", flow->made);
    trp_json_u64(json, "received", flow->received);
    trp_json_u64(json, "taken", flow->taken);
    trp_json_u64(json, "handed_over", flow->handed_over);
    trp_json_u64(json, "in_flight", flow->in_flight);
    trp_json_object_begin(json, "dropped");
    for (size_t i = 0; i < TROUPE_DROP_LEN; i++) {
        trp_json_u64(json, troupe_drop_text((troupe_drop_t)i), flow->dropped[i]);
    }
    trp_json_object_end(json);
    trp_json_object_end(json);
}

troupe_err_t trp_admin_stats(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_json_t *json = &session->json;
    troupe_stats_t stats;
    memset(&stats, 0, sizeof(stats));
    stats.size = sizeof(stats);
    troupe_err_t err = troupe_node_stats(&session->node->base, request->timeout_ms, &stats);
    if (err != TROUPE_OK) {
        return trp_admin_refuse(session, err,
                                err == TROUPE_ETIMEOUT ? "a dispatcher does not answer" : NULL);
    }
    trp_admin_reply_begin(session);
    look_flow(json, "user", &stats.user);
    look_flow(json, "system", &stats.system);
    trp_json_u64(json, "actors", stats.actors);
    trp_json_u64(json, "spawned", stats.spawned);
    trp_json_u64(json, "asks", stats.asks);
    trp_json_u64(json, "timers", stats.timers);
    trp_json_u64(json, "parked", stats.parked);
    trp_json_u64(json, "pool_bytes", stats.pool_bytes);
    trp_json_u64(json, "wakeups", stats.wakeups);
    trp_json_u64(json, "dispatchers", stats.dispatchers);
    return trp_admin_reply_send(session, false);
}

/* ---- the tree of actors ------------------------------------------------------------------------------ */

static void look_marks(trp_json_t *json, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } marks[] = {
        {TRP_CELL_PARKED, "parked"},       {TRP_CELL_HELD, "held"},
        {TRP_CELL_SUSPENDED, "suspended"}, {TRP_CELL_RESTARTING, "restarting"},
        {TRP_CELL_STOPPING, "stopping"},   {TRP_CELL_FULL, "full"},
    };
    trp_json_array_begin(json, "marks");
    for (size_t i = 0; i < TRP_ARRAY_LEN(marks); i++) {
        if ((flags & marks[i].flag) != 0) {
            trp_json_text(json, NULL, marks[i].name);
        }
    }
    trp_json_array_end(json);
}

static void look_actor(trp_json_t *json, const trp_tree_row_t *row)
{
    trp_json_object_begin(json, NULL);
    trp_json_text(json, "path", row->path);
    trp_json_text(json, "behavior", row->behavior);
    trp_json_u64(json, "dispatcher", row->dispatcher);
    trp_json_u64(json, "mail", row->mail);
    trp_json_u64(json, "children", row->children);
    look_marks(json, row->flags);
    trp_json_object_end(json);
}

troupe_err_t trp_admin_tree(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_tree_t tree;
    uint32_t limit = request->limit > 0 ? request->limit : LOOK_TREE_LIMIT;
    limit = limit < TRP_TREE_LEN_MAX ? limit : TRP_TREE_LEN_MAX;
    uint64_t deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(request->timeout_ms));
    troupe_err_t err = trp_node_tree(session->node, limit, deadline, &tree);
    if (err != TROUPE_OK) {
        return trp_admin_refuse(session, err,
                                err == TROUPE_ETIMEOUT ? "a dispatcher does not answer" : NULL);
    }
    trp_admin_rows_begin(session, "actors");
    for (size_t i = 0; i < tree.len && err == TROUPE_OK; i++) {
        look_actor(&session->json, &tree.rows[i]);
        err = trp_admin_rows_next(session, "actors");
    }
    bool is_cut = tree.is_cut;
    trp_tree_fini(&tree);
    return err == TROUPE_OK ? trp_admin_rows_end(session, is_cut) : err;
}

/* ---- log levels --------------------------------------------------------------------------------------- */

troupe_err_t trp_admin_log(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    troupe_log_level_t level = TROUPE_LOG_INFO;
    troupe_log_room_t room = TROUPE_LOG_BASE;
    if (troupe_log_level_parse(request->level, &level) != TROUPE_OK) {
        return trp_admin_refuse(session, TROUPE_EINVAL,
                                "no such level; trace, debug, info, warn, error or off");
    }
    if (request->room != NULL && troupe_log_room_parse(request->room, &room) != TROUPE_OK) {
        return trp_admin_refuse(session, TROUPE_EINVAL,
                                "no such room; base, actor, link, cluster, pubsub, node, ...");
    }
    for (size_t i = 0; i < TROUPE_LOG_ROOM_COUNT; i++) {
        if (request->room == NULL || (size_t)room == i) {
            trp_log_set_level(&session->node->log, (troupe_log_room_t)i, level);
        }
    }
    trp_admin_reply_begin(session);
    return trp_admin_reply_send(session, false);
}
