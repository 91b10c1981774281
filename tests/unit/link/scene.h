/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Nodes for tests of the data path: a runtime with a link, and the puppets of support/runtime.h. */

#ifndef TROUPE_TESTS_LINK_SCENE_H
#define TROUPE_TESTS_LINK_SCENE_H

#include "base/clock.h"
#include "base/memory.h"
#include "pair.h"
#include "support/runtime.h"

typedef struct scene {
    stage_t stage; /* First: puppets work on it. */
    pair_end_t end;
    const trp_link_topic_hooks_t *hooks; /* NULL: none. */
} scene_t;

#define SCENE_DISPATCHERS 2u

/* Prepares a node; its link's options may be changed before scene_start. */
static void scene_prepare(scene_t *scene, uint64_t uid)
{
    memset(scene, 0, sizeof(*scene));
    scene->stage.memory_before = trp_memory_live();
    pair_prepare(&scene->end, uid);
    trp_runtime_options_t options = {.uid = uid, .dispatchers = SCENE_DISPATCHERS};
    REQUIRE_OK(trp_runtime_create(&options, &scene->stage.node.runtime));
    scene->stage.node.runtime->node = &scene->stage.node;
    scene->end.options.runtime = scene->stage.node.runtime;
}

/* The first type that is registered must be that of the puppets' orders. */
static void scene_register_orders(scene_t *scene)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = "test.order";
    options.fixed_size = 3 * sizeof(void *);
    troupe_type_t type = {0};
    REQUIRE_OK(troupe_type_register(&scene->stage.node, &options, &type));
}

static void scene_start(scene_t *scene)
{
    REQUIRE_OK(trp_link_create(&scene->end.options, &scene->end.link));
    REQUIRE_OK(
        trp_link_listen(scene->end.link, TRP_LINK_ON_LINK_THREAD, pair_on_event, &scene->end));
    REQUIRE_OK(trp_link_service_register(scene->end.link, TRP_SERVICE_TEST,
                                         SCENE_DISPATCHERS /* the system's */, pair_on_service,
                                         &scene->end));
    if (scene->hooks != NULL) {
        trp_link_set_topic_hooks(scene->end.link, scene->hooks);
    }
    REQUIRE_OK(trp_runtime_start(scene->stage.node.runtime));
    REQUIRE_OK(trp_link_start(scene->end.link));
    REQUIRE_OK(troupe_port_open(&scene->stage.node, &scene->stage.port));
    scene_register_orders(scene);
}

static inline void scene_open(scene_t *scene, uint64_t uid)
{
    scene_prepare(scene, uid);
    scene_start(scene);
}

/* Ends it in the order of a node's stop. */
static void scene_close(scene_t *scene)
{
    trp_runtime_t *runtime = scene->stage.node.runtime;
    uint64_t deadline = trp_clock_now() + UINT64_C(20) * TRP_NS_PER_S;
    CHECK_OK(trp_runtime_stop_users(runtime, deadline));
    trp_link_stop(scene->end.link);
    CHECK_OK(trp_runtime_stop_system(runtime, deadline));
    troupe_port_close(&scene->stage.port);
    trp_runtime_stop(runtime);
    trp_link_destroy(&scene->end.link);
    trp_runtime_destroy(&scene->stage.node.runtime);
}

/* As a crash: nobody is told. */
static inline void scene_drop(scene_t *scene)
{
    trp_runtime_t *runtime = scene->stage.node.runtime;
    trp_link_stop(scene->end.link);
    troupe_port_close(&scene->stage.port);
    trp_runtime_stop(runtime);
    trp_link_destroy(&scene->end.link);
    trp_runtime_destroy(&scene->stage.node.runtime);
}

static inline uint64_t scene_uid(const scene_t *scene)
{
    return scene->end.options.uid;
}

/* Connects a to b, at b's address or at another. */
static inline void scene_connect(scene_t *a, scene_t *b, const char *address)
{
    const char *to = address != NULL ? address : trp_link_address(b->end.link);
    REQUIRE_OK(trp_link_dial(a->end.link, to, scene_uid(b)));
    REQUIRE(CHECK_WAIT(pair_is_up(&a->end, scene_uid(b)), PAIR_WAIT_MS));
    REQUIRE(CHECK_WAIT(pair_is_up(&b->end, scene_uid(a)), PAIR_WAIT_MS));
}

