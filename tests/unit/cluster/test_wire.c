/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The codec of members' messages. */

#include <string.h>

#include "cluster/wire.h"
#include "support/check.h"

static trp_item_t member_item(void)
{
    trp_item_t item = {.kind = TRP_ITEM_MEMBER,
                       .uid = UINT64_MAX,
                       .state = TROUPE_MEMBER_UP,
                       .incarnation = 7,
                       .up_number = 3 << 16,
                       .flags = TRP_FLAG_READY};
    item.identity.uid = UINT64_MAX;
    item.identity.address = trp_view_from_string("host-1:7000");
    item.identity.name = trp_view_from_string("one");
    item.identity.roles[0] = trp_view_from_string("front");
    item.identity.roles[1] = trp_view_from_string("back");
    item.identity.roles_len = 2;
    return item;
}

static trp_item_t change_item(trp_item_kind_t kind)
{
    trp_item_t item = {.kind = kind};
    item.change = (trp_change_t){.epoch = 9,
                                 .ballot = 2,
                                 .proposer = 11,
                                 .base = 12,
                                 .result = UINT64_MAX,
                                 .added = {1, 2, 3},
                                 .removed = {4},
                                 .added_len = 3,
                                 .removed_len = 1};
    return item;
}

/* One message with the items; returns its size. */
static size_t encode(const trp_item_t *items, size_t len, uint8_t out[TRP_MESSAGE_SIZE_MAX])
{
    static trp_items_t packed;
    trp_wire_t wire = {.type = TRP_WIRE_GOSSIP,
                       .cluster = 5,
                       .seq = 6,
                       .uid = 7,
                       .incarnation = 8,
                       .digest = UINT64_MAX,
                       .epoch = 10,
                       .code = 1,
                       .from = 12,
                       .to = 13};
    trp_items_clear(&packed);
    for (size_t i = 0; i < len; i++) {
        CHECK(trp_items_add(&packed, &items[i], TRP_ITEMS_SIZE_MAX));
    }
    return trp_wire_encode(&wire, &packed, out);
}

static void a_head_comes_back(void)
{
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_wire_t wire;
    trp_view_t items;
    size_t size = encode(NULL, 0, bytes);
    REQUIRE_OK(trp_wire_decode(trp_view_make(bytes, size), &wire, &items));
    CHECK_EQ_U64(wire.type, TRP_WIRE_GOSSIP);
    CHECK_EQ_U64(wire.cluster, 5);
    CHECK_EQ_U64(wire.seq, 6);
    CHECK_EQ_U64(wire.uid, 7);
    CHECK_EQ_U64(wire.incarnation, 8);
    CHECK_EQ_U64(wire.digest, UINT64_MAX);
    CHECK_EQ_U64(wire.epoch, 10);
    CHECK_EQ_U64(wire.code, 1);
    CHECK_EQ_U64(wire.from, 12);
    CHECK_EQ_U64(wire.to, 13);
    CHECK_EQ_U64(items.size, 0);
}

static void every_item_comes_back(void)
{
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_item_t status = member_item();
    status.kind = TRP_ITEM_STATUS;
    status.flags |= TRP_FLAG_UNREACHABLE | TRP_FLAG_GONE;
    trp_item_t acked = change_item(TRP_ITEM_ACKED);
    acked.uid = 3;
    const trp_item_t sent[] = {
        member_item(),
        status,
        {.kind = TRP_ITEM_SUSPECT, .uid = 1, .incarnation = 2, .by = 3},
        change_item(TRP_ITEM_PROPOSED),
        change_item(TRP_ITEM_SETTLED),
        acked,
        {.kind = TRP_ITEM_VERSION, .uid = 4, .hash = UINT64_MAX},
        {.kind = TRP_ITEM_UID, .uid = 5},
        {.kind = TRP_ITEM_RANGE, .uid = 6, .hash = 7},
    };
    trp_wire_t wire;
    trp_view_t view;
    trp_item_t item;
    size_t size = encode(sent, TRP_ARRAY_LEN(sent), bytes);
    REQUIRE_OK(trp_wire_decode(trp_view_make(bytes, size), &wire, &view));
    for (size_t i = 0; i < TRP_ARRAY_LEN(sent); i++) {
        REQUIRE_OK(trp_wire_next(&view, &item));
        CHECK_EQ_U64(item.kind, sent[i].kind);
        CHECK_EQ_U64(item.uid, sent[i].uid);
        CHECK_EQ_U64(item.state, sent[i].state);
        CHECK_EQ_U64(item.incarnation, sent[i].incarnation);
        CHECK_EQ_U64(item.up_number, sent[i].up_number);
        CHECK_EQ_U64(item.flags, sent[i].flags);
        CHECK_EQ_U64(item.by, sent[i].by);
        CHECK_EQ_U64(item.hash, sent[i].hash);
        CHECK_EQ_U64(item.change.epoch, sent[i].change.epoch);
        CHECK_EQ_U64(item.change.ballot, sent[i].change.ballot);
        CHECK_EQ_U64(item.change.proposer, sent[i].change.proposer);
        CHECK_EQ_U64(item.change.result, sent[i].change.result);
        CHECK_EQ_U64(item.identity.roles_len,
                     sent[i].identity.roles_len * (sent[i].kind == TRP_ITEM_MEMBER ? 1u : 0u));
        if (item.kind == TRP_ITEM_MEMBER) {
            char address[TROUPE_MEMBER_ADDRESS_SIZE];
            trp_item_copy_address(&item, address);
            CHECK_STR(address, "host-1:7000");
            CHECK(trp_view_equal_string(item.identity.roles[1], "back"));
        }
        if (item.kind == TRP_ITEM_PROPOSED) {
            CHECK_EQ_U64(item.change.added_len, 3);
            CHECK_EQ_U64(item.change.added[2], 3);
            CHECK_EQ_U64(item.change.removed[0], 4);
        }
    }
    CHECK_ERR(trp_wire_next(&view, &item), TROUPE_ENOENT);
}

