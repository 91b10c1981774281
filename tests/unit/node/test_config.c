/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of the configuration: files, environment, flags, precedence, and what the errors say. */

#include <troupe/config.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/check.h"

static troupe_config_t *config_new(void)
{
    troupe_config_t *config = NULL;
    REQUIRE_OK(troupe_config_create(&config));
    return config;
}

static troupe_err_t load(troupe_config_t *config, const char *text)
{
    return troupe_config_load_text(config, "t.yaml", text, strlen(text));
}

/* The whole of the errors that a text makes. */
#define CHECK_COMPLAINT(text, errors)                                                              \
    do {                                                                                           \
        troupe_config_t *complainer = config_new();                                                \
        CHECK_ERR(load(complainer, (text)), TROUPE_ECONFIG);                                       \
        CHECK_EQ_STR(troupe_config_errors(complainer), (errors));                                  \
        troupe_config_destroy(&complainer);                                                        \
    } while (0)

static void a_file_sets_options(void)
{
    troupe_config_t *config = config_new();
    CHECK_OK(load(config, "# a comment\n"
                          "cluster:\n"
                          "  name: shop\n"
                          "  seeds: [\"a:1\", b:2]\n"
                          "  roles:\n"
                          "    - web\n"
                          "    - api\n"
                          "node: {bind: \"127.0.0.1:0\"}\n"
                          "dispatchers:\n"
                          "  groups: {blocking: 4, noisy: 1}\n"
                          "limits:\n"
                          "  memory: 256 MiB\n"));
    const troupe_node_options_t *options = troupe_config_node_options(config);
    CHECK_EQ_STR(troupe_config_errors(config), "");
    CHECK_EQ_STR(options->cluster_name, "shop");
    REQUIRE_EQ_U64(options->seeds.len, 2);
    CHECK_EQ_STR(options->seeds.items[0], "a:1");
    REQUIRE_EQ_U64(options->roles.len, 2);
    CHECK_EQ_STR(options->roles.items[1], "api");
    REQUIRE_EQ_U64(options->groups.len, 2);
    CHECK_EQ_STR(options->groups.items[0], "blocking=4");
    CHECK_EQ_U64(options->memory_size_max, 256u << 20);
    CHECK_EQ_STR(options->bind, "127.0.0.1:0");
    CHECK_OK(troupe_config_check(config));
    troupe_config_destroy(&config);
}

static void keys_may_be_written_with_dots(void)
{
    troupe_config_t *config = config_new();
    CHECK_OK(load(config, "cluster.name: shop\n"));
    CHECK_EQ_STR(troupe_config_node_options(config)->cluster_name, "shop");
    troupe_config_destroy(&config);
}

static void an_empty_file_is_good(void)
{
    static const char *const texts[] = {"",           "\n",         "# nothing\n", "---\n",
                                        "---\n...\n", "cluster:\n", "{}\n"};
    troupe_config_t *config = config_new();
    for (size_t i = 0; i < TRP_ARRAY_LEN(texts); i++) {
        CHECK_OK(load(config, texts[i]));
        CHECK_EQ_STR(troupe_config_errors(config), "");
    }
    troupe_config_destroy(&config);
}

static void unknown_keys_are_refused_with_a_suggestion(void)
{
    CHECK_COMPLAINT("cluster:\n  name: a\n  sedes: [a:1]\n",
                    "t.yaml:3: cluster.sedes: unknown key; did you mean cluster.seeds?\n");
    CHECK_COMPLAINT("bind: a:1\n", "t.yaml:1: bind: unknown key; did you mean node.bind?\n");
    CHECK_COMPLAINT("zzzzzzzz:\n  qqqqqqqq: {a: [1, {b: c}]}\n",
                    "t.yaml:1: zzzzzzzz: unknown key; `troupe node --help` lists all of them\n");
}

static void wrong_values_are_told_with_their_line(void)
{
    CHECK_COMPLAINT(
        "cluster:\n  members_min: many\n",
        "t.yaml:2: cluster.members_min: \"many\" is no whole number; give digits only\n");
    CHECK_COMPLAINT("node:\n  bind: nowhere\n",
                    "t.yaml:2: node.bind: \"nowhere\" is no address; give host:port, such as "
                    "127.0.0.1:7001\n");
    CHECK_COMPLAINT(
        "cluster:\n  name:\n",
        "t.yaml:2: cluster.name: has no value; leave the key out to have the default\n");
}

