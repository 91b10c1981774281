/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Message types: what may be registered, under what limits, and what fits them. */

#include "actor/types.h"

#include <stdio.h>
#include <string.h>

#include <troupe/events.h>

#include "base/memory.h"
#include "support/check.h"

static trp_types_t types;

static troupe_err_t no_encode(const void *object, void *out, size_t capacity, size_t *ret_size)
{
    (void)object;
    (void)out;
    (void)capacity;
    *ret_size = 0;
    return TROUPE_OK;
}

static troupe_err_t no_decode(const void *data, size_t size, void **ret_object)
{
    (void)data;
    (void)size;
    (void)ret_object;
    return TROUPE_EBODY;
}

static void no_free(void *object)
{
    (void)object;
}

static troupe_type_options_t named(const char *name)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = name;
    return options;
}

static void the_built_in_types_are_there(void)
{
    troupe_type_t type = {0};
    REQUIRE_OK(trp_types_init(&types, 1));
    CHECK_OK(trp_types_find(&types, "troupe.bytes", 12, &type));
    CHECK_EQ_U64(type.id, TROUPE_TYPE_BYTES.id);
    CHECK_OK(trp_types_find(&types, "troupe.text", 11, &type));
    CHECK_EQ_U64(type.id, TROUPE_TYPE_TEXT.id);
    CHECK_OK(trp_types_find(&types, "troupe.event", 12, &type));
    CHECK_EQ_U64(type.id, TROUPE_TYPE_EVENT.id);
    CHECK_ERR(trp_types_find(&types, "troupe.byte", 11, &type), TROUPE_ENOENT);
    CHECK_NULL(trp_types_at(&types, 0));
    CHECK_NULL(trp_types_at(&types, UINT16_MAX));
    trp_types_fini(&types);
}

