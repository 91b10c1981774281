/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Identities in one block: the struct, then its strings one after another. */

#include "cluster/identity.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

static bool identity_text_is_valid(trp_view_t text, size_t size_max)
{
    if (text.size > size_max) {
        return false;
    }
    return text.size == 0 || memchr(text.data, 0, text.size) == NULL;
}

bool trp_identity_is_valid(const trp_identity_view_t *view)
{
    if (view->uid == 0 || view->address.size == 0 || view->roles_len > TRP_ROLES_MAX) {
        return false;
    }
    if (!identity_text_is_valid(view->address, TRP_ADDRESS_SIZE_MAX) ||
        !identity_text_is_valid(view->name, TRP_NAME_SIZE_MAX)) {
        return false;
    }
    for (size_t i = 0; i < view->roles_len; i++) {
        if (view->roles[i].size == 0 ||
            !identity_text_is_valid(view->roles[i], TRP_ROLE_SIZE_MAX)) {
            return false;
        }
    }
    return true;
}

static size_t identity_text_size(const trp_identity_view_t *view)
{
    size_t size = view->address.size + 1 + view->name.size + 1;
    for (size_t i = 0; i < view->roles_len; i++) {
        size += view->roles[i].size + 1;
    }
    return size;
}

/* Copies one text behind the others and moves the cursor on. */
static const char *identity_put(char **cursor_p, trp_view_t text)
{
    char *start = *cursor_p;
    if (text.size > 0) {
        memcpy(start, text.data, text.size);
    }
    start[text.size] = '\0';
    *cursor_p = start + text.size + 1;
    return start;
}

troupe_err_t trp_identity_create(const trp_identity_view_t *view, trp_identity_t **ret_identity)
{
    TRP_ASSERT(trp_identity_is_valid(view));
    trp_identity_t *identity = trp_alloc(sizeof(*identity) + identity_text_size(view));
    if (identity == NULL) {
        return TROUPE_ENOMEM;
    }
    memset(identity, 0, sizeof(*identity));
    identity->refs = 1;
    identity->uid = view->uid;
    identity->roles_len = (uint32_t)view->roles_len;
    char *cursor = identity->text;
    identity->address = identity_put(&cursor, view->address);
    identity->name = identity_put(&cursor, view->name);
    for (size_t i = 0; i < view->roles_len; i++) {
        identity->roles[i] = identity_put(&cursor, view->roles[i]);
    }
    *ret_identity = identity;
    return TROUPE_OK;
}

void trp_identity_view(const trp_identity_t *identity, trp_identity_view_t *ret_view)
{
    ret_view->uid = identity->uid;
    ret_view->address = trp_view_from_string(identity->address);
    ret_view->name = trp_view_from_string(identity->name);
    ret_view->roles_len = identity->roles_len;
    for (size_t i = 0; i < identity->roles_len; i++) {
        ret_view->roles[i] = trp_view_from_string(identity->roles[i]);
    }
}

trp_identity_t *trp_identity_ref(trp_identity_t *identity)
{
    TRP_ASSERT(identity->refs > 0);
    identity->refs++;
    return identity;
}

void trp_identity_unref(trp_identity_t **identity_p)
{
    trp_identity_t *identity = *identity_p;
    *identity_p = NULL;
    if (identity == NULL) {
        return;
    }
    TRP_ASSERT(identity->refs > 0);
    identity->refs--;
    if (identity->refs == 0) {
        trp_free(identity);
    }
}

int trp_identity_compare(const trp_identity_t *a, const trp_identity_t *b)
{
    int order = strcmp(a->address, b->address);
    if (order != 0) {
        return order;
    }
    return (a->uid > b->uid) - (a->uid < b->uid);
}

bool trp_identity_has_role(const trp_identity_t *identity, const char *role)
{
    for (size_t i = 0; i < identity->roles_len; i++) {
        if (strcmp(identity->roles[i], role) == 0) {
            return true;
        }
    }
    return false;
}
