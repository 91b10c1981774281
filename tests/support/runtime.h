/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A bare runtime for tests of the actor room, and puppets: actors that run functions of the test on
 * their dispatcher, and write down all that happens to them in a probe that the test reads.
 *
 *     stage_t stage;
 *     probe_t probe = {0};
 *     stage_open(&stage, NULL);
 *     troupe_ref_t who = stage_puppet(&stage, &probe, NULL);
 *     CHECK_OK(stage_do(&stage, who, some_act, argument));
 *     CHECK_EVENTUALLY(probe_count(&probe, PROBE_MESSAGE) == 1, 1000);
 *     stage_close(&stage);       balanced, nothing left, no memory leaked
 *
 * Thread rule: stages belong to the thread that runs the case; probes may be read by any. */

#ifndef TROUPE_SUPPORT_RUNTIME_H
#define TROUPE_SUPPORT_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/actor.h>
#include <troupe/ask.h>
#include <troupe/events.h>
#include <troupe/inbox.h>
#include <troupe/offload.h>
#include <troupe/router.h>
#include <troupe/stats.h>
#include <troupe/timer.h>

#include "actor/runtime.h"
#include "support/check.h"

#define STAGE_PATIENCE_MS 20000 /* For what must happen soon on a busy machine. */
#define STAGE_DISPATCHERS 2u

/* ---- stages ---------------------------------------------------------------------------------- */

typedef struct stage {
    struct troupe_node node;
    troupe_port_t *port;
    int64_t memory_before;
} stage_t;

/* Starts a runtime; `options` may be NULL, and its uid 0. Ends the case when it can't. */
void stage_open(stage_t *stage, const trp_runtime_options_t *options);
/* The same in two steps, for what must be set in between. */
void stage_create(stage_t *stage, const trp_runtime_options_t *options);
void stage_start(stage_t *stage);
/* Ends all actors, waits until all is quiet, checks the law of conservation, and that nothing leaked. */
void stage_close(stage_t *stage);
/* Ends the runtime without asking anybody. */
void stage_close_hard(stage_t *stage);

troupe_stats_t stage_stats(stage_t *stage);
/* Made and received are taken, handed over, dropped or in flight; both kinds. */
bool stats_balance(const troupe_stats_t *stats);
/* Waits until several looks at the counters are the same and balance; whether they did in time. */
bool stage_is_quiet(stage_t *stage, troupe_stats_t *ret_stats);
#define STAGE_QUIET(stage) CHECK_TRUE(stage_is_quiet((stage), NULL))

/* ---- probes ---------------------------------------------------------------------------------- */

typedef enum probe_kind {
    PROBE_INIT = 1,
    PROBE_STOP,    /* error: the reason */
    PROBE_MESSAGE, /* value: the first 8 bytes; who: the sender */
    PROBE_SIGNAL,  /* value: the kind; who, error */
    PROBE_REPLY,   /* value: the context; error; who: the sender */
    PROBE_DONE,    /* value: the context; error; who: none when the actor was gone */
    PROBE_EVENT,   /* value: the kind; who: the target; error: the reason */
    PROBE_NOTE,    /* what the test itself wrote */
} probe_kind_t;

typedef struct probe_entry {
    probe_kind_t kind;
    troupe_err_t error;
    uint64_t value;
    uint64_t type;
    uint64_t size;
    troupe_ref_t who;
    char text[TROUPE_EVENT_TEXT_SIZE]; /* Of events. */
} probe_entry_t;

#define PROBE_LEN_MAX 512u /* Entries kept; further ones are only counted. */

typedef struct probe probe_t;
typedef troupe_err_t (*probe_hook_fn)(troupe_actor_t *self, probe_t *probe);
typedef troupe_err_t (*probe_message_fn)(troupe_actor_t *self, probe_t *probe,
                                         const troupe_message_t *message);
typedef troupe_err_t (*probe_signal_fn)(troupe_actor_t *self, probe_t *probe,
                                        const troupe_signal_t *signal);
typedef troupe_directive_t (*probe_supervise_fn)(troupe_actor_t *self, probe_t *probe,
                                                 const troupe_failure_t *failure);

/* Zeroed memory is an empty probe. */
struct probe {
    _Atomic bool lock; /* A spin lock: probes need no init. */
    uint32_t len;
    uint64_t counts[PROBE_NOTE + 1];
    probe_entry_t entries[PROBE_LEN_MAX];
    /* What its actor does beyond writing down. NULL: nothing. */
    _Atomic(probe_hook_fn) on_init;
    _Atomic(probe_hook_fn) on_stop;
    _Atomic(probe_message_fn) on_message;
    _Atomic(probe_signal_fn) on_signal;
    _Atomic(probe_supervise_fn) on_supervise; /* Needs stage_boss. */
    void *context;
    _Atomic uint64_t number; /* Free for the test. */
    _Atomic uint64_t sum;
};

void probe_add(probe_t *probe, const probe_entry_t *entry);
void probe_note(probe_t *probe, uint64_t value);
uint64_t probe_count(probe_t *probe, probe_kind_t kind);
/* The n-th entry of that kind; zero when there is none. */
probe_entry_t probe_at(probe_t *probe, probe_kind_t kind, uint32_t n);
/* The n-th entry of all. */
probe_entry_t probe_entry(probe_t *probe, uint32_t n);
/* Entries of that kind and value. */
uint64_t probe_count_value(probe_t *probe, probe_kind_t kind, uint64_t value);
void probe_clear(probe_t *probe);

/* ---- puppets --------------------------------------------------------------------------------- */

/* Runs on the puppet's dispatcher, inside its receive. */
typedef troupe_err_t (*stage_act_fn)(troupe_actor_t *self, probe_t *probe, void *argument);

/* The first argument of a puppet's init. */
typedef struct puppet_args {
    probe_t *probe;
} puppet_args_t;

/* Their state is a puppet_args_t. The boss decides about its children by the probe's hook. */
extern const troupe_behavior_t puppet_behavior;
extern const troupe_behavior_t boss_behavior;

/* Spawns under /user; `options` may be NULL, its args are replaced. Ends the case on failure. */
troupe_ref_t stage_puppet(stage_t *stage, probe_t *probe, const troupe_spawn_options_t *options);
troupe_ref_t stage_boss(stage_t *stage, probe_t *probe, const troupe_spawn_options_t *options);
/* A puppet on that dispatcher. */
troupe_ref_t stage_puppet_at(stage_t *stage, probe_t *probe, uint32_t place);
/* The same from inside an actor. */
troupe_err_t puppet_spawn(troupe_actor_t *self, probe_t *probe,
                          const troupe_spawn_options_t *options, troupe_ref_t *ret_ref);

/* Lets the puppet run the act, and waits for its result, which is also that of its receive. */
troupe_err_t stage_do(stage_t *stage, troupe_ref_t who, stage_act_fn act, void *argument);
/* The same without waiting. */
void stage_post(stage_t *stage, troupe_ref_t who, stage_act_fn act, void *argument);
/* Inside an actor: the same. */
void puppet_post(troupe_actor_t *self, troupe_ref_t who, stage_act_fn act, void *argument);
/* Sends a number through the stage's port. */
void stage_tell(stage_t *stage, troupe_ref_t who, uint64_t number);
troupe_err_t puppet_tell(troupe_actor_t *self, troupe_ref_t who, uint64_t number);

/* An on_reply and a `done` that write into the probe of the actor's state. */
troupe_err_t puppet_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                          void *context);

/* Waits until the actor of that reference is gone. */
bool stage_is_gone(stage_t *stage, troupe_ref_t who);

#endif