static void options_that_make_no_sense_are_refused(void)
{
    char long_name[TROUPE_TYPE_NAME_SIZE_MAX + 2];
    troupe_type_t type = {0};
    troupe_type_options_t bad[14];
    memset(long_name, 'x', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = '\0';
    for (size_t i = 0; i < TRP_ARRAY_LEN(bad); i++) {
        bad[i] = named("some");
    }
    bad[0].size = 0;
    bad[1].size = sizeof(bad[0]) + 8;
    bad[2].name = NULL;
    bad[3].name = "";
    bad[4].name = long_name;
    bad[5].size_max = TROUPE_BULK_SIZE_MAX + 1;
    bad[6].fixed_size = (size_t)TROUPE_BULK_SIZE_MAX + 1;
    bad[7].encode = no_encode;
    bad[8].decode = no_decode;
    bad[9].free_object = no_free;
    bad[10].encode = no_encode;
    bad[10].decode = no_decode;
    bad[11].decode = no_decode;
    bad[11].free_object = no_free;
    bad[12].encode = no_encode;
    bad[12].free_object = no_free;
    bad[13].encode = no_encode;
    bad[13].decode = no_decode;
    bad[13].free_object = no_free;
    bad[13].fixed_size = 8;
    REQUIRE_OK(trp_types_init(&types, 1));
    for (size_t i = 0; i < TRP_ARRAY_LEN(bad); i++) {
        troupe_err_t err = trp_types_register(&types, &bad[i], &type);
        if (err != TROUPE_EINVAL || type.id != 0) {
            CHECK_FAIL("options %zu: %s", i, troupe_err_name(err));
        }
    }
    CHECK_ERR(trp_types_register(&types, NULL, &type), TROUPE_EINVAL);
    long_name[TROUPE_TYPE_NAME_SIZE_MAX] = '\0';
    troupe_type_options_t longest = named(long_name);
    CHECK_OK(trp_types_register(&types, &longest, &type));
    trp_types_fini(&types);
}

static void the_same_registration_gives_the_same_type_and_another_is_refused(void)
{
    troupe_type_t first = {0};
    troupe_type_t second = {0};
    troupe_type_options_t options = named("some");
    options.version = 5;
    REQUIRE_OK(trp_types_init(&types, 1));
    CHECK_OK(trp_types_register(&types, &options, &first));
    CHECK_OK(trp_types_register(&types, &options, &second));
    CHECK_EQ_U64(first.id, second.id);
    options.size_max = TROUPE_BODY_SIZE_MAX; /* What 0 stands for. */
    CHECK_OK(trp_types_register(&types, &options, &second));
    CHECK_EQ_U64(first.id, second.id);
    options.version = 6;
    CHECK_ERR(trp_types_register(&types, &options, &second), TROUPE_EEXIST);
    options.version = 5;
    options.size_max = 10;
    CHECK_ERR(trp_types_register(&types, &options, &second), TROUPE_EEXIST);
    options.size_max = 0;
    options.fixed_size = 10;
    CHECK_ERR(trp_types_register(&types, &options, &second), TROUPE_EEXIST);
    trp_types_fini(&types);
}

/* What check says and what fits says is the same, at every edge. */
static void check_fit(troupe_type_t type, size_t size, troupe_err_t expected)
{
    CHECK_ERR(trp_types_check(&types, type, size), expected);
    CHECK_EQ_U64(trp_types_fits(&types, type, size), expected == TROUPE_OK);
}

static void bodies_fit_their_type_or_are_told_why_not(void)
{
    troupe_type_t fixed = {0};
    troupe_type_t small = {0};
    troupe_type_t bulk = {0};
    troupe_type_t object = {0};
    troupe_type_options_t options = named("fixed");
    REQUIRE_OK(trp_types_init(&types, 1));
    options.fixed_size = 24;
    REQUIRE_OK(trp_types_register(&types, &options, &fixed));
    options = named("small");
    options.size_max = 100;
    REQUIRE_OK(trp_types_register(&types, &options, &small));
    options = named("bulk");
    options.size_max = TROUPE_BULK_SIZE_MAX;
    REQUIRE_OK(trp_types_register(&types, &options, &bulk));
    options = named("object");
    options.encode = no_encode;
    options.decode = no_decode;
    options.free_object = no_free;
    REQUIRE_OK(trp_types_register(&types, &options, &object));
    check_fit(fixed, 24, TROUPE_OK);
    check_fit(fixed, 23, TROUPE_EINVAL);
    check_fit(fixed, 0, TROUPE_EINVAL);
    check_fit(fixed, 25, TROUPE_ETOOBIG);
    check_fit(small, 0, TROUPE_OK);
    check_fit(small, 100, TROUPE_OK);
    check_fit(small, 101, TROUPE_ETOOBIG);
    check_fit(bulk, TROUPE_BULK_SIZE_MAX, TROUPE_OK);
    check_fit(bulk, (size_t)TROUPE_BULK_SIZE_MAX + 1, TROUPE_ETOOBIG);
    check_fit(bulk, SIZE_MAX, TROUPE_ETOOBIG);
    check_fit(object, 0, TROUPE_EINVAL);
    check_fit(object, 8, TROUPE_EINVAL);
    check_fit(TROUPE_TYPE_BYTES, TROUPE_BODY_SIZE_MAX, TROUPE_OK);
    check_fit(TROUPE_TYPE_BYTES, TROUPE_BODY_SIZE_MAX + 1, TROUPE_ETOOBIG);
    check_fit((troupe_type_t){0}, 0, TROUPE_ETYPE);
    check_fit((troupe_type_t){999}, 0, TROUPE_ETYPE);
    check_fit((troupe_type_t){UINT16_MAX}, 0, TROUPE_ETYPE);
    check_fit((troupe_type_t){999}, UINT32_MAX, TROUPE_ETYPE);
    trp_types_fini(&types);
}

static void there_is_a_greatest_number_of_types(void)
{
    troupe_type_t type = {0};
    char name[32];
    uint32_t len = 0;
    troupe_err_t err = TROUPE_OK;
    REQUIRE_OK(trp_types_init(&types, 1));
    for (; len <= TROUPE_TYPES_MAX; len++) {
        (void)snprintf(name, sizeof(name), "type.%u", len);
        troupe_type_options_t options = named(name);
        err = trp_types_register(&types, &options, &type);
        if (err != TROUPE_OK) {
            break;
        }
    }
    CHECK_ERR(err, TROUPE_EFULL);
    CHECK_EQ_U64(len, TROUPE_TYPES_MAX - 4); /* Three are built in, and 0 is none. */
    troupe_type_options_t known = named("type.0");
    CHECK_OK(trp_types_register(&types, &known, &type));
    trp_types_fini(&types);
}

static troupe_err_t register_step(void *user)
{
    troupe_type_t type = {0};
    (void)user;
    troupe_err_t err = trp_types_init(&types, 1);
    if (err != TROUPE_OK) {
        trp_types_fini(&types);
        return err;
    }
    troupe_type_options_t options = named("some");
    err = trp_types_register(&types, &options, &type);
    trp_types_fini(&types);
    return err;
}

static void without_memory_nothing_is_registered_and_nothing_leaks(void)
{
    CHECK_ALLOCATIONS(register_step, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(the_built_in_types_are_there),
    CHECK_CASE(options_that_make_no_sense_are_refused),
    CHECK_CASE(the_same_registration_gives_the_same_type_and_another_is_refused),
    CHECK_CASE(bodies_fit_their_type_or_are_told_why_not),
    CHECK_CASE(there_is_a_greatest_number_of_types),
    CHECK_CASE(without_memory_nothing_is_registered_and_nothing_leaks),
};

CHECK_MAIN("actor.types", cases)
