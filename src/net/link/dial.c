/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Dialling: which addresses to connect to, and when to try again. */

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "net/link/conn.h"
#include "net/link/events.h"
#include "net/link/session.h"

#define DIAL_JITTER 0.5 /* Of a delay that is drawn at random, so that nodes don't dial in step. */

static void dial_on_retry(trp_link_t *link, void *owner)
{
    trp_dial_start(link, owner);
}

void trp_dial_init(trp_link_t *link, trp_dial_t *dial, const char *address, uint64_t expect)
{
    (void)link;
    memset(dial, 0, sizeof(*dial));
    (void)trp_text_copy(dial->address, sizeof(dial->address), address);
    dial->expect = expect;
    dial->is_wanted = true;
    trp_backoff_init(&dial->backoff, trp_clock_from_ms(TRP_LINK_BACKOFF_MIN_MS),
                     trp_clock_from_ms(TRP_LINK_BACKOFF_MAX_MS), DIAL_JITTER);
    trp_timer_init(&dial->retry, dial_on_retry, dial);
}

void trp_dial_start(trp_link_t *link, trp_dial_t *dial)
{
    if (!dial->is_wanted || dial->conn != NULL || dial->address[0] == '\0') {
        return;
    }
    trp_timer_cancel(link, &dial->retry);
    trp_conn_plan_t plan = {.address = dial->address, .dial = dial, .expect = dial->expect};
    troupe_err_t err = trp_conn_open(link, &plan, &dial->conn);
    if (err == TROUPE_OK) {
        return;
    }
    if (!dial->has_failed) {
        dial->has_failed = true;
        trp_events_dial(link, TRP_LINK_EVENT_FAILED, dial->address, err,
                        trp_view_from_string(err == TROUPE_EINVAL ? "this is no address"
                                                                  : "no connection can be made"));
    }
    trp_dial_later(link, dial);
}

void trp_dial_later(trp_link_t *link, trp_dial_t *dial)
{
    if (dial->is_wanted && dial->conn == NULL && !trp_timer_is_set(&dial->retry)) {
        trp_timer_set(link, &dial->retry, trp_backoff_next(&dial->backoff, &link->random));
    }
}

void trp_dial_stop(trp_link_t *link, trp_dial_t *dial)
{
    dial->is_wanted = false;
    trp_timer_cancel(link, &dial->retry);
    trp_conn_t *conn = dial->conn;
    if (conn == NULL) {
        return;
    }
    dial->conn = NULL;
    conn->dial = NULL;
    if (!conn->is_session) {
        trp_conn_close(link, conn);
    }
}

void trp_dial_settle(trp_link_t *link, trp_dial_t *dial, trp_peer_t *peer)
{
    trp_timer_cancel(link, &dial->retry);
    trp_backoff_reset(&dial->backoff);
    dial->has_failed = false;
    if (dial == &peer->dial) {
        return;
    }
    if (dial->peer != peer) {
        trp_peer_unref(&dial->peer);
        dial->peer = trp_peer_ref(peer);
        trp_events_dialled(link, dial->address, peer->uid);
    }
}

void trp_dials_release(trp_link_t *link, trp_peer_t *peer)
{
    TRP_LIST_FOREACH (at, &link->dials) {
        trp_dial_t *dial = TRP_CONTAINER_OF(at, trp_dial_t, link);
        if (dial->peer == peer) {
            trp_peer_unref(&dial->peer);
            dial->expect = 0;
            trp_dial_later(link, dial);
        }
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

static trp_dial_t *dials_find(trp_link_t *link, const char *address)
{
    TRP_LIST_FOREACH (at, &link->dials) {
        trp_dial_t *dial = TRP_CONTAINER_OF(at, trp_dial_t, link);
        if (strcmp(dial->address, address) == 0) {
            return dial;
        }
    }
    return NULL;
}

/* A peer that is known by uid dials for itself. */
static void dials_add_peer(trp_link_t *link, const char *address, uint64_t uid)
{
    trp_peer_t *peer = NULL;
    if (trp_peers_get(&link->registry, link, uid, &peer) != TROUPE_OK) {
        return;
    }
    trp_session_prepare(link, peer);
    if (!peer->session.is_up) {
        trp_session_set_address(link, peer, trp_view_from_string(address));
        peer->dial.is_wanted = true;
        trp_dial_start(link, &peer->dial);
    }
    trp_peer_unref(&peer);
}

void trp_dials_add(trp_link_t *link, const char *address, uint64_t uid)
{
    if (uid != 0) {
        dials_add_peer(link, address, uid);
        return;
    }
    trp_dial_t *dial = dials_find(link, address);
    if (dial != NULL || strcmp(address, link->advertise) == 0 ||
        link->dials_len >= TRP_LINK_DIALS_MAX) {
        return;
    }
    dial = trp_alloc(sizeof(*dial));
    if (dial == NULL) {
        return;
    }
    trp_dial_init(link, dial, address, 0);
    trp_list_push_back(&link->dials, &dial->link);
    link->dials_len++;
    trp_dial_start(link, dial);
}

static void dial_free(trp_link_t *link, trp_dial_t *dial)
{
    trp_dial_stop(link, dial);
    trp_peer_unref(&dial->peer);
    trp_list_remove(&dial->link);
    link->dials_len--;
    trp_free(dial);
}

typedef struct dials_hangup {
    trp_link_t *link;
    const char *address;
} dials_hangup_t;

static void dials_hangup_peer(trp_peer_t *peer, void *context)
{
    const dials_hangup_t *hangup = context;
    if (strcmp(peer->dial.address, hangup->address) == 0) {
        trp_dial_stop(hangup->link, &peer->dial);
    }
}

void trp_dials_remove(trp_link_t *link, const char *address)
{
    trp_dial_t *dial = dials_find(link, address);
    if (dial != NULL) {
        dial_free(link, dial);
    }
    dials_hangup_t hangup = {link, address};
    trp_peers_visit(&link->registry, dials_hangup_peer, &hangup);
}

void trp_dials_close(trp_link_t *link)
{
    TRP_LIST_FOREACH_SAFE (at, &link->dials) {
        dial_free(link, TRP_CONTAINER_OF(at, trp_dial_t, link));
    }
    TRP_ASSERT(link->dials_len == 0);
}
