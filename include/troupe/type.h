/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Message types: what a body is, how large it may be, and how it crosses to another node.
 *
 * A type is registered per node, before or after its start, under a name that means the same on every
 * node. There are two kinds:
 *  - *bytes*: the body is a block of bytes that crosses links as it is. With `fixed_size` every body
 *    has just that size (a struct that is declared little-endian without padding; see
 *    TROUPE_TYPE_ASSERT_FIXED); without it, any size up to `size_max`.
 *  - *object*: the body is a pointer to an object of the program. It is never encoded for a local
 *    receiver; for another node `encode` writes it and `decode` makes it anew there; `free_object`
 *    ends its life when the last receiver has handled it. Bodies are immutable once sent.
 *
 * A raw C struct with padding or host byte order must never be registered as bytes. Since 0.1. */

#ifndef TROUPE_TYPE_H
#define TROUPE_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/api.h>
#include <troupe/error.h>

TROUPE_BEGIN_DECLS

typedef struct troupe_node troupe_node_t;

/* A registered type: a small number that is valid on its own node only. 0 is no type. */
typedef struct troupe_type {
    uint16_t id;
} troupe_type_t;

/* Bytes with no further meaning (what `troupe tell` sends); registered on every node. */
#define TROUPE_TYPE_BYTES ((troupe_type_t){1})
/* UTF-8 text; registered on every node. */
#define TROUPE_TYPE_TEXT ((troupe_type_t){2})

#define TROUPE_TYPES_MAX 4096                       /* Types a node can register. */
#define TROUPE_TYPE_NAME_SIZE_MAX 255               /* Bytes of a type's name. */
#define TROUPE_BODY_SIZE_MAX (64u * 1024u)          /* Default limit: an ordinary body. */
#define TROUPE_BULK_SIZE_MAX (256u * 1024u * 1024u) /* The most a type may allow itself. */

/* Writes at most `capacity` bytes of the object's encoding to `out` and the full size to ret_size,
 * which may be larger than capacity (the caller then comes back with more room). Runs on the sender's
 * dispatcher; must not block. An error drops the message as "bad body". */
typedef troupe_err_t (*troupe_encode_fn)(const void *object, void *out, size_t capacity,
                                         size_t *ret_size);
/* Makes an object from bytes of a peer, which may be anything. Runs on the receiver's dispatcher. */
typedef troupe_err_t (*troupe_decode_fn)(const void *data, size_t size, void **ret_object);
/* Ends an object. Runs on whichever thread drops the last reference to it. */
typedef void (*troupe_free_fn)(void *object);

typedef struct troupe_type_options {
    size_t size;       /* sizeof(troupe_type_options_t) */
    const char *name;  /* Required, unique on the node; copied. */
    uint64_t version;  /* Hash or number of the layout; peers refuse a body of another version. */
    size_t size_max;   /* Largest (encoded) body; 0 means TROUPE_BODY_SIZE_MAX. */
    size_t fixed_size; /* Not 0: every body has this size. Not with encode. */
    troupe_encode_fn encode; /* All three, or none of the three. */
    troupe_decode_fn decode;
    troupe_free_fn free_object;
} troupe_type_options_t;

#define TROUPE_TYPE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(troupe_type_options_t), 0, 0, 0, 0, 0, 0, 0                                         \
    }

/* Proves at compile time that a struct has the size that its fields add up to. */
#ifdef __cplusplus
#define TROUPE_TYPE_ASSERT_FIXED(type, bytes)                                                      \
    static_assert(sizeof(type) == (bytes), #type " has padding: it can't be a fixed message")
#else
#define TROUPE_TYPE_ASSERT_FIXED(type, bytes)                                                      \
    _Static_assert(sizeof(type) == (bytes), #type " has padding: it can't be a fixed message")
#endif

/* Registers a type. Any thread. TROUPE_EEXIST when the name is taken with other options (the same
 * registration again returns the same type), TROUPE_EFULL past TROUPE_TYPES_MAX, TROUPE_EINVAL. */
TROUPE_API troupe_err_t troupe_type_register(troupe_node_t *node,
                                             const troupe_type_options_t *options,
                                             troupe_type_t *ret_type);

/* The type of that name. TROUPE_ENOENT when none is registered. Any thread. */
TROUPE_API troupe_err_t troupe_type_find(troupe_node_t *node, const char *name,
                                         troupe_type_t *ret_type);

/* The type's name, valid as long as the node; NULL when there is no such type. Any thread. */
TROUPE_API const char *troupe_type_name(troupe_node_t *node, troupe_type_t type);

TROUPE_END_DECLS

#endif
