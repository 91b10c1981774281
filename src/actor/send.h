/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Sending from a dispatcher's thread. Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_SEND_H
#define TROUPE_ACTOR_SEND_H

#include "actor/deliver.h"

/* A message to be made and sent. */
typedef struct trp_letter_spec {
    troupe_ref_t to;
    uint64_t sender; /* Id; 0: nobody. */
    troupe_type_t type;
    const void *body;
    size_t size;
} trp_letter_spec_t;

/* Makes the message and sends it to this or another node. Errors as troupe_tell. */
troupe_err_t trp_send(trp_dispatcher_t *d, const trp_letter_spec_t *spec);

/* Counts a message that does not fit its type and says why. */
troupe_err_t trp_send_misfit(trp_dispatcher_t *d, const trp_letter_spec_t *spec);

/* Sends one more reference of a shared body, of which the caller keeps its own. */
troupe_err_t trp_send_shared(trp_dispatcher_t *d, troupe_ref_t to, uint64_t sender,
                             trp_body_t *body);

/* Sends a cell on to another receiver, of any node, with its sender kept. Takes it over. */
void trp_send_on(trp_dispatcher_t *d, trp_message_t *message, troupe_ref_t to);

/* Sends a copy of a message that is being handled, with its sender. */
void trp_send_copy(trp_dispatcher_t *d, trp_message_t *message, troupe_ref_t to);

/* A message as its receiver sees it. */
static inline troupe_message_t trp_message_view(const trp_dispatcher_t *d, trp_message_t *message)
{
    troupe_message_t view = {
        .sender = trp_message_sender(d, message),
        .body = trp_message_payload(message),
        .size = message->size,
        .type = {message->type},
    };
    if (TRP_UNLIKELY((message->flags & TRP_MESSAGE_SHARED) != 0)) {
        const trp_body_t *body = *(trp_body_t *const *)view.body;
        view.body = body->is_object ? body->object : trp_body_bytes(body);
    }
    return view;
}

#endif
