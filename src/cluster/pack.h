/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* MessagePack in and out of bounded memory. Writing goes through msgpack-c. Reading doesn't: its
 * unpacker takes memory for as many elements as a header claims before it has seen one of them, so a
 * peer could have gigabytes taken with five bytes. The reader here pulls one value after another off a
 * view, allocates nothing and borrows strings.
 *
 * Thread rule: pure functions on the caller's memory. */

#ifndef TROUPE_CLUSTER_PACK_H
#define TROUPE_CLUSTER_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"

/* ---- writing ---------------------------------------------------------------------------------- */

/* Writes into memory that the caller owns. What doesn't fit sets `overflow`; the writer may be used
 * on and is looked at once, at the end. */
typedef struct trp_pack {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool overflow;
} trp_pack_t;

void trp_pack_init(trp_pack_t *pack, uint8_t *data, size_t capacity);
void trp_pack_array(trp_pack_t *pack, size_t len);
void trp_pack_u64(trp_pack_t *pack, uint64_t value);
void trp_pack_text(trp_pack_t *pack, trp_view_t text);
/* Bytes that are MessagePack already. */
void trp_pack_raw(trp_pack_t *pack, const void *data, size_t size);

/* ---- reading ---------------------------------------------------------------------------------- */

#define TRP_UNPACK_DEPTH_MAX 8 /* Nesting of what is skipped. */

/* Each takes one value off the front; TROUPE_EPROTOCOL when it is another kind or cut off. */
troupe_err_t trp_pack_read_array(trp_view_t *view, size_t *ret_len);
troupe_err_t trp_pack_read_u64(trp_view_t *view, uint64_t *ret_value);
troupe_err_t trp_pack_read_u32(trp_view_t *view, uint32_t *ret_value);
troupe_err_t trp_pack_read_text(trp_view_t *view, trp_view_t *ret_text);

/* Takes one value of any kind off, with all that is in it. */
troupe_err_t trp_pack_read_skip(trp_view_t *view);

#endif
