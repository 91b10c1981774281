/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Errors, references as text, the version. */

#include <troupe/error.h>
#include <troupe/ref.h>
#include <troupe/version.h>

#include <stdio.h>

#include "base/random.h"
#include "support/check.h"

static void every_error_has_a_name_and_a_text(void)
{
#define CHECK_ERROR_ROW(name, number, text)                                                        \
    CHECK_EQ_I64(name, number);                                                                    \
    CHECK_EQ_STR(troupe_err_name(name), #name);                                                    \
    CHECK_EQ_STR(troupe_err_text(name), text);
    TROUPE_ERROR_TABLE(CHECK_ERROR_ROW)
#undef CHECK_ERROR_ROW
    CHECK_EQ_STR(troupe_err_name((troupe_err_t)99), "TROUPE_E?");
    CHECK_EQ_STR(troupe_err_text((troupe_err_t)99), "an error of no known number");
}

static void a_reference_has_one_text(void)
{
    char text[TROUPE_REF_TEXT_SIZE];
    troupe_ref_t ref = {UINT64_C(0x0123456789abcdef), 0xff};
    CHECK_EQ_STR(troupe_ref_format(ref, text), "#0123456789abcdef.00000000000000ff");
    CHECK_EQ_STR(troupe_ref_format(troupe_ref_none(), text), "#0000000000000000.0000000000000000");
}

static void references_round_trip(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    for (int i = 0; i < 1000; i++) {
        troupe_ref_t ref = {trp_random_next(&random) | 1, trp_random_next(&random)};
        troupe_ref_t back = troupe_ref_none();
        char text[TROUPE_REF_TEXT_SIZE];
        CHECK_OK(troupe_ref_parse(troupe_ref_format(ref, text), &back));
        CHECK(troupe_ref_equal(ref, back));
    }
    troupe_ref_t none = {1, 1};
    CHECK_OK(troupe_ref_parse("#0000000000000000.0000000000000000", &none));
    CHECK(troupe_ref_is_none(none));
}

static void other_texts_are_no_references(void)
{
    static const char *const wrong[] = {"",
                                        "#",
                                        "0123456789abcdef.00000000000000ff",
                                        "#0123456789ABCDEF.00000000000000ff",
                                        "#0123456789abcdef:00000000000000ff",
                                        "#0123456789abcdef.00000000000000f",
                                        "#0123456789abcdef.00000000000000fff",
                                        "#0123456789abcdef.00000000000000f ",
                                        "#123456789abcdef.00000000000000ff",
                                        "#0000000000000000.0000000000000001"};
    troupe_ref_t ref = {5, 6};
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK_ERR(troupe_ref_parse(wrong[i], &ref), TROUPE_EINVAL);
    }
    CHECK_ERR(troupe_ref_parse(NULL, &ref), TROUPE_EINVAL);
    CHECK_ERR(troupe_ref_parse("#", NULL), TROUPE_EINVAL);
    CHECK_EQ_U64(ref.node, 5);
}

static void library_and_headers_are_of_one_version(void)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%d.%d.%d", TROUPE_VERSION_MAJOR, TROUPE_VERSION_MINOR,
                   TROUPE_VERSION_PATCH);
    CHECK_EQ_STR(troupe_version_text(), text);
    CHECK_EQ_I64(troupe_version_number(), TROUPE_VERSION_NUMBER);
}

static void misuse_is_noticed(void)
{
    CHECK_ABORTS((void)troupe_ref_format(troupe_ref_none(), NULL));
}

static const check_case_t cases[] = {
    CHECK_CASE(every_error_has_a_name_and_a_text),
    CHECK_CASE(a_reference_has_one_text),
    CHECK_CASE(references_round_trip),
    CHECK_CASE(other_texts_are_no_references),
    CHECK_CASE(library_and_headers_are_of_one_version),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.error", cases)
