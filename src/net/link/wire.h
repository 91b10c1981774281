/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The bytes of frames and envelopes (docs/wire.md specifies them for others).
 *
 *     frame:    "TRP" version | kind | lane | flags | first sequence | count | 0   24 bytes
 *     envelope: size | kind | flags | type | target | sender                       24 bytes
 *               [sender's node] [trace id, deadline] [token]  body, padded to 8
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_LINK_WIRE_H
#define TROUPE_LINK_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/bytes.h"
#include "base/view.h"
#include "net/link/limits.h"

#define TRP_WIRE_VERSION 1u     /* Of the frame layout; a peer with another one is refused. */
#define TRP_WIRE_FRAME_SIZE 24u /* Bytes of a frame's header. */
#define TRP_WIRE_ENVELOPE_SIZE 24u
#define TRP_WIRE_ENVELOPE_EXTRA_MAX 40u /* All optional words. */
#define TRP_WIRE_ALIGN 8u

typedef enum trp_frame_kind {
    TRP_FRAME_HELLO = 1, /* First on a control connection. */
    TRP_FRAME_WELCOME,   /* Proves that the peer's nonce arrived; first on the other lanes. */
    TRP_FRAME_REFUSE,
    TRP_FRAME_DATA, /* Envelopes. */
    TRP_FRAME_ACK,  /* What was taken and released. */
    TRP_FRAME_PING,
    TRP_FRAME_PONG,
    TRP_FRAME_SERVICE,  /* A message of a control service. */
    TRP_FRAME_CHUNK,    /* A piece of a bulk body. */
    TRP_FRAME_BULK_END, /* The receiver is done with a bulk body. */
    TRP_FRAME_BYE,      /* The peer stops. */
    TRP_FRAME_KIND_LEN,
} trp_frame_kind_t;

typedef enum trp_lane {
    TRP_LANE_CONTROL = 0,
    TRP_LANE_ORDINARY = 1,
    TRP_LANE_BULK = 2,
    TRP_LANE_LEN,
} trp_lane_t;

typedef struct trp_frame_header {
    uint8_t kind;
    uint8_t lane;
    uint16_t flags;
    uint32_t count;    /* Numbered envelopes. */
    uint64_t sequence; /* Of the first of them. Other kinds use it as they say. */
} trp_frame_header_t;

typedef enum trp_envelope_kind {
    TRP_ENVELOPE_USER = 1,
    TRP_ENVELOPE_SYSTEM, /* `type` is the system message's kind. */
    TRP_ENVELOPE_TOPIC,  /* `target` is topic number | second number << 32. */
    TRP_ENVELOPE_TYPE,   /* Defines `type`. Not numbered. */
    TRP_ENVELOPE_NAME,   /* Defines the number in `target`. Not numbered. */
    TRP_ENVELOPE_VOID,   /* Written by the receiving link over what can't be delivered. */
    TRP_ENVELOPE_KIND_LEN,
} trp_envelope_kind_t;

enum {
    TRP_ENVELOPE_FOREIGN = 1 << 0, /* The sender is of a third node: its uid follows. */
    TRP_ENVELOPE_TRACE = 1 << 1,   /* A trace id of 16 bytes and a deadline of 8 follow. */
    TRP_ENVELOPE_TOKEN = 1 << 2,   /* A word for the receiving room follows. */
    TRP_ENVELOPE_STANDIN = 1 << 3, /* The body is a trp_standin: the real one comes by bulk. */
    TRP_ENVELOPE_FLAGS = (1 << 4) - 1,
    /* Bits 4 to 7: the route of a topic envelope, for the rooms above. */
    TRP_ENVELOPE_ROUTE_SHIFT = 4,
};

typedef struct trp_envelope {
    uint32_t size; /* Bytes of the body. */
    uint8_t kind;
    uint8_t flags;
    uint16_t type;
    uint64_t target;
    uint64_t sender;
    uint64_t sender_node; /* With FOREIGN. */
    uint64_t trace[2];    /* With TRACE. */
    uint64_t deadline_ms;
    uint64_t token; /* With TOKEN. */
} trp_envelope_t;

/* The body of an envelope whose real one comes through the bulk lane. */
#define TRP_WIRE_STANDIN_SIZE 16u
typedef struct trp_standin {
    uint64_t bulk_id;
    uint64_t size;
} trp_standin_t;

/* The rest of a chunk frame's header: after it come the bytes, in a message part of their own. */
#define TRP_WIRE_CHUNK_SIZE (TRP_WIRE_FRAME_SIZE + 32u)
typedef struct trp_chunk {
    uint64_t bulk_id;
    uint64_t size;   /* Of the whole body. */
    uint64_t offset; /* Of this piece. */
    uint64_t floor;  /* Ids below are finished for the sender. */
} trp_chunk_t;

#define TRP_WIRE_ACK_SIZE (TRP_WIRE_FRAME_SIZE + 32u)
typedef struct trp_ack {
    uint64_t taken_ordinary; /* Sequence after the last envelope taken. */
    uint64_t taken_control;
    uint64_t released;      /* Bytes of frames of this session released by dispatchers. */
    uint64_t bulk_released; /* Bytes of chunks of this session. */
} trp_ack_t;

/* ---- frames ---------------------------------------------------------------------------------- */

void trp_wire_put_frame(uint8_t *out, const trp_frame_header_t *header);

/* Reads and checks a header. EPROTOCOL when it is cut off, no frame of ours or of an unknown kind or
 * lane; EVERSION when its layout is of another version. */
troupe_err_t trp_wire_get_frame(trp_view_t view, trp_frame_header_t *ret_header);

/* Writes count and first sequence into a header that was put before. */
static inline void trp_wire_patch_frame(uint8_t *frame, uint64_t sequence, uint32_t count)
{
    trp_store_le64(frame + 8, sequence);
    trp_store_le32(frame + 16, count);
}

/* ---- envelopes ------------------------------------------------------------------------------- */

/* Bytes of the optional words that follow the fixed header. */
static inline uint32_t trp_wire_extra(uint8_t flags)
{
    return (uint32_t)(flags & TRP_ENVELOPE_FOREIGN) * 8u +
           (uint32_t)((flags & TRP_ENVELOPE_TRACE) >> 1) * 24u +
           (uint32_t)((flags & TRP_ENVELOPE_TOKEN) >> 2) * 8u;
}

static inline size_t trp_wire_pad(size_t size)
{
    return (size + (TRP_WIRE_ALIGN - 1)) & ~(size_t)(TRP_WIRE_ALIGN - 1);
}

/* Bytes of a whole envelope with its padding. */
static inline size_t trp_wire_envelope_size(uint8_t flags, size_t body_size)
{
    return trp_wire_pad(TRP_WIRE_ENVELOPE_SIZE + trp_wire_extra(flags) + body_size);
}

/* Writes the fixed part: the hot path's way. */
static inline void trp_wire_put_fixed(uint8_t *out, uint32_t size, uint32_t kind_flags_type,
                                      uint64_t target, uint64_t sender)
{
    trp_store_le32(out, size);
    trp_store_le32(out + 4, kind_flags_type);
    trp_store_le64(out + 8, target);
    trp_store_le64(out + 16, sender);
}

static inline uint32_t trp_wire_kind_word(uint8_t kind, uint8_t flags, uint16_t type)
{
    return (uint32_t)kind | (uint32_t)flags << 8 | (uint32_t)type << 16;
}

/* Writes header and optional words; returns where the body goes. The caller has made sure of room. */
uint8_t *trp_wire_put_envelope(uint8_t *out, const trp_envelope_t *envelope);

/* Reads an envelope off the front of the view; the body is borrowed. EPROTOCOL when it is cut off or
 * of an unknown kind. */
troupe_err_t trp_wire_take_envelope(trp_view_t *view, trp_envelope_t *ret_envelope,
                                    trp_view_t *ret_body);

/* Body of a TYPE envelope: version 8, name. Body of a NAME envelope: generation 4, space 1, name. */
#define TRP_WIRE_TYPE_DEFINITION_SIZE 8u
#define TRP_WIRE_NAME_DEFINITION_SIZE 5u

void trp_wire_put_ack(uint8_t out[TRP_WIRE_ACK_SIZE], const trp_ack_t *ack);
troupe_err_t trp_wire_get_ack(trp_view_t frame, trp_ack_t *ret_ack);

void trp_wire_put_chunk(uint8_t out[TRP_WIRE_CHUNK_SIZE], const trp_chunk_t *chunk);
troupe_err_t trp_wire_get_chunk(trp_view_t frame, trp_chunk_t *ret_chunk);

static inline void trp_wire_put_standin(uint8_t *out, const trp_standin_t *standin)
{
    trp_store_le64(out, standin->bulk_id);
    trp_store_le64(out + 8, standin->size);
}

static inline trp_standin_t trp_wire_get_standin(const uint8_t *body)
{
    trp_standin_t standin = {trp_load_le64(body), trp_load_le64(body + 8)};
    return standin;
}

#endif
