/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A dispatcher's outbox: what it keeps for each node that it sends to. Envelopes are written straight
 * into an open frame, which goes to the link thread when it is full and at the end of a round.
 *
 *     dispatcher -> outbox -> out (one a peer): open frame, what is defined, who is parked
 *
 * All envelopes of one dispatcher to one peer are in one stream, so what one actor sends to another
 * stays in order whatever it is: a tell, a publish, the news of its end.
 *
 * Thread rule: the owner dispatcher, unless a function says otherwise. */

#ifndef TROUPE_LINK_OUTBOX_H
#define TROUPE_LINK_OUTBOX_H

#include "actor/dispatcher.h"
#include "net/link/hold.h"
#include "net/link/state.h"

#define TRP_OUTBOX_NAME_PAGE 4096u

struct trp_out {
    uint64_t uid;
    trp_peer_t *peer;      /* Reference. */
    trp_frame_t *frame;    /* Open; NULL: none. */
    trp_out_t *next_dirty; /* In the list of those with an open frame. */
    bool is_dirty;
    uint32_t size_flushed; /* Size of the open frame when a flush left it open. */
    uint32_t epoch;        /* Of the peer, as of the last look; what was defined before is void. */
    trp_parking_t parking;
    _Atomic uint32_t open_user; /* Envelopes in the open frame; the link thread reads. */
    _Atomic uint32_t open_system;
    uint64_t types[TRP_LINK_TYPES_MAX / 64]; /* Defined for the peer, a bit each. */
    uint32_t *names[TRP_LINK_NAMES_MAX / TRP_OUTBOX_NAME_PAGE]; /* Generations defined, by id. */
};

typedef struct trp_outbox_slot {
    uint64_t uid; /* 0: free. */
    trp_out_t *out;
} trp_outbox_slot_t;

typedef struct trp_outbox {
    trp_link_t *link;
    trp_dispatcher_t *d;
    trp_out_t *last; /* The one used last. */
    trp_out_t *dirty;
    trp_outbox_slot_t *slots; /* Open addressing, a power of two, at most half full. */
    uint32_t capacity;
    uint32_t len;
    trp_holds_t holds; /* Mail that waits behind bulk bodies. */
} trp_outbox_t;

/* Hooks and port of the runtime. */
troupe_err_t trp_outbox_attach(void *context, trp_dispatcher_t *d);
void trp_outbox_detach(void *context, trp_dispatcher_t *d);
trp_remote_verdict_t trp_outbox_send(void *context, trp_dispatcher_t *d, const trp_outgoing_t *out);
void trp_outbox_flush(void *context, trp_dispatcher_t *d);

static inline trp_outbox_t *trp_outbox_of(trp_dispatcher_t *d)
{
    return d->ext[TRP_EXT_LINK];
}

/* The out to that node. NULL: see ret_reason. */
trp_out_t *trp_outbox_find_slow(trp_outbox_t *outbox, uint64_t uid, troupe_drop_t *ret_reason);

/* An open frame with room for the largest envelope and its definitions; NULL without memory. */
trp_frame_t *trp_outbox_open(trp_outbox_t *outbox, trp_out_t *out);
/* Counts an envelope that was written into the open frame, and hands the frame over when it is full. */
void trp_outbox_wrote(trp_outbox_t *outbox, trp_out_t *out, size_t size, bool is_system);
/* Gives a frame to the link thread. */
void trp_outbox_hand_over(trp_outbox_t *outbox, trp_out_t *out, trp_frame_t *frame);

/* Tells a dispatcher to let its parked senders go. The link thread. */
void trp_outbox_post_release(trp_link_t *link, trp_peer_t *peer, uint32_t index);

#endif
