/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* From received frames to mailboxes. The link thread gives a frame to every dispatcher that has
 * something in it; each walks over it and delivers what is its own.
 *
 * Thread rule: functions say so. */

#ifndef TROUPE_LINK_DELIVER_H
#define TROUPE_LINK_DELIVER_H

#include "net/link/state.h"

/* ---- the link thread ------------------------------------------------------------------------- */

/* Takes over the message, which holds a checked frame, and gives it to the dispatchers in the mask.
 * ENOMEM: nothing was given, and the message is still the caller's. */
troupe_err_t trp_deliver_post_frame(trp_link_t *link, trp_peer_t *peer, zmq_msg_t *message,
                                    const uint64_t mask[TRP_LINK_MASK_WORDS]);

/* Gives a bulk body (NULL: it will not come) to the dispatchers that wait for it. */
void trp_deliver_post_bulk(trp_link_t *link, trp_peer_t *peer, uint64_t bulk_id, trp_body_t *body,
                           const uint64_t mask[TRP_LINK_MASK_WORDS]);

/* A frame that all dispatchers have let go has come back. */
void trp_deliver_returned(trp_link_t *link, trp_received_t *received);
/* Frees the cells of received frames. */
void trp_deliver_fini(trp_link_t *link);

/* ---- dispatchers ----------------------------------------------------------------------------- */

/* What a dispatcher gets of a bulk body. */
typedef struct trp_deliver_bulk {
    uint64_t uid;
    uint64_t bulk_id;
    trp_body_t *body; /* Reference; NULL: it will not come. */
} trp_deliver_bulk_t;

/* Tasks. The payloads: a pointer to a trp_received_t; a trp_deliver_bulk_t. */
void trp_deliver_on_frame(trp_dispatcher_t *d, void *payload, size_t size);
void trp_deliver_on_bulk(trp_dispatcher_t *d, void *payload, size_t size);

/* A dispatcher is done with a frame. Any thread. */
void trp_received_unref(trp_received_t *received);

#endif