static void all_errors_of_a_file_are_told(void)
{
    CHECK_COMPLAINT("cluster:\n  nmae: a\n  members_min: x\nnode:\n  bnid: a:1\n",
                    "t.yaml:2: cluster.nmae: unknown key; did you mean cluster.name?\n"
                    "t.yaml:3: cluster.members_min: \"x\" is no whole number; give digits only\n"
                    "t.yaml:5: node.bnid: unknown key; did you mean node.bind?\n");
}

static void wrong_shapes_are_told(void)
{
    CHECK_COMPLAINT("cluster:\n  name: [a, b]\n",
                    "t.yaml:2: cluster.name: must be one plain value\n");
    CHECK_COMPLAINT("cluster:\n  seeds: {a: b}\n",
                    "t.yaml:2: cluster.seeds: must be a list, such as [a, b]\n");
    CHECK_COMPLAINT("dispatchers:\n  groups: [a, b]\n",
                    "t.yaml:2: dispatchers.groups: must be a mapping, such as {name: value}\n");
    CHECK_COMPLAINT("cluster: 5\n",
                    "t.yaml:1: cluster: is a section; write its keys below it, indented\n");
    CHECK_COMPLAINT("- a\n- b\n", "t.yaml:1: a configuration is a mapping of sections, such as "
                                  "cluster:\n");
    CHECK_COMPLAINT("cluster:\n  roles: [[a], b]\nnode:\n  bnid: a:1\n",
                    "t.yaml:2: cluster.roles: its elements must be plain values\n"
                    "t.yaml:4: node.bnid: unknown key; did you mean node.bind?\n");
}

static void a_key_given_twice_is_refused(void)
{
    CHECK_COMPLAINT("cluster:\n  name: a\n  name: b\n",
                    "t.yaml:3: cluster.name: is given twice in this file\n");
    troupe_config_t *config = config_new();
    CHECK_OK(load(config, "cluster.name: a\n"));
    CHECK_OK(load(config, "cluster.name: b\n"));
    CHECK_EQ_STR(troupe_config_node_options(config)->cluster_name, "b");
    troupe_config_destroy(&config);
}

static void aliases_are_refused(void)
{
    troupe_config_t *config = config_new();
    CHECK_ERR(load(config, "cluster:\n  name: &x shop\nnode:\n  name: *x\n"), TROUPE_ECONFIG);
    CHECK_NOT_NULL(strstr(troupe_config_errors(config), "t.yaml:4: node.name"));
    troupe_config_destroy(&config);
}

static void only_one_document_is_read(void)
{
    CHECK_COMPLAINT("cluster:\n  name: a\n---\ncluster:\n  name: b\n",
                    "t.yaml:3: only one document a file is read; take out the ---\n");
}

static void what_is_no_yaml_is_told_with_its_line(void)
{
    static const char *const texts[] = {"cluster:\n  name: \"a\n",
                                        "cluster:\n\tname: a\n",
                                        "cluster: {name: a\n",
                                        "a: b: c\n",
                                        "cluster:\n  - a\n b\n",
                                        "\x01\n",
                                        "a: \xff\xff\n"};
    for (size_t i = 0; i < TRP_ARRAY_LEN(texts); i++) {
        troupe_config_t *config = config_new();
        CHECK_ERR(load(config, texts[i]), TROUPE_ECONFIG);
        if (!CHECK_NOT_NULL(strstr(troupe_config_errors(config), "t.yaml:"))) {
            CHECK_FAIL("%zu: %s", i, troupe_config_errors(config));
        }
        troupe_config_destroy(&config);
    }
}

