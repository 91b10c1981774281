/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The heap. */

#include "sim/queue.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define QUEUE_CAPACITY_MIN 256

void trp_sim_queue_fini(trp_sim_queue_t *queue)
{
    for (size_t i = 0; i < queue->len; i++) {
        trp_free(queue->items[i].data);
    }
    trp_free(queue->items);
    memset(queue, 0, sizeof(*queue));
}

static bool queue_is_before(const trp_sim_event_t *a, const trp_sim_event_t *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void queue_swap(trp_sim_event_t *a, trp_sim_event_t *b)
{
    trp_sim_event_t kept = *a;
    *a = *b;
    *b = kept;
}

static void queue_rise(trp_sim_queue_t *queue, size_t index)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (!queue_is_before(&queue->items[index], &queue->items[parent])) {
            return;
        }
        queue_swap(&queue->items[index], &queue->items[parent]);
        index = parent;
    }
}

static void queue_sink(trp_sim_queue_t *queue, size_t index)
{
    for (;;) {
        size_t first = index;
        for (size_t child = index * 2 + 1; child <= index * 2 + 2 && child < queue->len; child++) {
            if (queue_is_before(&queue->items[child], &queue->items[first])) {
                first = child;
            }
        }
        if (first == index) {
            return;
        }
        queue_swap(&queue->items[index], &queue->items[first]);
        index = first;
    }
}

troupe_err_t trp_sim_queue_push(trp_sim_queue_t *queue, const trp_sim_event_t *event)
{
    if (queue->len == TRP_SIM_EVENTS_MAX) {
        return TROUPE_EFULL;
    }
    if (queue->len == queue->capacity) {
        size_t capacity = queue->capacity == 0 ? QUEUE_CAPACITY_MIN : queue->capacity * 2;
        trp_sim_event_t *items = trp_realloc(queue->items, capacity * sizeof(*items));
        if (items == NULL) {
            return TROUPE_ENOMEM;
        }
        queue->items = items;
        queue->capacity = capacity;
    }
    trp_sim_event_t *place = &queue->items[queue->len];
    *place = *event;
    place->order = queue->next_order;
    queue->next_order++;
    queue->len++;
    queue_rise(queue, queue->len - 1);
    return TROUPE_OK;
}

bool trp_sim_queue_pop(trp_sim_queue_t *queue, uint64_t until, trp_sim_event_t *ret_event)
{
    if (queue->len == 0 || queue->items[0].at > until) {
        return false;
    }
    *ret_event = queue->items[0];
    queue->len--;
    if (queue->len > 0) {
        queue->items[0] = queue->items[queue->len];
        queue_sink(queue, 0);
    }
    return true;
}
