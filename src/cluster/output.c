/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The output queue as a growing ring with a bound. */

#include "cluster/output.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/limits.h"

#define OUTPUTS_CAPACITY_MIN 64

void trp_output_fini(trp_output_t *output)
{
    trp_identity_unref(&output->who);
    trp_free(output->data);
    trp_free(output->address);
    output->data = NULL;
    output->address = NULL;
}

void trp_outputs_fini(trp_outputs_t *outputs)
{
    trp_output_t output;
    outputs->events_lost = false;
    while (trp_outputs_pop(outputs, &output)) {
        trp_output_fini(&output);
    }
    trp_free(outputs->items);
    memset(outputs, 0, sizeof(*outputs));
}

static bool outputs_grow(trp_outputs_t *outputs)
{
    if (outputs->len < outputs->capacity) {
        return true;
    }
    if (outputs->capacity == TRP_OUTPUTS_MAX) {
        return false;
    }
    size_t capacity = outputs->capacity == 0 ? OUTPUTS_CAPACITY_MIN : outputs->capacity * 2;
    trp_output_t *items = trp_alloc(capacity * sizeof(*items));
    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < outputs->len; i++) {
        items[i] = outputs->items[(outputs->first + i) % outputs->capacity];
    }
    trp_free(outputs->items);
    outputs->items = items;
    outputs->first = 0;
    outputs->capacity = capacity;
    return true;
}

static bool outputs_may_be_lost(const trp_output_t *output)
{
    return output->kind == TRP_OUTPUT_SEND || output->kind == TRP_OUTPUT_CONNECT ||
           output->kind == TRP_OUTPUT_NOTE || output->kind == TRP_OUTPUT_DISCONNECT;
}

void trp_outputs_push(trp_outputs_t *outputs, trp_output_t *output)
{
    bool lossy = outputs_may_be_lost(output);
    bool has_room = !lossy || outputs->len < TRP_OUTPUTS_MAX / 2;
    if (!has_room || !outputs_grow(outputs)) {
        outputs->dropped_sends += lossy ? 1 : 0;
        outputs->events_lost = outputs->events_lost || !lossy;
        trp_output_fini(output);
        return;
    }
    TRP_ASSERT(outputs->len < outputs->capacity);
    outputs->items[(outputs->first + outputs->len) % outputs->capacity] = *output;
    outputs->len++;
}

bool trp_outputs_pop(trp_outputs_t *outputs, trp_output_t *ret_output)
{
    if (outputs->len > 0) {
        *ret_output = outputs->items[outputs->first];
        outputs->first = (outputs->first + 1) % outputs->capacity;
        outputs->len--;
        return true;
    }
    if (outputs->events_lost) {
        outputs->events_lost = false;
        memset(ret_output, 0, sizeof(*ret_output));
        ret_output->kind = TRP_OUTPUT_LOST;
        return true;
    }
    return false;
}

const char *trp_note_name(trp_note_t note)
{
    static const char *const names[] = {
        "unknown",      "starved",  "indirect_only", "suspect",
        "refuted",      "blocked",  "other_cluster", "spoofed",
        "waiting_seed", "replaced", "seed_is_self",  "member_table_full",
    };
    size_t index = (size_t)note;
    return index < TRP_ARRAY_LEN(names) ? names[index] : names[0];
}

const char *trp_stop_reason_name(trp_stop_reason_t reason)
{
    static const char *const names[] = {"unknown", "left",      "downed",
                                        "split",   "join_lost", "yielded"};
    size_t index = (size_t)reason;
    return index < TRP_ARRAY_LEN(names) ? names[index] : names[0];
}
