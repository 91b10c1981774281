/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A reader of msgpack that takes one item after the other off a view. It allocates nothing, so that no
 * count in a peer's bytes can make it: the library's own unpacker reserves memory for the lengths that
 * a message claims.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_LINK_UNPACK_H
#define TROUPE_LINK_UNPACK_H

#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"

#define TRP_UNPACK_DEPTH_MAX 16u /* Nesting of items that are skipped. */

/* Each takes one item of its kind; EPROTOCOL when the next item is another or is cut off. */
troupe_err_t trp_unpack_uint(trp_view_t *view, uint64_t *ret_value);
/* Text or bytes. */
troupe_err_t trp_unpack_block(trp_view_t *view, trp_view_t *ret_block);
/* The head of a map: that many pairs of key and value follow. */
troupe_err_t trp_unpack_map(trp_view_t *view, uint32_t *ret_len);
/* Takes any item with all that is in it. */
troupe_err_t trp_unpack_skip(trp_view_t *view);

#endif
