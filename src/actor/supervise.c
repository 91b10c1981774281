/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/supervise.h"

#include "actor/children.h"
#include "actor/deliver.h"
#include "actor/life.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"

static trp_restarts_t *restarts_of(trp_table_entry_t *entry)
{
    return entry == NULL ? NULL : TRP_CONTAINER_OF(entry, trp_restarts_t, entry);
}

/* ---- a child's history ----------------------------------------------------------------------- */

static trp_restarts_t *restarts_find(trp_extra_t *extra, uint64_t child)
{
    if (!extra->has_restarts) {
        return NULL;
    }
    return restarts_of(trp_table_find(&extra->restarts, &child, sizeof(child)));
}

static trp_restarts_t *restarts_get(trp_dispatcher_t *d, trp_extra_t *extra, uint64_t child)
{
    trp_restarts_t *restarts = restarts_find(extra, child);
    if (restarts != NULL) {
        return restarts;
    }
    if (!extra->has_restarts) {
        trp_table_init(&extra->restarts, trp_random_next(&d->random), TRP_RESTARTS_LEN_MAX);
        extra->has_restarts = true;
    }
    restarts = trp_calloc(1, sizeof(*restarts));
    if (restarts == NULL) {
        return NULL;
    }
    restarts->child = child;
    if (trp_table_add(&extra->restarts, &restarts->entry, &restarts->child,
                      sizeof(restarts->child)) != TROUPE_OK) {
        trp_free(restarts);
        return NULL;
    }
    return restarts;
}

