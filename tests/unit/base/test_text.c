/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Formatting, numbers, escaping, UTF-8, percent-encoding, suggestions. */

#include "base/text.h"

#include <errno.h>
#include <string.h>

#include "support/check.h"

static void formatting_is_cut_off_to_fit(void)
{
    char out[6];
    CHECK_EQ_U64(trp_text_format(out, sizeof(out), "%d-%s", 12, "ab"), 5);
    CHECK_EQ_STR(out, "12-ab");
    CHECK_EQ_U64(trp_text_format(out, sizeof(out), "%d-%s", 12, "abc"), 5);
    CHECK_EQ_STR(out, "12-ab");
    CHECK_EQ_U64(trp_text_copy(out, sizeof(out), "1234567"), 5);
    CHECK_EQ_STR(out, "12345");
    CHECK_EQ_U64(trp_text_copy(out, sizeof(out), ""), 0);
    CHECK_EQ_STR(out, "");
}

static void errors_of_the_system_have_a_text(void)
{
    CHECK_EQ_STR(trp_text_of_errno(EACCES), "Permission denied");
    CHECK_EQ_STR(trp_text_of_errno(-5), "unknown error");
}

static void numbers_are_read_whole_or_not_at_all(void)
{
    static const char *const wrong[] = {"",
                                        "-1",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1x",
                                        "x",
                                        "0x1",
                                        "1.",
                                        "18446744073709551616",
                                        "99999999999999999999999"};
    uint64_t value = 5;
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK_ERR(trp_text_parse_u64(wrong[i], UINT64_MAX, &value), TROUPE_EINVAL);
    }
    CHECK_EQ_U64(value, 5);
    CHECK_OK(trp_text_parse_u64("18446744073709551615", UINT64_MAX, &value));
    CHECK_EQ_U64(value, UINT64_MAX);
    CHECK_OK(trp_text_parse_u64("007", 7, &value));
    CHECK_EQ_U64(value, 7);
    CHECK_ERR(trp_text_parse_u64("8", 7, &value), TROUPE_EINVAL);
}

static void foreign_bytes_become_printable(void)
{
    char out[64];
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "a b", 3), "a b");
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "\n\t\r\"\\", 5), "\\n\\t\\r\\\"\\\\");
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "\0\x1b\xff", 3), "\\x00\\x1B\\xFF");
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "", 0), "");
}

static void what_does_not_fit_ends_in_dots(void)
{
    char out[8];
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "1234567", 7), "1234567");
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "12345678", 8), "1234...");
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "123\xff\xff", 5), "123...");
    CHECK_EQ_STR(trp_text_escape(out, sizeof(out), "\xff\xff", 2), "\\xFF...");
    CHECK_EQ_STR(trp_text_escape(out, 4, "\xff\xff", 2), "...");
}

static void utf8_is_told_from_other_bytes(void)
{
    static const char *const right[] = {"",
                                        "a",
                                        "\xc3\xa4",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xf4\x8f\xbf\xbf"};
    static const char *const wrong[] = {
        "\x80",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xe2\x82",     "\xe2\x28\xa1",     "\xf0\x9f\x98",     "\xf0\x9f\x28\x80",
        "a\xff"};
    for (size_t i = 0; i < TRP_ARRAY_LEN(right); i++) {
        CHECK(trp_text_is_utf8(right[i], strlen(right[i])));
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK(!trp_text_is_utf8(wrong[i], strlen(wrong[i])));
    }
}

static void percent_encoding_leaves_no_meaning_behind(void)
{
    char out[128];
    size_t size = 0;
    CHECK_OK(trp_text_percent_encode("a/b*>#%? \xff", 10, out, sizeof(out), &size));
    CHECK_EQ_STR(out, "a%2Fb%2A%3E%23%25%3F%20%FF");
    CHECK_EQ_U64(size, strlen(out));
    CHECK_OK(trp_text_percent_encode("Az09-._~!$&'()+,;=:@", 20, out, sizeof(out), &size));
    CHECK_EQ_STR(out, "Az09-._~!$&'()+,;=:@");
    CHECK_OK(trp_text_percent_encode(NULL, 0, out, 1, &size));
    CHECK_EQ_STR(out, "");
}

static void percent_encoding_round_trips(void)
{
    uint8_t all[256];
    for (unsigned i = 0; i < 256; i++) {
        all[i] = (uint8_t)i;
    }
    char text[TRP_TEXT_PERCENT_SIZE_MAX(sizeof(all)) + 1];
    size_t text_size = 0;
    CHECK_OK(trp_text_percent_encode(all, sizeof(all), text, sizeof(text), &text_size));
    uint8_t back[256];
    size_t size = 0;
    CHECK_OK(trp_text_percent_decode(text, text_size, back, sizeof(back), &size));
    CHECK_EQ_BYTES(back, size, all, sizeof(all));
    /* In place too. */
    CHECK_OK(trp_text_percent_decode(text, text_size, text, sizeof(text), &size));
    CHECK_EQ_BYTES(text, size, all, sizeof(all));
}

static void percent_encoding_needs_room(void)
{
    char out[4];
    size_t size = 77;
    CHECK_ERR(trp_text_percent_encode("abcd", 4, out, 4, &size), TROUPE_ETOOBIG);
    CHECK_ERR(trp_text_percent_encode("/", 1, out, 3, &size), TROUPE_ETOOBIG);
    CHECK_ERR(trp_text_percent_encode("", 0, out, 0, &size), TROUPE_ETOOBIG);
    CHECK_ERR(trp_text_percent_decode("abcde", 5, out, 4, &size), TROUPE_ETOOBIG);
    CHECK_EQ_U64(size, 77);
    CHECK_OK(trp_text_percent_encode("/", 1, out, 4, &size));
    CHECK_EQ_STR(out, "%2F");
}

static void wrong_percents_are_refused(void)
{
    static const char *const wrong[] = {"%", "%2", "a%", "%g0", "%0g", "%%41", "%-1", "%4 "};
    char out[8];
    size_t size = 0;
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK_ERR(trp_text_percent_decode(wrong[i], strlen(wrong[i]), out, sizeof(out), &size),
                  TROUPE_EINVAL);
    }
    CHECK_OK(trp_text_percent_decode("%2f%2F", 6, out, sizeof(out), &size));
    CHECK_EQ_BYTES(out, size, "//", 2);
}

