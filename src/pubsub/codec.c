/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Encoding and decoding of what mediators exchange. */

#include "pubsub/codec.h"

#include <string.h>

#include "base/assert.h"
#include "base/attr.h"
#include "pubsub/codec_scan.h"
#include "pubsub/pattern.h"

/* ---- encoding -------------------------------------------------------------------------------- */

typedef struct codec_writer {
    trp_buf_t *buf;
    troupe_err_t err;
    msgpack_packer packer;
} codec_writer_t;

static int codec_write(void *context, const char *data, size_t size)
{
    codec_writer_t *writer = context;
    if (writer->err == TROUPE_OK) {
        writer->err = trp_buf_append(writer->buf, data, size);
    }
    return writer->err == TROUPE_OK ? 0 : -1;
}

static void codec_writer_init(codec_writer_t *writer, trp_buf_t *buf)
{
    writer->buf = buf;
    writer->err = TROUPE_OK;
    msgpack_packer_init(&writer->packer, writer, codec_write);
}

static void codec_put_array(codec_writer_t *writer, size_t len)
{
    (void)msgpack_pack_array(&writer->packer, len);
}

static void codec_put_u64(codec_writer_t *writer, uint64_t value)
{
    (void)msgpack_pack_uint64(&writer->packer, value);
}

static void codec_put_bool(codec_writer_t *writer, bool value)
{
    (void)(value ? msgpack_pack_true(&writer->packer) : msgpack_pack_false(&writer->packer));
}

static void codec_put_bytes(codec_writer_t *writer, trp_view_t bytes)
{
    (void)msgpack_pack_bin(&writer->packer, bytes.size);
    (void)msgpack_pack_bin_body(&writer->packer, bytes.data, bytes.size);
}

troupe_err_t trp_gossip_put_digest(trp_buf_t *buf, uint64_t hash, uint32_t count)
{
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 3);
    codec_put_u64(&writer, TRP_GOSSIP_DIGEST);
    codec_put_u64(&writer, hash);
    codec_put_u64(&writer, count);
    return writer.err;
}

troupe_err_t trp_gossip_put_ranges(trp_buf_t *buf, const uint64_t hashes[TRP_GOSSIP_RANGES])
{
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 2);
    codec_put_u64(&writer, TRP_GOSSIP_RANGE_HASHES);
    codec_put_array(&writer, TRP_GOSSIP_RANGES);
    for (uint32_t i = 0; i < TRP_GOSSIP_RANGES; i++) {
        codec_put_u64(&writer, hashes[i]);
    }
    return writer.err;
}

troupe_err_t trp_gossip_put_vector(trp_buf_t *buf, bool is_reply, uint64_t mask, uint32_t len)
{
    TRP_ASSERT(len <= TRP_GOSSIP_VECTOR_LEN_MAX);
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 4);
    codec_put_u64(&writer, TRP_GOSSIP_VECTOR);
    codec_put_bool(&writer, is_reply);
    codec_put_u64(&writer, mask);
    codec_put_array(&writer, (size_t)len * 2);
    return writer.err;
}

troupe_err_t trp_gossip_put_pair(trp_buf_t *buf, uint64_t uid, uint64_t version)
{
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_u64(&writer, uid);
    codec_put_u64(&writer, version);
    return writer.err;
}

troupe_err_t trp_gossip_put_want(trp_buf_t *buf, uint64_t from, uint64_t floor, uint32_t nonce)
{
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 4);
    codec_put_u64(&writer, TRP_GOSSIP_WANT);
    codec_put_u64(&writer, from);
    codec_put_u64(&writer, floor);
    codec_put_u64(&writer, nonce);
    return writer.err;
}

troupe_err_t trp_gossip_put_ack(trp_buf_t *buf, uint64_t version)
{
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 2);
    codec_put_u64(&writer, TRP_GOSSIP_ACK);
    codec_put_u64(&writer, version);
    return writer.err;
}

troupe_err_t trp_gossip_put_delta(trp_buf_t *buf, const trp_gossip_t *delta)
{
    TRP_ASSERT(delta->len <= TRP_GOSSIP_ELEMENTS_MAX);
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 9);
    codec_put_u64(&writer, TRP_GOSSIP_DELTA);
    codec_put_u64(&writer, delta->owner);
    codec_put_u64(&writer, delta->from);
    codec_put_u64(&writer, delta->to);
    codec_put_u64(&writer, delta->head);
    codec_put_u64(&writer, delta->floor);
    codec_put_u64(&writer, delta->nonce);
    codec_put_bool(&writer, delta->is_full);
    codec_put_array(&writer, delta->len);
    return writer.err;
}

