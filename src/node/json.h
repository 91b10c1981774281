/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Writes JSON straight into a buffer: what the admin socket answers. Reading is cJSON's work.
 *
 * Text that is not UTF-8, or has a zero byte in it, is written in hexadecimal under the key with
 * "_hex" behind it, so that topics and bodies of any bytes come through unharmed. Uids are written as
 * 16 hexadecimal digits in quotes, for JSON's readers round numbers above 2^53.
 *
 * The first error is kept and everything after it does nothing: look once, at the end.
 * Thread rule: a writer belongs to its thread. */

#ifndef TROUPE_NODE_JSON_H
#define TROUPE_NODE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/buf.h"

#define TRP_JSON_DEPTH_MAX 32u

typedef struct trp_json {
    trp_buf_t *out; /* Borrowed. */
    troupe_err_t error;
    uint32_t depth;
    uint32_t has_members; /* Bit i: a comma goes before the next member at depth i. */
} trp_json_t;

void trp_json_init(trp_json_t *json, trp_buf_t *out);

/* `key` is NULL in arrays and for the outermost value; plain ASCII otherwise. */
void trp_json_object_begin(trp_json_t *json, const char *key);
void trp_json_object_end(trp_json_t *json);
void trp_json_array_begin(trp_json_t *json, const char *key);
void trp_json_array_end(trp_json_t *json);

void trp_json_text(trp_json_t *json, const char *key, const char *text);
void trp_json_bytes(trp_json_t *json, const char *key, const void *data, size_t size);
void trp_json_u64(trp_json_t *json, const char *key, uint64_t number);
void trp_json_uid(trp_json_t *json, const char *key, uint64_t uid);
void trp_json_bool(trp_json_t *json, const char *key, bool is_true);

/* OK when all was written and every begin has its end; the writer's error otherwise. */
troupe_err_t trp_json_finish(const trp_json_t *json);

#endif
