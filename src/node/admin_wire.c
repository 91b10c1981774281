/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Writes and reads orders and notes. */

#include "node/admin_wire.h"

#include <string.h>

#include "base/assert.h"

#define ADMIN_BLOCK_MAX TRP_ADMIN_ORDER_SIZE_MAX

/* Fields in a row; the first error ends it. */
static troupe_err_t admin_append_blocks(trp_buf_t *out, const trp_view_t *blocks, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = trp_buf_append_block(out, blocks[i].data, blocks[i].size);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t admin_append_numbers(trp_buf_t *out, const uint64_t *numbers, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = trp_buf_append_u64(out, numbers[i]);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t admin_take_blocks(trp_view_t *data, trp_view_t *const *blocks, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = trp_view_take_block(data, ADMIN_BLOCK_MAX, blocks[i]);
        if (err != TROUPE_OK) {
            return TROUPE_EPROTOCOL;
        }
    }
    return data->size == 0 ? TROUPE_OK : TROUPE_EPROTOCOL;
}

static troupe_err_t admin_take_numbers(trp_view_t *data, uint64_t *numbers, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = trp_view_take_u64(data, &numbers[i]);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

troupe_err_t trp_admin_order_write(const trp_admin_order_t *order, trp_buf_t *out)
{
    TRP_ASSERT(order != NULL);
    const uint64_t numbers[] = {order->kind,    order->flags,   order->type, order->timeout_ms,
                                order->wait_ms, order->to.node, order->to.id};
    const trp_view_t blocks[] = {order->topic, order->group, order->body};
    trp_buf_clear(out);
    troupe_err_t err = admin_append_numbers(out, numbers, TRP_ARRAY_LEN(numbers));
    return err == TROUPE_OK ? admin_append_blocks(out, blocks, TRP_ARRAY_LEN(blocks)) : err;
}

troupe_err_t trp_admin_order_read(trp_view_t data, trp_admin_order_t *ret_order)
{
    uint64_t numbers[7];
    trp_admin_order_t order;
    memset(&order, 0, sizeof(order));
    trp_view_t *const blocks[] = {&order.topic, &order.group, &order.body};
    troupe_err_t err = admin_take_numbers(&data, numbers, TRP_ARRAY_LEN(numbers));
    if (err == TROUPE_OK) {
        err = admin_take_blocks(&data, blocks, TRP_ARRAY_LEN(blocks));
    }
    if (err != TROUPE_OK) {
        return err;
    }
    order.kind = (uint8_t)numbers[0];
    order.flags = (uint8_t)numbers[1];
    order.type = (uint16_t)numbers[2];
    order.timeout_ms = (uint32_t)numbers[3];
    order.wait_ms = (uint32_t)numbers[4];
    order.to = (troupe_ref_t){numbers[5], numbers[6]};
    *ret_order = order;
    return TROUPE_OK;
}

troupe_err_t trp_admin_note_write(const trp_admin_note_t *note, trp_buf_t *out)
{
    TRP_ASSERT(note != NULL);
    const uint64_t numbers[] = {note->kind,        note->is_cut,      note->error,
                                note->number,      note->subscribers, note->nodes,
                                note->sender.node, note->sender.id};
    const trp_view_t blocks[] = {note->topic, note->type, note->body};
    trp_buf_clear(out);
    troupe_err_t err = admin_append_numbers(out, numbers, TRP_ARRAY_LEN(numbers));
    return err == TROUPE_OK ? admin_append_blocks(out, blocks, TRP_ARRAY_LEN(blocks)) : err;
}

troupe_err_t trp_admin_note_read(trp_view_t data, trp_admin_note_t *ret_note)
{
    uint64_t numbers[8];
    trp_admin_note_t note;
    memset(&note, 0, sizeof(note));
    trp_view_t *const blocks[] = {&note.topic, &note.type, &note.body};
    troupe_err_t err = admin_take_numbers(&data, numbers, TRP_ARRAY_LEN(numbers));
    if (err == TROUPE_OK) {
        err = admin_take_blocks(&data, blocks, TRP_ARRAY_LEN(blocks));
    }
    if (err != TROUPE_OK) {
        return err;
    }
    note.kind = (uint8_t)numbers[0];
    note.is_cut = numbers[1] != 0;
    note.error = (uint32_t)numbers[2];
    note.number = numbers[3];
    note.subscribers = numbers[4];
    note.nodes = numbers[5];
    note.sender = (troupe_ref_t){numbers[6], numbers[7]};
    *ret_note = note;
    return TROUPE_OK;
}
