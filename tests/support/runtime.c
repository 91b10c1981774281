/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "support/runtime.h"

#include <string.h>

#include "actor/deliver.h"
#include "base/clock.h"
#include "base/memory.h"

#define ORDER_NAME "test.order"
#define ORDER_TYPE ((troupe_type_t){4}) /* The first that is registered. */
#define STOP_NS (UINT64_C(30) * TRP_NS_PER_S)

/* What stage_do sends: the act, and where its end is told (NULL: nowhere). */
typedef struct order_end {
    _Atomic bool is_done;
    troupe_err_t result;
} order_end_t;

typedef struct order {
    stage_act_fn act;
    void *argument;
    order_end_t *end;
} order_t;

/* ---- stages ---------------------------------------------------------------------------------- */

static void order_type_register(stage_t *stage)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = ORDER_NAME;
    options.fixed_size = sizeof(order_t);
    troupe_type_t type = {0};
    REQUIRE_OK(troupe_type_register(&stage->node, &options, &type));
    REQUIRE_EQ_U64(type.id, ORDER_TYPE.id);
}

void stage_create(stage_t *stage, const trp_runtime_options_t *options)
{
    trp_runtime_options_t filled = {0};
    memset(stage, 0, sizeof(*stage));
    if (options != NULL) {
        filled = *options;
    }
    filled.uid = filled.uid == 0 ? 42 : filled.uid;
    filled.dispatchers = filled.dispatchers == 0 ? STAGE_DISPATCHERS : filled.dispatchers;
    stage->memory_before = trp_memory_live();
    REQUIRE_OK(trp_runtime_create(&filled, &stage->node.runtime));
    stage->node.runtime->node = &stage->node;
}

void stage_start(stage_t *stage)
{
    REQUIRE_OK(trp_runtime_start(stage->node.runtime));
    REQUIRE_OK(troupe_port_open(&stage->node, &stage->port));
    order_type_register(stage);
}

void stage_open(stage_t *stage, const trp_runtime_options_t *options)
{
    stage_create(stage, options);
    stage_start(stage);
}

static void stage_end(stage_t *stage)
{
    troupe_port_close(&stage->port);
    trp_runtime_stop(stage->node.runtime);
    trp_runtime_destroy(&stage->node.runtime);
    CHECK_EQ_I64(trp_memory_live(), stage->memory_before);
}

void stage_close(stage_t *stage)
{
    troupe_stats_t stats = {.size = sizeof(stats)};
    CHECK_OK(trp_runtime_stop_users(stage->node.runtime, trp_clock_now() + STOP_NS));
    CHECK_TRUE(stage_is_quiet(stage, &stats));
    CHECK_EQ_U64(stats.user.in_flight, 0);
    CHECK_EQ_U64(stats.system.in_flight, 0);
    CHECK_EQ_U64(stats.actors, 3); /* The guardians but /user. */
    CHECK_EQ_U64(stats.asks, 0);
    CHECK_EQ_U64(stats.timers, 1); /* The watchdog's. */
    CHECK_EQ_U64(stats.parked, 0);
    CHECK_OK(trp_runtime_stop_system(stage->node.runtime, trp_clock_now() + STOP_NS));
    stage_end(stage);
}

void stage_close_hard(stage_t *stage)
{
    stage_end(stage);
}

troupe_stats_t stage_stats(stage_t *stage)
{
    troupe_stats_t stats = {.size = sizeof(stats)};
    CHECK_OK(troupe_node_stats(&stage->node, STAGE_PATIENCE_MS, &stats));
    return stats;
}

static bool flow_balances(const troupe_flow_t *flow)
{
    uint64_t gone = flow->taken + flow->handed_over + flow->in_flight;
    for (uint32_t i = 0; i < TROUPE_DROP_LEN; i++) {
        gone += flow->dropped[i];
    }
    return flow->made + flow->received == gone;
}

bool stats_balance(const troupe_stats_t *stats)
{
    return flow_balances(&stats->user) && flow_balances(&stats->system);
}