static void size_and_depth_are_bounded(void)
{
    troupe_config_t *config = config_new();
    static char text[TROUPE_CONFIG_FILE_SIZE_MAX + 2];
    memset(text, '#', sizeof(text));
    CHECK_ERR(troupe_config_load_text(config, "t.yaml", text, sizeof(text)), TROUPE_ECONFIG);
    CHECK_EQ_STR(troupe_config_errors(config), "t.yaml: larger than 1048576 bytes\n");
    char deep[128] = "zzzz: ";
    for (size_t i = 0; i < 40; i++) {
        strcat(deep, "[");
    }
    CHECK_ERR(load(config, deep), TROUPE_ECONFIG);
    CHECK_NOT_NULL(strstr(troupe_config_errors(config), "nested deeper than 16 levels"));
    memset(text, 'x', sizeof(text));
    memcpy(text, "cluster.name: ", 14);
    CHECK_ERR(troupe_config_load_text(config, "t.yaml", text, 8192), TROUPE_ECONFIG);
    CHECK_NOT_NULL(strstr(troupe_config_errors(config), "longer than 4096 bytes"));
    troupe_config_destroy(&config);
}

static void many_errors_are_cut_off(void)
{
    troupe_config_t *config = config_new();
    static char text[64 * 1024];
    size_t used = 0;
    for (int i = 0; i < 1000; i++) {
        used += (size_t)sprintf(text + used, "zzzzzzzzzz%d: 1\n", i);
    }
    CHECK_ERR(troupe_config_load_text(config, "t.yaml", text, used), TROUPE_ECONFIG);
    size_t lines = 0;
    for (const char *c = troupe_config_errors(config); *c != '\0'; c++) {
        lines += *c == '\n';
    }
    CHECK_EQ_U64(lines, 32);
    troupe_config_destroy(&config);
}

/* ---- precedence ------------------------------------------------------------------------------- */

static const char *name_of(const troupe_config_t *config)
{
    return troupe_config_node_options(config)->cluster_name;
}

static void flags_beat_environment_beats_file_in_any_order(void)
{
    static const char *const environment[] = {"PATH=/bin", "TROUPE_CLUSTER_NAME=env",
                                              "TROUPE_CLUSTER_ROLES=a, b", NULL};
    for (unsigned order = 0; order < 8; order++) {
        troupe_config_t *config = config_new();
        for (unsigned round = 0; round < 2; round++) {
            bool is_first = round == 0;
            if (is_first == ((order & 1) != 0)) {
                CHECK_OK(load(config, "cluster: {name: file, members_min: 7}\n"));
            }
            if (is_first == ((order & 2) != 0)) {
                CHECK_OK(troupe_config_load_environment(config, environment));
            }
            if (is_first == ((order & 4) != 0)) {
                CHECK_OK(troupe_config_set(config, TROUPE_CONFIG_FLAG, "cluster.name", "flag"));
            }
        }
        CHECK_EQ_STR(name_of(config), "flag");
        CHECK_EQ_U64(troupe_config_node_options(config)->roles.len, 2);
        CHECK_EQ_STR(troupe_config_node_options(config)->roles.items[1], "b");
        CHECK_EQ_U64(troupe_config_node_options(config)->members_min, 7);
        troupe_config_destroy(&config);
    }
}

static void the_source_of_a_value_is_known(void)
{
    troupe_config_t *config = config_new();
    char text[64];
    troupe_config_source_t source = TROUPE_CONFIG_FLAG;
    CHECK_OK(troupe_config_get(config, "cluster.name", text, sizeof(text), &source));
    CHECK_EQ_STR(text, "troupe");
    CHECK_EQ_U64(source, TROUPE_CONFIG_DEFAULT);
    CHECK_OK(load(config, "cluster.name: shop\n"));
    CHECK_OK(troupe_config_get(config, "cluster.name", text, sizeof(text), &source));
    CHECK_EQ_STR(text, "shop");
    CHECK_EQ_U64(source, TROUPE_CONFIG_FILE);
    CHECK_ERR(troupe_config_get(config, "nothing.here", text, sizeof(text), &source),
              TROUPE_ENOENT);
    troupe_config_destroy(&config);
}

static void a_wrong_value_is_told_though_overridden(void)
{
    troupe_config_t *config = config_new();
    CHECK_OK(troupe_config_set(config, TROUPE_CONFIG_FLAG, "cluster.members_min", "3"));
    CHECK_ERR(load(config, "cluster.members_min: x\n"), TROUPE_ECONFIG);
    CHECK_EQ_U64(troupe_config_node_options(config)->members_min, 3);
    troupe_config_destroy(&config);
}

