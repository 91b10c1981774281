/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reading the command line. Every option is a line of one table: what it is called, which commands
 * take it, how its argument is read, and its line of help. */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "sample.h"
#include "say.h"

#define OPTIONS_SECONDS_MAX 600.0
#define OPTIONS_CLIENTS_MAX 10000
#define OPTIONS_NODES_MAX 16
#define OPTIONS_DISPATCHERS_MAX 64
#define OPTIONS_MESSAGES_MAX 1000000000000ULL
#define OPTIONS_SIZE_MAX (64ULL * 1024 * 1024)

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_COUNT, /* A number from 1 to max. */
    OPTION_LIST,  /* Numbers from 1 to max, comma-separated. */
    OPTION_SECONDS,
    OPTION_CHOICE, /* One or several words. */
} option_kind_t;

typedef struct option_word {
    const char *word;
    unsigned bit;
} option_word_t;

typedef struct option_spec {
    const char *name;
    const char *argument; /* As help shows it; NULL for flags. */
    const char *help;
    option_kind_t kind;
    unsigned commands; /* BENCH_COMMAND_* bits. */
    size_t offset;     /* Of the field in bench_options_t. */
    uint64_t max;
    const option_word_t *words; /* Ends with a NULL word. */
} option_spec_t;

static const option_word_t option_placements[] = {{"default", BENCH_PLACEMENT_DEFAULT},
                                                  {"together", BENCH_PLACEMENT_TOGETHER},
                                                  {"cross", BENCH_PLACEMENT_CROSS},
                                                  {NULL, 0}};
static const option_word_t option_shapes[] = {{"node", BENCH_SHAPE_NODE},
                                              {"cluster", BENCH_SHAPE_CLUSTER},
                                              {"broadcast", BENCH_SHAPE_BROADCAST},
                                              {NULL, 0}};
static const option_word_t option_loads[] = {
    {"oneway", BENCH_LOAD_ONEWAY}, {"pingpong", BENCH_LOAD_PINGPONG}, {NULL, 0}};
static const option_word_t option_bys[] = {
    {"handle", BENCH_BY_HANDLE}, {"name", BENCH_BY_NAME}, {"path", BENCH_BY_PATH}, {NULL, 0}};
static const option_word_t option_curves[] = {
    {"off", BENCH_CURVE_OFF}, {"on", BENCH_CURVE_ON}, {NULL, 0}};

#define OPTION_FIELD(field) offsetof(bench_options_t, field)
#define OPTION_MEASURING (BENCH_COMMAND_PUBSUB | BENCH_COMMAND_ACTOR | BENCH_COMMAND_LINK)
#define OPTION_ALL (OPTION_MEASURING | BENCH_COMMAND_BOX)

static const option_spec_t option_specs[] = {
    {"help", NULL, "show this text", OPTION_FLAG, OPTION_ALL, OPTION_FIELD(help), 0, NULL},
    {"json", NULL, "print a JSON array instead of the table", OPTION_FLAG, OPTION_ALL,
     OPTION_FIELD(json), 0, NULL},
    {"plot", "FILE", "draw a chart into FILE (.svg or .png) with gnuplot", OPTION_TEXT,
     OPTION_MEASURING, OPTION_FIELD(plot), 0, NULL},
    {"case", "NAME,...", "run only these cases", OPTION_TEXT, OPTION_MEASURING, OPTION_FIELD(cases),
     0, NULL},
    {"runs", "N", "measured runs of each case, after a warm-up (5)", OPTION_COUNT, OPTION_MEASURING,
     OPTION_FIELD(runs), BENCH_RUNS_MAX, NULL},
    {"seconds", "S", "length of a run (1)", OPTION_SECONDS, OPTION_MEASURING, OPTION_FIELD(seconds),
     0, NULL},
    {"messages", "N", "messages a client (or a run) instead of a length", OPTION_COUNT,
     OPTION_MEASURING, OPTION_FIELD(messages), OPTIONS_MESSAGES_MAX, NULL},
    {"dispatchers", "N", "dispatchers of a node (one a processor)", OPTION_COUNT, OPTION_MEASURING,
     OPTION_FIELD(dispatchers), OPTIONS_DISPATCHERS_MAX, NULL},
    {"clients", "N,...", "client counts (1,5,10,15,20,25,30)", OPTION_LIST, BENCH_COMMAND_PUBSUB,
     OPTION_FIELD(clients), OPTIONS_CLIENTS_MAX, NULL},
    {"published", NULL, "the published counts: 100,000 (pingpong), 200,000 (oneway) a client",
     OPTION_FLAG, BENCH_COMMAND_PUBSUB, OPTION_FIELD(published), 0, NULL},
    {"nodes", "N", "node processes of the cluster shapes (3)", OPTION_COUNT, BENCH_COMMAND_PUBSUB,
     OPTION_FIELD(nodes), OPTIONS_NODES_MAX, NULL},
    {"placement", "default|together|cross", "where publishers and subscribers lie", OPTION_CHOICE,
     BENCH_COMMAND_PUBSUB, OPTION_FIELD(placement), 0, option_placements},
    {"shape", "node|cluster|broadcast", "one node; a cluster; a cluster, every node on every topic",
     OPTION_CHOICE, BENCH_COMMAND_PUBSUB, OPTION_FIELD(shape), 0, option_shapes},
    {"load", "oneway|pingpong", "subscribers count, or answer their publisher", OPTION_CHOICE,
     BENCH_COMMAND_PUBSUB, OPTION_FIELD(load), 0, option_loads},
    {"by", "handle|name|path", "what a publish names its topic by", OPTION_CHOICE,
     BENCH_COMMAND_PUBSUB, OPTION_FIELD(by), 0, option_bys},
    {"size", "BYTES,...", "body sizes", OPTION_LIST, BENCH_COMMAND_LINK, OPTION_FIELD(sizes),
     OPTIONS_SIZE_MAX, NULL},
    {"curve", "off|on", "without or with encryption", OPTION_CHOICE, BENCH_COMMAND_LINK,
     OPTION_FIELD(curve), 0, option_curves},
};