static bool stats_are_still(const troupe_stats_t *a, const troupe_stats_t *b)
{
    return memcmp(&a->user, &b->user, sizeof(a->user)) == 0 &&
           memcmp(&a->system, &b->system, sizeof(a->system)) == 0 && stats_balance(b);
}

/* With nothing in flight nothing can come. What is in flight may be on its way (and several looks fall
 * into one round of a dispatcher), or wait for something: it does when it has not moved for a while. */
#define QUIET_MS 50u

bool stage_is_quiet(stage_t *stage, troupe_stats_t *ret_stats)
{
    troupe_stats_t before = stage_stats(stage);
    troupe_stats_t now = before;
    uint64_t end = check_now_ms() + STAGE_PATIENCE_MS * check_slowness();
    uint64_t since = check_now_ms();
    bool is_quiet = false;
    while (!is_quiet && check_now_ms() < end) {
        check_rest();
        now = stage_stats(stage);
        if (!stats_are_still(&before, &now)) {
            since = check_now_ms();
        } else {
            is_quiet = now.user.in_flight + now.system.in_flight == 0 ||
                       check_now_ms() >= since + QUIET_MS * check_slowness();
        }
        before = now;
    }
    if (ret_stats != NULL) {
        *ret_stats = now;
    }
    return is_quiet;
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void probe_lock(probe_t *probe)
{
    while (atomic_exchange_explicit(&probe->lock, true, memory_order_acquire)) {
        check_rest();
    }
}

static void probe_unlock(probe_t *probe)
{
    atomic_store_explicit(&probe->lock, false, memory_order_release);
}

void probe_add(probe_t *probe, const probe_entry_t *entry)
{
    probe_lock(probe);
    probe->counts[entry->kind]++;
    if (probe->len < PROBE_LEN_MAX) {
        probe->entries[probe->len++] = *entry;
    }
    probe_unlock(probe);
}

void probe_note(probe_t *probe, uint64_t value)
{
    probe_add(probe, &(probe_entry_t){.kind = PROBE_NOTE, .value = value});
}

uint64_t probe_count(probe_t *probe, probe_kind_t kind)
{
    probe_lock(probe);
    uint64_t count = probe->counts[kind];
    probe_unlock(probe);
    return count;
}

probe_entry_t probe_at(probe_t *probe, probe_kind_t kind, uint32_t n)
{
    probe_entry_t found = {0};
    probe_lock(probe);
    for (uint32_t i = 0; i < probe->len; i++) {
        if (probe->entries[i].kind == kind && n-- == 0) {
            found = probe->entries[i];
            break;
        }
    }
    probe_unlock(probe);
    return found;
}

probe_entry_t probe_entry(probe_t *probe, uint32_t n)
{
    probe_entry_t found = {0};
    probe_lock(probe);
    if (n < probe->len) {
        found = probe->entries[n];
    }
    probe_unlock(probe);
    return found;
}

uint64_t probe_count_value(probe_t *probe, probe_kind_t kind, uint64_t value)
{
    uint64_t count = 0;
    probe_lock(probe);
    for (uint32_t i = 0; i < probe->len; i++) {
        count += probe->entries[i].kind == kind && probe->entries[i].value == value;
    }
    probe_unlock(probe);
    return count;
}

void probe_clear(probe_t *probe)
{
    probe_lock(probe);
    probe->len = 0;
    memset(probe->counts, 0, sizeof(probe->counts));
    probe_unlock(probe);
}

/* ---- puppets --------------------------------------------------------------------------------- */

static probe_t *probe_of(void *state)
{
    return ((puppet_args_t *)state)->probe;
}

static troupe_err_t puppet_init(troupe_actor_t *self, void *state, const void *args)
{
    memcpy(state, args, sizeof(puppet_args_t));
    probe_t *probe = probe_of(state);
    probe_add(probe, &(probe_entry_t){.kind = PROBE_INIT, .who = troupe_self(self)});
    probe_hook_fn hook = probe->on_init;
    return hook == NULL ? TROUPE_OK : hook(self, probe);
}

static troupe_err_t puppet_obey(troupe_actor_t *self, probe_t *probe,
                                const troupe_message_t *message)
{
    order_t order;
    memcpy(&order, message->body, sizeof(order));
    troupe_err_t result = order.act(self, probe, order.argument);
    if (order.end != NULL) {
        order.end->result = result;
        atomic_store_explicit(&order.end->is_done, true, memory_order_release);
    }
    return result;
}

static void puppet_record(probe_t *probe, const troupe_message_t *message)
{
    probe_entry_t entry = {.kind = PROBE_MESSAGE,
                           .who = message->sender,
                           .type = message->type.id,
                           .size = message->size};
    if (message->type.id == TROUPE_TYPE_EVENT.id) {
        const troupe_event_t *event = message->body;
        entry.kind = PROBE_EVENT;
        entry.value = event->kind;
        entry.who = event->target;
        entry.type = event->reason;
        entry.size = event->count;
        entry.error = (troupe_err_t)event->error;
        memcpy(entry.text, event->text, sizeof(entry.text));
    } else if (message->size >= sizeof(entry.value)) {
        memcpy(&entry.value, message->body, sizeof(entry.value));
    }
    probe_add(probe, &entry);
}

static troupe_err_t puppet_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    probe_t *probe = probe_of(state);
    if (message->type.id == ORDER_TYPE.id) {
        return puppet_obey(self, probe, message);
    }
    puppet_record(probe, message);
    probe_message_fn hook = probe->on_message;
    return hook == NULL ? TROUPE_OK : hook(self, probe, message);
}

