/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of the table of options: that it is sound, and that each kind takes and refuses what it should. */

#include "node/option.h"

#include <string.h>

#include "support/check.h"

typedef struct fixture {
    trp_option_values_t values;
    trp_store_t store;
    char problem[TRP_OPTION_PROBLEM_SIZE];
} fixture_t;

static void fixture_init(fixture_t *f)
{
    memset(f, 0, sizeof(*f));
    trp_store_init(&f->store);
}

static troupe_err_t assign(fixture_t *f, const char *key, const char *text)
{
    const trp_option_t *option = trp_option_find(key);
    REQUIRE_NOT_NULL(option);
    return trp_option_assign(option, &f->values, &f->store, &text, 1, f->problem);
}

/* ---- the table -------------------------------------------------------------------------------- */

static void keys_are_unique_and_of_two_parts(void)
{
    for (size_t i = 0; i < trp_option_len(); i++) {
        const char *key = trp_option_at(i)->about.key;
        const char *dot = strchr(key, '.');
        CHECK(strlen(key) < TRP_OPTION_KEY_SIZE_MAX);
        CHECK(dot != NULL && strchr(dot + 1, '.') == NULL);
        CHECK_EQ_U64(strspn(key, "abcdefghijklmnopqrstuvwxyz_."), strlen(key));
        CHECK_EQ_PTR(trp_option_find(key), trp_option_at(i));
        CHECK_EQ_U64(trp_option_index(trp_option_at(i)), i);
    }
    CHECK_NULL(trp_option_at(trp_option_len()));
    CHECK_NULL(troupe_config_option(trp_option_len()));
}

static void variables_are_unique(void)
{
    char a[128];
    char b[128];
    for (size_t i = 0; i < trp_option_len(); i++) {
        REQUIRE_OK(troupe_config_variable(trp_option_at(i)->about.key, a, sizeof(a)));
        for (size_t j = 0; j < i; j++) {
            REQUIRE_OK(troupe_config_variable(trp_option_at(j)->about.key, b, sizeof(b)));
            CHECK(strcmp(a, b) != 0);
        }
    }
    CHECK_OK(troupe_config_variable("cluster.name", a, sizeof(a)));
    CHECK_EQ_STR(a, "TROUPE_CLUSTER_NAME");
    CHECK_ERR(troupe_config_variable("cluster.name", a, 5), TROUPE_ETOOBIG);
    CHECK_ERR(troupe_config_variable(NULL, a, 5), TROUPE_EINVAL);
}

static void every_option_is_described(void)
{
    for (size_t i = 0; i < trp_option_len(); i++) {
        const trp_option_t *option = trp_option_at(i);
        size_t size = strlen(option->about.help);
        CHECK_GT_U64(size, 10);
        CHECK(size > 0 && option->about.help[size - 1] == '.');
        CHECK(option->about.kind[0] != '\0');
        CHECK((option->about.choices[0] != '\0') == (option->kind == TRP_OPTION_ENUM));
    }
}

static void a_number_that_may_be_0_is_0_by_default(void)
{
    for (size_t i = 0; i < trp_option_len(); i++) {
        const trp_option_t *option = trp_option_at(i);
        if (option->kind == TRP_OPTION_U32 || option->kind == TRP_OPTION_SIZE) {
            bool is_zero = strcmp(option->about.default_text, "0") == 0;
            CHECK_EQ_U64(option->about.min == 0, is_zero);
        }
        if (option->kind == TRP_OPTION_BOOL && option->offset < sizeof(troupe_node_options_t)) {
            CHECK_EQ_STR(option->about.default_text, "false");
        }
    }
}

static void every_default_is_taken_and_shown(void)
{
    fixture_t f;
    trp_option_values_t none;
    fixture_init(&f);
    memset(&none, 0, sizeof(none));
    for (size_t i = 0; i < trp_option_len(); i++) {
        const trp_option_t *option = trp_option_at(i);
        char text[256];
        uint64_t a = 0;
        uint64_t b = 0;
        CHECK_OK(trp_option_adopt(option, &none, &f.values, &f.store, f.problem));
        CHECK_OK(trp_option_show(option, &f.values, text, sizeof(text)));
        if (option->kind == TRP_OPTION_SIZE) {
            CHECK_OK(trp_option_parse_size(text, &a));
            CHECK_OK(trp_option_parse_size(option->about.default_text, &b));
            CHECK_EQ_U64(a, b);
        } else if (option->kind != TRP_OPTION_BOOL) {
            CHECK_EQ_STR(text, option->about.default_text);
        }
    }
    CHECK_EQ_U64(f.values.node.split_policy, TROUPE_SPLIT_KEEP_MAJORITY);
    CHECK_EQ_U64(f.values.node.log_level, TROUPE_LOG_INFO);
    trp_store_fini(&f.store);
}

static void sections_are_known(void)
{
    CHECK(trp_option_is_section("cluster"));
    CHECK(trp_option_is_section("log"));
    CHECK_FALSE(trp_option_is_section("cluster.name"));
    CHECK_FALSE(trp_option_is_section("clust"));
    CHECK_FALSE(trp_option_is_section(""));
}

