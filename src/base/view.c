/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The parts of the bounded reader that are no one-liners. */

#include "base/view.h"

#include "base/assert.h"

troupe_err_t trp_view_take_varint(trp_view_t *view, uint64_t *ret_value)
{
    TRP_ASSERT(view != NULL);
    size_t used = trp_varint_get(view->data, view->size, ret_value);
    if (used == 0) {
        return TROUPE_EPROTOCOL;
    }
    view->data += used;
    view->size -= used;
    return TROUPE_OK;
}

troupe_err_t trp_view_take_block(trp_view_t *view, size_t size_max, trp_view_t *ret_view)
{
    TRP_ASSERT(view != NULL);
    trp_view_t rest = *view;
    uint64_t size = 0;
    troupe_err_t err = trp_view_take_varint(&rest, &size);
    if (err != TROUPE_OK) {
        return err;
    }
    if (size > size_max) {
        return TROUPE_ETOOBIG;
    }
    err = trp_view_take_view(&rest, (size_t)size, ret_view);
    if (err == TROUPE_OK) {
        *view = rest;
    }
    return err;
}
