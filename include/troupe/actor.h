/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Actors: behaviors, spawning, telling, stopping, supervision, watching.
 *
 * An actor lives on one dispatcher thread for life. Its callbacks never run at the same time as each
 * other, and never on another thread. `troupe_actor_t *self` is the actor's own context: it is valid
 * inside the actor's callbacks only, and every function that takes it must be called there. Called on
 * another thread they return TROUPE_ETHREAD in builds with checks and are undefined otherwise.
 *
 * Messages from one sender to one receiver arrive in the order they were sent, on one node and across
 * links. Delivery is at most once; what can't be delivered is counted and reported as a dead letter
 * with its reason (see <troupe/events.h>). Since 0.1. */

#ifndef TROUPE_ACTOR_H
#define TROUPE_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/api.h>
#include <troupe/error.h>
#include <troupe/ref.h>
#include <troupe/type.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_actor troupe_actor_t;

/* A message as its receiver sees it; valid until the callback returns. */
typedef struct troupe_message {
    troupe_ref_t sender; /* Who to answer; none when nobody is to be answered. */
    const void *body;    /* The bytes, or the object of an object type. Immutable. */
    size_t size;         /* Bytes of the body; 0 for objects. */
    troupe_type_t type;
} troupe_message_t;

typedef enum troupe_signal_kind {
    TROUPE_SIGNAL_TERMINATED = 1,      /* A watched actor has ended. Told once. */
    TROUPE_SIGNAL_CHILD_ENDED = 2,     /* A child has ended; its name is free again. */
    TROUPE_SIGNAL_RECEIVE_TIMEOUT = 3, /* No message came for the time set. */
    TROUPE_SIGNAL_HOLD_EXPIRED = 4,    /* A hold reached its deadline and was released. */
} troupe_signal_kind_t;

typedef struct troupe_signal {
    troupe_signal_kind_t kind;
    troupe_err_t reason; /* OK: stopped by itself or asked to. EUNREACHABLE: its node went. */
    troupe_ref_t who;
} troupe_signal_t;

/* What a supervisor decides about a child that failed. */
typedef enum troupe_directive {
    TROUPE_RESUME = 1, /* Keep the state, take the next message. */
    TROUPE_RESTART,    /* Stop its children, stop and init again; the mailbox is kept. */
    TROUPE_STOP,
    TROUPE_ESCALATE, /* The supervisor fails in its turn. */
} troupe_directive_t;

typedef struct troupe_failure {
    troupe_ref_t child;
    troupe_err_t error;     /* What its callback returned. */
    uint32_t restart_count; /* Restarts of this child within the window so far. */
} troupe_failure_t;

/* What an actor is. Static and immutable for the life of the node. Callbacks must not block; long
 * work goes through troupe_offload. Any callback but `receive` may be NULL. */
typedef struct troupe_behavior {
    size_t size;       /* sizeof(troupe_behavior_t) */
    const char *name;  /* For logs and tools. */
    size_t state_size; /* Bytes of state, zeroed before each init; 16-byte aligned. */
    /* Builds the state, at spawn and at each restart. An error at spawn ends the actor (its parent is
     * told); at a restart it counts as another failure. `args` is the spawner's, copied. */
    troupe_err_t (*init)(troupe_actor_t *self, void *state, const void *args);
    /* Handles one message. Anything but TROUPE_OK is a failure and goes to the supervisor. */
    troupe_err_t (*receive)(troupe_actor_t *self, void *state, const troupe_message_t *message);
    /* Told of watched actors, children, time-outs. An error is a failure as in receive. */
    troupe_err_t (*signal)(troupe_actor_t *self, void *state, const troupe_signal_t *signal);
    /* Decides about a failed child; NULL leaves it to the spawn option's supervision. */
    troupe_directive_t (*supervise)(troupe_actor_t *self, void *state,
                                    const troupe_failure_t *failure);
    /* Ends the state: before each restart and at the end. May send; can't spawn. */
    void (*stop)(troupe_actor_t *self, void *state, troupe_err_t reason);
} troupe_behavior_t;

typedef enum troupe_overflow {
    TROUPE_OVERFLOW_DROP_NEWEST = 0,
    TROUPE_OVERFLOW_DROP_OLDEST = 1,
} troupe_overflow_t;

/* How an actor supervises its children. */
typedef struct troupe_supervision {
    troupe_directive_t directive; /* 0: TROUPE_RESTART. */
    bool all_for_one;             /* The directive is applied to all children. */
    uint32_t restarts_max;        /* Within `window_ms`; more stop the child. 0: 10. */
    uint32_t window_ms;           /* 0: 60,000. */
    uint32_t backoff_min_ms;      /* Delay before a restart, doubling up to max; 0: none. */
    uint32_t backoff_max_ms;
} troupe_supervision_t;

