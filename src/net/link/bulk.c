/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The queue of bulk bodies to send, and the set of those being put together. */

#include "net/link/bulk.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

/* ---- sending --------------------------------------------------------------------------------- */

void trp_bulk_queue_init(trp_bulk_queue_t *queue)
{
    *queue = (trp_bulk_queue_t){NULL, NULL, NULL, 0};
}

void trp_bulk_queue_push(trp_bulk_queue_t *queue, trp_bulk_out_t *out)
{
    out->next = NULL;
    out->offset = 0;
    if (queue->last != NULL) {
        queue->last->next = out;
    } else {
        queue->first = out;
    }
    queue->last = out;
    queue->len++;
}

/* The body whose turn it is: one of the first few that still has bytes to send. */
static trp_bulk_out_t *bulk_queue_turn(trp_bulk_queue_t *queue)
{
    trp_bulk_out_t *found = NULL;
    bool is_after = queue->turn == NULL;
    uint32_t turns = 0;
    for (trp_bulk_out_t *out = queue->first; out != NULL && turns < TRP_BULK_TURNS_MAX;
         out = out->next, turns++) {
        bool has_bytes = out->offset < out->body->size;
        if (has_bytes && is_after) {
            return out;
        }
        if (has_bytes && found == NULL) {
            found = out; /* The first of all, for when nobody comes after the last turn. */
        }
        is_after = is_after || out == queue->turn;
    }
    return found;
}

static uint64_t bulk_queue_floor(const trp_bulk_queue_t *queue)
{
    uint64_t floor = UINT64_MAX;
    for (const trp_bulk_out_t *out = queue->first; out != NULL; out = out->next) {
        floor = out->id < floor ? out->id : floor;
    }
    return floor;
}

bool trp_bulk_queue_next(trp_bulk_queue_t *queue, trp_bulk_out_t **ret_bulk, trp_chunk_t *ret_chunk,
                         uint32_t *ret_size)
{
    trp_bulk_out_t *out = bulk_queue_turn(queue);
    if (out == NULL) {
        return false;
    }
    uint64_t left = out->body->size - out->offset;
    uint32_t size = left < TRP_LINK_CHUNK_SIZE ? (uint32_t)left : TRP_LINK_CHUNK_SIZE;
    *ret_chunk = (trp_chunk_t){out->id, out->body->size, out->offset, bulk_queue_floor(queue)};
    *ret_bulk = out;
    *ret_size = size;
    out->offset += size;
    queue->turn = out;
    return true;
}

static void bulk_queue_remove(trp_bulk_queue_t *queue, trp_bulk_out_t *before, trp_bulk_out_t *out)
{
    if (before != NULL) {
        before->next = out->next;
    } else {
        queue->first = out->next;
    }
    if (queue->last == out) {
        queue->last = before;
    }
    if (queue->turn == out) {
        queue->turn = before;
    }
    queue->len--;
}

trp_bulk_out_t *trp_bulk_queue_end(trp_bulk_queue_t *queue, uint64_t id)
{
    trp_bulk_out_t *before = NULL;
    for (trp_bulk_out_t *out = queue->first; out != NULL; before = out, out = out->next) {
        if (out->id == id) {
            bulk_queue_remove(queue, before, out);
            return out;
        }
    }
    return NULL;
}

trp_bulk_out_t *trp_bulk_queue_pop(trp_bulk_queue_t *queue)
{
    trp_bulk_out_t *out = queue->first;
    if (out != NULL) {
        bulk_queue_remove(queue, NULL, out);
    }
    return out;
}

