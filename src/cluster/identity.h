/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What never changes about a member: uid, address, name, roles. Shared by the member table, by events
 * on their way out and by tombstones, so it outlives the member's entry.
 *
 * Thread rule: the reference count is plain; all holders live on the core's thread. */

#ifndef TROUPE_CLUSTER_IDENTITY_H
#define TROUPE_CLUSTER_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"
#include "cluster/limits.h"

typedef struct trp_identity {
    uint32_t refs;
    uint32_t roles_len;
    uint64_t uid;
    const char *address; /* These point into `text`. */
    const char *name;
    const char *roles[TRP_ROLES_MAX];
    char text[];
} trp_identity_t;

/* The same, as it comes from options or from a peer: borrowed and not yet checked. */
typedef struct trp_identity_view {
    uint64_t uid;
    trp_view_t address;
    trp_view_t name;
    trp_view_t roles[TRP_ROLES_MAX];
    size_t roles_len;
} trp_identity_view_t;

/* True when sizes are in bounds, the uid and the address are there and no text holds a zero byte. */
bool trp_identity_is_valid(const trp_identity_view_t *view);

/* Copies a valid view; the result has one reference. ENOMEM. */
troupe_err_t trp_identity_create(const trp_identity_view_t *view, trp_identity_t **ret_identity);

/* The view of an identity, for encoding. */
void trp_identity_view(const trp_identity_t *identity, trp_identity_view_t *ret_view);

trp_identity_t *trp_identity_ref(trp_identity_t *identity);

/* Drops one reference and nulls the pointer; NULL is allowed. */
void trp_identity_unref(trp_identity_t **identity_p);

/* The order by which leaders are chosen: by address, then by uid. Negative, 0 or positive. */
int trp_identity_compare(const trp_identity_t *a, const trp_identity_t *b);

bool trp_identity_has_role(const trp_identity_t *identity, const char *role);

#endif
