/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A stream: the frames of one lane to one peer, numbered for the whole life of both incarnations.
 *
 *     acked          sent, kept            waiting
 *     --------|--[f]--[f]--[f]--|--[f]--[f]--[f]--
 *             ^ taken by the peer   ^ next to send on the present session
 *
 * When a session ends, what was sent on it and not acknowledged becomes the first that waits again. The
 * peer of the next session says what it has taken, and the rest is sent with the same numbers; so what
 * is between two nodes that live is neither lost nor doubled by a broken connection.
 *
 * Thread rule: the link thread (in tests, any one). */

#ifndef TROUPE_LINK_STREAM_H
#define TROUPE_LINK_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "net/link/frame.h"

typedef struct trp_stream {
    trp_frame_t *first; /* All frames, oldest first; owned. */
    trp_frame_t *last;
    trp_frame_t *unsent;    /* The first that was not sent on this session; NULL: all were. */
    uint64_t next_sequence; /* For the next frame that gets a number. */
    uint64_t acked;         /* The peer has taken all envelopes below it. */
    uint64_t waiting_size;  /* Bytes from `unsent` on. */
    uint64_t user_len;      /* Envelopes in it, by kind. */
    uint64_t system_len;
} trp_stream_t;

/* Envelopes that left a stream. */
typedef struct trp_stream_tally {
    uint64_t user;
    uint64_t system;
    uint64_t size; /* Bytes of the frames. */
} trp_stream_tally_t;

void trp_stream_init(trp_stream_t *stream);

/* Takes over the caller's reference. */
void trp_stream_push(trp_stream_t *stream, trp_frame_t *frame);

/* The next frame to send, numbered; it stays in the stream. NULL when nothing waits. */
trp_frame_t *trp_stream_next(trp_stream_t *stream);

/* The peer has taken all below `taken`. Lets those frames go and adds them to the tally. EPROTOCOL when
 * that is more than was sent, or in the middle of a frame. */
troupe_err_t trp_stream_ack(trp_stream_t *stream, uint64_t taken, trp_stream_tally_t *tally);

/* The session has ended: all frames wait again. Returns the bytes of those that had been sent. */
uint64_t trp_stream_rewind(trp_stream_t *stream);

/* Lets all frames go: into `sent` those that may have reached the peer, into `unsent` the others. */
void trp_stream_clear(trp_stream_t *stream, trp_stream_tally_t *sent, trp_stream_tally_t *unsent);

/* ---- the receiving side ---------------------------------------------------------------------- */

typedef enum trp_take {
    TRP_TAKE_NEW,       /* The next: to be taken. */
    TRP_TAKE_DUPLICATE, /* Was taken before: to be skipped. */
    TRP_TAKE_GAP,       /* Something is missing before it: the session is broken. */
} trp_take_t;

/* Judges a frame by its numbers, against what was taken of the lane so far. */
trp_take_t trp_stream_judge(uint64_t next, uint64_t sequence, uint32_t count);

#endif
