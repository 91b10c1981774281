/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A look over foreign msgpack before it is decoded.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_PUBSUB_CODEC_SCAN_H
#define TROUPE_PUBSUB_CODEC_SCAN_H

#include <troupe/error.h>

#include "base/view.h"

#define TRP_SCAN_DEPTH_MAX 4u

/* TROUPE_OK when the bytes are exactly one value of nils, booleans, unsigned numbers, strings, byte
 * strings and arrays, no deeper than TRP_SCAN_DEPTH_MAX, with all that its counts promise present.
 * Decoding then takes memory in proportion to the bytes. */
troupe_err_t trp_scan(trp_view_t bytes);

#endif
