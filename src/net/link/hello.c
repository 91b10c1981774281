/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Writing handshake bodies with msgpack-c, and reading them item by item. */

#include "net/link/hello.h"

#include <msgpack.h>
#include <string.h>

#include "base/assert.h"
#include "net/link/unpack.h"

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct hello_writer {
    msgpack_packer packer;
    trp_buf_t *out;
    troupe_err_t err;
} hello_writer_t;

static int hello_write(void *data, const char *bytes, size_t size)
{
    hello_writer_t *writer = data;
    if (writer->err == TROUPE_OK) {
        writer->err = trp_buf_append(writer->out, bytes, size);
    }
    return writer->err == TROUPE_OK ? 0 : -1;
}

static void hello_writer_init(hello_writer_t *writer, trp_buf_t *out)
{
    writer->out = out;
    writer->err = TROUPE_OK;
    msgpack_packer_init(&writer->packer, writer, hello_write);
}

static void hello_put_text(hello_writer_t *writer, trp_view_t text)
{
    msgpack_pack_str(&writer->packer, text.size);
    msgpack_pack_str_body(&writer->packer, text.data, text.size);
}

static void hello_put_key(hello_writer_t *writer, const char *key)
{
    hello_put_text(writer, trp_view_from_string(key));
}

static void hello_put_uint(hello_writer_t *writer, const char *key, uint64_t value)
{
    hello_put_key(writer, key);
    msgpack_pack_uint64(&writer->packer, value);
}

static void hello_put_string(hello_writer_t *writer, const char *key, trp_view_t value)
{
    hello_put_key(writer, key);
    hello_put_text(writer, value);
}

#define HELLO_PAIR_KEYS 7u

static void hello_put_pair_keys(hello_writer_t *writer, const trp_hello_pair_t *pair)
{
    hello_put_uint(writer, "nonce", pair->nonce);
    hello_put_uint(writer, "echo", pair->echo);
    hello_put_uint(writer, "gen", pair->generation);
    hello_put_uint(writer, "tables", pair->tables);
    hello_put_uint(writer, "next", pair->next_ordinary);
    hello_put_uint(writer, "nextc", pair->next_control);
    hello_put_uint(writer, "win", pair->window);
}

static void hello_put_sections(hello_writer_t *writer, const trp_hello_t *hello)
{
    hello_put_key(writer, "sections");
    msgpack_pack_map(&writer->packer, hello->section_len);
    for (uint32_t i = 0; i < hello->section_len; i++) {
        hello_put_text(writer, hello->sections[i].name);
        msgpack_pack_bin(&writer->packer, hello->sections[i].data.size);
        msgpack_pack_bin_body(&writer->packer, hello->sections[i].data.data,
                              hello->sections[i].data.size);
    }
}

troupe_err_t trp_hello_put(const trp_hello_t *hello, trp_buf_t *out)
{
    TRP_ASSERT(hello->section_len <= TRP_LINK_SECTIONS_MAX);
    hello_writer_t writer;
    hello_writer_init(&writer, out);
    msgpack_pack_map(&writer.packer, HELLO_PAIR_KEYS + 9u);
    hello_put_uint(&writer, "v", hello->version);
    hello_put_uint(&writer, "min", hello->version_min);
    hello_put_uint(&writer, "uid", hello->uid);
    hello_put_uint(&writer, "expect", hello->expect);
    hello_put_uint(&writer, "caps", hello->capabilities);
    hello_put_string(&writer, "cluster", hello->cluster);
    hello_put_string(&writer, "name", hello->name);
    hello_put_string(&writer, "addr", hello->address);
    hello_put_pair_keys(&writer, &hello->pair);
    hello_put_sections(&writer, hello);
    return writer.err;
}

troupe_err_t trp_hello_put_pair(const trp_hello_pair_t *pair, trp_buf_t *out)
{
    hello_writer_t writer;
    hello_writer_init(&writer, out);
    msgpack_pack_map(&writer.packer, HELLO_PAIR_KEYS);
    hello_put_pair_keys(&writer, pair);
    return writer.err;
}

