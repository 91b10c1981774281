/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The node's event stream: dead letters, overload, slow receivers.
 *
 * An actor subscribes to kinds of events and gets each as a message of type TROUPE_TYPE_EVENT whose
 * body is a troupe_event_t. Events are local to their node; an event that can't be delivered makes no
 * further event. Since 0.1. */

#ifndef TROUPE_EVENTS_H
#define TROUPE_EVENTS_H

#include <troupe/actor.h>

TROUPE_BEGIN_DECLS

/* Why a message was dropped: a closed list, each with a counter. */
#define TROUPE_DROP_TABLE(X)                                                                       \
    X(NO_ACTOR, "no such actor")                                                                   \
    X(STALE, "stale incarnation")                                                                  \
    X(UNKNOWN_NODE, "unknown node")                                                                \
    X(MAILBOX_FULL, "mailbox full")                                                                \
    X(OVERSIZE, "over-size")                                                                       \
    X(UNKNOWN_TYPE, "unknown type")                                                                \
    X(BAD_BODY, "bad body")                                                                        \
    X(LINK_QUEUE_FULL, "link queue full")                                                          \
    X(NODE_UNREACHABLE, "node unreachable")                                                        \
    X(LINK_LOST, "link lost")                                                                      \
    X(STOPPED, "stopped with mail")                                                                \
    X(NO_SUBSCRIBER, "no subscriber")                                                              \
    X(SLOW_SUBSCRIBER, "subscriber too slow")                                                      \
    X(OVERLOAD, "shed by the ceiling")                                                             \
    X(LATE_REPLY, "late reply")                                                                    \
    X(TIMER_CANCELLED, "timer cancelled")                                                          \
    X(NO_MATCH, "nothing matches the path")                                                        \
    X(INIT_FAILED, "init failed")                                                                  \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(PROTOCOL, "protocol violation of a peer")

typedef enum troupe_drop {
#define TROUPE_DROP_ENUM(name, text) TROUPE_DROP_##name,
    TROUPE_DROP_TABLE(TROUPE_DROP_ENUM)
#undef TROUPE_DROP_ENUM
        TROUPE_DROP_LEN
} troupe_drop_t;

/* The reason's text, such as "mailbox full". Static. */
TROUPE_API const char *troupe_drop_text(troupe_drop_t reason);

typedef enum troupe_event_kind {
    TROUPE_EVENT_DEAD_LETTER = 1 << 0,  /* A message was dropped. */
    TROUPE_EVENT_SLOW_RECEIVE = 1 << 1, /* A receive holds its dispatcher too long. */
    TROUPE_EVENT_OVERLOAD = 1 << 2,     /* The ceiling was reached, or is left again (count 0). */
    TROUPE_EVENT_MAILBOX_FULL = 1 << 3, /* A mailbox reached its bound; once an episode. */
    TROUPE_EVENT_FAILURE = 1 << 4,      /* An actor failed; `error` says how. */
    TROUPE_EVENT_LINK = 1 << 5,         /* A link came, went or was refused; `text` says which. */
} troupe_event_kind_t;

#define TROUPE_EVENT_TEXT_SIZE 256

typedef struct troupe_event {
    uint32_t kind;       /* One troupe_event_kind_t. */
    uint32_t reason;     /* troupe_drop_t of dead letters. */
    troupe_ref_t target; /* Whom the message was for, or whom the event is about. */
    troupe_ref_t sender;
    uint64_t count;                    /* Messages dropped, nanoseconds held, bytes: by kind. */
    uint16_t type;                     /* The message's type. */
    uint16_t error;                    /* troupe_err_t. */
    uint32_t text_size;                /* Bytes used of text. */
    char text[TROUPE_EVENT_TEXT_SIZE]; /* Path or topic, escaped, zero-terminated. */
} troupe_event_t;

#define TROUPE_TYPE_EVENT ((troupe_type_t){3})

/* Subscribes the calling actor to the kinds in `mask`, replacing what it had; 0 unsubscribes. */
TROUPE_API troupe_err_t troupe_events_subscribe(troupe_actor_t *self, uint32_t mask);

TROUPE_END_DECLS

#endif