#define TROUPE_PLACE_DEFAULT 0u            /* actor id % dispatchers of the group. */
#define TROUPE_PLACE_SAME 1u               /* The spawner's own dispatcher. */
#define TROUPE_PLACE(index) ((index) + 2u) /* The group's dispatcher of that index. */

typedef struct troupe_spawn_options {
    size_t size;      /* sizeof(troupe_spawn_options_t) */
    const char *name; /* Unique among the parent's children; NULL: made from the id. Copied. */
    const void *args; /* Given to init; copied, `args_size` bytes, kept for restarts. */
    size_t args_size;
    uint32_t place;           /* TROUPE_PLACE_*. */
    const char *group;        /* Dispatcher group; NULL: "default". */
    uint32_t mailbox_len_max; /* 0: 1,000,000 messages. */
    size_t mailbox_size_max;  /* Bytes; 0: 64 MiB. */
    troupe_overflow_t overflow;
    troupe_supervision_t supervision;
} troupe_spawn_options_t;

#define TROUPE_SPAWN_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(troupe_spawn_options_t), 0, 0, 0, 0, 0, 0, 0, TROUPE_OVERFLOW_DROP_NEWEST,          \
        {                                                                                          \
            (troupe_directive_t)0, false, 0, 0, 0, 0                                               \
        }                                                                                          \
    }

#define TROUPE_NAME_SIZE_MAX 255  /* Bytes of an actor's name before percent-encoding. */
#define TROUPE_PATH_SIZE_MAX 2048 /* Bytes of a path in text. */

/* ---- spawning ------------------------------------------------------------------------------- */

/* Makes a child of `self`. The reference is good at once; messages sent to it before its init has run
 * wait for it. `options` may be NULL. EEXIST: the name is taken; EFULL: no slot is free; ESTOPPED: a
 * stopping actor can't spawn; ENOENT: no such dispatcher group or place; EINVAL; ENOMEM. */
TROUPE_API troupe_err_t troupe_spawn(troupe_actor_t *self, const troupe_behavior_t *behavior,
                                     const troupe_spawn_options_t *options, troupe_ref_t *ret_ref);

TROUPE_API troupe_ref_t troupe_self(const troupe_actor_t *self);
TROUPE_API troupe_ref_t troupe_parent(const troupe_actor_t *self);
/* The sender of the message being handled; none outside receive. */
TROUPE_API troupe_ref_t troupe_sender(const troupe_actor_t *self);
TROUPE_API size_t troupe_children_len(const troupe_actor_t *self);
/* Copies up to `capacity` children to `ret_refs`; returns how many. */
TROUPE_API size_t troupe_children(const troupe_actor_t *self, troupe_ref_t *ret_refs,
                                  size_t capacity);
TROUPE_API troupe_node_t *troupe_actor_node(const troupe_actor_t *self);
/* The index of the dispatcher that runs this actor. */
TROUPE_API uint32_t troupe_dispatcher(const troupe_actor_t *self);
/* The dispatcher's clock: monotonic nanoseconds, read once per round of its loop. */
TROUPE_API uint64_t troupe_now(const troupe_actor_t *self);
/* Writes the actor's path, such as "/user/chat/room-7". TROUPE_ETOOBIG when it does not fit. */
TROUPE_API troupe_err_t troupe_path(const troupe_actor_t *self, char *ret_text, size_t capacity);

/* ---- sending -------------------------------------------------------------------------------- */

/* Sends a copy of `size` bytes. OK means that the message is on its way: it will be taken, or counted
 * as dropped with a reason. Errors mean that it was not made: EINVAL (size or type doesn't fit),
 * ETYPE, ETOOBIG, EOVERLOAD (the node's ceiling), ENOMEM. Sending never blocks; an actor that outruns
 * a receiver is parked after its receive returns. Allocates nothing in steady state. */
TROUPE_API troupe_err_t troupe_tell(troupe_actor_t *self, troupe_ref_t to, troupe_type_t type,
                                    const void *body, size_t size);

/* Sends an object of an object type; takes *object over and nulls it on success only. */
TROUPE_API troupe_err_t troupe_tell_object(troupe_actor_t *self, troupe_ref_t to,
                                           troupe_type_t type, void **object);

/* A body that is written once and shared by many messages. Reference-counted. */
typedef struct troupe_body troupe_body_t;

