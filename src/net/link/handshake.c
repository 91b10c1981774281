/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The handshake's frames, written and judged. */

#include "net/link/handshake.h"

#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "net/link/conn.h"
#include "net/link/curve.h"
#include "net/link/events.h"
#include "net/link/ins.h"
#include "net/link/session.h"
#include "net/link/socket.h"

/* ---- sending --------------------------------------------------------------------------------- */

/* Begins a frame in the scratch buffer. */
static troupe_err_t handshake_begin(trp_link_t *link, trp_frame_kind_t kind, uint8_t lane)
{
    uint8_t head[TRP_WIRE_FRAME_SIZE];
    trp_frame_header_t header = {.kind = (uint8_t)kind, .lane = lane};
    trp_wire_put_frame(head, &header);
    trp_buf_clear(&link->scratch);
    return trp_buf_append(&link->scratch, head, sizeof(head));
}

static trp_hello_pair_t handshake_pair(trp_link_t *link, trp_conn_t *conn, trp_peer_t *peer,
                                       uint64_t echo)
{
    trp_hello_pair_t pair = {.nonce = conn->nonce, .echo = echo, .window = link->window};
    if (peer != NULL) {
        pair.generation = peer->generation;
        pair.tables = peer->tables;
        pair.next_ordinary = peer->next_ordinary;
        pair.next_control = peer->next_control;
    }
    if (echo != 0) {
        conn->answered = echo;
        conn->generation = pair.generation;
    }
    return pair;
}

/* Lets each section write its part behind the others in `out`. */
static troupe_err_t handshake_sections(trp_link_t *link, trp_hello_t *hello, trp_buf_t *out)
{
    size_t starts[TRP_LINK_SECTIONS_MAX + 1] = {0};
    for (uint32_t i = 0; i < link->sections_len; i++) {
        const trp_link_section_t *section = &link->sections[i];
        troupe_err_t err = section->get != NULL ? section->get(section->context, out) : TROUPE_OK;
        if (err != TROUPE_OK) {
            return err;
        }
        starts[i + 1] = out->size;
    }
    for (uint32_t i = 0; i < link->sections_len; i++) {
        if (starts[i + 1] > starts[i]) {
            trp_hello_section_t *section = &hello->sections[hello->section_len++];
            section->name = trp_view_from_string(link->sections[i].name);
            section->data = trp_view_make(out->data + starts[i], starts[i + 1] - starts[i]);
        }
    }
    return TROUPE_OK;
}

troupe_err_t trp_handshake_greet(trp_link_t *link, trp_conn_t *conn)
{
    trp_hello_t hello = {
        .version = link->options.version,
        .version_min = link->options.version_min,
        .uid = link->options.uid,
        .expect = conn->expect,
        .capabilities = TRP_LINK_CAPS,
        .cluster = trp_view_from_string(link->cluster),
        .name = trp_view_from_string(link->name),
        .address = trp_view_from_string(link->advertise),
        .pair = handshake_pair(link, conn, conn->peer, conn->answered),
    };
    trp_buf_t sections;
    trp_buf_init(&sections, TRP_LINK_SECTION_SIZE_MAX);
    troupe_err_t err = handshake_sections(link, &hello, &sections);
    if (err == TROUPE_OK) {
        err = handshake_begin(link, TRP_FRAME_HELLO, TRP_LANE_CONTROL);
    }
    if (err == TROUPE_OK) {
        err = trp_hello_put(&hello, &link->scratch);
    }
    trp_buf_fini(&sections);
    if (err == TROUPE_OK &&
        !trp_socket_send(&conn->lanes[TRP_LANE_CONTROL], link->scratch.data, link->scratch.size)) {
        err = TROUPE_EUNREACHABLE;
    }
    return err;
}

troupe_err_t trp_handshake_welcome(trp_link_t *link, trp_conn_t *conn, trp_socket_t *socket,
                                   uint64_t echo)
{
    TRP_ASSERT(echo != 0);
    troupe_err_t err = handshake_begin(link, TRP_FRAME_WELCOME, socket->lane);
    trp_hello_pair_t pair = {.nonce = conn->nonce,
                             .echo = echo,
                             .generation = conn->generation,
                             .tables = conn->peer->tables,
                             .next_ordinary = conn->peer->next_ordinary,
                             .next_control = conn->peer->next_control,
                             .window = link->window};
    if (socket->lane == TRP_LANE_CONTROL) {
        pair = handshake_pair(link, conn, conn->peer, echo);
    }
    if (err == TROUPE_OK) {
        err = trp_hello_put_pair(&pair, &link->scratch);
    }
    if (err == TROUPE_OK && !trp_socket_send(socket, link->scratch.data, link->scratch.size)) {
        err = TROUPE_EUNREACHABLE;
    }
    return err;
}

