/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Operations about members and links. */

#include <stdlib.h>
#include <string.h>

#include <troupe/cluster.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "node/admin_ops.h"
#include "node/node_cluster.h"

#define CLUSTER_LINKS_MAX 4096u

static troupe_err_t cluster_refuse_local(trp_admin_session_t *session)
{
    return trp_admin_refuse(session, TROUPE_ENODE,
                            "the node has no links (node.bind is not set), so no members");
}

/* ---- members ---------------------------------------------------------------------------------------- */

static void cluster_marks(trp_json_t *json, const trp_node_t *node, const troupe_member_t *member)
{
    trp_json_array_begin(json, "marks");
    if (member->is_self) {
        trp_json_text(json, NULL, "self");
    }
    if (member->uid == trp_node_cluster_leader(node->cluster)) {
        trp_json_text(json, NULL, "leader");
    }
    if (member->uid == trp_node_cluster_oldest(node->cluster)) {
        trp_json_text(json, NULL, "oldest");
    }
    trp_json_array_end(json);
}

static void cluster_member(trp_json_t *json, const trp_node_t *node, const troupe_member_t *member)
{
    const char *reachable = member->is_suspected ? "suspected" : "yes";
    trp_json_object_begin(json, NULL);
    trp_json_text(json, "address", member->address);
    trp_json_uid(json, "uid", member->uid);
    trp_json_text(json, "name", member->name);
    trp_json_text(json, "state", troupe_member_state_name((troupe_member_state_t)member->state));
    trp_json_text(json, "reachable", member->is_unreachable ? "no" : reachable);
    trp_json_u64(json, "up_number", member->up_number);
    trp_json_array_begin(json, "roles");
    for (size_t i = 0; i < member->roles_len; i++) {
        trp_json_text(json, NULL, member->roles[i]);
    }
    trp_json_array_end(json);
    cluster_marks(json, node, member);
    trp_json_object_end(json);
}

static int cluster_compare(const void *a, const void *b)
{
    return strcmp(((const troupe_member_t *)a)->address, ((const troupe_member_t *)b)->address);
}

troupe_err_t trp_admin_members(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_node_t *node = session->node;
    troupe_member_t *members = NULL;
    size_t len = 0;
    (void)request;
    if (node->cluster == NULL) {
        return cluster_refuse_local(session);
    }
    troupe_err_t err = trp_node_cluster_members(node->cluster, &members, &len);
    if (err != TROUPE_OK) {
        return trp_admin_refuse(session, err, NULL);
    }
    qsort(members, len, sizeof(*members), cluster_compare);
    trp_admin_rows_begin(session, "members");
    for (size_t i = 0; i < len && err == TROUPE_OK; i++) {
        cluster_member(&session->json, node, &members[i]);
        err = trp_admin_rows_next(session, "members");
    }
    trp_free(members);
    return err == TROUPE_OK ? trp_admin_rows_end(session, false) : err;
}

/* The member that people mean by a uid of 16 digits or an address. ENODE. */
static troupe_err_t cluster_find(trp_node_t *node, const char *text, uint64_t *ret_uid)
{
    trp_node_address_t address;
    if (strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16) {
        *ret_uid = strtoull(text, NULL, 16);
        return TROUPE_OK;
    }
    troupe_err_t err = trp_node_address_parse(text, &address);
    return err == TROUPE_OK ? trp_node_find_member(node, &address, ret_uid) : err;
}

troupe_err_t trp_node_find_member(trp_node_t *node, const trp_node_address_t *address,
                                  uint64_t *ret_uid)
{
    troupe_member_t *members = NULL;
    size_t len = 0;
    uint64_t found = 0;
    if (node->cluster == NULL) {
        return TROUPE_ENODE;
    }
    troupe_err_t err = trp_node_cluster_members(node->cluster, &members, &len);
    for (size_t i = 0; i < len && err == TROUPE_OK; i++) {
        trp_node_address_t own;
        bool is_same = trp_node_address_parse(members[i].address, &own) == TROUPE_OK &&
                       own.port == address->port && strcmp(own.host, address->host) == 0;
        /* Of two incarnations at one address the one that isn't down counts. */
        if (is_same && (found == 0 || members[i].state < TROUPE_MEMBER_DOWN)) {
            found = members[i].uid;
        }
    }
    trp_free(members);
    if (err == TROUPE_OK && found == 0) {
        err = TROUPE_ENODE;
    }
    *ret_uid = found;
    return err;
}

/* ---- leaving ------------------------------------------------------------------------------------------ */

static troupe_err_t cluster_finish(trp_admin_session_t *session, troupe_err_t err)
{
    if (err == TROUPE_EINVAL) {
        return trp_admin_refuse(session, err, "a member is an address (host:port) or a uid");
    }
    if (err == TROUPE_ENODE || err == TROUPE_ENOENT) {
        return trp_admin_refuse(session, TROUPE_ENODE, "no such member; see `troupe members`");
    }
    if (err == TROUPE_EPERM) {
        return trp_admin_refuse(session, err,
                                "a node does not down itself; let it leave, or ask another one");
    }
    if (err != TROUPE_OK) {
        return trp_admin_refuse(session, err, NULL);
    }
    trp_admin_reply_begin(session);
    return trp_admin_reply_send(session, false);
}

