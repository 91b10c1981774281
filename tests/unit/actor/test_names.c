/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The directory of names: paths to and fro, percent-encoding, limits, wildcards. */

#include "actor/names.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

static trp_names_t names;

/* /user (1) and below it chat (2), in which is room (3). */
static trp_name_t *user;
static trp_name_t *chat;
static trp_name_t *room;

static void open_names(void)
{
    REQUIRE_OK(trp_names_init(&names, 1));
    REQUIRE_OK(trp_names_add(&names, NULL, 1, "user", &user));
    REQUIRE_OK(trp_names_add(&names, user, 2, "chat", &chat));
    REQUIRE_OK(trp_names_add(&names, chat, 3, "room-7", &room));
}

static void close_names(void)
{
    trp_names_remove(&names, &room);
    trp_names_remove(&names, &chat);
    trp_names_remove(&names, &user);
    trp_names_fini(&names);
}

static void a_path_leads_to_the_actor_and_back(void)
{
    char path[TROUPE_PATH_SIZE_MAX];
    uint64_t id = 0;
    open_names();
    CHECK_OK(trp_names_format(room, 0, path, sizeof(path)));
    CHECK_EQ_STR(path, "/user/chat/room-7");
    CHECK_OK(trp_names_resolve(&names, path, &id));
    CHECK_EQ_U64(id, 3);
    CHECK_OK(trp_names_resolve(&names, "/user", &id));
    CHECK_EQ_U64(id, 1);
    CHECK_OK(trp_names_resolve(&names, "/user/chat", &id));
    CHECK_EQ_U64(id, 2);
    close_names();
}

static void an_unnamed_child_is_called_by_its_id(void)
{
    char path[TROUPE_PATH_SIZE_MAX];
    uint64_t id = 0;
    open_names();
    CHECK_OK(trp_names_format(chat, 0xabc123, path, sizeof(path)));
    CHECK_EQ_STR(path, "/user/chat/$abc123");
    CHECK_OK(trp_names_resolve(&names, path, &id));
    CHECK_EQ_U64(id, 0xabc123);
    close_names();
}

static void a_named_child_of_an_unnamed_one_has_a_path(void)
{
    char path[TROUPE_PATH_SIZE_MAX];
    trp_name_t *nameless = NULL;
    trp_name_t *child = NULL;
    uint64_t id = 0;
    open_names();
    REQUIRE_OK(trp_names_add(&names, chat, 0x50, NULL, &nameless));
    REQUIRE_OK(trp_names_add(&names, nameless, 0x51, "c", &child));
    CHECK_OK(trp_names_format(child, 0, path, sizeof(path)));
    CHECK_EQ_STR(path, "/user/chat/$50/c");
    CHECK_OK(trp_names_resolve(&names, path, &id));
    CHECK_EQ_U64(id, 0x51);
    trp_names_remove(&names, &child);
    trp_names_remove(&names, &nameless);
    close_names();
}

static void a_name_is_taken_until_it_is_removed(void)
{
    trp_name_t *again = NULL;
    open_names();
    CHECK_ERR(trp_names_add(&names, chat, 9, "room-7", &again), TROUPE_EEXIST);
    CHECK_OK(trp_names_add(&names, user, 9, "room-7", &again)); /* Of another parent. */
    trp_names_remove(&names, &again);
    CHECK_NULL(again);
    trp_names_remove(&names, &again); /* NULL does nothing. */
    trp_names_remove(&names, &room);
    uint64_t id = 0;
    CHECK_ERR(trp_names_resolve(&names, "/user/chat/room-7", &id), TROUPE_ENOENT);
    CHECK_OK(trp_names_add(&names, chat, 9, "room-7", &room));
    CHECK_OK(trp_names_resolve(&names, "/user/chat/room-7", &id));
    CHECK_EQ_U64(id, 9);
    close_names();
}

static void names_that_are_no_names_are_refused(void)
{
    char longest[TROUPE_NAME_SIZE_MAX + 2];
    trp_name_t *name = NULL;
    open_names();
    memset(longest, 'n', sizeof(longest));
    longest[TROUPE_NAME_SIZE_MAX + 1] = '\0';
    CHECK_ERR(trp_names_add(&names, user, 9, longest, &name), TROUPE_EINVAL);
    CHECK_ERR(trp_names_add(&names, user, 9, "", &name), TROUPE_EINVAL);
    CHECK_ERR(trp_names_add(&names, user, 9, "$5", &name), TROUPE_EINVAL);
    longest[TROUPE_NAME_SIZE_MAX] = '\0';
    CHECK_OK(trp_names_add(&names, user, 9, longest, &name));
    trp_names_remove(&names, &name);
    close_names();
}