#define OPTION_SPECS_LEN (sizeof(option_specs) / sizeof(option_specs[0]))

static const char *option_word_of(const option_word_t *words, unsigned bits)
{
    for (; words->word != NULL; words++) {
        if ((words->bit & bits) != 0) {
            return words->word;
        }
    }
    return "default";
}

const char *bench_placement_name(unsigned placement)
{
    return option_word_of(option_placements, placement);
}

const char *bench_shape_name(unsigned shape)
{
    return option_word_of(option_shapes, shape);
}

const char *bench_load_name(unsigned load)
{
    return option_word_of(option_loads, load);
}

const char *bench_by_name(unsigned by)
{
    return option_word_of(option_bys, by);
}

/* A number from 1 to max, and what comes after it. */
static bool option_read_number(const char *text, uint64_t max, uint64_t *ret_value,
                               const char **ret_rest)
{
    char *end = NULL;
    unsigned long long value;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || value < 1 || value > max) {
        return false;
    }
    *ret_value = value;
    *ret_rest = end;
    return true;
}

static bool option_read_count(const option_spec_t *spec, const char *text, uint64_t *ret_value)
{
    const char *rest = "";
    return option_read_number(text, spec->max, ret_value, &rest) && *rest == '\0';
}

static bool option_read_list(const option_spec_t *spec, const char *text, bench_list_t *ret_list)
{
    ret_list->len = 0;
    while (ret_list->len < BENCH_LIST_MAX) {
        const char *rest = "";
        if (!option_read_number(text, spec->max, &ret_list->values[ret_list->len], &rest)) {
            return false;
        }
        ret_list->len++;
        if (*rest == '\0') {
            return true;
        }
        if (*rest != ',') {
            return false;
        }
        text = rest + 1;
    }
    return false;
}

static bool option_read_seconds(const char *text, double *ret_seconds)
{
    char *end = NULL;
    const double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(seconds) || seconds <= 0.0 ||
        seconds > OPTIONS_SECONDS_MAX) {
        return false;
    }
    *ret_seconds = seconds;
    return true;
}

static unsigned option_find_word(const option_word_t *words, const char *text, size_t size)
{
    for (; words->word != NULL; words++) {
        if (strlen(words->word) == size && memcmp(words->word, text, size) == 0) {
            return words->bit;
        }
    }
    return 0;
}

static bool option_read_choice(const option_spec_t *spec, const char *text, unsigned *ret_bits)
{
    *ret_bits = 0;
    for (;;) {
        const size_t size = strcspn(text, ",");
        const unsigned bit = option_find_word(spec->words, text, size);
        if (bit == 0) {
            return false;
        }
        *ret_bits |= bit;
        if (text[size] == '\0') {
            return true;
        }
        text += size + 1;
    }
}