static void handshake_refuse(trp_link_t *link, trp_view_t routing_id, troupe_err_t reason,
                             const char *text)
{
    trp_refusal_t refusal = {reason, link->options.uid, trp_view_from_string(text)};
    refusal.text.size =
        refusal.text.size < TRP_LINK_TEXT_SIZE_MAX ? refusal.text.size : TRP_LINK_TEXT_SIZE_MAX;
    if (handshake_begin(link, TRP_FRAME_REFUSE, TRP_LANE_CONTROL) == TROUPE_OK &&
        trp_hello_put_refusal(&refusal, &link->scratch) == TROUPE_OK) {
        trp_router_reply(link, routing_id, link->scratch.data, link->scratch.size);
    }
}

void trp_handshake_dismiss(trp_link_t *link, trp_view_t routing_id, troupe_err_t reason)
{
    handshake_refuse(link, routing_id, reason,
                     reason == TROUPE_ESTOPPED ? "this incarnation was declared down"
                                               : "the session does not stand any more");
}

void trp_handshake_unreachable(trp_link_t *link, const trp_conn_t *conn)
{
    trp_in_t *in = trp_in_find_nonce(link, conn->answered);
    if (in == NULL) {
        return;
    }
    char text[TRP_LINK_TEXT_SIZE_MAX];
    (void)trp_text_format(text, sizeof(text), "%s can't be dialled back at %s", "your node",
                          conn->address);
    handshake_refuse(link, trp_view_make(in->routing_id, in->routing_id_size), TROUPE_EUNREACHABLE,
                     text);
}

/* ---- judging a HELLO ------------------------------------------------------------------------- */

static troupe_err_t handshake_judge_version(const trp_link_t *link, const trp_hello_t *hello,
                                            char *text, size_t size)
{
    if (hello->version < link->options.version_min || hello->version_min > link->options.version) {
        (void)trp_text_format(text, size, "you speak version %u to %u, this node %u to %u",
                              (unsigned)hello->version_min, (unsigned)hello->version,
                              link->options.version_min, link->options.version);
        return TROUPE_EVERSION;
    }
    return TROUPE_OK;
}

static troupe_err_t handshake_judge_who(trp_link_t *link, const trp_hello_t *hello, char *text,
                                        size_t size)
{
    if (!trp_view_equal_string(hello->cluster, link->cluster)) {
        char theirs[TRP_LINK_CLUSTER_SIZE_MAX + 1];
        (void)trp_text_format(
            text, size, "this cluster is %s, yours is %s", link->cluster,
            trp_text_escape(theirs, sizeof(theirs), hello->cluster.data, hello->cluster.size));
        return TROUPE_ECLUSTER;
    }
    if (hello->uid == link->options.uid) {
        (void)trp_text_copy(text, size, "this is the node itself");
        return TROUPE_EEXIST;
    }
    if (hello->expect != 0 && hello->expect != link->options.uid) {
        (void)trp_text_copy(text, size, "another incarnation of the node runs here");
        return TROUPE_ENODE;
    }
    if (trp_peers_is_dead(&link->registry, hello->uid)) {
        (void)trp_text_copy(text, size, "this incarnation was declared down");
        return TROUPE_ESTOPPED;
    }
    return TROUPE_OK;
}

