/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Checking and patching of received envelopes. */

#include "net/link/walk.h"

#include <troupe/events.h>

#include "actor/message.h"
#include "base/attr.h"

/* Writes over an envelope that can't be delivered; the first dispatcher counts it for that reason. The
 * flags stay, as its size depends on them. */
static void walk_void(uint8_t *at, troupe_drop_t reason)
{
    at[4] = TRP_ENVELOPE_VOID;
    trp_store_le16(at + 6, (uint16_t)reason);
}

static void walk_set(uint64_t mask[TRP_LINK_MASK_WORDS], uint32_t index)
{
    mask[index / 64u] |= UINT64_C(1) << (index % 64u);
}

/* A message to an actor: its type becomes ours, its dispatcher is noted. */
static inline void walk_message(trp_walk_t *walk, uint8_t *at, bool is_user)
{
    uint64_t target = trp_load_le64(at + 8);
    uint32_t index = trp_id_dispatcher(target);
    walk->numbered++;
    if (TRP_UNLIKELY(index >= walk->dispatchers || trp_id_slot(target) == TRP_SLOT_DISPATCHER)) {
        walk_void(at, TROUPE_DROP_NO_ACTOR);
        walk_set(walk->mask, 0);
        return;
    }
    walk_set(walk->mask, index);
    if (is_user) {
        uint16_t type = trp_numbers_type(walk->numbers, trp_load_le16(at + 6));
        trp_store_le16(at + 6, type);
        walk->unknown_types += type == 0;
    }
}

static void walk_topic_mask(const trp_walk_t *walk, uint64_t target, uint8_t flags,
                            uint64_t mask[TRP_LINK_MASK_WORDS])
{
    const trp_link_topic_hooks_t *hooks = walk->numbers->hooks;
    uint64_t found[TRP_LINK_MASK_WORDS] = {0};
    if (hooks->mask != NULL) {
        hooks->mask(hooks->context, (uint32_t)target, (uint32_t)(target >> 32),
                    (uint8_t)(flags >> TRP_ENVELOPE_ROUTE_SHIFT), found);
    } else {
        for (uint32_t i = 0; i < walk->dispatchers; i++) {
            walk_set(found, i);
        }
    }
    uint64_t any = 0;
    for (uint32_t word = 0; word < TRP_LINK_MASK_WORDS; word++) {
        any |= found[word];
        mask[word] |= found[word];
    }
    if (any == 0) {
        walk_set(mask, 0);
    }
}

/* A publish: its names become ours. */
static void walk_topic(trp_walk_t *walk, uint8_t *at)
{
    uint64_t target = trp_load_le64(at + 8);
    uint32_t topic = trp_numbers_name(walk->numbers, (uint32_t)target);
    uint32_t group = (uint32_t)(target >> 32);
    uint32_t our_group = group != 0 ? trp_numbers_name(walk->numbers, group) : 0;
    walk->numbered++;
    if (topic == 0 || (group != 0 && our_group == 0) || walk->numbers->hooks->deliver == NULL) {
        walk_void(at, TROUPE_DROP_NO_SUBSCRIBER);
        walk_set(walk->mask, 0);
        return;
    }
    target = topic | (uint64_t)our_group << 32;
    trp_store_le64(at + 8, target);
    uint16_t type = trp_numbers_type(walk->numbers, trp_load_le16(at + 6));
    trp_store_le16(at + 6, type);
    walk->unknown_types += type == 0;
    walk_topic_mask(walk, target, at[5], walk->mask);
}

/* Everything but a plain message. */
static TRP_NOINLINE troupe_err_t walk_other(trp_walk_t *walk, uint8_t *at, size_t size)
{
    uint8_t flags = at[5];
    if ((flags & TRP_ENVELOPE_STANDIN) != 0) {
        if (size != TRP_WIRE_STANDIN_SIZE || at[4] == TRP_ENVELOPE_SYSTEM) {
            return TROUPE_EPROTOCOL;
        }
        walk->has_standins = true;
    }
    const uint8_t *body = at + TRP_WIRE_ENVELOPE_SIZE + trp_wire_extra(flags);
    switch (at[4]) {
    case TRP_ENVELOPE_USER:
    case TRP_ENVELOPE_SYSTEM:
        walk_message(walk, at, at[4] == TRP_ENVELOPE_USER);
        return TROUPE_OK;
    case TRP_ENVELOPE_TOPIC:
        walk_topic(walk, at);
        return TROUPE_OK;
    case TRP_ENVELOPE_TYPE:
        return trp_numbers_define_type(walk->numbers, trp_load_le16(at + 6),
                                       trp_view_make(body, size));
    case TRP_ENVELOPE_NAME:
        return trp_numbers_define_name(walk->numbers, trp_load_le64(at + 8),
                                       trp_view_make(body, size));
    default:
        return TROUPE_EPROTOCOL;
    }
}

troupe_err_t trp_walk_frame(trp_walk_t *walk, uint8_t *data, size_t size)
{
    uint8_t *at = data;
    uint8_t *end = data + size;
    while (at != end) {
        size_t left = (size_t)(end - at);
        if (TRP_UNLIKELY(left < TRP_WIRE_ENVELOPE_SIZE)) {
            return TROUPE_EPROTOCOL;
        }
        size_t body_size = trp_load_le32(at);
        size_t whole = trp_wire_envelope_size(at[5], body_size);
        if (TRP_UNLIKELY(whole > left || body_size > TRP_LINK_ORDINARY_SIZE_MAX)) {
            return TROUPE_EPROTOCOL;
        }
        if (TRP_LIKELY(at[4] == TRP_ENVELOPE_USER && at[5] == 0)) {
            walk_message(walk, at, true);
        } else {
            troupe_err_t err = walk_other(walk, at, body_size);
            if (err != TROUPE_OK) {
                return err;
            }
        }
        at += whole;
    }
    return TROUPE_OK;
}

void trp_walk_mask(const trp_walk_t *walk, const trp_envelope_t *envelope,
                   uint64_t ret_mask[TRP_LINK_MASK_WORDS])
{
    for (uint32_t word = 0; word < TRP_LINK_MASK_WORDS; word++) {
        ret_mask[word] = 0;
    }
    if (envelope->kind == TRP_ENVELOPE_TOPIC) {
        walk_topic_mask(walk, envelope->target, envelope->flags, ret_mask);
    } else {
        walk_set(ret_mask, trp_id_dispatcher(envelope->target));
    }
}
