/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Selections: one message to all actors whose path matches. */

#include <stdio.h>
#include <string.h>

#include "support/runtime.h"

#define KIDS 3u

static stage_t stage;
static probe_t houses[2];
static probe_t kids[2][KIDS];
static probe_t other;
static troupe_ref_t other_ref;

static const char *const kid_names[KIDS] = {"anna", "anton", "b*b"};

/* /user/north and /user/south, each with three children on both dispatchers. */
static troupe_err_t spawn_kids(troupe_actor_t *self, probe_t *probe)
{
    size_t house = probe == &houses[0] ? 0 : 1;
    for (uint32_t i = 0; i < KIDS; i++) {
        troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
        troupe_ref_t ref;
        options.name = kid_names[i];
        options.place = TROUPE_PLACE(i % STAGE_DISPATCHERS);
        CHECK_OK(puppet_spawn(self, &kids[house][i], &options, &ref));
    }
    return TROUPE_OK;
}

static troupe_err_t listen(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    (void)argument;
    return troupe_events_subscribe(self, TROUPE_EVENT_DEAD_LETTER);
}

static void begin(void)
{
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    memset(kids, 0, sizeof(kids));
    other = (probe_t){0};
    stage_open(&stage, NULL);
    for (size_t i = 0; i < 2; i++) {
        houses[i] = (probe_t){.on_init = spawn_kids};
        options.name = i == 0 ? "north" : "south";
        options.place = TROUPE_PLACE((uint32_t)i);
        (void)stage_puppet(&stage, &houses[i], &options);
    }
    other_ref = stage_puppet(&stage, &other, NULL);
    CHECK_OK(stage_do(&stage, other_ref, listen, NULL));
    STAGE_QUIET(&stage);
}

static troupe_err_t tell_all(troupe_actor_t *self, probe_t *probe, void *argument)
{
    uint64_t number = 7;
    (void)probe;
    return troupe_tell_selection(self, argument, TROUPE_TYPE_BYTES, &number, sizeof(number));
}

static uint64_t heard(void)
{
    uint64_t count = 0;
    for (size_t house = 0; house < 2; house++) {
        count += probe_count(&houses[house], PROBE_MESSAGE);
        for (size_t i = 0; i < KIDS; i++) {
            count += probe_count(&kids[house][i], PROBE_MESSAGE);
        }
    }
    return count;
}

static void check_selection(const char *pattern, uint64_t expected)
{
    uint64_t before = heard();
    char text[64];
    (void)snprintf(text, sizeof(text), "%s", pattern);
    CHECK_OK(stage_do(&stage, other_ref, tell_all, text));
    STAGE_QUIET(&stage);
    if (heard() - before != expected) {
        CHECK_FAIL("%s: %" PRIu64 " against %" PRIu64, pattern, heard() - before, expected);
    }
}

static void all_whose_path_matches_get_the_message(void)
{
    begin();
    check_selection("/user/north", 1);
    check_selection("/user/north/anna", 1);
    CHECK_EQ_U64(probe_at(&kids[0][0], PROBE_MESSAGE, 0).value, 7);
    CHECK_TRUE(troupe_ref_equal(probe_at(&kids[0][0], PROBE_MESSAGE, 0).who, other_ref));
    check_selection("/user/*/anna", 2);
    check_selection("/user/*/an*", 4);
    check_selection("/user/?orth/*", KIDS);
    check_selection("/*/*/*", 2 * KIDS);
    check_selection("/user/[ns]outh", 0);
    check_selection("/user/south/", 1);
    check_selection("/us*/*th/b?b", 2);
    stage_close(&stage);
}

static void nobody_matching_is_a_dead_letter_that_names_the_pattern(void)
{
    static const char *const patterns[] = {"/nobody", "/user/nobody*", "/user/north/anna/x",
                                           "/user/*/nobody", "/system/x"};
    begin();
    uint64_t dropped = 0;
    for (size_t i = 0; i < TRP_ARRAY_LEN(patterns); i++) {
        check_selection(patterns[i], 0);
        /* One for each branch that came to its end in vain. */
        uint64_t now = stage_stats(&stage).user.dropped[TROUPE_DROP_NO_MATCH];
        CHECK_GT_U64(now, dropped);
        dropped = now;
        probe_entry_t event =
            probe_at(&other, PROBE_EVENT, (uint32_t)probe_count(&other, PROBE_EVENT) - 1);
        CHECK_EQ_U64(event.type, TROUPE_DROP_NO_MATCH);
        CHECK_EQ_STR(event.text, patterns[i]);
    }
    stage_close(&stage);
}

static troupe_err_t select_bad(troupe_actor_t *self, probe_t *probe, void *argument)
{
    static char longest[TROUPE_PATH_SIZE_MAX + 8];
    static const char *const bad[] = {NULL, "", "user", "/", "//", "/user//x", "/user/%", longest};
    (void)probe;
    (void)argument;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[0] = '/';
    for (size_t i = 0; i < TRP_ARRAY_LEN(bad); i++) {
        CHECK_ERR(troupe_tell_selection(self, bad[i], TROUPE_TYPE_BYTES, NULL, 0), TROUPE_EINVAL);
    }
    CHECK_ERR(troupe_tell_selection(self, "/user", (troupe_type_t){0}, NULL, 0), TROUPE_ETYPE);
    return TROUPE_OK;
}

static void malformed_patterns_are_refused(void)
{
    begin();
    CHECK_OK(stage_do(&stage, other_ref, select_bad, NULL));
    stage_close(&stage);
}

static troupe_err_t select_and_kill(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_ref_t house = troupe_ref_none();
    (void)probe;
    (void)argument;
    for (int i = 0; i < 20; i++) {
        CHECK_OK(troupe_tell_selection(self, "/user/*/*", TROUPE_TYPE_BYTES, NULL, 0));
    }
    if (troupe_lookup(self, "/user/north", &house) == TROUPE_OK) {
        troupe_kill(self, house);
    }
    return TROUPE_OK;
}

static void a_selection_under_way_to_one_that_dies_leaks_nothing(void)
{
    for (int i = 0; i < 20; i++) {
        begin();
        CHECK_OK(stage_do(&stage, other_ref, select_and_kill, NULL));
        STAGE_QUIET(&stage);
        stage_close(&stage);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(all_whose_path_matches_get_the_message),
    CHECK_CASE(nobody_matching_is_a_dead_letter_that_names_the_pattern),
    CHECK_CASE(malformed_patterns_are_refused),
    CHECK_CASE(a_selection_under_way_to_one_that_dies_leaks_nothing),
};

CHECK_MAIN("actor.selection", cases)