static void slips_lead_to_the_key_meant(void)
{
    CHECK_EQ_STR(trp_option_suggest("cluster.nmae"), "cluster.name");
    CHECK_EQ_STR(trp_option_suggest("clustr.gossip_intervl_ms"), "cluster.gossip_interval_ms");
    CHECK_EQ_STR(trp_option_suggest("node.seeds"), "cluster.seeds");
    CHECK_EQ_STR(trp_option_suggest("stable_after_ms"), "cluster.stable_after_ms");
    CHECK_NULL(trp_option_suggest("zzzzzzzzzzzzzz.qqqqqqqqq"));
    CHECK_NULL(trp_option_suggest(""));
}

/* ---- kinds ------------------------------------------------------------------------------------ */

static void numbers_keep_their_range(void)
{
    fixture_t f;
    fixture_init(&f);
    CHECK_OK(assign(&f, "cluster.members_min", "3"));
    CHECK_EQ_U64(f.values.node.members_min, 3);
    CHECK_ERR(assign(&f, "cluster.members_min", "0"), TROUPE_ECONFIG);
    CHECK_EQ_STR(f.problem, "\"0\" is out of range; give a number from 1 to 10000");
    CHECK_ERR(assign(&f, "cluster.members_min", "10001"), TROUPE_ECONFIG);
    CHECK_ERR(assign(&f, "cluster.members_min", "-1"), TROUPE_ECONFIG);
    CHECK_EQ_STR(f.problem, "\"-1\" is no whole number; give digits only");
    CHECK_ERR(assign(&f, "cluster.members_min", "3s"), TROUPE_ECONFIG);
    CHECK_ERR(assign(&f, "cluster.members_min", "18446744073709551616"), TROUPE_ECONFIG);
    CHECK_EQ_U64(f.values.node.members_min, 3);
    trp_store_fini(&f.store);
}

static void sizes_take_units(void)
{
    static const struct {
        const char *text;
        uint64_t size;
    } good[] = {
        {"65536", 65536},     {"64KiB", 65536},     {"64 KiB", 65536}, {"1MiB", 1u << 20},
        {"2GiB", 2ull << 30}, {"1TiB", 1ull << 40}, {"1K", 1024},      {"100B", 100},
    };
    static const char *const wrong[] = {
        "",     "KiB",  "1.5GiB",         "-1",
        "1 XB", "1kib", "99999999999TiB", "111111111111111111111111111111"};
    uint64_t size = 0;
    for (size_t i = 0; i < TRP_ARRAY_LEN(good); i++) {
        CHECK_OK(trp_option_parse_size(good[i].text, &size));
        CHECK_EQ_U64(size, good[i].size);
    }
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK_ERR(trp_option_parse_size(wrong[i], &size), TROUPE_EINVAL);
    }
    fixture_t f;
    fixture_init(&f);
    CHECK_ERR(assign(&f, "limits.memory", "5"), TROUPE_ECONFIG);
    CHECK_ERR(assign(&f, "limits.memory", "many"), TROUPE_ECONFIG);
    CHECK_OK(assign(&f, "limits.memory", "2MiB"));
    CHECK_EQ_U64(f.values.node.memory_size_max, 2u << 20);
    trp_store_fini(&f.store);
}

static void truth_has_several_words(void)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    fixture_t f;
    fixture_init(&f);
    for (size_t i = 0; i < TRP_ARRAY_LEN(yes); i++) {
        CHECK_OK(assign(&f, "security.insecure", yes[i]));
        CHECK(f.values.node.insecure);
        CHECK_OK(assign(&f, "security.insecure", no[i]));
        CHECK_FALSE(f.values.node.insecure);
    }
    CHECK_ERR(assign(&f, "security.insecure", "maybe"), TROUPE_ECONFIG);
    CHECK_EQ_STR(f.problem, "\"maybe\" is neither true nor false");
    trp_store_fini(&f.store);
}

static void choices_are_suggested(void)
{
    fixture_t f;
    fixture_init(&f);
    CHECK_OK(assign(&f, "cluster.split_brain", "down-all"));
    CHECK_EQ_U64(f.values.node.split_policy, TROUPE_SPLIT_DOWN_ALL);
    CHECK_ERR(assign(&f, "cluster.split_brain", "keep-oldset"), TROUPE_ECONFIG);
    CHECK_NOT_NULL(strstr(f.problem, "did you mean keep-oldest?"));
    CHECK_ERR(assign(&f, "cluster.split_brain", ""), TROUPE_ECONFIG);
    CHECK_OK(assign(&f, "log.level", "off"));
    CHECK_EQ_U64(f.values.node.log_level, TROUPE_LOG_OFF);
    trp_store_fini(&f.store);
}

