/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Offloading: blocking work on other threads, its result back on the dispatcher. */

#include <string.h>

#include "support/runtime.h"

static stage_t stage;
static probe_t probe_;
static troupe_ref_t who;

/* A piece of work; freed by its end, so that a leak or a double end shows. */
typedef struct work {
    probe_t *probe;
    uint64_t number;
    pthread_t caller;
    _Atomic bool *may_end; /* NULL: at once. */
    troupe_err_t result;
    bool fails_actor;
} work_t;

static _Atomic uint64_t works_run;
static _Atomic uint64_t works_ended;

static troupe_err_t work_run(void *context)
{
    work_t *work = context;
    CHECK_FALSE(pthread_equal(pthread_self(), work->caller));
    atomic_fetch_add(&works_run, 1);
    if (work->may_end != NULL) {
        CHECK_TRUE(CHECK_WAIT(atomic_load(work->may_end), STAGE_PATIENCE_MS));
    }
    return work->result;
}

static troupe_err_t work_done(troupe_actor_t *self, void *state, troupe_err_t result, void *context)
{
    work_t *work = context;
    CHECK_EQ_U64(self == NULL, state == NULL);
    if (self != NULL) {
        CHECK_TRUE(pthread_equal(pthread_self(), work->caller)); /* Back on the dispatcher. */
    }
    probe_add(work->probe,
              &(probe_entry_t){.kind = PROBE_DONE,
                               .value = work->number,
                               .error = result,
                               .who = self == NULL ? troupe_ref_none() : troupe_self(self)});
    bool fails = work->fails_actor;
    free(work);
    atomic_fetch_add(&works_ended, 1);
    return fails ? TROUPE_EFAILED : TROUPE_OK;
}

typedef struct offer {
    uint64_t len;
    work_t pattern;
    uint64_t accepted;
    uint64_t refused;
} offer_t;

static troupe_err_t offload(troupe_actor_t *self, probe_t *probe, void *argument)
{
    offer_t *offer = argument;
    for (uint64_t i = 0; i < offer->len; i++) {
        work_t *work = malloc(sizeof(*work));
        REQUIRE_NOT_NULL(work);
        *work = offer->pattern;
        work->probe = probe;
        work->caller = pthread_self();
        work->number = i;
        troupe_err_t err = troupe_offload(self, work_run, work_done, work);
        if (err != TROUPE_OK) {
            CHECK_ERR(err, TROUPE_EFULL);
            free(work);
            offer->refused++;
        } else {
            offer->accepted++;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t fail(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)self;
    (void)probe;
    (void)argument;
    return TROUPE_EFAILED;
}

static void begin(const trp_runtime_options_t *options)
{
    probe_ = (probe_t){0};
    atomic_store(&works_run, 0);
    atomic_store(&works_ended, 0);
    stage_open(&stage, options);
    who = stage_puppet_at(&stage, &probe_, 0);
}

static void results_come_back_on_the_actor_s_dispatcher(void)
{
    offer_t offer = {.len = 100, .pattern = {.result = TROUPE_EBODY}};
    begin(NULL);
    CHECK_OK(stage_do(&stage, who, offload, &offer));
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_DONE) == 100, STAGE_PATIENCE_MS);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_ERR(probe_at(&probe_, PROBE_DONE, i).error, TROUPE_EBODY);
        CHECK_TRUE(troupe_ref_equal(probe_at(&probe_, PROBE_DONE, i).who, who));
    }
    CHECK_EQ_U64(atomic_load(&works_run), 100);
    stage_close(&stage);
}

static void a_full_queue_refuses(void)
{
    trp_runtime_options_t options = {.offload_threads = 2, .offload_queue_max = 10};
    static _Atomic bool may_end;
    atomic_store(&may_end, false);
    offer_t offer = {.len = 100, .pattern = {.may_end = &may_end}};
    begin(&options);
    CHECK_OK(stage_do(&stage, who, offload, &offer));
    CHECK_GE_U64(offer.accepted, 10);
    CHECK_LE_U64(offer.accepted, 12);
    CHECK_EQ_U64(offer.accepted + offer.refused, 100);
    atomic_store(&may_end, true);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_DONE) == offer.accepted, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static void a_result_for_an_earlier_life_frees_its_context_only(void)
{
    static _Atomic bool may_end;
    atomic_store(&may_end, false);
    offer_t offer = {.len = 4, .pattern = {.may_end = &may_end}};
    begin(NULL);
    CHECK_OK(stage_do(&stage, who, offload, &offer));
    CHECK_EVENTUALLY(atomic_load(&works_run) == 4, STAGE_PATIENCE_MS);
    CHECK_ERR(stage_do(&stage, who, fail, NULL), TROUPE_EFAILED);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    atomic_store(&may_end, true);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_DONE) == 4, STAGE_PATIENCE_MS);
    CHECK_TRUE(troupe_ref_is_none(probe_at(&probe_, PROBE_DONE, 0).who));
    stage_close(&stage);
}