static troupe_err_t puppet_signal(troupe_actor_t *self, void *state, const troupe_signal_t *signal)
{
    probe_t *probe = probe_of(state);
    probe_add(probe, &(probe_entry_t){.kind = PROBE_SIGNAL,
                                      .value = signal->kind,
                                      .who = signal->who,
                                      .error = signal->reason});
    probe_signal_fn hook = probe->on_signal;
    return hook == NULL ? TROUPE_OK : hook(self, probe, signal);
}

static troupe_directive_t boss_supervise(troupe_actor_t *self, void *state,
                                         const troupe_failure_t *failure)
{
    probe_t *probe = probe_of(state);
    probe_supervise_fn hook = probe->on_supervise;
    return hook == NULL ? TROUPE_RESTART : hook(self, probe, failure);
}

static void puppet_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    probe_t *probe = probe_of(state);
    probe_add(probe,
              &(probe_entry_t){.kind = PROBE_STOP, .error = reason, .who = troupe_self(self)});
    probe_hook_fn hook = probe->on_stop;
    if (hook != NULL) {
        (void)!hook(self, probe);
    }
}

const troupe_behavior_t puppet_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.puppet",
    .state_size = sizeof(puppet_args_t),
    .init = puppet_init,
    .receive = puppet_receive,
    .signal = puppet_signal,
    .stop = puppet_stop,
};

const troupe_behavior_t boss_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "test.boss",
    .state_size = sizeof(puppet_args_t),
    .init = puppet_init,
    .receive = puppet_receive,
    .signal = puppet_signal,
    .supervise = boss_supervise,
    .stop = puppet_stop,
};

static troupe_spawn_options_t puppet_options(const troupe_spawn_options_t *options,
                                             const puppet_args_t *args)
{
    troupe_spawn_options_t filled = TROUPE_SPAWN_OPTIONS_INIT;
    if (options != NULL) {
        filled = *options;
    }
    filled.args = args;
    filled.args_size = sizeof(*args);
    return filled;
}

static troupe_ref_t stage_spawn(stage_t *stage, const troupe_behavior_t *behavior, probe_t *probe,
                                const troupe_spawn_options_t *options)
{
    puppet_args_t args = {probe};
    troupe_spawn_options_t filled = puppet_options(options, &args);
    troupe_ref_t ref = troupe_ref_none();
    REQUIRE_OK(troupe_node_spawn(&stage->node, behavior, &filled, &ref));
    return ref;
}

troupe_ref_t stage_puppet(stage_t *stage, probe_t *probe, const troupe_spawn_options_t *options)
{
    return stage_spawn(stage, &puppet_behavior, probe, options);
}