static void lists_check_each_element(void)
{
    static const char *const seeds[] = {"a:1", "b:2"};
    static const char *const wrong[] = {"a:1", "b"};
    static const char *const empty[] = {"a:1", ""};
    fixture_t f;
    fixture_init(&f);
    const trp_option_t *option = trp_option_find("cluster.seeds");
    CHECK_OK(trp_option_assign(option, &f.values, &f.store, seeds, 2, f.problem));
    REQUIRE_EQ_U64(f.values.node.seeds.len, 2);
    CHECK_EQ_STR(f.values.node.seeds.items[1], "b:2");
    CHECK_ERR(trp_option_assign(option, &f.values, &f.store, wrong, 2, f.problem), TROUPE_ECONFIG);
    CHECK_ERR(trp_option_assign(option, &f.values, &f.store, empty, 2, f.problem), TROUPE_ECONFIG);
    CHECK_EQ_U64(f.values.node.seeds.len, 2);
    CHECK_OK(trp_option_assign(option, &f.values, &f.store, NULL, 0, f.problem));
    CHECK_EQ_U64(f.values.node.seeds.len, 0);
    CHECK_ERR(assign(&f, "dispatchers.groups", "blocking"), TROUPE_ECONFIG);
    CHECK_ERR(assign(&f, "dispatchers.groups", "=4"), TROUPE_ECONFIG);
    CHECK_ERR(assign(&f, "dispatchers.groups", "blocking="), TROUPE_ECONFIG);
    CHECK_OK(assign(&f, "dispatchers.groups", "blocking=4"));
    trp_store_fini(&f.store);
}

static void secrets_are_not_shown(void)
{
    fixture_t f;
    char text[64];
    fixture_init(&f);
    CHECK_OK(assign(&f, "security.secret_key", "much secret"));
    const trp_option_t *option = trp_option_find("security.secret_key");
    CHECK_OK(trp_option_show(option, &f.values, text, sizeof(text)));
    CHECK_EQ_STR(text, "***");
    trp_store_fini(&f.store);
}

static void foreign_bytes_in_errors_are_escaped(void)
{
    fixture_t f;
    fixture_init(&f);
    CHECK_ERR(assign(&f, "node.bind", "\x1b[31m\n"), TROUPE_ECONFIG);
    for (const char *c = f.problem; *c != '\0'; c++) {
        CHECK(*c >= ' ' && *c < 127);
    }
    trp_store_fini(&f.store);
}

static void a_text_that_does_not_fit_is_not_shown(void)
{
    fixture_t f;
    char text[4];
    fixture_init(&f);
    CHECK_OK(assign(&f, "cluster.name", "much longer"));
    CHECK_ERR(trp_option_show(trp_option_find("cluster.name"), &f.values, text, sizeof(text)),
              TROUPE_ETOOBIG);
    CHECK_OK(assign(&f, "cluster.roles", "abc"));
    CHECK_OK(trp_option_show(trp_option_find("cluster.roles"), &f.values, text, sizeof(text)));
    CHECK_OK(assign(&f, "cluster.roles", "abcd"));
    CHECK_ERR(trp_option_show(trp_option_find("cluster.roles"), &f.values, text, sizeof(text)),
              TROUPE_ETOOBIG);
    trp_store_fini(&f.store);
}

static troupe_err_t adopt_all(void *user)
{
    static const char *const roles[] = {"a", "b"};
    fixture_t f;
    trp_option_values_t from;
    troupe_err_t err = TROUPE_OK;
    (void)user;
    fixture_init(&f);
    memset(&from, 0, sizeof(from));
    from.node.roles = (troupe_string_list_t){roles, 2};
    from.node.cluster_name = "shop";
    for (size_t i = 0; i < trp_option_len() && err == TROUPE_OK; i++) {
        err = trp_option_adopt(trp_option_at(i), &from, &f.values, &f.store, f.problem);
    }
    trp_store_fini(&f.store);
    return err;
}

static void running_out_of_memory_is_an_error(void)
{
    CHECK_ALLOCATIONS(adopt_all, NULL);
}

static void misuse_aborts(void)
{
    CHECK_ABORTS(trp_option_find(NULL));
    CHECK_ABORTS(trp_option_index(trp_option_at(0) - 1));
}

static const check_case_t cases[] = {
    CHECK_CASE(keys_are_unique_and_of_two_parts),
    CHECK_CASE(variables_are_unique),
    CHECK_CASE(every_option_is_described),
    CHECK_CASE(a_number_that_may_be_0_is_0_by_default),
    CHECK_CASE(every_default_is_taken_and_shown),
    CHECK_CASE(sections_are_known),
    CHECK_CASE(slips_lead_to_the_key_meant),
    CHECK_CASE(numbers_keep_their_range),
    CHECK_CASE(sizes_take_units),
    CHECK_CASE(truth_has_several_words),
    CHECK_CASE(choices_are_suggested),
    CHECK_CASE(lists_check_each_element),
    CHECK_CASE(secrets_are_not_shown),
    CHECK_CASE(foreign_bytes_in_errors_are_escaped),
    CHECK_CASE(a_text_that_does_not_fit_is_not_shown),
    CHECK_CASE(running_out_of_memory_is_an_error),
    CHECK_CASE(misuse_aborts),
};
CHECK_MAIN("node.option", cases)