static void an_idle_probe_is_small(void)
{
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_wire_t wire = {.type = TRP_WIRE_PING,
                       .cluster = UINT64_MAX,
                       .seq = 100000,
                       .uid = UINT64_MAX,
                       .digest = UINT64_MAX,
                       .epoch = 1000};
    CHECK_LE_U64(trp_wire_encode(&wire, NULL, bytes), 64);
}

static void a_cut_message_is_refused_everywhere(void)
{
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_item_t items[] = {member_item(), change_item(TRP_ITEM_SETTLED)};
    trp_wire_t wire;
    trp_view_t view;
    size_t size = encode(items, 2, bytes);
    for (size_t cut = 0; cut < size; cut++) {
        CHECK_ERR(trp_wire_decode(trp_view_make(bytes, cut), &wire, &view), TROUPE_EPROTOCOL);
    }
    bytes[size] = 0; /* One byte too many is as bad. */
    CHECK_ERR(trp_wire_decode(trp_view_make(bytes, size + 1), &wire, &view), TROUPE_EPROTOCOL);
}

static void every_changed_byte_is_refused_or_harmless(void)
{
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_item_t items[] = {member_item(), change_item(TRP_ITEM_PROPOSED)};
    size_t size = encode(items, 2, bytes);
    for (size_t i = 0; i < size; i++) {
        uint8_t kept = bytes[i];
        for (unsigned value = 0; value < 256; value++) {
            trp_wire_t wire;
            trp_view_t view;
            trp_item_t item;
            bytes[i] = (uint8_t)value;
            if (trp_wire_decode(trp_view_make(bytes, size), &wire, &view) == TROUPE_OK) {
                while (trp_wire_next(&view, &item) == TROUPE_OK) {
                    CHECK_LE_U64(item.change.added_len, TRP_CHANGE_MAX);
                }
            }
        }
        bytes[i] = kept;
    }
}

/* A message of a newer node: elements behind the known ones, and items of an unknown kind. */
static void what_is_newer_is_skipped(void)
{
    uint8_t bytes[256];
    trp_pack_t pack;
    trp_wire_t wire;
    trp_view_t view;
    trp_item_t item;
    trp_pack_init(&pack, bytes, sizeof(bytes));
    trp_pack_array(&pack, 6);
    trp_pack_u64(&pack, TRP_WIRE_VERSION);
    trp_pack_u64(&pack, TRP_WIRE_GOSSIP);
    trp_pack_u64(&pack, 5);
    trp_pack_array(&pack, 9);
    for (uint64_t i = 0; i < 9; i++) {
        trp_pack_u64(&pack, i);
    }
    trp_pack_array(&pack, 2);
    trp_pack_array(&pack, 2); /* An unknown kind. */
    trp_pack_u64(&pack, 99);
    trp_pack_text(&pack, trp_view_from_string("news"));
    trp_pack_array(&pack, 3); /* A known one with a further field. */
    trp_pack_u64(&pack, TRP_ITEM_UID);
    trp_pack_u64(&pack, 42);
    trp_pack_text(&pack, trp_view_from_string("more"));
    trp_pack_text(&pack, trp_view_from_string("and more"));
    REQUIRE(!pack.overflow);
    REQUIRE_OK(trp_wire_decode(trp_view_make(bytes, pack.size), &wire, &view));
    CHECK_EQ_U64(wire.to, 7);
    CHECK_OK(trp_wire_next(&view, &item));
    CHECK_EQ_U64(item.kind, TRP_ITEM_UID);
    CHECK_EQ_U64(item.uid, 42);
    CHECK_ERR(trp_wire_next(&view, &item), TROUPE_ENOENT);
}