troupe_err_t trp_gossip_put_element(trp_buf_t *buf, const trp_gossip_element_t *element)
{
    codec_writer_t writer;
    codec_writer_init(&writer, buf);
    codec_put_array(&writer, 5);
    codec_put_u64(&writer, (uint64_t)element->space);
    codec_put_bytes(&writer, element->name);
    if (element->group.size == 0) {
        (void)msgpack_pack_nil(&writer.packer);
    } else {
        codec_put_bytes(&writer, element->group);
    }
    codec_put_u64(&writer, element->weight);
    codec_put_u64(&writer, element->version);
    return writer.err;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static bool codec_is_u64(const msgpack_object *object, uint64_t max)
{
    return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= max;
}

static bool codec_is_array(const msgpack_object *object, uint32_t len)
{
    return object->type == MSGPACK_OBJECT_ARRAY && object->via.array.size == len;
}

static bool codec_is_bytes(const msgpack_object *object)
{
    return object->type == MSGPACK_OBJECT_BIN && object->via.bin.size > 0 &&
           object->via.bin.size <= TRP_ATOM_SIZE_MAX;
}

static trp_view_t codec_bytes(const msgpack_object *object)
{
    return trp_view_make(object->via.bin.ptr, object->via.bin.size);
}

/* All of `len` fields from `first` on are numbers. */
static bool codec_are_u64(const msgpack_object *fields, uint32_t first, uint32_t len)
{
    for (uint32_t i = first; i < first + len; i++) {
        if (!codec_is_u64(&fields[i], UINT64_MAX)) {
            return false;
        }
    }
    return true;
}

static bool codec_items(const msgpack_object *object, uint32_t len_max, trp_gossip_t *gossip)
{
    if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size > len_max) {
        return false;
    }
    gossip->items = object->via.array.ptr;
    gossip->len = object->via.array.size;
    return true;
}

static bool codec_take_ranges(const msgpack_object *fields, trp_gossip_t *gossip)
{
    return codec_items(&fields[1], TRP_GOSSIP_RANGES, gossip) && gossip->len == TRP_GOSSIP_RANGES &&
           codec_are_u64(gossip->items, 0, gossip->len);
}

static bool codec_take_vector(const msgpack_object *fields, trp_gossip_t *gossip)
{
    if (fields[1].type != MSGPACK_OBJECT_BOOLEAN || !codec_is_u64(&fields[2], UINT64_MAX) ||
        !codec_items(&fields[3], TRP_GOSSIP_VECTOR_LEN_MAX * 2, gossip) || gossip->len % 2 != 0 ||
        !codec_are_u64(gossip->items, 0, gossip->len)) {
        return false;
    }
    gossip->is_reply = fields[1].via.boolean;
    gossip->mask = fields[2].via.u64;
    gossip->len /= 2;
    return true;
}

static bool codec_element_is_good(const msgpack_object *object, const trp_gossip_t *gossip)
{
    if (!codec_is_array(object, 5)) {
        return false;
    }
    const msgpack_object *fields = object->via.array.ptr;
    bool is_plain = fields[2].type == MSGPACK_OBJECT_NIL;
    if (!codec_is_u64(&fields[0], TRP_SPACE_COUNT - 1) || fields[0].via.u64 == TRP_SPACE_GROUP ||
        !codec_is_bytes(&fields[1]) || (!is_plain && !codec_is_bytes(&fields[2])) ||
        !codec_is_u64(&fields[3], TRP_GOSSIP_WEIGHT_MAX) || !codec_is_u64(&fields[4], gossip->to) ||
        fields[4].via.u64 <= gossip->from) {
        return false;
    }
    if (!is_plain && fields[0].via.u64 != TRP_SPACE_TOPIC) {
        return false;
    }
    return fields[0].via.u64 != TRP_SPACE_PATTERN ||
           trp_pattern_check(codec_bytes(&fields[1])) == TROUPE_OK;
}

/* Versions rise from element to element, so that a delta may be taken in part. */
static bool codec_take_elements(const trp_gossip_t *gossip)
{
    uint64_t version = gossip->from;
    for (uint32_t i = 0; i < gossip->len; i++) {
        if (!codec_element_is_good(&gossip->items[i], gossip)) {
            return false;
        }
        uint64_t next = gossip->items[i].via.array.ptr[4].via.u64;
        if (next <= version) {
            return false;
        }
        version = next;
    }
    return true;
}

static bool codec_take_delta(const msgpack_object *fields, trp_gossip_t *gossip)
{
    if (!codec_are_u64(fields, 1, 5) || !codec_is_u64(&fields[6], UINT32_MAX) ||
        fields[7].type != MSGPACK_OBJECT_BOOLEAN ||
        !codec_items(&fields[8], TRP_GOSSIP_ELEMENTS_MAX, gossip)) {
        return false;
    }
    gossip->owner = fields[1].via.u64;
    gossip->from = fields[2].via.u64;
    gossip->to = fields[3].via.u64;
    gossip->head = fields[4].via.u64;
    gossip->floor = fields[5].via.u64;
    gossip->nonce = (uint32_t)fields[6].via.u64;
    gossip->is_full = fields[7].via.boolean;
    return gossip->from <= gossip->to && gossip->to <= gossip->head &&
           (!gossip->is_full || gossip->from == 0) && codec_take_elements(gossip);
}

