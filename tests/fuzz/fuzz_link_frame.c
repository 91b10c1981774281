/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes received frames: the walk over the envelopes, and reading them after it. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/link/numbers.h"
#include "net/link/walk.h"
#include "net/link/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t fuzz_define(void *context, uint64_t uid, uint8_t space, trp_view_t name)
{
    (void)context;
    (void)uid;
    (void)space;
    return name.size > 0 ? (uint32_t)name.data[name.size - 1] + 1 : 0;
}

static void fuzz_undefine(void *context, uint64_t uid, uint32_t id)
{
    (void)context;
    (void)uid;
    if (id == 0) {
        abort();
    }
}

static void fuzz_deliver(void *context, trp_dispatcher_t *d, const trp_link_topic_in_t *in)
{
    (void)context;
    (void)d;
    (void)in;
}

/* After a walk every envelope can be read, and goes to dispatchers that are in the mask. */
static void fuzz_read(const trp_walk_t *walk, trp_view_t envelopes)
{
    uint32_t numbered = 0;
    while (envelopes.size > 0) {
        trp_envelope_t envelope;
        trp_view_t body;
        if (trp_wire_take_envelope(&envelopes, &envelope, &body) != TROUPE_OK) {
            abort();
        }
        bool is_definition =
            envelope.kind == TRP_ENVELOPE_TYPE || envelope.kind == TRP_ENVELOPE_NAME;
        numbered += !is_definition;
        if (is_definition || envelope.kind == TRP_ENVELOPE_VOID) {
            continue;
        }
        uint64_t mask[TRP_LINK_MASK_WORDS];
        trp_walk_mask(walk, &envelope, mask);
        if ((mask[0] & ~walk->mask[0]) != 0 || mask[0] == 0) {
            abort();
        }
    }
    if (numbered != walk->numbered) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_frame_header_t header;
    if (trp_wire_get_frame(trp_view_make(data, size), &header) != TROUPE_OK) {
        return 0;
    }
    trp_ack_t ack;
    trp_chunk_t chunk;
    (void)!trp_wire_get_ack(trp_view_make(data, size), &ack);
    (void)!trp_wire_get_chunk(trp_view_make(data, size), &chunk);
    size_t rest = size - TRP_WIRE_FRAME_SIZE;
    uint8_t *copy = malloc(rest > 0 ? rest : 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data + TRP_WIRE_FRAME_SIZE, rest);
    const trp_link_topic_hooks_t hooks = {NULL, fuzz_define, fuzz_undefine, NULL, fuzz_deliver};
    trp_numbers_t numbers;
    trp_numbers_init(&numbers, 1, NULL, &hooks);
    trp_walk_t walk = {.numbers = &numbers, .dispatchers = 4};
    if (trp_walk_frame(&walk, copy, rest) == TROUPE_OK) {
        fuzz_read(&walk, trp_view_make(copy, rest));
    }
    trp_numbers_fini(&numbers);
    free(copy);
    return 0;
}
