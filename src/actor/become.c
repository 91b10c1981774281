/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Behavior changes: a short stack of receive functions. */

#include <troupe/actor.h>

#include "actor/extra.h"
#include "base/memory.h"

troupe_err_t troupe_become(troupe_actor_t *self, troupe_receive_fn receive)
{
    trp_extra_t *extra = trp_extra_get(self);
    if (receive == NULL) {
        return TROUPE_EINVAL;
    }
    if (extra == NULL) {
        return TROUPE_ENOMEM;
    }
    if (extra->becomes == NULL) {
        extra->becomes = trp_calloc(1, sizeof(*extra->becomes));
        if (extra->becomes == NULL) {
            return TROUPE_ENOMEM;
        }
    }
    if (extra->becomes->len == TROUPE_BECOME_DEPTH_MAX) {
        return TROUPE_EFULL;
    }
    extra->becomes->stack[extra->becomes->len++] = self->receive;
    self->receive = receive;
    return TROUPE_OK;
}

troupe_err_t troupe_unbecome(troupe_actor_t *self)
{
    trp_extra_t *extra = self->extra;
    if (extra == NULL || extra->becomes == NULL || extra->becomes->len == 0) {
        return TROUPE_EAGAIN;
    }
    self->receive = extra->becomes->stack[--extra->becomes->len];
    return TROUPE_OK;
}
