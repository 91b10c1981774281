/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of peers' connections. */

#include "net/link/ins.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"

trp_in_t *trp_in_find(trp_link_t *link, trp_view_t routing_id)
{
    trp_table_entry_t *entry = trp_table_find(&link->ins, routing_id.data, routing_id.size);
    return entry != NULL ? TRP_CONTAINER_OF(entry, trp_in_t, entry) : NULL;
}

trp_in_t *trp_in_find_nonce(trp_link_t *link, uint64_t nonce)
{
    TRP_LIST_FOREACH (at, &link->ins_order) {
        trp_in_t *in = TRP_CONTAINER_OF(at, trp_in_t, link);
        if (in->nonce == nonce && in->lane == TRP_LANE_CONTROL) {
            return in;
        }
    }
    return NULL;
}

bool trp_in_is_same_user(const trp_in_t *in, const trp_sender_t *sender)
{
    return strcmp(in->user_id, sender->user_id != NULL ? sender->user_id : "") == 0;
}

void trp_in_drop(trp_link_t *link, trp_in_t *in)
{
    trp_table_remove(&link->ins, &in->entry);
    trp_list_remove(&in->link);
    trp_peer_unref(&in->peer);
    trp_free(in);
}

/* Makes room by dropping connections whose handshake went nowhere: oldest first, and only such as have
 * had the time for it. */
static void ins_sweep(trp_link_t *link)
{
    uint64_t old = trp_clock_from_ms(2 * (uint64_t)TRP_LINK_HANDSHAKE_MS);
    TRP_LIST_FOREACH_SAFE (at, &link->ins_order) {
        trp_in_t *in = TRP_CONTAINER_OF(at, trp_in_t, link);
        if (link->now - in->since_ns < old) {
            return;
        }
        if (in->session == 0) {
            trp_in_drop(link, in);
        }
    }
}

troupe_err_t trp_in_add(trp_link_t *link, const trp_sender_t *sender, uint8_t lane,
                        trp_peer_t *peer, uint64_t nonce, trp_in_t **ret_in)
{
    if (sender->routing_id.size > TRP_ROUTING_ID_SIZE_MAX) {
        return TROUPE_EPROTOCOL;
    }
    ins_sweep(link);
    trp_in_t *in = trp_calloc(1, sizeof(*in));
    if (in == NULL) {
        return TROUPE_ENOMEM;
    }
    in->routing_id_size = (uint8_t)sender->routing_id.size;
    memcpy(in->routing_id, sender->routing_id.data, sender->routing_id.size);
    (void)trp_text_copy(in->user_id, sizeof(in->user_id),
                        sender->user_id != NULL ? sender->user_id : "");
    in->lane = lane;
    in->nonce = nonce;
    in->since_ns = link->now;
    troupe_err_t err = trp_table_add(&link->ins, &in->entry, in->routing_id, in->routing_id_size);
    if (err != TROUPE_OK) {
        trp_free(in);
        return err;
    }
    in->peer = trp_peer_ref(peer);
    trp_list_push_back(&link->ins_order, &in->link);
    *ret_in = in;
    return TROUPE_OK;
}

void trp_in_drop_peer(trp_link_t *link, const trp_peer_t *peer)
{
    TRP_LIST_FOREACH_SAFE (at, &link->ins_order) {
        trp_in_t *in = TRP_CONTAINER_OF(at, trp_in_t, link);
        if (peer == NULL || in->peer == peer) {
            trp_in_drop(link, in);
        }
    }
}

void trp_in_drop_session(trp_link_t *link, uint64_t session_id)
{
    TRP_ASSERT(session_id != 0);
    TRP_LIST_FOREACH_SAFE (at, &link->ins_order) {
        trp_in_t *in = TRP_CONTAINER_OF(at, trp_in_t, link);
        if (in->session == session_id) {
            trp_in_drop(link, in);
        }
    }
}