static bool codec_take_want(const msgpack_object *fields, trp_gossip_t *gossip)
{
    if (!codec_are_u64(fields, 1, 2) || !codec_is_u64(&fields[3], UINT32_MAX)) {
        return false;
    }
    gossip->from = fields[1].via.u64;
    gossip->floor = fields[2].via.u64;
    gossip->nonce = (uint32_t)fields[3].via.u64;
    return true;
}

static bool codec_take_digest(const msgpack_object *fields, trp_gossip_t *gossip)
{
    if (!codec_is_u64(&fields[1], UINT64_MAX) || !codec_is_u64(&fields[2], UINT32_MAX)) {
        return false;
    }
    gossip->hash = fields[1].via.u64;
    gossip->count = (uint32_t)fields[2].via.u64;
    return true;
}

static bool codec_take_ack(const msgpack_object *fields, trp_gossip_t *gossip)
{
    if (!codec_is_u64(&fields[1], UINT64_MAX)) {
        return false;
    }
    gossip->to = fields[1].via.u64;
    return true;
}

static const struct codec_kind {
    uint32_t len;
    bool (*take)(const msgpack_object *fields, trp_gossip_t *gossip);
} codec_kinds[] = {
    [TRP_GOSSIP_DIGEST] = {3, codec_take_digest},
    [TRP_GOSSIP_RANGE_HASHES] = {2, codec_take_ranges},
    [TRP_GOSSIP_VECTOR] = {4, codec_take_vector},
    [TRP_GOSSIP_WANT] = {4, codec_take_want},
    [TRP_GOSSIP_DELTA] = {9, codec_take_delta},
    [TRP_GOSSIP_ACK] = {2, codec_take_ack},
};

static bool codec_take(const msgpack_object *object, trp_gossip_t *gossip)
{
    if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size == 0) {
        return false;
    }
    const msgpack_object *fields = object->via.array.ptr;
    if (!codec_is_u64(&fields[0], TRP_ARRAY_LEN(codec_kinds) - 1) || fields[0].via.u64 == 0) {
        return false;
    }
    const struct codec_kind *kind = &codec_kinds[fields[0].via.u64];
    gossip->kind = (trp_gossip_kind_t)fields[0].via.u64;
    return codec_is_array(object, kind->len) && kind->take(fields, gossip);
}

troupe_err_t trp_gossip_decode(trp_view_t bytes, trp_gossip_t *ret_gossip)
{
    if (bytes.size > TRP_GOSSIP_SIZE_MAX) {
        return TROUPE_ETOOBIG;
    }
    troupe_err_t err = trp_scan(bytes);
    if (err != TROUPE_OK) {
        return err;
    }
    memset(ret_gossip, 0, sizeof(*ret_gossip));
    msgpack_unpacked_init(&ret_gossip->unpacked);
    size_t offset = 0;
    msgpack_unpack_return unpacked =
        msgpack_unpack_next(&ret_gossip->unpacked, (const char *)bytes.data, bytes.size, &offset);
    if (unpacked == MSGPACK_UNPACK_SUCCESS && codec_take(&ret_gossip->unpacked.data, ret_gossip)) {
        return TROUPE_OK;
    }
    msgpack_unpacked_destroy(&ret_gossip->unpacked);
    return unpacked == MSGPACK_UNPACK_NOMEM_ERROR ? TROUPE_ENOMEM : TROUPE_EPROTOCOL;
}

void trp_gossip_fini(trp_gossip_t *gossip)
{
    msgpack_unpacked_destroy(&gossip->unpacked);
    memset(gossip, 0, sizeof(*gossip));
}

void trp_gossip_element(const trp_gossip_t *gossip, uint32_t at, trp_gossip_element_t *ret_element)
{
    TRP_ASSERT(gossip->kind == TRP_GOSSIP_DELTA);
    TRP_ASSERT(at < gossip->len);
    const msgpack_object *fields = gossip->items[at].via.array.ptr;
    ret_element->space = (trp_space_t)fields[0].via.u64;
    ret_element->name = codec_bytes(&fields[1]);
    ret_element->group =
        fields[2].type == MSGPACK_OBJECT_NIL ? trp_view_make(NULL, 0) : codec_bytes(&fields[2]);
    ret_element->weight = (uint32_t)fields[3].via.u64;
    ret_element->version = fields[4].via.u64;
}

uint64_t trp_gossip_range(const trp_gossip_t *gossip, uint32_t at)
{
    TRP_ASSERT(gossip->kind == TRP_GOSSIP_RANGE_HASHES);
    TRP_ASSERT(at < gossip->len);
    return gossip->items[at].via.u64;
}

void trp_gossip_pair(const trp_gossip_t *gossip, uint32_t at, uint64_t *ret_uid,
                     uint64_t *ret_version)
{
    TRP_ASSERT(gossip->kind == TRP_GOSSIP_VECTOR);
    TRP_ASSERT(at < gossip->len);
    *ret_uid = gossip->items[(size_t)at * 2].via.u64;
    *ret_version = gossip->items[(size_t)at * 2 + 1].via.u64;
}
