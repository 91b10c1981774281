/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/types.h"

#include <string.h>

#include <troupe/events.h>

#include "base/assert.h"
#include "base/memory.h"

static troupe_err_t builtin_add(trp_types_t *types, const char *name, size_t fixed_size,
                                uint16_t want)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = name;
    options.version = 1;
    options.fixed_size = fixed_size;
    troupe_type_t type = {0};
    troupe_err_t err = trp_types_register(types, &options, &type);
    TRP_ASSERT(err != TROUPE_OK || type.id == want);
    return err;
}

troupe_err_t trp_types_init(trp_types_t *types, uint64_t seed)
{
    memset(types, 0, sizeof(*types));
    trp_table_init(&types->by_name, seed, TROUPE_TYPES_MAX);
    atomic_init(&types->len, 1); /* Id 0 is no type. */
    if (pthread_mutex_init(&types->mutex, NULL) != 0) {
        return TROUPE_ESYSTEM;
    }
    troupe_err_t err = builtin_add(types, "troupe.bytes", 0, TROUPE_TYPE_BYTES.id);
    if (err == TROUPE_OK) {
        err = builtin_add(types, "troupe.text", 0, TROUPE_TYPE_TEXT.id);
    }
    if (err == TROUPE_OK) {
        err = builtin_add(types, "troupe.event", sizeof(troupe_event_t), TROUPE_TYPE_EVENT.id);
    }
    return err;
}

static void type_free(trp_type_t *type)
{
    trp_free(type->name);
    trp_free(type);
}

void trp_types_fini(trp_types_t *types)
{
    uint32_t len = atomic_load_explicit(&types->len, memory_order_relaxed);
    for (uint32_t i = 1; i < len; i++) {
        trp_table_remove(&types->by_name, &types->types[i]->entry);
        type_free(types->types[i]);
    }
    trp_table_fini(&types->by_name);
    (void)pthread_mutex_destroy(&types->mutex);
}

static troupe_err_t options_check(const troupe_type_options_t *options)
{
    if (options == NULL || options->size != sizeof(*options) || options->name == NULL) {
        return TROUPE_EINVAL;
    }
    size_t name_size = strlen(options->name);
    bool has_codec = options->encode != NULL;
    if (name_size == 0 || name_size > TROUPE_TYPE_NAME_SIZE_MAX ||
        options->size_max > TROUPE_BULK_SIZE_MAX || options->fixed_size > TROUPE_BULK_SIZE_MAX) {
        return TROUPE_EINVAL;
    }
    if (has_codec != (options->decode != NULL) || has_codec != (options->free_object != NULL) ||
        (has_codec && options->fixed_size != 0)) {
        return TROUPE_EINVAL;
    }
    return TROUPE_OK;
}

static bool type_equals(const trp_type_t *type, const troupe_type_options_t *options,
                        size_t size_max)
{
    return type->version == options->version && type->size_max == size_max &&
           type->fixed_size == options->fixed_size && type->encode == options->encode &&
           type->decode == options->decode && type->free_object == options->free_object;
}

static trp_type_t *type_new(const troupe_type_options_t *options, size_t size_max)
{
    trp_type_t *type = trp_calloc(1, sizeof(*type));
    if (type == NULL) {
        return NULL;
    }
    type->name = trp_strdup(options->name);
    if (type->name == NULL) {
        trp_free(type);
        return NULL;
    }
    type->version = options->version;
    type->size_max = size_max;
    type->fixed_size = options->fixed_size;
    type->encode = options->encode;
    type->decode = options->decode;
    type->free_object = options->free_object;
    return type;
}

/* With the mutex held. */
static troupe_err_t types_add(trp_types_t *types, trp_type_t *type)
{
    uint32_t id = atomic_load_explicit(&types->len, memory_order_relaxed);
    if (id >= TROUPE_TYPES_MAX) {
        return TROUPE_EFULL;
    }
    troupe_err_t err = trp_table_add(&types->by_name, &type->entry, type->name, strlen(type->name));
    if (err != TROUPE_OK) {
        return err;
    }
    type->id = (uint16_t)id;
    types->types[id] = type;
    if (type->encode == NULL) {
        types->rules[id].size_min = (uint32_t)type->fixed_size;
        types->rules[id].len = (uint32_t)(type->size_max - type->fixed_size) + 1;
    }
    /* Release: pairs with the acquire in trp_types_at. */
    atomic_store_explicit(&types->len, id + 1, memory_order_release);
    return TROUPE_OK;
}

troupe_err_t trp_types_register(trp_types_t *types, const troupe_type_options_t *options,
                                troupe_type_t *ret_type)
{
    troupe_err_t err = options_check(options);
    if (err != TROUPE_OK) {
        return err;
    }
    size_t size_max = options->size_max == 0 ? TROUPE_BODY_SIZE_MAX : options->size_max;
    size_max = options->fixed_size == 0 ? size_max : options->fixed_size;
    trp_type_t *type = type_new(options, size_max);
    if (type == NULL) {
        return TROUPE_ENOMEM;
    }
    pthread_mutex_lock(&types->mutex);
    trp_table_entry_t *found =
        trp_table_find(&types->by_name, options->name, strlen(options->name));
    if (found == NULL) {
        err = types_add(types, type);
        found = &type->entry;
    } else if (!type_equals(TRP_CONTAINER_OF(found, trp_type_t, entry), options, size_max)) {
        err = TROUPE_EEXIST;
    }
    pthread_mutex_unlock(&types->mutex);
    if (err == TROUPE_OK) {
        ret_type->id = TRP_CONTAINER_OF(found, trp_type_t, entry)->id;
    }
    if (err != TROUPE_OK || found != &type->entry) {
        type_free(type);
    }
    return err;
}

troupe_err_t trp_types_find(trp_types_t *types, const char *name, size_t size,
                            troupe_type_t *ret_type)
{
    pthread_mutex_lock(&types->mutex);
    trp_table_entry_t *found = trp_table_find(&types->by_name, name, size);
    pthread_mutex_unlock(&types->mutex);
    if (found == NULL) {
        return TROUPE_ENOENT;
    }
    ret_type->id = TRP_CONTAINER_OF(found, trp_type_t, entry)->id;
    return TROUPE_OK;
}

troupe_err_t trp_types_check(trp_types_t *types, troupe_type_t type, size_t size)
{
    const trp_type_t *found = trp_types_at(types, type.id);
    if (found == NULL) {
        return TROUPE_ETYPE;
    }
    if (found->encode != NULL) {
        return TROUPE_EINVAL;
    }
    if (size > found->size_max) {
        return TROUPE_ETOOBIG;
    }
    return size < found->fixed_size ? TROUPE_EINVAL : TROUPE_OK;
}
