/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Records, levels, the limiter, and the two formats. */

#include "base/log.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "support/check.h"

/* Keeps the last record as a line of text. */
typedef struct sink {
    unsigned len;
    size_t fields;
    char text[2048];
    char json[2048];
} sink_t;

static void sink_take(const troupe_log_record_t *record, void *user)
{
    sink_t *sink = user;
    troupe_log_record_t fixed = *record;
    fixed.wall_ms = UINT64_C(1714564800123);
    sink->len++;
    sink->fields = record->field_count;
    (void)troupe_log_format_text(&fixed, sink->text, sizeof(sink->text));
    (void)troupe_log_format_json(&fixed, sink->json, sizeof(sink->json));
}

static void a_record_has_its_fields(void)
{
    sink_t sink = {0};
    trp_log_t log;
    trp_log_init(&log, sink_take, &sink, TROUPE_LOG_INFO);
    TRP_LOG(&log, TROUPE_LOG_LINK, TROUPE_LOG_WARN, "peer.lost", "peer=%s attempt=%d", "a:1", 3);
    CHECK_EQ_STR(sink.text, "2024-05-01T12:00:00.123Z warn link peer.lost peer=a:1 attempt=3");
    CHECK_EQ_STR(sink.json, "{\"time\":\"2024-05-01T12:00:00.123Z\",\"level\":\"warn\","
                            "\"room\":\"link\",\"event\":\"peer.lost\",\"peer\":\"a:1\","
                            "\"attempt\":\"3\"}");
    CHECK_EQ_U64(sink.fields, 2);
}

static void spaces_and_quotes_stay_inside_their_value(void)
{
    sink_t sink = {0};
    trp_log_t log;
    trp_log_init(&log, sink_take, &sink, TROUPE_LOG_INFO);
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "e", "a=%s b=%s c=%s", "x y=z", "\"\\", "");
    CHECK_EQ_STR(sink.text,
                 "2024-05-01T12:00:00.123Z info node e a=\"x y=z\" b=\"\\\"\\\\\" c=\"\"");
    CHECK_EQ_STR(strstr(sink.json, "\"a\""), "\"a\":\"x y=z\",\"b\":\"\\\"\\\\\",\"c\":\"\"}");
}

static void bytes_that_were_not_escaped_do_no_harm(void)
{
    sink_t sink = {0};
    trp_log_t log;
    trp_log_init(&log, sink_take, &sink, TROUPE_LOG_INFO);
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "e", "a=%s b=%s", "1\n2\x1b[31m", "\xc3\xa4");
    CHECK_EQ_STR(strstr(sink.text, " a="), " a=1?2?[31m b=\xc3\xa4");
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "e", "a=%s", "\xff");
    CHECK_EQ_STR(strstr(sink.text, " a="), " a=?");
    /* Our own separator in a value costs the rest of that value, no more. */
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "e", "a=%s b=%d", "x\x1fy", 2);
    CHECK_EQ_STR(strstr(sink.text, " a="), " a=x b=2");
}

static void levels_are_by_room(void)
{
    sink_t sink = {0};
    trp_log_t log;
    trp_log_init(&log, sink_take, &sink, TROUPE_LOG_INFO);
    trp_log_set_level(&log, TROUPE_LOG_LINK, TROUPE_LOG_DEBUG);
    trp_log_set_level(&log, TROUPE_LOG_PUBSUB, TROUPE_LOG_OFF);
    TRP_LOG(&log, TROUPE_LOG_LINK, TROUPE_LOG_DEBUG, "e", "n=%d", 1);
    CHECK_EQ_U64(sink.len, 1);
    TRP_LOG(&log, TROUPE_LOG_LINK, TROUPE_LOG_TRACE, "e", "n=%d", 1);
    TRP_LOG(&log, TROUPE_LOG_CLUSTER, TROUPE_LOG_DEBUG, "e", "n=%d", 1);
    TRP_LOG(&log, TROUPE_LOG_PUBSUB, TROUPE_LOG_ERROR, "e", "n=%d", 1);
    CHECK_EQ_U64(sink.len, 1);
}

static void without_a_sink_nothing_is_evaluated(void)
{
    int evaluated = 0;
    trp_log_t log;
    trp_log_t *none = NULL;
    trp_log_init(&log, NULL, NULL, TROUPE_LOG_TRACE);
    TRP_LOG(&log, TROUPE_LOG_LINK, TROUPE_LOG_ERROR, "e", "n=%d", ++evaluated);
    TRP_LOG(none, TROUPE_LOG_LINK, TROUPE_LOG_ERROR, "e", "n=%d", ++evaluated);
    CHECK_EQ_I64(evaluated, 0);
}

static void too_much_is_cut_off(void)
{
    sink_t sink = {0};
    trp_log_t log;
    trp_log_init(&log, sink_take, &sink, TROUPE_LOG_INFO);
    char large[2000];
    memset(large, 'x', sizeof(large));
    large[sizeof(large) - 1] = '\0';
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "e", "a=%s b=%d", large, 1);
    CHECK_EQ_U64(sink.fields, 1);
    TRP_LOG(&log, TROUPE_LOG_NODE, TROUPE_LOG_INFO, "e",
            "a=%d b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 n=1 o=1 p=1 q=1 r=1", 1);
    CHECK_EQ_U64(sink.fields, TROUPE_LOG_FIELDS_MAX);
}

