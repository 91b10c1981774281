/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What members say to each other, and its one codec.
 *
 * A message is the MessagePack array
 *
 *     [version, type, cluster, head, items]      head = [seq, uid, incarnation, digest, epoch, code,
 *                                                        from, to]
 *     items = [item...]                          item = [kind, field...]
 *
 * Every message has the same head; fields that a type doesn't use are 0 and take a byte. Elements
 * beyond the known ones are skipped, in the message, its head and each item, and so are items of
 * unknown kinds: a newer node may add both. Who sent a message is never in it; the link says so.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_CLUSTER_WIRE_H
#define TROUPE_CLUSTER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"
#include "cluster/identity.h"
#include "cluster/limits.h"
#include "cluster/members.h"
#include "cluster/pack.h"

#define TRP_WIRE_VERSION 1

typedef enum trp_wire_type {
    TRP_WIRE_PING = 1,     /* seq, uid: whom it is for, incarnation: suspected, or 0. News. */
    TRP_WIRE_ACK = 2,      /* seq, incarnation: own. News. */
    TRP_WIRE_PING_REQ = 3, /* seq, uid: whom to probe, incarnation: suspected, or 0. */
    TRP_WIRE_RELAYED = 4,  /* seq, incarnation: that of whom was probed: it has answered. */
    TRP_WIRE_NACK = 5,     /* seq: no answer so far, but we are here. */
    TRP_WIRE_GOSSIP = 6,   /* News. */
    TRP_WIRE_SYNC = 7,     /* RANGE items: hashes of the sender's table. */
    TRP_WIRE_VECTOR = 8, /* from, to: first and last uid; VERSION items: all there is in between. */
    TRP_WIRE_RECORDS = 9, /* MEMBER and STATUS items that the other lacks, UID items: wanted. */
    TRP_WIRE_SET = 10,    /* The settled set: epoch, digest: its hash, from: place, to: length. */
    TRP_WIRE_SEEK = 11,   /* One MEMBER item: the seeker. code: 1 when it asks for a promise. */
    TRP_WIRE_ANSWER =
        12, /* From one without a cluster. code: 1 when it promises not to form one. */
    TRP_WIRE_ANNOUNCE = 13, /* One MEMBER item: the sender. There is a cluster here: seek again.
                               to: its strength, see heal.h. */
    TRP_WIRE_WELCOME = 14,  /* One MEMBER item: the welcomer. */
    TRP_WIRE_FENCED = 15,   /* The receiver is no member any more. */
    TRP_WIRE_BYE = 16,      /* The sender stops now. */
    TRP_WIRE_CHANGE = 17,   /* A PROPOSED or SETTLED item. */
    TRP_WIRE_ACCEPT = 18, /* epoch, seq: ballot, uid: proposer, digest: hash of the proposed set. */
    TRP_WIRE_POLL = 19,   /* seq, epoch, digest: hash of the set, from: ballot, to: proposer;
                               SUSPECT items: who is to be downed. */
    TRP_WIRE_VOTE = 20,   /* seq, code: 1 when granted. */
    TRP_WIRE_YIELD = 21,  /* This cluster gives way to another one of the same name. */
} trp_wire_type_t;

#define TRP_WIRE_TYPE_LAST TRP_WIRE_YIELD

typedef enum trp_item_kind {
    TRP_ITEM_STATUS = 1,   /* uid, state, incarnation, up number, flags */
    TRP_ITEM_MEMBER = 2,   /* the same and address, name, [role...] */
    TRP_ITEM_SUSPECT = 3,  /* uid, incarnation, by */
    TRP_ITEM_PROPOSED = 4, /* epoch, ballot, proposer, base, result, [added...], [removed...] */
    TRP_ITEM_SETTLED = 5,  /* the same */
    TRP_ITEM_ACKED = 6,    /* uid, epoch, ballot, proposer, result */
    TRP_ITEM_VERSION = 7,  /* uid, hash */
    TRP_ITEM_UID = 8,      /* uid */
    TRP_ITEM_RANGE = 9,    /* index, hash */
} trp_item_kind_t;

/* The head. */
typedef struct trp_wire {
    trp_wire_type_t type;
    uint32_t incarnation;
    uint64_t cluster;
    uint64_t seq;
    uint64_t uid;
    uint64_t digest;
    uint64_t epoch;
    uint64_t code;
    uint64_t from;
    uint64_t to;
} trp_wire_t;

/* A change of the settled set: from the one of `epoch - 1` to the one of `epoch`. */
typedef struct trp_change {
    uint64_t epoch;
    uint64_t ballot; /* Of two proposals for an epoch the higher (ballot, proposer) counts. */
    uint64_t proposer;
    uint64_t base;   /* Hash of the set before, */
    uint64_t result; /* and after. */
    uint64_t added[TRP_CHANGE_MAX];
    uint64_t removed[TRP_CHANGE_MAX];
    size_t added_len;
    size_t removed_len;
} trp_change_t;

/* One item; which fields count depends on its kind. */
typedef struct trp_item {
    trp_item_kind_t kind;
    uint32_t state;
    uint32_t incarnation;
    uint32_t flags;
    uint64_t uid;
    uint64_t up_number;
    uint64_t by;                  /* SUSPECT */
    uint64_t hash;                /* VERSION, RANGE; the index of a RANGE is in `uid`. */
    trp_identity_view_t identity; /* MEMBER; borrows from the message. */
    trp_change_t change;          /* PROPOSED, SETTLED; ACKED uses all but base and the lists. */
} trp_item_t;

/* Items on their way into a message. */
typedef struct trp_items {
    size_t len;
    size_t size;
    uint8_t data[TRP_ITEMS_SIZE_MAX];
} trp_items_t;

static inline void trp_items_clear(trp_items_t *items)
{
    items->len = 0;
    items->size = 0;
}

/* Appends an item unless the items would then take more than `size_max` bytes; true when it fits. */
bool trp_items_add(trp_items_t *items, const trp_item_t *item, size_t size_max);

/* The address of a MEMBER item that came from trp_wire_next, with a zero behind it. */
void trp_item_copy_address(const trp_item_t *item, char out[TROUPE_MEMBER_ADDRESS_SIZE]);

/* Encodes a message; `items` may be NULL. Returns its size; it always fits. */
size_t trp_wire_encode(const trp_wire_t *wire, const trp_items_t *items,
                       uint8_t out[TRP_MESSAGE_SIZE_MAX]);

/* Decodes the head, and leaves the items in ret_items for trp_wire_next. EPROTOCOL: malformed;
 * EVERSION: of another version; ETYPE: of a type that isn't known here. */
troupe_err_t trp_wire_decode(trp_view_t message, trp_wire_t *ret_wire, trp_view_t *ret_items);

/* Takes the next item of a known kind off. ENOENT at the end, EPROTOCOL when malformed: what came
 * before it is good. */
troupe_err_t trp_wire_next(trp_view_t *items, trp_item_t *ret_item);

#endif