troupe_ref_t stage_boss(stage_t *stage, probe_t *probe, const troupe_spawn_options_t *options)
{
    return stage_spawn(stage, &boss_behavior, probe, options);
}

troupe_ref_t stage_puppet_at(stage_t *stage, probe_t *probe, uint32_t place)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    options.place = TROUPE_PLACE(place);
    return stage_puppet(stage, probe, &options);
}

troupe_err_t puppet_spawn(troupe_actor_t *self, probe_t *probe,
                          const troupe_spawn_options_t *options, troupe_ref_t *ret_ref)
{
    puppet_args_t args = {probe};
    troupe_spawn_options_t filled = puppet_options(options, &args);
    return troupe_spawn(self, &puppet_behavior, &filled, ret_ref);
}

troupe_err_t stage_do(stage_t *stage, troupe_ref_t who, stage_act_fn act, void *argument)
{
    order_end_t end = {.result = TROUPE_EINTERNAL};
    order_t order = {act, argument, &end};
    REQUIRE_OK(troupe_port_tell(stage->port, who, troupe_ref_none(), ORDER_TYPE, &order,
                                sizeof(order), STAGE_PATIENCE_MS));
    /* Fatal: `end` must not go while the order is under way. */
    REQUIRE(
        CHECK_WAIT(atomic_load_explicit(&end.is_done, memory_order_acquire), STAGE_PATIENCE_MS));
    return end.result;
}

void stage_post(stage_t *stage, troupe_ref_t who, stage_act_fn act, void *argument)
{
    order_t order = {act, argument, NULL};
    REQUIRE_OK(troupe_port_tell(stage->port, who, troupe_ref_none(), ORDER_TYPE, &order,
                                sizeof(order), STAGE_PATIENCE_MS));
}

void puppet_post(troupe_actor_t *self, troupe_ref_t who, stage_act_fn act, void *argument)
{
    order_t order = {act, argument, NULL};
    CHECK_OK(troupe_tell(self, who, ORDER_TYPE, &order, sizeof(order)));
}

void stage_tell(stage_t *stage, troupe_ref_t who, uint64_t number)
{
    REQUIRE_OK(troupe_port_tell(stage->port, who, troupe_ref_none(), TROUPE_TYPE_BYTES, &number,
                                sizeof(number), STAGE_PATIENCE_MS));
}

troupe_err_t puppet_tell(troupe_actor_t *self, troupe_ref_t who, uint64_t number)
{
    return troupe_tell(self, who, TROUPE_TYPE_BYTES, &number, sizeof(number));
}

troupe_err_t puppet_reply(troupe_actor_t *self, void *state, const troupe_reply_t *reply,
                          void *context)
{
    probe_entry_t entry = {.kind = PROBE_REPLY,
                           .value = (uint64_t)(uintptr_t)context,
                           .error = reply->error,
                           .who = reply->message.sender,
                           .size = reply->message.size};
    (void)self;
    probe_add(probe_of(state), &entry);
    return TROUPE_OK;
}

typedef struct look {
    uint64_t id;
    _Atomic int result; /* 0: not yet; 1: alive; 2: gone. */
} look_t;

static void look_task(trp_dispatcher_t *d, void *payload, size_t size)
{
    look_t *look = NULL;
    (void)size;
    memcpy(&look, payload, sizeof(look));
    atomic_store(&look->result, trp_cell_find(d, look->id) == NULL ? 2 : 1);
}

static bool stage_look_gone(stage_t *stage, troupe_ref_t who)
{
    look_t look = {.id = who.id};
    look_t *pointer = &look;
    REQUIRE_OK(trp_runtime_post(stage->node.runtime, trp_id_dispatcher(who.id), look_task, &pointer,
                                sizeof(pointer)));
    REQUIRE(CHECK_WAIT(atomic_load(&look.result) != 0, STAGE_PATIENCE_MS));
    return atomic_load(&look.result) == 2;
}

bool stage_is_gone(stage_t *stage, troupe_ref_t who)
{
    return CHECK_WAIT(stage_look_gone(stage, who), STAGE_PATIENCE_MS);
}