static void another_version_and_an_unknown_type_are_told_apart(void)
{
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_wire_t wire = {.type = TRP_WIRE_BYE};
    trp_view_t view;
    size_t size = trp_wire_encode(&wire, NULL, bytes);
    bytes[1] = TRP_WIRE_VERSION + 1;
    CHECK_ERR(trp_wire_decode(trp_view_make(bytes, size), &wire, &view), TROUPE_EVERSION);
    bytes[1] = TRP_WIRE_VERSION;
    bytes[2] = TRP_WIRE_TYPE_LAST + 1;
    CHECK_ERR(trp_wire_decode(trp_view_make(bytes, size), &wire, &view), TROUPE_ETYPE);
    bytes[2] = 0;
    CHECK_ERR(trp_wire_decode(trp_view_make(bytes, size), &wire, &view), TROUPE_ETYPE);
}

static void records_out_of_bounds_are_refused(void)
{
    char text[TRP_ADDRESS_SIZE_MAX + 2];
    memset(text, 'a', sizeof(text));
    for (size_t which = 0; which < 6; which++) {
        uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
        trp_item_t item = member_item();
        trp_wire_t wire;
        trp_view_t view;
        switch (which) {
        case 0:
            item.identity.address = trp_view_make(text, sizeof(text));
            break;
        case 1:
            item.identity.address = trp_view_make("", 0);
            break;
        case 2:
            item.identity.name = trp_view_make(text, TRP_NAME_SIZE_MAX + 1);
            break;
        case 3:
            item.identity.roles[1] = trp_view_make("a\0b", 3);
            break;
        case 4:
            item.uid = 0;
            break;
        default:
            item.state = 8;
            break;
        }
        size_t size = encode(&item, 1, bytes);
        REQUIRE_OK(trp_wire_decode(trp_view_make(bytes, size), &wire, &view));
        CHECK_ERR(trp_wire_next(&view, &item), TROUPE_EPROTOCOL);
    }
}

static void the_largest_record_fits_a_message(void)
{
    static char text[300];
    uint8_t bytes[TRP_MESSAGE_SIZE_MAX];
    trp_item_t item = member_item();
    trp_wire_t wire;
    trp_view_t view;
    memset(text, 'x', sizeof(text));
    item.identity.address = trp_view_make(text, TRP_ADDRESS_SIZE_MAX);
    item.identity.name = trp_view_make(text, TRP_NAME_SIZE_MAX);
    item.identity.roles_len = TRP_ROLES_MAX;
    for (size_t i = 0; i < TRP_ROLES_MAX; i++) {
        item.identity.roles[i] = trp_view_make(text, TRP_ROLE_SIZE_MAX);
    }
    size_t size = encode(&item, 1, bytes);
    REQUIRE_OK(trp_wire_decode(trp_view_make(bytes, size), &wire, &view));
    CHECK_OK(trp_wire_next(&view, &item));
}

static void items_stop_at_their_limit(void)
{
    static trp_items_t items;
    trp_item_t item = {.kind = TRP_ITEM_UID, .uid = UINT64_MAX};
    size_t len = 0;
    trp_items_clear(&items);
    while (trp_items_add(&items, &item, 100)) {
        len++;
    }
    CHECK_EQ_U64(items.len, len);
    CHECK_LE_U64(items.size, 100);
    CHECK_GT_U64(items.size, 85);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_head_comes_back),
    CHECK_CASE(every_item_comes_back),
    CHECK_CASE(an_idle_probe_is_small),
    CHECK_CASE(a_cut_message_is_refused_everywhere),
    CHECK_CASE(every_changed_byte_is_refused_or_harmless),
    CHECK_CASE(what_is_newer_is_skipped),
    CHECK_CASE(another_version_and_an_unknown_type_are_told_apart),
    CHECK_CASE(records_out_of_bounds_are_refused),
    CHECK_CASE(the_largest_record_fits_a_message),
    CHECK_CASE(items_stop_at_their_limit),
};

CHECK_MAIN("cluster.wire", cases)