troupe_err_t trp_admin_leave(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_node_t *node = session->node;
    uint64_t uid = node->uid;
    troupe_err_t err = TROUPE_OK;
    if (request->node != NULL) {
        err = node->cluster != NULL ? cluster_find(node, request->node, &uid) : TROUPE_ENODE;
    }
    if (err == TROUPE_OK && uid != node->uid) {
        err = trp_node_cluster_leave_member(node->cluster, uid);
    } else if (err == TROUPE_OK) {
        err = troupe_node_leave(&node->base);
    }
    return cluster_finish(session, err);
}

troupe_err_t trp_admin_down(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_node_t *node = session->node;
    uint64_t uid = 0;
    if (node->cluster == NULL) {
        return cluster_refuse_local(session);
    }
    troupe_err_t err = cluster_find(node, request->node, &uid);
    if (err == TROUPE_OK) {
        err = uid == node->uid ? TROUPE_EPERM : trp_node_cluster_down(node->cluster, uid);
    }
    return cluster_finish(session, err);
}

/* ---- links --------------------------------------------------------------------------------------------- */

static const char *cluster_link_state(trp_link_state_t state)
{
    static const char *const names[] = {[TRP_LINK_CONNECTING] = "connecting",
                                        [TRP_LINK_UP] = "up",
                                        [TRP_LINK_LOST] = "lost",
                                        [TRP_LINK_DEAD] = "dead"};
    return state >= TRP_LINK_CONNECTING && state <= TRP_LINK_DEAD ? names[state] : "unknown";
}

static void cluster_link(trp_json_t *json, const trp_link_peer_info_t *info)
{
    trp_json_object_begin(json, NULL);
    trp_json_text(json, "address", info->address);
    trp_json_uid(json, "uid", info->uid);
    trp_json_text(json, "name", info->name);
    trp_json_text(json, "state", cluster_link_state(info->state));
    trp_json_bool(json, "is_stalled", info->is_stalled);
    trp_json_u64(json, "rtt_us", info->rtt_ns / TRP_NS_PER_US);
    trp_json_u64(json, "messages_out", info->messages_out);
    trp_json_u64(json, "bytes_out", info->bytes_out);
    trp_json_u64(json, "frames_out", info->frames_out);
    trp_json_u64(json, "messages_in", info->messages_in);
    trp_json_u64(json, "bytes_in", info->bytes_in);
    trp_json_u64(json, "frames_in", info->frames_in);
    trp_json_u64(json, "queue_bytes", info->queue_bytes);
    trp_json_u64(json, "credit_bytes", info->credit_bytes);
    trp_json_u64(json, "sessions", info->sessions);
    trp_json_u64(json, "queue_full", info->queue_full);
    trp_json_u64(json, "unknown_types", info->unknown_types);
    trp_json_u64(json, "protocol_errors", info->protocol_errors);
    trp_json_object_end(json);
}

troupe_err_t trp_admin_links(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    trp_link_t *link = session->node->link;
    (void)request;
    if (link == NULL) {
        return cluster_refuse_local(session);
    }
    trp_link_peer_info_t *infos = trp_calloc(CLUSTER_LINKS_MAX, sizeof(*infos));
    if (infos == NULL) {
        return trp_admin_refuse(session, TROUPE_ENOMEM, NULL);
    }
    size_t len = trp_link_peers(link, infos, CLUSTER_LINKS_MAX);
    bool is_cut = len > CLUSTER_LINKS_MAX;
    len = is_cut ? CLUSTER_LINKS_MAX : len;
    troupe_err_t err = TROUPE_OK;
    trp_admin_rows_begin(session, "links");
    for (size_t i = 0; i < len && err == TROUPE_OK; i++) {
        cluster_link(&session->json, &infos[i]);
        err = trp_admin_rows_next(session, "links");
    }
    trp_free(infos);
    return err == TROUPE_OK ? trp_admin_rows_end(session, is_cut) : err;
}

/* ---- ping ------------------------------------------------------------------------------------------------ */

static troupe_err_t cluster_answer_ping(trp_admin_session_t *session, const char *node,
                                        uint64_t rtt_ns)
{
    trp_json_t *json = &session->json;
    trp_admin_reply_begin(session);
    trp_json_text(json, "node", node);
    trp_json_text(json, "state", troupe_node_state_name(troupe_node_state(&session->node->base)));
    if (rtt_ns > 0) {
        trp_json_u64(json, "rtt_us", rtt_ns / TRP_NS_PER_US);
    }
    return trp_admin_reply_send(session, false);
}

/* The way to a member and back, through both system dispatchers: a look-up of what every node has. */
troupe_err_t trp_admin_ping(trp_admin_session_t *session, const trp_admin_request_t *request)
{
    char address[TROUPE_NODE_ADDRESS_SIZE + 32];
    troupe_ref_t ref = troupe_ref_none();
    if (request->node == NULL) {
        return cluster_answer_ping(session, troupe_node_address(&session->node->base), 0);
    }
    trp_text_format(address, sizeof(address), "troupe://%s/user", request->node);
    uint64_t begin = trp_clock_now();
    troupe_err_t err = trp_admin_resolve(session, address, request->timeout_ms, &ref);
    if (err == TROUPE_OK) {
        return cluster_answer_ping(session, request->node, trp_clock_now() - begin);
    }
    if (trp_admin_is_over(err)) {
        return err;
    }
    if (err == TROUPE_EINVAL) {
        return trp_admin_refuse(session, err, "a member is pinged by its address, host:port");
    }
    return trp_admin_refuse(session, err,
                            err == TROUPE_ENODE ? "no such member; see `troupe members`" : NULL);
}
