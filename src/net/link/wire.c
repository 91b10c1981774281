/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reading and writing of frames and envelopes. */

#include "net/link/wire.h"

#include <string.h>

#include "base/assert.h"

static const uint8_t wire_magic[4] = {'T', 'R', 'P', TRP_WIRE_VERSION};

void trp_wire_put_frame(uint8_t *out, const trp_frame_header_t *header)
{
    TRP_ASSERT(header->kind > 0 && header->kind < TRP_FRAME_KIND_LEN);
    memcpy(out, wire_magic, sizeof(wire_magic));
    out[4] = header->kind;
    out[5] = header->lane;
    trp_store_le16(out + 6, header->flags);
    trp_store_le64(out + 8, header->sequence);
    trp_store_le32(out + 16, header->count);
    trp_store_le32(out + 20, 0);
}

troupe_err_t trp_wire_get_frame(trp_view_t view, trp_frame_header_t *ret_header)
{
    if (view.size < TRP_WIRE_FRAME_SIZE || memcmp(view.data, wire_magic, 3) != 0) {
        return TROUPE_EPROTOCOL;
    }
    if (view.data[3] != TRP_WIRE_VERSION) {
        return TROUPE_EVERSION;
    }
    trp_frame_header_t header = {
        .kind = view.data[4],
        .lane = view.data[5],
        .flags = trp_load_le16(view.data + 6),
        .sequence = trp_load_le64(view.data + 8),
        .count = trp_load_le32(view.data + 16),
    };
    if (header.kind == 0 || header.kind >= TRP_FRAME_KIND_LEN || header.lane >= TRP_LANE_LEN) {
        return TROUPE_EPROTOCOL;
    }
    *ret_header = header;
    return TROUPE_OK;
}

uint8_t *trp_wire_put_envelope(uint8_t *out, const trp_envelope_t *envelope)
{
    TRP_ASSERT(envelope->kind > 0 && envelope->kind < TRP_ENVELOPE_KIND_LEN);
    trp_wire_put_fixed(out, envelope->size,
                       trp_wire_kind_word(envelope->kind, envelope->flags, envelope->type),
                       envelope->target, envelope->sender);
    out += TRP_WIRE_ENVELOPE_SIZE;
    if ((envelope->flags & TRP_ENVELOPE_FOREIGN) != 0) {
        trp_store_le64(out, envelope->sender_node);
        out += 8;
    }
    if ((envelope->flags & TRP_ENVELOPE_TRACE) != 0) {
        trp_store_le64(out, envelope->trace[0]);
        trp_store_le64(out + 8, envelope->trace[1]);
        trp_store_le64(out + 16, envelope->deadline_ms);
        out += 24;
    }
    if ((envelope->flags & TRP_ENVELOPE_TOKEN) != 0) {
        trp_store_le64(out, envelope->token);
        out += 8;
    }
    return out;
}

/* Reads the optional words that `flags` announces. */
static void wire_get_extra(const uint8_t *in, trp_envelope_t *envelope)
{
    if ((envelope->flags & TRP_ENVELOPE_FOREIGN) != 0) {
        envelope->sender_node = trp_load_le64(in);
        in += 8;
    }
    if ((envelope->flags & TRP_ENVELOPE_TRACE) != 0) {
        envelope->trace[0] = trp_load_le64(in);
        envelope->trace[1] = trp_load_le64(in + 8);
        envelope->deadline_ms = trp_load_le64(in + 16);
        in += 24;
    }
    if ((envelope->flags & TRP_ENVELOPE_TOKEN) != 0) {
        envelope->token = trp_load_le64(in);
    }
}

troupe_err_t trp_wire_take_envelope(trp_view_t *view, trp_envelope_t *ret_envelope,
                                    trp_view_t *ret_body)
{
    if (view->size < TRP_WIRE_ENVELOPE_SIZE) {
        return TROUPE_EPROTOCOL;
    }
    const uint8_t *in = view->data;
    trp_envelope_t envelope = {
        .size = trp_load_le32(in),
        .kind = in[4],
        .flags = in[5],
        .type = trp_load_le16(in + 6),
        .target = trp_load_le64(in + 8),
        .sender = trp_load_le64(in + 16),
    };
    size_t whole = trp_wire_envelope_size(envelope.flags, envelope.size);
    if (whole > view->size || envelope.kind == 0 || envelope.kind >= TRP_ENVELOPE_KIND_LEN) {
        return TROUPE_EPROTOCOL;
    }
    if ((envelope.flags & TRP_ENVELOPE_STANDIN) != 0 && envelope.size != TRP_WIRE_STANDIN_SIZE) {
        return TROUPE_EPROTOCOL;
    }
    wire_get_extra(in + TRP_WIRE_ENVELOPE_SIZE, &envelope);
    *ret_body =
        trp_view_make(in + TRP_WIRE_ENVELOPE_SIZE + trp_wire_extra(envelope.flags), envelope.size);
    view->data += whole;
    view->size -= whole;
    *ret_envelope = envelope;
    return TROUPE_OK;
}

void trp_wire_put_ack(uint8_t out[TRP_WIRE_ACK_SIZE], const trp_ack_t *ack)
{
    trp_frame_header_t header = {.kind = TRP_FRAME_ACK, .lane = TRP_LANE_CONTROL};
    trp_wire_put_frame(out, &header);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE, ack->taken_ordinary);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE + 8, ack->taken_control);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE + 16, ack->released);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE + 24, ack->bulk_released);
}

troupe_err_t trp_wire_get_ack(trp_view_t frame, trp_ack_t *ret_ack)
{
    if (frame.size < TRP_WIRE_ACK_SIZE) {
        return TROUPE_EPROTOCOL;
    }
    const uint8_t *in = frame.data + TRP_WIRE_FRAME_SIZE;
    *ret_ack = (trp_ack_t){trp_load_le64(in), trp_load_le64(in + 8), trp_load_le64(in + 16),
                           trp_load_le64(in + 24)};
    return TROUPE_OK;
}

void trp_wire_put_chunk(uint8_t out[TRP_WIRE_CHUNK_SIZE], const trp_chunk_t *chunk)
{
    trp_frame_header_t header = {.kind = TRP_FRAME_CHUNK, .lane = TRP_LANE_BULK};
    trp_wire_put_frame(out, &header);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE, chunk->bulk_id);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE + 8, chunk->size);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE + 16, chunk->offset);
    trp_store_le64(out + TRP_WIRE_FRAME_SIZE + 24, chunk->floor);
}

troupe_err_t trp_wire_get_chunk(trp_view_t frame, trp_chunk_t *ret_chunk)
{
    if (frame.size < TRP_WIRE_CHUNK_SIZE) {
        return TROUPE_EPROTOCOL;
    }
    const uint8_t *in = frame.data + TRP_WIRE_FRAME_SIZE;
    *ret_chunk = (trp_chunk_t){trp_load_le64(in), trp_load_le64(in + 8), trp_load_le64(in + 16),
                               trp_load_le64(in + 24)};
    return TROUPE_OK;
}