troupe_err_t trp_hello_put_refusal(const trp_refusal_t *refusal, trp_buf_t *out)
{
    hello_writer_t writer;
    hello_writer_init(&writer, out);
    msgpack_pack_map(&writer.packer, 3);
    hello_put_uint(&writer, "reason", (uint64_t)refusal->reason);
    hello_put_uint(&writer, "uid", refusal->uid);
    hello_put_string(&writer, "text", refusal->text);
    return writer.err;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where the value of a key goes: to a number, or to a text of bounded size. */
typedef struct hello_slot {
    const char *key;
    uint64_t *number;
    trp_view_t *text;
    size_t size_max;
} hello_slot_t;

static troupe_err_t hello_get_slot(trp_view_t *view, const hello_slot_t *slot)
{
    if (slot->number != NULL) {
        return trp_unpack_uint(view, slot->number);
    }
    troupe_err_t err = trp_unpack_block(view, slot->text);
    if (err == TROUPE_OK && slot->text->size > slot->size_max) {
        err = TROUPE_EPROTOCOL;
    }
    return err;
}

static const hello_slot_t *hello_find(const hello_slot_t *slots, size_t len, trp_view_t key)
{
    for (size_t i = 0; i < len; i++) {
        if (trp_view_equal_string(key, slots[i].key)) {
            return &slots[i];
        }
    }
    return NULL;
}

static troupe_err_t hello_get_sections(trp_view_t *view, trp_hello_t *hello)
{
    uint32_t len = 0;
    troupe_err_t err = trp_unpack_map(view, &len);
    for (uint32_t i = 0; err == TROUPE_OK && i < len; i++) {
        trp_hello_section_t section = {{NULL, 0}, {NULL, 0}};
        err = trp_unpack_block(view, &section.name);
        if (err == TROUPE_OK) {
            err = trp_unpack_block(view, &section.data);
        }
        if (err == TROUPE_OK && hello->section_len < TRP_LINK_SECTIONS_MAX) {
            hello->sections[hello->section_len++] = section;
        }
    }
    return err;
}

/* Reads a map into the slots; with `hello`, its sections too. Other keys are skipped. */
static troupe_err_t hello_get_map(trp_view_t view, const hello_slot_t *slots, size_t slot_len,
                                  trp_hello_t *hello)
{
    uint32_t len = 0;
    troupe_err_t err = trp_unpack_map(&view, &len);
    for (uint32_t i = 0; err == TROUPE_OK && i < len; i++) {
        trp_view_t key = trp_view_make(NULL, 0);
        err = trp_unpack_block(&view, &key);
        if (err != TROUPE_OK) {
            break;
        }
        const hello_slot_t *slot = hello_find(slots, slot_len, key);
        if (slot != NULL) {
            err = hello_get_slot(&view, slot);
        } else if (hello != NULL && trp_view_equal_string(key, "sections")) {
            err = hello_get_sections(&view, hello);
        } else {
            err = trp_unpack_skip(&view);
        }
    }
    return err;
}

#define HELLO_PAIR_SLOTS(pair)                                                                     \
    {"nonce", &(pair)->nonce, NULL, 0}, {"echo", &(pair)->echo, NULL, 0},                          \
        {"gen", &(pair)->generation, NULL, 0}, {"tables", &(pair)->tables, NULL, 0},               \
        {"next", &(pair)->next_ordinary, NULL, 0}, {"nextc", &(pair)->next_control, NULL, 0},      \
    {                                                                                              \
        "win", &(pair)->window, NULL, 0                                                            \
    }

troupe_err_t trp_hello_get(trp_view_t body, trp_hello_t *ret_hello)
{
    trp_hello_t hello;
    memset(&hello, 0, sizeof(hello));
    const hello_slot_t slots[] = {
        {"v", &hello.version, NULL, 0},
        {"min", &hello.version_min, NULL, 0},
        {"uid", &hello.uid, NULL, 0},
        {"expect", &hello.expect, NULL, 0},
        {"caps", &hello.capabilities, NULL, 0},
        {"cluster", NULL, &hello.cluster, TRP_LINK_CLUSTER_SIZE_MAX},
        {"name", NULL, &hello.name, TRP_LINK_NAME_SIZE_MAX},
        {"addr", NULL, &hello.address, TRP_LINK_ADDRESS_SIZE_MAX},
        HELLO_PAIR_SLOTS(&hello.pair),
    };
    troupe_err_t err = hello_get_map(body, slots, TRP_ARRAY_LEN(slots), &hello);
    if (err == TROUPE_OK && (hello.uid == 0 || hello.pair.nonce == 0 || hello.version == 0 ||
                             hello.address.size == 0)) {
        err = TROUPE_EPROTOCOL;
    }
    if (err == TROUPE_OK) {
        *ret_hello = hello;
    }
    return err;
}

troupe_err_t trp_hello_get_pair(trp_view_t body, trp_hello_pair_t *ret_pair)
{
    trp_hello_pair_t pair = {0, 0, 0, 0, 0, 0, 0};
    const hello_slot_t slots[] = {HELLO_PAIR_SLOTS(&pair)};
    troupe_err_t err = hello_get_map(body, slots, TRP_ARRAY_LEN(slots), NULL);
    if (err == TROUPE_OK && (pair.nonce == 0 || pair.echo == 0)) {
        err = TROUPE_EPROTOCOL;
    }
    if (err == TROUPE_OK) {
        *ret_pair = pair;
    }
    return err;
}

troupe_err_t trp_hello_get_refusal(trp_view_t body, trp_refusal_t *ret_refusal)
{
    uint64_t reason = 0;
    trp_refusal_t refusal = {TROUPE_EREFUSED, 0, {NULL, 0}};
    const hello_slot_t slots[] = {
        {"reason", &reason, NULL, 0},
        {"uid", &refusal.uid, NULL, 0},
        {"text", NULL, &refusal.text, TRP_LINK_TEXT_SIZE_MAX},
    };
    troupe_err_t err = hello_get_map(body, slots, TRP_ARRAY_LEN(slots), NULL);
    if (err != TROUPE_OK) {
        return err;
    }
    switch (reason) {
    case TROUPE_ECLUSTER:
    case TROUPE_EVERSION:
    case TROUPE_EAUTH:
    case TROUPE_ENODE:
    case TROUPE_ESTOPPED:
    case TROUPE_EUNREACHABLE:
    case TROUPE_EEXIST:
    case TROUPE_EFULL:
        refusal.reason = (troupe_err_t)reason;
        break;
    default:
        break;
    }
    *ret_refusal = refusal;
    return TROUPE_OK;
}