static void malformed_paths_are_told_from_unknown_ones(void)
{
    static const struct {
        const char *path;
        troupe_err_t err;
    } paths[] = {
        {NULL, TROUPE_EINVAL},
        {"", TROUPE_EINVAL},
        {"/", TROUPE_EINVAL},
        {"user", TROUPE_EINVAL},
        {"//user", TROUPE_EINVAL},
        {"/user//chat", TROUPE_EINVAL},
        {"/user/%", TROUPE_EINVAL},
        {"/user/%4", TROUPE_EINVAL},
        {"/user/%zz", TROUPE_EINVAL},
        {"/user/%00", TROUPE_EINVAL},
        {"/user/$", TROUPE_EINVAL},
        {"/user/$xyz", TROUPE_EINVAL},
        {"/user/$12345678123456789", TROUPE_EINVAL},
        {"/user/nobody", TROUPE_ENOENT},
        {"/nobody", TROUPE_ENOENT},
        {"/user/chat/room-7/x", TROUPE_ENOENT},
    };
    open_names();
    for (size_t i = 0; i < TRP_ARRAY_LEN(paths); i++) {
        uint64_t id = 4711;
        troupe_err_t err = trp_names_resolve(&names, paths[i].path, &id);
        if (err != paths[i].err || id != 4711) {
            CHECK_FAIL("%s: %s", paths[i].path == NULL ? "NULL" : paths[i].path,
                       troupe_err_name(err));
        }
    }
    close_names();
}

static void any_bytes_but_zero_make_a_name(void)
{
    char path[TROUPE_PATH_SIZE_MAX];
    open_names();
    for (int byte = 1; byte < 256; byte++) {
        char text[] = {'a', (char)byte, '\0'};
        trp_name_t *name = NULL;
        uint64_t id = 0;
        REQUIRE_OK(trp_names_add(&names, user, 1000, text, &name));
        CHECK_OK(trp_names_format(name, 0, path, sizeof(path)));
        CHECK_NULL(strchr(path + 6, '/'));
        CHECK_OK(trp_names_resolve(&names, path, &id));
        CHECK_EQ_U64(id, 1000);
        trp_names_remove(&names, &name);
    }
    close_names();
}

static void a_path_that_does_not_fit_is_too_big(void)
{
    char path[64];
    open_names();
    size_t need = strlen("/user/chat/room-7") + 1;
    for (size_t capacity = 1; capacity < need; capacity++) {
        CHECK_ERR(trp_names_format(room, 0, path, capacity), TROUPE_ETOOBIG);
    }
    CHECK_OK(trp_names_format(room, 0, path, need));
    need = strlen("/user/chat/$12") + 1;
    for (size_t capacity = 1; capacity < need; capacity++) {
        CHECK_ERR(trp_names_format(chat, 0x12, path, capacity), TROUPE_ETOOBIG);
    }
    CHECK_OK(trp_names_format(chat, 0x12, path, need));
    close_names();
}

static void paths_have_a_greatest_depth(void)
{
    trp_name_t *chain[TRP_PATH_DEPTH_MAX + 1];
    char path[TROUPE_PATH_SIZE_MAX];
    uint64_t id = 0;
    open_names();
    chain[0] = user;
    for (uint32_t i = 1; i <= TRP_PATH_DEPTH_MAX; i++) {
        REQUIRE_OK(trp_names_add(&names, chain[i - 1], 100 + i, "d", &chain[i]));
    }
    CHECK_OK(trp_names_format(chain[TRP_PATH_DEPTH_MAX - 1], 0, path, sizeof(path)));
    CHECK_OK(trp_names_resolve(&names, path, &id));
    CHECK_EQ_U64(id, 100 + TRP_PATH_DEPTH_MAX - 1);
    CHECK_ERR(trp_names_format(chain[TRP_PATH_DEPTH_MAX], 0, path, sizeof(path)), TROUPE_ETOOBIG);
    (void)strcat(path, "/d");
    CHECK_ERR(trp_names_resolve(&names, path, &id), TROUPE_EINVAL);
    for (uint32_t i = TRP_PATH_DEPTH_MAX; i > 0; i--) {
        trp_names_remove(&names, &chain[i]);
    }
    close_names();
}