/* Copies `size` bytes into a new shared body with one reference. Same errors as troupe_tell. */
TROUPE_API troupe_err_t troupe_body_create(troupe_actor_t *self, troupe_type_t type,
                                           const void *data, size_t size, troupe_body_t **ret_body);
TROUPE_API troupe_body_t *troupe_body_ref(troupe_body_t *body);
/* Drops one reference and nulls the pointer. NULL is allowed. Any thread. */
TROUPE_API void troupe_body_unref(troupe_body_t **body);
/* Sends one more reference of a shared body. */
TROUPE_API troupe_err_t troupe_tell_shared(troupe_actor_t *self, troupe_ref_t to,
                                           troupe_body_t *body);

/* Passes the message being handled on, with its original sender. Once a message at most; the body
 * stays readable until receive returns. EAGAIN outside receive; EBUSY when already forwarded. */
TROUPE_API troupe_err_t troupe_forward(troupe_actor_t *self, troupe_ref_t to);

/* Answers the sender of the message being handled. ENOENT when there is nobody to answer. */
TROUPE_API troupe_err_t troupe_reply(troupe_actor_t *self, troupe_type_t type, const void *body,
                                     size_t size);

/* ---- ending --------------------------------------------------------------------------------- */

/* Stops the calling actor after this callback; the mail that is left becomes dead letters. Children
 * stop first. */
TROUPE_API void troupe_stop(troupe_actor_t *self);
/* Asks any actor to stop when its turn comes: mail queued before is handled first. */
TROUPE_API void troupe_poison(troupe_actor_t *self, troupe_ref_t who);
/* Stops any actor at once: after its present receive, before its queued mail. */
TROUPE_API void troupe_kill(troupe_actor_t *self, troupe_ref_t who);

/* ---- behavior changes ------------------------------------------------------------------------ */

typedef troupe_err_t (*troupe_receive_fn)(troupe_actor_t *self, void *state,
                                          const troupe_message_t *message);
#define TROUPE_BECOME_DEPTH_MAX 16

/* Lets `receive` handle the messages from the next one on. EFULL beyond TROUPE_BECOME_DEPTH_MAX. A
 * restart goes back to the behavior's own receive. */
TROUPE_API troupe_err_t troupe_become(troupe_actor_t *self, troupe_receive_fn receive);
/* Goes back to the one before. EAGAIN when there is none. */
TROUPE_API troupe_err_t troupe_unbecome(troupe_actor_t *self);

/* Puts the message being handled aside. It stays in flight and in the mailbox's bounds. EAGAIN
 * outside receive; EFULL at the mailbox's limit; EBUSY when it was forwarded or stashed already. */
TROUPE_API troupe_err_t troupe_stash(troupe_actor_t *self);
/* Puts all stashed messages back in front of the mailbox, oldest first. */
TROUPE_API void troupe_unstash_all(troupe_actor_t *self);

/* ---- watching -------------------------------------------------------------------------------- */

/* Asks to be told once (TROUPE_SIGNAL_TERMINATED) when `who` has ended, also when its node goes.
 * Watching the dead tells at once. Watching twice is watching once. ENOMEM. */
TROUPE_API troupe_err_t troupe_watch(troupe_actor_t *self, troupe_ref_t who);
/* After it returns no TROUPE_SIGNAL_TERMINATED of `who` arrives, also when it was queued already. */
TROUPE_API void troupe_unwatch(troupe_actor_t *self, troupe_ref_t who);

/* ---- holding --------------------------------------------------------------------------------- */

/* Takes no further message until troupe_release or `timeout_ms` (0: 30,000); replies to asks, offload
 * results and signals still come. What async/await gives elsewhere. EBUSY when held already. */
TROUPE_API troupe_err_t troupe_hold(troupe_actor_t *self, uint32_t timeout_ms);
TROUPE_API void troupe_release(troupe_actor_t *self);

/* ---- paths ----------------------------------------------------------------------------------- */

/* Finds a named actor of this node by its path ("/user/chat/room-7", names percent-encoded). ENOENT,
 * EINVAL when the path is malformed. Takes a lock: not for the path of a message. */
TROUPE_API troupe_err_t troupe_lookup(troupe_actor_t *self, const char *path,
                                      troupe_ref_t *ret_ref);

/* Sends a copy to every actor whose path matches: each component may be a name, `*` (any one), or a
 * name with `*` and `?` in it. Asynchronous; nobody matching is a dead letter that names the path. */
TROUPE_API troupe_err_t troupe_tell_selection(troupe_actor_t *self, const char *pattern,
                                              troupe_type_t type, const void *body, size_t size);

TROUPE_END_DECLS

#endif