static void a_result_for_the_dead_frees_its_context_only(void)
{
    static _Atomic bool may_end;
    atomic_store(&may_end, false);
    offer_t offer = {.len = 4, .pattern = {.may_end = &may_end}};
    begin(NULL);
    CHECK_OK(stage_do(&stage, who, offload, &offer));
    troupe_port_kill(stage.port, who);
    CHECK_TRUE(stage_is_gone(&stage, who));
    atomic_store(&may_end, true);
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_DONE) == 4, STAGE_PATIENCE_MS);
    CHECK_TRUE(troupe_ref_is_none(probe_at(&probe_, PROBE_DONE, 0).who));
    stage_close(&stage);
}

static void every_work_ends_once_whatever_happens_to_its_actor(void)
{
    begin(NULL);
    uint64_t accepted = 0;
    for (uint64_t i = 0; i < check_count(200, 5000); i++) {
        offer_t offer = {.len = 5};
        CHECK_OK(stage_do(&stage, who, offload, &offer));
        accepted += offer.accepted;
        if (i % 3 == 0) {
            stage_post(&stage, who, fail, NULL);
        }
        if (i % 5 == 0 || i % 3 == 0) { /* A fresh one, before it had too many restarts. */
            troupe_port_kill(stage.port, who);
            CHECK_TRUE(stage_is_gone(&stage, who));
            who = stage_puppet_at(&stage, &probe_, (uint32_t)i % STAGE_DISPATCHERS);
        }
    }
    CHECK_EVENTUALLY(atomic_load(&works_ended) == accepted, STAGE_PATIENCE_MS);
    stage_close(&stage);
    CHECK_EQ_U64(atomic_load(&works_ended), accepted);
}

static void an_error_of_the_end_is_a_failure(void)
{
    offer_t offer = {.len = 1, .pattern = {.fails_actor = true}};
    begin(NULL);
    CHECK_OK(stage_do(&stage, who, offload, &offer));
    CHECK_EVENTUALLY(probe_count(&probe_, PROBE_INIT) == 2, STAGE_PATIENCE_MS);
    stage_close(&stage);
}

static troupe_err_t offload_bad(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    CHECK_ERR(troupe_offload(self, NULL, work_done, NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_offload(self, work_run, NULL, NULL), TROUPE_EINVAL);
    return TROUPE_OK;
}

static troupe_err_t offload_on_stop(troupe_actor_t *self, probe_t *probe)
{
    (void)probe;
    CHECK_ERR(troupe_offload(self, work_run, work_done, NULL), TROUPE_ESTOPPED);
    return TROUPE_OK;
}

static void work_that_makes_no_sense_is_refused(void)
{
    begin(NULL);
    probe_.on_stop = offload_on_stop;
    CHECK_OK(stage_do(&stage, who, offload_bad, NULL));
    stage_close(&stage);
    CHECK_EQ_U64(probe_count(&probe_, PROBE_STOP), 1);
}

/* What waits when the node ends is not begun, and its context comes back all the same. */
static void a_node_that_ends_gives_all_contexts_back(void)
{
    trp_runtime_options_t options = {.offload_threads = 1};
    static _Atomic bool may_end;
    for (int round = 0; round < 10; round++) {
        offer_t offer = {.len = 50, .pattern = {.may_end = &may_end}};
        atomic_store(&may_end, false);
        begin(&options);
        CHECK_OK(stage_do(&stage, who, offload, &offer));
        atomic_store(&may_end, true);
        stage_close_hard(&stage);
        CHECK_EQ_U64(atomic_load(&works_ended), 50);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(results_come_back_on_the_actor_s_dispatcher),
    CHECK_CASE(a_full_queue_refuses),
    CHECK_CASE(a_result_for_an_earlier_life_frees_its_context_only),
    CHECK_CASE(a_result_for_the_dead_frees_its_context_only),
    CHECK_CASE(every_work_ends_once_whatever_happens_to_its_actor),
    CHECK_CASE(an_error_of_the_end_is_a_failure),
    CHECK_CASE(work_that_makes_no_sense_is_refused),
    CHECK_CASE(a_node_that_ends_gives_all_contexts_back),
};

CHECK_MAIN("actor.offload", cases)