static void a_child_is_found_by_its_id(void)
{
    char text[TROUPE_NAME_SIZE_MAX + 1];
    open_names();
    CHECK_TRUE(trp_names_child_text(&names, 2, 3, text));
    CHECK_EQ_STR(text, "room-7");
    CHECK_FALSE(trp_names_child_text(&names, 1, 3, text)); /* Not of that parent. */
    CHECK_FALSE(trp_names_child_text(&names, 2, 4, text));
    close_names();
}

/* ---- wildcards ------------------------------------------------------------------------------- */

/* Slow and plain. */
static bool match_model(const char *pattern, const char *text)
{
    if (*pattern == '\0') {
        return *text == '\0';
    }
    if (*pattern == '*') {
        return match_model(pattern + 1, text) || (*text != '\0' && match_model(pattern, text + 1));
    }
    return *text != '\0' && (*pattern == '?' || *pattern == *text) &&
           match_model(pattern + 1, text + 1);
}

static void wildcards_match_as_a_plain_model_says(void)
{
    trp_random_t random;
    trp_random_seed(&random, check_seed());
    for (int i = 0; i < 200000; i++) {
        char pattern[9] = {0};
        char text[9] = {0};
        uint64_t pattern_len = trp_random_below(&random, 9);
        uint64_t text_len = trp_random_below(&random, 9);
        for (uint64_t k = 0; k < pattern_len; k++) {
            pattern[k] = "ab*?"[trp_random_below(&random, 4)];
        }
        for (uint64_t k = 0; k < text_len; k++) {
            text[k] = "ab"[trp_random_below(&random, 2)];
        }
        if (trp_names_match(pattern, text) != match_model(pattern, text)) {
            CHECK_FAIL("\"%s\" against \"%s\"", pattern, text);
        }
    }
}

static void a_hostile_pattern_takes_no_time(void)
{
    char pattern[200];
    char text[256];
    for (size_t i = 0; i + 2 < sizeof(pattern); i += 2) {
        pattern[i] = '*';
        pattern[i + 1] = 'a';
    }
    pattern[198] = 'b';
    pattern[199] = '\0';
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    uint64_t begin = check_now_ms();
    for (int i = 0; i < 100; i++) {
        CHECK_FALSE(trp_names_match(pattern, text));
    }
    CHECK_LT_U64(check_now_ms() - begin, 2000);
}

/* ---- without memory -------------------------------------------------------------------------- */

static troupe_err_t add_step(void *argument)
{
    trp_name_t *top = NULL;
    trp_name_t *child = NULL;
    (void)argument;
    REQUIRE_OK(trp_names_init(&names, 1));
    troupe_err_t err = trp_names_add(&names, NULL, 1, "top", &top);
    if (err == TROUPE_OK) {
        err = trp_names_add(&names, top, 2, "child", &child);
    }
    trp_names_remove(&names, &child);
    trp_names_remove(&names, &top);
    trp_names_fini(&names);
    return err;
}

static void without_memory_a_name_is_not_added_and_nothing_leaks(void)
{
    CHECK_ALLOCATIONS(add_step, NULL);
}

static void the_limbo_is_freed_by_the_sweep(void)
{
    open_names();
    int64_t live = trp_memory_live();
    for (int i = 0; i < 100; i++) {
        trp_name_t *name = NULL;
        REQUIRE_OK(trp_names_add(&names, user, 500, "n", &name));
        trp_names_remove(&names, &name);
    }
    CHECK_EQ_I64(trp_memory_live(), live + 100);
    trp_names_sweep(&names);
    CHECK_EQ_I64(trp_memory_live(), live);
    close_names();
}

static const check_case_t cases[] = {
    CHECK_CASE(a_path_leads_to_the_actor_and_back),
    CHECK_CASE(an_unnamed_child_is_called_by_its_id),
    CHECK_CASE(a_named_child_of_an_unnamed_one_has_a_path),
    CHECK_CASE(a_name_is_taken_until_it_is_removed),
    CHECK_CASE(names_that_are_no_names_are_refused),
    CHECK_CASE(malformed_paths_are_told_from_unknown_ones),
    CHECK_CASE(any_bytes_but_zero_make_a_name),
    CHECK_CASE(a_path_that_does_not_fit_is_too_big),
    CHECK_CASE(paths_have_a_greatest_depth),
    CHECK_CASE(a_child_is_found_by_its_id),
    CHECK_CASE(wildcards_match_as_a_plain_model_says),
    CHECK_CASE(a_hostile_pattern_takes_no_time),
    CHECK_CASE(without_memory_a_name_is_not_added_and_nothing_leaks),
    CHECK_CASE(the_limbo_is_freed_by_the_sweep),
};

CHECK_MAIN("actor.names", cases)
