/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/offload.h"

#include <string.h>

#include <troupe/offload.h>

#include "actor/deliver.h"
#include "base/assert.h"
#include "base/memory.h"

/* A job and, inside it, the message that brings its result back: so that a result is never lost for
 * want of memory. */
typedef struct offload_job {
    struct offload_job *next;
    troupe_work_fn work;
    troupe_done_fn done;
    void *context;
    troupe_err_t result;
    uint32_t incarnation;
    trp_message_t *message;
} offload_job_t;

struct trp_offload {
    trp_runtime_t *runtime;
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    offload_job_t *first;
    offload_job_t *last;
    uint32_t len;
    uint32_t len_max;
    bool must_end;
    uint32_t threads_len;
    pthread_t threads[];
};

/* ---- the pool's threads ---------------------------------------------------------------------- */

static offload_job_t *offload_next(trp_offload_t *offload)
{
    offload_job_t *job = NULL;
    pthread_mutex_lock(&offload->mutex);
    while (offload->first == NULL && !offload->must_end) {
        (void)pthread_cond_wait(&offload->filled, &offload->mutex);
    }
    if (offload->first != NULL) {
        job = offload->first;
        offload->first = job->next;
        offload->len--;
        if (offload->must_end) {
            job->result = TROUPE_ECANCELED;
        }
    }
    pthread_mutex_unlock(&offload->mutex);
    return job;
}

static void *offload_run(void *argument)
{
    trp_offload_t *offload = argument;
    offload_job_t *job = NULL;
    while ((job = offload_next(offload)) != NULL) {
        if (job->result == TROUPE_OK) {
            job->result = job->work(job->context);
        }
        atomic_fetch_add_explicit(&offload->runtime->outside_made_system, 1, memory_order_relaxed);
        trp_runtime_inject(offload->runtime, job->message);
    }
    return NULL;
}

troupe_err_t trp_offload_create(trp_runtime_t *runtime, uint32_t threads, uint32_t queue_max,
                                trp_offload_t **ret_offload)
{
    trp_offload_t *offload = trp_calloc(1, sizeof(*offload) + threads * sizeof(pthread_t));
    if (offload == NULL) {
        return TROUPE_ENOMEM;
    }
    offload->runtime = runtime;
    offload->len_max = queue_max;
    (void)pthread_mutex_init(&offload->mutex, NULL);
    (void)pthread_cond_init(&offload->filled, NULL);
    for (; offload->threads_len < threads; offload->threads_len++) {
        if (pthread_create(&offload->threads[offload->threads_len], NULL, offload_run, offload) !=
            0) {
            trp_offload_destroy(&offload);
            return TROUPE_ESYSTEM;
        }
    }
    *ret_offload = offload;
    return TROUPE_OK;
}

void trp_offload_stop(trp_offload_t *offload)
{
    pthread_mutex_lock(&offload->mutex);
    offload->must_end = true;
    pthread_cond_broadcast(&offload->filled);
    pthread_mutex_unlock(&offload->mutex);
    for (uint32_t i = 0; i < offload->threads_len; i++) {
        (void)pthread_join(offload->threads[i], NULL);
    }
    offload->threads_len = 0;
}

void trp_offload_destroy(trp_offload_t **offload_p)
{
    trp_offload_t *offload = *offload_p;
    if (offload == NULL) {
        return;
    }
    trp_offload_stop(offload);
    TRP_ASSERT(offload->first == NULL);
    (void)pthread_cond_destroy(&offload->filled);
    (void)pthread_mutex_destroy(&offload->mutex);
    trp_free(offload);
    *offload_p = NULL;
}

/* ---- the actor's side ------------------------------------------------------------------------ */

static troupe_err_t offload_push(trp_offload_t *offload, offload_job_t *job)
{
    troupe_err_t err = TROUPE_OK;
    pthread_mutex_lock(&offload->mutex);
    if (offload->must_end) {
        err = TROUPE_ESTOPPED;
    } else if (offload->len >= offload->len_max) {
        err = TROUPE_EFULL;
    } else {
        if (offload->first == NULL) {
            offload->first = job;
        } else {
            offload->last->next = job;
        }
        offload->last = job;
        offload->len++;
        pthread_cond_signal(&offload->filled);
    }
    pthread_mutex_unlock(&offload->mutex);
    return err;
}

static offload_job_t *job_new(trp_dispatcher_t *d, troupe_actor_t *self)
{
    offload_job_t *job = trp_calloc(1, sizeof(*job));
    if (job == NULL) {
        return NULL;
    }
    trp_message_t *message = trp_message_take(&d->endpoint.pool, 0, sizeof(job), true);
    if (message == NULL) {
        trp_free(job);
        return NULL;
    }
    message->type = TRP_SYSTEM_OFFLOADED;
    message->target = self->id;
    message->sender = self->id;
    memcpy(trp_message_payload(message), &job, sizeof(job));
    job->message = message;
    return job;
}

troupe_err_t troupe_offload(troupe_actor_t *self, troupe_work_fn work, troupe_done_fn done,
                            void *context)
{
    trp_dispatcher_t *d = self->dispatcher;
    trp_extra_t *extra = trp_extra_get(self);
    if (work == NULL || done == NULL) {
        return TROUPE_EINVAL;
    }
    if ((self->flags & TRP_CELL_STOPPING) != 0 || d->is_ending) {
        return TROUPE_ESTOPPED;
    }
    offload_job_t *job = extra == NULL ? NULL : job_new(d, self);
    if (job == NULL) {
        return TROUPE_ENOMEM;
    }
    job->work = work;
    job->done = done;
    job->context = context;
    job->incarnation = extra->incarnation;
    troupe_err_t err = offload_push(d->endpoint.runtime->offload, job);
    if (err != TROUPE_OK) {
        trp_message_free(&d->endpoint.pool, job->message);
        trp_free(job);
        return err;
    }
    return TROUPE_OK;
}

static offload_job_t *job_of(trp_message_t *message)
{
    offload_job_t *job = NULL;
    TRP_ASSERT(message->size == sizeof(job));
    memcpy(&job, trp_message_payload(message), sizeof(job));
    return job;
}

troupe_err_t trp_offload_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    (void)d;
    offload_job_t job = *job_of(message);
    trp_free(job_of(message));
    if (job.incarnation != cell->extra->incarnation || (cell->flags & TRP_CELL_STOPPING) != 0) {
        (void)!job.done(NULL, NULL, job.result, job.context);
        return TROUPE_OK;
    }
    return job.done(cell, cell->state, job.result, job.context);
}

void trp_offload_abandon(trp_dispatcher_t *d, trp_message_t *message)
{
    offload_job_t job = *job_of(message);
    trp_free(job_of(message));
    (void)!job.done(NULL, NULL, job.result, job.context);
    d->system.taken++;
    trp_message_free(&d->endpoint.pool, message);
}