static void a_place_logs_once_an_interval_and_counts(void)
{
    sink_t sink = {0};
    trp_log_t log;
    trp_log_limit_t limit = {0};
    trp_log_init(&log, sink_take, &sink, TROUPE_LOG_INFO);
    uint64_t now = 5 * TRP_NS_PER_S;
    for (int i = 0; i < 10; i++) {
        TRP_LOG_LIMITED(&log, &limit, now, TROUPE_LOG_LINK, TROUPE_LOG_WARN, "e", "i=%d", i);
        now += 1000;
    }
    CHECK_EQ_U64(sink.len, 1);
    CHECK_EQ_STR(strstr(sink.text, " i="), " i=0 suppressed=0");
    now += TRP_NS_PER_S;
    TRP_LOG_LIMITED(&log, &limit, now, TROUPE_LOG_LINK, TROUPE_LOG_WARN, "e", "i=%d", 10);
    CHECK_EQ_U64(sink.len, 2);
    CHECK_EQ_STR(strstr(sink.text, " i="), " i=10 suppressed=9");
    /* What the level keeps out doesn't count. */
    TRP_LOG_LIMITED(&log, &limit, now, TROUPE_LOG_LINK, TROUPE_LOG_DEBUG, "e", "i=%d", 11);
    CHECK_EQ_U64(atomic_load(&limit.suppressed), 0);
}

static void lines_are_cut_off_or_left_out(void)
{
    troupe_log_field_t field = {"key", "value"};
    troupe_log_record_t record = {0, TROUPE_LOG_INFO, TROUPE_LOG_USER, "event", &field, 1};
    char out[64];
    CHECK_EQ_U64(troupe_log_format_text(&record, out, 25), 24);
    CHECK_EQ_STR(out, "1970-01-01T00:00:00.000Z");
    CHECK_EQ_U64(troupe_log_format_json(&record, out, sizeof(out)), 0);
    CHECK_EQ_STR(out, "");
    CHECK_EQ_U64(troupe_log_format_text(&record, out, 0), 0);
    CHECK_EQ_U64(troupe_log_format_text(NULL, out, 5), 0);
    CHECK_EQ_U64(troupe_log_format_json(&record, NULL, 5), 0);
}

static void names_of_levels_and_rooms_round_trip(void)
{
    for (int i = TROUPE_LOG_TRACE; i <= TROUPE_LOG_OFF; i++) {
        troupe_log_level_t level = TROUPE_LOG_OFF;
        CHECK_OK(troupe_log_level_parse(troupe_log_level_name((troupe_log_level_t)i), &level));
        CHECK_EQ_I64(level, i);
    }
    for (int i = 0; i < TROUPE_LOG_ROOM_COUNT; i++) {
        troupe_log_room_t room = TROUPE_LOG_USER;
        CHECK_OK(troupe_log_room_parse(troupe_log_room_name((troupe_log_room_t)i), &room));
        CHECK_EQ_I64(room, i);
    }
    troupe_log_level_t level = TROUPE_LOG_OFF;
    troupe_log_room_t room = TROUPE_LOG_USER;
    CHECK_ERR(troupe_log_level_parse("?", &level), TROUPE_ENOENT);
    CHECK_ERR(troupe_log_room_parse("attic", &room), TROUPE_ENOENT);
    CHECK_ERR(troupe_log_level_parse(NULL, &level), TROUPE_EINVAL);
    CHECK_ERR(troupe_log_room_parse("link", NULL), TROUPE_EINVAL);
    CHECK_EQ_STR(troupe_log_level_name((troupe_log_level_t)99), "?");
    CHECK_EQ_STR(troupe_log_room_name((troupe_log_room_t)99), "?");
}

static void misuse_is_noticed(void)
{
    trp_log_t log;
    trp_log_init(&log, NULL, NULL, TROUPE_LOG_INFO);
    CHECK_ABORTS(trp_log_write(&log, TROUPE_LOG_LINK, TROUPE_LOG_INFO, "e", "n=%d", 1));
    CHECK_ABORTS(
        trp_log_set_level(&log, (troupe_log_room_t)TROUPE_LOG_ROOM_COUNT, TROUPE_LOG_INFO));
}

static const check_case_t cases[] = {
    CHECK_CASE(a_record_has_its_fields),
    CHECK_CASE(spaces_and_quotes_stay_inside_their_value),
    CHECK_CASE(bytes_that_were_not_escaped_do_no_harm),
    CHECK_CASE(levels_are_by_room),
    CHECK_CASE(without_a_sink_nothing_is_evaluated),
    CHECK_CASE(too_much_is_cut_off),
    CHECK_CASE(a_place_logs_once_an_interval_and_counts),
    CHECK_CASE(lines_are_cut_off_or_left_out),
    CHECK_CASE(names_of_levels_and_rooms_round_trip),
    CHECK_CASE(misuse_is_noticed),
};

CHECK_MAIN("base.log", cases)
