/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The messages that mediators exchange, in msgpack: each is one array whose first element is its kind.
 *
 *     [1, hash, count]                                       digest of the version vector
 *     [2, [hash * 64]]                                       the vector's hash in 64 ranges of uids
 *     [3, is_reply, range mask, [uid, version, ...]]         the vector, in the ranges of the mask
 *     [4, from, floor, nonce]                                want: my copy of your bucket ends at `from`
 *     [5, owner, from, to, head, floor, nonce, is_full, [element, ...]]        delta of a bucket
 *     [6, version]                                           ack: your changes are in effect here
 *     element = [space, name, group or nil, weight, version]
 *
 * What comes in is scanned for structure before the decoder allocates for it, so that no count of a
 * peer is trusted. Thread rule: a decoded message belongs to its thread. */

#ifndef TROUPE_PUBSUB_CODEC_H
#define TROUPE_PUBSUB_CODEC_H

#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/buf.h"
#include "base/view.h"
#include "pubsub/atoms.h"

#define TRP_GOSSIP_SIZE_MAX (64u * 1024u) /* A control frame. */
#define TRP_GOSSIP_DELTA_SIZE_MAX (56u * 1024u)
#define TRP_GOSSIP_ELEMENTS_MAX 3000u
#define TRP_GOSSIP_VECTOR_LEN_MAX 2500u /* Uids and versions of 18 bytes at most, in one frame. */
#define TRP_GOSSIP_RANGES 64u
#define TRP_GOSSIP_WEIGHT_MAX UINT32_C(0x7fffffff)

typedef enum trp_gossip_kind {
    TRP_GOSSIP_DIGEST = 1,
    TRP_GOSSIP_RANGE_HASHES = 2,
    TRP_GOSSIP_VECTOR = 3,
    TRP_GOSSIP_WANT = 4,
    TRP_GOSSIP_DELTA = 5,
    TRP_GOSSIP_ACK = 6,
} trp_gossip_kind_t;

typedef struct trp_gossip_element {
    trp_view_t name;
    trp_view_t group; /* Empty: plain. */
    uint64_t version;
    uint32_t weight; /* 0: a tombstone. */
    trp_space_t space;
} trp_gossip_element_t;

/* The fields of all kinds; those that a kind does not have are 0. */
typedef struct trp_gossip {
    trp_gossip_kind_t kind;
    uint64_t hash;  /* digest */
    uint32_t count; /* digest */
    bool is_reply;  /* vector */
    uint64_t mask;  /* vector */
    uint64_t owner; /* delta */
    uint64_t from;  /* want, delta: exclusive */
    uint64_t to;    /* delta: inclusive; ack */
    uint64_t head;  /* delta: the newest version that the owner has */
    uint64_t floor; /* want, delta: tombstones up to here are gone */
    uint32_t nonce; /* want, delta: of the want that is answered; 0: pushed */
    bool is_full;   /* delta: forget what this does not tell again */
    uint32_t len;   /* Elements, hashes, or pairs of the vector. */
    const msgpack_object *items;
    msgpack_unpacked unpacked;
} trp_gossip_t;

/* Decodes and checks all of it. TROUPE_EPROTOCOL, TROUPE_ETOOBIG, TROUPE_ENOMEM. After TROUPE_OK
 * the views point into `bytes`, and trp_gossip_fini must be called. */
troupe_err_t trp_gossip_decode(trp_view_t bytes, trp_gossip_t *ret_gossip);
void trp_gossip_fini(trp_gossip_t *gossip);

/* The elements of a delta, the hashes of ranges, the pairs of a vector; `at` below len. */
void trp_gossip_element(const trp_gossip_t *gossip, uint32_t at, trp_gossip_element_t *ret_element);
uint64_t trp_gossip_range(const trp_gossip_t *gossip, uint32_t at);
void trp_gossip_pair(const trp_gossip_t *gossip, uint32_t at, uint64_t *ret_uid,
                     uint64_t *ret_version);

/* ---- encoding: each appends to the buffer; TROUPE_ENOMEM, TROUPE_ETOOBIG ---------------------- */

troupe_err_t trp_gossip_put_digest(trp_buf_t *buf, uint64_t hash, uint32_t count);
troupe_err_t trp_gossip_put_ranges(trp_buf_t *buf, const uint64_t hashes[TRP_GOSSIP_RANGES]);
/* Followed by `len` pairs. */
troupe_err_t trp_gossip_put_vector(trp_buf_t *buf, bool is_reply, uint64_t mask, uint32_t len);
troupe_err_t trp_gossip_put_pair(trp_buf_t *buf, uint64_t uid, uint64_t version);
troupe_err_t trp_gossip_put_want(trp_buf_t *buf, uint64_t from, uint64_t floor, uint32_t nonce);
troupe_err_t trp_gossip_put_ack(trp_buf_t *buf, uint64_t version);
/* The delta's head, without its elements: owner, from, to, head, floor, nonce, is_full, len. */
troupe_err_t trp_gossip_put_delta(trp_buf_t *buf, const trp_gossip_t *delta);
troupe_err_t trp_gossip_put_element(trp_buf_t *buf, const trp_gossip_element_t *element);

/* An upper bound of what put_element appends. */
static inline size_t trp_gossip_element_size(size_t name_size, size_t group_size)
{
    return name_size + group_size + 32;
}

#endif