static bool option_read(const option_spec_t *spec, const char *text, bench_options_t *options)
{
    void *field = (char *)options + spec->offset;
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return text[0] != '\0';
    case OPTION_COUNT:
        return option_read_count(spec, text, field);
    case OPTION_LIST:
        return option_read_list(spec, text, field);
    case OPTION_SECONDS:
        return option_read_seconds(text, field);
    case OPTION_CHOICE:
        return option_read_choice(spec, text, field);
    }
    return false;
}

static const option_spec_t *option_find(const char *name, size_t size)
{
    for (size_t i = 0; i < OPTION_SPECS_LEN; i++) {
        if (strlen(option_specs[i].name) == size && memcmp(option_specs[i].name, name, size) == 0) {
            return &option_specs[i];
        }
    }
    return NULL;
}

static bool option_wrong(const char *command, const char *what, const char *text)
{
    bench_complain("%s '%s'; see 'troupe-bench %s --help'", what, text, command);
    return false;
}

/* Takes the option at argv[*at] with its argument, leaving *at on the last word it used. */
static bool option_take(int argc, char **argv, int *at, bench_options_t *options)
{
    const char *word = argv[*at];
    const bench_command_t *command = bench_command_find(options->command);
    const char *equals = strchr(word, '=');
    const size_t size = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const option_spec_t *spec;
    const char *argument = equals != NULL ? equals + 1 : "";
    if (strcmp(word, "-h") == 0) {
        options->help = true;
        return true;
    }
    spec = size > 2 && strncmp(word, "--", 2) == 0 ? option_find(word + 2, size - 2) : NULL;
    if (spec == NULL || command == NULL || (spec->commands & command->bit) == 0) {
        return option_wrong(options->command, "unknown argument", word);
    }
    if (spec->kind == OPTION_FLAG && equals != NULL) {
        return option_wrong(options->command, "takes no argument:", word);
    }
    if (spec->kind != OPTION_FLAG && equals == NULL) {
        if (*at + 1 >= argc) {
            return option_wrong(options->command, "argument missing after", word);
        }
        argument = argv[++*at];
    }
    if (!option_read(spec, argument, options)) {
        bench_complain("--%s wants %s, not '%s'; see 'troupe-bench %s --help'", spec->name,
                       spec->argument, argument, options->command);
        return false;
    }
    return true;
}

bool bench_options_parse(int argc, char **argv, bench_options_t *ret_options)
{
    bench_options_t options;
    memset(&options, 0, sizeof(options));
    options.runs = 5;
    options.seconds = 1.0;
    options.nodes = 3;
    if (argc < 2) {
        bench_complain("which benchmark? see 'troupe-bench --help'");
        return false;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        options.help = true;
        *ret_options = options;
        return true;
    }
    if (bench_command_find(argv[1]) == NULL) {
        bench_complain("no benchmark '%s'; see 'troupe-bench --help'", argv[1]);
        return false;
    }
    options.command = argv[1];
    for (int at = 2; at < argc; at++) {
        if (!option_take(argc, argv, &at, &options)) {
            return false;
        }
    }
    if (options.cases != NULL && !bench_command_knows_cases(options.command, options.cases)) {
        return false;
    }
    *ret_options = options;
    return true;
}

static void option_help_line(const option_spec_t *spec)
{
    char left[64];
    (void)snprintf(left, sizeof(left), "--%s%s%s", spec->name, spec->argument != NULL ? " " : "",
                   spec->argument != NULL ? spec->argument : "");
    (void)printf("  %-36s %s\n", left, spec->help);
}

void bench_options_help(const char *command_name)
{
    const bench_command_t *command = command_name != NULL ? bench_command_find(command_name) : NULL;
    if (command == NULL) {
        (void)printf("Usage: troupe-bench COMMAND [OPTION...]\n\nCommands:\n");
        bench_command_list();
        (void)printf("\n'troupe-bench COMMAND --help' lists a command's cases and options.\n"
                     "Exit status: 0 measured, 1 failed or messages lost, 2 wrong arguments.\n");
        return;
    }
    (void)printf("Usage: troupe-bench %s [OPTION...]\n\n%s\n", command->name, command->summary);
    bench_command_list_cases(command);
    (void)printf("\nOptions:\n");
    for (size_t i = 0; i < OPTION_SPECS_LEN; i++) {
        if ((option_specs[i].commands & command->bit) != 0) {
            option_help_line(&option_specs[i]);
        }
    }
}
