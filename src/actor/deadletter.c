/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Dead letters: every message that is not delivered is counted here by its reason, reported to whom it
 * may concern, and, when it was an ask, answered. */

#include <string.h>

#include "actor/answer.h"
#include "actor/deliver.h"
#include "actor/events.h"
#include "actor/offload.h"
#include "actor/selection.h"
#include "base/assert.h"
#include "base/text.h"

static const char *const drop_texts[TROUPE_DROP_LEN] = {
#define DROP_TEXT(name, text) text,
    TROUPE_DROP_TABLE(DROP_TEXT)
#undef DROP_TEXT
};

const char *troupe_drop_text(troupe_drop_t reason)
{
    return (unsigned)reason < TROUPE_DROP_LEN ? drop_texts[reason] : "?";
}

/* What an asker is told of a message that was dropped for that reason. */
static troupe_err_t drop_error(troupe_drop_t reason)
{
    switch (reason) {
    case TROUPE_DROP_MAILBOX_FULL:
    case TROUPE_DROP_LINK_QUEUE_FULL:
    case TROUPE_DROP_SLOW_SUBSCRIBER:
        return TROUPE_EFULL;
    case TROUPE_DROP_UNKNOWN_NODE:
        return TROUPE_ENODE;
    case TROUPE_DROP_NODE_UNREACHABLE:
    case TROUPE_DROP_LINK_LOST:
        return TROUPE_EUNREACHABLE;
    case TROUPE_DROP_OVERSIZE:
        return TROUPE_ETOOBIG;
    case TROUPE_DROP_UNKNOWN_TYPE:
        return TROUPE_ETYPE;
    case TROUPE_DROP_BAD_BODY:
        return TROUPE_EBODY;
    case TROUPE_DROP_STOPPED:
    case TROUPE_DROP_INIT_FAILED:
        return TROUPE_ESTOPPED;
    case TROUPE_DROP_OVERLOAD:
        return TROUPE_EOVERLOAD;
    default:
        return TROUPE_ENOACTOR;
    }
}

static void drop_report(trp_dispatcher_t *d, troupe_event_t *event)
{
    trp_runtime_t *runtime = d->endpoint.runtime;
    if (trp_log_is_on(runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_INFO)) {
        char target[TROUPE_REF_TEXT_SIZE];
        const char *type = trp_types_at(d->types, event->type) == NULL
                               ? "?"
                               : trp_types_at(d->types, event->type)->name;
        TRP_LOG_LIMITED(runtime->log, &runtime->events->dead_letter_limit, d->now, TROUPE_LOG_ACTOR,
                        TROUPE_LOG_INFO, "dead_letter", "reason=%s target=%s type=%s text=%s",
                        troupe_drop_text((troupe_drop_t)event->reason),
                        troupe_ref_format(event->target, target), type, event->text);
    }
    if (trp_events_wanted(d, TROUPE_EVENT_DEAD_LETTER)) {
        trp_events_raise(d, event);
    }
}

void trp_dispatcher_drop(trp_dispatcher_t *d, troupe_drop_t reason, troupe_ref_t target,
                         troupe_ref_t sender, uint16_t type, const char *text)
{
    TRP_ASSERT(reason < TROUPE_DROP_LEN);
    d->user.dropped[reason]++;
    if (trp_id_is_ask(sender.id)) {
        trp_answer_fail(d, sender, drop_error(reason));
    }
    if (type == TROUPE_TYPE_EVENT.id) {
        return; /* A notice never makes another. */
    }
    if (!trp_events_wanted(d, TROUPE_EVENT_DEAD_LETTER) &&
        !trp_log_is_on(d->endpoint.runtime->log, TROUPE_LOG_ACTOR, TROUPE_LOG_INFO)) {
        return;
    }
    troupe_event_t event;
    trp_event_init(&event, TROUPE_EVENT_DEAD_LETTER, text, text == NULL ? 0 : strlen(text));
    event.reason = reason;
    event.target = target;
    event.sender = sender;
    event.count = 1;
    event.type = type;
    troupe_actor_t *cell = target.node == d->uid && trp_id_dispatcher(target.id) == d->index
                               ? trp_cell_find(d, target.id)
                               : NULL;
    if (cell != NULL && event.text_size == 0) {
        trp_event_set_path(&event, cell);
    }
    drop_report(d, &event);
}

void trp_dispatcher_drop_system(trp_dispatcher_t *d, troupe_drop_t reason)
{
    TRP_ASSERT(reason < TROUPE_DROP_LEN);
    d->system.dropped[reason]++;
}

/* System messages that carry what must not be lost with them. */
static bool drop_carrier(trp_dispatcher_t *d, trp_message_t *message)
{
    if ((message->flags & TRP_MESSAGE_SYSTEM) == 0 || trp_id_is_ask(message->target)) {
        return false;
    }
    if (message->type == TRP_SYSTEM_OFFLOADED) {
        trp_offload_abandon(d, message);
        return true;
    }
    if (message->type == TRP_SYSTEM_SELECT) {
        trp_selection_abandon(d, message);
        return true;
    }
    if (message->type == TRP_SYSTEM_CHILD_ENDED) { /* Its parent is gone: as the node ends. */
        trp_child_ended_t ended;
        memcpy(&ended, trp_message_payload(message), sizeof(ended));
        trp_names_remove(&d->endpoint.runtime->names, &ended.name);
    }
    return false;
}

void trp_drop(trp_dispatcher_t *d, trp_message_t *message, troupe_drop_t reason)
{
    if (drop_carrier(d, message)) {
        return;
    }
    if ((message->flags & TRP_MESSAGE_SYSTEM) != 0) {
        trp_dispatcher_drop_system(d, reason);
    } else {
        trp_dispatcher_drop(d, reason, trp_dispatcher_ref(d, message->target),
                            trp_message_sender(d, message), message->type, NULL);
    }
    if ((message->flags & TRP_MESSAGE_FAILED) != 0) {
        message->size = 0;
    }
    trp_message_free(&d->endpoint.pool, message);
}

void trp_leftover_free(trp_dispatcher_t *d, trp_message_t *message)
{
    bool is_task = (message->flags & TRP_MESSAGE_SYSTEM) != 0 && message->type == TRP_SYSTEM_TASK &&
                   !trp_id_is_ask(message->target);
    if (is_task) {
        trp_task_abandon(d, message);
    } else if (drop_carrier(d, message)) {
        return;
    }
    trp_message_free(&d->endpoint.pool, message);
}
