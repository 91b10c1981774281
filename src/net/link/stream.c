/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Numbering, keeping and letting go of a lane's frames. */

#include "net/link/stream.h"

#include "base/assert.h"

void trp_stream_init(trp_stream_t *stream)
{
    *stream = (trp_stream_t){NULL, NULL, NULL, 0, 0, 0, 0, 0};
}

void trp_stream_push(trp_stream_t *stream, trp_frame_t *frame)
{
    TRP_ASSERT(trp_frame_len(frame) > 0);
    frame->next = NULL;
    if (stream->last != NULL) {
        stream->last->next = frame;
    } else {
        stream->first = frame;
    }
    stream->last = frame;
    if (stream->unsent == NULL) {
        stream->unsent = frame;
    }
    stream->waiting_size += frame->size;
    stream->user_len += frame->user_len;
    stream->system_len += frame->system_len;
}

trp_frame_t *trp_stream_next(trp_stream_t *stream)
{
    trp_frame_t *frame = stream->unsent;
    if (frame == NULL) {
        return NULL;
    }
    if (!frame->has_sequence) {
        frame->has_sequence = true;
        frame->sequence = stream->next_sequence;
        stream->next_sequence += trp_frame_len(frame);
        trp_frame_header_t header = {
            .kind = TRP_FRAME_DATA,
            .lane = frame->lane,
            .count = trp_frame_len(frame),
            .sequence = frame->sequence,
        };
        trp_wire_put_frame(frame->data, &header);
    }
    stream->unsent = frame->next;
    TRP_ASSERT(stream->waiting_size >= frame->size);
    stream->waiting_size -= frame->size;
    return frame;
}

/* Takes the first frame out, adds it to the tally and lets it go. */
static void stream_drop_first(trp_stream_t *stream, trp_stream_tally_t *tally)
{
    trp_frame_t *frame = stream->first;
    if (stream->unsent == frame) {
        stream->unsent = frame->next;
        stream->waiting_size -= frame->size;
    }
    stream->first = frame->next;
    if (stream->first == NULL) {
        stream->last = NULL;
    }
    stream->user_len -= frame->user_len;
    stream->system_len -= frame->system_len;
    tally->user += frame->user_len;
    tally->system += frame->system_len;
    tally->size += frame->size;
    trp_frame_unref(frame);
}

troupe_err_t trp_stream_ack(trp_stream_t *stream, uint64_t taken, trp_stream_tally_t *tally)
{
    if (taken < stream->acked) {
        return TROUPE_OK; /* An older one that was overtaken. */
    }
    if (taken > stream->next_sequence) {
        return TROUPE_EPROTOCOL;
    }
    trp_frame_t *frame = stream->first;
    while (frame != NULL && frame->has_sequence &&
           frame->sequence + trp_frame_len(frame) <= taken) {
        stream->acked = frame->sequence + trp_frame_len(frame);
        stream_drop_first(stream, tally);
        frame = stream->first;
    }
    return stream->acked == taken ? TROUPE_OK : TROUPE_EPROTOCOL;
}

uint64_t trp_stream_rewind(trp_stream_t *stream)
{
    uint64_t size = 0;
    for (trp_frame_t *frame = stream->first; frame != stream->unsent; frame = frame->next) {
        size += frame->size;
    }
    stream->unsent = stream->first;
    stream->waiting_size += size;
    return size;
}

void trp_stream_clear(trp_stream_t *stream, trp_stream_tally_t *sent, trp_stream_tally_t *unsent)
{
    while (stream->first != NULL) {
        /* A number means that the frame was sent once, on this session or another. */
        stream_drop_first(stream, stream->first->has_sequence ? sent : unsent);
    }
    TRP_ASSERT(stream->waiting_size == 0);
    TRP_ASSERT(stream->user_len == 0 && stream->system_len == 0);
    stream->acked = stream->next_sequence;
}

trp_take_t trp_stream_judge(uint64_t next, uint64_t sequence, uint32_t count)
{
    if (sequence == next) {
        return TRP_TAKE_NEW;
    }
    /* Frames are taken whole, so one that begins earlier must also end there. */
    if (sequence < next && count <= next - sequence) {
        return TRP_TAKE_DUPLICATE;
    }
    return TRP_TAKE_GAP;
}
