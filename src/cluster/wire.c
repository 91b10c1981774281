/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The codec of messages' heads; items have a file of their own. */

#include "cluster/wire.h"

#include "base/assert.h"

#define WIRE_PARTS 5
#define WIRE_HEAD_LEN 8

size_t trp_wire_encode(const trp_wire_t *wire, const trp_items_t *items,
                       uint8_t out[TRP_MESSAGE_SIZE_MAX])
{
    trp_pack_t pack;
    trp_pack_init(&pack, out, TRP_MESSAGE_SIZE_MAX);
    trp_pack_array(&pack, WIRE_PARTS);
    trp_pack_u64(&pack, TRP_WIRE_VERSION);
    trp_pack_u64(&pack, (uint64_t)wire->type);
    trp_pack_u64(&pack, wire->cluster);
    trp_pack_array(&pack, WIRE_HEAD_LEN);
    trp_pack_u64(&pack, wire->seq);
    trp_pack_u64(&pack, wire->uid);
    trp_pack_u64(&pack, wire->incarnation);
    trp_pack_u64(&pack, wire->digest);
    trp_pack_u64(&pack, wire->epoch);
    trp_pack_u64(&pack, wire->code);
    trp_pack_u64(&pack, wire->from);
    trp_pack_u64(&pack, wire->to);
    trp_pack_array(&pack, items == NULL ? 0 : items->len);
    if (items != NULL) {
        trp_pack_raw(&pack, items->data, items->size);
    }
    TRP_ASSERT(!pack.overflow);
    return pack.size;
}

/* Takes off what a newer sender has put behind the elements known here. */
static troupe_err_t wire_skip(trp_view_t *view, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = trp_pack_read_skip(view);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t wire_take_head(trp_view_t *view, trp_wire_t *wire)
{
    uint64_t *const fields[] = {&wire->digest, &wire->epoch, &wire->code, &wire->from, &wire->to};
    size_t len = 0;
    troupe_err_t err = trp_pack_read_array(view, &len);
    if (err != TROUPE_OK || len < WIRE_HEAD_LEN) {
        return TROUPE_EPROTOCOL;
    }
    err = trp_pack_read_u64(view, &wire->seq);
    if (err == TROUPE_OK) {
        err = trp_pack_read_u64(view, &wire->uid);
    }
    if (err == TROUPE_OK) {
        err = trp_pack_read_u32(view, &wire->incarnation);
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && err == TROUPE_OK; i++) {
        err = trp_pack_read_u64(view, fields[i]);
    }
    return err != TROUPE_OK ? err : wire_skip(view, len - WIRE_HEAD_LEN);
}

static troupe_err_t wire_take_start(trp_view_t *view, size_t *ret_len, uint64_t *ret_type)
{
    uint64_t version = 0;
    troupe_err_t err = trp_pack_read_array(view, ret_len);
    if (err != TROUPE_OK || *ret_len < 2) {
        return TROUPE_EPROTOCOL;
    }
    err = trp_pack_read_u64(view, &version);
    if (err != TROUPE_OK) {
        return err;
    }
    if (version != TRP_WIRE_VERSION) {
        return TROUPE_EVERSION;
    }
    return trp_pack_read_u64(view, ret_type);
}

troupe_err_t trp_wire_decode(trp_view_t message, trp_wire_t *ret_wire, trp_view_t *ret_items)
{
    trp_view_t view = message;
    trp_wire_t wire = {0};
    uint64_t type = 0;
    size_t len = 0;
    if (message.size > TRP_MESSAGE_SIZE_MAX) {
        return TROUPE_EPROTOCOL;
    }
    troupe_err_t err = wire_take_start(&view, &len, &type);
    if (err != TROUPE_OK) {
        return err;
    }
    if (type == 0 || type > TRP_WIRE_TYPE_LAST) {
        return TROUPE_ETYPE;
    }
    if (len < WIRE_PARTS) {
        return TROUPE_EPROTOCOL;
    }
    wire.type = (trp_wire_type_t)type;
    err = trp_pack_read_u64(&view, &wire.cluster);
    if (err == TROUPE_OK) {
        err = wire_take_head(&view, &wire);
    }
    trp_view_t items = view;
    if (err == TROUPE_OK) {
        err = wire_skip(&view, len - WIRE_PARTS + 1);
    }
    if (err != TROUPE_OK || view.size != 0) {
        return TROUPE_EPROTOCOL;
    }
    size_t items_len = 0;
    err = trp_pack_read_array(&items, &items_len);
    if (err != TROUPE_OK) {
        return err;
    }
    /* The view ends where the last item does: what follows is cut off. */
    trp_view_t rest = items;
    err = wire_skip(&rest, items_len);
    if (err != TROUPE_OK) {
        return err;
    }
    items.size -= rest.size;
    *ret_wire = wire;
    *ret_items = items;
    return TROUPE_OK;
}
