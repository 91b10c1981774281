/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What a link tells of its peers. Thread rule: an event belongs to the call that it is given in. */

#ifndef TROUPE_LINK_EVENT_H
#define TROUPE_LINK_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

typedef struct trp_dispatcher trp_dispatcher_t;

typedef enum trp_link_event_kind {
    TRP_LINK_EVENT_UP = 1,   /* A session stands. */
    TRP_LINK_EVENT_LOST,     /* It doesn't any more; `reason` says why. */
    TRP_LINK_EVENT_REPLACED, /* Another incarnation listens at its address: it is gone for good. */
    TRP_LINK_EVENT_BYE,      /* It said that it stops. */
    TRP_LINK_EVENT_REFUSED,  /* A handshake was refused, by them or by us. */
    TRP_LINK_EVENT_FAILED,   /* An address could not be reached; dialled again later. */
    TRP_LINK_EVENT_STALLED,  /* It takes nothing any more; once an episode. */
    TRP_LINK_EVENT_RESUMED,
    TRP_LINK_EVENT_DIALLED, /* Whoever was dialled at `address` is `uid`, maybe this node itself. */
} trp_link_event_kind_t;

typedef struct trp_link_event {
    trp_link_event_kind_t kind;
    troupe_err_t reason;
    uint64_t uid;      /* 0 when not known. */
    bool by_us;        /* REFUSED: we refused them. */
    char name[64];     /* The node's, cut off. */
    char address[304]; /* Advertised, or the one dialled. */
    char text[208];    /* For people, printable. */
} trp_link_event_t;

typedef void (*trp_link_event_fn)(void *context, trp_dispatcher_t *d,
                                  const trp_link_event_t *event);

#endif