static troupe_err_t handshake_judge_sections(trp_link_t *link, const trp_hello_t *hello, char *text,
                                             size_t size)
{
    for (uint32_t i = 0; i < link->sections_len; i++) {
        const trp_link_section_t *section = &link->sections[i];
        trp_view_t data = trp_view_make(NULL, 0);
        for (uint32_t k = 0; k < hello->section_len; k++) {
            if (trp_view_equal_string(hello->sections[k].name, section->name)) {
                data = hello->sections[k].data;
            }
        }
        troupe_err_t err = section->check != NULL
                               ? section->check(section->context, hello->uid, data, text, size)
                               : TROUPE_OK;
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t handshake_judge(trp_link_t *link, const trp_hello_t *hello, char *text,
                                    size_t size)
{
    troupe_err_t err = handshake_judge_version(link, hello, text, size);
    if (err == TROUPE_OK) {
        err = handshake_judge_who(link, hello, text, size);
    }
    if (err == TROUPE_OK) {
        err = handshake_judge_sections(link, hello, text, size);
    }
    return err;
}

/* A node that dials its own address stops doing so. */
static void handshake_self(trp_link_t *link, const trp_hello_t *hello)
{
    trp_conn_t *conn = trp_conn_find(link, hello->pair.nonce);
    if (conn != NULL && conn->dial != NULL) {
        trp_events_dialled(link, conn->dial->address, link->options.uid);
        trp_dial_stop(link, conn->dial);
    }
}

/* ---- a HELLO has come ------------------------------------------------------------------------ */

/* Answers a first HELLO: on a connection to the same address that waits, or on a new one. */
static void handshake_answer(trp_link_t *link, trp_in_t *in, const char *address)
{
    trp_conn_t *conn = trp_conn_find_waiting(link, address, in->peer);
    if (conn != NULL) {
        if (conn->peer == NULL) {
            conn->peer = trp_peer_ref(in->peer);
        }
        (void)trp_handshake_welcome(link, conn, &conn->lanes[TRP_LANE_CONTROL], in->nonce);
        return;
    }
    trp_conn_plan_t plan = {.address = address,
                            .peer = in->peer,
                            .expect = in->peer->uid,
                            .echo = in->nonce,
                            .server_key = in->user_id[0] != '\0' ? in->user_id : NULL};
    if (trp_conn_open(link, &plan, &conn) != TROUPE_OK) {
        handshake_refuse(link, trp_view_make(in->routing_id, in->routing_id_size),
                         TROUPE_EUNREACHABLE, "your address can't be dialled back");
    }
}

/* The HELLO answers a connection of ours. */
static void handshake_answered(trp_link_t *link, trp_in_t *in, const trp_hello_t *hello)
{
    trp_conn_t *conn = trp_conn_find(link, hello->pair.echo);
    if (conn == NULL || (conn->peer != NULL && conn->peer != in->peer)) {
        return; /* An attempt that was given up meanwhile. */
    }
    if (conn->peer == NULL) {
        conn->peer = trp_peer_ref(in->peer);
    }
    if (trp_handshake_welcome(link, conn, &conn->lanes[TRP_LANE_CONTROL], in->nonce) == TROUPE_OK) {
        trp_session_prove(link, conn, in, &hello->pair);
    }
}

static void handshake_accept(trp_link_t *link, const trp_sender_t *sender, const trp_hello_t *hello)
{
    trp_peer_t *peer = NULL;
    if (trp_peers_get(&link->registry, link, hello->uid, &peer) != TROUPE_OK) {
        handshake_refuse(link, sender->routing_id, TROUPE_EFULL, "no room for another peer");
        return;
    }
    trp_session_prepare(link, peer);
    if (sender->user_id != NULL && peer->user_id[0] != '\0' &&
        strcmp(peer->user_id, sender->user_id) != 0) {
        trp_events_refused(link, hello, TROUPE_EAUTH, "this incarnation has another key");
        handshake_refuse(link, sender->routing_id, TROUPE_EAUTH,
                         "this incarnation has another key");
        trp_peer_unref(&peer);
        return;
    }
    if (!peer->session.is_up) {
        trp_peers_describe(&link->registry, peer, hello->name, hello->address);
    }
    trp_session_set_address(link, peer, hello->address);
    if (sender->user_id != NULL) {
        trp_curve_learn(link, sender->user_id, peer->dial.address);
    }
    trp_in_t *in = NULL;
    if (trp_in_add(link, sender, TRP_LANE_CONTROL, peer, hello->pair.nonce, &in) == TROUPE_OK) {
        if (hello->pair.echo != 0) {
            handshake_answered(link, in, hello);
        } else {
            handshake_answer(link, in, peer->dial.address);
        }
    }
    trp_peer_unref(&peer);
}

void trp_handshake_on_hello(trp_link_t *link, const trp_sender_t *sender, trp_view_t body)
{
    trp_hello_t hello;
    if (trp_in_find(link, sender->routing_id) != NULL || trp_hello_get(body, &hello) != TROUPE_OK ||
        hello.pair.nonce == 0) {
        return;
    }
    char text[TRP_LINK_TEXT_SIZE_MAX] = "";
    troupe_err_t err = handshake_judge(link, &hello, text, sizeof(text));
    if (err == TROUPE_OK) {
        handshake_accept(link, sender, &hello);
        return;
    }
    handshake_refuse(link, sender->routing_id, err, text);
    if (err == TROUPE_EEXIST) {
        handshake_self(link, &hello);
    } else {
        trp_events_refused(link, &hello, err, text);
    }
}

void trp_handshake_on_version(trp_link_t *link, const trp_sender_t *sender)
{
    if (trp_in_find(link, sender->routing_id) == NULL) {
        handshake_refuse(link, sender->routing_id, TROUPE_EVERSION,
                         "your frames have another layout than this node's");
    }
}

/* ---- a WELCOME has come ---------------------------------------------------------------------- */

void trp_handshake_on_welcome(trp_link_t *link, const trp_sender_t *sender, uint8_t lane,
                              trp_view_t body)
{
    trp_hello_pair_t pair;
    if (trp_hello_get_pair(body, &pair) != TROUPE_OK) {
        return;
    }
    trp_in_t *control = trp_in_find_nonce(link, pair.nonce);
    trp_conn_t *conn = trp_conn_find(link, pair.echo);
    if (control == NULL || conn == NULL || !trp_in_is_same_user(control, sender)) {
        return;
    }
    if (conn->peer == NULL) {
        conn->peer = trp_peer_ref(control->peer);
    }
    if (conn->peer != control->peer) {
        return;
    }
    trp_in_t *in = trp_in_find(link, sender->routing_id);
    if (lane == TRP_LANE_CONTROL ? in != control : in != NULL) {
        return;
    }
    if (lane != TRP_LANE_CONTROL &&
        trp_in_add(link, sender, lane, control->peer, pair.nonce, &in) != TROUPE_OK) {
        return;
    }
    bool is_proved = control->session != 0;
    in->session = conn->nonce ^ pair.nonce;
    if (is_proved) {
        return;
    }
    /* The peer must have its proof, too. */
    if (conn->answered == control->nonce ||
        trp_handshake_welcome(link, conn, &conn->lanes[TRP_LANE_CONTROL], control->nonce) ==
            TROUPE_OK) {
        trp_session_prove(link, conn, control, &pair);
    }
}

/* ---- a refusal has come ---------------------------------------------------------------------- */

/* The node at the peer's address says that it is another incarnation. */
static void handshake_lost_incarnation(trp_link_t *link, uint64_t uid)
{
    trp_peer_t *peer = trp_peers_find(&link->registry, uid);
    if (peer != NULL) {
        trp_events_peer(link, TRP_LINK_EVENT_REPLACED, peer, TROUPE_ESTOPPED,
                        "another incarnation runs at its address");
        trp_session_bury(link, peer, TROUPE_DROP_STALE);
    }
    trp_peer_unref(&peer);
}

/* The session that stands on the connection doesn't for the peer. */
static void handshake_dismissed(trp_link_t *link, trp_conn_t *conn, const trp_refusal_t *refusal)
{
    char text[TRP_LINK_TEXT_SIZE_MAX + 1];
    (void)trp_text_escape(text, sizeof(text), refusal->text.data, refusal->text.size);
    trp_session_end(link, conn->peer, refusal->reason, text);
}

void trp_handshake_refused(trp_link_t *link, trp_conn_t *conn, trp_view_t frame)
{
    trp_frame_header_t header;
    trp_refusal_t refusal;
    if (trp_wire_get_frame(frame, &header) != TROUPE_OK || header.kind != TRP_FRAME_REFUSE ||
        trp_hello_get_refusal(
            trp_view_make(frame.data + TRP_WIRE_FRAME_SIZE, frame.size - TRP_WIRE_FRAME_SIZE),
            &refusal) != TROUPE_OK) {
        return;
    }
    if (conn->is_session) {
        handshake_dismissed(link, conn, &refusal);
        return;
    }
    trp_dial_t *dial = conn->dial;
    uint64_t expect = conn->expect;
    if (refusal.uid == link->options.uid) {
        if (dial != NULL) {
            trp_events_dialled(link, dial->address, link->options.uid);
            trp_dial_stop(link, dial); /* Closes the connection. */
        }
        return;
    }
    trp_events_dial(link, TRP_LINK_EVENT_REFUSED, conn->address, refusal.reason, refusal.text);
    trp_conn_close(link, conn);
    if (refusal.reason == TROUPE_ENODE && expect != 0 && refusal.uid != expect) {
        handshake_lost_incarnation(link, expect);
    } else if (dial != NULL) {
        trp_dial_later(link, dial);
    }
}
