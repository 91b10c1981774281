/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/body.h"

#include <string.h>

#include "actor/pool.h"
#include "base/assert.h"
#include "base/memory.h"

/* A small body comes from the depot's blocks, so that publishing allocates nothing in steady state; a
 * larger one from the system, charged to the ceiling. */
trp_body_t *trp_body_new(trp_depot_t *depot, size_t size, bool is_system)
{
    size_t need = sizeof(trp_body_t) + size;
    trp_body_t *body = NULL;
    if (need <= TRP_POOL_BLOCK_MAX) {
        uint32_t class_index = trp_pool_class(need);
        body = trp_depot_take(depot, class_index, is_system);
        need = trp_pool_block_size(class_index);
    } else if (trp_depot_charge(depot, need, is_system)) {
        body = trp_alloc(need);
        if (body == NULL) {
            trp_depot_discharge(depot, need);
        }
    }
    if (body == NULL) {
        return NULL;
    }
    memset(body, 0, sizeof(*body));
    atomic_init(&body->refs, 1);
    body->depot = depot;
    body->size = size;
    body->charge = need;
    return body;
}

static void body_free(trp_body_t *body)
{
    if (body->is_object && body->free_object != NULL) {
        body->free_object(body->object);
    }
    if (body->release != NULL) {
        body->release(body->release_context);
    }
    trp_depot_t *depot = body->depot;
    size_t charge = body->charge;
    if (charge <= TRP_POOL_BLOCK_MAX) {
        trp_depot_put(depot, trp_pool_class(charge), body);
        return;
    }
    trp_free(body);
    trp_depot_discharge(depot, charge);
}

void trp_body_unref(trp_body_t *body)
{
    /* Release: what this thread did with the body comes before its end; acquire pairs with it in the
     * thread that takes the last reference away. */
    uint32_t before = atomic_fetch_sub_explicit(&body->refs, 1, memory_order_acq_rel);
    TRP_ASSERT(before > 0);
    if (before == 1) {
        body_free(body);
    }
}