static inline troupe_type_t scene_type(scene_t *scene, const char *name, size_t size_max)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = name;
    options.size_max = size_max;
    troupe_type_t type = {0};
    REQUIRE_OK(troupe_type_register(&scene->stage.node, &options, &type));
    return type;
}

/* ---- streams of numbers ---------------------------------------------------------------------- */

/* A message of a stream: who, and how far. The rest is filler. */
typedef struct scene_word {
    uint64_t stream;
    uint64_t number;
} scene_word_t;

#define SCENE_STREAMS_MAX 16u

/* What a receiver has seen of each stream; in its probe's context. */
typedef struct scene_ledger {
    _Atomic uint64_t next[SCENE_STREAMS_MAX];
    _Atomic uint64_t disorder; /* Messages that were not the next of their stream. */
    _Atomic uint64_t total;
    _Atomic uint64_t bytes;
} scene_ledger_t;

static inline troupe_err_t scene_on_number(troupe_actor_t *self, probe_t *probe,
                                           const troupe_message_t *message)
{
    (void)self;
    scene_ledger_t *ledger = probe->context;
    scene_word_t word = {0, 0};
    if (message->size < sizeof(word)) {
        return TROUPE_OK;
    }
    memcpy(&word, message->body, sizeof(word));
    _Atomic uint64_t *next = &ledger->next[word.stream % SCENE_STREAMS_MAX];
    if (atomic_load(next) != word.number) {
        atomic_fetch_add(&ledger->disorder, 1);
    }
    atomic_store(next, word.number + 1);
    atomic_fetch_add(&ledger->bytes, message->size);
    atomic_fetch_add(&ledger->total, 1);
    return TROUPE_OK;
}

/* A puppet that keeps a ledger, on that dispatcher. */
static inline troupe_ref_t scene_receiver(scene_t *scene, probe_t *probe, scene_ledger_t *ledger,
                                          uint32_t place)
{
    probe->context = ledger;
    probe->on_message = scene_on_number;
    return stage_puppet_at(&scene->stage, probe, place);
}

/* What a sender does: `len` messages of a stream, in bursts, so that parking has its chance. */
typedef struct scene_plan {
    troupe_ref_t to;
    troupe_type_t type;
    uint64_t stream;
    uint64_t len;
    size_t size;
    uint64_t burst;
    uint64_t sent; /* So far. */
    _Atomic bool is_done;
} scene_plan_t;

static inline troupe_err_t scene_send_burst(troupe_actor_t *self, probe_t *probe, void *argument)
{
    scene_plan_t *plan = argument;
    uint8_t *body = trp_calloc(1, plan->size);
    if (body == NULL) {
        return TROUPE_ENOMEM;
    }
    (void)probe;
    for (uint64_t i = 0; i < plan->burst && plan->sent < plan->len; i++) {
        scene_word_t word = {plan->stream, plan->sent++};
        memcpy(body, &word, sizeof(word));
        CHECK_OK(troupe_tell(self, plan->to, plan->type, body, plan->size));
    }
    trp_free(body);
    if (plan->sent < plan->len) {
        puppet_post(self, troupe_self(self), scene_send_burst, plan);
    } else {
        atomic_store(&plan->is_done, true);
    }
    return TROUPE_OK;
}

static inline scene_plan_t scene_plan(troupe_ref_t to, uint64_t stream, uint64_t len, size_t size)
{
    scene_plan_t plan = {.to = to,
                         .type = TROUPE_TYPE_BYTES,
                         .stream = stream,
                         .len = len,
                         .size = size,
                         .burst = 50};
    return plan;
}

/* All that the node has dropped for a reason. */
static inline uint64_t scene_dropped(scene_t *scene, troupe_drop_t reason)
{
    troupe_stats_t stats = stage_stats(&scene->stage);
    return stats.user.dropped[reason] + stats.system.dropped[reason];
}

#endif
