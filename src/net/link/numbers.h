/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What a peer's type and topic numbers mean on this node. The peer defines a number before it uses it;
 * the tables are as long-lived as the incarnation, bounded, and take memory by what is defined, never by
 * what a number claims.
 *
 * Thread rule: the link thread (in tests, any one). */

#ifndef TROUPE_LINK_NUMBERS_H
#define TROUPE_LINK_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

#include "base/view.h"
#include "net/link/limits.h"
#include "net/link/topic.h"

typedef struct trp_types trp_types_t;

/* A type of the peer that this node doesn't have; asked for again at each use, as it may be registered
 * later. */
typedef struct trp_unknown_type {
    uint64_t version;
    uint32_t size;
    char name[];
} trp_unknown_type_t;

#define TRP_NUMBERS_PAGE 4096u /* Topic numbers a page. */

typedef struct trp_numbers {
    uint64_t uid;       /* The peer's. */
    trp_types_t *types; /* Borrowed; NULL: no type is known. */
    const trp_link_topic_hooks_t *hooks;
    uint16_t *type_ids; /* By the peer's number; 0: unknown. Made on first use. */
    trp_unknown_type_t **type_unknown;
    uint32_t *pages[TRP_LINK_NAMES_MAX / TRP_NUMBERS_PAGE]; /* Ids of names; made when used. */
    uint32_t names_len;
} trp_numbers_t;

void trp_numbers_init(trp_numbers_t *numbers, uint64_t uid, trp_types_t *types,
                      const trp_link_topic_hooks_t *hooks);
/* Tells the hook that the names are no longer used. */
void trp_numbers_fini(trp_numbers_t *numbers);

/* Takes a definition; the same one again changes nothing. EPROTOCOL when it is malformed or out of
 * bounds; ENOMEM. */
troupe_err_t trp_numbers_define_type(trp_numbers_t *numbers, uint16_t number, trp_view_t body);
troupe_err_t trp_numbers_define_name(trp_numbers_t *numbers, uint64_t number, trp_view_t body);

/* The long way, for numbers that don't resolve at once. 0: not known here. */
uint16_t trp_numbers_type_slow(trp_numbers_t *numbers, uint16_t number);

/* This node's id of a type; 0: not known here. Bytes and text need no definition. */
static inline uint16_t trp_numbers_type(trp_numbers_t *numbers, uint16_t number)
{
    if (numbers->type_ids != NULL && number < TRP_LINK_TYPES_MAX &&
        numbers->type_ids[number] != 0) {
        return numbers->type_ids[number];
    }
    return trp_numbers_type_slow(numbers, number);
}

/* This node's id of a name; 0: not defined. */
static inline uint32_t trp_numbers_name(const trp_numbers_t *numbers, uint32_t number)
{
    if (number >= TRP_LINK_NAMES_MAX || numbers->pages[number / TRP_NUMBERS_PAGE] == NULL) {
        return 0;
    }
    return numbers->pages[number / TRP_NUMBERS_PAGE][number % TRP_NUMBERS_PAGE];
}

#endif