void trp_bulk_queue_rewind(trp_bulk_queue_t *queue)
{
    queue->turn = NULL;
    for (trp_bulk_out_t *out = queue->first; out != NULL; out = out->next) {
        out->offset = 0;
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

void trp_bulk_set_init(trp_bulk_set_t *set)
{
    *set = (trp_bulk_set_t){NULL, 0, 0};
}

/* Gives back the memory that the body has reserved; its bytes go, unless they were taken. */
static void bulk_release(trp_bulk_set_t *set, trp_bulk_budget_t *budget, trp_bulk_in_t *bulk)
{
    if (bulk->body == NULL) {
        return;
    }
    TRP_ASSERT(budget->used >= bulk->size && set->size >= bulk->size);
    budget->used -= (size_t)bulk->size;
    set->size -= (size_t)bulk->size;
    trp_body_unref(bulk->body);
    bulk->body = NULL;
}

void trp_bulk_set_fini(trp_bulk_set_t *set, trp_bulk_budget_t *budget)
{
    while (set->first != NULL) {
        trp_bulk_in_t *bulk = set->first;
        set->first = bulk->next;
        bulk_release(set, budget, bulk);
        trp_free(bulk);
    }
    set->len = 0;
}

trp_bulk_in_t *trp_bulk_set_find(const trp_bulk_set_t *set, uint64_t id)
{
    trp_bulk_in_t *bulk = set->first;
    while (bulk != NULL && bulk->id != id) {
        bulk = bulk->next;
    }
    return bulk;
}

static troupe_err_t bulk_set_get(trp_bulk_set_t *set, uint64_t id, uint64_t size,
                                 trp_bulk_in_t **ret_bulk)
{
    trp_bulk_in_t *bulk = trp_bulk_set_find(set, id);
    if (bulk != NULL) {
        *ret_bulk = bulk;
        return bulk->size == size ? TROUPE_OK : TROUPE_EPROTOCOL;
    }
    if (set->len >= TRP_LINK_BULK_OPEN_MAX) {
        return TROUPE_EFULL;
    }
    bulk = trp_calloc(1, sizeof(*bulk));
    if (bulk == NULL) {
        return TROUPE_ENOMEM;
    }
    bulk->id = id;
    bulk->size = size;
    bulk->state = size <= TROUPE_BULK_SIZE_MAX ? TRP_BULK_OPEN : TRP_BULK_FAILED;
    bulk->next = set->first;
    set->first = bulk;
    set->len++;
    *ret_bulk = bulk;
    return TROUPE_OK;
}

/* Forgets those that are done and that the sender is done with too. */
static void bulk_set_forget(trp_bulk_set_t *set, uint64_t floor)
{
    trp_bulk_in_t **at = &set->first;
    while (*at != NULL) {
        trp_bulk_in_t *bulk = *at;
        if (bulk->state == TRP_BULK_DONE && bulk->id < floor) {
            *at = bulk->next;
            set->len--;
            trp_free(bulk);
        } else {
            at = &bulk->next;
        }
    }
}

/* Reserves the memory of a body at its first chunk. */
static void bulk_open(trp_bulk_set_t *set, trp_bulk_budget_t *budget, trp_bulk_in_t *bulk)
{
    if (bulk->size <= budget->size_max - budget->used) {
        bulk->body = trp_body_new(budget->depot, (size_t)bulk->size, false);
    }
    if (bulk->body == NULL) {
        bulk->state = TRP_BULK_FAILED;
        return;
    }
    budget->used += (size_t)bulk->size;
    set->size += (size_t)bulk->size;
}

/* Adds the part of the bytes that is new. */
static troupe_err_t bulk_add(trp_bulk_in_t *bulk, const trp_chunk_t *chunk, trp_view_t bytes)
{
    if (chunk->offset > bulk->have) {
        return TROUPE_EPROTOCOL; /* A lane is in order: nothing can be missing. */
    }
    uint64_t end = chunk->offset + bytes.size;
    if (end > bulk->have) {
        uint64_t skip = bulk->have - chunk->offset;
        memcpy(bulk->body->data + bulk->have, bytes.data + skip, (size_t)(end - bulk->have));
        bulk->have = end;
    }
    if (bulk->have == bulk->size) {
        bulk->state = TRP_BULK_WHOLE;
    }
    return TROUPE_OK;
}

troupe_err_t trp_bulk_set_chunk(trp_bulk_set_t *set, trp_bulk_budget_t *budget,
                                const trp_chunk_t *chunk, trp_view_t bytes,
                                trp_bulk_in_t **ret_bulk)
{
    *ret_bulk = NULL;
    if (bytes.size == 0 || bytes.size > TRP_LINK_CHUNK_SIZE || bytes.size > chunk->size ||
        chunk->offset > chunk->size - bytes.size) {
        return TROUPE_EPROTOCOL;
    }
    bulk_set_forget(set, chunk->floor < chunk->bulk_id ? chunk->floor : chunk->bulk_id);
    trp_bulk_in_t *bulk = NULL;
    troupe_err_t err = bulk_set_get(set, chunk->bulk_id, chunk->size, &bulk);
    if (err != TROUPE_OK) {
        return err;
    }
    if (bulk->state == TRP_BULK_OPEN && bulk->body == NULL) {
        bulk_open(set, budget, bulk);
    }
    if (bulk->state == TRP_BULK_OPEN) {
        err = bulk_add(bulk, chunk, bytes);
    }
    if (err == TROUPE_OK && bulk->state != TRP_BULK_OPEN) {
        *ret_bulk = bulk;
    }
    return err;
}

troupe_err_t trp_bulk_set_standin(trp_bulk_set_t *set, const trp_standin_t *standin, uint16_t type,
                                  const uint64_t mask[TRP_LINK_MASK_WORDS],
                                  trp_bulk_in_t **ret_bulk)
{
    *ret_bulk = NULL;
    trp_bulk_in_t *bulk = NULL;
    troupe_err_t err = bulk_set_get(set, standin->bulk_id, standin->size, &bulk);
    if (err != TROUPE_OK) {
        return err;
    }
    if (bulk->has_standin) {
        return TROUPE_EPROTOCOL;
    }
    bulk->has_standin = true;
    bulk->type = type;
    memcpy(bulk->mask, mask, sizeof(bulk->mask));
    if (bulk->state != TRP_BULK_OPEN) {
        *ret_bulk = bulk;
    }
    return TROUPE_OK;
}

trp_body_t *trp_bulk_set_take(trp_bulk_set_t *set, trp_bulk_budget_t *budget, trp_bulk_in_t *bulk)
{
    TRP_ASSERT(bulk->state == TRP_BULK_WHOLE || bulk->state == TRP_BULK_FAILED);
    trp_body_t *body = bulk->state == TRP_BULK_WHOLE ? trp_body_ref(bulk->body) : NULL;
    if (body != NULL) {
        body->type = bulk->type;
    }
    bulk_release(set, budget, bulk);
    bulk->state = TRP_BULK_DONE;
    return body;
}