void trp_supervise_fini(trp_extra_t *extra)
{
    if (!extra->has_restarts) {
        return;
    }
    TRP_TABLE_FOREACH (entry, &extra->restarts) {
        trp_table_remove(&extra->restarts, entry);
        trp_free(restarts_of(entry));
    }
    trp_table_fini(&extra->restarts);
    extra->has_restarts = false;
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* Filled in defaults of the spawner's wishes. */
static troupe_supervision_t supervision_of(const trp_extra_t *extra)
{
    troupe_supervision_t wish = extra->supervision;
    wish.directive = (int)wish.directive == 0 ? TROUPE_RESTART : wish.directive;
    wish.restarts_max = wish.restarts_max == 0 ? TRP_RESTARTS_MAX_DEFAULT : wish.restarts_max;
    wish.window_ms = wish.window_ms == 0 ? TRP_WINDOW_MS_DEFAULT : wish.window_ms;
    return wish;
}

static uint64_t backoff_ns(const troupe_supervision_t *wish, uint32_t streak)
{
    uint64_t delay_ms = wish->backoff_min_ms;
    for (uint32_t i = 1; i < streak && delay_ms < wish->backoff_max_ms; i++) {
        delay_ms *= 2;
    }
    if (wish->backoff_max_ms != 0 && delay_ms > wish->backoff_max_ms) {
        delay_ms = wish->backoff_max_ms;
    }
    return trp_clock_from_ms(delay_ms);
}

/* Counts a restart; false when the child had too many within the window. */
static bool restart_allowed(trp_dispatcher_t *d, trp_extra_t *extra, uint64_t child,
                            uint64_t *ret_delay_ns)
{
    troupe_supervision_t wish = supervision_of(extra);
    trp_restarts_t *restarts = restarts_get(d, extra, child);
    if (restarts == NULL) {
        return false;
    }
    uint64_t window_ns = trp_clock_from_ms(wish.window_ms);
    if (restarts->count == 0 || d->now - restarts->window_start_ns > window_ns) {
        restarts->window_start_ns = d->now;
        restarts->count = 0;
        restarts->streak = 0;
    }
    if (restarts->count >= wish.restarts_max) {
        return false;
    }
    restarts->count++;
    restarts->streak++;
    *ret_delay_ns = backoff_ns(&wish, restarts->streak);
    return true;
}

static troupe_directive_t decide(trp_dispatcher_t *d, troupe_actor_t *cell,
                                 const trp_child_failed_t *failed)
{
    const trp_restarts_t *restarts = restarts_find(cell->extra, failed->child);
    troupe_directive_t directive = supervision_of(cell->extra).directive;
    if (cell->behavior->supervise != NULL && (cell->flags & TRP_CELL_NO_INIT) == 0) {
        troupe_failure_t failure = {
            .child = trp_dispatcher_ref(d, failed->child),
            .error = (troupe_err_t)failed->error,
            .restart_count = restarts == NULL ? 0 : restarts->count,
        };
        directive = cell->behavior->supervise(cell, cell->state, &failure);
    }
    return directive;
}

/* ---- acting ---------------------------------------------------------------------------------- */

static void child_tell(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t child,
                       troupe_directive_t directive, uint64_t delay_ns)
{
    troupe_ref_t to = trp_dispatcher_ref(d, child);
    if (directive == TROUPE_RESUME) {
        trp_system_send(d, to, TRP_SYSTEM_RESUME, cell->id, NULL, 0);
    } else if (directive == TROUPE_RESTART) {
        trp_system_send(d, to, TRP_SYSTEM_RESTART, cell->id, &delay_ns, sizeof(delay_ns));
    } else {
        trp_system_send(d, to, TRP_SYSTEM_KILL, cell->id, NULL, 0);
    }
}

static void verdict_apply(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_verdict_t verdict = cell->extra->verdict;
    cell->extra->verdict.token = 0;
    uint32_t index = 0;
    uint64_t child = 0;
    while ((child = trp_children_next(&cell->extra->children, &index)) != 0) {
        child_tell(d, cell, child, verdict.directive, verdict.delay_ns);
    }
}

static void verdict_answered(trp_dispatcher_t *d, troupe_actor_t *cell)
{
    trp_verdict_t *verdict = &cell->extra->verdict;
    TRP_ASSERT(verdict->waiting > 0);
    verdict->waiting--;
    if (verdict->waiting == 0) {
        verdict_apply(d, cell);
    }
}

/* Asks all siblings to suspend; the decision is carried out when all have answered or ended. */
static void verdict_open(trp_dispatcher_t *d, troupe_actor_t *cell,
                         const trp_child_failed_t *failed, troupe_directive_t directive,
                         uint64_t delay_ns)
{
    trp_extra_t *extra = cell->extra;
    trp_children_t *children = &extra->children;
    extra->token_next = extra->token_next == UINT32_MAX ? 1 : extra->token_next + 1;
    extra->verdict = (trp_verdict_t){.token = extra->token_next,
                                     .waiting = 1, /* For the loop itself. */
                                     .child = failed->child,
                                     .directive = directive,
                                     .delay_ns = delay_ns};
    for (uint32_t index = 0; index < children->len;) {
        uint64_t child = trp_children_next(children, &index);
        if (child != 0 && child != failed->child) {
            children->marks[index - 1] |= TRP_CHILD_AWAITED;
            extra->verdict.waiting++;
            trp_system_send(d, trp_dispatcher_ref(d, child), TRP_SYSTEM_SUSPEND, cell->id,
                            &extra->verdict.token, sizeof(extra->verdict.token));
        }
    }
    verdict_answered(d, cell);
}

void trp_supervise(trp_dispatcher_t *d, troupe_actor_t *cell, const trp_child_failed_t *failed)
{
    trp_extra_t *extra = cell->extra;
    if ((cell->flags & (TRP_CELL_STOPPING | TRP_CELL_RESTARTING)) != 0 || extra == NULL ||
        !trp_children_has(&extra->children, failed->child, failed->child_index)) {
        return; /* The child is being ended anyway, or has ended. */
    }
    uint64_t delay_ns = 0;
    troupe_directive_t directive = decide(d, cell, failed);
    if (directive == TROUPE_RESTART && !restart_allowed(d, extra, failed->child, &delay_ns)) {
        directive = TROUPE_STOP;
    }
    if (directive == TROUPE_ESCALATE) {
        extra->is_escalated = true;
        trp_fail(d, cell, (troupe_err_t)failed->error);
        return;
    }
    if (!extra->supervision.all_for_one) {
        child_tell(d, cell, failed->child, directive, delay_ns);
        return;
    }
    if (extra->verdict.token != 0) { /* A sibling's failure is being dealt with: one answer more. */
        if ((extra->children.marks[failed->child_index] & TRP_CHILD_AWAITED) == 0) {
            return;
        }
        extra->children.marks[failed->child_index] &= (uint8_t)~TRP_CHILD_AWAITED;
        verdict_answered(d, cell);
        return;
    }
    verdict_open(d, cell, failed, directive, delay_ns);
}

void trp_supervise_suspended(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t child,
                             const trp_suspended_t *suspended)
{
    trp_extra_t *extra = cell->extra;
    if (extra == NULL || extra->verdict.token == 0 || extra->verdict.token != suspended->token ||
        !trp_children_has(&extra->children, child, suspended->child_index)) {
        return;
    }
    uint8_t *mark = &extra->children.marks[suspended->child_index];
    if ((*mark & TRP_CHILD_AWAITED) != 0) {
        *mark &= (uint8_t)~TRP_CHILD_AWAITED;
        verdict_answered(d, cell);
    }
}

void trp_supervise_child_ended(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t child,
                               bool was_awaited)
{
    trp_extra_t *extra = cell->extra;
    trp_restarts_t *restarts = restarts_find(extra, child);
    if (restarts != NULL) {
        trp_table_remove(&extra->restarts, &restarts->entry);
        trp_free(restarts);
    }
    if (was_awaited && extra->verdict.token != 0) {
        verdict_answered(d, cell);
    }
}