static void flags_and_variables_complain_too(void)
{
    static const char *const environment[] = {"TROUPE_CLUSTER_MEMBERS_MIN=x", NULL};
    troupe_config_t *config = config_new();
    CHECK_ERR(troupe_config_set(config, TROUPE_CONFIG_FLAG, "cluster.nmae", "x"), TROUPE_ECONFIG);
    CHECK_EQ_STR(troupe_config_errors(config),
                 "command line: cluster.nmae: unknown key; did you mean cluster.name?\n");
    CHECK_ERR(troupe_config_load_environment(config, environment), TROUPE_ECONFIG);
    CHECK_EQ_STR(troupe_config_errors(config),
                 "environment: cluster.members_min: \"x\" is no whole "
                 "number; give digits only\n");
    troupe_config_destroy(&config);
}

static void foreign_variables_are_left_alone(void)
{
    static const char *const environment[] = {"TROUPE_PORT=tcp://10.0.0.1:80", "TROUPE_X",
                                              "TROUPE_CLUSTER_NAEM=a", "TROUPE_=", NULL};
    troupe_config_t *config = config_new();
    CHECK_OK(troupe_config_load_environment(config, environment));
    CHECK_EQ_STR(
        troupe_config_warnings(config),
        "environment: TROUPE_CLUSTER_NAEM: no option; did you mean TROUPE_CLUSTER_NAME?\n");
    troupe_config_destroy(&config);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void a_file_that_can_not_be_read_is_told(void)
{
    troupe_config_t *config = config_new();
    CHECK_ERR(troupe_config_load_file(config, "/nowhere/at/all.yaml"), TROUPE_ECONFIG);
    CHECK_EQ_STR(troupe_config_errors(config),
                 "/nowhere/at/all.yaml: can't be read: No such file or directory\n");
    CHECK_ERR(troupe_config_load_file(config, "/"), TROUPE_ECONFIG);
    troupe_config_destroy(&config);
}

static void a_file_is_read_from_disk(void)
{
    char path[] = "/tmp/troupe-config-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    static const char text[] = "cluster:\n  name: disk\n";
    CHECK_EQ_I64(write(fd, text, sizeof(text) - 1), (int64_t)sizeof(text) - 1);
    close(fd);
    troupe_config_t *config = config_new();
    CHECK_OK(troupe_config_load_file(config, path));
    CHECK_EQ_STR(name_of(config), "disk");
    troupe_config_destroy(&config);
    unlink(path);
}

/* ---- what goes together ------------------------------------------------------------------------ */

#define CHECK_REFUSED(text, errors)                                                                \
    do {                                                                                           \
        troupe_config_t *checked = config_new();                                                   \
        CHECK_OK(load(checked, (text)));                                                           \
        CHECK_ERR(troupe_config_check(checked), TROUPE_ECONFIG);                                   \
        CHECK_EQ_STR(troupe_config_errors(checked), (errors));                                     \
        troupe_config_destroy(&checked);                                                           \
    } while (0)

static void listening_beyond_loopback_needs_keys(void)
{
    CHECK_REFUSED("node.bind: 10.0.0.1:7001\n",
                  "configuration: node.bind: would listen beyond loopback without keys; set "
                  "security.secret_key_file (`troupe keygen`), or security.insecure: true\n");
    troupe_config_t *config = config_new();
    CHECK_OK(load(config, "node.bind: 10.0.0.1:7001\nsecurity.insecure: true\n"));
    CHECK_OK(troupe_config_check(config));
    troupe_config_destroy(&config);
}

static void options_that_do_not_go_together_are_refused(void)
{
    CHECK_REFUSED("cluster.seeds: [a:1]\n",
                  "configuration: node.bind: is needed with seeds or an advertised address; give "
                  "host:port\n");
    CHECK_REFUSED("node.bind: \"*:7001\"\nsecurity.insecure: true\n",
                  "configuration: node.advertise: is needed when bound to all addresses; give the "
                  "host:port that other nodes dial\n");
    CHECK_REFUSED("cluster.split_brain: static-quorum\n",
                  "configuration: cluster.quorum: is needed with static-quorum; more than half of "
                  "the members\n");
    CHECK_REFUSED("dispatchers.groups: {default: 2}\n",
                  "configuration: dispatchers.groups: a group's name is taken; `default` and "
                  "`system` are there\n");
    CHECK_REFUSED("dispatchers.groups: {a: 0}\n",
                  "configuration: dispatchers.groups: a group has 1 to 120 threads\n");
    CHECK_REFUSED("dispatchers.groups: {a: 100, b: 100}\n",
                  "configuration: dispatchers.groups: more than 120 threads in all groups "
                  "together\n");
    CHECK_REFUSED("log.levels: {lnik: debug}\n",
                  "configuration: log.levels: no such room; base, actor, link, gateway, cluster, "
                  "pubsub, reliable, entity, rpc, hub, node or user\n");
    CHECK_REFUSED("log.levels: {link: loud}\n",
                  "configuration: log.levels: no such level; trace, debug, info, warn, error or "
                  "off\n");
    CHECK_REFUSED("security.secret_key: abc\n",
                  "configuration: security.secret_key: must be 40 characters of Z85, as `troupe "
                  "keygen` makes them\n");
    CHECK_REFUSED("security.allowed_keys: [abc]\n",
                  "configuration: security.allowed_keys: is of no use without a key; set "
                  "security.secret_key_file\n");
}

static void misuse_is_an_error(void)
{
    troupe_config_t *config = config_new();
    CHECK_ERR(troupe_config_create(NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_config_load_file(NULL, "x"), TROUPE_EINVAL);
    CHECK_ERR(troupe_config_load_text(config, NULL, "", 0), TROUPE_EINVAL);
    CHECK_ERR(troupe_config_load_environment(config, NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_config_set(config, TROUPE_CONFIG_FLAG, NULL, ""), TROUPE_EINVAL);
    CHECK_ERR(troupe_config_check(NULL), TROUPE_EINVAL);
    CHECK_EQ_STR(troupe_config_errors(NULL), "");
    CHECK_NULL(troupe_config_node_options(NULL));
    troupe_config_destroy(&config);
    troupe_config_destroy(&config);
    troupe_config_destroy(NULL);
}

static troupe_err_t load_once(void *user)
{
    static const char text[] = "cluster:\n  name: shop\n  seeds: [a:1, b:2]\nnode.bind: a:1\n"
                               "security.insecure: yes\ndispatchers.groups: {a: 1}\n";
    troupe_config_t *config = NULL;
    (void)user;
    troupe_err_t err = troupe_config_create(&config);
    if (err == TROUPE_OK) {
        err = troupe_config_load_text(config, "t", text, sizeof(text) - 1);
    }
    if (err == TROUPE_OK) {
        err = troupe_config_check(config);
    }
    troupe_config_destroy(&config);
    return err;
}

static void running_out_of_memory_is_an_error(void)
{
    CHECK_ALLOCATIONS(load_once, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_file_sets_options),
    CHECK_CASE(keys_may_be_written_with_dots),
    CHECK_CASE(an_empty_file_is_good),
    CHECK_CASE(unknown_keys_are_refused_with_a_suggestion),
    CHECK_CASE(wrong_values_are_told_with_their_line),
    CHECK_CASE(all_errors_of_a_file_are_told),
    CHECK_CASE(wrong_shapes_are_told),
    CHECK_CASE(a_key_given_twice_is_refused),
    CHECK_CASE(aliases_are_refused),
    CHECK_CASE(only_one_document_is_read),
    CHECK_CASE(what_is_no_yaml_is_told_with_its_line),
    CHECK_CASE(size_and_depth_are_bounded),
    CHECK_CASE(many_errors_are_cut_off),
    CHECK_CASE(flags_beat_environment_beats_file_in_any_order),
    CHECK_CASE(the_source_of_a_value_is_known),
    CHECK_CASE(a_wrong_value_is_told_though_overridden),
    CHECK_CASE(flags_and_variables_complain_too),
    CHECK_CASE(foreign_variables_are_left_alone),
    CHECK_CASE(a_file_that_can_not_be_read_is_told),
    CHECK_CASE(a_file_is_read_from_disk),
    CHECK_CASE(listening_beyond_loopback_needs_keys),
    CHECK_CASE(options_that_do_not_go_together_are_refused),
    CHECK_CASE(misuse_is_an_error),
    CHECK_CASE(running_out_of_memory_is_an_error),
};
CHECK_MAIN("node.config", cases)