static void distance_counts_single_changes(void)
{
    CHECK_EQ_U64(trp_text_distance("", ""), 0);
    CHECK_EQ_U64(trp_text_distance("", "abc"), 3);
    CHECK_EQ_U64(trp_text_distance("abc", ""), 3);
    CHECK_EQ_U64(trp_text_distance("kitten", "sitting"), 3);
    CHECK_EQ_U64(trp_text_distance("seed", "sede"), 1);
    CHECK_EQ_U64(trp_text_distance("ab", "ba"), 1);
    CHECK_EQ_U64(trp_text_distance("abc", "abc"), 0);
    char longest[TRP_TEXT_DISTANCE_SIZE_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    longest[TRP_TEXT_DISTANCE_SIZE_MAX + 1] = '\0';
    CHECK_EQ_U64(trp_text_distance(longest, "x"), SIZE_MAX);
    CHECK_EQ_U64(trp_text_distance("x", longest), SIZE_MAX);
    longest[TRP_TEXT_DISTANCE_SIZE_MAX] = '\0';
    CHECK_EQ_U64(trp_text_distance(longest, "x"), TRP_TEXT_DISTANCE_SIZE_MAX - 1);
}

static void the_nearest_word_is_suggested(void)
{
    static const char *const words[] = {"listen", "advertise", "seeds", "roles", "dispatchers"};
    size_t len = TRP_ARRAY_LEN(words);
    CHECK_EQ_STR(trp_text_suggest("lisen", words, len), "listen");
    CHECK_EQ_STR(trp_text_suggest("seed", words, len), "seeds");
    CHECK_EQ_STR(trp_text_suggest("dispachers", words, len), "dispatchers");
    CHECK_NULL(trp_text_suggest("colour", words, len));
    CHECK_NULL(trp_text_suggest("", words, len));
    CHECK_NULL(trp_text_suggest("listen", words, 0));
}

static void misuse_is_noticed(void)
{
    char out[4];
    CHECK_ABORTS((void)trp_text_format(out, 0, "x"));
    CHECK_ABORTS((void)trp_text_copy(out, 0, "x"));
    CHECK_ABORTS((void)trp_text_escape(out, 3, "x", 1));
    CHECK_ABORTS((void)trp_text_distance(NULL, "x"));
}

static const check_case_t cases[] = {
    CHECK_CASE(formatting_is_cut_off_to_fit),
    CHECK_CASE(errors_of_the_system_have_a_text),
    CHECK_CASE(numbers_are_read_whole_or_not_at_all),
    CHECK_CASE(foreign_bytes_become_printable),
    CHECK_CASE(what_does_not_fit_ends_in_dots),
    CHECK_CASE(utf8_is_told_from_other_bytes),
    CHECK_CASE(percent_encoding_leaves_no_meaning_behind),
    CHECK_CASE(percent_encoding_round_trips),
    CHECK_CASE(percent_encoding_needs_room),
    CHECK_CASE(wrong_percents_are_refused),
    CHECK_CASE(distance_counts_single_changes),
    CHECK_CASE(the_nearest_word_is_suggested),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.text", cases)
