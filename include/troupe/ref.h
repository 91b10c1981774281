/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* References: the value by which actors are addressed.
 *
 * A reference is 16 bytes: the 64-bit uid of the node's incarnation, and an id of
 * {dispatcher 8 | slot 24 | generation 32} inside it. It is a name, not a pointer: it may be copied,
 * compared, stored and sent inside any payload to any node; it never dangles. When the actor it names
 * is gone, what is sent to it becomes a dead letter.
 *
 * Thread rule: any thread. Since 0.1. */

#ifndef TROUPE_REF_H
#define TROUPE_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/api.h>
#include <troupe/error.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_ref {
    uint64_t node; /* Uid of the node's incarnation; 0 in TROUPE_REF_NONE alone. */
    uint64_t id;   /* dispatcher << 56 | slot << 32 | generation. */
} troupe_ref_t;

/* The reference that names nobody. */
static inline troupe_ref_t troupe_ref_none(void)
{
    troupe_ref_t none = {0, 0};
    return none;
}

static inline bool troupe_ref_is_none(troupe_ref_t ref)
{
    return ref.node == 0;
}

static inline bool troupe_ref_equal(troupe_ref_t a, troupe_ref_t b)
{
    return a.node == b.node && a.id == b.id;
}

/* Bytes that troupe_ref_format needs, with the terminating zero. */
#define TROUPE_REF_TEXT_SIZE 36

/* Writes "#<node uid>.<id>" in hexadecimal. Returns text. */
TROUPE_API const char *troupe_ref_format(troupe_ref_t ref, char text[TROUPE_REF_TEXT_SIZE]);

/* Reads what troupe_ref_format wrote. TROUPE_EINVAL when text is anything else. */
TROUPE_API troupe_err_t troupe_ref_parse(const char *text, troupe_ref_t *ret_ref);

TROUPE_END_DECLS

#endif
