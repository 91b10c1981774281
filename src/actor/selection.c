/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/selection.h"

#include <string.h>

#include "actor/children.h"
#include "actor/events.h"
#include "actor/extra.h"
#include "actor/names.h"
#include "actor/send.h"
#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"

/* What walks: the message, shared by all branches, and how much of the pattern is done. */
typedef struct selection {
    trp_body_t *body;    /* The user's message. */
    trp_body_t *pattern; /* Zero-terminated text. */
    uint64_t sender;
    size_t at; /* Where in the pattern the next component begins. */
} selection_t;

/* A selection without a match is one dropped message that names its pattern. */
static void selection_unmatched(trp_dispatcher_t *d, const selection_t *selection)
{
    char text[TROUPE_EVENT_TEXT_SIZE];
    const char *pattern = (const char *)selection->pattern->data;
    trp_text_escape(text, sizeof(text), pattern, strlen(pattern));
    d->user.made++;
    trp_dispatcher_drop(d, TROUPE_DROP_NO_MATCH, troupe_ref_none(),
                        trp_dispatcher_ref(d, selection->sender), selection->body->type, text);
}

static void selection_end(selection_t *selection)
{
    trp_body_unref(selection->body);
    trp_body_unref(selection->pattern);
}

/* Sends a branch to one actor: the message itself when the pattern is used up. */
static void selection_branch(trp_dispatcher_t *d, const selection_t *selection, uint64_t id,
                             size_t at)
{
    troupe_ref_t to = trp_dispatcher_ref(d, id);
    if (selection->pattern->data[at] == '\0') {
        (void)!trp_send_shared(d, to, selection->sender, selection->body);
        return;
    }
    selection_t branch = *selection;
    branch.at = at;
    (void)trp_body_ref(branch.body);
    (void)trp_body_ref(branch.pattern);
    trp_system_send(d, to, TRP_SYSTEM_SELECT, selection->sender, &branch, sizeof(branch));
}

/* The name of a child, as text; unnamed ones are "$<id>". */
static bool child_matches(trp_dispatcher_t *d, troupe_actor_t *cell, uint64_t child,
                          const char *component)
{
    char name[TROUPE_NAME_SIZE_MAX + 1];
    trp_names_t *names = &d->endpoint.runtime->names;
    if (!trp_names_child_text(names, cell->id, child, name)) {
        (void)trp_text_format(name, sizeof(name), "$%llx", (unsigned long long)child);
    }
    return trp_names_match(component, name);
}

void trp_selection_take(trp_dispatcher_t *d, troupe_actor_t *cell, trp_message_t *message)
{
    selection_t selection;
    TRP_ASSERT(message->size == sizeof(selection));
    memcpy(&selection, trp_message_payload(message), sizeof(selection));
    const char *pattern = (const char *)selection.pattern->data;
    const char *rest = pattern + selection.at;
    char component[TROUPE_NAME_SIZE_MAX + 1];
    size_t size = 0;
    size_t matches = 0;
    if (trp_names_component(&rest, component, &size) == TROUPE_OK && cell->extra != NULL) {
        uint32_t index = 0;
        uint64_t child = 0;
        while ((child = trp_children_next(&cell->extra->children, &index)) != 0) {
            if (child_matches(d, cell, child, component)) {
                matches++;
                selection_branch(d, &selection, child, (size_t)(rest - pattern));
            }
        }
    }
    if (matches == 0) {
        selection_unmatched(d, &selection);
    }
    selection_end(&selection);
}

void trp_selection_abandon(trp_dispatcher_t *d, trp_message_t *message)
{
    selection_t selection;
    TRP_ASSERT(message->size == sizeof(selection));
    memcpy(&selection, trp_message_payload(message), sizeof(selection));
    selection_unmatched(d, &selection);
    selection_end(&selection);
    d->system.taken++;
    trp_message_free(&d->endpoint.pool, message);
}

/* ---- starting -------------------------------------------------------------------------------- */

static troupe_err_t pattern_check(const char *pattern)
{
    if (pattern == NULL || pattern[0] != '/' || strlen(pattern) > TROUPE_PATH_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    const char *rest = pattern + 1;
    char component[TROUPE_NAME_SIZE_MAX + 1];
    size_t size = 0;
    troupe_err_t err = TROUPE_OK;
    for (uint32_t depth = 0; err == TROUPE_OK; depth++) {
        err = depth > TRP_PATH_DEPTH_MAX ? TROUPE_EINVAL
                                         : trp_names_component(&rest, component, &size);
    }
    return err == TROUPE_ENOENT && rest != pattern + 1 ? TROUPE_OK : TROUPE_EINVAL;
}

static troupe_err_t selection_new(trp_dispatcher_t *d, const char *pattern,
                                  const trp_letter_spec_t *spec, selection_t *selection)
{
    size_t size = strlen(pattern) + 1;
    trp_depot_t *depot = &d->endpoint.runtime->depot;
    selection->body = trp_body_new(depot, spec->size, false);
    selection->pattern = trp_body_new(depot, size, false);
    if (selection->body == NULL || selection->pattern == NULL) {
        if (selection->body != NULL) {
            trp_body_unref(selection->body);
        }
        if (selection->pattern != NULL) {
            trp_body_unref(selection->pattern);
        }
        return TROUPE_EOVERLOAD;
    }
    selection->body->type = spec->type.id;
    if (spec->size > 0) {
        memcpy(selection->body->data, spec->body, spec->size);
    }
    memcpy(selection->pattern->data, pattern, size);
    selection->sender = spec->sender;
    selection->at = 1;
    return TROUPE_OK;
}

/* The top level has no parent actor: its names are few and all named. */
static void selection_start(trp_dispatcher_t *d, selection_t *selection)
{
    const trp_runtime_t *runtime = d->endpoint.runtime;
    const struct {
        const char *name;
        uint64_t id;
    } tops[] = {{"user", runtime->guardian_user},
                {"system", runtime->guardian_system},
                {"temp", runtime->guardian_temp},
                {"remote", runtime->guardian_remote}};
    const char *pattern = (const char *)selection->pattern->data;
    const char *rest = pattern + selection->at;
    char component[TROUPE_NAME_SIZE_MAX + 1];
    size_t size = 0;
    size_t matches = 0;
    if (trp_names_component(&rest, component, &size) == TROUPE_OK) {
        for (size_t i = 0; i < TRP_ARRAY_LEN(tops); i++) {
            if (trp_names_match(component, tops[i].name)) {
                matches++;
                selection_branch(d, selection, tops[i].id, (size_t)(rest - pattern));
            }
        }
    }
    if (matches == 0) {
        selection_unmatched(d, selection);
    }
}

troupe_err_t troupe_tell_selection(troupe_actor_t *self, const char *pattern, troupe_type_t type,
                                   const void *body, size_t size)
{
    trp_dispatcher_t *d = self->dispatcher;
    trp_letter_spec_t spec = {troupe_ref_none(), self->id, type, body, size};
    troupe_err_t err = pattern_check(pattern);
    if (err != TROUPE_OK) {
        return err;
    }
    if (!trp_types_fits(d->types, type, size)) {
        return trp_types_check(d->types, type, size);
    }
    selection_t selection;
    err = selection_new(d, pattern, &spec, &selection);
    if (err == TROUPE_OK) {
        selection_start(d, &selection);
        selection_end(&selection);
    }
    return err;
}
