/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A pool of supervised workers. Each hands its slow part to the offload threads, so that no dispatcher
 * ever blocks, and takes no further job until that has come back. Every tenth job fails: the worker
 * is restarted by its supervisor, keeps its mailbox, and the job is done by another one.
 *
 *     main --jobs--> boss --job--> worker 0..3 --offload--> pool threads
 *                     ^---- done ----'   */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/troupe.h>

#define WORKERS 4
#define JOBS 100

/* A job, and the answer to it. Small and without padding, so it is sent as it is. */
typedef struct job {
    uint32_t number;
    uint32_t try;
    uint64_t result;
} job_t;

TROUPE_TYPE_ASSERT_FIXED(job_t, 16);

/* Types are registered per node; main fills these in before the actors start. */
static troupe_type_t job_type;
static troupe_type_t done_type;

/* ---- the slow part: runs on an offload thread and touches no actor -------------------------------- */

typedef struct work {
    job_t job;
    troupe_ref_t boss;
} work_t;

static troupe_err_t work_run(void *context)
{
    work_t *work = context;
    /* Every tenth job fails when it is tried for the first time. */
    if (work->job.number % 10 == 0 && work->job.try == 0) {
        return TROUPE_EFAILED;
    }
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= work->job.number; i++) {
        sum += i;
    }
    work->job.result = sum;
    return TROUPE_OK;
}

/* ---- workers --------------------------------------------------------------------------------------- */

/* Back on the worker's own dispatcher. */
static troupe_err_t worker_done(troupe_actor_t *self, void *state, troupe_err_t result,
                                void *context)
{
    work_t *work = context;
    (void)state;
    if (self == NULL) { /* The worker has ended meanwhile. */
        free(work);
        return TROUPE_OK;
    }
    troupe_release(self);
    work->job.try += 1;
    troupe_err_t told = troupe_tell(self, work->boss, result == TROUPE_OK ? done_type : job_type,
                                    &work->job, sizeof(work->job));
    free(work);
    /* An error is a failure of this worker: its supervisor restarts it. */
    return result != TROUPE_OK ? result : told;
}

static troupe_err_t worker_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    (void)state;
    work_t *work = malloc(sizeof(*work));
    if (work == NULL) {
        return TROUPE_ENOMEM;
    }
    memcpy(&work->job, message->body, sizeof(work->job));
    work->boss = message->sender;
    troupe_err_t err = troupe_offload(self, work_run, worker_done, work);
    if (err != TROUPE_OK) {
        free(work);
        return err;
    }
    return troupe_hold(self, 0);
}

static const troupe_behavior_t worker_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "worker",
    .receive = worker_receive,
};

/* ---- the boss -------------------------------------------------------------------------------------- */

typedef struct boss {
    troupe_ref_t workers[WORKERS];
    troupe_ref_t customer;
    uint32_t next;
    uint32_t done;
    uint32_t failures;
} boss_t;

static troupe_err_t boss_init(troupe_actor_t *self, void *state, const void *args)
{
    boss_t *boss = state;
    (void)args;
    for (size_t i = 0; i < WORKERS; i++) {
        troupe_err_t err = troupe_spawn(self, &worker_behavior, NULL, &boss->workers[i]);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t boss_finish(troupe_actor_t *self, const boss_t *boss)
{
    char text[64];
    if (boss->done < JOBS || boss->failures < JOBS / 10) {
        return TROUPE_OK;
    }
    int size = snprintf(text, sizeof(text), "%u jobs done, %u failures survived", boss->done,
                        boss->failures);
    return troupe_tell(self, boss->customer, TROUPE_TYPE_TEXT, text, (size_t)size);
}

/* Asked what to do about a worker that failed. */
static troupe_directive_t boss_supervise(troupe_actor_t *self, void *state,
                                         const troupe_failure_t *failure)
{
    boss_t *boss = state;
    (void)failure;
    boss->failures += 1;
    return boss_finish(self, boss) == TROUPE_OK ? TROUPE_RESTART : TROUPE_ESCALATE;
}

static troupe_err_t boss_hand_out(troupe_actor_t *self, boss_t *boss, const job_t *job)
{
    troupe_ref_t worker = boss->workers[boss->next % WORKERS];
    boss->next += 1;
    return troupe_tell(self, worker, job_type, job, sizeof(*job));
}

static troupe_err_t boss_receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
{
    boss_t *boss = state;
    job_t job;
    if (message->type.id == TROUPE_TYPE_TEXT.id) { /* The order to begin. */
        boss->customer = message->sender;
        for (uint32_t i = 0; i < JOBS; i++) {
            job = (job_t){i, 0, 0};
            troupe_err_t err = boss_hand_out(self, boss, &job);
            if (err != TROUPE_OK) {
                return err;
            }
        }
        return TROUPE_OK;
    }
    memcpy(&job, message->body, sizeof(job));
    if (message->type.id == job_type.id) { /* A worker failed at it. */
        return boss_hand_out(self, boss, &job);
    }
    boss->done += 1;
    return boss_finish(self, boss);
}

static const troupe_behavior_t boss_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "boss",
    .state_size = sizeof(boss_t),
    .init = boss_init,
    .receive = boss_receive,
    .supervise = boss_supervise,
};

/* ---- main ------------------------------------------------------------------------------------------ */

static void must(troupe_err_t err, const char *what)
{
    if (err != TROUPE_OK) {
        fprintf(stderr, "%s: %s\n", what, troupe_err_text(err));
        exit(EXIT_FAILURE);
    }
}

static troupe_type_t register_type(troupe_node_t *node, const char *name)
{
    troupe_type_t type;
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = name;
    options.fixed_size = sizeof(job_t);
    must(troupe_type_register(node, &options, &type), name);
    return type;
}

int main(void)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = NULL;
    troupe_inbox_t *inbox = NULL;
    troupe_letter_t *letter = NULL;
    troupe_ref_t boss = troupe_ref_none();
    options.offload_threads = 2;
    must(troupe_node_create(&options, &node), "create");
    job_type = register_type(node, "example.job");
    done_type = register_type(node, "example.done");
    must(troupe_node_start(node), "start");
    must(troupe_node_spawn(node, &boss_behavior, NULL, &boss), "spawn");
    must(troupe_inbox_open(node, NULL, &inbox), "inbox");

    must(troupe_inbox_ask(inbox, boss, TROUPE_TYPE_TEXT, "go", 2, 20000, &letter), "ask");
    const troupe_message_t *message = troupe_letter_message(letter);
    printf("%.*s\n", (int)message->size, (const char *)message->body);

    troupe_letter_free(&letter);
    troupe_inbox_close(&inbox);
    must(troupe_node_stop(node, 5000), "stop");
    troupe_node_destroy(&node);
    return EXIT_SUCCESS;
}
