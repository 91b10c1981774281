/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The tables of a peer's numbers. */

#include "net/link/numbers.h"

#include <string.h>

#include "actor/types.h"
#include "base/assert.h"
#include "base/memory.h"
#include "net/link/wire.h"

void trp_numbers_init(trp_numbers_t *numbers, uint64_t uid, trp_types_t *types,
                      const trp_link_topic_hooks_t *hooks)
{
    TRP_ASSERT(hooks != NULL);
    memset(numbers, 0, sizeof(*numbers));
    numbers->uid = uid;
    numbers->types = types;
    numbers->hooks = hooks;
}

static void numbers_forget_page(trp_numbers_t *numbers, uint32_t *page)
{
    for (uint32_t i = 0; i < TRP_NUMBERS_PAGE; i++) {
        if (page[i] != 0 && numbers->hooks->undefine != NULL) {
            numbers->hooks->undefine(numbers->hooks->context, numbers->uid, page[i]);
        }
    }
    trp_free(page);
}

void trp_numbers_fini(trp_numbers_t *numbers)
{
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(numbers->pages); i++) {
        if (numbers->pages[i] != NULL) {
            numbers_forget_page(numbers, numbers->pages[i]);
            numbers->pages[i] = NULL;
        }
    }
    for (uint32_t i = 0; numbers->type_unknown != NULL && i < TRP_LINK_TYPES_MAX; i++) {
        trp_free(numbers->type_unknown[i]);
    }
    trp_free(numbers->type_unknown);
    trp_free(numbers->type_ids);
    numbers->type_unknown = NULL;
    numbers->type_ids = NULL;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The node's own type of that name, if it has the same version; 0 otherwise. */
static uint16_t numbers_find_type(const trp_numbers_t *numbers, const char *name, size_t size,
                                  uint64_t version)
{
    troupe_type_t type = {0};
    if (numbers->types == NULL || trp_types_find(numbers->types, name, size, &type) != TROUPE_OK) {
        return 0;
    }
    const trp_type_t *found = trp_types_at(numbers->types, type.id);
    return found != NULL && found->version == version ? type.id : 0;
}

static troupe_err_t numbers_make_types(trp_numbers_t *numbers)
{
    if (numbers->type_ids == NULL) {
        numbers->type_ids = trp_calloc(TRP_LINK_TYPES_MAX, sizeof(*numbers->type_ids));
    }
    if (numbers->type_unknown == NULL) {
        numbers->type_unknown = trp_calloc(TRP_LINK_TYPES_MAX, sizeof(*numbers->type_unknown));
    }
    return numbers->type_ids != NULL && numbers->type_unknown != NULL ? TROUPE_OK : TROUPE_ENOMEM;
}

troupe_err_t trp_numbers_define_type(trp_numbers_t *numbers, uint16_t number, trp_view_t body)
{
    uint64_t version = 0;
    troupe_err_t err = trp_view_take_u64(&body, &version);
    if (err != TROUPE_OK || number == 0 || number >= TRP_LINK_TYPES_MAX || body.size == 0 ||
        body.size > TROUPE_TYPE_NAME_SIZE_MAX) {
        return TROUPE_EPROTOCOL;
    }
    err = numbers_make_types(numbers);
    if (err != TROUPE_OK || numbers->type_ids[number] != 0 ||
        numbers->type_unknown[number] != NULL) {
        return err; /* A repeated definition: types never change their number. */
    }
    const char *name = (const char *)body.data;
    numbers->type_ids[number] = numbers_find_type(numbers, name, body.size, version);
    if (numbers->type_ids[number] != 0) {
        return TROUPE_OK;
    }
    trp_unknown_type_t *unknown = trp_alloc(sizeof(*unknown) + body.size);
    if (unknown == NULL) {
        return TROUPE_ENOMEM;
    }
    unknown->version = version;
    unknown->size = (uint32_t)body.size;
    memcpy(unknown->name, body.data, body.size);
    numbers->type_unknown[number] = unknown;
    return TROUPE_OK;
}

uint16_t trp_numbers_type_slow(trp_numbers_t *numbers, uint16_t number)
{
    if (number == TROUPE_TYPE_BYTES.id || number == TROUPE_TYPE_TEXT.id) {
        return number;
    }
    if (number >= TRP_LINK_TYPES_MAX || numbers->type_unknown == NULL ||
        numbers->type_unknown[number] == NULL) {
        return 0;
    }
    trp_unknown_type_t *unknown = numbers->type_unknown[number];
    uint16_t id = numbers_find_type(numbers, unknown->name, unknown->size, unknown->version);
    if (id != 0) {
        numbers->type_ids[number] = id;
        numbers->type_unknown[number] = NULL;
        trp_free(unknown);
    }
    return id;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t *numbers_slot(trp_numbers_t *numbers, uint32_t number)
{
    uint32_t **page = &numbers->pages[number / TRP_NUMBERS_PAGE];
    if (*page == NULL) {
        *page = trp_calloc(TRP_NUMBERS_PAGE, sizeof(**page));
    }
    return *page != NULL ? &(*page)[number % TRP_NUMBERS_PAGE] : NULL;
}

troupe_err_t trp_numbers_define_name(trp_numbers_t *numbers, uint64_t number, trp_view_t body)
{
    uint32_t generation = 0;
    uint8_t space = 0;
    if (trp_view_take_u32(&body, &generation) != TROUPE_OK ||
        trp_view_take_u8(&body, &space) != TROUPE_OK || number == 0 ||
        number >= TRP_LINK_NAMES_MAX || body.size > TRP_LINK_TOPIC_NAME_SIZE_MAX) {
        return TROUPE_EPROTOCOL;
    }
    if (numbers->hooks->define == NULL) {
        return TROUPE_OK;
    }
    uint32_t *slot = numbers_slot(numbers, (uint32_t)number);
    if (slot == NULL) {
        return TROUPE_ENOMEM;
    }
    /* Define first: when it is the same name again, its count never falls to nothing. */
    uint32_t id = numbers->hooks->define(numbers->hooks->context, numbers->uid, space, body);
    if (*slot != 0 && numbers->hooks->undefine != NULL) {
        numbers->hooks->undefine(numbers->hooks->context, numbers->uid, *slot);
    }
    *slot = id;
    return TROUPE_OK;
}
